"""Tables with one row an item, read into collections.

CSV (separated by commas, semicolons or tabs), TSV, JSON, JSON lines, and Parquet with the extra ``tables``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import FileError
from fabula.sources.tables.columns import (
    Column,
    Table,
    first_wrong,
    is_nested,
    numbers_of,
    text_of,
    texts_of,
)
from fabula.sources.tables.files import TABLE_ENDINGS, read_columns
from fabula.sources.tables.roles import named, roles_of
from fabula.sources.tables.writing import write_table

__all__ = ["TABLE_ENDINGS", "read_table", "write_table"]


def read_table(
    path: str | os.PathLike[str],
    *,
    collection: str | None = None,
    position: str | None = None,
    title: str | None = None,
    artist: str | None = None,
    item_path: str | None = None,
    item_id: str | None = None,
    features: Sequence[str] | None = None,
    where: Mapping[str, Any] | None = None,
) -> list[Collection]:
    """Read the collections of a table that has one row an item.

    A column that is not named is recognised by its name (``album_id``, ``Track Number``, ``song``, ...); name it
    ``""`` to say that no column has this role. Numeric columns without a role become features, booleans as 0 and 1;
    text columns become the details of the items. Columns without a name, and columns without a value, are left out.

    Parameters
    ----------
    path
        A .csv, .tsv, .json, .jsonl or .parquet file. JSON is a list of objects, or an object with such a list
        as ``items``.
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

    Returns
    -------
    Collections in the order in which the file first names them: features (n, f) as float64, NaN where missing.

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
    >>> folder.cleanup()
    """
    table = read_columns(path)
    given = {"collection": collection, "position": position, "title": title}
    given |= {"artist": artist, "path": item_path, "id": item_id}
    roles = roles_of(table, given, features or ())
    kept = _kept(table, where or {})
    rows, starts = _laid_out(table, roles, kept)
    groups = np.split(rows, starts[1:])
    heading = roles.get("collection title")
    if heading and not ("collection" in roles and _is_constant(heading, groups)):
        del roles["collection title"]
        heading = None
    names, matrix, text_columns = _contents(table, roles, features, kept)
    items = _items(table, roles, text_columns)
    ids = texts_of(roles["collection"], identity=True) if "collection" in roles else None
    titles = texts_of(heading) if heading else None
    return [
        Collection(
            ids[group[0]] if ids else Path(path).stem,
            [items[i] for i in group.tolist()],
            matrix[group],
            names,
            title=titles[group[0]] if titles else "",
        )
        for group in groups
    ]


def _kept(table: Table, where: Mapping[str, Any]) -> Ints:
    """Indices of the rows that have the wanted values."""
    keep = np.ones(table.count, dtype=bool)
    for name, wanted in where.items():
        column = named(table, name)
        text = text_of(wanted)
        truth = isinstance(wanted, (bool, np.bool_)) or text.lower() in ("true", "false")
        numbers = numbers_of(table, column) if isinstance(wanted, (int, float)) and not truth else None
        if numbers is not None:
            keep &= numbers == wanted
        elif truth:
            keep &= np.array([cell.lower() == text.lower() for cell in texts_of(column)])
        else:
            keep &= np.array([cell == text for cell in texts_of(column)])
    if not keep.any():
        wish = ", ".join(f"{name} = {text_of(value)!r}" for name, value in where.items())
        raise FileError(f"{table.path}: no row has {wish}")
    return np.flatnonzero(keep)


def _laid_out(table: Table, roles: Mapping[str, Column], kept: Ints) -> tuple[Ints, Ints]:
    """The kept rows, collection by collection and each in its order; and where each collection starts."""
    codes = np.zeros(len(kept), dtype=np.intp)
    if "collection" in roles:
        column = roles["collection"]
        _check_present(table, column, kept, "must name the collection")
        cells, seen = texts_of(column), dict[str, int]()
        codes = np.array([seen.setdefault(cells[i], len(seen)) for i in kept.tolist()], dtype=np.intp)
    places = _places(table, roles["position"], kept) if "position" in roles else np.arange(len(kept), dtype=np.float64)
    order = np.lexsort((places, codes))
    same = np.flatnonzero((np.diff(codes[order]) == 0) & (np.diff(places[order]) == 0))
    if same.size:
        one, other = sorted(kept[order[same[0] : same[0] + 2]].tolist())
        raise FileError(
            f"{table.path}: {table.row(one)} and {table.row(other)} have the same position "
            f"{text_of(places[order[same[0]]])} (column {roles['position'].name!r}) in one collection"
        )
    return kept[order], np.flatnonzero(np.diff(codes[order], prepend=-1))


def _places(table: Table, column: Column, kept: Ints) -> Floats:
    numbers = numbers_of(table, column)
    _check_present(table, column, kept, "must be the position of the item")
    if numbers is None:
        raise table.error(first_wrong(column), column, "must be a number, the position of the item")
    return numbers[kept]


def _check_present(table: Table, column: Column, kept: Ints, rule: str) -> None:
    absent = kept[column.missing[kept]]
    if absent.size:
        more = f" (and {absent.size - 1} more rows)" if absent.size > 1 else ""
        raise FileError(f"{table.path}: {table.row(int(absent[0]))}, column {column.name!r}: {rule}; it is empty{more}")


def _is_constant(column: Column, groups: list[Ints]) -> bool:
    """Whether every collection has one value: a playlist whose items come from many albums is called by none."""
    cells = texts_of(column)
    return all(len({cells[i] for i in group.tolist()}) == 1 for group in groups)


def _contents(
    table: Table, roles: Mapping[str, Column], features: Sequence[str] | None, kept: Ints
) -> tuple[list[str], Floats, list[Column]]:
    """Names (f,) and values (rows, f) of the features, and the columns that are text."""
    if features is not None:
        arrays = _chosen(table, features, kept)
    busy = {column.name for column in roles.values()} | set(features or ())
    numeric, text_columns = {}, []
    for column in table.columns.values():
        if column.name in busy or column.missing.all():
            continue
        numbers = _numbers_or_text(table, column)
        if numbers is None:
            text_columns.append(column)
        else:
            numeric[column.name] = numbers
    if features is None:
        arrays = numeric
    matrix = np.column_stack(list(arrays.values())) if arrays else np.empty((table.count, 0))
    return list(arrays), matrix, text_columns


def _numbers_or_text(table: Table, column: Column) -> Floats | None:
    numbers = numbers_of(table, column)
    if numbers is not None or column.written or column.values.dtype != object:
        return numbers
    nested = np.fromiter(map(is_nested, column.values), np.bool_, table.count)
    plain = [cell for cell in column.values[~nested & ~column.missing] if not isinstance(cell, str)]
    if nested.any() and plain:
        raise table.error(int(np.argmax(nested)), column, "must be a number like other cells of this column")
    return None


def _chosen(table: Table, features: Sequence[str], kept: Ints) -> dict[str, Floats]:
    """The named columns as numbers; every cell of the kept rows must be one."""
    arrays, absent = {}, []
    for name in features:
        column = named(table, name)
        numbers = numbers_of(table, column)
        if numbers is None and not column.missing.all():
            raise table.error(first_wrong(column), column, "must be a number")
        arrays[name] = np.full(table.count, np.nan) if numbers is None else numbers
        absent += [(int(i), name) for i in kept[column.missing[kept]]]
    if absent:
        shown = "; ".join(f"{table.row(i)}, column {name!r}" for i, name in sorted(absent)[:3])
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        raise FileError(f"{table.path}: features must have a value in every row; missing: {shown}{more}")
    return arrays


def _items(table: Table, roles: Mapping[str, Column], text_columns: Sequence[Column]) -> list[Item]:
    nothing = [""] * table.count
    for role in ("id", "title", "path", "artist"):
        for index in np.flatnonzero(np.fromiter(map(is_nested, roles[role].values), np.bool_)) if role in roles else ():
            raise table.error(int(index), roles[role], f"must be text, the {role} of the item")
    titles, paths, artists = (
        texts_of(roles[role]) if role in roles else nothing for role in ("title", "path", "artist")
    )
    ids = texts_of(roles["id"], identity=True) if "id" in roles else nothing
    names = [column.name for column in text_columns]
    cells = zip(*map(_details, text_columns), strict=True) if names else [()] * table.count
    return [
        Item(
            given or path or str(number),
            title,
            path,
            artist,
            MappingProxyType({name: cell for name, cell in zip(names, row, strict=True) if cell != ""}),
        )
        for number, (given, title, path, artist, row) in enumerate(
            zip(ids, titles, paths, artists, cells, strict=True), start=1
        )
    ]


def _details(column: Column) -> list[Any]:
    if any(map(is_nested, column.values)):
        return ["" if absent else cell for cell, absent in zip(column.values, column.missing, strict=True)]
    return list(texts_of(column))
