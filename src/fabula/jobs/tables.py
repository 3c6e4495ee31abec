"""Tables of collections in shards: where a table can be cut, and the collections of one cut.

A Parquet table is cut between collections by rows, and only the row groups that a shard touches are read, so that a
table may be larger than memory; its collections must stand together. Other tables are read whole, once in a process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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

ROLES = ("collection", "position")
OPTIONS: Mapping[str, Any] = {"collection": None, "position": None, "where": {}}
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
    failures
        Index of a collection -> what is wrong with its values.
    """

    ids: list[str]
    offsets: Ints
    features: Floats
    numbers: Ints
    failures: Mapping[int, str] = field(default_factory=dict)

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
    names = {role: asked.options.get(role) for role in ROLES}
    if given.path.lower().endswith(".parquet"):
        layout, starts = layout_of(given.path, names)
        count = len(starts) - 1
        shards = ranges(count, asked.shards or default_shards(count, each))
        cut = tuple([int(starts[a]), int(starts[b]), b - a] for a, b in shards)
        return Cut((given,), cut, count, {**asked.options, **layout.names})
    count = len(_whole(given.path, _asked(asked.options)).collections)
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
        layout = Layout({role: options.get(role) for role in ROLES})
        table, numbers = read_layout(path, layout, (first, behind), names, options["where"])
        return rows_in(table, layout, names, numbers)
    reading = _whole(path, _asked(options))
    chosen = reading.collections[first:behind]
    missing = [name for name in names if name not in chosen[0].feature_names]
    if missing:
        raise InputError(f"{path}: lacks the column(s) {', '.join(missing)}")
    features = np.concatenate([one.columns(tuple(names)) for one in chosen])
    return Rows(
        [one.id for one in chosen],
        _offsets([len(one) for one in chosen]),
        features,
        np.concatenate(reading.rows[first:behind]),
    )


def rows_in(table: pa.Table, layout: Layout, names: Sequence[str], numbers: Ints) -> Rows:
    """The collections of some rows of a Parquet table, which have these numbers in it."""
    import tempfile

    if not table.num_rows:
        return Rows([], np.zeros(1, dtype=np.intp), np.empty((0, len(names))), numbers)

    pq = import_extra("pyarrow.parquet", extra="tables", purpose="reading Parquet tables")
    roles = {**layout.names, "title": "", "artist": "", "path": "", "id": ""}
    table, infinite = _finite(table, names)
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
    order = np.concatenate(reading.rows)
    wrong = np.unique(np.searchsorted(offsets, np.flatnonzero(infinite[order]), side="right") - 1).tolist()
    why = dict.fromkeys(wrong, "holds a value that is infinite")
    return Rows([one.id for one in collections], offsets, features, numbers[order], why)


def _finite(table: pa.Table, names: Sequence[str]) -> tuple[pa.Table, NDArray[np.bool_]]:
    """The table with infinite values as missing ones, and which rows (rows,) have any."""
    import pyarrow as pa

    found = np.zeros(table.num_rows, dtype=bool)
    for name in names:
        column = table.column(name)
        if pa.types.is_floating(column.type):
            infinite = np.isinf(column.to_numpy())
            if infinite.any():
                found |= infinite
                at = table.column_names.index(name)
                table = table.set_column(at, name, pa.array(column.to_numpy(), mask=infinite))
    return table, found


def _offsets(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)


def _asked(options: Mapping[str, Any]) -> tuple[tuple[str, str | None], ...]:
    """Roles and conditions as a key that can be looked up; conditions have a mark that no role has."""
    roles = [(role, options.get(role)) for role in ROLES]
    return (*roles, *((f"={name}", value) for name, value in sorted(options["where"].items())))


@lru_cache(maxsize=1)
def _whole(path: str, asked: tuple[tuple[str, str | None], ...]) -> Any:
    if "://" in path:
        raise FileError(f"{path}: of tables at an address, Parquet alone can be read in pieces")
    roles = {name: value for name, value in asked if not name.startswith("=")}
    where = {name[1:]: value for name, value in asked if name.startswith("=")}
    return open_table(path, columns_named(roles), where=where)
