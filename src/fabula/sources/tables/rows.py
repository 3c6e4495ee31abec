"""Writing rows of a table back in another order: every column, heading and cell as it was, and ours at the end."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.files.writing import write_whole
from fabula.errors import InputError
from fabula.sources.json_spans import elements, first_value, member, members
from fabula.sources.playlists.lines import line_end
from fabula.sources.tables.cells import text_of
from fabula.sources.tables.columns import SourceTable, numbers_of
from fabula.sources.tables.csv_text import csv_text, guard, quote, records_of, split_cells
from fabula.sources.tables.writing import as_json, as_parquet, plain_value, write_text

_COMMA = re.compile(r"-?\d+,\d+")
_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".parquet")


def write_rows(
    path: str | os.PathLike[str],
    table: SourceTable,
    rows: ArrayLike,
    extra: Mapping[str, Sequence[Any]] | None = None,
) -> Path:
    """Write rows of a table in another order.

    Written in the format it came from, every cell stands as it was, byte for byte, under the heading it had. Extra
    columns come last, as ``fabula position`` where the table has a ``position`` of its own; those of an earlier
    writing are replaced.

    Parameters
    ----------
    path
        A .csv, .tsv, .json, .jsonl or .parquet file; it may be the one the table came from.
    table
        As :func:`open_table` read it.
    rows
        Indices of rows in the order to write, shape (m,): ``reading.rows[k][ordering]``.
    extra
        Name -> one value per written row, text or number; None and NaN are empty.

    Returns
    -------
    The path written.

    Raises
    ------
    InputError
        When the ending is unknown, or a row or a number of values is wrong.
    """
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise InputError(f"{path}: a table is written as {', '.join(_ENDINGS)}; got {ending or 'no ending'}")
    order = _checked_rows(table, rows)
    added = {name: [plain_value(name, value) for value in values] for name, values in (extra or {}).items()}
    for name, values in added.items():
        if len(values) != len(order):
            raise InputError(f"extra column {name!r} must have {len(order)} values, one per row; got {len(values)}")
    if ending == Path(table.path).suffix.lower() and table.text:
        writer = _csv_rows if ending in (".csv", ".tsv") else _json_rows
        return write_text(path, writer(table, order, added), table.script)
    if ending == ".parquet":
        return write_whole(path, _parquet_rows(table, order, added))
    return write_text(path, _converted(table, order, added, ending))


def _checked_rows(table: SourceTable, rows: ArrayLike) -> list[int]:
    order = np.asarray(rows)
    if order.ndim != 1 or not order.size or not np.issubdtype(order.dtype, np.integer):
        raise InputError(f"rows must be a list of whole numbers, one or more; got {rows!r}")
    if order.min() < 0 or order.max() >= table.count:
        raise InputError(f"rows must be 0 to {table.count - 1}; got {order.min()} to {order.max()}")
    return [int(row) for row in order]


def extra_headings(known: Sequence[str], extra: Sequence[str]) -> dict[str, str]:
    """What the extra columns are called beside those there are; one that is there already is to be replaced.

    Examples
    --------
    >>> extra_headings(["position", "title"], ["position", "essence"])
    {'position': 'fabula position', 'essence': 'essence'}
    >>> extra_headings(["position", "title", "essence"], ["position", "essence"])
    {'position': 'position', 'essence': 'essence'}
    """
    ours = {name: f"fabula {name}" if f"fabula {name}" in known else name for name in extra}
    if all(name in known for name in ours.values()):  # written by us before
        return ours
    return {name: f"fabula {name}" if name in known else name for name in extra}


def _csv_rows(table: SourceTable, order: Sequence[int], extra: Mapping[str, Sequence[Any]]) -> str:
    header, *records = records_of(table.text, table.separator, table.path)
    headings = extra_headings(list(table.columns), list(extra))
    at = {name.strip(): index for index, name in enumerate(header.cells)}
    comma = any(_COMMA.fullmatch(cell) for record in records for cell in record.cells) and table.separator == ";"
    named = {heading: quote(heading) for heading in headings.values()}
    lines = [_merged(split_cells(header.text, table.separator), at, named)]
    for position, row in enumerate(order):
        cells = {headings[name]: _cell(values[position], comma=comma) for name, values in extra.items()}
        lines.append(_merged(split_cells(records[row].text, table.separator), at, cells))
    end = line_end(table.text)
    return "".join(table.separator.join(line) + end for line in lines)


def _merged(cells: list[str], at: Mapping[str, int], extra: Mapping[str, str]) -> list[str]:
    """The cells of a record with the extra ones in their columns, or behind them."""
    for heading, cell in extra.items():
        if heading in at:
            cells[at[heading]] = cell
        else:
            cells.append(cell)
    return cells


def _cell(value: Any, *, comma: bool) -> str:
    text = text_of(value)
    if isinstance(value, str):
        return quote(guard(text))
    return text.replace(".", ",") if comma and isinstance(value, float) else quote(text)


def _json_rows(table: SourceTable, order: Sequence[int], extra: Mapping[str, Sequence[Any]]) -> str:
    spans = _object_spans(table)
    headings = extra_headings(list(table.columns), list(extra))
    objects = []
    for position, row in enumerate(order):
        cells = {key: table.text[a:b] for key, a, b in members(table.text, spans[row])}
        cells |= {headings[name]: json.dumps(v[position], ensure_ascii=False) for name, v in extra.items()}
        objects.append("{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {v}" for k, v in cells.items()) + "}")
    if Path(table.path).suffix.lower() == ".jsonl":
        return "".join(line + "\n" for line in objects)
    return "[\n" + ",\n".join(objects) + "\n]\n"


def _object_spans(table: SourceTable) -> list[int]:
    """Where the object of each row starts."""
    if Path(table.path).suffix.lower() == ".jsonl":
        starts = [match.start() for match in re.finditer(r"(?m)^[ \t\r]*\{", table.text)]
        return [table.text.index("{", start) for start in starts]
    at = first_value(table.text)
    items = member(table.text, at, "items") if table.text[at] == "{" else None
    return [start for start, _ in elements(table.text, items[0] if items else at)]


def _parquet_rows(table: SourceTable, order: Sequence[int], extra: Mapping[str, Sequence[Any]]) -> bytes:
    headings = extra_headings(list(table.columns), list(extra))
    added = {headings[name]: list(values) for name, values in extra.items()}
    if table.content is None:
        return as_parquet(_cells(table, order) | added)
    kept = table.content.take(order)
    return as_parquet(added, kept.drop_columns([name for name in kept.column_names if name in added]))


def _converted(table: SourceTable, order: Sequence[int], extra: Mapping[str, Sequence[Any]], ending: str) -> str:
    headings = extra_headings(list(table.columns), list(extra))
    columns = _cells(table, order) | {headings[name]: list(values) for name, values in extra.items()}
    rows = list(zip(*columns.values(), strict=True))
    if ending in (".json", ".jsonl"):
        return as_json(list(columns), rows, lines=ending == ".jsonl")
    return csv_text(list(columns), rows, "\t" if ending == ".tsv" else ",")


def _cells(table: SourceTable, order: Sequence[int]) -> dict[str, list[Any]]:
    """Heading -> the values of the rows: numbers where the whole column is, else as the file has them."""
    found: dict[str, list[Any]] = {}
    for name, column in table.columns.items():
        numbers = numbers_of(table, column) if column.written else None
        values = column.values if numbers is None else numbers
        absent = column.missing if numbers is None else np.isnan(numbers)
        found[name] = [None if absent[row] else plain_value(name, values[row]) for row in order]
    return found
