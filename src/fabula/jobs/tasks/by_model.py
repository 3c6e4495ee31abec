"""``encode`` and ``order``: a model that works on arrays goes through a table of collections, cut into shards.

A Parquet table is cut between collections by rows, and only the row groups that a shard touches are read, so that a
table may be larger than memory; its collections must stand together. Other tables are read whole, once in a process.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fabula.errors import FileError, InputError
from fabula.jobs.job import Input, ShardedJob, ranges
from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.models.model import Model, load_model, model_from_bytes
from fabula.session import catalogue
from fabula.session.catalogue import Piece
from fabula.sources.tables.read_table import TableReading, open_table
from fabula.sources.tables.roles import columns_named
from fabula.sources.tables.storage import read_columns

if TYPE_CHECKING:
    import pyarrow as pa

OPTIONS: Mapping[str, Any] = {"columns": {}, "where": {}}
_EACH = 10_000  # collections in a shard

_Do = Callable[[Piece], Mapping[str, Any]]  # from some collections to the columns of a table


@dataclass(frozen=True, eq=False)
class Shard:
    """Some collections of a table."""

    piece: Piece | None  # None where no row was kept
    failures: Mapping[int, str] = field(default_factory=dict)  # index of a collection -> what is wrong with its values

    def __len__(self) -> int:
        return 0 if self.piece is None else len(self.piece.collections)


def cut_table(asked: JobRequest) -> Cut:
    """Cut a table between collections; a shard is ``[first, behind the last, collections]``, in rows or collections."""
    given = Input.table(asked.inputs)
    options = dict(asked.options)
    if is_parquet(given.path):
        with catalogue.open_parquet(given.path) as file:
            if not file.metadata.num_rows:
                raise FileError(f"{given.path}: the table has no rows")
            columns, _ = catalogue.layout_of(given.path, file, columns_named(options["columns"]), ())
            starts = catalogue.starts_of(given.path, file, columns["collection"])
        options["columns"] = columns
    else:
        starts = np.arange(len(_whole(given.path, _key(options)).collections) + 1)
    count = len(starts) - 1
    cut = tuple([int(starts[a]), int(starts[b]), b - a] for a, b in ranges(count, asked.shards, _EACH))
    return Cut((given,), cut, count, options)


def read_shard(path: str, options: Mapping[str, Any], shard: Sequence[int], names: Sequence[str]) -> Shard:
    """The collections of a shard, with the features of those names at least; one with an infinite number has failed."""
    first, behind = shard[:2]
    if is_parquet(path):
        with catalogue.open_parquet(path) as file:
            columns, headings = catalogue.layout_of(path, file, columns_named(options["columns"]), names)
            table, numbers = catalogue.read_rows(file, (first, behind), headings, options["where"])
            total = file.metadata.num_rows
        if not table.num_rows:
            return Shard(None)
        held, infinite = catalogue.blank_infinite(table)
        reading = open_table(held, columns)
        offsets, order = reading.collections.offsets, reading.order
        wrong = np.unique(np.searchsorted(offsets, np.flatnonzero(infinite[order]), side="right") - 1)
        failures = dict.fromkeys(wrong.tolist(), "holds a number that is infinite")
        named = bool(columns["id"] or columns["path"])
        return Shard(catalogue.piece_of(reading, numbers[order] + 1, total, named=named), failures)
    reading = _whole(path, _key(options))
    chosen = reading.collections[first:behind]
    begun, end = (int(reading.collections.offsets[i]) for i in (first, behind))
    part = TableReading(reading.table, chosen, reading.order[begun:end])
    return Shard(catalogue.piece_of(part, part.order + 1, reading.table.count))


def rows_of_shard(shard: Shard, do: _Do) -> "pa.Table":
    """What a function makes of the collections of a shard, some at a time; those it refuses are rows of failures."""
    import pyarrow as pa

    failures = dict(shard.failures)
    made = list(_run(shard.piece, do, failures)) if shard.piece is not None else []
    tables = [pa.table({name: pa.array(values) for name, values in columns.items()}) for columns in made]
    table = pa.concat_tables(tables) if tables else pa.table({"collection": pa.array([], pa.string())})
    table = table.append_column("failure", pa.nulls(table.num_rows, pa.string()))
    if not failures or shard.piece is None:
        return table
    many, rows = shard.piece.collections, shard.piece.rows
    lost = [
        {"collection": str(many.ids[i]), "row": int(rows[many.offsets[i]]), "failure": why}
        for i, why in sorted(failures.items())
    ]
    return pa.concat_tables([table, pa.Table.from_pylist(lost)], promote_options="default")


def _run(piece: Piece, do: _Do, failures: dict[int, str]) -> Iterator[Mapping[str, Any]]:
    """The columns that a function makes, of some collections at a time, or one by one where one is refused."""
    number = 0
    for part in catalogue.parts_of(piece):
        numbers = range(number, number + len(part.collections))
        number = numbers.stop
        if not any(i in failures for i in numbers):
            try:
                yield do(part)
                continue
            except InputError:  # one of them; which one, and why
                pass
        for i in (i for i in numbers if i not in failures):
            try:
                yield do(piece.part(i, i + 1))
            except InputError as error:
                failures[i] = str(error)


def headings_of(path: str) -> Sequence[str]:
    """The columns of a table."""
    if not is_parquet(path):
        return list(read_columns(path).columns)
    with catalogue.open_parquet(path) as file:
        return list(file.schema_arrow.names)


def is_parquet(path: str) -> bool:
    """Whether a table is read by rows."""
    return path.lower().endswith(".parquet")


def _key(options: Mapping[str, Any]) -> str:
    return json.dumps([options["columns"], options["where"]], sort_keys=True)


@lru_cache(maxsize=1)
def _whole(path: str, asked: str) -> TableReading:
    columns, where = json.loads(asked)
    return open_table(path, columns_named(columns), where=where)


class ByModel(JobTask):
    """A task whose shards are ranges of collections, each seen by the model of the job."""

    model: ClassVar[bool | None] = True
    items: ClassVar[str] = "collections"

    def cut(self, asked: JobRequest) -> Cut:
        """Ranges of rows."""
        return try_model(asked, cut_table(asked))

    def open(self, job: ShardedJob) -> Model:
        """The model."""
        return model_of(job)


class Encode(ByModel):
    """Rows: collection, row of the table from 1, id, essence (one column a dimension), failure."""

    name: ClassVar[str] = "encode"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "raw": False}

    def do(self, job: ShardedJob, now: Round, shard: int) -> "tuple[pa.Table, int]":
        """Encode the collections of a shard, as ``fabula encode`` does."""
        model: Model = job.opened
        found = read_shard(job.inputs[0].path, job.options, job.plan.shards[shard], model.feature_names)
        return rows_of_shard(found, partial(catalogue.essence_rows, model, raw=job.options["raw"])), len(found)


class Order(ByModel):
    """Rows: collection, position, row of the table from 1, id, title, score, gap, failure."""

    name: ClassVar[str] = "order"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "likeliest": False}

    def do(self, job: ShardedJob, now: Round, shard: int) -> "tuple[pa.Table, int]":
        """Order the collections of a shard, as ``fabula order --all`` does."""
        model: Model = job.opened
        found = read_shard(job.inputs[0].path, job.options, job.plan.shards[shard], model.feature_names)

        likeliest: bool = job.options["likeliest"]
        rows = rows_of_shard(found, lambda piece: catalogue.order_rows(model, piece, likeliest=likeliest)[0])
        return rows, len(found)


def try_model(asked: JobRequest, cut: Cut) -> Cut:
    """The cut of a table, whose first collection the model was asked about: a table it cannot take is told at once."""
    model = catalogue.check_arrays(load_model(asked.model), asked.model)
    first = read_shard(cut.inputs[0].path, cut.options, cut.shards[0], model.feature_names).piece
    if first is not None:
        with suppress(InputError):  # of its values; such a collection is a row of failure
            catalogue.essence_rows(model, first.part(0, 1))
    return cut


def model_of(job: ShardedJob) -> Model:
    """The model of a job, which must work on arrays."""
    name = job.plan.model["name"]
    return catalogue.check_arrays(model_from_bytes(job.model or b"", name), name)
