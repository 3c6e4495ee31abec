"""Tables of collections cut between them: in pieces to go through, or by rows for shards.

A table of up to a million rows is one piece, whatever the order of its rows. A larger Parquet file is read in pieces,
so that memory does not grow with it; the rows of each collection must then stand together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Ints
from fabula.core.collections import Cells, Collections, Numbered
from fabula.errors import FileError, InputError, import_extra
from fabula.media.extraction import Measuring
from fabula.media.medium import Medium
from fabula.media.registry import measure_if_held
from fabula.session.measure import measure
from fabula.sources.registry import Opening, open_source
from fabula.sources.tables.arrow import first_line
from fabula.sources.tables.read_table import TableReading, open_table
from fabula.sources.tables.roles import Columns, columns_named, feature_name, roles_of
from fabula.sources.tables.source_table import SourceTable, column_of
from fabula.sources.tables.storage import Place, address_of, is_table

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_WHOLE = 1_000_000  # rows up to which a Parquet table is read at once
_PIECE = 200_000  # rows of a piece, about
_SAMPLE = 1000  # rows by which the columns of a large table are recognised
_IDS = 1 << 17  # rows of one column in hand


@dataclass(frozen=True, eq=False)
class Piece:
    """Some collections of a catalogue."""

    collections: Collections  # in one block
    rows: Ints  # shape (rows,): the row of the file that each item came from, from 1
    ids: Cells  # the id of each item; the number of its row where the file has none
    medium: Medium  # what kind of media they are
    total: int  # how many rows the catalogue has


def pieces_of(
    path: str | Path, wanted: Sequence[str], opening: Opening | None = None, measuring: Measuring | None = None
) -> Iterator[Piece]:
    """The collections of a table in one piece or more; a folder or a playlist is one collection, and is measured.

    Of a table that is read in pieces no other features than those wanted are read.
    """
    how = opening or Opening()
    if not is_table(path):
        source = open_source([path], how)
        source = measure(source, measuring or Measuring()) if source.files else source
        count = len(source.collection)
        block = Collections.of([source.collection])
        yield Piece(block, np.arange(1, count + 1), block.texts("id"), source.medium, count)
        return
    columns = columns_named(dict(how.columns))
    rows = _large(path)
    if rows:
        yield from _stream(str(path), columns, wanted, rows)
    else:
        reading = open_table(path, columns)
        yield piece_of(reading, reading.order + 1, reading.table.count)


def piece_of(reading: TableReading, rows: Ints, total: int, *, named: bool = True) -> Piece:
    """What was read of a table as a piece of a catalogue, with the rows (from 1) that its items came from.

    Items are called by these rows where the table does not name them.
    """
    block = Collections.of(reading.collections)
    medium = measure_if_held(block[0])[1]
    return Piece(block, rows, block.texts("id") if named else Numbered(rows), medium, total)


@contextmanager
def open_parquet(path: str, *, stream: bool = False) -> Iterator[pq.ParquetFile]:
    """A Parquet file on a disk or at an address, to be read in pieces.

    To be streamed from its start to its end, it is neither mapped into memory nor read ahead: both would fill that.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if address_of(path) is not None:
            with Place(path).open() as content:
                yield pq.ParquetFile(content)
            return
        with pq.ParquetFile(path, memory_map=not stream, pre_buffer=not stream) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{path}: is not a Parquet file that can be read ({first_line(error)})") from error


def layout_of(path: str, file: Any, asked: Columns, wanted: Sequence[str]) -> tuple[Columns, list[str]]:
    """Which column says what, recognised by the first rows of an open Parquet file, and the columns to read."""
    batch = next(file.iter_batches(batch_size=_SAMPLE))
    sample = {name: column_of(name, batch.column(name).to_pylist()) for name in batch.schema.names}
    roles = roles_of(SourceTable(path, sample, batch.num_rows), asked.roles, asked.names_by_heading)
    if "collection" not in roles:
        raise InputError(f"{path}: no column is known to name the collection; say which", field="columns")
    named = {role: roles[role].name if role in roles else "" for role in asked.roles}
    found = columns_named(named, dict(asked.others), {"duration": asked.duration})
    known = {feature_name(name) for name in wanted} | {"duration"}
    busy = {column.name for column in roles.values()} | set(asked.names_by_heading)
    headings = [name for name in batch.schema.names if name in busy or feature_name(name) in known]
    return found, headings


