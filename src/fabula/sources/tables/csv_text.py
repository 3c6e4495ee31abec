"""CSV as text: the records of a file with the text of each cell, and tables as CSV. The one CSV writer there is."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.errors import FileError
from fabula.sources.tables.cells import is_nested, text_of

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_HEADER = re.compile(r'(?:"(?:[^"]|"")*"|[^"\r\n])*')
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")  # also as wide as Chinese characters
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")


@dataclass(frozen=True)
class Record:
    """The line at which a record starts, what its cells say, and its text with quotes and line ends."""

    line: int
    cells: list[str]
    text: str


def records_of(text: str, separator: str, path: str) -> list[Record]:
    """The records of a CSV text, header included; blank lines are left out.

    Raises
    ------
    FileError
        When it is not CSV, naming the line.
    """
    lines = [match for match in _LINE.findall(text) if match]
    reader = csv.reader(lines, delimiter=separator, strict=True)
    records = []
    start = 0
    try:
        for cells in reader:
            if cells:
                records.append(Record(start + 1, list(map(unguard, cells)), "".join(lines[start : reader.line_num])))
            start = reader.line_num
    except csv.Error as error:
        raise FileError(f"{path}: line {reader.line_num}: is not CSV ({error})") from error
    return records


def separator_of(text: str) -> str:
    """What stands between two cells: of comma, semicolon and tab the one the header has most of, outside quotes."""
    match = _HEADER.match(text.lstrip("\r\n"))
    header = _QUOTED.sub("", match.group()) if match else ""
    return max(",;\t", key=header.count)


def split_cells(record: str, separator: str) -> list[str]:
    """The cells of a record as they are written, quotes included.

    Examples
    --------
    >>> split_cells('a,"b, c",5" tape', ",")
    ['a', '"b, c"', '5" tape']
    """
    cell = re.compile(rf'"(?:[^"]|"")*"|[^{re.escape(separator)}\r\n]*')
    cells, at = [], 0
    while True:
        match = cell.match(record, at)
        cells.append(match[0] if match else "")
        at = match.end() if match else len(record)
        if record[at : at + 1] != separator:
            return cells
        at += 1


def csv_text(names: Sequence[str], rows: Iterable[Sequence[Any]], separator: str = ",") -> str:
    """A table as CSV, its lines ending with a newline; numbers in full, None as an empty cell, lists as JSON.

    What a spreadsheet would take for a formula gets an apostrophe in front, which `records_of` takes away again.

    Examples
    --------
    >>> print(csv_text(["a", "b"], [[1.0, "x, y"], [None, 0.5]]), end="")
    a,b
    1,"x, y"
    ,0.5
    """
    lines = [list(names), *(list(row) for row in rows)]
    return "".join(separator.join(quote(cell_text(cell)) for cell in line) + "\n" for line in lines)


def cell_text(value: Any) -> str:
    """A value as the text of a cell."""
    text = json.dumps(value, ensure_ascii=False, default=str) if is_nested(value) else text_of(value)
    return guard(text) if isinstance(value, str) else text


def guard(cell: str) -> str:
    """A text that no spreadsheet takes for a formula; `unguarded` gives it back.

    Examples
    --------
    >>> guard("=1+1"), guard("-12.5"), guard("- x"), guard("'=x"), guard("it's")
    ("'=1+1", '-12.5', "'- x", "''=x", "it's")
    >>> [unguard(guard(text)) for text in ("=1+1", "'=x", "'-5", "@a", "it's")]
    ['=1+1', "'=x", "'-5", '@a', "it's"]
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def unguard(cell: str) -> str:
    """The text that `guarded` made safe."""
    return cell[1:] if cell.startswith("'") and guard(cell[1:]) == cell else cell


def quote(cell: str) -> str:
    """A cell in quotes where it holds a separator or a line break; semicolons and tabs, so that none is guessed."""
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',;\t"\r\n') else cell
