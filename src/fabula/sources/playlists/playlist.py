"""Playlists: M3U, M3U8, PLS, XSPF and JSPF.

A playlist written in the format and the folder it came from changes nothing but the order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.collection import Collection, Item
from fabula.core.ordering import as_ordering
from fabula.core.writing import write_whole
from fabula.errors import FileError, InputError
from fabula.sources.playlists.entries import Entry, Playlist
from fabula.sources.playlists.jspf import read_jspf, write_jspf
from fabula.sources.playlists.locations import is_address, moved, resolved, to_uri
from fabula.sources.playlists.m3u import m3u_location, read_m3u, write_m3u
from fabula.sources.playlists.pls import read_pls, write_pls
from fabula.sources.playlists.xspf import read_xspf, write_xspf, xspf_location
from fabula.sources.text_files import Script

__all__ = ["PLAYLIST_ENDINGS", "Entry", "Playlist", "collection_of", "playlist_of", "read_playlist", "write_playlist"]


@dataclass(frozen=True)
class _Format:
    name: str
    read: Callable[[str | os.PathLike[str]], Playlist]
    write: Callable[[Playlist], str]
    location: Callable[[str], str]


_M3U = _Format("m3u", read_m3u, write_m3u, m3u_location)
_FORMATS = {
    ".m3u": _M3U,
    ".m3u8": _M3U,
    ".pls": _Format("pls", read_pls, write_pls, str),
    ".xspf": _Format("xspf", read_xspf, write_xspf, xspf_location),
    ".jspf": _Format("jspf", read_jspf, write_jspf, to_uri),
}

PLAYLIST_ENDINGS = tuple(_FORMATS)


def read_playlist(path: str | os.PathLike[str]) -> Playlist:
    """Read a playlist; the format is told by the ending of the name.

    Parameters
    ----------
    path
        A .m3u, .m3u8, .pls, .xspf or .jspf file.

    Raises
    ------
    FileError
        When it cannot be read, is not what its ending says, has no entry, or an entry has no location.
    InputError
        When the ending is unknown.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "mix.m3u8"
    ...     _ = file.write_text("#EXTM3U\\n#EXTINF:201,Can - Vitamin C\\nvitamin.flac\\nb.mp3\\n")
    ...     playlist = read_playlist(file)
    ...     print(write_playlist(file, playlist, [1, 0]).read_text())
    #EXTM3U
    b.mp3
    #EXTINF:201,Can - Vitamin C
    vitamin.flac
    <BLANKLINE>
    >>> playlist.entries[0].artist, playlist.entries[0].duration
    ('Can', 201.0)
    """
    return _format_of(path).read(path)


def write_playlist(path: str | os.PathLike[str], playlist: Playlist, ordering: ArrayLike | None = None) -> Path:
    """Write a playlist, whole or not at all; the format is told by the ending of the name.

    Relative locations are rewritten where the folder is another one, so that they still lead to the same files.

    Parameters
    ----------
    path
        A .m3u, .m3u8, .pls, .xspf or .jspf file.
    playlist
        As it was read, or from :func:`playlist_of`.
    ordering
        Item indices in the new order, shape (n,); by default the order stays.

    Returns
    -------
    The path written.
    """
    form = _format_of(path)
    target = Path(path)
    entries = playlist.entries
    if ordering is not None:
        entries = tuple(entries[i] for i in as_ordering(ordering, len(entries)))
    if playlist.folder is not None:
        entries = tuple(_moved(entry, playlist.folder, target.parent, form) for entry in entries)
    text = form.write(replace(playlist, entries=entries))
    script = playlist.script if playlist.format == form.name else Script()
    if target.suffix.lower() == ".m3u8" and script.encoding == "cp1252":
        script = Script()
    try:
        return write_whole(path, script.encode(text))
    except UnicodeEncodeError as error:
        raise FileError(f"{path}: cannot be written ({error.object[error.start]!r} is no text)") from error


def _moved(entry: Entry, old: Path, new: Path, form: _Format) -> Entry:
    location = moved(entry.location, old, new)
    if location == entry.location:
        return entry
    raw = entry.raw and (entry.raw[0], form.location(location) if entry.raw[1] else "", entry.raw[2])
    return replace(entry, location=location, raw=raw)


def collection_of(playlist: Playlist, path: str | os.PathLike[str]) -> Collection:
    """The items of a playlist.

    Parameters
    ----------
    playlist
        What was read.
    path
        The file it was read from; the collection is called by its name.

    Returns
    -------
    Items whose id is their location and whose path starts from the folder of the playlist ("" when they are not
    files); features: ``duration`` in seconds, and the numbers that the playlist gives; NaN where there is none.
    """
    folder = Path(path).parent
    items = [
        Item(
            entry.location,
            entry.title,
            resolved(entry.location, folder),
            entry.artist,
            MappingProxyType({name: value for name, value in entry.details.items() if name not in entry.numbers}),
        )
        for entry in playlist.entries
    ]
    rows = [{**e.numbers, "duration": np.nan if e.duration is None else e.duration} for e in playlist.entries]
    names = tuple(dict.fromkeys(["duration", *(name for row in rows for name in row)]))
    features = np.array([[row.get(name, np.nan) for name in names] for row in rows])  # (n, f)
    return Collection(Path(path).stem, items, features, names, title=playlist.title)


def playlist_of(collection: Collection, *, features: Sequence[str] = ()) -> Playlist:
    """A new playlist of the items of a collection, in its order.

    Relative paths start from the working folder. The duration is taken from ``duration`` (seconds) or
    ``duration_ms``.

    Parameters
    ----------
    collection
        Its items must have a path, or an address as their id.
    features
        Names of features to write beside the entries.

    Raises
    ------
    InputError
        When an item is neither a file nor an address.
    """
    values = collection.columns(list(features))
    durations = _durations(collection)
    entries = []
    for index, item in enumerate(collection.items):
        location = item.path or item.id
        if not item.path and not is_address(item.id):
            raise InputError(f"{item.label!r} has no path: a playlist cannot lead to it; write .csv or .json")
        numbers = {n: float(v) for n, v in zip(features, values[index], strict=True) if np.isfinite(v)}
        texts = {name: value for name, value in item.details.items() if isinstance(value, str)}
        details = MappingProxyType({**texts, **numbers})
        entries.append(Entry(location, item.title, item.artist, durations[index], details))
    return Playlist(tuple(entries), collection.title, folder=Path.cwd())


def _durations(collection: Collection) -> list[float | None]:
    for name, unit in (("duration", 1.0), ("duration_ms", 1000.0)):
        if name in collection.feature_names and collection.features.ndim == 2:
            return [float(v) / unit if np.isfinite(v) and v > 0 else None for v in collection.column(name)]
    return [None] * len(collection)


def _format_of(path: str | os.PathLike[str]) -> _Format:
    ending = Path(path).suffix.lower()
    if ending not in _FORMATS:
        raise InputError(
            f"{path}: a playlist must end in one of {', '.join(PLAYLIST_ENDINGS)}; got {ending or 'no ending'}"
        )
    return _FORMATS[ending]
