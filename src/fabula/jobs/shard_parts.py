"""Parts: what each shard gave, one Parquet file and one manifest each.

The manifest is written last, by one alone, and is what "done" means. It names its Parquet file, whose name holds a
digest of the rows: whatever two workers write for one shard, neither overwrites what the other's manifest names.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.errors import FileError, InputError
from fabula.jobs.store import PARTS, JobStore, shard_name

if TYPE_CHECKING:
    import pyarrow as pa

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


def write_part(store: JobStore, where: tuple[int, int], table: pa.Table, **about: Any) -> Manifest:
    """Keep the rows of a shard (round and number), then its manifest; another's is returned where that was there first.

    Rows that failed say why in a column ``failure``; ``about`` are items, worker and seconds of the manifest.
    """
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


def read_part(store: JobStore, manifest: Manifest) -> pa.Table:
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


def part_schema(store: JobStore, manifest: Manifest) -> pa.Schema:
    """Names and types of a part's columns; its rows are not read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(io.BytesIO(store.read(f"{PARTS}/{manifest.file}") or b""))
    except (pa.ArrowException, OSError):
        return read_part(store, manifest).schema  # says what is wrong


def total_digest(parts: Sequence[Manifest]) -> str:
    """One digest of many parts: of their digests, in the order of their shards."""
    return hashlib.sha256("".join(one.digest for one in parts).encode()).hexdigest()


def rows_digest(table: pa.Table) -> str:
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
