"""``encode``: the essence of every item of a table of collections, as ``fabula encode`` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from fabula.errors import InputError
from fabula.jobs.tables import OPTIONS, cut_table, read_shard, rows_of_shard
from fabula.jobs.task import Asked, Cut, Round, Task
from fabula.models.file import load_model, model_from_bytes
from fabula.session.catalogue.judging import ArrayModel, array_model
from fabula.session.catalogue.running import essence_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.jobs.job import Job


class Encode(Task):
    """Rows: collection, row of the table from 1, id, essence (one column a dimension), failure."""

    name: ClassVar[str] = "encode"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "raw": False}
    model: ClassVar[bool | None] = True
    items: ClassVar[str] = "collections"

    def cut(self, asked: Asked) -> Cut:
        """Ranges of rows."""
        return fitting(asked, cut_table(asked))

    def open(self, job: Job) -> ArrayModel:
        """The model."""
        return model_of(job)

    def do(self, job: Job, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Encode the collections of a shard."""
        model: ArrayModel = job.opened
        found = read_shard(job.inputs[0].path, job.options, job.plan.shards[shard], model.feature_names)
        return rows_of_shard(found, partial(essence_rows, model, raw=job.options["raw"])), len(found)


def fitting(asked: Asked, cut: Cut) -> Cut:
    """The cut of a table, whose first collection the model was asked about: a table it cannot take is told at once."""
    model = array_model(load_model(asked.model), asked.model)
    first = read_shard(cut.inputs[0].path, cut.options, cut.shards[0], model.feature_names).piece
    if first is not None:
        with suppress(InputError):  # of its values; such a collection is a row of failure
            essence_rows(model, first, first.collections[:1], slice(int(first.collections.offsets[1])))
    return cut


def model_of(job: Job) -> ArrayModel:
    """The model of a job, which must work on arrays."""
    name = job.plan.model["name"]
    return array_model(model_from_bytes(job.model or b"", name), name)
