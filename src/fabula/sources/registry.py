"""The readers there are: those of the house, one line each, and those that other packages bring.

A reader opens what a person names: files of some ending, or addresses of some scheme. Another package adds one by an
entry point of the group ``fabula.sources`` that names a :class:`Reader`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from fabula.errors import FileError, InputError, shown
from fabula.sources.source import Source

GROUP = "fabula.sources"
_HOME = ("fabula.sources.tables.table_source:READER", "fabula.sources.playlists.playlist_source:READER")
_FOLDERS = "fabula.sources.folders:READER"  # whatever no other reader takes
_LISTS = "fabula.sources.playlists.playlist_source:LISTS"  # texts that are lists of files
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

    def may_read(self, path: str) -> bool:
        """Whether there is such a file, and it may be read: below the folders named, where some are."""
        if self.within is None:
            return Path(path).is_file()
        real = Path(path).resolve()
        return any(real.is_relative_to(root) for root in self.within) and real.is_file()


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
    found = [_load(where) for where in _HOME]
    for point in entry_points(group=GROUP):
        reader = point.load()
        if not isinstance(reader, Reader):
            raise InputError(
                f"the entry point {point.value!r} of {GROUP} must name a Reader; got {type(reader).__name__}"
            )
        found.append(reader)
    return tuple(found)


def list_endings() -> tuple[str, ...]:
    """Endings of files that list items: tables, playlists and what other packages read."""
    return tuple(ending for reader in readers() for ending in reader.endings)


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
        raise InputError(f"goes with a table; {shown(names[0])} is none", field="collection")
    if reader is None:
        return _load(_FOLDERS).open(names, how)
    if not _SCHEME.match(names[0]) and not Path(names[0]).exists():
        raise FileError(f"{shown(names[0])}: does not exist")
    return reader.open(names, how)


def _reader_of(name: str, *, alone: bool) -> Reader | None:
    """The reader of one name; None for folders and files that are items, as a text is among other files."""
    scheme = _SCHEME.match(name)
    if scheme:
        for reader in readers():
            if scheme[1].lower() in reader.schemes:
                return reader
        known = [s for reader in readers() for s in reader.schemes]
        hint = f"; there are: {', '.join(known)}" if known else ""
        raise InputError(f"{shown(name)}: nothing here opens {scheme[1]}:// addresses{hint}")
    if Path(name).is_dir():
        return next((reader for reader in readers() if reader.folders is not None and reader.folders(name)), None)
    if Path(name).suffix.lower() == ".txt":
        lists = _load(_LISTS)
        return lists if alone and lists.takes(name) else None
    return next((reader for reader in readers() if Path(name).suffix.lower() in reader.endings), None)


def _load(where: str) -> Reader:
    module, _, attribute = where.partition(":")
    reader: Reader = getattr(import_module(module), attribute)
    return reader
