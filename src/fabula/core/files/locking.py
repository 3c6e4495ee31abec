"""Locks that the system holds for a process and lets go of when that ends, however it ends."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}  # as the systems say that another one holds it


def lock(file: int) -> None:
    """Lock an open file for this process alone.

    Raises
    ------
    OSError
        With one of `TAKEN` when another one holds it, with something else where the file system knows no locks.
    """
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def taken(path: str | os.PathLike[str]) -> int | None:
    """The lock file at a path, made and locked; None where another one holds it. Closing it lets it go.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mine, other = taken(f"{folder}/x.lock"), taken(f"{folder}/x.lock")
    ...     other is None, os.close(mine)
    (True, None)
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        lock(file)
    except OSError as error:
        if error.errno in TAKEN:
            os.close(file)
            return None
    return file


@contextlib.contextmanager
def held(path: Path, *, patience: float = 5.0) -> Iterator[None]:
    """Hold the lock file at a path, which stays there; wait for whoever holds it, and go on without after a while."""
    until = time.monotonic() + patience
    while (file := taken(path)) is None and time.monotonic() < until:
        time.sleep(0.01)
    try:
        yield
    finally:
        if file is not None:
            os.close(file)
