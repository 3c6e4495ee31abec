"""Which rows of a table are one collection, and in which order they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import FileError
from fabula.sources.tables.cells import text_of
from fabula.sources.tables.columns import Column, Table, first_wrong, numbers_of, texts_of
from fabula.sources.tables.headings import ADDED, ALBUMS, DISCS, plain
from fabula.sources.tables.roles import named

_DISC = 1000  # more tracks than a disc has


def rows_where(table: Table, where: Mapping[str, Any]) -> Ints:
    """Indices of the rows that have the wanted values, given as column -> value.

    Raises
    ------
    FileError
        When a column is not there, or no row has the values.
    """
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


def is_one_playlist(table: Table, roles: Mapping[str, Column], kept: Ints) -> bool:
    """Whether the rows are one list of tracks from several albums, as streaming services export it.

    A column that names the album is the collection where the rows read as albums: half of them and more in albums
    whose track numbers start at 1 and have no large gaps or, without numbers, in three rows and more that stand
    together. Otherwise, and where the table says when a track was added, the album is only a detail of the track.
    """
    column = roles["collection"]
    cells = texts_of(column)
    albums: dict[str, list[int]] = {}
    for index, row in enumerate(kept.tolist()):
        albums.setdefault(cells[row], []).append(index)
    if len(albums.keys() - {""}) < 2:
        return False
    names = {plain(name) for name in table.columns}
    if plain(column.name) not in ALBUMS:
        return bool(names & ADDED) and plain(column.name) in ("albumid", "releaseid")
    if names & ADDED:
        return True
    positions = numbers_of(table, roles["position"]) if "position" in roles else None
    if positions is not None:
        positions = positions[kept] + _DISC * (_discs(table)[kept] - 1)
    whole = sum(len(rows) for rows in albums.values() if _reads_as_album(np.array(rows), positions))
    return 2 * whole < len(kept)


def _reads_as_album(rows: Ints, positions: Floats | None) -> bool:
    if positions is None:
        return len(rows) >= 3 and int(rows.max() - rows.min()) == len(rows) - 1
    found = positions[rows]
    distinct = len(np.unique(found)) == len(rows)
    return len(rows) >= 2 and distinct and bool(found.min() <= 1) and bool(np.median(found % _DISC) <= len(rows) + 1)


def laid_out(table: Table, roles: Mapping[str, Column], kept: Ints) -> list[Ints]:
    """The kept rows of each collection in its order; collections in the order in which the file first names them.

    Raises
    ------
    FileError
        When a row names no collection or has no position, or two of one collection have the same.
    """
    codes = np.zeros(len(kept), dtype=np.intp)
    if "collection" in roles:
        column = roles["collection"]
        _check_present(table, column, kept[column.missing[kept]], "must name the collection")
        cells, seen = texts_of(column), dict[str, int]()
        codes = np.array([seen.setdefault(cells[i], len(seen)) for i in kept.tolist()], dtype=np.intp)
    positions = np.arange(len(kept), dtype=np.float64)
    if "position" in roles:
        positions = _positions(table, roles["position"], kept)
        if _repeated(codes, positions):  # the numbers start again on each disc
            positions = positions + (positions.max() + 1) * _discs(table)[kept]
        for one, other in _repeated(codes, positions):
            raise _same_position(table, roles["position"], int(kept[one]), int(kept[other]))
    order = np.lexsort((positions, codes))
    return np.split(kept[order], np.flatnonzero(np.diff(codes[order])) + 1)


def _repeated(codes: Ints, positions: Floats) -> list[tuple[int, int]]:
    """Pairs of indices with one collection and one position."""
    order = np.lexsort((positions, codes))
    same = np.flatnonzero((np.diff(codes[order]) == 0) & (np.diff(positions[order]) == 0))
    return [(int(order[i]), int(order[i + 1])) for i in same]


def _same_position(table: Table, column: Column, one: int, other: int) -> FileError:
    first, second = sorted((one, other))
    numbers = numbers_of(table, column)
    position = "" if numbers is None else text_of(numbers[first])
    return FileError(
        f"{table.path}: {table.row(first)} and {table.row(second)} have the same position "
        f"{position} (column {column.name!r}) in one collection"
    )


def _discs(table: Table) -> Floats:
    """The disc of each row (rows,); 1 where the table does not say."""
    column = next((column for name, column in table.columns.items() if plain(name) in DISCS), None)
    numbers = numbers_of(table, column) if column is not None else None
    return np.ones(table.count) if numbers is None else np.nan_to_num(numbers, nan=1.0)


def _positions(table: Table, column: Column, kept: Ints) -> Floats:
    numbers = numbers_of(table, column)
    if numbers is None and not column.missing.all():
        raise table.error(first_wrong(column), column, "must be a number, the position of the item")
    values = np.full(table.count, np.nan) if numbers is None else numbers
    _check_present(table, column, kept[np.isnan(values[kept])], "must be the position of the item")
    return values[kept]


def _check_present(table: Table, column: Column, absent: Ints, rule: str) -> None:
    if absent.size:
        more = f" (and {absent.size - 1} more rows)" if absent.size > 1 else ""
        raise FileError(f"{table.path}: {table.row(int(absent[0]))}, column {column.name!r}: {rule}; it is empty{more}")
