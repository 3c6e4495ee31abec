"""Playlists as values, what a playlist format is, and what formats share: locations, and numbers in meta elements."""

import math
import operator
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from fabula.core.files import FilePath, Script, legible
from fabula.errors import FileError
from fabula.sources.playlists.text_lines import above_zero, one_line

MOST_ENTRIES = 100_000
MOST_BYTES = 64 << 20
_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]+://|(?:urn|data|spotify|mms|rtsp|cdda|magnet|tidal|deezer|youtube|soundcloud):"
    r"|[a-z]+:(?:track|album|artist|playlist|episode|video|song):"
)
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)")
_RESERVED = ":/?#[]@!$&'()*+,;=%~|"  # a bar starts Kodi's options


@dataclass(frozen=True)
class Entry:
    """One entry of a playlist."""

    location: str  # a path, relative to the folder of the playlist or absolute, or an address; "" where none is given
    title: str = ""
    artist: str = ""
    duration: float | None = None  # in seconds
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)  # numbers are features
    # its text in the file it came from: before the location, the location as written, and after it
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
        return one_line(f"{self.artist} - {self.title}" if self.artist and self.title else self.title)


@dataclass(frozen=True)
class Playlist:
    """Entries in order, and what a file needs to be written back as it was."""

    entries: tuple[Entry, ...]
    title: str = ""
    format: str = ""  # the name of the format of the file it was read from, such as "m3u"
    folder: Path | None = None  # where relative locations start from
    head: str = field(default="", compare=False, repr=False)  # the text before the first entry,
    tail: str = field(default="", compare=False, repr=False)  # after the last one,
    text: str = field(default="", compare=False, repr=False)  # and all of it
    read: tuple[Entry, ...] = field(default=(), compare=False, repr=False)  # the entries in the order of the file
    script: Script = field(default=Script(), compare=False, repr=False)  # how the file puts text into bytes
    joint: str = field(default="", compare=False, repr=False)  # the text between two entries
    gap: float = field(default=0.0, compare=False)  # seconds between two entries, where a format says when each begins

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def is_unchanged(self) -> bool:
        """Whether the entries are those that were read, in the same order."""
        return len(self.entries) == len(self.read) and all(map(operator.is_, self.entries, self.read))


def make_entry(
    location: Any,
    title: Any,
    artist: Any,
    seconds: Any,
    details: Mapping[str, Any],
    raw: tuple[str, str, str] | None = None,
) -> Entry:
    """A song as an entry, by what a program or a server says of it, without what it does not say."""
    said = {name: value for name, value in details.items() if value and value not in (math.inf, -math.inf)}
    return Entry(str(location or ""), str(title or ""), str(artist or ""), above_zero(seconds), said, raw)


Comments = Mapping[int, str]
Choose = Callable[[list[tuple[str, int]]], int]  # from names and sizes of playlists to which of them is meant


@dataclass(frozen=True)
class PlaylistFormat:
    """A kind of playlist file. A new one is a module with a ``FORMAT``, and a line in ``playlist.py``.

    ``write`` makes the text of a file of a playlist and comments, position -> text: each stands before the entry at
    that position and takes the place of those that start a side; None leaves all as it is.
    """

    name: str  # what :attr:`Playlist.format` says of a playlist read from such a file
    endings: tuple[str, ...]  # of such files, with the dot, in lower case
    read: Callable[..., Playlist]  # from a path
    write: Callable[[Playlist, Comments | None], str]
    location: Callable[[str], str]  # a location -> how such a file spells it
    unicode_endings: tuple[str, ...] = ()  # those whose files are always UTF-8
    several: bool = False  # whether a file may hold several: ``read`` takes what chooses one by (name, size) of each
    absolute: bool = False  # whether locations must not be relative
    marker: str = ""  # what such files begin with, in their first 4,000 bytes, where others end alike
    script: Script = field(default=Script())  # how a new file puts text into bytes


def check_count(path: FilePath, count: int) -> None:
    """Refuse a playlist of more entries than memory should be taken for, by a FileError."""
    if count > MOST_ENTRIES:
        raise FileError(f"{path}: has more than {MOST_ENTRIES:,} entries, which is more than a playlist may have")


def make_playlist(path: FilePath, form: str, entries: Sequence[Entry], **about: Any) -> Playlist:
    """What was read of a file, with what else a :class:`Playlist` has; a FileError where there is no entry."""
    if not entries:
        raise FileError(f"{path}: the playlist is empty")
    return Playlist(tuple(entries), format=form, folder=Path(path).parent, read=tuple(entries), **about)


def find_name(name: str, taken: Iterable[str], note: str = "fabula", joint: str = " ") -> str:
    """What a playlist is called that stands beside the one of a name: with a note, and a number where that is taken.

    >>> find_name("Night", {"Night", "Night (fabula)"})
    'Night (fabula 2)'
    """
    known = set(taken)
    names = (f"{name} ({note}{number})" for number in ("", *(f"{joint}{k}" for k in range(2, len(known) + 3))))
    return next(one for one in names if one not in known)


