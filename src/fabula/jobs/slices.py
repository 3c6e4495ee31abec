"""Pieces of a Parquet table: which column says what, where collections begin, and the rows of a piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.ordering import Ints
from fabula.errors import FileError, InputError, import_extra
from fabula.sources.tables.columns import Table, column_of
from fabula.sources.tables.headings import feature_name
from fabula.sources.tables.roles import roles_of

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_SAMPLE = 1000  # rows by which columns are recognised


@dataclass(frozen=True)
class Layout:
    """Role -> heading of the column, None or "" where no column has it: ``collection`` and ``position``."""

    names: Mapping[str, str | None]

    @property
    def headings(self) -> list[str]:
        """The columns that have a role."""
        return [name for name in self.names.values() if name]


def layout_of(path: str, given: Mapping[str, str | None]) -> tuple[Layout, Ints]:
    """Recognise the columns of a table and find where its collections begin: (collections + 1,), the last its rows.

    Raises
    ------
    InputError
        When no column names the collection, or the rows of one do not stand together.
    """
    with opened(path) as file:
        if not file.metadata.num_rows:
            raise FileError(f"{path}: the table has no rows")
        roles = roles_of(_sample(path, file), dict(given))
        if "collection" not in roles:
            raise InputError(f"{path}: no column is known to name the collection; say which", field="collection")
        names = {role: roles[role].name if role in roles else "" for role in ("collection", "position")}
        return Layout(names), _starts(path, file, names["collection"])


def read_layout(
    path: str, layout: Layout, rows: tuple[int, int], names: Sequence[str], where: Mapping[str, str]
) -> tuple[pa.Table, Ints]:
    """Rows of a table, the columns of the layout and of the named features alone; reads the row groups they lie in.

    Parameters
    ----------
    path, layout
        The table.
    rows
        The first, and the one behind the last.
    names
        The features.
    where
        Column -> value: keep the rows that have it; ``""`` is a missing value.

    Returns
    -------
    The rows, and the number of each in the file, from 0.

    Raises
    ------
    InputError
        When the table lacks a feature.
    """
    with opened(path) as file:
        known = file.schema_arrow.names
        called = {feature_name(heading): heading for heading in reversed(known)}
        wanted = {name: name if name in known else called.get(name, "") for name in names}
        missing = [name for name, heading in wanted.items() if not heading]
        if missing:
            raise InputError(f"{path}: lacks the column(s) {', '.join(missing)}")
        headings = dict.fromkeys([*layout.headings, *wanted.values(), *where])
        absent = [name for name in headings if name not in known]
        if absent:
            raise InputError(f"{path}: lacks the column(s) {', '.join(absent)}")
        groups, begun = _groups(file, rows)
        piece = file.read_row_groups(groups, columns=list(headings)).slice(rows[0] - begun, rows[1] - rows[0])
    kept = _kept(piece, where)
    back = {heading: name for name, heading in wanted.items()}
    chosen = piece.select([*layout.headings, *wanted.values()]).take(kept)
    return chosen.rename_columns([back.get(name, name) for name in chosen.column_names]), kept + rows[0]


def has_column(path: str, name: str) -> bool:
    """Whether a table has a column."""
    with opened(path) as file:
        return name in file.schema_arrow.names


def _kept(piece: pa.Table, where: Mapping[str, str]) -> Ints:
    """The rows that have the wanted values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keep = np.ones(piece.num_rows, dtype=bool)
    for name, wanted in where.items():
        cells: Any = piece.column(name).cast(pa.string())
        keep &= pc.equal(cells.fill_null(""), pa.scalar(wanted)).to_numpy()
    return np.flatnonzero(keep)


@contextmanager
def opened(path: str) -> Iterator[pq.ParquetFile]:
    """A Parquet file on a disk or at an address."""
    parquet = import_extra("pyarrow.parquet", extra="tables", purpose="reading Parquet tables")
    arrow = import_extra("pyarrow", extra="tables", purpose="reading Parquet tables")
    try:
        if "://" in path:
            fsspec = import_extra("fsspec", extra="remote", purpose="reading an address")
            with fsspec.open(path, "rb") as content:
                yield parquet.ParquetFile(content)
            return
        with parquet.ParquetFile(path, memory_map=True) as file:
            yield file
    except (arrow.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise FileError(f"{path}: is not a Parquet file that can be read ({reason})") from error


def _sample(path: str, file: Any) -> Table:
    batch = next(file.iter_batches(batch_size=_SAMPLE))
    columns = {name: column_of(name, batch.column(name).to_pylist()) for name in batch.schema.names}
    return Table(path, columns, batch.num_rows)


def _starts(path: str, file: Any, column: str) -> Ints:
    """The rows at which collections begin, and the number of rows; reads one column, a batch at a time."""
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


def _groups(file: Any, rows: tuple[int, int]) -> tuple[list[int], int]:
    """The row groups that hold some rows, and the first row of the first of them."""
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    ends = np.cumsum(sizes)
    begins = ends - sizes
    chosen = np.flatnonzero((ends > rows[0]) & (begins < rows[1]))
    return chosen.tolist(), int(begins[chosen[0]])
