"""Where a table lies: a file by its ending, a folder of Parquet files, either at an address, or memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fabula.errors import FileError, InputError
from fabula.media.registry import item_endings
from fabula.sources.tables.columns import SourceTable
from fabula.sources.tables.frames import read_frame
from fabula.sources.tables.parquet import ENDING as PARQUET
from fabula.sources.tables.parquet import parts_of, read_parquet, read_parquet_at, read_parquet_folder
from fabula.sources.tables.remote import Place, address_of
from fabula.sources.tables.text_tables import TEXT_READERS
from fabula.sources.text_files import read_bytes, readable_file

TABLE_ENDINGS = (*TEXT_READERS, PARQUET)


def read_columns(path: str | os.PathLike[str] | Any) -> SourceTable:
    """Read a table: a file by the ending of its name, a folder of Parquet files, either at an address, or a frame.

    A table that was read before is given back, so that it need not be read twice.

    Raises
    ------
    FileError
        When it cannot be read, is not what its ending says, or holds no row.
    InputError
        When the ending is unknown.
    """
    if isinstance(path, SourceTable):
        return path
    table = _read(path) if isinstance(path, (str, os.PathLike)) else read_frame(path)
    if not table.count:
        raise FileError(f"{table.path}: the table has no rows")
    return table


def is_table_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a table in Parquet files, and no file that is an item of a medium."""
    if not parts_of(path):
        return False
    endings = item_endings() - set(TABLE_ENDINGS)
    return not any(file.suffix.lower() in endings for file in Path(path).iterdir())


def is_table(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a table: by its ending, as a folder of Parquet files, or as an address."""
    if address_of(path) is not None or is_table_folder(path):
        return True
    return Path(path).suffix.lower() in TABLE_ENDINGS and not Path(path).is_dir()


def _read(path: str | os.PathLike[str]) -> SourceTable:
    address, ending = address_of(path), Path(path).suffix.lower()
    if address is not None:
        place = Place(address)
        if ending in TEXT_READERS:
            return TEXT_READERS[ending](address, place.bytes())
        if ending == PARQUET or place.names(PARQUET):
            return read_parquet_at(place)
    elif parts_of(path):
        return read_parquet_folder(path)
    elif ending == PARQUET:
        return read_parquet(path)
    elif ending in TEXT_READERS:
        return TEXT_READERS[ending](path, read_bytes(path))
    else:
        readable_file(path)
    raise InputError(f"{path}: a table must end in one of {', '.join(TABLE_ENDINGS)}; got {ending or 'no ending'}")
