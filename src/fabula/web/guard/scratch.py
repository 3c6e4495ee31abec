"""The server's folder for what is sent to it: gone with the server, swept up by the next one if that was killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

from fabula.core.files.locks import take

_PREFIX = "fabula-page-"
_YOUNG = 60.0  # seconds in which a folder without a lock may be one that another server is just making


class Scratch:
    """A folder of this process alone, held by a lock as long as the process lives."""

    def __init__(self) -> None:
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = take(_lock_of(self.path))

    def remove(self) -> None:
        """Remove the folder and all in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        _lock_of(self.path).unlink(missing_ok=True)


def sweep() -> int:
    """Remove the folders of servers that are no more; how many there were. Those of others are left alone."""
    swept = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            swept += _swept(folder)
    return swept


def _swept(folder: Path) -> bool:
    status = folder.lstat()
    if folder.is_symlink() or not folder.is_dir() or (hasattr(os, "getuid") and status.st_uid != os.getuid()):
        return False
    lock = _lock_of(folder)
    if not lock.exists() and time.time() - status.st_mtime < _YOUNG:
        return False
    held = take(lock)
    if held is None:  # its server runs
        return False
    shutil.rmtree(folder, ignore_errors=True)
    lock.unlink(missing_ok=True)
    os.close(held)
    return True


def _lock_of(folder: Path) -> Path:
    """The lock lies beside the folder, so that it can be held until all in that is gone."""
    return folder.with_name(f".{folder.name}.lock")
