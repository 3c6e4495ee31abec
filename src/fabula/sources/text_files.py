"""Text files as bytes and back: which encoding, which byte order mark, and what is no text at all."""

from __future__ import annotations

import codecs
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabula.errors import FileError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Script:
    """How a text is put into bytes."""

    encoding: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """The text as bytes; in UTF-8 where the encoding lacks one of its characters."""
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError:
            # A file name whose bytes are no text came in as surrogates, and goes out as the bytes it was.
            return text.encode("utf-8", "surrogateescape")


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """All the bytes of a file.

    Raises
    ------
    FileError
        When there is no such file, or it cannot be read.
    """
    place = Path(path)
    try:
        if place.is_dir():
            raise FileError(f"{path}: is a folder; give the name of a file")
        if place.exists() and not place.is_file():
            raise FileError(f"{path}: is not a file")
        return place.read_bytes()
    except FileNotFoundError:
        raise FileError(f"{path}: does not exist") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error


def read_text(
    path: str | os.PathLike[str], what: str, encodings: Sequence[str] = ("utf-8", "cp1252")
) -> tuple[str, Script]:
    """The text of a file and how it was encoded: by its byte order mark, else the first encoding that can be it.

    Parameters
    ----------
    path
        The file.
    what
        What it should be, for the error: "a table", "an M3U playlist".
    encodings
        The encodings to try for a file without a mark.
    """
    data = read_bytes(path)
    mark, encoding = next(((m, name) for m, name in _MARKS if data.startswith(m)), (b"", ""))
    body = data[len(mark) :]
    if not encoding and b"\0" in body:
        raise FileError(f"{path}: is not {what} (it holds binary data)")
    tried = [encoding] if encoding else list(encodings)
    for name in tried:
        try:
            return body.decode(name), Script(name, mark)
        except UnicodeDecodeError as error:
            bad = error
        except LookupError:
            raise FileError(f"{path}: is not {what} that can be read (unknown encoding {name!r})") from None
    place = body.count(b"\n", 0, bad.start) + 1
    raise FileError(f"{path}: is not {what} (line {place} is not {' or '.join(tried)} text)")
