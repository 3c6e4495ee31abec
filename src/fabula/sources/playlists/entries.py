"""Playlists as values, and what their text formats share."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fabula.errors import InputError
from fabula.sources.text_files import Script


@dataclass(frozen=True)
class Entry:
    """One entry of a playlist.

    Parameters
    ----------
    location
        A path, relative to the folder of the playlist or absolute, or an address.
    title, artist
        What to call it; "" where the file does not say.
    duration
        Seconds, or None.
    details
        What else the file says of it, by name; numbers are features.
    raw
        Its text in the file it came from: before the location, the location as written, and after it.
    """

    location: str
    title: str = ""
    artist: str = ""
    duration: float | None = None
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    raw: tuple[str, str, str] | None = field(default=None, compare=False, repr=False)

    @property
    def numbers(self) -> dict[str, float]:
        """The details that are numbers."""
        return {
            name: float(value)
            for name, value in self.details.items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        }

    @property
    def label(self) -> str:
        """Artist and title on one line, as M3U and PLS have them; the title alone without an artist."""
        both = f"{self.artist} - {self.title}" if self.artist and self.title else self.title
        return one_line(both)


@dataclass(frozen=True)
class Playlist:
    """Entries in order, and what a file needs to be written back as it was.

    Parameters
    ----------
    entries
        In order.
    title
        What to call it.
    format
        "m3u", "pls", "xspf" or "jspf" when it was read from a file, else "".
    folder
        Where relative locations start from.
    head, tail
        Text of the file before the first and after the last entry.
    text, read
        The whole text of the file, and the entries in the order in which they were read.
    script
        How the file puts text into bytes.
    """

    entries: tuple[Entry, ...]
    title: str = ""
    format: str = ""
    folder: Path | None = None
    head: str = field(default="", compare=False, repr=False)
    tail: str = field(default="", compare=False, repr=False)
    text: str = field(default="", compare=False, repr=False)
    read: tuple[Entry, ...] = field(default=(), compare=False, repr=False)
    script: Script = field(default=Script(), compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def unchanged(self) -> bool:
        """Whether the entries are those that were read, in the same order."""
        return len(self.entries) == len(self.read) and all(map(_is, self.entries, self.read))


def _is(one: Entry, other: Entry) -> bool:
    return one is other


def lines_of(text: str) -> list[str]:
    """Lines with their ends; no other character than CR and LF ends one."""
    return list(io.StringIO(text, newline=""))


def line_end(text: str) -> str:
    """How the lines of a text end."""
    match = re.search(r"\r\n|\n|\r", text)
    return match.group() if match else "\n"


def closed(text: str) -> str:
    """The text with an end to its last line."""
    return text if not text or text[-1] in "\r\n" else text + line_end(text)


def opened(text: str, like: str) -> str:
    """The text without an end to its last line, if the other has none."""
    return text if not like or like[-1] in "\r\n" else text.removesuffix(line_end(text))


def one_line(text: str) -> str:
    """The text without line breaks."""
    return re.sub(r"[\r\n]+", " ", text)


def parted(label: str) -> tuple[str, str]:
    """Artist and title of "Artist - Title"; no artist where that is not clear.

    Examples
    --------
    >>> parted("Can - Vitamin C"), parted("01 - Intro"), parted("A - B - C")
    (('Can', 'Vitamin C'), ('', '01 - Intro'), ('', 'A - B - C'))
    """
    artist, dash, title = label.partition(" - ")
    if not dash or " - " in title or not title.strip() or not artist.strip() or artist.strip().isdigit():
        return "", label
    return artist.strip(), title.strip()


def seconds(text: str) -> float | None:
    """A duration as M3U and PLS have it; None for -1, 0 and what is no number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None


def seconds_text(duration: float | None) -> str:
    """A duration as M3U and PLS have it, whole where it is; -1 for None."""
    if duration is None or duration != duration:
        return "-1"
    return str(int(duration)) if float(duration).is_integer() else repr(round(float(duration), 3))


def writable_line(location: str, what: str) -> str:
    """A location that can stand on a line of its own.

    Raises
    ------
    InputError
        When it holds a line break.
    """
    if "\r" in location or "\n" in location:
        raise InputError(f"{what} cannot hold a location with a line break: {location!r}; write .xspf or .jspf")
    return location
