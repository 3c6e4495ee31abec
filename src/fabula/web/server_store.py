"""What the server remembers: open collections, results, uploads. All of it goes when the server ends."""

import base64
import contextlib
import hashlib
import json
import os
import secrets
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from fabula.core.files import Opener, take
from fabula.errors import FileError, shown
from fabula.session.ordered import Ordered
from fabula.session.session import Session
from fabula.web.file_access import ItemFile, guard_known
from fabula.web.http_errors import StatusError

# What the server may do, and how much of it.


@dataclass(frozen=True)
class Settings:
    """Settings of the page's server."""

    roots: tuple[Path, ...] = ()  # folders of this machine that the page may open
    libraries: tuple[str, ...] = ()  # addresses and databases that the page may open, and write an order back to
    first: Path | None = None  # the folder, one of them or below, that is opened at once where it is a collection
    model: str | None = None  # a shipped one or a file; by default the shipped one for the kind of collection
    # Names under which the page may be asked for: others come from a page elsewhere whose name was made to lead here.
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)  # None lets all in
    most_files: int = 500  # in one upload
    most_file_bytes: int = 512 << 20
    most_upload_bytes: int = 1 << 30
    most_stored_bytes: int = 4 << 30  # of all uploads
    most_body_bytes: int = 8 << 20  # of any other request
    most_items: int = 5000  # of a collection
    most_searched: int = 1000  # of a collection whose wishes need a search
    most_collections: int = 24  # that stay open; the ones least used leave first
    most_jobs: int = 2  # at the same time
    most_results: int = 64  # that can be exported; the oldest leave first
    most_results_each: int = 12  # of one collection


def check_roots(paths: tuple[str | Path, ...]) -> tuple[Path, ...]:
    """The folders named at start; refused where one is not a folder."""
    roots = []
    for path in paths:
        root = Path(path).expanduser()
        if not root.is_dir():
            raise FileError(f"{shown(root)}: {'is not a folder' if root.exists() else 'does not exist'}")
        roots.append(root.resolve())
    return tuple(roots)


@dataclass(frozen=True)
class Origin:
    """Where a collection comes from: a path of this machine, what was sent, the demo, a saved session, a library."""

    kind: Literal["path", "upload", "demo", "session", "library"]
    path: str = ""  # for the first kind; of a library its address
    collection: str | None = None  # which of a source of several
    medium: str | None = None  # what kind of media the files were said to be


@dataclass(frozen=True, eq=False)
class OpenCollection:
    """A collection that the page can order."""

    id: str
    session: Session  # measured already: the paths in it are for people
    files: tuple[ItemFile | None, ...]  # n files that may be fetched; None where an item has none here
    origin: Origin
    upload: str = ""  # its files belong to
    whole: ItemFile | None = None  # the file that was cut into its items, or the table that lists them
    silent: str = ""  # why none of its files is here, where there should be some
    left_out: tuple[tuple[str, str], ...] = ()  # (name, why) of what came with it, besides what the source left out

    @property
    def guard(self) -> Opener:
        """What opens the files of its items, and nothing else."""
        known = {str(file.path): file for file in (*self.files, self.whole) if file is not None}
        for item, file in zip(self.session.stored, self.files, strict=False):  # all of them, or none
            known |= {item.path: file} if file is not None else {}
            if self.whole is not None:
                places = self.session.medium.places & set(item.details)
                known |= {str(item.details[name]): self.whole for name in places}
        return guard_known(known)


