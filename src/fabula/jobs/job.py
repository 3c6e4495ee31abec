"""A job: its plan (what is to be done, with which versions, model and inputs, in which shards), opened and gathered.

The plan is the first file of a job and never changes. Whoever works on the job compares it with what he has, so that no
unlike parts come into one result. Plans since version 0.4 are gone on with.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

from fabula.core.files import check_target, tell_refusal, whole_file
from fabula.errors import FileError, InputError, import_extra, shown
from fabula.jobs.store import JobStore, done_shards, joint_schema, manifests, open_store, read_part, total_digest
from fabula.jobs.task import JobRequest, JobTask, Round, find_task
from fabula.models.model import load_model, shipped_models
from fabula.sources.tables.storage import Place
from fabula.version import __version__

FORMAT = "fabula-job"
VERSION = 1
PLAN = "plan.json"
MODEL = "model.safetensors"
_OLDEST = (0, 4)  # the version since which the same plan gives the same parts
_MOST_SHARDS = 4096  # where nobody says how many


@dataclass(frozen=True)
class Input:
    """One file that a job reads."""

    path: str  # where it lay when the job was planned: an absolute path, or an address
    size: int  # its bytes
    # SHA-256 of its content, at an address of what the file system says of it; "" for a folder
    digest: str

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> "Input":
        """Look at a file; a FileError where it cannot be read."""
        text = os.fspath(path)
        if "://" in text:
            return cls(text, *Place(text).stamp())
        place = Path(text).resolve()
        with tell_refusal(text, "be read"), place.open("rb") as file:
            return cls(str(place), place.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())

    @classmethod
    def table(cls, paths: Sequence[str]) -> "Input":
        """The one table that a job reads."""
        if len(paths) != 1:
            raise InputError(f"one table at a time; got {len(paths)}")
        return cls.of(paths[0])

    @classmethod
    def folder(cls, path: str | os.PathLike[str]) -> "Input":
        """A folder whose files are read."""
        return cls(str(Path(path).resolve()), 0, "")


@dataclass(frozen=True)
class JobPlan:
    """What a job does."""

    task: str  # the kind of work, a name of :mod:`fabula.jobs.tasks`
    options: Mapping[str, Any]  # what the task was asked for, everything that decides the result
    inputs: tuple[Input, ...]
    shards: tuple[Any, ...]  # what each shard, by its number, is in the task's own terms, such as a range of rows
    items: int  # how many items (collections, files, trainings) all shards have together
    model: Mapping[str, str]  # its name and digest; empty where none is used
    version: str  # of this package

    @property
    def key(self) -> str:
        """Depends on everything that decides the result; paths do not."""
        known = [given.digest for given in self.inputs]
        what = [self.task, dict(self.options), known, list(self.shards), self.model.get("digest", ""), self.version]
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> bytes:
        """As it is kept."""
        document = {"format": FORMAT, "format_version": VERSION, "key": self.key, **asdict(self)}
        return (json.dumps(document, ensure_ascii=False) + "\n").encode()


def find_inputs(inputs: Sequence[Input], elsewhere: Sequence[str] = ()) -> list[Input]:
    """The inputs of a plan where they lie for this worker, each the same file as when the job was planned."""
    if elsewhere and len(elsewhere) != len(inputs):
        raise InputError(f"the job reads {len(inputs)} file(s); got {len(elsewhere)}", field="inputs")
    paths = elsewhere or [given.path for given in inputs]
    found = [Input.of(path) if given.digest else Input.folder(path) for given, path in zip(inputs, paths, strict=True)]
    for given, now in zip(inputs, found, strict=True):
        if not given.digest and not Path(now.path).is_dir():
            raise InputError(f"{shown(now.path)}: the folder that the job reads is not there")
        if (given.size, given.digest) != (now.size, now.digest):
            raise InputError(f"{shown(now.path)}: is not the file that the job was planned with; plan another job")
    return found


def write_plan(store: JobStore, plan: JobPlan, beside: Mapping[str, bytes]) -> bool:
    """Keep a plan where there is none: True where it is new, False where the same one is there already."""
    if store.read(PLAN) is None:
        for name, data in beside.items():
            store.write(name, data)
        if store.create(PLAN, plan.to_json()):
            return True
    there = read_plan(store)
    if (replace(plan, version=there.version) if _goes_on(there) else plan).key != there.key:
        one, other = _facts(there), _facts(plan)
        unlike = (f"its {what}: {one[what]}, not {other[what]}" for what in one if one[what] != other[what])
        told = next(unlike, "its shards are cut otherwise")
        raise InputError(f"{store.address}: another job is planned there ({told}); take another folder")
    return False


def read_plan(store: JobStore) -> JobPlan:
    """Read a plan."""
    data = store.read(PLAN)
    if data is None:
        raise FileError(f"{store.address}: no job is planned there; begin with: fabula job plan")
    try:
        document = json.loads(data)
        if document["format"] != FORMAT or document["format_version"] != VERSION:
            raise FileError(f"{store.address}/{PLAN}: is the plan of no job that this fabula knows")
        inputs = tuple(Input(**given) for given in document["inputs"])
        plain = {name: document[name] for name in ("task", "options", "items", "model", "version")}
        plan = JobPlan(inputs=inputs, shards=tuple(document["shards"]), **plain)
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{store.address}/{PLAN}: is broken ({error})") from error
    if plan.key != document.get("key"):
        raise FileError(f"{store.address}/{PLAN}: was changed after the job was planned; plan another job")
    return plan


def digest(data: bytes) -> str:
    """SHA-256."""
    return hashlib.sha256(data).hexdigest()


def ranges(count: int, shards: int | None, each: int = 1) -> list[tuple[int, int]]:
    """Cut 0..count into ranges of sizes that differ by 1 at most: so many, or so many that each has about ``each``."""
    wanted = min(_MOST_SHARDS, -(-count // each)) if shards is None else shards
    parts = max(1, min(wanted, count))
    return list(pairwise(count * i // parts for i in range(parts + 1)))


def _goes_on(plan: JobPlan) -> bool:
    """Whether this version gives the parts that the plan's would."""
    return _OLDEST <= _release(plan.version) <= _release(__version__)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())


