"""The columns of a table, and what their cells mean as numbers and as text."""

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats, Ints
from fabula.core.collections import Cells, as_objects
from fabula.core.files import FilePath, Script
from fabula.errors import FileError, brief
from fabula.sources.playlists.text_lines import read_clock

_TRUTH = {"true": 1.0, "false": 0.0}
_DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?([eE][-+]?\d+)?")
_WHOLE = re.compile(r"-?\d+\.0+")
_FINITE = "must be a finite number, or empty where there is none"
_WORDS = "na n/a n.a. #n/a nan null none nil - -- – — ? \\n"
_ABSENT = frozenset(_WORDS.split())
_FEW = 0.34  # share of the cells of a duration or a usual feature that may be wrong, and are named
_MOST_TOLD = 5

# Numbers of all rows, or vectors of them: arrays (m,) or (m, w) one after the other, NaN where a value is missing
Pieces = list[NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of one column, as a text file or JSON gave them."""

    name: str
    values: NDArray[Any]  # shape (rows,): objects
    missing: NDArray[np.bool_]  # shape (rows,): where a cell is empty
    written: bool = False  # whether the cells are text that may mean numbers, as in CSV
    decimal_comma: bool = False  # whether 0,5 may mean a half

    @property
    def empty(self) -> bool:
        """Whether no cell has a value."""
        return bool(self.missing.all())

    def cell(self, row: int) -> Any:
        """One cell as the file gave it."""
        return self.values[row]

    def rows_of_lists(self) -> Ints:
        """The rows whose cells are lists or objects."""
        if self.written:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(np.fromiter(map(is_nested, self.values), np.bool_, len(self.values)))

    def absences(self) -> NDArray[np.bool_]:
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
        if not self.rows_of_lists().size:
            return self.texts()
        return as_objects("" if absent else cell for cell, absent in zip(self.values, self.missing, strict=True))

    @cached_property
    def distinct(self) -> tuple[Ints, Cells]:
        """The number of each cell's text (rows,), counted in the order in which they first stand, and the texts."""
        seen: dict[str, int] = {}
        codes = [seen.setdefault(cell, len(seen)) for cell in self.texts().tolist()]
        return np.array(codes, dtype=np.intp), as_objects(seen)

    def numbers(self) -> Pieces | None:
        """The cells as numbers, NaN where missing or said to be; None when they are not all numbers, or all missing."""
        absent = self.missing
        parsed = _parse_cells(self.values[~absent].tolist(), self)
        if parsed is None or not np.isfinite(parsed).all():
            worded = self.absences()
            if worded.any():
                absent = absent | worded
                parsed = _parse_cells(self.values[~absent].tolist(), self)
        if parsed is None or not np.isfinite(parsed).any():
            return None
        numbers = np.full(len(absent), np.nan)
        numbers[~absent] = np.where(np.isnan(parsed), np.inf, parsed)  # a cell that is there must be finite
        return [numbers]

    def vectors(self) -> Pieces | None:
        """The cells as vectors of one length, NaN where missing; None when they are not lists of as many numbers."""
        known = self.values[~self.missing].tolist()
        if not known or not all(isinstance(cell, (list, tuple)) and len(cell) == len(known[0]) for cell in known):
            return None
        if not len(known[0]) or not all(type(x) in (int, float, type(None)) for cell in known for x in cell):
            return None
        found = np.full((len(self.values), len(known[0])), np.nan)
        found[~self.missing] = np.array(known, dtype=np.float64)
        return [found]


@dataclass(frozen=True, eq=False)
class SourceTable:
    """A table of rows, and what is needed to write its rows back as they were."""

    path: str  # the file it was read from
    columns: dict[str, Column]
    count: int  # of rows
    lines: Sequence[int] = ()  # the line at which each row starts; without it, rows are counted from 1
    # of a text file: its text, what stands between two cells of CSV, and how it puts text into bytes
    text: str = field(default="", repr=False)
    separator: str = ""
    quoted: bool = True  # whether its cells may stand in quotes; not in what players export as text
    script: Script = field(default=Script(), repr=False)
    content: Any = field(default=None, repr=False)  # the Arrow table, where it is one
    # the names of the files of a folder, each with the row of the table at which it begins
    parts: tuple[tuple[str, int], ...] = ()

    @property
    def side_heading(self) -> str:
        """What the sides of its order stand under; "" where an order was written into it that has none."""
        moved = re.search(r"^(fabula )?position\n(fabula )?essence$", "\n".join(self.columns), re.MULTILINE)
        own = headings_of_order(self.columns)
        return own.get("side", "" if moved or own else "side")

    def row(self, index: int) -> str:
        """Where a person finds a row: "line 3", "row 2", or "row 2 of part-1.parquet"."""
        if self.parts:
            name, start = [part for part in self.parts if part[1] <= index][-1]
            return f"row {index - start + 1} of {name}"
        return f"line {self.lines[index]}" if self.lines else f"row {index + 1}"

    def error(self, index: int, column: Column, rule: str) -> FileError:
        """What is wrong with one cell: file, row, column, rule, value."""
        where = f"{self.path}: {self.row(index)}, column {column.name!r}"
        return FileError(f"{where}: {rule}; got {brief(column.cell(index))}")


def table_of(path: FilePath, columns: Iterable[Column], count: int, **about: Any) -> SourceTable:
    """A table of columns, with what else a :class:`SourceTable` has."""
    found: dict[str, Column] = {}
    for column in columns:
        if column.name in found:
            raise FileError(f"{path}: column {column.name!r} is named twice")
        found[column.name] = column
    if count and not found:
        raise FileError(f"{path}: the table has no columns")
    return SourceTable(str(path), found, count, **about)


def headings_of_order(headings: Iterable[str]) -> dict[str, str]:
    """What an order was written under beside the columns of a table, by name: more of it stands behind its essence.

    >>> headings_of_order(["side", "position", "essence", "fabula side"]), headings_of_order(["position", "side"])
    ({'position': 'position', 'essence': 'essence', 'side': 'fabula side'}, {})
    """
    known, names = list(headings), ("position", "essence", "target", "deviation", "off", "side", "begins")
    ours = {name: f"fabula {name}" if f"fabula {name}" in known else name for name in names}
    begin = known.index(ours["essence"]) if ours["essence"] in known else len(known)
    told = {name: ours[name] for name in names if ours[name] in known[begin + (name != "essence") :]}
    return {name: ours[name] for name in names[:1] if ours[name] in known} | told if len(told) > 1 else {}


def column_of(name: str, cells: Sequence[Any], *, written: bool = False, decimal_comma: bool = False) -> Column:
    """A column from cells as a text file or JSON gave them; None and "" are missing."""
    missing = np.fromiter((cell is None or (type(cell) is str and not cell) for cell in cells), np.bool_, len(cells))
    return Column(name, as_objects(cells), missing, written, decimal_comma)


def numbers_in(table: SourceTable, column: Column) -> Pieces | None:
    """The cells as numbers, NaN where missing; None when they are not all numbers, or all missing.

    Cells such as NA or - among numbers are missing; an infinity among them is refused.
    """
    found = column.numbers()
    refuse_infinite(table, column, found or [], _FINITE)
    return found


def numbers_of(table: SourceTable, column: Column) -> Floats | None:
    """As :func:`numbers_in`, in one array (rows,)."""
    found = numbers_in(table, column)
    return None if found is None else join(found)


def numbers_but_few(
    table: SourceTable, column: Column, notes: list[str], *, clocks: bool
) -> tuple[Pieces | None, bool]:
    """The cells as numbers, where most are (else None), and whether some are as on a clock (3:20).

    Those that are not count as missing, and are named in ``notes``. Cells as on a clock are seconds, where they may be.
    """
    numbers = np.full(table.count, np.nan)
    wrong: list[int] = []
    timed = False
    read = _read_frames if "INDEX 1" in table.columns else read_clock  # as plants of records count
    known = np.flatnonzero(~(column.missing | column.absences())).tolist()
    for index in known:
        cell = column.values[index]
        seconds = read(cell) if clocks and isinstance(cell, str) else None
        value = _parse_cell(column, index) if seconds is None else seconds
        if value is None:
            wrong.append(index)
            continue
        timed |= seconds is not None
        numbers[index] = value
    if not known or len(wrong) > _FEW * len(known):
        return None, False
    for index in wrong[:_MOST_TOLD]:
        what = "no duration, such as 3:20" if clocks else "no number"
        cell = brief(column.cell(index))
        notes.append(f"{table.row(index)}, column {column.name!r}: {cell} is {what}, and counts as missing")
    if len(wrong) > _MOST_TOLD:
        notes.append(f"column {column.name!r}: {len(wrong) - _MOST_TOLD} more such cells count as missing")
    return [numbers], timed


def _read_frames(text: str) -> float | None:
    """The seconds of minutes, seconds and frames of a CD, 75 of them a second; None for anything else."""
    match = re.fullmatch(r"(\d{2,3}):([0-5]\d):([0-6]\d|7[0-4])", text.strip())
    return 60 * int(match[1]) + int(match[2]) + int(match[3]) / 75 if match else None


def first_wrong(column: Column) -> int:
    """Index of the first cell that is no finite number, of a column that has one."""
    known = np.flatnonzero(~(column.missing | column.absences())).tolist()
    return next((index for index in known if _parse_cell(column, index) is None), int(np.argmax(~column.missing)))


def _parse_cell(column: Column, row: int) -> float | None:
    """One cell as a finite number; None where it is none."""
    found = _parse_cells([column.values[row]], column)
    return float(found[0]) if found is not None and np.isfinite(found[0]) else None


def _parse_cells(cells: list[Any], column: Column) -> Floats | None:
    if not cells:
        return None
    kinds = set(map(type, cells))
    try:
        if kinds <= {int, float, bool}:
            return np.array(cells, dtype=np.float64)
        return _parse_text(cells, column) if column.written else None
    except OverflowError:  # an integer beyond all floats
        return np.array([np.inf if abs(cell) > sys.float_info.max else float(cell) for cell in cells])
    except ValueError:
        return None


def _parse_text(cells: list[str], column: Column) -> Floats:
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


# Numbers of many rows in the pieces their file holds, and the block of features made of them.


def join(numbers: Pieces) -> Floats:
    """All in one array, shape (rows,) or (rows, w)."""
    joined = numbers[0] if len(numbers) == 1 else np.concatenate(numbers)
    return joined.astype(np.float64, copy=False)


def refuse_infinite(table: SourceTable, column: Column, numbers: Pieces, rule: str) -> None:
    """An error of the first cell with an infinite number, where there is one."""
    start = 0
    for piece in numbers:
        if piece.dtype.kind == "f" and (wrong := np.isinf(piece)).any():
            raise table.error(start + int(np.argmax(wrong.reshape(len(piece), -1).any(axis=1))), column, rule)
        start += len(piece)


def features_of(columns: Sequence[Pieces], order: Ints | None, count: int) -> Floats:
    """The block of features (rows, f), one for each number of a vector, of rows as they stand or in an order."""
    begins = np.cumsum([0, *(1 if pieces[0].ndim == 1 else pieces[0].shape[1] for pieces in columns)]).tolist()
    block = np.empty((count if order is None else len(order), begins[-1]))
    for at, end, pieces in zip(begins, begins[1:], columns, strict=False):
        start = 0  # one column after the other: each is joined for its turn alone, where it is to be joined
        for piece in pieces if order is None else [join(pieces)[order]]:
            block[start : start + len(piece), at:end] = piece.reshape(len(piece), end - at)
            start += len(piece)
    return block


# What one cell of a table means: a number, a duration, text, or nothing.


def says_nothing(cell: Any) -> bool:
    """Whether a cell says in words that there is no value; what that means is for its column to say.

    >>> [says_nothing(cell) for cell in ("NA", "n/a", "-", "nan", "null", "none at all", 0)]
    [True, True, True, True, True, False, False]
    """
    return isinstance(cell, str) and cell.strip().lower() in _ABSENT


def text_of(value: Any) -> str:
    """One value as the text of a cell; numbers so that they read back equal.

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
