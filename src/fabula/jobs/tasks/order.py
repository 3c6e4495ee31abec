"""``order``: likely orderings of every collection of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import FabulaError, InputError
from fabula.jobs.tables import OPTIONS, Rows, cut_table, rows_of
from fabula.jobs.task import Asked, Cut, Round, Task
from fabula.jobs.tasks.encode import essence_model
from fabula.models.model import Model

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.jobs.job import Job

Orderings = list[tuple[int, int, Ints]]  # collection, alternative from 1, its rows among those of the shard


class Order(Task):
    """Rows: collection, alternative, position, row of the table, failure."""

    name: ClassVar[str] = "order"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "alternatives": 1}
    model: ClassVar[bool | None] = True
    items: ClassVar[str] = "collections"

    def cut(self, asked: Asked) -> Cut:
        """Ranges of rows."""
        wanted = asked.options["alternatives"]
        if not isinstance(wanted, int) or wanted < 1:
            raise InputError(f"must be a whole number of 1 or more; got {wanted!r}", field="alternatives")
        return cut_table(asked)

    def open(self, job: Job) -> Model:
        """The model."""
        return essence_model(job)

    def do(self, job: Job, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Order the collections of a shard."""
        import pyarrow as pa

        model: Model = job.opened
        rows = rows_of(job.inputs[0].path, job.options, job.plan.shards[shard], model.feature_names)
        found, failures = ordered(model, rows, int(job.options["alternatives"]))
        lengths = [len(order) for _, _, order in found]
        which = np.repeat([collection for collection, _, _ in found], lengths).astype(np.intp)
        position = np.concatenate([np.arange(1, n + 1) for n in lengths] or [np.empty(0, dtype=np.int64)])
        order = np.concatenate([order for _, _, order in found] or [np.empty(0, dtype=np.intp)])
        good = {
            "collection": pa.array(rows.ids).take(which),
            "alternative": pa.array(np.repeat([one for _, one, _ in found], lengths).astype(np.int64)),
            "position": pa.array(position.astype(np.int64)),
            "row": pa.array(rows.numbers[order].astype(np.int64)),
            "failure": pa.nulls(len(which), pa.string()),
        }
        table = pa.table(good)
        if failures:
            lost = [{"collection": rows.ids[i], "failure": why} for i, why in failures.items()]
            table = pa.concat_tables([table, pa.Table.from_pylist(lost, schema=table.schema)])
        return table, len(rows)


def ordered(model: Model, rows: Rows, alternatives: int) -> tuple[Orderings, dict[int, str]]:
    """The orderings of every collection, and why those that have none have none."""
    found: Orderings = []
    failures = dict(rows.failures)
    for i in (i for i in range(len(rows)) if i not in rows.failures):
        part: Floats = rows.features[rows.of(i)]
        try:
            fits = model.order(part, alternatives=alternatives)
        except FabulaError as error:
            failures[i] = str(error)
            continue
        found += [(i, number, fit.ordering + rows.offsets[i]) for number, fit in enumerate(fits, start=1)]
    return found, failures
