"""A catalogue read a piece at a time, each of whole collections.

A table of up to a million rows is one piece, whatever the order of its rows. A larger Parquet file is read in pieces,
so that memory does not grow with it; the rows of each collection must then stand together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.collections import Collections
from fabula.core.columns import Cells, Numbered
from fabula.core.ordering import Ints
from fabula.errors import FileError, InputError, import_extra
from fabula.media.extraction import Measuring
from fabula.media.medium import Medium
from fabula.media.registry import measure_if_held
from fabula.session.measure import measure
from fabula.sources.registry import Opening, open_source
from fabula.sources.tables.columns import Table, column_of
from fabula.sources.tables.files import is_table
from fabula.sources.tables.headings import feature_name
from fabula.sources.tables.reading import TableReading, open_table
from fabula.sources.tables.roles import Columns, columns_named, roles_of

if TYPE_CHECKING:
    import pyarrow as pa

_WHOLE = 1_000_000  # rows up to which a Parquet table is read at once
_PIECE = 200_000  # rows of a piece, about
_SAMPLE = 1000  # rows by which the columns of a large table are recognised


@dataclass(frozen=True, eq=False)
class Piece:
    """Some collections of a catalogue.

    Attributes
    ----------
    collections
        In one block.
    rows
        Shape (rows,): the row of the file that each item came from, from 1.
    ids
        The id of each item; the number of its row where the file has none.
    medium
        What kind of media they are.
    total
        How many rows the catalogue has.
    """

    collections: Collections
    rows: Ints
    ids: Cells
    medium: Medium
    total: int


def pieces_of(
    path: str | Path, wanted: Sequence[str], opening: Opening | None = None, measuring: Measuring | None = None
) -> Iterator[Piece]:
    """The collections of a table in one piece or more; a folder or a playlist is one collection, and is measured.

    Parameters
    ----------
    path
        A table, also in the Parquet files of a folder or at an address; a folder of items, or a playlist.
    wanted
        Features that will be asked for; of a table that is read in pieces no others are read.
    opening, measuring
        How it is opened, and how files are measured.
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
        yield from _streamed(path, columns, wanted, rows)
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


def _streamed(path: str | Path, asked: Columns, wanted: Sequence[str], total: int) -> Iterator[Piece]:
    """A large Parquet file in pieces."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, pre_buffer=False) as file:  # what is read ahead is kept to the end
        columns, headings = layout_of(path, file, asked, wanted)
        seen, begun, left = np.empty(0, dtype=np.int64), 0, None
        for batch in file.iter_batches(batch_size=_PIECE, columns=headings):
            table = pa.Table.from_batches([batch])
            table = table if left is None else pa.concat_tables([left, table])
            end = _last_start(table, str(columns.collection))
            left = table.slice(end)
            if end:
                seen = _new_ids(path, table.slice(0, end), columns, seen)
                yield _read(table.slice(0, end), columns, begun, total)
                begun += end
        if left is not None and left.num_rows:
            _new_ids(path, left, columns, seen)
            yield _read(left, columns, begun, total)


def layout_of(path: str | Path, file: Any, asked: Columns, wanted: Sequence[str]) -> tuple[Columns, list[str]]:
    """Which column says what, recognised by the first rows of an open Parquet file, and the columns to read."""
    batch = next(file.iter_batches(batch_size=_SAMPLE))
    sample = {name: column_of(name, batch.column(name).to_pylist()) for name in batch.schema.names}
    roles = roles_of(Table(str(path), sample, batch.num_rows), asked.roles, asked.renamed)
    if "collection" not in roles:
        raise InputError(f"{path}: no column is known to name the collection; say which", field="columns")
    named = {role: roles[role].name if role in roles else "" for role in asked.roles}
    found = columns_named(named, dict(asked.others), {"duration": asked.duration})
    known = {feature_name(name) for name in wanted} | {"duration"}
    busy = {column.name for column in roles.values()} | set(asked.renamed)
    headings = [name for name in batch.schema.names if name in busy or feature_name(name) in known]
    return found, headings


def _last_start(table: pa.Table, column: str) -> int:
    """The row at which the last collection of some rows begins."""
    import pyarrow.compute as pc

    ids = table.column(column).combine_chunks()
    other = np.flatnonzero(pc.not_equal(ids, ids[-1]).to_numpy(zero_copy_only=False))
    return int(other[-1]) + 1 if len(other) else 0


def _new_ids(path: str | Path, table: pa.Table, columns: Columns, seen: Ints) -> Ints:
    """Refuse a collection that was read before; returns what was, digests of 64 bits."""
    ids = table.column(str(columns.collection)).unique().to_pylist()
    digests = np.fromiter(map(hash, ids), dtype=np.int64, count=len(ids))
    again = np.flatnonzero(np.isin(digests, seen))
    if len(again):
        raise FileError(
            f"{path}: the rows of collection {ids[again[0]]!r} do not stand together; sort the table by "
            f"{columns.collection!r} first"
        )
    return np.concatenate([seen, digests])


def _read(table: pa.Table, columns: Columns, begun: int, total: int) -> Piece:
    """Some rows of a table as its collections."""
    held: Any = table
    reading = open_table(held, columns)
    return piece_of(reading, reading.order + 1 + begun, total, named=bool(columns.id or columns.path))
