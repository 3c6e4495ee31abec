"""Writing files so that each is complete or absent."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from fabula.errors import FileError


def write_whole(path: str | os.PathLike[str], data: str | bytes) -> Path:
    """Write a file under a temporary name beside it, then rename: a reader never sees half of it.

    Whatever interrupts the writing, a file that was there before stays as it was. Text is written as UTF-8; the folder
    must exist.
    """
    content = data.encode() if isinstance(data, str) else data
    with whole_file(path) as file:
        file.write(content)
    return Path(path)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write some at a time, under a temporary name until all is written; :func:`write_whole` for one go.

    Whatever interrupts the writing, a file that was there before stays as it was, and nothing else is left behind.
    """
    target = check_target(path)
    temporary = ""
    try:
        # A link is followed, so that the file it points to is replaced and the link stays.
        place = target.resolve()
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=place.parent)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_mode(place))
        Path(temporary).replace(place)
    except BaseException as error:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        if isinstance(error, OSError):
            raise FileError(f"{target}: cannot be written ({error.strerror or error})") from error
        raise


def check_target(path: str | os.PathLike[str]) -> Path:
    """Refuse a place where no file can be written, before any work is done for it."""
    target = Path(path)
    if target.is_dir():
        raise FileError(f"{target}: is a folder; give the name of a file")
    if not target.parent.is_dir():
        raise FileError(f"{target}: the folder {target.parent} does not exist")
    return target


def _mode(path: Path) -> int:
    """The permissions of the file to be replaced, or those a new file would get."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
