"""Pieces of a Parquet table: where collections begin, and the rows of a piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.ordering import Ints
from fabula.errors import FileError, InputError
from fabula.sources.tables.remote import Place, address_of

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


@contextmanager
def opened(path: str) -> Iterator[pq.ParquetFile]:
    """A Parquet file on a disk or at an address, to be read in pieces.

    Raises
    ------
    FileError
        When it is none.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if address_of(path) is not None:
            with Place(path).open() as content:
                yield pq.ParquetFile(content)
            return
        with pq.ParquetFile(path, memory_map=True) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise FileError(f"{path}: is not a Parquet file that can be read ({reason})") from error


def has_column(path: str, name: str) -> bool:
    """Whether a table has a column."""
    with opened(path) as file:
        return name in file.schema_arrow.names


def starts_of(path: str, file: Any, column: str) -> Ints:
    """The rows at which collections begin, and the number of rows; reads one column, a batch at a time.

    Raises
    ------
    InputError
        When the rows of a collection do not stand together.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    starts: list[Ints] = []
    firsts: list[Any] = []
    begun, last = 0, None
    for batch in file.iter_batches(batch_size=1 << 17, columns=[column]):
        ids = batch.column(0)
        if ids.null_count:
            row = begun + int(np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))[0])
            raise FileError(f"{path}: row {row + 1}, column {column!r}: must name the collection; it is empty")
        new = np.ones(len(ids), dtype=bool)
        new[1:] = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).to_numpy(zero_copy_only=False)
        new[0] = last is None or ids[0] != last
        at = np.flatnonzero(new)
        starts.append(at + begun)
        firsts.append(ids.take(pa.array(at)))
        begun, last = begun + len(ids), ids[len(ids) - 1]
    found = pa.chunked_array(firsts)
    if len(found.unique()) < len(found):
        counts = found.value_counts()
        twice = next(one["values"].as_py() for one in counts if one["counts"].as_py() > 1)
        raise InputError(
            f"{path}: the rows of collection {twice!r} do not stand together; sort the table by {column!r} first"
        )
    return np.concatenate([*starts, [begun]]).astype(np.intp)


def read_rows(
    file: Any, rows: tuple[int, int], headings: Sequence[str], where: Mapping[str, str]
) -> tuple[pa.Table, Ints]:
    """Rows of an open table, some columns of them; reads the row groups they lie in.

    Parameters
    ----------
    file
        Open, see :func:`opened`.
    rows
        The first, and the one behind the last.
    headings
        The columns.
    where
        Column -> value: keep the rows that have it; ``""`` is a missing value.

    Returns
    -------
    The rows, and the number of each in the file, from 0.

    Raises
    ------
    InputError
        When a column is not there.
    """
    wanted = dict.fromkeys([*headings, *where])
    absent = [name for name in wanted if name not in file.schema_arrow.names]
    if absent:
        raise InputError(f"the table lacks the column(s) {', '.join(absent)}")
    groups, begun = _groups(file, rows)
    piece = file.read_row_groups(groups, columns=list(wanted), use_threads=False)
    piece = piece.slice(rows[0] - begun, rows[1] - rows[0])
    if not where:
        return piece, np.arange(*rows)
    kept = _kept(piece, where)
    return piece.select(list(headings)).take(kept), kept + rows[0]


def finite(table: pa.Table) -> tuple[Any, NDArray[np.bool_]]:
    """The table with infinite numbers as missing ones, and which rows (rows,) have any."""
    import pyarrow as pa

    found = np.zeros(table.num_rows, dtype=bool)
    for at, name in enumerate(table.column_names):
        column = table.column(name)
        if pa.types.is_floating(column.type):
            infinite = np.isinf(column.to_numpy())
            if infinite.any():
                found |= infinite
                table = table.set_column(at, name, pa.array(column.to_numpy(), mask=infinite))
    return table, found


def _kept(piece: pa.Table, where: Mapping[str, str]) -> Ints:
    """The rows that have the wanted values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keep = np.ones(piece.num_rows, dtype=bool)
    for name, wanted in where.items():
        cells: Any = piece.column(name).cast(pa.string())
        keep &= pc.equal(cells.fill_null(""), pa.scalar(wanted)).to_numpy()
    return np.flatnonzero(keep)


def _groups(file: Any, rows: tuple[int, int]) -> tuple[list[int], int]:
    """The row groups that hold some rows, and the first row of the first of them."""
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    ends = np.cumsum(sizes)
    begins = ends - sizes
    chosen = np.flatnonzero((ends > rows[0]) & (begins < rows[1]))
    return chosen.tolist(), int(begins[chosen[0]])
