"""A job that was planned: its place, plan and task, and where it stands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fabula.errors import InputError, import_extra, shown
from fabula.jobs.inputs import Input, found_again
from fabula.jobs.parts import done_shards
from fabula.jobs.plan import MODEL, Plan, check_plan, digest, read_plan, write_plan
from fabula.jobs.store import Store, open_store
from fabula.jobs.task import Asked, Round, Task
from fabula.jobs.tasks import find_task
from fabula.models.file import load_model, shipped_models

ROUNDS = "rounds"


@dataclass(frozen=True, eq=False)
class Job:
    """A job as a worker has it.

    Attributes
    ----------
    store, plan, task
        Where it lies, what is to be done, and how.
    inputs
        The files it reads, where they lie on this machine.
    model
        The content of the model file, None where there is none.
    """

    store: Store
    plan: Plan
    task: Task
    inputs: tuple[Input, ...] = ()
    model: bytes | None = field(default=None, repr=False)

    @cached_property
    def opened(self) -> Any:
        """What all shards need, made when the first is done."""
        return self.task.open(self)

    @property
    def options(self) -> Mapping[str, Any]:
        """What the task was asked for."""
        return self.plan.options

    def check_inputs(self) -> None:
        """See that no input was replaced since this worker looked.

        Raises
        ------
        InputError
            When one has another size, or is gone.
        """
        for given in self.inputs:
            if "://" in given.path or not given.digest:
                continue
            try:
                same = Path(given.path).stat().st_size == given.size
            except OSError:
                same = False
            if not same:
                raise InputError(f"{shown(given.path)}: changed while the job was under way")

    def round(self) -> Round | None:
        """The round that is under way; None where the last one is complete."""
        last = self.latest()
        if last.shards == 0 or (not self.task.rounds and len(done_shards(self.store, 0)) >= last.shards):
            return None
        return last

    def latest(self) -> Round:
        """The round that was begun last; one without shards where all is done."""
        names = self.store.list(ROUNDS) if self.task.rounds else []
        return self.round_of(len(names))

    def round_of(self, number: int) -> Round:
        """A round that was begun."""
        if number == 0:
            return Round(0, len(self.plan.shards))
        data = json.loads(self.store.read(_round_file(number)) or b"{}")
        return Round(number, data.get("shards", 0), data.get("state", {}))

    def advance(self, complete: Round) -> None:
        """Plan the round after one that is complete; of several who do it one succeeds, all with the same."""
        after = self.task.following(self, complete)
        document: dict[str, Any] = {"shards": after.shards, "state": dict(after.state)}
        self.store.create(_round_file(after.number), json.dumps(document).encode())


def plan_job(
    address: str,
    task: str,
    inputs: Sequence[str],
    *,
    options: Mapping[str, Any] | None = None,
    model: str | None = None,
    shards: int | None = None,
) -> tuple[Plan, bool]:
    """Plan a job; the same call again finds the same plan.

    Parameters
    ----------
    address
        A folder, which is made, or an address.
    task
        A name of :data:`fabula.jobs.tasks.TASKS`.
    inputs
        What it reads.
    options
        Of the task.
    model
        The model's name or file.
    shards
        How many; by default as the task finds good.

    Returns
    -------
    The plan, and whether it is new.
    """
    import_extra("pyarrow", extra="tables", purpose="a job")
    kind = find_task(task)
    if not inputs:
        raise InputError(f"name what {task} is to read")
    if shards is not None and shards < 1:
        raise InputError(f"must be at least 1; got {shards}", field="shards")
    given = {name: value for name, value in (options or {}).items() if value is not None}
    unknown = sorted(set(given) - set(kind.options))
    if unknown:
        raise InputError(f"{task} takes the options {', '.join(kind.options) or 'none'}; got {', '.join(unknown)}")
    data = _model_of(kind, model)
    cut = kind.cut(Asked(tuple(inputs), {**kind.options, **given}, shards, model or ""))
    about = {"name": str(model), "digest": digest(data)} if data is not None else {}
    plan = Plan(task, cut.options, cut.inputs, cut.shards, cut.items, about)
    beside = dict(cut.beside) if data is None else {**cut.beside, MODEL: data}
    return plan, write_plan(open_store(address), plan, beside)


def open_job(address: str, inputs: Sequence[str] = (), *, check: bool = True) -> Job:
    """Open a job that was planned.

    Parameters
    ----------
    address
        Where it lies.
    inputs
        Where its inputs lie on this machine, if elsewhere than where it was planned.
    check
        Whether to see that version, model and inputs are those of the plan; who only looks need not.
    """
    import_extra("pyarrow", extra="tables", purpose="a job")
    store = open_store(address)
    plan = read_plan(store)
    if not check:
        return Job(store, plan, find_task(plan.task))
    model = check_plan(store, plan)
    return Job(store, plan, find_task(plan.task), tuple(found_again(plan.inputs, inputs)), model)


@lru_cache(maxsize=2)
def kept_job(address: str, inputs: tuple[str, ...] = ()) -> Job:
    """The same, opened once in a process."""
    return open_job(address, inputs)


def _round_file(number: int) -> str:
    return f"{ROUNDS}/{number:03d}.json"


def _model_of(task: Task, model: str | None) -> bytes | None:
    if model is None:
        if task.model:
            raise InputError(f"{task.name} needs a model: its name or file", field="model")
        return None
    if task.model is False:
        raise InputError(f"{task.name} takes no model", field="model")
    if model in shipped_models():
        return files("fabula.models").joinpath("shipped", f"{model}.safetensors").read_bytes()
    load_model(model)  # says what is wrong with it
    return Path(model).read_bytes()
