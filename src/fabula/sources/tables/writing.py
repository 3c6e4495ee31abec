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
from fabula.core.writing import write_whole
from fabula.errors import FileError, InputError, import_extra
from fabula.sources.tables.columns import is_nested, text_of


def write_table(
    path: str | os.PathLike[str], collection: Collection, extra: Mapping[str, Sequence[Any]] | None = None
) -> Path:
    """Write the items of a collection in its order; :func:`read_table` reads the same collection back.

    Columns: position from 1, then id, title, artist and path where any item has them, features, details, extra.
    An extra column takes the place of a feature or a detail of the same name. A feature that is an array of numbers
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
        return write_whole(path, _as_parquet(columns))
    rows = list(zip(*columns.values(), strict=True))
    text = _as_csv(list(columns), rows) if ending == ".csv" else _as_json(list(columns), rows)
    try:
        return write_whole(path, text.encode())
    except UnicodeEncodeError as error:
        raise FileError(
            f"{path}: cannot be written ({error.object[error.start - 20 : error.end]!r} is no text)"
        ) from error


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
    return {name: [_plain(name, value) for value in values] for name, values in columns.items()}


def _free(name: str, columns: Mapping[str, Any]) -> str:
    """The name, or with a number behind it where it is taken."""
    number, free = 2, name
    while free in columns:
        number, free = number + 1, f"{name}_{number}"
    return free


def _plain(name: str, value: Any) -> Any:
    """A value as JSON has it; None for a missing number."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float):
        if math.isinf(plain):
            raise InputError(f"column {name!r} must be finite numbers; got {plain}")
        if math.isnan(plain):
            return None
        return int(plain) if plain.is_integer() and abs(plain) < 2**53 else plain
    return plain if plain is None or isinstance(plain, (str, int)) or is_nested(plain) else str(plain)


def _as_csv(names: list[str], rows: list[tuple[Any, ...]]) -> str:
    lines = [names, *([_cell(value) for value in row] for row in rows)]
    return "".join(",".join(map(_quoted, line)) + "\n" for line in lines)


def _cell(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str) if is_nested(value) else text_of(value)


def _quoted(cell: str) -> str:
    """A cell in quotes where it holds a separator or a line break; semicolons and tabs, so that none is guessed."""
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',;\t"\r\n') else cell


def _as_parquet(columns: Mapping[str, list[Any]]) -> bytes:
    pa = import_extra("pyarrow", extra="tables", purpose="writing Parquet tables")
    pq = import_extra("pyarrow.parquet", extra="tables", purpose="writing Parquet tables")
    mixed = {
        name: values if not any(isinstance(v, str) for v in values) else [v if v is None else str(v) for v in values]
        for name, values in columns.items()
    }
    buffer = io.BytesIO()
    pq.write_table(pa.table(mixed), buffer)
    return buffer.getvalue()


def _as_json(names: list[str], rows: list[tuple[Any, ...]]) -> str:
    objects = (dict(zip(names, row, strict=True)) for row in rows)
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False, default=str) for row in objects) + "\n]\n"
