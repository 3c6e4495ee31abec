"""Where a job lies: a folder that all workers see, or an address such as ``s3://bucket/job``.

A store has five operations and no others, so that a folder and a bucket behave alike. Names are relative, with
slashes. What is written is there whole or not at all; of all who create the same name at once, one succeeds.
"""

import hashlib
import io
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.files import make_part, sweep, tell_refusal
from fabula.errors import FileError, InputError, import_extra

if TYPE_CHECKING:
    import pyarrow as pa

PARTS = "parts"  # the folder of what is done

_ASIDE = "temporary"  # files under way; nobody lists them
_FLEETING = "leases/"  # what may be lost with the machine that wrote it, and so need not be forced onto the disk
_MANIFEST = re.compile(r"(\d{3,})-(\d{5,})\.json")
_TAKEN = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409", "pre-condition", "conditional request")


def open_store(address: str | os.PathLike[str]) -> "JobStore":
    """The store of an address: ``scheme://...`` by fsspec (extra ``remote``), anything else is a folder."""
    text = os.fspath(address)
    if "://" in text and not text.startswith("file://"):
        return _AddressStore(text)
    return FolderStore(text.removeprefix("file://"))


def shard_name(number: int, shard: int) -> str:
    """What a shard of a round is called in file names."""
    return f"{number:03d}-{shard:05d}"


def done_shards(store: "JobStore", number: int) -> set[int]:
    """The shards of a round that are done: those that have a manifest."""
    found = (_MANIFEST.fullmatch(name) for name in store.list(PARTS))
    return {int(match[2]) for match in found if match and int(match[1]) == number}


class FolderStore:
    """A folder on a disk of this machine or one that is shared."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder).absolute()  # processes elsewhere are told it
        self._swept = False
        self.address = str(self._folder)

    def read(self, name: str) -> bytes | None:
        """The content of a file; None where there is none."""
        with tell_refusal(self._folder / name, "be read"), suppress(FileNotFoundError, NotADirectoryError):
            return (self._folder / name).read_bytes()
        return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file, or in place of one: under a temporary name elsewhere in the folder, then renamed."""
        with tell_refusal(self._folder / name, "be written"), self._aside(name, data) as aside:
            aside.replace(self._place(name))

    def create(self, name: str, data: bytes) -> bool:
        """Write a file that is not there yet: True for the one caller who did, False where it is there."""
        with tell_refusal(self._folder / name, "be written"):
            place = self._place(name)
            # a link to a name that is taken fails, for all but one
            with self._aside(name, data) as aside, suppress(FileExistsError):
                try:
                    os.link(aside, place)
                except FileExistsError:
                    raise
                except OSError:  # a file system without links: made under its name, which one alone can do
                    with place.open("xb") as file:
                        file.write(data)
                return True
            return False

    def list(self, folder: str) -> list[str]:
        """The names in a folder, sorted, without the folder; empty where there is none."""
        with tell_refusal(self._folder / folder, "be listed"), suppress(FileNotFoundError, NotADirectoryError):
            return sorted(entry.name for entry in os.scandir(self._folder / folder))
        return []

    def delete(self, name: str) -> None:
        """Remove a file; nothing happens where there is none."""
        with tell_refusal(self._folder / name, "be removed"):
            (self._folder / name).unlink(missing_ok=True)

    def _place(self, name: str) -> Path:
        place = self._folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    @contextmanager
    def _aside(self, name: str, data: bytes) -> Iterator[Path]:
        """The data of a name in a file of its own, on the disk, until it has its name."""
        if not self._swept:  # what workers left that were killed
            self._swept = True
            sweep((self._folder / _ASIDE).glob("*"))
        handle, aside = make_part("", self._place(f"{_ASIDE}/-").parent, mode=0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                if not name.startswith(_FLEETING):
                    os.fsync(file.fileno())
                if sys.platform == "win32":  # what is open cannot be renamed there
                    file.close()
                yield aside
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)