class Turns:
    """A few at a time; some wait, and one too many is refused at once."""

    def __init__(self, most: int, *, most_waiting: int) -> None:
        self._room = threading.BoundedSemaphore(most)
        self._waiting = threading.BoundedSemaphore(most + most_waiting)

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and take it."""
        with contextlib.ExitStack() as stack:
            for room, seconds in ((self._waiting, 0), (self._room, 20)):
                if not room.acquire(timeout=seconds):
                    raise StatusError(429, "too much is asked for at a time; try again")
                stack.callback(room.release)
            yield


class ServerStore:
    """Collections, their results, uploads and their folder; safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.lock = threading.RLock()
        self.searching = Turns(2, most_waiting=20)
        self.looking = Turns(2, most_waiting=8)
        self.closed = False
        sweep()
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._held = take(_locate_lock(self.folder))  # as long as the process lives
        self._collections: OrderedDict[str, OpenCollection] = OrderedDict()
        self._results: OrderedDict[str, tuple[str, Ordered]] = OrderedDict()  # id: (collection, result)
        self._uploads: dict[str, int] = {}  # id: bytes

    def add(self, opened: OpenCollection) -> str:
        """Remember a collection, in place of the one with its id; the ones least used leave. Returns its id."""
        with self.lock:
            before = self._collections.pop(opened.id, None)
            self._collections[opened.id] = opened
            if before is not None:
                self._release(before.upload)
            while len(self._collections) > self.settings.most_collections:
                self.remove(next(iter(self._collections)))
        return opened.id

    def get(self, name: str) -> OpenCollection:
        """A collection by its id."""
        with self.lock:
            found = self._collections.get(name)
            if found is None:
                raise StatusError(404, "there is no such collection here; open it again")
            self._collections.move_to_end(name)
            return found

    def all(self) -> list[OpenCollection]:
        """Every collection, the one used last at the end."""
        with self.lock:
            return list(self._collections.values())

    def remove(self, name: str) -> None:
        """Forget a collection, its results, and its upload when no other uses it."""
        with self.lock:
            gone = self._collections.pop(name, None)
            if gone is None:
                raise StatusError(404, "there is no such collection here")
            for result in self._results_of(name):
                del self._results[result]
            self._release(gone.upload)

    def _release(self, upload: str) -> None:
        """Remove an upload that no collection uses any more."""
        if upload and all(other.upload != upload for other in self._collections.values()):
            self.drop_upload(upload)

    def add_result(self, collection: str, ordered: Ordered) -> str:
        """Remember a result of a collection, so that it can be exported as it is; its id."""
        name = secrets.token_urlsafe(12)  # nobody can guess it
        with self.lock:
            self._results[name] = collection, ordered
            for old in self._results_of(collection)[: -self.settings.most_results_each]:
                del self._results[old]
            while len(self._results) > self.settings.most_results:
                self._results.popitem(last=False)
        return name

    def get_result(self, collection: str, name: str) -> Ordered:
        """A result of a collection by its id."""
        with self.lock:
            owner, found = self._results.get(name, ("", None))
            if found is None or owner != collection:
                raise StatusError(404, "there is no such result here any more; order the collection again")
            self._results.move_to_end(name)
            return found

    def _results_of(self, collection: str) -> list[str]:
        return [name for name, (owner, _) in self._results.items() if owner == collection]

    def new_upload(self) -> tuple[str, Path]:
        """An empty folder for an upload."""
        name = secrets.token_urlsafe(12)
        folder = self.folder / name
        folder.mkdir()
        with self.lock:
            self._uploads[name] = 0
        return name, folder

    def count(self, upload: str, size: int) -> None:
        """Note bytes that came in for an upload; refuse when all uploads together are too large."""
        with self.lock:
            self._uploads[upload] += size
            most = self.settings.most_stored_bytes
            if sum(self._uploads.values()) > most:
                raise StatusError(413, f"uploads may take {most:,} bytes in all; remove some")

    def drop_upload(self, name: str) -> None:
        """Remove an upload's files."""
        with self.lock:
            self._uploads.pop(name, None)
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def close(self) -> None:
        """Remove everything that was stored."""
        self.closed = True
        with self.lock:
            self._collections.clear()
            self._results.clear()
            self._uploads.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None
        _locate_lock(self.folder).unlink(missing_ok=True)


# What makes a collection the same one when it is opened again: where it comes from and what is in it


def collection_id(session: Session, origin: Origin) -> str:
    """The id of a collection: the same for the same source with the same items in it, in any run of the server.

    Items are the same when their ids, paths and lengths are; where they are no files, their numbers count as well.
    The essence, which can be changed, does not count.
    """
    collection = session.collection
    rows = [[item.id, item.path, None if item.length is None else repr(item.length)] for item in collection.items]
    where = [origin.kind, origin.path, origin.collection, str(session.source.path), session.medium.name]
    digest = hashlib.sha256(json.dumps([where, rows], ensure_ascii=True).encode())
    if not session.source.files:
        digest.update(json.dumps(list(collection.feature_names)).encode())
        digest.update(np.ascontiguousarray(collection.features, dtype="<f8").tobytes())
    return base64.urlsafe_b64encode(digest.digest()[:15]).decode()


# The server's folder for what is sent to it: gone with the server, swept up by the next one if that was killed

_PREFIX = "fabula-page-"
_YOUNG = 60.0  # seconds in which a folder without a lock may be one that another server is just making


def sweep() -> int:
    """Remove the folders of servers that are no more; how many there were. Those of others are left alone."""
    swept = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            status, lock = folder.lstat(), _locate_lock(folder)
            own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
            if folder.is_symlink() or not folder.is_dir() or not own:
                continue
            if not lock.exists() and time.time() - status.st_mtime < _YOUNG:
                continue
            held = take(lock)
            if held is not None:  # else its server runs
                shutil.rmtree(folder, ignore_errors=True)
                lock.unlink(missing_ok=True)
                os.close(held)
                swept += 1
    return swept


def _locate_lock(folder: Path) -> Path:
    """The lock lies beside the folder, so that it can be held until all in that is gone."""
    return folder.with_name(f".{folder.name}.lock")
