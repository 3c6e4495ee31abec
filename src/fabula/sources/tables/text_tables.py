"""Tables that are text: CSV, TSV, JSON and JSON lines, each read into columns."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fabula.errors import FileError
from fabula.sources.tables.columns import SourceTable, column_of, table_of
from fabula.sources.tables.csv_text import records_of, separator_of
from fabula.sources.text_files import decode


def _read_csv(path: str | os.PathLike[str], data: bytes, delimiter: str = "") -> SourceTable:
    text, script = decode(data, path, "a table")
    separator = delimiter or separator_of(text)
    records = records_of(text, separator, os.fspath(path))
    if not records:
        raise FileError(f"{path}: the file is empty")
    header = [name.strip() for name in records.pop(0).cells]
    rows, lines = [record.cells for record in records], [record.line for record in records]
    _check_width(path, header, rows, lines)
    cells = list(zip(*rows, strict=True)) or [()] * len(header)
    columns = [
        column_of(name, column, written=True, decimal_comma=separator == ";")
        for name, column in zip(header, cells, strict=True)
        if name  # a column without a name is the row number that some programs write
    ]
    table = table_of(path, columns, len(rows), lines)
    return replace(table, text=text, separator=separator, script=script)


def _check_width(path: str | os.PathLike[str], header: Sequence[str], rows: list[list[str]], lines: list[int]) -> None:
    wrong = [i for i, row in enumerate(rows) if len(row) != len(header)]
    if wrong:
        more = f" (and {len(wrong) - 1} more such rows)" if len(wrong) > 1 else ""
        raise FileError(
            f"{path}: line {lines[wrong[0]]} has {len(rows[wrong[0]])} cells, the header has {len(header)}{more}"
        )


def _read_tsv(path: str | os.PathLike[str], data: bytes) -> SourceTable:
    return _read_csv(path, data, "\t")


def _read_json(path: str | os.PathLike[str], data: bytes) -> SourceTable:
    text, script = decode(data, path, "a table", ["utf-8"])
    if not text.strip():
        raise FileError(f"{path}: the file is empty")
    document = _parse(path, text)
    rows = document.get("items") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise FileError(f'{path}: is not a table (a list of objects, or an object with such a list as "items")')
    return replace(_table_of_objects(path, rows), text=text, script=script)


def _read_jsonl(path: str | os.PathLike[str], data: bytes) -> SourceTable:
    text, script = decode(data, path, "a table", ["utf-8"])
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise FileError(f"{path}: the file is empty")
    rows = [_parse(path, line, f"line {number}: ") for number, line in lines]
    table = _table_of_objects(path, rows, [number for number, _ in lines])
    return replace(table, text=text, script=script)


def _parse(path: str | os.PathLike[str], text: str, where: str = "") -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
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
        names = [name for name, _ in pairs]
        raise FileError(f"column {next(name for name in names if names.count(name) > 1)!r} is named twice in one row")
    return row


def _refuse_constant(name: str) -> Any:
    raise FileError(f"is not JSON ({name} is no JSON number; write null where there is none)")


def _table_of_objects(path: str | os.PathLike[str], rows: list[Any], lines: Sequence[int] = ()) -> SourceTable:
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            where = f"line {lines[number]}" if lines else f"row {number + 1}"
            raise FileError(f"{path}: {where}: must be an object with one value per column; got {type(row).__name__}")
    names = dict.fromkeys(name for row in rows for name in row)
    return table_of(path, [column_of(name, [row.get(name) for row in rows]) for name in names], len(rows), lines)


TEXT_READERS: dict[str, Callable[[str | os.PathLike[str], bytes], SourceTable]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".json": _read_json,
    ".jsonl": _read_jsonl,
}
