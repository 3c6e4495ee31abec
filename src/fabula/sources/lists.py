"""Plain lists as a source: a text of which every line is a file, as ``-o list.txt`` writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.collection import Item
from fabula.core.files.encoding import read_text
from fabula.errors import FabulaError
from fabula.media.medium import Medium
from fabula.media.registry import find_medium, medium_of_file
from fabula.sources.playlists.m3u import read_m3u
from fabula.sources.playlists.playlist import collection_of
from fabula.sources.registry import Opening, Reader
from fabula.sources.source import Source

_MOST = 1 << 22  # bytes that are looked through


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


def open_list(paths: Sequence[str], opening: Opening) -> Source:
    """Open a list of files: a playlist without anything but their names."""
    path = Path(paths[0])
    playlist = read_m3u(path)
    collection = collection_of(playlist, path)
    known = (medium_of_file(Path(item.path).suffix) for item in collection.items if item.path)
    medium = next((one for one in known if one is not None), None) or find_medium("music")
    items = tuple(_tagged(item, medium) if opening.may_read(item.path) else item for item in collection.items)
    rows = tuple(range(len(items)))
    return Source(path, replace(collection, items=items), medium, files=True, playlist=playlist, rows=rows)


def _tagged(item: Item, medium: Medium) -> Item:
    """The item of a file, with what the file says of itself: a list says nothing but its name."""
    said = medium.read_item(item.path)
    return replace(item, title=said.title, artist=said.artist, details={**item.details, **said.details})


READER = Reader("list", open_list, takes=is_list)
