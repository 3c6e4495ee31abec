"""Where a job lies: a folder that all workers see, or an address such as ``s3://bucket/job``.

A store has five operations and no others, so that a folder and a bucket behave alike. Names are relative, with
slashes. What is written is there whole or not at all; of all who create the same name at once, one succeeds.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from fabula.core.files import make_part, sweep
from fabula.errors import FileError, import_extra, shown

PARTS = "parts"  # the folder of what is done

_ASIDE = "temporary"  # files under way; nobody lists them
_FLEETING = "leases/"  # what may be lost with the machine that wrote it, and so need not be forced onto the disk
_MANIFEST = re.compile(r"(\d{3,})-(\d{5,})\.json")
_TAKEN = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409", "pre-condition", "conditional request")


class JobStore(Protocol):
    """The operations of a job's place."""

    address: str

    def read(self, name: str) -> bytes | None:
        """The content of a file; None where there is none."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all; one that is there is replaced."""

    def create(self, name: str, data: bytes) -> bool:
        """Write a file that is not there yet: True for the one caller who did, False where it is there."""

    def list(self, folder: str) -> list[str]:
        """The names in a folder, sorted, without the folder; empty where there is none."""

    def delete(self, name: str) -> None:
        """Remove a file; nothing happens where there is none."""


def open_store(address: str | os.PathLike[str]) -> JobStore:
    """The store of an address: ``scheme://...`` by fsspec (extra ``remote``), anything else is a folder."""
    text = os.fspath(address)
    if "://" in text and not text.startswith("file://"):
        return AddressStore(text)
    return FolderStore(text.removeprefix("file://"))


def shard_name(number: int, shard: int) -> str:
    """What a shard of a round is called in file names."""
    return f"{number:03d}-{shard:05d}"


def done_shards(store: JobStore, number: int) -> set[int]:
    """The shards of a round that are done: those that have a manifest."""
    found = (_MANIFEST.fullmatch(name) for name in store.list(PARTS))
    return {int(match[2]) for match in found if match and int(match[1]) == number}


class FolderStore:
    """A folder on a disk of this machine or one that is shared."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder).absolute()  # processes elsewhere are told it
        self._made: set[Path] = set()
        self._swept = False
        self.address = str(self._folder)

    def read(self, name: str) -> bytes | None:
        """The content of a file; None where there is none."""
        with self._explain(name, "read"), suppress(FileNotFoundError, NotADirectoryError):
            return (self._folder / name).read_bytes()
        return None

    def write(self, name: str, data: bytes) -> None:
        """Write under a temporary name elsewhere in the folder, then rename."""
        with self._explain(name, "written"), self._aside(name, data) as aside:
            aside.replace(self._place(name))

    def create(self, name: str, data: bytes) -> bool:
        """Write elsewhere, then link: a link to a name that is taken fails, for all but one."""
        with self._explain(name, "written"):
            place = self._place(name)
            if place.exists():
                return False
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
        """The names in a folder."""
        with self._explain(folder, "listed"), suppress(FileNotFoundError, NotADirectoryError):
            return sorted(entry.name for entry in os.scandir(self._folder / folder))
        return []

    def delete(self, name: str) -> None:
        """Remove a file."""
        with self._explain(name, "removed"):
            (self._folder / name).unlink(missing_ok=True)

    def _place(self, name: str) -> Path:
        place = self._folder / name
        if place.parent not in self._made:
            place.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(place.parent)
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

    @contextmanager
    def _explain(self, name: str, what: str) -> Iterator[None]:
        """Say in one line what the system refuses."""
        try:
            yield
        except OSError as error:
            raise FileError(f"{shown(self._folder / name)}: cannot be {what} ({error.strerror or error})") from error


class AddressStore:
    """A folder of an fsspec file system, S3 above all.

    S3 has no renaming, and none is needed: an object is there when its upload is complete. ``create`` is a conditional
    put (``If-None-Match: *``), which S3 grants to one of all who ask at once. Keys and endpoint come from where
    its tools look for them, such as ``AWS_ENDPOINT_URL``.
    """

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
        """The content of an object; None where there is none."""
        with self._explain(name, "read"), suppress(FileNotFoundError):
            return bytes(self._files.cat_file(self._at(name)))
        return None

    def write(self, name: str, data: bytes) -> None:
        """Put an object; it is there when the upload is complete."""
        with self._explain(name, "written"):
            self._files.pipe_file(self._at(name), data)

    def create(self, name: str, data: bytes) -> bool:
        """Put an object unless there is one.

        A put whose answer was lost is sent again by the library, and then finds itself: what is there is compared.
        """
        with self._explain(name, "written"):
            try:
                self._files.pipe_file(self._at(name), data, mode="create")
            except Exception as error:
                words = f"{type(error).__name__} {error}"
                if isinstance(error, FileExistsError) or any(word in words for word in _TAKEN):
                    return self.read(name) == data
                raise
            return True

    def list(self, folder: str) -> list[str]:
        """The names in a folder."""
        found: Any = []
        with self._explain(folder, "listed"), suppress(FileNotFoundError):
            try:
                found = self._files.ls(self._at(folder), detail=False, refresh=True)
            except TypeError:  # a file system that keeps no listing to refresh
                found = self._files.ls(self._at(folder), detail=False)
        return sorted(name for name in (str(path).rstrip("/").rpartition("/")[2] for path in found) if name)

    def delete(self, name: str) -> None:
        """Remove an object."""
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
