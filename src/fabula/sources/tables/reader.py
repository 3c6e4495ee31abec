"""Tables as a source: one collection of a table with one row an item."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabula.core.collections import Collections
from fabula.errors import InputError
from fabula.media.registry import measured_where_held
from fabula.sources.registry import Opening, Reader
from fabula.sources.source import Choice, SeveralCollectionsError, Source
from fabula.sources.tables.files import TABLE_ENDINGS, is_table_folder
from fabula.sources.tables.reading import open_table
from fabula.sources.tables.remote import SCHEMES
from fabula.sources.tables.roles import columns_named


def open_collection(paths: Sequence[str], opening: Opening) -> Source:
    """Open one collection of a table."""
    path = Path(paths[0])
    reading = open_table(paths[0], columns_named(dict(opening.columns)))
    number = _one_of(reading.collections, opening.collection, path)
    collection, medium = measured_where_held(reading.collections[number])
    return Source(
        path,
        collection,
        medium,
        path.parent,
        table=reading.table,
        rows=tuple(reading.rows[number].tolist()),
        notes=reading.notes,
    )


def _one_of(collections: Collections, wanted: str | None, path: Path) -> int:
    if wanted is not None:
        hits = [k for k, one in enumerate(collections.ids) if wanted == one]
        hits = hits or [k for k, c in enumerate(collections) if wanted.casefold() == c.title.casefold()]
        if len(hits) == 1:
            return hits[0]
        what = f"{len(hits)} collections are" if hits else "no collection is"
        raise InputError(f"{path}: {what} called {wanted!r}; it holds {_some(collections)}")
    if len(collections) > 1:
        choices = [Choice(c.id, c.title, len(c)) for c in collections]
        raise SeveralCollectionsError(f"{path} holds {_some(collections)}; choose one", choices)
    return 0


def _some(collections: Collections) -> str:
    shown_ids = ", ".join(collections.ids[:4])
    return f"{len(collections)} collection(s): {shown_ids}{', ...' if len(collections) > 4 else ''}"


READER = Reader("table", open_collection, TABLE_ENDINGS, SCHEMES, several=True, folders=is_table_folder)
