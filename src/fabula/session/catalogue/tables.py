"""Tables of results, written some rows at a time and whole or not at all: Parquet, CSV, or NumPy's arrays."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from fabula.core.files.writing import check_target, whole_file
from fabula.errors import InputError, import_extra
from fabula.sources.tables.csv_text import guard

Columns = Mapping[str, Any]  # name -> one value per row: an array (rows,), or a list of texts
Write = Callable[[Columns], None]


def check_ending(path: str | Path, endings: tuple[str, ...]) -> Path:
    """Refuse a place or an ending that no table can be written to, before any work is done."""
    target = check_target(path)
    if target.suffix.lower() not in endings:
        raise InputError(f"{target}: the ending must be one of {', '.join(endings)}", field="output")
    return target


@contextmanager
def rows_file(path: str | Path) -> Iterator[Write]:
    """A function that writes some rows, each time with the same columns; the file is there when all are written."""
    kinds = {".parquet": _parquet, ".csv": _csv, ".npz": _npz}
    with whole_file(path) as file, kinds[Path(path).suffix.lower()](file) as write:
        yield write


@contextmanager
def _parquet(file: BinaryIO) -> Iterator[Write]:
    pa = import_extra("pyarrow", extra="tables", purpose="writing Parquet tables")
    pq = import_extra("pyarrow.parquet", extra="tables", purpose="writing Parquet tables")
    writer: Any = None

    def write(columns: Columns) -> None:
        nonlocal writer
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
        writer = pq.ParquetWriter(file, table.schema) if writer is None else writer
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


@contextmanager
def _csv(file: BinaryIO) -> Iterator[Write]:
    header: list[str] = []

    def write(columns: Columns) -> None:
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        if not header:
            header.extend(columns)
            out.writerow(header)
        out.writerows(zip(*map(_cells, columns.values()), strict=True))
        file.write(text.getvalue().encode())

    yield write


def _cells(values: Any) -> list[Any]:
    """Values as CSV has them: a missing number is empty, a text never a formula."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return ["" if value != value else value for value in values.tolist()]
    return [guard(value) if isinstance(value, str) else value for value in values]


@contextmanager
def _npz(file: BinaryIO) -> Iterator[Write]:
    """One array per column; numbers with a dot in their name, such as ``essence.1``, go together into one (rows, d)."""
    parts: dict[str, list[Any]] = {}

    def write(columns: Columns) -> None:
        for name, values in columns.items():
            parts.setdefault(name, []).append(_plain(values))

    yield write
    arrays = {name: np.concatenate(each) for name, each in parts.items()}
    np.savez(file, **_grouped(arrays))


def _plain(values: Any) -> Any:
    """An array that can be read without unpickling."""
    array = np.asarray(values)
    return array.astype(np.str_) if array.dtype == object else array


def _grouped(arrays: Mapping[str, Any]) -> dict[str, Any]:
    several: dict[str, list[Any]] = {}
    for name, array in arrays.items():
        several.setdefault(name.partition(".")[0], []).append(array)
    return {name: each[0] if len(each) == 1 else np.stack(each, axis=1) for name, each in several.items()}
