"""Writing tables: a collection with one row an item, or the rows of a table in another order."""

import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.collection import Collection
from fabula.core.files import FilePath, json_text, refuse_odd_names, write_whole
from fabula.errors import InputError, import_extra
from fabula.sources.playlists.text_lines import line_end, member, members, skip_space
from fabula.sources.tables.sheets import SHEET_ENDING, reorder_sheet, sheet_of
from fabula.sources.tables.source_table import SourceTable, headings_of_order, is_nested, numbers_of
from fabula.sources.tables.text_tables import EXPORT_ENDING, cell_text, csv_text, quote, records_of, split_cells

_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".parquet", SHEET_ENDING)
_COMMA = re.compile(r"-?\d+,\d+")


def write_table(
    path: FilePath, collection: Collection, extra: Mapping[str, Sequence[Any]] | None = None, creator: str = "artist"
) -> Path:
    """Write the items of a collection in its order; :func:`read_table` reads the same collection back.

    Columns: position from 1, then id, title, ``creator`` and path where any item has them, features, details, extra.
    An extra column replaces a feature or a detail of the same name. A feature that is an array of numbers
    has a column for each, ``name.1``, ``name.2``, ... The file is .csv, .tsv, .json (a list of objects), .jsonl,
    .parquet or .xlsx; returns its path.
    """
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise InputError(f"{path}: a table is written as {', '.join(_ENDINGS)}; got {ending or 'no ending'}")
    return _write_columns(path, _columns(collection, extra or {}, creator))


def feature_columns(collection: Collection) -> dict[str, NDArray[Any]]:
    """The features by name, (n,) each; one that is an array has a column for each number, ``name.1``, ``name.2``."""
    found: dict[str, NDArray[Any]] = {}
    for name in collection.feature_names:
        values = collection.column(name).reshape(len(collection), -1)
        several = values.shape[1] > 1
        found |= {f"{name}.{i + 1}" if several else name: values[:, i] for i in range(values.shape[1])}
    return found


def _write_columns(path: FilePath, columns: Mapping[str, list[Any]]) -> Path:
    """Columns as a new table, by the ending of its name."""
    ending = Path(path).suffix.lower()
    if ending == SHEET_ENDING:
        return write_whole(path, sheet_of(columns))
    with refuse_odd_names(path):
        if ending == ".parquet":
            return write_whole(path, _as_parquet(columns))
        rows = list(zip(*columns.values(), strict=True))
        if ending in (".json", ".jsonl"):
            objects = [json_text(dict(zip(columns, row, strict=True)), default=str) for row in rows]
            return write_whole(path, _lay_objects(objects, lines=ending == ".jsonl").encode())
        return write_whole(path, csv_text(list(columns), rows, "\t" if ending == ".tsv" else ",").encode())


def _columns(collection: Collection, extra: Mapping[str, Sequence[Any]], creator: str) -> dict[str, list[Any]]:
    items = collection.items
    columns: dict[str, list[Any]] = {"position": list(range(1, len(items) + 1)), "id": [item.id for item in items]}
    for name in ("title", "creator", "path"):
        if any(getattr(item, name) for item in items):
            columns[creator if name == "creator" else name] = [getattr(item, name) for item in items]
    fixed = set(columns)
    found = {name: values.tolist() for name, values in feature_columns(collection).items()}
    for name in dict.fromkeys(name for item in items for name in item.details):
        found.setdefault(name, [item.details.get(name) for item in items])
    for name, cells in found.items():
        if name not in extra:
            free, number = name, 2  # where the name is taken, with a number behind it
            while free in columns:
                number, free = number + 1, f"{name}_{number}"
            columns[free] = cells
    for name, column in extra.items():
        if name in fixed:
            raise InputError(f"extra column {name!r} has the name of a column every table has")
        if len(column) != len(items):
            raise InputError(f"extra column {name!r} must have {len(items)} values, one per item; got {len(column)}")
        columns[name] = list(column)
    return {name: [_plain_value(name, value) for value in values] for name, values in columns.items()}