def starts_of(path: str, file: Any, column: str) -> Ints:
    """The rows at which collections begin, and the number of rows; reads one column, a batch at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    starts: list[Ints] = []
    firsts: list[Any] = []
    begun, last = 0, None
    for batch in file.iter_batches(batch_size=_IDS, columns=[column]):
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
        raise FileError(
            f"{path}: the rows of collection {twice!r} do not stand together; sort the table by {column!r} first"
        )
    return np.concatenate([*starts, [begun]]).astype(np.intp)


def read_rows(
    file: Any, rows: tuple[int, int], headings: Sequence[str], where: Mapping[str, str]
) -> tuple[pa.Table, Ints]:
    """Rows (first, behind the last) of an open Parquet file, and their numbers in it from 0; reads their row groups.

    ``where`` (column -> value) keeps the rows that have it; ``""`` is a missing value.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = dict.fromkeys([*headings, *where])
    absent = [name for name in wanted if name not in file.schema_arrow.names]
    if absent:
        raise InputError(f"the table lacks the column(s) {', '.join(absent)}")
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    ends = np.cumsum(sizes)
    begins = ends - sizes
    groups = np.flatnonzero((ends > rows[0]) & (begins < rows[1]))
    piece = file.read_row_groups(groups.tolist(), columns=list(wanted), use_threads=False)
    piece = piece.slice(rows[0] - int(begins[groups[0]]), rows[1] - rows[0])
    if not where:
        return piece, np.arange(*rows)
    keep = np.ones(piece.num_rows, dtype=bool)
    for name, value in where.items():
        cells = piece.column(name).cast(pa.string())
        keep &= pc.equal(cells.fill_null(""), pa.scalar(value)).to_numpy()
    found = np.flatnonzero(keep)
    return piece.select(list(headings)).take(found), found + rows[0]


def blank_infinite(table: pa.Table) -> tuple[Any, NDArray[np.bool_]]:
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


def _large(path: str | Path) -> int:
    """How many rows a Parquet file has that is too large to be read at once; 0 for any other table."""
    if Path(path).suffix.lower() != ".parquet" or not Path(path).is_file():
        return 0
    arrow = import_extra("pyarrow", extra="tables", purpose="reading Parquet tables")
    parquet = import_extra("pyarrow.parquet", extra="tables", purpose="reading Parquet tables")
    try:
        rows = int(parquet.read_metadata(path).num_rows)
    except (arrow.ArrowException, OSError):
        return 0  # the reader of tables says what is wrong with it
    return rows if rows > _WHOLE else 0


def _stream(path: str, asked: Columns, wanted: Sequence[str], total: int) -> Iterator[Piece]:
    """A large Parquet file in pieces of whole collections."""
    import pyarrow as pa

    with open_parquet(path, stream=True) as file:
        columns, headings = layout_of(path, file, asked, wanted)
        starts = starts_of(path, file, str(columns.collection))
        begun, left = 0, None
        for batch in file.iter_batches(batch_size=_PIECE, columns=headings):
            table = pa.Table.from_batches([batch])
            table = table if left is None else pa.concat_tables([left, table])
            end = int(starts[np.searchsorted(starts, begun + table.num_rows) - 1]) - begun  # where the last one begins
            left = table.slice(end)
            if end:
                yield _read_piece(table.slice(0, end), columns, begun, total)
                begun += end
        if left is not None and left.num_rows:
            yield _read_piece(left, columns, begun, total)


def _read_piece(table: pa.Table, columns: Columns, begun: int, total: int) -> Piece:
    held: Any = table
    reading = open_table(held, columns)
    return piece_of(reading, reading.order + 1 + begun, total, named=bool(columns.id or columns.path))