def write_entries(
    playlist: Playlist,
    form: str,
    comments: Comments | None,
    block: Callable[[Entry], str],
    said: tuple[Callable[[str], str], Callable[[str], str]],
    around: tuple[str, str],
) -> str:
    """The text of a file of this form: what came from one as it was, comments before the entries, all else anew.

    `said` makes a comment of a text, and takes those out that start a side of what stands before a location; `around`
    stands before and after the entries of a new file.
    """
    text = ""
    for position, entry in enumerate(playlist.entries):
        if comments and position in comments:
            text += said[0](comments[position])
        if playlist.format == form and entry.raw:
            before, *rest = entry.raw
            text += (before if comments is None else said[1](before)) + "".join(rest)
        else:
            text += block(entry)
    before, after = (playlist.head, playlist.tail) if playlist.format == form else around
    return before + text + after


# Where the entries of a playlist are: paths of any system, file URIs, addresses on the net.


def is_address(location: str) -> bool:
    """Whether a location is not a file: http, a stream, a service."""
    return bool(_ADDRESS.match(location)) and not location.lower().startswith("file:")


def is_relative(location: str) -> bool:
    """Whether a location is a path that starts from the folder of its playlist.

    >>> [is_relative(p) for p in ("a/b.mp3", "/a.mp3", r"C:\\a.mp3", "http://x/a.mp3")]
    [True, False, False, False]
    """
    return not (location.startswith(("/", "\\")) or _DRIVE.match(location) or is_address(location))


def from_uri(uri: str) -> str:
    """A URI as a plain path; as it is when it is not a file.

    >>> from_uri("file:///C:/My%20Music/a.mp3"), from_uri("a%20b.mp3"), from_uri("http://x/a%20b")
    ('C:/My Music/a.mp3', 'a b.mp3', 'http://x/a%20b')
    """
    if is_address(uri):
        return uri
    if not uri.lower().startswith("file:"):
        return unquote(uri, errors="surrogateescape")
    rest = uri[5:]
    if rest.startswith("//"):
        host, _, path = rest[2:].partition("/")
        rest = f"/{path}" if host.lower() in ("", "localhost") else f"//{host}/{path}"
    plain = unquote(rest, errors="surrogateescape")
    return plain[1:] if _DRIVE.match(plain[1:]) else plain


def to_uri(location: str) -> str:
    """A location as a URI: absolute paths as file URIs, relative ones as relative references.

    >>> to_uri("a b.mp3"), to_uri("/m/ü.mp3"), to_uri(r"C:\\m\\a.mp3")
    ('a%20b.mp3', 'file:///m/%C3%BC.mp3', 'file:///C:/m/a.mp3')
    """
    if is_address(location):
        return quote(location, safe=_RESERVED)
    path = location.replace("\\", "/")
    if _DRIVE.match(path):
        return "file:///" + path[:2] + quote(path[2:], errors="surrogateescape")
    text = quote(path, errors="surrogateescape")
    return f"file:{text}" if path.startswith("//") else f"file://{text}" if path.startswith("/") else text


def move_location(location: str, old: Path, new: Path) -> str:
    """A relative path from one folder as the path to the same file from another; other locations as they are."""
    if not is_relative(location) or os.path.realpath(old) == os.path.realpath(new):
        return location
    here = os.path.join(os.path.realpath(old), location.replace("\\", "/"))  # noqa: PTH118 - keeps odd names as they are
    try:
        path = os.path.relpath(here, os.path.realpath(new))
    except ValueError:  # another drive
        path = here
    path = path.replace(os.sep, "/")
    return path.replace("/", "\\") if "\\" in location and "/" not in location else path


def resolve(location: str, folder: Path) -> str:
    """The path of the file of a location, or "" when it is not a file."""
    if is_address(location):
        return ""
    if not is_relative(location):
        return location
    return str(folder / (location if os.sep == "\\" else location.replace("\\", "/")))


def on_disk(written: str, folder: Path, encoding: str = "utf-8") -> str:
    """A path as a playlist wrote it, or as the file is called on disk where another spelling of it exists.

    Some players write paths as URIs without saying so, in another encoding than the disk's, or with accents as
    characters of their own.
    """
    if written.lower().startswith("file:"):
        return from_uri(written)
    if is_address(written) or ("%" not in written and written.isascii()) or _exists(written, folder):
        return written
    others = [
        unquote(written, errors="surrogateescape"),
        *(unicodedata.normalize(form, written) for form in ("NFC", "NFD")),
    ]
    others.append(legible(written))
    if encoding != "utf-8":
        others.append(written.encode(encoding, "ignore").decode("utf-8", "surrogateescape"))
    return next((path for path in dict.fromkeys(others) if path != written and _exists(path, folder)), written)


def _exists(location: str, folder: Path) -> bool:
    try:
        return Path(resolve(location, folder)).exists()
    except (OSError, ValueError):
        return False
