"""Tables with one row an item, read into collections: files, folders of Parquet files, addresses, frames in memory."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Item
from fabula.core.collections import WORDS, Cells, Collections, ItemColumns, Lazy, Numbered
from fabula.core.files import FilePath, open_file
from fabula.errors import FabulaError, FileError, brief
from fabula.media.medium import Medium
from fabula.media.registry import ITEMS, choose_medium, find_medium, measure_if_held
from fabula.sources.registry import Choice, Opening, Reader, Source, check_stretches, choose_collection, read_tags
from fabula.sources.tables import source_table
from fabula.sources.tables.roles import (
    columns_named,
    duration_unit,
    feature_name,
    find_column,
    is_duration,
    is_feature,
    is_of_tracks,
    lay_out,
    names_by_heading,
    roles_of,
    rows_where,
    sessions_in,
    settle_roles,
)
from fabula.sources.tables.source_table import Column, Pieces, SourceTable
from fabula.sources.tables.storage import SCHEMES, TABLE_ENDINGS, is_table_folder, read_columns

_MOST_EXPORT, _HEAD = 64 << 20, 4096  # bytes of a text that is looked through, and of its headings
_SHARES = {"danceability", "energy", "speechiness", "acousticness", "instrumentalness", "liveness", "valence"}  # of 1
_OURS = {"essence", "target", "deviation", "off", "begins"}  # what fabula writes beside the columns of a table
_MILLISECONDS = 30_000  # a median duration above it is no number of seconds: more than eight hours
_MINUTES = 15  # a median duration below it that is no whole number is one of minutes, in lists of tracks


@dataclass(frozen=True, eq=False)
class TableReading:
    """The collections of a table, and the table itself to write their rows back."""

    table: SourceTable  # the file with all its columns, as :func:`write_rows` takes it
    collections: Collections  # in the order in which the file first names them
    order: Ints  # shape (rows,): the row of the table that each row of the collections came from
    notes: tuple[str, ...] = ()  # what a person should know of the reading
    tracks: bool = False  # whether by its headings it can only be a list of tracks, or there are titles and no numbers
    held: tuple[int, ...] = ()  # rows that are no items, and stay where they are

    @property
    def rows(self) -> list[Ints]:
        """One array (n,) per collection: the row of the table that each of its items came from."""
        return np.split(self.order, self.collections.offsets[1:-1])


def read_table(
    path: FilePath | Any,
    *,
    collection: str | None = None,
    position: str | None = None,
    title: str | None = None,
    artist: str | None = None,
    item_path: str | None = None,
    item_id: str | None = None,
    features: Sequence[str] | None = None,
    where: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Collections:
    """Read the collections of a table that has one row an item.

    A column that is not named is recognised by its heading (``album_id``, ``Track Number``, ``Künstler``, ...); name
    it ``""`` to say that no column has this role. Numeric columns without a role become features: booleans as 0 and 1,
    ``Duration (ms)`` as ``duration_ms``, energy and its like in per cent as shares of 1. Text columns become the
    details of the items. Columns without a name, and columns without a value, are left out. A column of lists with as
    many numbers in every row, such as embeddings, is a feature per number, ``embedding_0``, ``embedding_1``, ..., as
    models take them. A playlist that a streaming service exported is one collection, in the order of its rows, though
    its tracks come from several albums.

    Parameters
    ----------
    path
        A .csv, .tsv, .json, .jsonl or .parquet file; JSON is a list of objects, or an object with such a list as
        ``items``. Or a folder: the Parquet files that lie in it are one table, in the order of their names. Or an
        address of either, such as ``s3://bucket/songs.parquet`` (extra ``remote``). Or a table in memory (extra
        ``tables``): an Arrow table or reader of batches, a frame of pandas or polars, a Hugging Face dataset.
    collection
        The column that tells the collections apart; without one the file is one collection, called by its name.
    position
        The column that gives the true order within a collection; without one it is the order of the rows.
    title, artist, item_path, item_id
        The columns for the items. An item without an id is called by its path, else by the number of its row.
    features
        The columns that become features, no others; every cell must be a number.
    where
        Column -> value: keep the rows that have it; ``""`` is a missing value.
    columns
        Role or name -> heading, in place of the arguments above or beside them: ``{"title": "Titel", "duration":
        "Spielzeit", "energy": "Energie"}``. A name that is no role is what the column is called as a feature or
        a detail.

    Returns
    -------
    Collections in the order in which the file first names them: features (n, f) as float64, NaN where missing. They
    are a sequence in which each collection, and each of its items, is made when asked for; ``features`` (rows, f),
    ``offsets`` (number + 1,), ``ids``, ``column`` and ``texts`` are all of them at once.

    Raises
    ------
    FileError
        Naming file, row, column and value.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "songs.csv"
    >>> _ = file.write_text("album,track,title,energy\\nA,2,Close,0.9\\nA,1,Open,0.2\\n")
    >>> [c] = read_table(file)
    >>> c.id, [item.title for item in c.items], c.column("energy")
    ('A', ['Open', 'Close'], array([0.2, 0.9]))
    >>> read_table(file).features
    array([[0.2],
           [0.9]])
    >>> folder.cleanup()
    """
    given = {"collection": collection, "position": position, "title": title}
    given |= {"artist": artist, "path": item_path, "id": item_id}
    return open_table(path, columns_named(given, columns or {}), features=features, where=where).collections


def open_table(
    path: FilePath | Any,
    columns: Mapping[str, str] | None = None,
    *,
    features: Sequence[str] | None = None,
    where: Mapping[str, Any] | None = None,
) -> TableReading:
    """Read the collections of a table as :func:`read_table` does, and keep the table to write its rows back.

    ``columns`` is role or name -> heading, as :func:`columns_named` gives it.
    """
    asked = columns or {}
    called_by = names_by_heading(asked)
    table = read_columns(path)
    for heading in called_by:
        find_column(table, heading)
    roles = roles_of(table, asked, {*(features or ()), *called_by})
    kept = rows_where(table, where or {})
    held = sessions_in(table)
    kept = np.setdiff1d(kept, held) if held.size else kept
    renamed = called_by | settle_roles(table, roles, asked, kept)
    order, offsets = lay_out(table, roles, kept)
    called = roles.get("collection title")
    if called is not None:  # a playlist whose items come from many albums is called by none
        codes = called.distinct[0][order]
        if "collection" not in roles or (codes != np.repeat(codes[offsets[:-1]], np.diff(offsets))).any():
            del roles["collection title"]
    busy = {column.name for column in roles.values()} | set(features or ())
    tracks = is_of_tracks(table, roles)
    numbers, texts, notes = _contents_of(table, busy, renamed, tracks=tracks)
    if features is not None:
        numbers = _choose_features(table, features, kept, called_by)
    elif tracks or sum(map(is_feature, numbers)) > 1:
        notes += _scale_shares(numbers)
    collections = _collections(table, roles, numbers, texts, order, offsets)
    tracks = tracks or ("title" in roles and not numbers.keys() - _OURS)
    return TableReading(table, collections, order, tuple(notes), tracks, tuple(held.tolist()))


def _collections(
    table: SourceTable,
    roles: Mapping[str, Column],
    features: Mapping[str, Pieces],
    texts: Mapping[str, Column],
    order: Ints,
    offsets: Ints,
) -> Collections:
    for role in (role for role in WORDS if role in roles):
        for row in roles[role].rows_of_lists():
            raise table.error(int(row), roles[role], f"must be text, the {role} of the item")
    words = {role: roles[role].texts(identity=role == "id") for role in WORDS if role in roles}
    called = _Called(words.get("id"), words.get("path"), Numbered(np.arange(1, table.count + 1)))
    items = ItemColumns({**words, "id": called}, {name: column.details() for name, column in texts.items()})
    firsts = order[offsets[:-1]]
    as_they_stand = len(order) == table.count and bool((order == np.arange(table.count)).all())
    ids = roles["collection"].texts(identity=True)[firsts].tolist() if "collection" in roles else None
    titles = roles["collection title"].texts()[firsts].tolist() if "collection title" in roles else None
    feature_names: list[str] = []
    for name, numbers in features.items():  # a vector has a name for each of its numbers
        several = range(numbers[0].shape[1]) if numbers[0].ndim > 1 else None
        feature_names += [name] if several is None else [f"{name}_{i}" for i in several]
    return Collections(
        source_table.features_of(list(features.values()), None if as_they_stand else order, table.count),
        offsets,
        feature_names,
        ids=ids or [Path(table.path).stem],
        titles=titles,
        items=items if as_they_stand else items.part(order),
    )


# Tables with one row a collection: the cells of some columns are lists, one value an item.


def read_sequences(
    path: FilePath | Any, columns: Sequence[str], *, where: Mapping[str, Any] | None = None
) -> list[Collection] | None:
    """The collections of a table that has one row a collection; None where the first column named holds no lists.

    The columns hold lists of numbers and become the features; ``where`` (column -> value) keeps the rows that have it.
    """
    table = read_columns(path)
    first = table.columns.get(columns[0])
    if first is None or not first.rows_of_lists().size:
        return None
    lists = [find_column(table, name) for name in columns]
    called = next((c for c in table.columns.values() if not c.rows_of_lists().size), None)
    ids = called.texts().tolist() if called is not None else [""] * table.count
    splits = table.columns["split"].texts().tolist() if "split" in table.columns else [""] * table.count
    found = []
    for row in rows_where(table, where or {}).tolist():
        values = _lists_of(table, lists, row)
        items = [Item(str(j + 1), details={"split": splits[row]} if splits[row] else {}) for j in range(len(values[0]))]
        found.append(Collection(ids[row] or str(row + 1), items, np.column_stack(values), [one.name for one in lists]))
    return found


def _lists_of(table: SourceTable, lists: Sequence[Column], row: int) -> list[Floats]:
    """The lists of a row as numbers, of which there are as many in each."""
    values: list[Floats] = []
    for column in lists:
        try:
            numbers = np.array([np.nan if value is None else float(value) for value in column.values[row]], np.float64)
        except (TypeError, ValueError):
            raise table.error(row, column, "must be a list of numbers, one per item") from None
        if not len(numbers):
            raise table.error(row, column, "must hold at least one number")
        values.append(numbers)
        if len(numbers) != len(values[0]):
            both = f"{column.name!r} has {len(numbers)} values, {lists[0].name!r} has {len(values[0])}"
            raise FileError(f"{table.path}: {table.row(row)}: {both}: they must agree")
    return values


# What the columns of a table give the items: features, details, and the items themselves.


def _contents_of(
    table: SourceTable, busy: set[str], renamed: Mapping[str, str], *, tracks: bool
) -> tuple[dict[str, Pieces], dict[str, Column], list[str]]:
    """Features and details by name, of columns that are not busy with a role, and notes; renamed: heading -> name."""
    features: dict[str, Pieces] = {}
    texts: dict[str, Column] = {}
    notes: list[str] = []
    for column in table.columns.values():
        if column.name in busy or column.empty:
            continue
        name, numbers = _measure_column(table, column, renamed.get(column.name), notes, tracks=tracks)
        taken = name in features or name in texts
        if taken or (name != column.name and name in table.columns and column.name not in renamed):
            name = column.name
        if numbers is None:
            texts[name] = column
            continue
        features[name] = numbers
        worded = np.flatnonzero(column.absences())
        if worded.size:
            cell = brief(column.cell(int(worded[0])))
            notes.append(f"column {column.name!r}: {worded.size} cell(s) such as {cell} count as missing")
    return features, texts, notes


def _measure_column(
    table: SourceTable, column: Column, name: str | None, notes: list[str], *, tracks: bool = False
) -> tuple[str, Pieces | None]:
    """What a column is called as a feature or a detail, and its numbers; None for text."""
    # Durations that are written as on a clock (3:20) are seconds, under ``duration``. Lists of as many numbers in every
    # row are vectors. Of durations and usual features a few cells that are wrong are void, and named in the notes.
    numbers, clocks = _numbers_or_text(table, column), False
    timed = name == "duration" or (name is None and is_duration(column.name))
    if numbers is None and (timed or (name is None and is_feature(column.name))):
        numbers, clocks = source_table.numbers_but_few(table, column, notes, clocks=timed)
    if numbers is None:
        return name or column.name, None
    if timed and clocks:
        return name or "duration", numbers
    usual = name or feature_name(column.name)
    if not timed or name is not None or not (usual == "duration" or tracks):
        return usual, numbers
    # Durations are in the unit that the heading names, or that they can only be in; ours is called by its own name.
    values = source_table.join(numbers)
    unit, middle = duration_unit(column.name), float(np.nanmedian(values))
    if unit == 0.001 or (unit is None and middle > _MILLISECONDS):
        return "duration_ms", numbers
    whole = bool(np.all(np.mod(values[np.isfinite(values)], 1) == 0))
    if unit is None and tracks and column.name != "duration" and 0 < middle < _MINUTES and not whole:
        unit = 60.0
        notes.append(f"column {column.name!r} is read as minutes")
    return "duration", numbers if unit in (None, 1.0) else [values * unit]


def _scale_shares(features: dict[str, Pieces]) -> list[str]:
    """Bring features that are shares of 1 to that, where a table has them in per cent or energy to 10; and notes."""
    scaled: dict[str, list[str]] = {}
    for name in sorted(_SHARES & features.keys()):
        values = source_table.join(features[name])
        known = values[values > 0]
        if known.size and np.median(known) >= 1 and known.max() >= 2:  # one that is too large scales no others
            parts, said = (10, "1 to 10") if name == "energy" and known.max() <= 10 else (100, "per cent")
            features[name] = [piece / parts for piece in features[name]]
            scaled.setdefault(said, []).append(name)
    return [f"read as {said}: {', '.join(names)}" for said, names in scaled.items()]


def _numbers_or_text(table: SourceTable, column: Column) -> Pieces | None:
    numbers = source_table.numbers_in(table, column)
    if numbers is not None:
        return numbers
    nested = column.rows_of_lists()
    if not nested.size:
        return None
    vectors = column.vectors()
    source_table.refuse_infinite(table, column, vectors or [], "must hold finite numbers")
    if vectors is None:
        plain = np.setdiff1d(np.flatnonzero(~column.missing), nested)
        if any(not isinstance(column.cell(int(row)), str) for row in plain):
            raise table.error(int(nested[0]), column, "must be a number like other cells of this column")
    return vectors


def _choose_features(
    table: SourceTable, features: Sequence[str], kept: Ints, renamed: Mapping[str, str]
) -> dict[str, Pieces]:
    """The named columns as numbers; every cell of the kept rows must be one."""
    # A column is named by its heading, or by what it is called as a feature (``duration_ms`` for "Duration (ms)").
    called = {renamed.get(name) or feature_name(name): name for name in reversed(table.columns)}
    arrays, absent = {}, []
    for name in features:
        column = find_column(table, name if name in table.columns else called.get(name, name))
        told: list[str] = []
        numbers = _measure_column(table, column, renamed.get(column.name), told)[1]
        if (numbers is None or told) and not column.empty:
            raise table.error(source_table.first_wrong(column), column, "must be a number")
        arrays[name] = [np.full(table.count, np.nan)] if numbers is None else numbers
        missing = np.isnan(source_table.join(arrays[name])[kept]).reshape(len(kept), -1).any(axis=1)
        absent += [(int(i), name) for i in kept[missing]]
    if absent:
        shown = "; ".join(f"{table.row(i)}, column {name!r}" for i, name in sorted(absent)[:3])
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        raise FileError(f"{table.path}: features must have a value in every row; missing: {shown}{more}")
    return arrays


class _Called(Lazy[str]):
    """What items are called, made when asked for: by their ids, else their paths, else the numbers of their rows."""

    __slots__ = ("given", "numbers", "paths")

    def __init__(self, given: Cells | None, paths: Cells | None, numbers: Numbered) -> None:
        self.given, self.paths, self.numbers = given, paths, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def tolist(self) -> list[str]:
        columns = [cells.tolist() for cells in (self.given, self.paths, self.numbers) if cells is not None]
        return [next(filter(None, cells)) for cells in zip(*columns, strict=True)]

    def part(self, rows: slice | Ints) -> "_Called":
        given, paths = (None if cells is None else cells[rows] for cells in (self.given, self.paths))
        return _Called(given, paths, self.numbers[rows])


# Tables as a source: one collection of a table with one row an item. One that only names files is a list of them.


def open_collection(paths: Sequence[str], opening: Opening) -> Source:
    """Open one collection of a table."""
    path = Path(paths[0])
    reading = open_table(paths[0], columns_named(dict(opening.columns)))
    held = reading.collections
    number = 0
    if opening.collection is not None or len(held) != 1:
        number = choose_collection(path, [Choice(c.id, c.title, len(c)) for c in held], opening.collection)
    collection, medium = measure_if_held(held[number])
    rows = tuple(reading.rows[number].tolist())
    folder = opening.folder or path.parent
    listed = _list_files(collection, folder, opening) if medium is ITEMS else None
    if opening.medium is not None or (medium is ITEMS and reading.tracks):
        medium = find_medium(opening.medium or "music")
    common: dict[str, Any] = {"table": reading.table, "rows": rows, "notes": reading.notes, "held": reading.held}
    if listed is not None:
        collection, medium, told = listed
        return Source(path, collection, medium, files=True, **common).with_notes(*told)
    return Source(path, collection, medium, folder, **common)


def _list_files(
    collection: Collection, folder: Path, opening: Opening
) -> tuple[Collection, Medium, tuple[str, ...]] | None:
    """Items that are files of one medium and not measured yet, each where it may be read; None for others."""
    medium, told = choose_medium((item.path for item in collection.items), opening.medium)
    known = frozenset() if medium is None or not medium.specs else medium.endings
    if medium is None or any(Path(item.path).suffix.lower() not in known for item in collection.items):
        return None
    check_stretches(collection.id, collection.items)
    items, count = [], 0
    for item in collection.items:
        beside = os.path.normpath(folder / item.path)
        name = next((one for one in (beside, item.path) if opening.may_read(one)), None)
        count += name is not None
        items.append(replace(item, path=beside if name is None else name))
    return (read_tags(replace(collection, items=tuple(items)), medium, opening), medium, told) if count else None


def is_export(path: str) -> bool:
    """Whether a text is a table of tracks: columns between tabs, whose headings say what they are."""
    try:
        if not Path(path).is_file() or Path(path).stat().st_size > _MOST_EXPORT:
            return False
        with open_file(path) as file:
            if b"\t" not in file.read(_HEAD):
                return False
        table = read_columns(path)
        return len(table.columns) > 1 and is_of_tracks(table, roles_of(table, {}))
    except (FabulaError, OSError):
        return False


EXPORTS = Reader("table", open_collection, takes=is_export, several=True)
READER = Reader("table", open_collection, TABLE_ENDINGS, SCHEMES, several=True, folders=is_table_folder)
