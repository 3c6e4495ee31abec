"""Where the items come from: a table, a playlist, a folder of sound; one collection with what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats, normalise
from fabula.datasets.playlists import PLAYLIST_ENDINGS, Playlist, collection_of, read_playlist
from fabula.datasets.tables import TABLE_ENDINGS, read_table
from fabula.errors import FileError, InputError


@dataclass(frozen=True)
class Source:
    """A collection and where it came from.

    ``folder`` is where the items' relative paths start from. ``playlist`` is kept where there is one, so that
    writing it back changes nothing but the order.
    """

    path: Path
    collection: Collection
    folder: Path
    playlist: Playlist | None = None
    notes: tuple[str, ...] = field(default=())


def read_source(paths: Sequence[str | Path], *, collection: str | None = None) -> Source:
    """Read one collection from a table or a playlist.

    Parameters
    ----------
    paths
        What the user named; one table or one playlist.
    collection
        Which collection of a table that holds several, by id or title.

    Raises
    ------
    FileError, InputError
        When it cannot be read, holds several collections, or is none of the known kinds.
    """
    if len(paths) != 1:
        raise InputError(f"one table or one playlist at a time; got {len(paths)}")
    path = Path(paths[0])
    ending = path.suffix.lower()
    if not path.exists():
        raise FileError(f"{path}: no such file")
    if ending in PLAYLIST_ENDINGS:
        playlist = read_playlist(path)
        return Source(path, collection_of(playlist, path), Path(), playlist)
    if ending in TABLE_ENDINGS:
        return Source(path, _one_of(read_table(path), collection, path), path.parent)
    known = ", ".join((*TABLE_ENDINGS, *PLAYLIST_ENDINGS))
    raise InputError(f"{path}: is neither a table nor a playlist (known endings: {known})")


def essence_by(source: Source, column: str) -> Floats:
    """A column of the source as the essence, z-scored: shape (n,).

    Raises
    ------
    FileError, InputError
        When there is no such column, it is not numeric, or a value is missing; a table's error names the row.
    """
    known = source.collection.feature_names
    name = next((k for k in known if k.casefold() == column.casefold()), column)
    if name in known:
        values = source.collection.column(name)
        if np.isfinite(values).all():
            return normalise(values)
        item = int(np.flatnonzero(~np.isfinite(values))[0])
    if source.playlist is None:
        read_table(source.path, features=[name])  # tells the row and the column
    if name not in known:
        raise InputError(f"{source.path}: no column {column!r}; it has: {', '.join(known) or 'no numbers'}")
    raise InputError(f"{source.path}: {source.collection.items[item].label!r} (item {item + 1}) has no {name!r}")


def _one_of(collections: list[Collection], wanted: str | None, path: Path) -> Collection:
    if wanted is not None:
        hits = [c for c in collections if wanted == c.id]
        hits = hits or [c for c in collections if wanted.casefold() == c.title.casefold()]
        if len(hits) == 1:
            return hits[0]
        what = f"{len(hits)} collections are" if hits else "no collection is"
        raise InputError(f"{path}: {what} called {wanted!r}; it holds {_some(collections)}")
    if len(collections) > 1:
        raise InputError(f"{path}: holds {_some(collections)}; choose one with --collection")
    return collections[0]


def _some(collections: list[Collection]) -> str:
    shown = ", ".join(c.id for c in collections[:4])
    return f"{len(collections)} collection(s): {shown}{', ...' if len(collections) > 4 else ''}"
