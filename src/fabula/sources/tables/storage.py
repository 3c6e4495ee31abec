"""Where a table lies: a file by its ending, a folder of Parquet files, either at an address, or memory."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from fabula.core.files import read_bytes, readable_file
from fabula.errors import FileError, InputError, import_extra
from fabula.media.registry import item_endings
from fabula.sources.tables.arrow import first_line, table_of_arrow
from fabula.sources.tables.source_table import SourceTable
from fabula.sources.tables.text_tables import TEXT_READERS

SCHEMES = ("s3", "gs", "gcs", "abfs", "az", "hf", "https", "http", "ftp", "sftp", "memory")
ENDING = ".parquet"
TABLE_ENDINGS = (*TEXT_READERS, ENDING)
NAME = "table"  # what errors call it
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//?)(?=[^/]|$)")  # a Path keeps one slash of the two
_AT_A_TIME = 100_000  # rows of a dataset that is read through
_INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls row labels without a name
_Open = Callable[[], AbstractContextManager[Any]]


def read_columns(path: str | os.PathLike[str] | Any) -> SourceTable:
    """Read a table: a file by the ending of its name, a folder of Parquet files, either at an address, or a frame.

    A table that was read before is given back, so that it need not be read twice.
    """
    if isinstance(path, SourceTable):
        return path
    table = _read_path(path) if isinstance(path, (str, os.PathLike)) else read_frame(path)
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


def _read_path(path: str | os.PathLike[str]) -> SourceTable:
    address, ending = address_of(path), Path(path).suffix.lower()
    if address is not None:
        place = Place(address)
        if ending in TEXT_READERS:
            return TEXT_READERS[ending](address, place.bytes())
        if names := place.names(ENDING):
            return _table(address, [(_last(name), name, partial(place.open, name)) for name in names])
        if ending == ENDING:
            return _table(address, [("", address, place.open)])
    elif parts := parts_of(path):
        return _table(os.fspath(path), [(file.name, str(file), _local(file)) for file in parts])
    elif ending == ENDING:
        if not readable_file(path).stat().st_size:
            raise FileError(f"{path}: the file is empty")
        return _table(os.fspath(path), [("", os.fspath(path), _local(path))])
    elif ending in TEXT_READERS:
        return TEXT_READERS[ending](path, read_bytes(path))
    else:
        readable_file(path)
    raise InputError(f"{path}: a table must end in one of {', '.join(TABLE_ENDINGS)}; got {ending or 'no ending'}")


# Parquet: a file, a folder of files that are one table (a column that one of them lacks is empty), or an address.


def parts_of(folder: str | os.PathLike[str]) -> list[Path]:
    """The Parquet files that lie in a folder, by name; none where it is no folder."""
    if not Path(folder).is_dir():
        return []
    return sorted(f for f in Path(folder).iterdir() if f.suffix.lower() == ENDING and f.is_file() and _is_part(f.name))


def _local(path: str | os.PathLike[str]) -> _Open:
    return lambda: _arrow().OSFile(os.fsencode(path))


def _table(path: str, files: Sequence[tuple[str, str, _Open]]) -> SourceTable:
    """The table of files, each with its name in the folder, its full name, and what opens it."""
    arrow = _arrow()
    parquet = import_extra("pyarrow.parquet", extra="tables", purpose="reading Parquet tables")
    tables, parts, count = [], [], 0
    for name, full, opened in files:
        parts.append((name, count))
        try:
            with opened() as data:
                tables.append(parquet.ParquetFile(data).read())
        except (arrow.ArrowException, OSError) as error:
            raise FileError(f"{full}: is not a Parquet file that can be read ({first_line(error)})") from error
        count += tables[-1].num_rows
    if len(tables) == 1:
        return table_of_arrow(path, tables[0], parts if parts[0][0] else ())
    try:
        content = arrow.concat_tables(tables, promote_options="permissive")
    except arrow.ArrowException as error:
        raise FileError(f"{path}: its files do not agree ({first_line(error)})") from error
    return table_of_arrow(path, content, parts)


def _arrow() -> Any:
    return import_extra("pyarrow", extra="tables", purpose="reading Parquet tables")


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]


# Files at an address (``s3://``, ``https://``, ``memory://``, ...), read by fsspec where it is installed.


def address_of(path: str | os.PathLike[str]) -> str | None:
    """The address that a path is; None for a file or folder of this machine."""
    text = os.fspath(path)
    found = _ADDRESS.match(text)
    if found is None or (found[2] == "/" and (isinstance(path, str) or os.path.lexists(path))):
        return None
    return f"{found[1]}://{text[found.end() :]}"


class Place:
    """An address of a file, or of a folder of files, opened by fsspec."""

    def __init__(self, address: str) -> None:
        self.address = address
        fsspec = import_extra("fsspec", extra="remote", purpose="reading from an address")
        try:
            self._files, self._path = fsspec.core.url_to_fs(address)
        except ImportError as error:  # the package of this kind of address
            raise FileError(f"{address}: {first_line(error)}") from error
        except (ValueError, OSError) as error:
            raise FileError(f"{address}: cannot be read ({first_line(error)})") from error

    def names(self, ending: str) -> list[str]:
        """The files of a folder with an ending, sorted; none where the address is no folder."""
        with self._explain():
            if Path(self._path).suffix.lower() == ending or not self._files.isdir(self._path):
                return []
            found = self._files.ls(self._path, detail=False)
        return sorted(name for name in found if name.lower().endswith(ending) and _is_part(name))

    def bytes(self) -> bytes:
        """All that the file holds."""
        with self._explain():
            data: bytes = self._files.cat_file(self._path)
        return data

    def stamp(self) -> tuple[int, str]:
        """Size of the file, and a digest of what the file system says of it."""
        with self._explain():
            about = self._files.info(self._path)
            mark = about.get("ETag") or about.get("etag") or self._files.ukey(self._path)
            return int(about["size"]), hashlib.sha256(str(mark).encode()).hexdigest()

    def open(self, name: str | None = None) -> Any:
        """The file, or one of the folder, to read from."""
        with self._explain():
            return self._files.open(name or self._path, "rb")

    @contextmanager
    def _explain(self) -> Iterator[None]:
        """Say in one line why it cannot be read; each kind of address has errors of its own."""
        try:
            yield
        except FileNotFoundError as error:
            raise FileError(f"{self.address}: does not exist") from error
        except Exception as error:
            raise FileError(f"{self.address}: cannot be read ({first_line(error) or type(error).__name__})") from error


def _is_part(name: str) -> bool:
    """Whether a file of a folder is one of its parts: programs put ``_SUCCESS`` and hidden files beside them."""
    return not _last(name).startswith((".", "_"))


# Tables that are in memory already: Arrow tables, frames of pandas and polars, datasets of Hugging Face.


def read_frame(data: Any) -> SourceTable:
    """The columns of a table in memory; whatever has ``__arrow_c_stream__`` is one."""
    pa = import_extra("pyarrow", extra="tables", purpose="reading frames")
    try:
        content = _as_arrow(pa, data)
    except pa.ArrowException as error:
        raise FileError(f"{NAME}: cannot be read ({first_line(error)})") from error
    if content is None:
        hint = "; collect() it first" if hasattr(data, "collect") else ""
        if isinstance(data, dict) and hasattr(data, "with_format"):
            hint = f"; choose one of its splits: {', '.join(map(repr, data))}"
        raise InputError(
            "a table must be a path, an address, an Arrow table, a frame or a dataset; "
            f"got {type(data).__module__}.{type(data).__qualname__}{hint}"
        )
    labels = [name for name in content.column_names if _INDEX.fullmatch(name)]
    return table_of_arrow(NAME, content.drop_columns(labels) if labels else content)


def _as_arrow(pa: Any, data: Any) -> Any:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "with_format") and not isinstance(data, dict):
        shaped = data.with_format("arrow")
        if hasattr(data, "__len__"):
            return shaped[:]
        return pa.concat_tables(shaped.iter(batch_size=_AT_A_TIME))
    return pa.table(data) if hasattr(data, "__arrow_c_stream__") else None
