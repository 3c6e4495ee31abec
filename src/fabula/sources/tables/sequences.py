"""Tables with one row a collection: the cells of some columns are lists, one value an item.

::

    [{"movie": "tt0348124", "indices": [50, 99, 200], "narrative_essence": [-1.2, -1.7, 1.8]}, ...]
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.essence import Floats
from fabula.errors import FileError
from fabula.sources.tables.columns import Column, SourceTable
from fabula.sources.tables.files import read_columns
from fabula.sources.tables.grouping import rows_where
from fabula.sources.tables.roles import find_column


def read_sequences(
    path: str | os.PathLike[str] | Any, columns: Sequence[str], *, where: Mapping[str, Any] | None = None
) -> list[Collection] | None:
    """The collections of a table that has one row a collection; None where the first column named holds no lists.

    Parameters
    ----------
    path
        A table, or where one lies.
    columns
        Those that hold lists of numbers; they become the features.
    where
        Column -> value: keep the rows that have it.

    Raises
    ------
    FileError
        Naming file, row, column and value.
    """
    table = read_columns(path)
    first = table.columns.get(columns[0])
    if first is None or not first.nested().size:
        return None
    lists = [find_column(table, name) for name in columns]
    called = next((c for c in table.columns.values() if not c.nested().size), None)
    ids = called.texts().tolist() if called is not None else [""] * table.count
    return [_collection(table, lists, int(row), ids[row]) for row in rows_where(table, where or {})]


def _collection(table: SourceTable, lists: Sequence[Column], row: int, called: str) -> Collection:
    values = [_numbers(table, column, row) for column in lists]
    for column, numbers in zip(lists[1:], values[1:], strict=True):
        if len(numbers) != len(values[0]):
            raise FileError(
                f"{table.path}: {table.row(row)}: {column.name!r} has {len(numbers)} values, "
                f"{lists[0].name!r} has {len(values[0])}: they must agree"
            )
    split = _split_of(table, row)
    items = [Item(str(j + 1), details={"split": split} if split else {}) for j in range(len(values[0]))]
    return Collection(called or str(row + 1), items, np.column_stack(values), [column.name for column in lists])


def _split_of(table: SourceTable, row: int) -> str:
    """What a column ``split`` says of a collection."""
    return str(table.columns["split"].texts()[row]) if "split" in table.columns else ""


def _numbers(table: SourceTable, column: Column, row: int) -> Floats:
    cell = column.values[row]
    try:
        numbers = np.array([np.nan if value is None else float(value) for value in cell], dtype=np.float64)
    except (TypeError, ValueError):
        raise table.error(row, column, "must be a list of numbers, one per item") from None
    if not len(numbers):
        raise table.error(row, column, "must hold at least one number")
    return numbers
