"""One download at a time: a lock that the system holds for a process and lets go of when that ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from fabula.core.files.locks import TAKEN
from fabula.core.files.locks import lock as _lock
from fabula.errors import FileError, shown


@contextlib.contextmanager
def alone(part: Path) -> Iterator[None]:
    """Hold what is written at ``part``, so that nobody else writes it too.

    The lock lies in a file beside it. Not the file but the system's lock on it counts: one that a crash left there
    is in nobody's way. Where the file system knows no locks there is none.

    Raises
    ------
    FileError
        When another process, or another call, holds it.
    """
    path = part.with_name(f"{part.name}.lock")
    file = _locked(path, part)
    try:
        yield
    finally:
        if sys.platform == "win32":  # nobody can remove a file there that is still open
            os.close(file)
            _remove(path)
        else:
            _remove(path)  # while it is held: who waits for it finds it gone and takes a new one
            os.close(file)


def _locked(path: Path, part: Path) -> int:
    """The open lock file, held."""
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise FileError(f"{shown(part)}: cannot be written ({error.strerror or error})") from error
        try:
            _lock(file)
        except OSError as error:
            if error.errno in TAKEN:
                os.close(file)
                raise FileError(
                    f"{shown(part)}: another download is writing it; wait until that one ends, or fetch into "
                    "another folder"
                ) from error
        if _is_same(file, path):
            return file
        os.close(file)  # removed by the one who held it, after we opened it


def _is_same(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