def _plain_value(name: str, value: Any) -> Any:
    """A value as JSON has it; None for a missing number."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float):
        if math.isinf(plain):
            raise InputError(f"column {name!r} must be finite numbers; got {plain}")
        if math.isnan(plain):
            return None
        return int(plain) if plain.is_integer() and abs(plain) < 2**53 else plain
    return plain if plain is None or isinstance(plain, (str, int)) or is_nested(plain) else str(plain)


def _as_parquet(columns: Mapping[str, list[Any]], content: Any = None) -> bytes:
    """Columns as a Parquet file, behind those of an Arrow table where one is given."""
    pa = import_extra("pyarrow", extra="tables", purpose="writing Parquet tables")
    pq = import_extra("pyarrow.parquet", extra="tables", purpose="writing Parquet tables")
    mixed = {
        name: values if not any(isinstance(v, str) for v in values) else [v if v is None else str(v) for v in values]
        for name, values in columns.items()
    }
    table = pa.table(mixed) if content is None else content
    for name in mixed if content is not None else ():
        table = table.append_column(name, pa.array(mixed[name]))
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def _lay_objects(objects: Sequence[str], *, lines: bool) -> str:
    """Objects as a JSON list, or as JSON lines."""
    return "".join(one + "\n" for one in objects) if lines else "[\n" + ",\n".join(objects) + "\n]\n"


# Writing rows of a table back in another order: every column, heading and cell as it was, and ours at the end.


def write_rows(
    path: FilePath, table: SourceTable, rows: ArrayLike, extra: Mapping[str, Sequence[Any]] | None = None
) -> Path:
    """Write rows (m,) of a table in another order, ``reading.rows[k][ordering]``; returns the path.

    Written in the format it came from, every cell stands as it was, byte for byte, under the heading it had. Extra
    columns come last, as ``fabula position`` where the table has a ``position`` of its own; those of an earlier
    writing are replaced. The path may be the one the table came from.
    """
    ending = Path(path).suffix.lower()
    if ending not in (*_ENDINGS, "" if table.quoted else EXPORT_ENDING):
        raise InputError(f"{path}: a table is written as {', '.join(_ENDINGS)}; got {ending or 'no ending'}")
    found = np.asarray(rows)
    if found.ndim != 1 or not found.size or not np.issubdtype(found.dtype, np.integer):
        raise InputError(f"rows must be a list of whole numbers, one or more; got {rows!r}")
    if found.min() < 0 or found.max() >= table.count:
        raise InputError(f"rows must be 0 to {table.count - 1}; got {found.min()} to {found.max()}")
    order: list[int] = found.tolist()
    added: dict[str, list[Any]] = {}
    headings = _extra_headings(list(table.columns), list(extra or ()))
    for name, values in (extra or {}).items():
        if len(values) != len(order):
            raise InputError(f"extra column {name!r} must have {len(order)} values, one per row; got {len(values)}")
        added[headings[name]] = [_plain_value(name, value) for value in values]
    if ending == Path(table.path).suffix.lower() and table.text:
        writer = _csv_rows if table.separator else _json_rows
        with refuse_odd_names(path):
            return write_whole(path, table.script.encode(writer(table, order, added)))
    if ending == ".parquet" and table.content is not None:
        kept = table.content.take(order)
        return write_whole(path, _as_parquet(added, kept.drop_columns([n for n in kept.column_names if n in added])))
    if ending == SHEET_ENDING == Path(table.path).suffix.lower():
        return write_whole(path, reorder_sheet(table, order, added))
    return _write_columns(path, _cells(table, order) | added)


def _extra_headings(known: Sequence[str], extra: Sequence[str]) -> dict[str, str]:
    """What the extra columns are called beside those there are; one that is there already is to be replaced."""
    ours = {name: f"fabula {name}" if f"fabula {name}" in known else name for name in extra}
    if all(name in known for name in ours.values()):  # written by us before
        return ours
    own = headings_of_order(known)
    return {name: own.get(name, f"fabula {name}" if name in known else name) for name in extra}


def _csv_rows(table: SourceTable, order: Sequence[int], extra: Mapping[str, Sequence[Any]]) -> str:
    header, *records = records_of(table.text, table.separator, table.path, quoted=table.quoted)
    at = {name.strip(): index for index, name in enumerate(header.cells)}
    comma = any(_COMMA.fullmatch(cell) for record in records for cell in record.cells) and table.separator == ";"
    named = {heading: quote(heading) for heading in extra}
    lines = [_merge_cells(split_cells(header.text, table.separator, quoted=table.quoted), at, named)]
    for position, row in enumerate(order):
        cells = {heading: cell_text(values[position]) for heading, values in extra.items()}
        if comma:
            cells |= {h: cell.replace(".", ",") for h, cell in cells.items() if isinstance(extra[h][position], float)}
        lines.append(_merge_cells(split_cells(records[row].text, table.separator, quoted=table.quoted), at, cells))
    if not table.quoted:  # a column that counts the rows counts on in their new order
        before = [split_cells(record.text, table.separator, quoted=False) for record in records]
        for k in range(len(lines[0])):
            counts = [record[k] if k < len(record) else "" for record in before]
            if [cell.strip().lstrip("0") for cell in counts] == [str(i) for i in range(1, len(counts) + 1)]:
                for line, cell in zip(lines[1:], counts, strict=False):
                    line[k] = cell
    end = line_end(table.text)
    return "".join(table.separator.join(line) + end for line in lines)


def _merge_cells(cells: list[str], at: Mapping[str, int], extra: Mapping[str, str]) -> list[str]:
    """The cells of a record with the extra ones in their columns, or behind them."""
    for heading, cell in extra.items():
        if heading in at:
            cells[at[heading]] = cell
        else:
            cells.append(cell)
    return cells


def _json_rows(table: SourceTable, order: Sequence[int], extra: Mapping[str, Sequence[Any]]) -> str:
    lines = Path(table.path).suffix.lower() == ".jsonl"
    if lines:
        starts = [table.text.index("{", match.start()) for match in re.finditer(r"(?m)^[ \t\r]*\{", table.text)]
    else:
        at = skip_space(table.text)
        items = member(table.text, at, "items") if table.text[at] == "{" else None
        starts = [start for _, start, _ in members(table.text, items[0] if items else at)]
    objects = []
    for position, row in enumerate(order):
        cells = {key: table.text[a:b] for key, a, b in members(table.text, starts[row])}
        cells |= {heading: json.dumps(v[position], ensure_ascii=False) for heading, v in extra.items()}
        objects.append("{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {v}" for k, v in cells.items()) + "}")
    return _lay_objects(objects, lines=lines)


def _cells(table: SourceTable, order: Sequence[int]) -> dict[str, list[Any]]:
    """Heading -> the values of the rows: numbers where the whole column is, else as the file has them."""
    found: dict[str, list[Any]] = {}
    for name, column in table.columns.items():
        numbers = numbers_of(table, column) if column.written else None
        values = column.values if numbers is None else numbers
        absent = column.missing if numbers is None else np.isnan(numbers)
        found[name] = [None if absent[row] else _plain_value(name, values[row]) for row in order]
    return found
