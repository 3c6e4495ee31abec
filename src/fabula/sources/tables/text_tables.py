"""Tables that are text: CSV, TSV, JSON and JSON lines, each read into columns."""

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from fabula.core.files import FilePath, check_nested, check_sparse, decode
from fabula.errors import FileError
from fabula.sources.playlists.text_lines import each_line
from fabula.sources.tables.source_table import SourceTable, column_of, is_nested, table_of, text_of

# CSV as text: the records of a file with the text of each cell, and tables as CSV. The one CSV writer there is.

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_HEADER = re.compile(r'(?:"(?:[^"]|"")*"|[^"\r\n])*')
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")  # also as wide as Chinese characters
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Record:
    """The line at which a record starts, what its cells say, and its text with quotes and line ends."""

    line: int
    cells: list[str]
    text: str


def records_of(text: str, separator: str, path: str, *, quoted: bool = True) -> list[Record]:
    """The records of a CSV text, header included; blank lines are left out. Without quotes a line is a record."""
    lines = list(each_line(text))
    if not quoted:
        rows = [(number, line, line.rstrip("\r\n")) for number, line in enumerate(lines, start=1)]
        return [Record(number, bare.split(separator), line) for number, line, bare in rows if bare.strip()]
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


def split_cells(record: str, separator: str, *, quoted: bool = True) -> list[str]:
    """The cells of a record as they are written, quotes included."""
    if not quoted:
        return record.rstrip("\r\n").split(separator)
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
    """
    return "".join(separator.join(map(cell_text, line)) + "\n" for line in (names, *rows))


def cell_text(value: Any) -> str:
    """A value as a cell of CSV."""
    if is_nested(value):
        return quote(json.dumps(value, ensure_ascii=False, default=str))
    return quote(guard(value) if isinstance(value, str) else text_of(value))


def guard(cell: str) -> str:
    """A text that no spreadsheet takes for a formula; `unguard` gives it back.

    >>> guard("=1+1"), guard("-12.5"), guard("- x"), guard("'=x"), guard("it's")
    ("'=1+1", '-12.5', "'- x", "''=x", "it's")
    >>> [unguard(guard(text)) for text in ("=1+1", "'=x", "'-5", "@a", "it's")]
    ['=1+1', "'=x", "'-5", '@a', "it's"]
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def unguard(cell: str) -> str:
    """The text that `guard` made safe."""
    return cell[1:] if cell.startswith("'") and guard(cell[1:]) == cell else cell


def quote(cell: str) -> str:
    """A cell in quotes where it holds a separator or a line break; semicolons and tabs, so that none is guessed."""
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',;\t"\r\n') else cell


def _read_csv(path: FilePath, data: bytes, delimiter: str = "", *, quoted: bool = True) -> SourceTable:
    text, script = decode(data, path, "a table")
    match = _HEADER.match(text.lstrip("\r\n"))
    first = _QUOTED.sub("", match.group()) if match else ""
    separator = delimiter or max(",;\t", key=first.count)  # the one the header has most of, outside quotes
    records = records_of(text, separator, os.fspath(path), quoted=quoted)
    if not records:
        raise FileError(f"{path}: the file is empty")
    header = [name.strip() for name in records.pop(0).cells]
    rows, lines = [record.cells for record in records], [record.line for record in records]
    if not quoted:  # cells at the end that hold nothing may be left away
        rows = [[cell.strip() for cell in (*row, *[""] * (len(header) - len(row)))] for row in rows]
    if wrong := [i for i, row in enumerate(rows) if len(row) != len(header)]:
        more = f" (and {len(wrong) - 1} more such rows)" if len(wrong) > 1 else ""
        what = f"line {lines[wrong[0]]} has {len(rows[wrong[0]])} cells, the header has {len(header)}"
        raise FileError(f"{path}: {what}{more}")
    cells = list(zip(*rows, strict=True)) or [()] * len(header)
    columns = [
        column_of(name, column, written=True, decimal_comma=separator == ";")
        for name, column in zip(header, cells, strict=True)
        if name  # a column without a name is the row number that some programs write
    ]
    about = {"text": text, "separator": separator, "script": script, "quoted": quoted}
    return table_of(path, columns, len(rows), lines=lines, **about)


def _read_json(path: FilePath, data: bytes, *, by_line: bool = False) -> SourceTable:
    text, script = decode(data, path, "a table", ["utf-8"])
    if not text.strip():
        raise FileError(f"{path}: the file is empty")
    rows: Any
    lines: list[int] = []
    if by_line:
        told = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        lines, rows = [number for number, _ in told], [_parse(path, line, f"line {k}: ") for k, line in told]
    else:
        document = _parse(path, text)
        rows = document.get("items") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise FileError(f'{path}: is not a table (a list of objects, or an object with such a list as "items")')
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            where = f"line {lines[number]}" if lines else f"row {number + 1}"
            raise FileError(f"{path}: {where}: must be an object with one value per column; got {type(row).__name__}")
    names = dict.fromkeys(name for row in rows for name in row)
    check_sparse(path, len(rows), len(names), sum(map(len, rows)))
    columns = [column_of(name, [row.get(name) for row in rows]) for name in names]
    return table_of(path, columns, len(rows), lines=lines, text=text, script=script)


def _parse(path: FilePath, text: str, where: str = "") -> Any:
    def refuse(name: str) -> Any:
        raise FileError(f"is not JSON ({name} is no JSON number; write null where there is none)")

    check_nested(text, os.fspath(path))
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=refuse)
    except FileError as error:
        raise FileError(f"{path}: {where}{error}") from None
    except json.JSONDecodeError as error:
        line = "" if where else f"line {error.lineno}: "
        raise FileError(f"{path}: {where}{line}is not JSON ({error.msg})") from error
    except (RecursionError, ValueError) as error:  # ValueError: a number of more than 4300 digits
        raise FileError(f"{path}: {where}is not JSON that can be read ({error})") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise FileError(f"column {twice!r} is named twice in one row")
    return row


EXPORT_ENDING = ".txt"
# A text of columns between tabs, as iTunes, Music and rekordbox export playlists: no quotes, any encoding.
read_export = partial(_read_csv, delimiter="\t", quoted=False)
TEXT_READERS: dict[str, Callable[[FilePath, bytes], SourceTable]] = {
    ".csv": _read_csv,
    ".tsv": partial(_read_csv, delimiter="\t"),
    ".json": _read_json,
    ".jsonl": partial(_read_json, by_line=True),
}
