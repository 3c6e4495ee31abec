"""From the bytes of a file to the text of a document: by what it says of itself, or by what it looks like."""

from __future__ import annotations

import re
from pathlib import Path

from fabula.core.files.encoding import find_mark, try_decode
from fabula.errors import FileError, shown

MOST = 20_000_000  # bytes of one text: six times War and Peace

_DECLARED = re.compile(rb"<[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_CONTROL_BYTES = bytes(code for code in range(32) if _CONTROLS.match(chr(code)))
_LINE_ENDS = ("\r\n", "\r", "\u2028", "\u0085")
_LOOKED_AT = 65_536  # bytes or characters that tell what a file is


def read_bytes(path: str) -> bytes:
    """All the bytes of a file; a FileError where it cannot be read, or holds more than 20 MB, too long for one text."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST + 1)
    except (OSError, ValueError) as error:
        raise FileError(f"{shown(path)}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if len(data) > MOST:
        raise FileError(f"{shown(path)}: is longer than {MOST // 10**6} MB, too long for one text; cut it into parts")
    return data


def decode(data: bytes, where: str, *, declared: bool = False) -> str:
    """Bytes as text: by a byte order mark, by what a page declares, as UTF-8, else line by line as UTF-8 or cp1252.

    ``where`` is the file's name, for the FileError when it is no text; ``declared`` says whether the text may name its
    own encoding, as HTML and XML do.

    >>> decode("Müller\\n".encode("cp1252") + "Müller".encode(), "x.txt")
    'Müller\\nMüller'
    """
    text = _guess(data, declared=declared)
    if len(data.translate(None, _CONTROL_BYTES)) < len(data):  # else it holds none in any encoding
        start = text[:_LOOKED_AT]
        if 100 * len(_CONTROLS.findall(start)) > len(start):
            raise FileError(f"{shown(where)}: is no text (its bytes are those of another kind of file)")
        text = _CONTROLS.sub("", text)
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    return text


def _guess(data: bytes, *, declared: bool) -> str:
    """The text in the first encoding that can be its own."""
    mark, encoding = find_mark(data)
    if encoding:
        return data[len(mark) :].decode(encoding, "replace")
    text = None
    if declared and (found := _DECLARED.search(data[:2048])):
        text = try_decode(data, found[1].decode("ascii"))
    if text is None and b"\0" in data[:_LOOKED_AT]:
        text = _decode_unmarked(data)
    if text is None:
        text = try_decode(data, "utf-8")
    if text is None:
        lines = data.splitlines(keepends=True)
        text = "".join(try_decode(line, "utf-8") or line.decode("cp1252", "replace") for line in lines)
    return text


def _decode_unmarked(data: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of most texts is zero."""
    start = data[:_LOOKED_AT]
    for encoding, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        if 2 * zeros.count(0) > len(zeros):
            return try_decode(data, encoding)
    return None
