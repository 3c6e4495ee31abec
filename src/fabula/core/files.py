"""Files written whole or not at all, and the locks beside them."""

import codecs
import contextlib
import errno
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fabula.errors import FileError

# Writing files so that each is complete or absent.


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


# Locks that the system holds for a process and lets go of when that ends, however it ends.

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


# Text files as bytes and back: which encoding, which byte order mark, and what is no text at all.

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ESCAPED = re.compile("[\udc80-\udcff]+")


@dataclass(frozen=True)
class Script:
    """How a text is put into bytes."""

    encoding: str = "utf-8"
    mark: bytes = b""  # the byte order mark at the start of the file, or nothing
    errors: str = "strict"  # what to do with characters that the encoding lacks, in Python's words

    def encode(self, text: str) -> bytes:
        """The text as bytes; in UTF-8 where the encoding lacks one of its characters."""
        try:
            return self.mark + text.encode(self.encoding, self.errors)
        except UnicodeEncodeError:
            # A file name whose bytes are no text came in as surrogates, and goes out as the bytes it was.
            mark = self.mark if self.encoding == "utf-8" else b""
            return mark + text.encode("utf-8", "surrogateescape")


def readable_file(path: str | os.PathLike[str]) -> Path:
    """The path of a file that is there."""
    file = Path(path)
    try:
        if file.is_dir():
            raise FileError(f"{path}: is a folder; give the name of a file")
        if not file.exists():
            raise FileError(f"{path}: does not exist")
        if not file.is_file():
            raise FileError(f"{path}: is not a file")
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    return file


def read_bytes(path: str | os.PathLike[str], *, most: int | None = None) -> bytes:
    """All the bytes of a file, which may have a size at most."""
    file = readable_file(path)
    try:
        if most is not None and file.stat().st_size > most:
            raise FileError(f"{path}: is too large: it has {file.stat().st_size:,} bytes, and may have {most:,}")
        return file.read_bytes()
    except FileNotFoundError:
        raise FileError(f"{path}: does not exist") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error


def read_text(
    path: str | os.PathLike[str],
    what: str,
    encodings: Sequence[str] = ("utf-8", "cp1252"),
    *,
    any_bytes: bool = False,
    most: int | None = None,
) -> tuple[str, Script]:
    """The text of a file and how it was encoded: by its byte order mark, else the first encoding that can be it.

    ``what`` it should be is for errors ("a table"); with ``any_bytes`` what is no text is kept as surrogates instead of
    refused, since names of files may hold any bytes; ``most`` is how many bytes it may have.
    """
    return decode(read_bytes(path, most=most), path, what, encodings, any_bytes=any_bytes)


def decode(
    data: bytes,
    path: str | os.PathLike[str],
    what: str,
    encodings: Sequence[str] = ("utf-8", "cp1252"),
    *,
    any_bytes: bool = False,
) -> tuple[str, Script]:
    """The text that bytes are, and how it was encoded; takes what :func:`read_text` takes."""
    mark, encoding = find_mark(data)
    body = data[len(mark) :]
    if not encoding and b"\0" in body:
        raise FileError(f"{path}: is not {what} (it holds binary data)")
    if any_bytes and encoding in ("", "utf-8") and _is_mixed(body):
        return body.decode("utf-8", "surrogateescape"), Script("utf-8", mark, "surrogateescape")
    tried = [encoding] if encoding else list(encodings)
    for name in tried:
        try:
            return body.decode(name), Script(name, mark)
        except UnicodeDecodeError as error:
            bad = error
        except LookupError:
            raise FileError(f"{path}: is not {what} that can be read (unknown encoding {name!r})") from None
    if any_bytes and encoding in ("", "utf-8"):
        return body.decode("utf-8", "surrogateescape"), Script("utf-8", mark, "surrogateescape")
    line = body.count(b"\n", 0, bad.start) + 1
    raise FileError(f"{path}: is not {what} (line {line} is not {' or '.join(tried)} text)")


def find_mark(data: bytes) -> tuple[bytes, str]:
    """The byte order mark at the start of bytes and the encoding it stands for; nothing where there is none."""
    return next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", ""))


def try_decode(data: bytes, encoding: str) -> str | None:
    """Bytes as text of an encoding; None where they are none, or nobody knows the encoding."""
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def legible(text: str) -> str:
    """Text for people: what was kept as bytes is taken for Windows text.

    >>> legible("caf\\udce9")
    'café'
    """
    return _ESCAPED.sub(lambda match: match[0].encode("utf-8", "surrogateescape").decode("cp1252", "replace"), text)


def _is_mixed(body: bytes) -> bool:
    """Whether UTF-8 stands beside bytes that are none: text of one encoding with names of another."""
    text = body.decode("utf-8", "surrogateescape")
    return bool(_ESCAPED.search(text)) and any(c > "\x7f" and not "\udc80" <= c <= "\udcff" for c in text)
