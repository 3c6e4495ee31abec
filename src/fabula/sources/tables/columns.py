"""The columns of a table, and what their cells mean as numbers and as text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.columns import Cells, as_objects
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import FileError
from fabula.sources.tables.cells import brief, clock_seconds, is_nested, says_nothing, text_of
from fabula.sources.tables.numbers import Numbers, as_vectors
from fabula.sources.text_files import Script

_TRUTH = {"true": 1.0, "false": 0.0}
_DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?([eE][-+]?\d+)?")
_WHOLE = re.compile(r"-?\d+\.0+")
_FINITE = "must be a finite number, or empty where there is none"


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of one column, as a text file or JSON gave them.

    Parameters
    ----------
    name
        Its name in the header.
    values
        Shape (rows,): objects.
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

    @property
    def empty(self) -> bool:
        """Whether no cell has a value."""
        return bool(self.missing.all())

    def cell(self, row: int) -> Any:
        """One cell as the file gave it."""
        return self.values[row]

    def nested(self) -> Ints:
        """The rows whose cells are lists or objects."""
        if self.written:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(np.fromiter(map(is_nested, self.values), np.bool_, len(self.values)))

    def worded(self) -> NDArray[np.bool_]:
        """Where a cell says NA, -, null or the like, shape (rows,)."""
        return np.fromiter(map(says_nothing, self.values), np.bool_, len(self.values))

    def texts(self, *, identity: bool = False) -> Cells:
        """The cells as text, "" where missing: whole numbers without ".0", booleans as true and false.

        With ``identity`` the cells tell things apart: then a column of 1.0, 2.0 as some programs write it means 1, 2.
        """
        if self.written:
            cells: list[str] = self.values.tolist()
            if identity and all(not cell or _WHOLE.fullmatch(cell) for cell in cells):
                return as_objects(cell.partition(".")[0] for cell in cells)
            return self.values
        pairs = zip(self.values.tolist(), self.missing.tolist(), strict=True)
        return as_objects("" if missing else text_of(cell) for cell, missing in pairs)

    def details(self) -> Cells:
        """The cells as the details of items: lists and objects as they are, all else as text, "" where missing."""
        if not self.nested().size:
            return self.texts()
        return as_objects("" if absent else cell for cell, absent in zip(self.values, self.missing, strict=True))

    @cached_property
    def distinct(self) -> tuple[Ints, Cells]:
        """The number of each cell's text (rows,), counted in the order in which they first stand, and the texts."""
        seen: dict[str, int] = {}
        codes = [seen.setdefault(cell, len(seen)) for cell in self.texts().tolist()]
        return np.array(codes, dtype=np.intp), as_objects(seen)

    def numbers(self) -> Numbers | None:
        """The cells as numbers, NaN where missing or said to be; None when they are not all numbers, or all missing."""
        absent = self.missing
        parsed = _parsed(self.values[~absent].tolist(), self)
        if parsed is None or not np.isfinite(parsed).all():
            worded = self.worded()
            if worded.any():
                absent = absent | worded
                parsed = _parsed(self.values[~absent].tolist(), self)
        if parsed is None or not np.isfinite(parsed).any():
            return None
        numbers = np.full(len(absent), np.nan)
        numbers[~absent] = np.where(np.isnan(parsed), np.inf, parsed)  # a cell that is there must be finite
        return Numbers((numbers,))

    def vectors(self) -> Numbers | None:
        """The cells as vectors of one length, NaN where missing; None when they are not lists of as many numbers."""
        return as_vectors(self.values.tolist(), self.missing)


@dataclass(frozen=True, eq=False)
class Table:
    """A table of rows, and what is needed to write its rows back as they were.

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
        The Arrow table, where it is one.
    parts
        The names of the files of a folder, each with the row of the table at which it begins.
    """

    path: str
    columns: dict[str, Column]
    count: int
    lines: Sequence[int] = ()
    text: str = field(default="", repr=False)
    separator: str = ""
    script: Script = field(default=Script(), repr=False)
    content: Any = field(default=None, repr=False)
    parts: tuple[tuple[str, int], ...] = ()

    def row(self, index: int) -> str:
        """Where a person finds a row: "line 3", "row 2", or "row 2 of part-1.parquet"."""
        if self.parts:
            name, start = [part for part in self.parts if part[1] <= index][-1]
            return f"row {index - start + 1} of {name}"
        return f"line {self.lines[index]}" if self.lines else f"row {index + 1}"

    def error(self, index: int, column: Column, rule: str) -> FileError:
        """What is wrong with one cell: file, row, column, rule, value."""
        return FileError(
            f"{self.path}: {self.row(index)}, column {column.name!r}: {rule}; got {brief(column.cell(index))}"
        )


def table_of(path: str | os.PathLike[str], columns: Iterable[Column], count: int, lines: Sequence[int] = ()) -> Table:
    """A table of columns.

    Raises
    ------
    FileError
        When two have one name, or there are rows and no column.
    """
    found: dict[str, Column] = {}
    for column in columns:
        if column.name in found:
            raise FileError(f"{path}: column {column.name!r} is named twice")
        found[column.name] = column
    if count and not found:
        raise FileError(f"{path}: the table has no columns")
    return Table(str(path), found, count, lines)


def column_of(name: str, cells: Sequence[Any], *, written: bool = False, decimal_comma: bool = False) -> Column:
    """A column from cells as a text file or JSON gave them; None and "" are missing."""
    missing = np.fromiter((cell is None or (type(cell) is str and not cell) for cell in cells), np.bool_, len(cells))
    return Column(name, as_objects(cells), missing, written, decimal_comma)


def numbers_in(table: Table, column: Column) -> Numbers | None:
    """The cells as numbers, NaN where missing; None when they are not all numbers, or all missing.

    Cells such as NA or - among numbers are missing.

    Raises
    ------
    FileError
        When the cells are numbers but for an infinity.
    """
    found = column.numbers()
    wrong = None if found is None else found.infinite()
    if wrong is not None:
        raise table.error(wrong, column, _FINITE)
    return found


def numbers_of(table: Table, column: Column) -> Floats | None:
    """As :func:`numbers_in`, in one array (rows,)."""
    found = numbers_in(table, column)
    return None if found is None else found.whole()


def durations_of(table: Table, column: Column) -> Floats | None:
    """The cells as seconds (rows,), NaN where missing, when they are written as on a clock (3:20); else None."""
    numbers = np.full(table.count, np.nan)
    clocks = False
    for index in np.flatnonzero(~(column.missing | column.worded())).tolist():
        cell = column.values[index]
        seconds = clock_seconds(cell) if isinstance(cell, str) else None
        clocks |= seconds is not None
        plain = _parsed([cell], column) if seconds is None else None
        if seconds is None and (plain is None or not np.isfinite(plain[0])):
            return None
        numbers[index] = seconds if seconds is not None else float(plain[0])  # type: ignore[index]
    return numbers if clocks else None


def first_wrong(column: Column) -> int:
    """Index of the first cell that is no finite number, of a column that has one."""
    for index in np.flatnonzero(~(column.missing | column.worded())).tolist():
        single = _parsed([column.values[index]], column)
        if single is None or not np.isfinite(single[0]):
            return int(index)
    return int(np.argmax(~column.missing))


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


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")
