"""The columns of a table, and what their cells mean as numbers and as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats
from fabula.errors import FileError

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
    """A file of rows.

    ``lines`` holds the line at which each row starts; without it, rows are counted from 1.
    """

    path: str
    columns: dict[str, Column]
    count: int
    lines: Sequence[int] = ()

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

    Raises
    ------
    FileError
        When the cells are numbers but for an infinity, or a NaN spelled out.
    """
    present = np.flatnonzero(~column.missing)
    numbers = np.full(table.count, np.nan)
    if column.values.dtype != object:
        numbers[present] = column.values[present]
    else:
        parsed = _parsed(column.values[present].tolist(), column)
        if parsed is None:
            return None
        numbers[present] = parsed
    finite = np.isfinite(numbers[present])
    if not finite.all() and (finite.any() or column.values.dtype != object):
        first = int(present[np.argmin(finite)])
        raise table.error(first, column, "must be a finite number, or empty where there is none")
    return numbers if finite.all() else None


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
    for index in np.flatnonzero(~column.missing).tolist():
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


def text_of(value: Any) -> str:
    """One value as the text of a cell; numbers so that they read back equal.

    Examples
    --------
    >>> [text_of(v) for v in (3.0, 0.1, True, None, "x")]
    ['3', '0.1', 'true', '', 'x']
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value)


def is_nested(value: Any) -> bool:
    """Whether a cell holds a list or an object."""
    return isinstance(value, (list, dict, tuple, np.ndarray))


def brief(value: Any) -> str:
    """A value for an error message, on one line and not too long."""
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")
