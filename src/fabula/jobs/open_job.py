"""A job as a person has it: planned, opened, and gathered when it is done."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.files import check_target, whole_file
from fabula.errors import InputError, import_extra, shown
from fabula.jobs.plan import MODEL, Input, JobPlan, check_plan, digest, find_inputs, read_plan, write_plan
from fabula.jobs.shard_parts import FAILURE, Manifest, manifests, part_schema, read_part, total_digest
from fabula.jobs.store import JobStore, done_shards, open_store
from fabula.jobs.task import JobRequest, JobTask, Round
from fabula.jobs.tasks import find_task
from fabula.models.model import load_model, shipped_models
from fabula.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

ROUNDS = "rounds"


@dataclass(frozen=True, eq=False)
class ShardedJob:
    """A job as a worker has it."""

    store: JobStore  # where it lies
    plan: JobPlan
    task: JobTask
    inputs: tuple[Input, ...] = ()  # the files it reads, where they lie on this machine
    model: bytes | None = field(default=None, repr=False)  # the content of the model file, None where there is none

    @cached_property
    def opened(self) -> Any:
        """What all shards need, made when the first is done."""
        return self.task.open(self)

    @property
    def options(self) -> Mapping[str, Any]:
        """What the task was asked for."""
        return self.plan.options

    def check_inputs(self) -> None:
        """See that no input was replaced since this worker looked."""
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
) -> tuple[JobPlan, bool]:
    """Plan a job in a folder, which is made, or at an address; returns the plan, and whether it is new.

    The task is a name of :data:`fabula.jobs.tasks.TASKS`, with options of its own.
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
    cut = kind.cut(JobRequest(tuple(inputs), {**kind.options, **given}, shards, model or ""))
    about = {"name": str(model), "digest": digest(data)} if data is not None else {}
    plan = JobPlan(task, cut.options, cut.inputs, cut.shards, cut.items, about, __version__)
    beside = dict(cut.beside) if data is None else {**cut.beside, MODEL: data}
    return plan, write_plan(open_store(address), plan, beside)


def open_job(address: str, inputs: Sequence[str] = (), *, check: bool = True) -> ShardedJob:
    """Open a job that was planned; who only looks need not check version, model and inputs.

    ``inputs`` says where its inputs lie on this machine, if elsewhere than where it was planned.
    """
    import_extra("pyarrow", extra="tables", purpose="a job")
    store = open_store(address)
    plan = read_plan(store)
    if not check:
        return ShardedJob(store, plan, find_task(plan.task))
    model = check_plan(store, plan)
    return ShardedJob(store, plan, find_task(plan.task), tuple(find_inputs(plan.inputs, inputs)), model)


@lru_cache(maxsize=2)
def reopen_job(address: str, inputs: tuple[str, ...] = ()) -> ShardedJob:
    """The same, opened once in a process."""
    return open_job(address, inputs)


def gather(address: str, output: str | os.PathLike[str], *, partial: bool = False) -> dict[str, Any]:
    """Write what a job came to, or what is there of an incomplete one.

    Returns what to tell: ``path``, ``digest``, and for tables ``rows``, ``failures`` and ``missing`` shards.
    """
    job = open_job(address, check=False)
    target = check_target(output)
    now = job.round()
    if now is not None and not partial:
        manifests(job.store, now.number, now.shards)  # says which are missing
        raise InputError(f"{job.store.address}: a round is to come; work on it")
    own = job.task.gather(job, target) if now is None else None
    return {"path": str(target), **(own or gather_table(job, target, partial=partial))}


def gather_table(job: ShardedJob, target: Path, *, partial: bool = False) -> dict[str, Any]:
    """Write the rows of all parts of the first round as .parquet or .csv, whole or not at all.

    A part is written at a time, so that the result may be larger than memory.
    """
    from pyarrow.csv import CSVWriter
    from pyarrow.parquet import ParquetWriter

    writers: dict[str, Any] = {".parquet": ParquetWriter, ".csv": CSVWriter}
    ending = target.suffix.lower()
    if ending not in writers:
        raise InputError(f"{target}: rows are gathered as one of {', '.join(writers)}")
    shards = len(job.plan.shards)
    parts = manifests(job.store, 0, shards, partial=partial)
    schema = _schema(job, parts)
    with whole_file(target) as file, writers[ending](file, schema) as writer:
        for part in parts:
            writer.write_table(_cast(read_part(job.store, part), schema))
    about = {name: sum(getattr(one, name) for one in parts) for name in ("rows", "failures")}
    return {**about, "digest": total_digest(parts), "missing": shards - len(parts)}


def _round_file(number: int) -> str:
    return f"{ROUNDS}/{number:03d}.json"


def _model_of(task: JobTask, model: str | None) -> bytes | None:
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


def _schema(job: ShardedJob, parts: Sequence[Manifest]) -> pa.Schema:
    """One schema for all parts: a column that one part lacks is empty there; failures come last."""
    import pyarrow as pa

    known = {part_schema(job.store, part): None for part in parts}
    found: pa.Schema = pa.unify_schemas(list(known), promote_options="permissive")
    if FAILURE not in found.names:
        return found
    at = found.get_field_index(FAILURE)
    return found.remove(at).append(found.field(at))


def _cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    none = pa.nulls(table.num_rows)
    known = (table.column(field.name) if field.name in table.column_names else none for field in schema)
    return pa.table([column.cast(field.type) for column, field in zip(known, schema, strict=True)], schema=schema)
