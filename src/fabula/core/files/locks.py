"""Locks that the system holds for a process and lets go of when that ends, however it ends."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_PATIENCE = 5.0  # seconds
_TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}  # as the systems say that another one holds it


def take(path: str | os.PathLike[str], *, mode: int = 0o600) -> int | None:
    """The lock file at a path, made and locked; None where another one holds it. Closing it lets it go.

    Not the file but the system's lock on it counts: one that a crash left there is in nobody's way. Where the file
    system knows no locks there is none.
    """
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), mode)
        try:
            _lock(file)
        except OSError as error:
            if error.errno in _TAKEN:
                os.close(file)
                return None
        if _is_same(file, path):
            return file
        os.close(file)  # removed by the one who held it, after it was opened here


def release(file: int, remove: Path | None = None) -> None:
    """Let a lock go, and remove its file where that is named."""
    if sys.platform == "win32":  # nobody can remove a file there that is still open
        os.close(file)
    if remove is not None:
        with contextlib.suppress(OSError):
            remove.unlink()  # while it is held: who waits for it finds it gone and takes a new one
    if sys.platform != "win32":
        os.close(file)


@contextlib.contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the lock file at a path, which stays there; wait for whoever holds it, and go on without after a while."""
    until = time.monotonic() + _PATIENCE
    while (file := take(path)) is None and time.monotonic() < until:
        time.sleep(0.01)
    try:
        yield
    finally:
        if file is not None:
            release(file)


def _lock(file: int) -> None:
    """Lock an open file for this process alone; an OSError says that another holds it, or that there are no locks."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_same(file: int, path: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samestat(os.fstat(file), Path(path).stat())
    except OSError:
        return False
