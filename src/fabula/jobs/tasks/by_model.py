"""Tasks in which a model that works on arrays goes through a table of collections."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from fabula.errors import InputError
from fabula.jobs.tables import cut_table, read_shard
from fabula.jobs.task import Asked, Cut, Task
from fabula.models.file import load_model, model_from_bytes
from fabula.models.model import Model
from fabula.session.catalogue.models import check_arrays
from fabula.session.catalogue.running import essence_rows

if TYPE_CHECKING:
    from fabula.jobs.job import Job


class ByModel(Task):
    """A task whose shards are ranges of collections, each seen by the model of the job."""

    model: ClassVar[bool | None] = True
    items: ClassVar[str] = "collections"

    def cut(self, asked: Asked) -> Cut:
        """Ranges of rows."""
        return fitting(asked, cut_table(asked))

    def open(self, job: Job) -> Model:
        """The model."""
        return model_of(job)


def fitting(asked: Asked, cut: Cut) -> Cut:
    """The cut of a table, whose first collection the model was asked about: a table it cannot take is told at once."""
    model = check_arrays(load_model(asked.model), asked.model)
    first = read_shard(cut.inputs[0].path, cut.options, cut.shards[0], model.feature_names).piece
    if first is not None:
        with suppress(InputError):  # of its values; such a collection is a row of failure
            essence_rows(model, first, first.collections[:1], slice(int(first.collections.offsets[1])))
    return cut


def model_of(job: Job) -> Model:
    """The model of a job, which must work on arrays."""
    name = job.plan.model["name"]
    return check_arrays(model_from_bytes(job.model or b"", name), name)
