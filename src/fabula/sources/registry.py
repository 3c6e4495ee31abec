"""Sources: one collection, where it came from, and what writing it back needs; and the readers that open them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.files import FilePath, decode, is_file, is_guarded, split_stretch
from fabula.errors import FileError, InputError, brief, check_kind, shown
from fabula.media.children import call_all
from fabula.media.medium import Medium, Stop, load, load_points

if TYPE_CHECKING:
    from fabula.sources.playlists.entries import Playlist
    from fabula.sources.tables.source_table import SourceTable

_TOLD = 8  # files that were not opened, in one line
# Where a side begins, as playlists are written: a comment, or a meta of JSPF.
_SIDE = re.compile(r'(?:^\s*(?:[#;]|<!--|REM)\s*|side":\s*")(?:Side|SIDE) [A-Z]{1,3}\b', re.MULTILINE)


@dataclass(frozen=True)
class Choice:
    """A collection of a source of several, as a person chooses it: its id, its title or "", and how many items."""

    id: str
    title: str
    items: int


class SeveralCollectionsError(InputError):
    """A source holds several collections, the choices, and none was named."""

    def __init__(self, message: str, choices: Sequence[Choice]) -> None:
        self.choices = tuple(choices)
        super().__init__(message, field="collection")


def choose_collection(path: FilePath, choices: Sequence[Choice], wanted: str | None) -> int:
    """Which of several collections is meant, by id or title; without either the only one.

    >>> choose_collection("a.csv", [Choice("1", "One", 9), Choice("2", "Two", 8)], "two")
    1
    """
    some = ", ".join(one.id for one in choices[:4]) + (", ..." if len(choices) > 4 else "")
    held = f"{len(choices)} collection(s): {some}"
    if wanted is not None:
        hits = [k for k, one in enumerate(choices) if wanted == one.id]
        hits = hits or [k for k, one in enumerate(choices) if wanted.casefold() == one.title.casefold()]
        if len(hits) == 1:
            return hits[0]
        what = f"{len(hits)} collections are" if hits else "no collection is"
        raise InputError(f"{path}: {what} called {wanted!r}; it holds {held}")
    if len(choices) > 1:
        raise SeveralCollectionsError(f"{path} holds {held}; choose one", choices)
    if not choices:
        raise FileError(f"{path}: holds no collection")
    return 0


class Home(Protocol):
    """Somewhere a collection lives, and can be written back to: a playlist of a server or a player."""

    @property
    def name(self) -> str:
        """What the collection is called there."""
        ...

    def write(self, entries: Sequence[int], name: str | None = None) -> str:
        """Put entries, by their numbers as they were opened, there in this order; says in words what was written.

        In place of what is there, which is kept under another name; or under a name that is not there yet.
        """
        ...


@dataclass(frozen=True, eq=False)
class Source:
    """A collection and where it came from."""

    path: Path  # The file, folder or address; the first one where there are several
    collection: Collection  # The items in the order given
    medium: Medium  # The kind of media they are
    folder: Path = Path()  # Where the items' relative paths start from
    files: bool = False  # Whether the items are files, which can be measured
    cut: bool = False  # Whether the items are parts of the file at the path
    # playlist, table: Kept where the items come from one, so that writing it back changes nothing but the order
    playlist: Playlist | None = None
    table: SourceTable | None = None
    # For each item its entry of the playlist or row of the table; empty where there is neither
    rows: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()  # What the user should know of the reading
    # (name, why) of files that are not among the items, though they were meant to be
    left_out: tuple[tuple[str, str], ...] = ()
    held: tuple[int, ...] = ()  # Rows of the table that are no items, and stay where they are
    tempo_range: tuple[float, float] | None = None  # Beats per minute that tempi are counted in; None: as they are
    dropped: tuple[int, ...] = ()  # Entries of the playlist that nobody wants: they go from what is written
    home: Home | None = None  # Where the order can be written back to, where it is no file

    @property
    def title(self) -> str:
        """What to call it."""
        return self.collection.title or self.path.stem

    def only(self, indices: Sequence[int]) -> Source:
        """The same with some of the items, in the order of the indices; the others keep their entries."""
        rows = tuple(self.rows[i] for i in indices) if self.rows else ()
        return replace(self, collection=self.collection.only(indices), rows=rows)

    def with_notes(self, *notes: str) -> Source:
        """The same with more to tell."""
        return replace(self, notes=(*self.notes, *notes))

    def tell(self) -> tuple[str, ...]:
        """The notes, and before them in one line how many of how many files were opened, where some were not.

        Those that do not fit into that line have one each.
        """
        if not self.left_out:
            return self.notes
        done = len(self.collection)
        what = "left out" if self.playlist is None else "kept where they stand, not measured"
        named = "; ".join(f"{name}: {why}" for name, why in self.left_out[:_TOLD])
        rest = tuple(f"{what}: {name}: {why}" for name, why in self.left_out[_TOLD:])
        more = f"; and {len(rest)} more" if rest else ""
        return (f"{done} of {done + len(self.left_out)} opened; {what}: {named}{more}", *rest, *self.notes)

    def with_lengths(self) -> Source:
        """The same, with what its medium makes of its features: those that follow from others, and lengths."""
        collection = self.medium.complete(self.collection)
        if self.tempo_range is not None:
            collection = self.medium.fold(collection, *self.tempo_range)
        pairs = zip(collection.items, self.medium.lengths(collection), strict=True)
        items = tuple(replace(item, length=float(s)) if np.isfinite(s) else item for item, s in pairs)
        return replace(self, collection=replace(collection, items=items))

    @property
    def by_name(self) -> bool:
        """Whether the items came in the order of the names of their files alone."""
        return self.files and self.playlist is None and not self.collection.ordered

    @property
    def sides(self) -> tuple[int, ...]:
        """How many items each side has, by a column ``side`` or comments of a playlist; empty where there is one."""
        items = self.collection.items
        column = "side" if self.table is None else self.table.side_heading
        labels = [item.details.get(column) for item in items]
        if self.playlist is not None and not any(labels):
            texts = ["".join(self.playlist.entries[row].raw or ()) for row in self.rows]
            starts = [k for k, text in enumerate(texts) if _SIDE.search(text)]
        else:
            starts = [k for k, label in enumerate(labels) if label and label != (labels[k - 1] if k else None)]
        if len(starts) < 2 or starts[0] != 0:
            return ()
        return tuple(np.diff([*starts, len(items)]).tolist())

    @property
    def unmovable(self) -> tuple[int, ...]:
        """Entries of the playlist that are no items: they cannot be measured and keep where they stand."""
        if self.playlist is None:
            return ()
        return tuple(sorted(set(range(len(self.playlist))) - {*self.rows, *self.dropped}))


def is_library(name: str) -> bool:
    """Whether what a person named keeps playlists of its own: an address, ``mpd://localhost/queue``, or a database."""
    return _SCHEME.match(name) is not None or Path(name).suffix.lower() in _LIBRARIES


