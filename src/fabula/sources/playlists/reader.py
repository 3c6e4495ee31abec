"""Playlists as a source: every entry is an item, and what cannot be measured keeps its entry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabula.media.registry import find_medium, medium_of_file
from fabula.sources.playlists.playlist import PLAYLIST_ENDINGS, collection_of, read_playlist
from fabula.sources.registry import Opening, Reader
from fabula.sources.source import Source


def open_playlist(paths: Sequence[str], _: Opening) -> Source:
    """Open a playlist; its medium is that of its first file, music where no file says."""
    path = Path(paths[0])
    playlist = read_playlist(path)
    collection = collection_of(playlist, path)
    known = (medium_of_file(Path(item.path).suffix) for item in collection.items if item.path)
    medium = next((one for one in known if one is not None), None) or find_medium("music")
    rows = tuple(range(len(collection)))
    return Source(path, collection, medium, files=True, playlist=playlist, rows=rows)


READER = Reader("playlist", open_playlist, PLAYLIST_ENDINGS)
