"""Writing a collection as a table, one row an item."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.files.writing import write_whole
from fabula.errors import FileError, InputError, import_extra
from fabula.sources.tables.cells import is_nested
from fabula.sources.tables.csv_text import csv_text
from fabula.sources.text_files import Script


def write_table(
    path: str | os.PathLike[str], collection: Collection, extra: Mapping[str, Sequence[Any]] | None = None
) -> Path:
    """Write the items of a collection in its order; :func:`read_table` reads the same collection back.

    Columns: position from 1, then id, title, artist and path where any item has them, features, details, extra.
    An extra column replaces a feature or a detail of the same name. A feature that is an array of numbers
    has a column for each, ``name.1``, ``name.2``, ...

    Parameters
    ----------
    path
        A .csv, .json (a list of objects) or .parquet file.
    collection
        What to write.
    extra
        Name -> one value per item, text or number.

    Returns
    -------
    The path written.

    Examples
    --------
    >>> import tempfile
    >>> from fabula.core.collection import Item
    >>> c = Collection("c", [Item("a"), Item("b")], [[0.5], [0.25]], ("energy",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_table(Path(folder) / "new.csv", c, {"target": [1.0, 0.5]}).read_text())
    position,id,energy,target
    1,a,0.5,1
    2,b,0.25,0.5
    <BLANKLINE>
    """
    ending = Path(path).suffix.lower()
    if ending not in (".csv", ".json", ".parquet"):
        raise InputError(f"{path}: a table is written as .csv, .json or .parquet; got {ending or 'no ending'}")
    columns = _columns(collection, extra or {})
    if ending == ".parquet":
        return write_whole(path, as_parquet(columns))
    rows = list(zip(*columns.values(), strict=True))
    text = csv_text(list(columns), rows) if ending == ".csv" else as_json(list(columns), rows)
    return write_text(path, text)


def write_text(path: str | os.PathLike[str], text: str, script: Script | None = None) -> Path:
    """Write the text of a table, whole or not at all; by default in UTF-8.

    Raises
    ------
    FileError
        When it holds what is no text, such as a file name of odd bytes.
    """
    try:
        return write_whole(path, script.encode(text) if script else text.encode())
    except UnicodeEncodeError as error:
        around = error.object[max(error.start - 20, 0) : error.end]
        raise FileError(f"{path}: cannot be written ({around!r} is no text)") from error


def _columns(collection: Collection, extra: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    items = collection.items
    columns: dict[str, list[Any]] = {"position": list(range(1, len(items) + 1)), "id": [item.id for item in items]}
    for name in ("title", "artist", "path"):
        if any(getattr(item, name) for item in items):
            columns[name] = [getattr(item, name) for item in items]
    fixed = set(columns)
    found: dict[str, list[Any]] = {}
    for name in collection.feature_names:
        values = collection.column(name).reshape(len(items), -1)
        several = values.shape[1] > 1
        found |= {f"{name}.{i + 1}" if several else name: values[:, i].tolist() for i in range(values.shape[1])}
    for name in dict.fromkeys(name for item in items for name in item.details):
        found.setdefault(name, [item.details.get(name) for item in items])
    for name, cells in found.items():
        if name not in extra:
            columns[_free(name, columns)] = cells
    for name, column in extra.items():
        if name in fixed:
            raise InputError(f"extra column {name!r} has the name of a column every table has")
        if len(column) != len(items):
            raise InputError(f"extra column {name!r} must have {len(items)} values, one per item; got {len(column)}")
        columns[name] = list(column)
    return {name: [plain_value(name, value) for value in values] for name, values in columns.items()}


def _free(name: str, columns: Mapping[str, Any]) -> str:
    """The name, or with a number behind it where it is taken."""
    number, free = 2, name
    while free in columns:
        number, free = number + 1, f"{name}_{number}"
    return free


def plain_value(name: str, value: Any) -> Any:
    """A value as JSON has it; None for a missing number."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float):
        if math.isinf(plain):
            raise InputError(f"column {name!r} must be finite numbers; got {plain}")
        if math.isnan(plain):
            return None
        return int(plain) if plain.is_integer() and abs(plain) < 2**53 else plain
    return plain if plain is None or isinstance(plain, (str, int)) or is_nested(plain) else str(plain)


def as_parquet(columns: Mapping[str, list[Any]], content: Any = None) -> bytes:
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


def as_json(names: Sequence[str], rows: Sequence[Sequence[Any]], *, lines: bool = False) -> str:
    """Rows as a JSON list of objects, or as JSON lines."""
    objects = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=str) for row in rows]
    return "".join(one + "\n" for one in objects) if lines else "[\n" + ",\n".join(objects) + "\n]\n"