def with_held(order: Sequence[int], held: Sequence[int]) -> list[int]:
    """Entries in their new order, those that are held put back to where they stood.

    >>> with_held([3, 0, 2], [1])
    [3, 1, 0, 2]
    """
    entries = list(order)
    for position in sorted(held):
        entries.insert(position, position)
    return entries


# What the files of a collection say of themselves.


def read_items(files: Iterable[str], medium: Medium, skipped: list[tuple[str, str]]) -> list[Item]:
    """The items of files, in a child where they are parsed or guarded; one at which the medium fails is skipped."""
    known = list(files)
    apart = [file for file in known if is_guarded() or medium.parsed(file)]
    found: dict[str, Item] = {}
    for file, item in zip(apart, call_all(medium.read_item, apart), strict=True):
        # What is wrong with one is told when it is measured.
        found[file] = Item(file, shown(Path(file).stem), file) if isinstance(item, FileError) else item
    for file in known:
        try:
            found[file] = found[file] if file in found else medium.read_item(file)
        except FileError as error:
            skipped.append((file, str(error).removeprefix(f"{shown(file)}: ")))
    return [found[file] for file in known if file in found]


_MOST_STRETCHES = 1000  # each is listened to, and all are compared


def check_stretches(path: FilePath, items: Iterable[Item]) -> None:
    """Refuse a list that cuts one file into more stretches than anybody listens to, by a FileError."""
    found = Counter(file for file, begins, _ in (split_stretch(item.path) for item in items) if begins is not None)
    for file, count in found.most_common(1):
        if count > _MOST_STRETCHES:
            raise FileError(f"{path}: has {count:,} stretches of {shown(file)}, and may have {_MOST_STRETCHES:,}")


