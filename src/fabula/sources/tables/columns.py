"""The columns of a table, and what their cells mean as numbers and as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats
from fabula.errors import FileError
from fabula.sources.tables.cells import brief, clock_seconds, says_nothing, text_of
from fabula.sources.text_files import Script

_TRUTH = {"true": 1.0, "false": 0.0}
_DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?([eE][-+]?\d+)?")
_WHOLE = re.compile(r"-?\d+\.0+")


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of one column.

    Parameters
    ----------
    name
        Its name in the header.
    values
        Shape (rows,): numbers, booleans, or objects as the file gave them.
    missing
        Shape (rows,): where a cell is empty.
    written
        Whether the cells are text that may mean numbers, as in CSV.
    decimal_comma
        Whether 0,5 may mean a half.
    """

    name: str
    values: NDArray[Any]
    missing: NDArray[np.bool_]
    written: bool = False
    decimal_comma: bool = False


@dataclass(frozen=True, eq=False)
class Table:
    """A file of rows, and what is needed to write its rows back as they were.

    Parameters
    ----------
    path
        The file it was read from.
    columns
        By name.
    count
        The number of rows.
    lines
        The line at which each row starts; without it, rows are counted from 1.
    text, separator, script
        The text of a text file, what stands between two cells of CSV, and how the file puts text into bytes.
    content
        The Arrow table of a Parquet file.
    """

    path: str
    columns: dict[str, Column]
    count: int
    lines: Sequence[int] = ()
    text: str = field(default="", repr=False)
    separator: str = ""
    script: Script = field(default=Script(), repr=False)
    content: Any = field(default=None, repr=False)

    def row(self, index: int) -> str:
        """Where a person finds a row: "line 3" or "row 2"."""
        return f"line {self.lines[index]}" if self.lines else f"row {index + 1}"

    def error(self, index: int, column: Column, rule: str) -> FileError:
        """What is wrong with one cell: file, row, column, rule, value."""
        return FileError(
            f"{self.path}: {self.row(index)}, column {column.name!r}: {rule}; got {brief(column.values[index])}"
        )


def column_of(name: str, cells: Sequence[Any], *, written: bool = False, decimal_comma: bool = False) -> Column:
    """A column from cells as a text file or JSON gave them; None and "" are missing."""
    values = np.empty(len(cells), dtype=object)
    values[:] = cells
    missing = np.fromiter((cell is None or (type(cell) is str and not cell) for cell in cells), np.bool_, len(cells))
    return Column(name, values, missing, written, decimal_comma)


def numbers_of(table: Table, column: Column) -> Floats | None:
    """The cells as numbers (rows,), NaN where missing; None when they are not all numbers, or all missing.

    Cells such as NA or - among numbers are missing.

    Raises
    ------
    FileError
        When the cells are numbers but for an infinity.
    """
    present = np.flatnonzero(~column.missing)
    parsed = _cells_as_numbers(column, present)
    if parsed is None or not np.isfinite(parsed).all():
        worded = absent_in_words(column)
        if worded.any():
            present = np.flatnonzero(~(column.missing | worded))
            parsed = _cells_as_numbers(column, present)
    if parsed is None:
        return None
    finite = np.isfinite(parsed)
    if not finite.all() and (finite.any() or column.values.dtype != object):
        raise table.error(
            int(present[np.argmin(finite)]), column, "must be a finite number, or empty where there is none"
        )
    numbers = np.full(table.count, np.nan)
    numbers[present] = parsed
    return numbers if finite.all() else None


def durations_of(table: Table, column: Column) -> Floats | None:
    """The cells as seconds (rows,), NaN where missing, when they are written as on a clock (3:20); else None."""
    numbers = np.full(table.count, np.nan)
    clocks = False
    if column.values.dtype != object:
        return None
    for index in np.flatnonzero(~(column.missing | absent_in_words(column))).tolist():
        cell = column.values[index]
        seconds = clock_seconds(cell) if isinstance(cell, str) else None
        clocks |= seconds is not None
        plain = _cells_as_numbers(column, np.array([index])) if seconds is None else None
        if seconds is None and (plain is None or not np.isfinite(plain[0])):
            return None
        numbers[index] = seconds if seconds is not None else float(plain[0])  # type: ignore[index]
    return numbers if clocks else None


def absent_in_words(column: Column) -> NDArray[np.bool_]:
    """Where a cell says NA, -, null or the like, shape (rows,)."""
    if column.values.dtype != object:
        return np.zeros(len(column.values), dtype=np.bool_)
    return np.fromiter(map(says_nothing, column.values), np.bool_, len(column.values))


def _cells_as_numbers(column: Column, rows: NDArray[np.intp]) -> Floats | None:
    if column.values.dtype != object:
        return column.values[rows].astype(np.float64)
    return _parsed(column.values[rows].tolist(), column)


def _parsed(cells: list[Any], column: Column) -> Floats | None:
    if not cells:
        return None
    kinds = set(map(type, cells))
    try:
        if kinds <= {int, float, bool}:
            return np.array([_float(cell) for cell in cells])
        return _parsed_text(cells, column) if column.written else None
    except ValueError:
        return None


def _parsed_text(cells: list[str], column: Column) -> Floats:
    if cells[0].lower() in _TRUTH:
        found = [_TRUTH.get(cell.lower()) for cell in cells]
        if None in found:
            raise ValueError("not all true or false")
        return np.array(found, dtype=np.float64)
    if column.decimal_comma and all(map(_DECIMAL_COMMA.fullmatch, cells)):
        cells = [cell.replace(",", ".") for cell in cells]
    # float() takes 1_000 for a number; no table means it.
    if "_" in "".join(cells):
        raise ValueError("not a number")
    return np.array(cells, dtype=object).astype(np.float64)


def first_wrong(column: Column) -> int:
    """Index of the first cell that is no finite number, of a column that has one."""
    for index in np.flatnonzero(~(column.missing | absent_in_words(column))).tolist():
        single = _parsed([column.values[index]], column)
        if single is None or not np.isfinite(single[0]):
            return int(index)
    return int(np.argmax(~column.missing))


def texts_of(column: Column, *, identity: bool = False) -> list[str]:
    """The cells as text, "" where missing: whole numbers without ".0", booleans as true and false.

    Parameters
    ----------
    column
        The column.
    identity
        Whether the cells tell things apart: then a column of 1.0, 2.0 as some programs write it means 1, 2.
    """
    if column.values.dtype == object and column.written:
        cells: list[str] = column.values.tolist()
        if identity and all(not cell or _WHOLE.fullmatch(cell) for cell in cells):
            return [cell.partition(".")[0] for cell in cells]
        return cells
    return [
        "" if missing else text_of(cell)
        for cell, missing in zip(column.values.tolist(), column.missing.tolist(), strict=True)
    ]


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")