class _AddressStore:
    """A folder of an fsspec file system, S3 above all."""

    # S3 has no renaming, and none is needed: an object is there when its upload is complete. ``create`` is a
    # conditional put (``If-None-Match: *``), which S3 grants to one of all who ask at once. Keys and endpoint come from
    # where its tools look for them, such as ``AWS_ENDPOINT_URL``.

    def __init__(self, address: str) -> None:
        fsspec = import_extra("fsspec", extra="remote", purpose="a job at an address")
        self.address = address.rstrip("/")
        options: dict[str, Any] = {}
        if address.startswith(("s3://", "s3a://")):  # which must not answer from a listing of before
            endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
            options = {"use_listings_cache": False, **({"endpoint_url": endpoint} if endpoint else {})}
        try:
            self._files, root = fsspec.core.url_to_fs(self.address, **options)
        except ImportError as error:
            hint = "needs a library that is not installed: pip install 'fabula[remote]'"
            raise FileError(f"{self.address}: {hint} ({error})") from error
        except ValueError as error:
            raise FileError(f"{address}: no such kind of address ({error})") from error
        self._root = str(root).rstrip("/")

    def read(self, name: str) -> bytes | None:
        with self._explain(name, "read"), suppress(FileNotFoundError):
            return bytes(self._files.cat_file(self._at(name)))
        return None

    def write(self, name: str, data: bytes) -> None:
        with self._explain(name, "written"):
            self._files.pipe_file(self._at(name), data)

    def create(self, name: str, data: bytes) -> bool:
        with self._explain(name, "written"):
            try:
                self._files.pipe_file(self._at(name), data, mode="create")
            except Exception as error:  # a put whose answer was lost is sent again, and then finds itself
                words = f"{type(error).__name__} {error}"
                if isinstance(error, FileExistsError) or any(word in words for word in _TAKEN):
                    return self.read(name) == data
                raise
            return True

    def list(self, folder: str) -> list[str]:
        found: Any = []
        with self._explain(folder, "listed"), suppress(FileNotFoundError):
            try:
                found = self._files.ls(self._at(folder), detail=False, refresh=True)
            except TypeError:  # a file system that keeps no listing to refresh
                found = self._files.ls(self._at(folder), detail=False)
        return sorted(name for name in (str(path).rstrip("/").rpartition("/")[2] for path in found) if name)

    def delete(self, name: str) -> None:
        with self._explain(name, "removed"), suppress(FileNotFoundError):
            self._files.rm_file(self._at(name))

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _explain(self, name: str, what: str) -> Iterator[None]:
        """Say in one line what the file system refuses; each kind has errors of its own."""
        try:
            yield
        except FileError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise FileError(f"{self.address}/{name}: cannot be {what} ({reason})") from error


JobStore = FolderStore | _AddressStore


# Parts: what each shard gave, one Parquet file and one manifest each.
#
# The manifest is written last, by one alone, and is what "done" means. It names its Parquet file, whose name holds a
# digest of the rows: whatever two workers write for one shard, neither overwrites what the other's manifest names.

FAILURE = "failure"  # the column that says why a row has no result; null where it has one


@dataclass(frozen=True)
class Manifest:
    """What is said of a part."""

    round: int
    shard: int
    file: str  # a Parquet file
    rows: int
    failures: int  # rows that tell of a failure
    items: int  # that were done
    digest: str  # of the rows, see :func:`rows_digest`
    worker: str
    seconds: float
    finished: float  # Unix time


def write_part(store: JobStore, where: tuple[int, int], table: "pa.Table", **about: Any) -> Manifest:
    """Keep the rows of a shard (round and number), then its manifest; returns another's where that was there first."""
    import pyarrow.parquet as pq

    name = shard_name(*where)
    digest = rows_digest(table)
    file = f"{name}.{digest[:16]}.parquet"
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    failures = table.num_rows - table.column(FAILURE).null_count if FAILURE in table.column_names else 0
    manifest = Manifest(*where, file, table.num_rows, failures, digest=digest, finished=time.time(), **about)
    store.write(f"{PARTS}/{file}", buffer.getvalue())
    if store.create(f"{PARTS}/{name}.json", json.dumps(asdict(manifest)).encode()):
        return manifest
    first = read_manifest(store, *where)
    if first is None:
        raise FileError(f"{store.address}/{PARTS}/{name}.json: went away while the job was under way")
    if first.file != file:
        store.delete(f"{PARTS}/{file}")
    return first