def read_tags(collection: Collection, medium: Medium, opening: Opening) -> Collection:
    """The collection with what its files say of themselves where its list does not: titles, who made them, details."""
    named = [item.path for item in collection.items if item.path and split_stretch(item.path)[1] is None]
    there = [path for path in named if opening.may_read(path)]
    tags = {item.path: item for item in read_items(dict.fromkeys(there), medium, [])}
    items = list(collection.items)
    for number, item in enumerate(items):
        if (said := tags.get(item.path)) is not None:
            title = said.title if item.title in ("", Path(item.path).name) else item.title
            details = {**said.details, **item.details}
            items[number] = replace(item, title=title, artist=item.artist or said.artist, details=details)
    return replace(collection, items=tuple(items))


# The readers there are: those of the house, one line each, and those that other packages bring.

GROUP = "fabula.sources"
_HOME = ("fabula.sources.tables.read_table:READER", "fabula.sources.playlists.playlist:READER")
# Libraries, by the scheme of their addresses or the ending of their database: loaded when one is named
_LIBRARIES = {
    scheme: f"fabula.sources.libraries.{scheme.removesuffix('+http')}:READER"
    for scheme in ("subsonic", "subsonic+http", "jellyfin", "jellyfin+http", "plex", "plex+http", "mpd")
} | dict.fromkeys((".sqlite", ".db"), "fabula.sources.libraries.databases:READER")
_FOLDERS = "fabula.sources.folders:READER"  # whatever no other reader takes
# Texts (.txt) that are lists: of files, of tab-separated columns as programs export them, of tracks.
_LISTS = (
    "fabula.sources.playlists.playlist:LISTS",
    "fabula.sources.tables.read_table:EXPORTS",
    "fabula.sources.playlists.playlist:TRACKLISTS",
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


@dataclass(frozen=True)
class Opening:
    """How a source is to be opened."""

    collection: str | None = None  # Which collection of a source of several, by id or title
    # Role -> name of the column, for tables whose headings are not recognised
    columns: tuple[tuple[str, str], ...] = ()
    recursive: bool = True  # Whether to go into folders within folders
    # Folders that links inside a folder must not lead out of; None where they may lead anywhere
    within: tuple[Path, ...] | None = None
    # What is told how far it is, with (done, total, name), and asked whether to give up, where one file is cut
    progress: Callable[[int, int, str], None] | None = None
    stop: Stop = lambda: False
    tempo_range: tuple[float, float] | None = None  # Slowest and fastest tempo of music: others are doubled or halved
    medium: str | None = None  # What kind of media files are; None: the one that has most of them
    folder: Path | None = None  # Where relative names in a list start from; None: from the folder of the list

    def __post_init__(self) -> None:
        if self.tempo_range is not None and not 0 < self.tempo_range[0] < self.tempo_range[1] < np.inf:
            raise InputError(f"must rise, such as 88-176; got {self.tempo_range}", field="tempo_range")

    def may_read(self, path: str) -> bool:
        """Whether there is such a file, or one it is a stretch of, and it may be read: below the folders named."""
        file = path if is_file(path) else split_stretch(path)[0]
        if self.within is None or not is_file(file):
            return is_file(file)
        return any(Path(file).resolve().is_relative_to(root) for root in self.within)


@dataclass(frozen=True)
class Reader:
    """A kind of source."""

    name: str  # What it is called, as in "a playlist"
    # From what the user named (one or more paths or addresses) to a source
    open: Callable[[Sequence[str], Opening], Source]
    endings: tuple[str, ...] = ()  # Of files it opens, one at a time
    schemes: tuple[str, ...] = ()  # Of addresses it opens, such as ``"subsonic"`` for ``subsonic://...``
    several: bool = False  # Whether what it opens may hold several collections
    # Whether a file of an ending that others have, too, is for this reader
    takes: Callable[[str], bool] = lambda path: True
    folders: Callable[[str], bool] | None = None  # Whether a folder is one of its own, and none of items


@cache
def readers() -> tuple[Reader, ...]:
    """Every reader but that of folders, those of the house first."""
    return (*map(load, _HOME), *load_points(GROUP, Reader))


def list_endings() -> tuple[str, ...]:
    """Endings of files that list items: tables, playlists and what other packages read."""
    return tuple(ending for reader in readers() for ending in reader.endings)


def as_paths(paths: Any) -> list[str]:
    """A path, or several, as a list of texts; an InputError for anything else.

    >>> as_paths(Path("a")), as_paths(["a", "b"])
    (['a'], ['a', 'b'])
    """
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(several, Iterable) or isinstance(several, bytes | Mapping):
        raise InputError(f"must be a path, or several; got {brief(paths)}", field="paths")
    named = list(several)
    for path in named:
        check_kind(path, (str, os.PathLike), "a path, or several", "paths")
    return [os.fspath(path) for path in named]


def open_source(paths: Sequence[str | Path], opening: Opening | None = None) -> Source:
    """Open what a person named: one table, playlist or address, or any number of folders and files.

    Nothing is measured yet. One that holds several collections of which none was named is a SeveralCollectionsError.
    """
    how, names = opening or Opening(), [str(path) for path in paths]
    if not names:
        raise InputError("name a folder, files, a playlist or a table")
    if any(not name.strip() for name in names):
        raise InputError("a path must not be empty; for the current folder say '.'")
    known = [_reader_of(name, alone=len(names) == 1) for name in names]
    reader = next((one for one in known if one is not None), None)
    if reader is not None and len(names) > 1:
        raise InputError(f"one {reader.name} at a time, without other files; got {len(names)} paths")
    if how.collection is not None and not (reader and reader.several):
        raise InputError(f"goes with a table or a library; {shown(names[0])} is none", field="collection")
    if reader is not None and not _SCHEME.match(names[0]) and not Path(names[0]).exists():
        raise FileError(f"{shown(names[0])}: does not exist")
    opened: Source = (reader or load(_FOLDERS)).open(names, how)
    return replace(opened, tempo_range=how.tempo_range)


def _reader_of(name: str, *, alone: bool) -> Reader | None:
    """The reader of one name; None for folders and files that are items, as a text is among other files."""
    scheme = _SCHEME.match(name)
    kind = scheme[1].lower() if scheme else Path(name).suffix.lower()
    if not scheme and Path(name).is_dir():
        return next((reader for reader in readers() if reader.folders is not None and reader.folders(name)), None)
    if kind == ".txt":
        return next((reader for reader in map(load, _LISTS) if reader.takes(name)), None) if alone else None
    own = next((reader for reader in readers() if kind in (reader.schemes if scheme else reader.endings)), None)
    if own is None and kind in _LIBRARIES:
        library: Reader = load(_LIBRARIES[kind])
        return library
    if own is None and scheme:
        schemes = [*(one for reader in readers() for one in reader.schemes), *_LIBRARIES]
        known = ", ".join(one for one in schemes if not one.startswith("."))
        raise InputError(f"{shown(name)}: nothing here opens {scheme[1]}:// addresses; there are: {known}")
    return own


# What is pasted or piped in has no name: what it is goes by how it begins.

_BEGINNINGS = (
    (r"#EXTM3U", ".m3u8"), (r"\[playlist\]", ".pls"), (r"<[^>]*>.*<plist|<plist", ".xml"), (r".*<asx\b", ".asx"),
    (r".*<smil\b", ".wpl"), (r".*<playlist\b", ".xspf"), (r'\{\s*"playlist"', ".jspf"), (r"[\[{]", ".json"),
    (r"(?:(?:REM|CATALOG|PERFORMER|TITLE|SONGWRITER|FLAGS|CDTEXTFILE)\b[^\n]*\n\s*)*FILE\b", ".cue"),
)  # fmt: skip
_HEAD = 4096  # bytes that tell


def name_pasted(data: bytes) -> tuple[str, bytes]:
    """The ending of a list that has no name, by how it begins, and what to read; plain lines are titles.

    >>> name_pasted(b"#EXTM3U\\na.mp3")[0], name_pasted(b"title,artist\\nRain,Can")[0], name_pasted(b"Rain\\nSun")
    ('.m3u8', '.csv', ('.csv', b'title\\n"Rain"\\n"Sun"\\n'))
    """
    text = decode(data, "what is pasted", "text")[0].lstrip()
    if not text:
        raise FileError("nothing was pasted: give one track a line, or a playlist")
    for beginning, ending in _BEGINNINGS:
        if re.match(beginning, text[:_HEAD], re.IGNORECASE | re.DOTALL):
            return ending, data
    plain, roles = (load(f"fabula.sources.tables.roles:{name}") for name in ("plain", "ROLES"))
    headings = {plain(cell) for cell in re.split("[,;\t]", text.partition("\n")[0])}
    if len(headings) > 1 and headings & set(roles["title"].split()):
        return ".txt" if "\t" in text.partition("\n")[0] else ".csv", data
    if load("fabula.sources.playlists.tracklists:find_tracks")(text) is not None:
        return ".txt", data
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if all(Path(line).is_file() for line in lines):
        return ".m3u8", data
    titles = lines if plain(lines[0]) not in ("title", "titles", "tracklist") else lines[1:]
    return ".csv", "".join(["title\n", *('"' + line.replace('"', '""') + '"\n' for line in titles)]).encode()
