"""Columns of Arrow tables: numbers and text as the buffers hold them, no Python object per row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Ints
from fabula.core.collections import Cells, Lazy, Texts, as_objects
from fabula.errors import FileError, import_extra
from fabula.sources.tables.source_table import Column, Numbers, SourceTable, table_of, text_of


def table_of_arrow(path: str, content: Any, parts: Sequence[tuple[str, int]] = ()) -> SourceTable:
    """The table of an Arrow table, which it keeps; ``parts`` are the files of a folder and the rows they begin at."""
    pa = import_extra("pyarrow", extra="tables", purpose="reading Arrow tables")
    try:
        columns = [ArrowColumn(*pair) for pair in zip(content.column_names, content.columns, strict=True)]
    except pa.ArrowException as error:
        raise FileError(f"{path}: cannot be read ({first_line(error)})") from error
    return replace(table_of(path, columns, content.num_rows), content=content, parts=tuple(parts))


def first_line(error: Exception) -> str:
    """What an error of Arrow says, without where in its code that was."""
    return str(error).partition("\n")[0].rstrip(".")


class ArrowColumn(Column):
    """A column of an Arrow table.

    Dictionaries are taken for what they hold, decimals for floats, and what is neither number, text, list nor bytes
    (dates, times) for text.
    """

    written = False
    decimal_comma = False
    chunks: Any
    arrow: Any
    is_number: bool
    is_nested: bool
    is_text: bool

    def __init__(self, name: str, chunks: Any) -> None:
        pa = import_extra("pyarrow", extra="tables", purpose="reading Arrow tables")
        types = pa.types
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
        """Shape (rows,): where a cell is empty."""
        if self.is_text:
            return np.asarray(self._block.starts == self._block.ends)
        return np.asarray(self.chunks.is_null(nan_is_null=self.is_number).to_numpy())

    @cached_property
    def _block(self) -> Texts:
        return _texts(self.arrow, self.chunks)

    @property
    def empty(self) -> bool:
        """Whether no cell has a value."""
        if self.chunks.null_count == len(self.chunks):
            return True
        if self.is_number or self.is_text:
            return bool(self.missing[:1].all()) and bool(self.missing.all())
        return False

    def cell(self, row: int) -> Any:
        """One cell."""
        return self.chunks[row].as_py()

    def rows_of_lists(self) -> Ints:
        """The rows whose cells are lists or objects."""
        return np.flatnonzero(~self.missing) if self.is_nested else np.empty(0, dtype=np.intp)

    def absences(self) -> NDArray[np.bool_]:
        """Where a cell says NA, -, null or the like, shape (rows,)."""
        return super().absences() if self.is_text else np.zeros(len(self.chunks), dtype=np.bool_)

    def texts(self, *, identity: bool = False) -> Cells:
        """The cells as text, made when asked for; no number has a ".0" anyway."""
        return self._block if self.is_text else ArrowCells(self.chunks, text_of)

    def details(self) -> Cells:
        """The cells as the details of items, made when asked for."""
        return ArrowCells(self.chunks, None) if self.is_nested else self.texts()

    @cached_property
    def distinct(self) -> tuple[Ints, Cells]:
        """The number of each cell's text (rows,), counted in the order in which they first stand, and the texts."""
        if not (self.is_text or self.is_number):
            return super().distinct
        bare = self.chunks.fill_null("") if self.is_text else self.chunks  # no text is "", and no number is none
        if self.arrow.types.is_floating(self.chunks.type):  # -0.0 is 0
            bare = self.arrow.chunked_array([np.where(self.missing, np.nan, self.values) + 0.0])
        coded = _join(self.arrow, bare).dictionary_encode(null_encoding="encode")
        known = self.arrow.chunked_array([coded.dictionary])
        texts = _texts(self.arrow, known) if self.is_text else ArrowCells(known, text_of)
        return coded.indices.to_numpy(), texts

    def numbers(self) -> Numbers | None:
        """The cells as numbers, in the pieces of the file; None for what is no column of numbers."""
        if not self.is_number:
            return None
        return Numbers(tuple(self._numbers(chunk) for chunk in self.chunks.chunks))

    def _numbers(self, chunk: Any) -> NDArray[Any]:
        if chunk.null_count or self.arrow.types.is_boolean(chunk.type):
            chunk = chunk.cast(self.arrow.float64(), safe=False)
        return np.asarray(chunk.to_numpy(zero_copy_only=False))

    def vectors(self) -> Numbers | None:
        """The cells as vectors of one length, NaN where missing; None when they are not lists of as many numbers."""
        types, kind = self.arrow.types, self.chunks.type
        lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        if not lists or not (types.is_integer(kind.value_type) or types.is_floating(kind.value_type)):
            return None
        compute = import_extra("pyarrow.compute", extra="tables", purpose="reading Arrow tables")
        sizes = compute.unique(compute.list_value_length(self.chunks).drop_null()).to_pylist()
        if len(sizes) != 1 or not sizes[0]:
            return None
        return Numbers(tuple(self._vectors(chunk, sizes[0]) for chunk in self.chunks.chunks))

    def _vectors(self, chunk: Any, width: int) -> NDArray[Any]:
        flat = chunk.flatten()  # without the lists that are missing
        flat = flat.cast(self.arrow.float64(), safe=False) if flat.null_count else flat
        found = flat.to_numpy(zero_copy_only=False).reshape(-1, width)
        if not chunk.null_count:
            return np.asarray(found)
        whole = np.full((len(chunk), width), np.nan)
        whole[chunk.is_valid().to_numpy(zero_copy_only=False)] = found
        return whole


class ArrowCells(Lazy[Any]):
    """Cells of an Arrow column, made (by ``shown``, where given) when asked for; "" where missing."""

    __slots__ = ("chunks", "shown")

    def __init__(self, chunks: Any, shown: Callable[[Any], Any] | None) -> None:
        self.chunks, self.shown = chunks, shown

    def __len__(self) -> int:
        return len(self.chunks)

    def tolist(self) -> list[Any]:
        """The cells."""
        show = self.shown or (lambda cell: cell)
        cells = self.chunks.to_pylist()
        return ["" if cell is None or (type(cell) is float and cell != cell) else show(cell) for cell in cells]

    def part(self, rows: slice | Ints) -> ArrowCells:
        """The cells of some rows."""
        return ArrowCells(self.chunks[rows] if isinstance(rows, slice) else self.chunks.take(rows), self.shown)

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
