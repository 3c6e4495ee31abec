"""Text files as bytes and back: which encoding, which byte order mark, and what is no text at all."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabula.errors import FileError

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
