"""Where a table lies: a file by its ending, a folder of Parquet files, an address, memory; columns of Arrow tables."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Ints
from fabula.core.collections import Cells, Lazy, Texts, as_objects
from fabula.core.files import FilePath, is_guarded, open_file, read_bytes, readable_file
from fabula.errors import FileError, InputError, import_extra
from fabula.media.children import Limits, stream
from fabula.media.registry import item_endings
from fabula.sources.tables.sheets import SHEET_ENDING, read_sheet
from fabula.sources.tables.source_table import Column, Pieces, SourceTable, table_of, text_of
from fabula.sources.tables.text_tables import EXPORT_ENDING, TEXT_READERS, read_export


def table_of_arrow(path: str, content: Any, parts: Sequence[tuple[str, int]] = ()) -> SourceTable:
    """The table of an Arrow table, which it keeps; ``parts`` are the files of a folder and the rows they begin at."""
    pa = import_extra("pyarrow", extra="tables", purpose="reading Arrow tables")
    try:
        columns = [_ArrowColumn(*pair) for pair in zip(content.column_names, content.columns, strict=True)]
    except pa.ArrowException as error:
        raise FileError(f"{path}: cannot be read ({first_line(error)})") from error
    return table_of(path, columns, content.num_rows, content=content, parts=tuple(parts))


def first_line(error: Exception) -> str:
    """What an error of Arrow says, without where in its code that was."""
    return str(error).partition("\n")[0].rstrip(".")


class _ArrowColumn(Column):
    """A column of an Arrow table: what it says of its cells is made of whole arrays."""

    chunks: Any
    arrow: Any
    is_number: bool
    is_nested: bool
    is_text: bool

    def __init__(self, name: str, chunks: Any) -> None:
        pa = import_extra("pyarrow", extra="tables", purpose="reading Arrow tables")
        types = pa.types
        # Dictionaries are taken for what they hold, decimals for floats, dates and times for text.
        if types.is_dictionary(chunks.type):
            chunks = chunks.cast(chunks.type.value_type)
        if types.is_decimal(chunks.type):
            chunks = chunks.cast(pa.float64())
        kind = chunks.type
        number = types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)
        nested = types.is_nested(kind)
        lasting = number or nested or types.is_binary(kind) or types.is_large_binary(kind)
        text = not (lasting or types.is_fixed_size_binary(kind))
        if text and not (types.is_string(kind) or types.is_large_string(kind)):
            chunks = chunks.cast(pa.large_string())
        # A column is frozen, like every column; these are set once.
        self.__dict__.update(name=name, chunks=chunks, arrow=pa, is_number=number, is_nested=nested, is_text=text)

    @cached_property
    def values(self) -> NDArray[Any]:
        """Shape (rows,): numbers and booleans as an array of theirs, all else as objects."""
        if self.is_number:
            return np.asarray(self.chunks.fill_null(False if self.arrow.types.is_boolean(self.chunks.type) else 0))
        cells = self.chunks.to_pylist()
        return np.fromiter(cells, dtype=object, count=len(cells))

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        if self.is_text:
            return np.asarray(self._block.starts == self._block.ends)
        return np.asarray(self.chunks.is_null(nan_is_null=self.is_number).to_numpy())

    @cached_property
    def _block(self) -> Texts:
        return _texts(self.arrow, self.chunks)

    @property
    def empty(self) -> bool:
        if self.chunks.null_count == len(self.chunks):
            return True
        if self.is_number or self.is_text:
            return bool(self.missing[:1].all()) and bool(self.missing.all())
        return False

    def cell(self, row: int) -> Any:
        return self.chunks[row].as_py()

    def rows_of_lists(self) -> Ints:
        return np.flatnonzero(~self.missing) if self.is_nested else np.empty(0, dtype=np.intp)

    def absences(self) -> NDArray[np.bool_]:
        return super().absences() if self.is_text else np.zeros(len(self.chunks), dtype=np.bool_)

    def texts(self, *, identity: bool = False) -> Cells:
        return self._block if self.is_text else _ArrowCells(self.chunks, text_of)  # no number has a ".0" anyway

    def details(self) -> Cells:
        return _ArrowCells(self.chunks, None) if self.is_nested else self.texts()

    @cached_property
    def distinct(self) -> tuple[Ints, Cells]:
        if not (self.is_text or self.is_number):
            return super().distinct
        bare = self.chunks.fill_null("") if self.is_text else self.chunks  # no text is "", and no number is none
        if self.arrow.types.is_floating(self.chunks.type):  # -0.0 is 0
            bare = self.arrow.chunked_array([np.where(self.missing, np.nan, self.values) + 0.0])
        coded = _join(self.arrow, bare).dictionary_encode(null_encoding="encode")
        known = self.arrow.chunked_array([coded.dictionary])
        texts = _texts(self.arrow, known) if self.is_text else _ArrowCells(known, text_of)
        return coded.indices.to_numpy(), texts

    def numbers(self) -> Pieces | None:
        if not self.is_number:
            return None
        return [self._numbers(chunk) for chunk in self.chunks.chunks]

    def _numbers(self, chunk: Any) -> NDArray[Any]:
        if chunk.null_count or self.arrow.types.is_boolean(chunk.type):
            chunk = chunk.cast(self.arrow.float64(), safe=False)
        return np.asarray(chunk.to_numpy(zero_copy_only=False))

    def vectors(self) -> Pieces | None:
        types, kind = self.arrow.types, self.chunks.type
        lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        if not lists or not (types.is_integer(kind.value_type) or types.is_floating(kind.value_type)):
            return None
        compute = import_extra("pyarrow.compute", extra="tables", purpose="reading Arrow tables")
        sizes = compute.unique(compute.list_value_length(self.chunks).drop_null()).to_pylist()
        if len(sizes) != 1 or not sizes[0]:
            return None
        return [self._vectors(chunk, sizes[0]) for chunk in self.chunks.chunks]

    def _vectors(self, chunk: Any, width: int) -> NDArray[Any]:
        flat = chunk.flatten()  # without the lists that are missing
        flat = flat.cast(self.arrow.float64(), safe=False) if flat.null_count else flat
        found = flat.to_numpy(zero_copy_only=False).reshape(-1, width)
        if not chunk.null_count:
            return np.asarray(found)
        whole = np.full((len(chunk), width), np.nan)
        whole[chunk.is_valid().to_numpy(zero_copy_only=False)] = found
        return whole


class _ArrowCells(Lazy[Any]):
    """Cells of an Arrow column, made (by ``shown``, where given) when asked for; "" where missing."""

    __slots__ = ("chunks", "shown")

    def __init__(self, chunks: Any, shown: Callable[[Any], Any] | None) -> None:
        self.chunks, self.shown = chunks, shown

    def __len__(self) -> int:
        return len(self.chunks)

    def tolist(self) -> list[Any]:
        show = self.shown or (lambda cell: cell)
        cells = self.chunks.to_pylist()
        return ["" if cell is None or (type(cell) is float and cell != cell) else show(cell) for cell in cells]

    def part(self, rows: slice | Ints) -> _ArrowCells:
        return _ArrowCells(self.chunks[rows] if isinstance(rows, slice) else self.chunks.take(rows), self.shown)

    def __reduce__(self) -> tuple[Any, ...]:
        # A part travels with its own cells; Arrow would send the whole buffers.
        return as_objects, (self.tolist(),)


def _join(pa: Any, chunks: Any) -> Any:
    """A chunked array as one array."""
    if chunks.num_chunks == 1:
        return chunks.chunk(0)
    if not chunks.num_chunks:
        return pa.array([], chunks.type)
    if pa.types.is_string(chunks.type) and chunks.nbytes >= 2**31:
        chunks = chunks.cast(pa.large_string())
    return pa.concat_arrays(chunks.chunks)


def _texts(pa: Any, chunks: Any) -> Texts:
    """A column of text as its buffers hold it."""
    array = _join(pa, chunks.fill_null("") if chunks.null_count else chunks)
    _, where, data = array.buffers()
    width = np.int64 if pa.types.is_large_string(array.type) else np.int32
    offsets = np.zeros(len(array) + 1, width)
    if where is not None and where.size:
        offsets = np.frombuffer(where, dtype=width)[array.offset : array.offset + len(array) + 1]
    block = np.empty(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return Texts(block, offsets[:-1], offsets[1:])


# Where a table lies: a file by its ending, a folder of Parquet files, either at an address, or memory.

SCHEMES = ("s3", "gs", "gcs", "abfs", "az", "hf", "https", "http", "ftp", "sftp", "memory")
ENDING = ".parquet"
TABLE_ENDINGS = (*TEXT_READERS, ENDING, SHEET_ENDING)
NAME = "table"  # what errors call it
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//?)(?=[^/]|$)")  # a Path keeps one slash of the two
_AT_A_TIME = 100_000  # rows of a table that is read through
_BYTES_AT_A_TIME = 8 << 20  # of these, as the file counts them
# Bytes that a Parquet file may unpack to: any; one that is larger, times its size; on the page; at an address.
_MOST_UNPACKED, _TIMES, _MOST_GUARDED, _MOST_AWAY = 384 << 20, 100, 256 << 20, 64 << 30
_WIDTHS = {"BOOLEAN": 0.125, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 8, "BYTE_ARRAY": 4}  # bytes
_INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls row labels without a name
_Open = Callable[[], AbstractContextManager[Any]]


def read_columns(path: FilePath | Any) -> SourceTable:
    """Read a table: a file by the ending of its name, a folder of Parquet files, either at an address, or a frame.

    A table that was read before is given back, so that it need not be read twice.
    """
    if isinstance(path, SourceTable):
        return path
    table = _read_path(path) if isinstance(path, (str, os.PathLike)) else read_frame(path)
    if not table.count:
        raise FileError(f"{table.path}: the table has no rows")
    return table


def is_table_folder(path: FilePath) -> bool:
    """Whether a folder holds a table in Parquet files, and no file that is an item of a medium."""
    if not parts_of(path):
        return False
    endings = item_endings() - set(TABLE_ENDINGS)
    return not any(file.suffix.lower() in endings for file in Path(path).iterdir())


def is_table(path: FilePath) -> bool:
    """Whether a path is that of a table: by its ending, as a folder of Parquet files, or as an address."""
    if address_of(path) is not None or is_table_folder(path):
        return True
    return Path(path).suffix.lower() in TABLE_ENDINGS and not Path(path).is_dir()


def _read_path(path: FilePath) -> SourceTable:
    address, ending = address_of(path), Path(path).suffix.lower()
    if address is not None:
        place = Place(address)
        if ending in TEXT_READERS:
            return TEXT_READERS[ending](address, place.bytes())
        if names := place.names(ENDING):
            return _table(address, [(Path(name).name, name, partial(place.open, name)) for name in names])
        if ending == ENDING:
            return _table(address, [("", address, place.open)])
    elif parts := parts_of(path):
        return _table(os.fspath(path), [(file.name, str(file), None) for file in parts])
    elif ending == ENDING:
        if not readable_file(path).stat().st_size:
            raise FileError(f"{path}: the file is empty")
        return _table(os.fspath(path), [("", os.fspath(path), None)])
    elif ending == SHEET_ENDING:
        return read_sheet(readable_file(path))
    elif ending in TEXT_READERS or ending == EXPORT_ENDING:
        return (TEXT_READERS.get(ending) or read_export)(path, read_bytes(path))
    else:
        readable_file(path)
    raise InputError(f"{path}: a table must end in one of {', '.join(TABLE_ENDINGS)}; got {ending or 'no ending'}")


# Parquet: a file, a folder of files that are one table (a column that one of them lacks is empty), or an address.


def parts_of(folder: FilePath) -> list[Path]:
    """The Parquet files that lie in a folder, by name; none where it is no folder."""
    if not Path(folder).is_dir():
        return []
    return sorted(f for f in Path(folder).iterdir() if f.suffix.lower() == ENDING and f.is_file() and _is_part(f.name))


def count_parquet(path: str) -> tuple[int, int, int]:
    """Rows, columns and bytes once unpacked, as a Parquet file says them: what a child is asked for."""
    with read_parquet_file(path, partial(open_file, path)) as file:
        about = file.metadata
        unpacked = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
        return about.num_rows, about.num_columns, unpacked


@contextmanager
def read_parquet_file(name: str, opener: _Open) -> Iterator[Any]:
    """A Parquet file, open; one line for what is wrong with it."""
    arrow = _arrow()
    parquet = import_extra("pyarrow.parquet", extra="tables", purpose="reading Parquet tables")
    try:
        with opener() as data:
            yield parquet.ParquetFile(data)
    except MemoryError:  # of Arrow, too
        raise FileError(f"{name}: needs more memory to be unpacked than it may take") from None
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FileError(f"{name}: is not a Parquet file that can be read ({first_line(error)})") from error


def unpack_parquet(path: str, most: int) -> Iterator[memoryview]:
    """A Parquet file some rows at a time, each as a stream of Arrow, the first without rows: what a child is asked for.

    Refused where it unpacks to more than ``most`` bytes: numbers are counted before anything is decoded.
    """
    arrow = _arrow()
    with read_parquet_file(path, partial(open_file, path)) as file:
        for part in _unpack(file, path, most):
            out = arrow.BufferOutputStream()
            with arrow.ipc.new_stream(out, part.schema) as writer:
                writer.write_table(part)
            yield memoryview(out.getvalue())


def _unpack(file: Any, name: str, most: int) -> Iterator[Any]:
    """Tables of some rows each, the first of none; refused where they are too much together."""
    about = file.metadata
    chunks = [about.row_group(k).column(i) for k in range(about.num_row_groups) for i in range(about.num_columns)]
    size = sum(one.num_values * _WIDTHS.get(one.physical_type, 1) for one in chunks)
    _check_unpacked(name, size, most)
    yield file.schema_arrow.empty_table()
    size = 0
    unpacked = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
    some = max(1, min(_AT_A_TIME, _BYTES_AT_A_TIME * about.num_rows // max(1, unpacked)))  # rows of long texts are few
    for batch in file.iter_batches(batch_size=some):
        size += batch.nbytes
        _check_unpacked(name, size, most)
        yield _arrow().Table.from_batches([batch]).cast(file.schema_arrow)


def _check_unpacked(name: str, size: int, most: int) -> None:
    if size > most:
        raise FileError(f"{name}: unpacks to {size >> 20:,} MB and more, and may to {most >> 20:,} MB")


def _read_parquet(name: str, opener: _Open | None) -> Any:
    """The whole table in a file: of this machine in a child, of an address here."""
    arrow = _arrow()
    if opener is not None:
        with read_parquet_file(name, opener) as file:
            return arrow.concat_tables(_unpack(file, name, _MOST_AWAY))
    size = readable_file(name).stat().st_size
    most = _MOST_GUARDED if is_guarded() else max(_MOST_UNPACKED, _TIMES * size)
    limits = Limits(memory=(512 << 20) + 2 * size)
    return arrow.concat_tables(
        arrow.ipc.open_stream(arrow.py_buffer(part)).read_all()
        for part in stream(unpack_parquet, name, most, limits=limits)
    )


def _table(path: str, files: Sequence[tuple[str, str, _Open | None]]) -> SourceTable:
    """The table of files, each with its name in the folder, its full name, and what opens it where it is elsewhere."""
    arrow = _arrow()
    tables, parts, count = [], [], 0
    for name, full, opener in files:
        parts.append((name, count))
        tables.append(_read_parquet(full, opener))
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


# Files at an address (``s3://``, ``https://``, ``memory://``, ...), read by fsspec where it is installed.


def address_of(path: FilePath) -> str | None:
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
    return not Path(name).name.startswith((".", "_"))


# Tables that are in memory already: Arrow tables, frames of pandas and polars, datasets of Hugging Face.


def read_frame(data: Any) -> SourceTable:
    """The columns of a table in memory; whatever has ``__arrow_c_stream__`` is one."""
    pa = import_extra("pyarrow", extra="tables", purpose="reading frames")
    content: Any = None
    try:
        if hasattr(data, "with_format") and not isinstance(data, dict):
            shaped = data.with_format("arrow")
            sized = hasattr(data, "__len__")
            content = shaped[:] if sized else pa.concat_tables(shaped.iter(batch_size=_AT_A_TIME))
        elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
            content = pa.table(data)
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
