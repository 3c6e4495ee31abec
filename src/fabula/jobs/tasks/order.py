"""``order``: one ordering of every collection of a table, as ``fabula order --all`` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from fabula.core.collections import Collections
from fabula.jobs.tables import OPTIONS, read_shard, rows_of_shard
from fabula.jobs.task import Round
from fabula.jobs.tasks.by_model import ByModel
from fabula.models.model import Model
from fabula.session.catalogue.reading import Piece
from fabula.session.catalogue.running import order_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.jobs.job import Job


class Order(ByModel):
    """Rows: collection, position, row of the table from 1, id, title, score, gap, failure."""

    name: ClassVar[str] = "order"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "likeliest": False}

    def do(self, job: Job, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Order the collections of a shard."""
        model: Model = job.opened
        found = read_shard(job.inputs[0].path, job.options, job.plan.shards[shard], model.feature_names)

        def rows(piece: Piece, part: Collections, at: slice) -> dict[str, Any]:
            return order_rows(model, piece, part, at, likeliest=job.options["likeliest"])[0]

        return rows_of_shard(found, rows), len(found)
