"""What the server remembers: collections that are loaded, uploads, and jobs. All of it goes when the server ends."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from fabula.session.essence import Essence
from fabula.web.errors import RefusedError
from fabula.web.settings import Settings


@dataclass(frozen=True, eq=False)
class Loaded:
    """A collection that the page can order.

    Attributes
    ----------
    id
        What the page calls it.
    found
        Its items and their essence.
    sounds
        n files that may be fetched; None where an item has no sound here.
    names
        n locations for playlists: paths of this machine, or the names that uploaded files came with.
    upload
        The upload its files belong to, or "".
    """

    id: str
    found: Essence
    sounds: tuple[Path | None, ...]
    names: tuple[str, ...]
    upload: str = ""


class Store:
    """Collections, uploads and their folder; safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.lock = threading.RLock()
        self.searching = threading.BoundedSemaphore(2)
        self._folder = tempfile.TemporaryDirectory(prefix="fabula-page-", ignore_cleanup_errors=True)
        self.folder = Path(self._folder.name)
        self._collections: OrderedDict[str, Loaded] = OrderedDict()
        self._uploads: dict[str, int] = {}  # id: bytes

    def add(self, loaded: Loaded) -> None:
        """Keep a collection; the ones least used leave when there are too many."""
        with self.lock:
            self._collections[loaded.id] = loaded
            while len(self._collections) > self.settings.most_collections:
                self.remove(next(iter(self._collections)))

    def get(self, name: str) -> Loaded:
        """A collection by its id."""
        with self.lock:
            found = self._collections.get(name)
            if found is None:
                raise RefusedError(404, "there is no such collection here; open it again")
            self._collections.move_to_end(name)
            return found

    def all(self) -> list[Loaded]:
        """Every collection, the one used last at the end."""
        with self.lock:
            return list(self._collections.values())

    def remove(self, name: str) -> None:
        """Forget a collection, and its upload when no other uses it."""
        with self.lock:
            gone = self._collections.pop(name, None)
            if gone is None:
                raise RefusedError(404, "there is no such collection here")
            if gone.upload and all(other.upload != gone.upload for other in self._collections.values()):
                self.drop_upload(gone.upload)

    def new_upload(self) -> tuple[str, Path]:
        """An empty folder for an upload."""
        name = new_id()
        folder = self.folder / name
        folder.mkdir()
        with self.lock:
            self._uploads[name] = 0
        return name, folder

    def count(self, upload: str, size: int) -> None:
        """Note bytes that came in for an upload; refuse when all uploads together are too large."""
        with self.lock:
            self._uploads[upload] += size
            if sum(self._uploads.values()) > self.settings.most_stored_bytes:
                raise RefusedError(
                    413, f"uploads may take {self.settings.most_stored_bytes:,} bytes in all; remove some"
                )

    def drop_upload(self, name: str) -> None:
        """Remove an upload's files."""
        with self.lock:
            self._uploads.pop(name, None)
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def close(self) -> None:
        """Remove everything that was stored."""
        with self.lock:
            self._collections.clear()
            self._uploads.clear()
        self._folder.cleanup()


def new_id() -> str:
    """An id nobody can guess."""
    return secrets.token_urlsafe(12)
