"""``encode``: the essence of every item of a table of collections, as ``fabula encode`` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from fabula.jobs.tables import OPTIONS, read_shard, rows_of_shard
from fabula.jobs.task import Round
from fabula.jobs.tasks.by_model import ByModel
from fabula.models.model import Model
from fabula.session.catalogue.running import essence_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.jobs.job import Job


class Encode(ByModel):
    """Rows: collection, row of the table from 1, id, essence (one column a dimension), failure."""

    name: ClassVar[str] = "encode"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "raw": False}

    def do(self, job: Job, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Encode the collections of a shard."""
        model: Model = job.opened
        found = read_shard(job.inputs[0].path, job.options, job.plan.shards[shard], model.feature_names)
        return rows_of_shard(found, partial(essence_rows, model, raw=job.options["raw"])), len(found)
