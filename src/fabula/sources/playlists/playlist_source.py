"""Playlists as a source, and plain lists: texts of which every line is a file, as ``-o list.txt`` writes them.

Every entry is an item, and what cannot be measured keeps its entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.files import read_text
from fabula.errors import FabulaError
from fabula.media.registry import find_medium, medium_of_file
from fabula.sources.playlists.entries import Playlist
from fabula.sources.playlists.m3u import read_m3u
from fabula.sources.playlists.playlist import PLAYLIST_ENDINGS, collection_of, read_playlist
from fabula.sources.registry import Opening, Reader
from fabula.sources.source import Source

_MOST = 1 << 22  # bytes of a list that are looked through


def open_playlist(paths: Sequence[str], _: Opening) -> Source:
    """Open a playlist; its medium is that of its first file, music where no file says."""
    return _source(Path(paths[0]), read_playlist(paths[0]))


def open_list(paths: Sequence[str], opening: Opening) -> Source:
    """Open a list of files: a playlist without anything but their names; what a file says of itself is read."""
    source = _source(Path(paths[0]), read_m3u(paths[0]))
    items = list(source.collection.items)
    for number, item in enumerate(items):
        if opening.may_read(item.path):
            said = source.medium.read_item(item.path)
            details = {**item.details, **said.details}
            items[number] = replace(item, title=said.title, artist=said.artist, details=details)
    return replace(source, collection=replace(source.collection, items=tuple(items)))


def is_list(path: str) -> bool:
    """Whether every line of a text, empty ones and comments aside, is called like a file that is an item.

    Texts themselves do not count: a list of .txt files would be a text like any other. No file is looked for.
    """
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > _MOST:
            return False
        text, _ = read_text(path, "a list of files")
    except (FabulaError, OSError):
        return False
    lines = [line.strip() for line in text.splitlines()]
    named = [line for line in lines if line and not line.startswith("#")]
    media = [medium_of_file(Path(line).suffix) for line in named]
    return bool(named) and all(medium is not None and ".txt" not in medium.endings for medium in media)


def _source(path: Path, playlist: Playlist) -> Source:
    collection = collection_of(playlist, path)
    known = (medium_of_file(Path(item.path).suffix) for item in collection.items if item.path)
    medium = next((one for one in known if one is not None), None) or find_medium("music")
    return Source(path, collection, medium, files=True, playlist=playlist, rows=tuple(range(len(collection))))


READER = Reader("playlist", open_playlist, PLAYLIST_ENDINGS)
LISTS = Reader("list", open_list, takes=is_list)
