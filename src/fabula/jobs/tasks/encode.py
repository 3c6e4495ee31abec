"""``encode``: the essence of every item of a table of collections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fabula.core.essence import Floats
from fabula.errors import FabulaError, InputError
from fabula.jobs.tables import OPTIONS, Rows, cut_table, rows_of
from fabula.jobs.task import Asked, Cut, Round, Task
from fabula.models.file import model_from_bytes
from fabula.models.model import Model

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.jobs.job import Job


class Encode(Task):
    """Rows: collection, row of the table, essence (one column a dimension), failure."""

    name: ClassVar[str] = "encode"
    options: ClassVar[Mapping[str, Any]] = OPTIONS
    model: ClassVar[bool | None] = True
    items: ClassVar[str] = "collections"

    def cut(self, asked: Asked) -> Cut:
        """Ranges of rows."""
        return cut_table(asked)

    def open(self, job: Job) -> Model:
        """The model."""
        return essence_model(job)

    def do(self, job: Job, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Encode the collections of a shard."""
        import pyarrow as pa

        model: Model = job.opened
        rows = rows_of(job.inputs[0].path, job.options, job.plan.shards[shard], model.feature_names)
        essence, failures = encoded(model, rows)
        names = ["essence"] if model.dimensions == 1 else [f"essence.{i + 1}" for i in range(model.dimensions)]
        owner = np.repeat(np.arange(len(rows)), np.diff(rows.offsets))
        columns = {"collection": pa.array(rows.ids).take(owner), "row": pa.array(rows.numbers)}
        columns |= {name: pa.array(essence[:, i], from_pandas=True) for i, name in enumerate(names)}
        told = [failures.get(i) for i in owner.tolist()] if failures else [None] * len(owner)
        return pa.table({**columns, "failure": pa.array(told, pa.string())}), len(rows)


def essence_model(job: Job) -> Model:
    """The model of a job, which must give each item an essence by itself."""
    model = model_from_bytes(job.model or b"", job.plan.model["name"])
    if not isinstance(model, Model):
        raise InputError(f"{job.plan.model['name']}: sees whole collections; a job takes a model such as albums")
    return model


def encoded(model: Model, rows: Rows) -> tuple[Floats, dict[int, str]]:
    """The essence of all rows (rows, d), NaN where a collection has none, and why it has none."""
    parts = [rows.features[rows.of(i)] for i in range(len(rows))]
    failures = dict(rows.failures)
    if not parts:
        return np.empty((0, model.dimensions)), failures
    try:
        essence = np.concatenate(model.encode_all(parts))
    except FabulaError:  # one of them; which one, and why
        essence = np.concatenate([_one(model, part, i, failures) for i, part in enumerate(parts)])
    for i in failures:
        essence[rows.of(i)] = np.nan
    return essence, failures


def _one(model: Model, part: Floats, number: int, failures: dict[int, str]) -> Floats:
    try:
        return model.encode(part)
    except FabulaError as error:
        failures.setdefault(number, str(error))
        return np.full((len(part), model.dimensions), np.nan)
