"""``encode`` and ``order``: a model that works on arrays goes through a table of collections."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from fabula.core.collections import Collections
from fabula.errors import InputError
from fabula.jobs.shards import OPTIONS, cut_table, read_shard, rows_of_shard
from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.models.model import Model, load_model, model_from_bytes
from fabula.session.catalogue.bulk import essence_rows, order_rows
from fabula.session.catalogue.cut import Piece
from fabula.session.catalogue.models import check_arrays

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.jobs.open_job import ShardedJob


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

    def do(self, job: ShardedJob, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Encode the collections of a shard, as ``fabula encode`` does."""
        model: Model = job.opened
        found = read_shard(job.inputs[0].path, job.options, job.plan.shards[shard], model.feature_names)
        return rows_of_shard(found, partial(essence_rows, model, raw=job.options["raw"])), len(found)


class Order(ByModel):
    """Rows: collection, position, row of the table from 1, id, title, score, gap, failure."""

    name: ClassVar[str] = "order"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "likeliest": False}

    def do(self, job: ShardedJob, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Order the collections of a shard, as ``fabula order --all`` does."""
        model: Model = job.opened
        found = read_shard(job.inputs[0].path, job.options, job.plan.shards[shard], model.feature_names)

        def rows(piece: Piece, part: Collections, at: slice) -> dict[str, Any]:
            return order_rows(model, piece, part, at, likeliest=job.options["likeliest"])[0]

        return rows_of_shard(found, rows), len(found)


def try_model(asked: JobRequest, cut: Cut) -> Cut:
    """The cut of a table, whose first collection the model was asked about: a table it cannot take is told at once."""
    model = check_arrays(load_model(asked.model), asked.model)
    first = read_shard(cut.inputs[0].path, cut.options, cut.shards[0], model.feature_names).piece
    if first is not None:
        with suppress(InputError):  # of its values; such a collection is a row of failure
            essence_rows(model, first, first.collections[:1], slice(int(first.collections.offsets[1])))
    return cut


def model_of(job: ShardedJob) -> Model:
    """The model of a job, which must work on arrays."""
    name = job.plan.model["name"]
    return check_arrays(model_from_bytes(job.model or b"", name), name)
