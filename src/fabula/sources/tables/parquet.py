"""Parquet: a file, a folder of files that are one table, and either at an address."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from fabula.errors import FileError, import_extra
from fabula.sources.tables.arrow import table_of_arrow
from fabula.sources.tables.columns import SourceTable
from fabula.sources.tables.remote import Place, is_part
from fabula.sources.text_files import readable_file

ENDING = ".parquet"
_Open = Callable[[], AbstractContextManager[Any]]


def read_parquet(path: str | os.PathLike[str]) -> SourceTable:
    """Read a Parquet file."""
    if not readable_file(path).stat().st_size:
        raise FileError(f"{path}: the file is empty")
    return _table(os.fspath(path), [("", os.fspath(path), _local(path))])


def read_parquet_folder(path: str | os.PathLike[str]) -> SourceTable:
    """Read the Parquet files of a folder as one table, by their names; a column that one of them lacks is empty."""
    files = parts_of(path)
    return _table(os.fspath(path), [(file.name, str(file), _local(file)) for file in files])


def read_parquet_at(place: Place) -> SourceTable:
    """Read a Parquet file at an address, or those of a folder there."""
    names = place.names(ENDING)
    if not names:
        return _table(place.address, [("", place.address, place.open)])
    return _table(place.address, [(_last(name), name, partial(place.open, name)) for name in names])


def parts_of(folder: str | os.PathLike[str]) -> list[Path]:
    """The Parquet files that lie in a folder, by name; none where it is no folder."""
    if not Path(folder).is_dir():
        return []
    return sorted(f for f in Path(folder).iterdir() if f.suffix.lower() == ENDING and f.is_file() and is_part(f.name))


def _local(path: str | os.PathLike[str]) -> _Open:
    return lambda: _arrow().OSFile(os.fsencode(path))


def _table(path: str, files: Sequence[tuple[str, str, _Open]]) -> SourceTable:
    """The table of files, each with its name in the folder, its full name, and what opens it."""
    tables, parts, count = [], [], 0
    for name, full, opened in files:
        parts.append((name, count))
        tables.append(_read(full, opened))
        count += tables[-1].num_rows
    if len(tables) == 1:
        return table_of_arrow(path, tables[0], parts if parts[0][0] else ())
    try:
        content = _arrow().concat_tables(tables, promote_options="permissive")
    except _arrow().ArrowException as error:
        raise FileError(f"{path}: its files do not agree ({_reason(error)})") from error
    return table_of_arrow(path, content, parts)


def _read(full: str, opened: _Open) -> Any:
    arrow = _arrow()
    parquet = import_extra("pyarrow.parquet", extra="tables", purpose="reading Parquet tables")
    try:
        with opened() as data:
            return parquet.ParquetFile(data).read()
    except (arrow.ArrowException, OSError) as error:
        raise FileError(f"{full}: is not a Parquet file that can be read ({_reason(error)})") from error


def _arrow() -> Any:
    return import_extra("pyarrow", extra="tables", purpose="reading Parquet tables")


def _reason(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]
