"""Tables of collections in shards: where a table can be cut, and the collections of one cut.

A Parquet table is cut between collections by rows, and only the row groups that a shard touches are read, so that a
table may be larger than memory; its collections must stand together. Other tables are read whole, once in a process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import FileError, InputError, import_extra
from fabula.jobs.inputs import Input
from fabula.jobs.plan import default_shards, ranges
from fabula.jobs.slices import Layout, layout_of, read_layout
from fabula.jobs.task import Asked, Cut
from fabula.sources.tables.reading import open_table
from fabula.sources.tables.roles import columns_named

if TYPE_CHECKING:
    import pyarrow as pa

OPTIONS: Mapping[str, Any] = {"collection": None, "position": None}
_EACH = 10_000  # collections in a shard


@dataclass(frozen=True, eq=False)
class Rows:
    """Some collections of a table, laid end to end.

    Attributes
    ----------
    ids
        m ids.
    offsets
        Shape (m + 1,): collection i has the rows ``offsets[i]:offsets[i + 1]`` of what follows.
    features
        Shape (rows, f), in the order of the positions where the table has any; NaN where a value is missing.
    numbers
        Shape (rows,): which row of the file each is, from 0.
    """

    ids: list[str]
    offsets: Ints
    features: Floats
    numbers: Ints

    def __len__(self) -> int:
        return len(self.ids)

    def of(self, index: int) -> slice:
        """The rows of one collection."""
        return slice(int(self.offsets[index]), int(self.offsets[index + 1]))


def cut_table(asked: Asked, each: int = _EACH) -> Cut:
    """Cut a table between collections; a shard is ``[first, behind the last, collections]``, in rows or collections."""
    if len(asked.inputs) != 1:
        raise InputError(f"one table at a time; got {len(asked.inputs)}")
    given = Input.of(asked.inputs[0])
    names = {role: asked.options.get(role) for role in OPTIONS}
    if given.path.lower().endswith(".parquet"):
        layout, starts = layout_of(given.path, names)
        count = len(starts) - 1
        shards = ranges(count, asked.shards or default_shards(count, each))
        cut = tuple([int(starts[a]), int(starts[b]), b - a] for a, b in shards)
        return Cut((given,), cut, count, {**asked.options, **layout.names})
    count = len(_whole(given.path, tuple(sorted(names.items()))).collections)
    shards = ranges(count, asked.shards or default_shards(count, each))
    return Cut((given,), tuple([a, b, b - a] for a, b in shards), count, dict(asked.options))


def rows_of(path: str, options: Mapping[str, Any], shard: Sequence[int], names: Sequence[str]) -> Rows:
    """The collections of a shard, with the features of those names.

    Raises
    ------
    InputError
        When the table lacks a feature.
    """
    first, behind = shard[:2]
    if path.lower().endswith(".parquet"):
        layout = Layout({role: options.get(role) for role in OPTIONS})
        return rows_in(read_layout(path, layout, (first, behind), names), layout, names, first)
    reading = _whole(path, tuple(sorted((role, options.get(role)) for role in OPTIONS)))
    chosen = reading.collections[first:behind]
    numbers = reading.rows[first:behind]
    missing = [name for name in names if name not in chosen[0].feature_names]
    if missing:
        raise InputError(f"{path}: lacks the column(s) {', '.join(missing)}")
    features = np.concatenate([one.columns(tuple(names)) for one in chosen])
    return Rows([one.id for one in chosen], _offsets([len(one) for one in chosen]), features, np.concatenate(numbers))


def rows_in(table: pa.Table, layout: Layout, names: Sequence[str], first: int) -> Rows:
    """The collections of a piece of a Parquet table that begins at row ``first`` of it."""
    import tempfile

    pq = import_extra("pyarrow.parquet", extra="tables", purpose="reading Parquet tables")
    roles = {**layout.names, "title": "", "artist": "", "path": "", "id": ""}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "rows.parquet"
        pq.write_table(table, place)
        reading = open_table(place, columns_named({role: name or "" for role, name in roles.items()}))
    collections = reading.collections
    features = np.full((table.num_rows, len(names)), np.nan)
    for column, name in enumerate(names):
        if name in collections[0].feature_names:  # else no row of this piece has a value
            features[:, column] = np.concatenate([one.column(name) for one in collections])
    offsets = _offsets([len(one) for one in collections])
    return Rows([one.id for one in collections], offsets, features, np.concatenate(reading.rows) + first)


def _offsets(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)


@lru_cache(maxsize=1)
def _whole(path: str, names: tuple[tuple[str, str | None], ...]) -> Any:
    if "://" in path:
        raise FileError(f"{path}: of tables at an address, Parquet alone can be read in pieces")
    return open_table(path, columns_named(dict(names)))
