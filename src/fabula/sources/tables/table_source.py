"""Tables as a source: one collection of a table with one row an item. One that only names files is a list of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.collection import Collection
from fabula.core.collections import Collections
from fabula.errors import InputError
from fabula.media.medium import Medium
from fabula.media.registry import ITEMS, measure_if_held, medium_of_file
from fabula.sources.registry import Opening, Reader
from fabula.sources.source import Choice, SeveralCollectionsError, Source
from fabula.sources.tables.read_table import open_table
from fabula.sources.tables.roles import columns_named
from fabula.sources.tables.storage import SCHEMES, TABLE_ENDINGS, is_table_folder


def open_collection(paths: Sequence[str], opening: Opening) -> Source:
    """Open one collection of a table."""
    path = Path(paths[0])
    reading = open_table(paths[0], columns_named(dict(opening.columns)))
    number = _one_of(reading.collections, opening.collection, path)
    collection, medium = measure_if_held(reading.collections[number])
    rows = tuple(reading.rows[number].tolist())
    listed = _list_files(collection, path.parent, opening) if medium is ITEMS else None
    if listed is not None:
        own, medium = listed
        return Source(path, own, medium, files=True, table=reading.table, rows=rows, notes=reading.notes)
    return Source(path, collection, medium, path.parent, table=reading.table, rows=rows, notes=reading.notes)


def _list_files(collection: Collection, folder: Path, opening: Opening) -> tuple[Collection, Medium] | None:
    """Items that are files of one medium and not measured yet, each where it may be read; None for others."""
    media = [medium_of_file(Path(item.path).suffix) if item.path else None for item in collection.items]
    medium = media[0]
    if medium is None or not medium.specs or any(one is not medium for one in media):
        return None
    items, count = [], 0
    for item in collection.items:
        beside = os.path.normpath(folder / item.path)
        name = next((one for one in (beside, item.path) if opening.may_read(one)), None)
        count += name is not None
        if name is None:
            items.append(replace(item, path=beside))
            continue
        tags = medium.read_item(name)  # what the file says of itself where the table does not
        title = tags.title if item.title in ("", Path(name).name) else item.title
        details = {**tags.details, **item.details}
        items.append(replace(item, path=name, title=title, artist=item.artist or tags.artist, details=details))
    return (replace(collection, items=tuple(items)), medium) if count else None


def _one_of(collections: Collections, wanted: str | None, path: Path) -> int:
    some = ", ".join(collections.ids[:4]) + (", ..." if len(collections) > 4 else "")
    held = f"{len(collections)} collection(s): {some}"
    if wanted is not None:
        hits = [k for k, one in enumerate(collections.ids) if wanted == one]
        hits = hits or [k for k, c in enumerate(collections) if wanted.casefold() == c.title.casefold()]
        if len(hits) == 1:
            return hits[0]
        what = f"{len(hits)} collections are" if hits else "no collection is"
        raise InputError(f"{path}: {what} called {wanted!r}; it holds {held}")
    if len(collections) > 1:
        choices = [Choice(c.id, c.title, len(c)) for c in collections]
        raise SeveralCollectionsError(f"{path} holds {held}; choose one", choices)
    return 0


READER = Reader("table", open_collection, TABLE_ENDINGS, SCHEMES, several=True, folders=is_table_folder)