def _facts(plan: JobPlan) -> dict[str, Any]:
    """What tells plans apart, in words."""
    model = f"{plan.model['name']} {plan.model['digest'][:12]}" if plan.model else "none"
    inputs = ", ".join(f"{given.path} {given.digest[:12]}" for given in plan.inputs[:2])
    inputs += " ..." if len(plan.inputs) > 2 else ""
    facts: dict[str, Any] = {"task": plan.task, "version": plan.version, "model": model, "inputs": inputs}
    return facts | {"options": dict(plan.options), "shards": len(plan.shards)}


# A job as a person has it: planned, opened, and gathered when it is done.

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
    """Plan a job in a folder, which is made, or at an address; returns the plan, and whether it is new."""
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
    if model is None and kind.model:
        raise InputError(f"{kind.name} needs a model: its name or file", field="model")
    if model is not None and kind.model is False:
        raise InputError(f"{kind.name} takes no model", field="model")
    data = None
    if model in shipped_models():
        data = files("fabula.models").joinpath("shipped", f"{model}.safetensors").read_bytes()
    elif model is not None:
        load_model(model)  # says what is wrong with it
        data = Path(model).read_bytes()
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
    if not _goes_on(plan):
        raise InputError(f"{store.address}: was planned by fabula {plan.version}, this is {__version__}; use the same")
    model = store.read(MODEL) if plan.model else None
    if plan.model and (model is None or digest(model) != plan.model["digest"]):
        what = "is missing" if model is None else "is another one"
        raise InputError(f"{store.address}/{MODEL}: the model {plan.model['name']!r} of the plan {what}")
    return ShardedJob(store, plan, find_task(plan.task), tuple(find_inputs(plan.inputs, inputs)), model)


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
    """Write the rows of all parts of the first round as .parquet or .csv, whole or not at all."""
    import pyarrow as pa
    from pyarrow.csv import CSVWriter
    from pyarrow.parquet import ParquetWriter

    writers: dict[str, Any] = {".parquet": ParquetWriter, ".csv": CSVWriter}
    ending = target.suffix.lower()
    if ending not in writers:
        raise InputError(f"{target}: rows are gathered as one of {', '.join(writers)}")
    shards = len(job.plan.shards)
    parts = manifests(job.store, 0, shards, partial=partial)
    schema = joint_schema(job.store, parts)
    with whole_file(target) as file, writers[ending](file, schema) as writer:
        for part in parts:
            whole = [schema.empty_table(), read_part(job.store, part)]  # so it has every column
            writer.write_table(pa.concat_tables(whole, promote_options="permissive"))
    about = {name: sum(getattr(one, name) for one in parts) for name in ("rows", "failures")}
    return {**about, "digest": total_digest(parts), "missing": shards - len(parts)}


def _round_file(number: int) -> str:
    return f"{ROUNDS}/{number:03d}.json"
