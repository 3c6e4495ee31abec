"""What the columns of a table give the items: features, details, and the items themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from fabula.core.collection import Item
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import FileError
from fabula.sources.tables.cells import brief, is_nested
from fabula.sources.tables.columns import (
    Column,
    Table,
    absent_in_words,
    durations_of,
    first_wrong,
    numbers_of,
    texts_of,
)
from fabula.sources.tables.headings import feature_name, is_duration
from fabula.sources.tables.roles import named

_MILLISECONDS = 30_000  # a median duration above it is no number of seconds: more than eight hours


@dataclass
class Contents:
    """Features by name, each (rows,), columns of text by the name of the detail, and notes for the caller."""

    features: dict[str, Floats] = field(default_factory=dict)
    texts: dict[str, Column] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def matrix(self, count: int) -> Floats:
        """The features as an array (rows, f)."""
        return np.column_stack(list(self.features.values())) if self.features else np.empty((count, 0))


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
        if column.name in busy or column.missing.all():
            continue
        name, numbers = measured(table, column, renamed.get(column.name))
        taken = name in found.features or name in found.texts
        if taken or (name != column.name and name in table.columns and column.name not in renamed):
            name = column.name
        if numbers is None:
            found.texts[name] = column
            continue
        found.features[name] = numbers
        worded = np.flatnonzero(absent_in_words(column))
        if worded.size:
            cell = brief(column.values[worded[0]])
            found.notes.append(f"column {column.name!r}: {worded.size} cell(s) such as {cell} count as missing")
    return found


def measured(table: Table, column: Column, name: str | None = None) -> tuple[str, Floats | None]:
    """What a column is called as a feature or a detail, and its numbers (rows,); None for text.

    Durations that are written as on a clock (3:20) are seconds, under ``duration``.
    """
    numbers = _numbers_or_text(table, column)
    if numbers is None and (name == "duration" or (name is None and is_duration(column.name))):
        clock = durations_of(table, column)
        return (name or "duration", clock) if clock is not None else (name or column.name, None)
    if numbers is None:
        return name or column.name, None
    usual = name or feature_name(column.name)
    if usual == "duration" and name is None and np.nanmedian(numbers) > _MILLISECONDS:
        usual = "duration_ms"
    return usual, numbers


def _numbers_or_text(table: Table, column: Column) -> Floats | None:
    numbers = numbers_of(table, column)
    if numbers is not None or column.written or column.values.dtype != object:
        return numbers
    nested = np.fromiter(map(is_nested, column.values), np.bool_, table.count)
    plain = [cell for cell in column.values[~nested & ~column.missing] if not isinstance(cell, str)]
    if nested.any() and plain:
        raise table.error(int(np.argmax(nested)), column, "must be a number like other cells of this column")
    return None


def chosen(table: Table, features: Sequence[str], kept: Ints, renamed: Mapping[str, str]) -> dict[str, Floats]:
    """The named columns as numbers; every cell of the kept rows must be one.

    A column is named by its heading, or by what it is called as a feature (``duration_ms`` for "Duration (ms)").
    """
    called = {renamed.get(name) or feature_name(name): name for name in reversed(table.columns)}
    arrays, absent = {}, []
    for name in features:
        column = named(table, name if name in table.columns else called.get(name, name))
        numbers = measured(table, column, renamed.get(column.name))[1]
        if numbers is None and not column.missing.all():
            raise table.error(first_wrong(column), column, "must be a number")
        arrays[name] = np.full(table.count, np.nan) if numbers is None else numbers
        absent += [(int(i), name) for i in kept[np.isnan(arrays[name][kept])]]
    if absent:
        shown = "; ".join(f"{table.row(i)}, column {name!r}" for i, name in sorted(absent)[:3])
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        raise FileError(f"{table.path}: features must have a value in every row; missing: {shown}{more}")
    return arrays


def items_of(table: Table, roles: Mapping[str, Column], texts: Mapping[str, Column]) -> list[Item]:
    """The item of each row."""
    for role in ("id", "title", "path", "artist"):
        for index in np.flatnonzero(np.fromiter(map(is_nested, roles[role].values), np.bool_)) if role in roles else ():
            raise table.error(int(index), roles[role], f"must be text, the {role} of the item")
    nothing = [""] * table.count
    ids, titles, paths, artists = (
        texts_of(roles[role], identity=role == "id") if role in roles else nothing
        for role in ("id", "title", "path", "artist")
    )
    cells = zip(*map(_details, texts.values()), strict=True) if texts else [()] * table.count
    return [
        Item(
            given or path or str(number),
            title,
            path,
            artist,
            MappingProxyType({name: cell for name, cell in zip(texts, row, strict=True) if cell != ""}),
        )
        for number, (given, title, path, artist, row) in enumerate(
            zip(ids, titles, paths, artists, cells, strict=True), start=1
        )
    ]


def _details(column: Column) -> list[Any]:
    if any(map(is_nested, column.values)):
        return ["" if absent else cell for cell, absent in zip(column.values, column.missing, strict=True)]
    return list(texts_of(column))
