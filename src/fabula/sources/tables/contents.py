"""What the columns of a table give the items: features, details, and the items themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fabula.core.columns import WORDS, Cells, ItemColumns, Lazy, Numbered
from fabula.core.ordering import Ints
from fabula.errors import FileError
from fabula.sources.tables.cells import brief
from fabula.sources.tables.columns import Column, Table, durations_of, first_wrong, numbers_in
from fabula.sources.tables.headings import feature_name, is_duration
from fabula.sources.tables.numbers import Numbers
from fabula.sources.tables.roles import named

_MILLISECONDS = 30_000  # a median duration above it is no number of seconds: more than eight hours


@dataclass
class Contents:
    """Features by name, of all rows, columns of text by the name of the detail, and notes for the caller."""

    features: dict[str, Numbers] = field(default_factory=dict)
    texts: dict[str, Column] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """What the features are called: a vector has one for each of its numbers, ``name_0``, ``name_1``, ..."""
        return [
            one
            for name, numbers in self.features.items()
            for one in ([name] if numbers.width is None else [f"{name}_{i}" for i in range(numbers.width)])
        ]


def contents_of(table: Table, busy: set[str], renamed: Mapping[str, str]) -> Contents:
    """Features and details of the columns that have no role.

    Parameters
    ----------
    table
        The table.
    busy
        Headings of columns that have a role; a column without any value is left out as well.
    renamed
        Heading -> name, for columns that are called otherwise than by their heading.
    """
    found = Contents()
    for column in table.columns.values():
        if column.name in busy or column.empty:
            continue
        name, numbers = measured(table, column, renamed.get(column.name))
        taken = name in found.features or name in found.texts
        if taken or (name != column.name and name in table.columns and column.name not in renamed):
            name = column.name
        if numbers is None:
            found.texts[name] = column
            continue
        found.features[name] = numbers
        worded = np.flatnonzero(column.worded())
        if worded.size:
            cell = brief(column.cell(int(worded[0])))
            found.notes.append(f"column {column.name!r}: {worded.size} cell(s) such as {cell} count as missing")
    return found


def measured(table: Table, column: Column, name: str | None = None) -> tuple[str, Numbers | None]:
    """What a column is called as a feature or a detail, and its numbers; None for text.

    Durations that are written as on a clock (3:20) are seconds, under ``duration``. Lists of as many numbers in every
    row are vectors.
    """
    numbers = _numbers_or_text(table, column)
    if numbers is None and (name == "duration" or (name is None and is_duration(column.name))):
        clock = durations_of(table, column)
        return (name or "duration", Numbers((clock,))) if clock is not None else (name or column.name, None)
    if numbers is None:
        return name or column.name, None
    usual = name or feature_name(column.name)
    if usual == "duration" and name is None and np.nanmedian(numbers.whole()) > _MILLISECONDS:
        usual = "duration_ms"
    return usual, numbers


def _numbers_or_text(table: Table, column: Column) -> Numbers | None:
    numbers = numbers_in(table, column)
    if numbers is not None:
        return numbers
    nested = column.nested()
    if not nested.size:
        return None
    vectors = column.vectors()
    if vectors is not None and (wrong := vectors.infinite()) is not None:
        raise table.error(wrong, column, "must hold finite numbers")
    if vectors is None:
        plain = np.setdiff1d(np.flatnonzero(~column.missing), nested)
        if any(not isinstance(column.cell(int(row)), str) for row in plain):
            raise table.error(int(nested[0]), column, "must be a number like other cells of this column")
    return vectors


def chosen(table: Table, features: Sequence[str], kept: Ints, renamed: Mapping[str, str]) -> dict[str, Numbers]:
    """The named columns as numbers; every cell of the kept rows must be one.

    A column is named by its heading, or by what it is called as a feature (``duration_ms`` for "Duration (ms)").
    """
    called = {renamed.get(name) or feature_name(name): name for name in reversed(table.columns)}
    arrays, absent = {}, []
    for name in features:
        column = named(table, name if name in table.columns else called.get(name, name))
        numbers = measured(table, column, renamed.get(column.name))[1]
        if numbers is None and not column.empty:
            raise table.error(first_wrong(column), column, "must be a number")
        arrays[name] = Numbers((np.full(table.count, np.nan),)) if numbers is None else numbers
        absent += [(int(i), name) for i in arrays[name].missing(kept)]
    if absent:
        shown = "; ".join(f"{table.row(i)}, column {name!r}" for i, name in sorted(absent)[:3])
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        raise FileError(f"{table.path}: features must have a value in every row; missing: {shown}{more}")
    return arrays


def items_of(table: Table, roles: Mapping[str, Column], texts: Mapping[str, Column]) -> ItemColumns:
    """What is known of the item of each row."""
    for role in (role for role in WORDS if role in roles):
        for row in roles[role].nested():
            raise table.error(int(row), roles[role], f"must be text, the {role} of the item")
    given, titles, paths, artists = (
        roles[role].texts(identity=role == "id") if role in roles else None for role in WORDS
    )
    ids = Called(given, paths, Numbered(np.arange(1, table.count + 1)))
    return ItemColumns(ids, titles, paths, artists, {name: column.details() for name, column in texts.items()})


class Called(Lazy[str]):
    """What items are called, made when asked for: by their ids, else their paths, else the numbers of their rows."""

    __slots__ = ("given", "numbers", "paths")

    def __init__(self, given: Cells | None, paths: Cells | None, numbers: Numbered) -> None:
        self.given, self.paths, self.numbers = given, paths, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def tolist(self) -> list[str]:
        """The ids."""
        columns = [cells.tolist() for cells in (self.given, self.paths, self.numbers) if cells is not None]
        return [next(filter(None, cells)) for cells in zip(*columns, strict=True)]

    def part(self, rows: slice | Ints) -> Called:
        """The ids of some rows."""
        given, paths = (None if cells is None else cells[rows] for cells in (self.given, self.paths))
        return Called(given, paths, self.numbers[rows])
