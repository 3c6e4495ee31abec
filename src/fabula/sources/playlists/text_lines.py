"""Texts written again with what is not ours as it was: the lines of playlists, the spans of JSON."""

import html
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from fabula.core.files import FilePath, Script, read_text
from fabula.errors import FileError, InputError

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BREAK = re.compile(r"\s*(?:[#;]|<!--|REM\b)?\s*(?:Side [A-Z0-9]{1,3}\b|Gain [-+]\d+\.\d dB)[^\r\n]*", re.IGNORECASE)


def each_line(text: str) -> Iterator[str]:
    """Lines with their ends, one by one; no other character than CR and LF ends one."""
    return io.StringIO(text, newline="")


def line_end(text: str) -> str:
    """How the lines of a text end."""
    match = re.search(r"\r\n|\n|\r", text)
    return match.group() if match else "\n"


def terminate(text: str) -> str:
    """The text, with a newline at its end where it has none."""
    return text if not text or text[-1] in "\r\n" else text + line_end(text)


def end_like(text: str, like: str) -> str:
    """The text without the newline at its end, if the other text has none."""
    return text if not like or like[-1] in "\r\n" else text.removesuffix(line_end(text))


def one_line(text: str) -> str:
    """The text without line breaks."""
    return re.sub(r"[\r\n]+", " ", text)


def is_break(comment: str) -> bool:
    """Whether a comment marks the start of a side, as :func:`write_playlist` writes it.

    >>> is_break("# Side B"), is_break("; Side A, 21:30"), is_break("# Sidewalk"), is_break("# my favourite side")
    (True, True, False, False)
    """
    return bool(_BREAK.fullmatch(comment.rstrip("\r\n")))


def without_breaks(text: str) -> str:
    """The text without the comment lines that mark the start of a side or tell a gain."""
    return "".join(line for line in each_line(text) if not is_break(line))


def split_label(label: str) -> tuple[str, str]:
    """Artist and title of "Artist - Title"; no artist where that is not clear.

    >>> split_label("Can - Vitamin C"), split_label("01 - Intro"), split_label("A - B - C")
    (('Can', 'Vitamin C'), ('', '01 - Intro'), ('', 'A - B - C'))
    """
    artist, dash, title = label.partition(" - ")
    if not dash or " - " in title or not title.strip() or not artist.strip() or artist.strip().isdigit():
        return "", label
    return artist.strip(), title.strip()


_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{2}(?:[.,]\d+)?)")


def read_clock(text: str) -> float | None:
    """The seconds of a duration written as on a clock; None for anything else.

    >>> read_clock("3:20"), read_clock("1:02:03"), read_clock("0:09.5"), read_clock("200"), read_clock("3:99")
    (200.0, 3723.0, 9.5, None, None)
    """
    match = _CLOCK.fullmatch(text.strip())
    if not match:
        return None
    hours, minutes, rest = match.groups()
    seconds = float(rest.replace(",", "."))
    total = 3600 * int(hours or 0) + 60 * int(minutes) + seconds
    return total if seconds < 60 and (hours is None or int(minutes) < 60) else None


def writable_text(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _UNWRITABLE.sub("", text)


def above_zero(text: Any, per: float = 1.0) -> float | None:
    """A number, such as a tempo, or a duration of so many parts a second; None for -1, 0 and what is no number."""
    try:
        value = float(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return value / per if 0 < value < float("inf") else None


def seconds_text(duration: float | None) -> str:
    """A duration as M3U and PLS have it, whole where it is; -1 for None."""
    if duration is None or duration != duration:
        return "-1"
    return str(int(duration)) if float(duration).is_integer() else repr(round(float(duration), 3))


def writable_line(location: str, what: str) -> str:
    """A location that can stand on a line of its own."""
    if not location.strip():
        raise InputError(f"{what} cannot hold an entry without a location; write .xspf or .jspf")
    if "\r" in location or "\n" in location:
        raise InputError(f"{what} cannot hold a location with a line break: {location!r}; write .xspf or .jspf")
    return location


# Where the values of a JSON text stand, so that each can be moved or kept byte for byte.

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The key of each value in the object at `start`, or "" in the array there, and where the value starts and ends.

    The text must be valid JSON.

    >>> text = '{"a": 1.50, "b": [2]}'
    >>> [(key, text[a:b]) for key, a, b in members(text, 0)]
    [('a', '1.50'), ('b', '[2]')]
    """
    key, at = "", skip_space(text, start + 1)
    while text[at] not in "]}":
        if text[start] == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = skip_space(text, skip_space(text, at) + 1)  # past the colon
        end = _DECODER.raw_decode(text, at)[1]
        yield key, at, end
        at = skip_space(text, end)
        at = skip_space(text, at + 1) if text[at] == "," else at


def member(text: str, start: int, name: str) -> tuple[int, int] | None:
    """Where the value of a member starts and ends; the last one where the key stands twice, as JSON readers take it."""
    return next(reversed([(a, b) for key, a, b in members(text, start) if key == name]), None)


def skip_space(text: str, at: int = 0) -> int:
    """Where the next value, member or bracket of a JSON text starts."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


# Tags of XML that is seldom well-formed; nothing is expanded but the usual references.

_NAME = r"[A-Za-z][\w:.-]*"
TAG = re.compile(rf"<(/?)({_NAME})((?:\s+{_NAME}\s*=\s*(?:\"[^\"<]*\"|'[^'<]*')){{0,1000}})\s*(/?)>")
_ATTRIBUTE = re.compile(rf"(?<![\w:.-])({_NAME})\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_REFUSED = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def read_tags(path: FilePath, what: str, root: str, most: int) -> tuple[str, Script]:
    """The text of a file of tags and how it was encoded; refused where it is none, or has a document type."""
    text, script = read_text(path, what, most=most)
    if _REFUSED.search(text):
        raise FileError(f"{path}: is refused: a playlist has no business with a document type (<!DOCTYPE ...>)")
    if not re.search(rf"<{root}[\s>]", text[:4000], re.IGNORECASE):
        raise FileError(f"{path}: is not {what} (it must have <{root}>)")
    return text, script


def attributes_of(text: str) -> dict[str, str]:
    """The attributes of a tag, by their names in small letters."""
    return {m[1].lower(): html.unescape(m[2] if m[3] is None else m[3]) for m in _ATTRIBUTE.finditer(text)}


def mask_comments(text: str) -> str:
    """The text with blanks in place of comments."""
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts += [text[at:start], " " * (end + 3 - start)]
        at = end + 3
    return "".join([*parts, text[at:]])
