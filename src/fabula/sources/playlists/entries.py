"""Playlists as values, and what a playlist format is."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fabula.errors import FileError
from fabula.sources.playlists.lines import one_line
from fabula.sources.text_files import Script

MOST_ENTRIES = 100_000
MOST_BYTES = 64 << 20


def check_count(path: str | os.PathLike[str], count: int) -> None:
    """Refuse a playlist of more entries than memory should be taken for.

    Raises
    ------
    FileError
        In one line, with the limit.
    """
    if count > MOST_ENTRIES:
        raise FileError(f"{path}: has more than {MOST_ENTRIES:,} entries, which is more than a playlist may have")


@dataclass(frozen=True)
class Entry:
    """One entry of a playlist.

    Parameters
    ----------
    location
        A path, relative to the folder of the playlist or absolute, or an address; "" where the file gives none.
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
        The name of the format when it was read from a file ("m3u", "pls", ...), else "".
    folder
        Where relative locations start from.
    head, joint, tail
        Text of the file before the first entry, between two entries, and after the last one.
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
    joint: str = field(default="", compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def unchanged(self) -> bool:
        """Whether the entries are those that were read, in the same order."""
        return len(self.entries) == len(self.read) and all(map(_is, self.entries, self.read))


Comments = Mapping[int, str]


@dataclass(frozen=True)
class PlaylistFormat:
    """A kind of playlist file. A new one is a module with a ``FORMAT``, and a line in ``formats.py``.

    Parameters
    ----------
    name
        What :attr:`Playlist.format` says of a playlist read from such a file.
    endings
        The endings of such files, with the dot, in lower case.
    read
        Path -> playlist.
    write
        Playlist and comments -> the text of the file. Comments are position -> text: each stands before the entry
        at that position and takes the place of those that start a side; None leaves all as it is.
    location
        A location -> how such a file spells it.
    unicode_endings
        The endings whose files are always UTF-8.
    """

    name: str
    endings: tuple[str, ...]
    read: Callable[[str | os.PathLike[str]], Playlist]
    write: Callable[[Playlist, Comments | None], str]
    location: Callable[[str], str]
    unicode_endings: tuple[str, ...] = ()


def _is(one: Entry, other: Entry) -> bool:
    return one is other