def read_manifest(store: JobStore, number: int, shard: int) -> Manifest | None:
    """The manifest of a shard; None where it is not done."""
    name = f"{PARTS}/{shard_name(number, shard)}.json"
    data = store.read(name)
    if data is None:
        return None
    try:
        return Manifest(**json.loads(data))
    except (ValueError, TypeError) as error:
        raise FileError(f"{store.address}/{name}: is broken; remove it and let the shard be done again") from error


def read_part(store: JobStore, manifest: Manifest) -> "pa.Table":
    """The rows of a part, checked against its manifest."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    where = f"{store.address}/{PARTS}/{manifest.file}"
    again = f"remove {shard_name(manifest.round, manifest.shard)}.json beside it and let the shard be done again"
    data = store.read(f"{PARTS}/{manifest.file}")
    if data is None:
        raise FileError(f"{where}: is missing; {again}")
    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{where}: is no Parquet file any more; {again}") from error
    if rows_digest(table) != manifest.digest:
        raise FileError(f"{where}: its rows are not those of the manifest; {again}")
    return table


def manifests(store: JobStore, number: int, shards: int, *, partial: bool = False) -> list[Manifest]:
    """The manifests of a round, in the order of its shards."""
    found = [read_manifest(store, number, shard) for shard in range(shards)]
    missing = [shard_name(number, shard) for shard, manifest in enumerate(found) if manifest is None]
    if missing and (not partial or len(missing) == shards):
        named = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        hint = "" if partial else "; work on it, or take what is there with --partial"
        raise InputError(f"{store.address}: {len(missing)} of {shards} shards are missing ({named}){hint}")
    return [manifest for manifest in found if manifest is not None]


def joint_schema(store: JobStore, parts: Sequence[Manifest]) -> "pa.Schema":
    """One schema for all parts: a column that one part lacks is empty there; failures come last."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    known: dict[pa.Schema, None] = {}
    for part in parts:
        try:
            data = store.read(f"{PARTS}/{part.file}") or b""
            known[pq.read_schema(io.BytesIO(data))] = None
        except (pa.ArrowException, OSError):
            known[read_part(store, part).schema] = None  # says what is wrong
    found: pa.Schema = pa.unify_schemas(list(known), promote_options="permissive")
    if FAILURE not in found.names:
        return found
    at = found.get_field_index(FAILURE)
    return found.remove(at).append(found.field(at))


def total_digest(parts: Sequence[Manifest]) -> str:
    """One digest of many parts: of their digests, in the order of their shards."""
    return hashlib.sha256("".join(one.digest for one in parts).encode()).hexdigest()


def rows_digest(table: "pa.Table") -> str:
    """A digest of names, types and values, whatever way Parquet holds them."""
    digest = hashlib.sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        digest.update(f"{name}\0{_kind(column.type)}\0{len(column)}\0".encode())
        _add(digest, column.combine_chunks())
    return digest.hexdigest()


def _kind(type_: Any) -> str:
    """A type in words; Parquet does not keep what Arrow calls the inside of a list."""
    return f"list of {_kind(type_.value_type)}" if str(type_).startswith("list<") else str(type_)


def _add(digest: Any, array: Any) -> None:
    """Add where values are missing, and the values; lists and texts by their lengths and what is in them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array, pa.ChunkedArray):  # some versions of Arrow give these for columns of several chunks
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    digest.update(array.is_null().to_numpy(zero_copy_only=False).tobytes())
    kind = array.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        digest.update(pc.fill_null(pc.list_value_length(array).cast(pa.int64()), 0).to_numpy().tobytes())
        _add(digest, array.flatten())
    elif pa.types.is_boolean(kind):
        digest.update(pc.fill_null(array, False).to_numpy(zero_copy_only=False).tobytes())  # noqa: FBT003
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        digest.update(pc.fill_null(array, 0).to_numpy(zero_copy_only=False).tobytes())
    elif not pa.types.is_null(kind):
        filled = pc.fill_null(array.cast(pa.large_binary()), b"")
        digest.update(pc.binary_length(filled).to_numpy().tobytes())
        _, offsets, data = filled.buffers()
        if data is not None:
            edges = np.frombuffer(offsets, dtype=np.int64)[filled.offset : filled.offset + len(filled) + 1]
            digest.update(memoryview(data)[edges[0] : edges[-1]])
