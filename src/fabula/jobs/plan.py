"""The plan of a job: what is to be done, with which versions, model and inputs, in which shards.

It is the first file of a job and never changes. Whoever works on the job compares it with what he has: another
model, another input or a version that does something else would put unlike parts into one result, and is refused.
Plans since version 0.4 are gone on with.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from fabula.errors import FileError, InputError, shown
from fabula.jobs.store import JobStore
from fabula.sources.tables.storage import Place
from fabula.version import __version__

FORMAT = "fabula-job"
VERSION = 1
PLAN = "plan.json"
MODEL = "model.safetensors"
_OLDEST = (0, 4)  # the version since which the same plan gives the same parts


@dataclass(frozen=True)
class Input:
    """One file that a job reads."""

    path: str  # where it lay when the job was planned: an absolute path, or an address
    size: int  # its bytes
    # SHA-256 of its content, at an address of what the file system says of it; "" for a folder
    digest: str

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Input:
        """Look at a file; a FileError where it cannot be read."""
        text = os.fspath(path)
        if "://" in text:
            return cls(text, *Place(text).stamp())
        place = Path(text).resolve()
        try:
            with place.open("rb") as file:
                return cls(str(place), place.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            raise FileError(f"{shown(text)}: cannot be read ({error.strerror or error})") from error

    @classmethod
    def folder(cls, path: str | os.PathLike[str]) -> Input:
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
        document = {"format": FORMAT, "format_version": VERSION, "task": self.task, "version": self.version}
        document |= {"key": self.key, "model": dict(self.model), "inputs": [asdict(given) for given in self.inputs]}
        document |= {"options": dict(self.options), "items": self.items, "shards": list(self.shards)}
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
    """Keep a plan where there is none: True where it is new, False where the same one is there already.

    Files beside it (name -> content: the model, lists of files) make that a worker needs nothing else.
    """
    if store.read(PLAN) is None:
        for name, data in beside.items():
            store.write(name, data)
        if store.create(PLAN, plan.to_json()):
            return True
    there = read_plan(store)
    if (replace(plan, version=there.version) if _goes_on(there) else plan).key != there.key:
        raise InputError(f"{store.address}: another job is planned there ({_unlike(there, plan)}); take another folder")
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


def check_plan(store: JobStore, plan: JobPlan) -> bytes | None:
    """Check version and model; returns the model file, None where the job has none."""
    if not _goes_on(plan):
        raise InputError(f"{store.address}: was planned by fabula {plan.version}, this is {__version__}; use the same")
    if not plan.model:
        return None
    data = store.read(MODEL)
    if data is None or digest(data) != plan.model["digest"]:
        what = "is missing" if data is None else "is another one"
        raise InputError(f"{store.address}/{MODEL}: the model {plan.model['name']!r} of the plan {what}")
    return data


def digest(data: bytes) -> str:
    """SHA-256."""
    return hashlib.sha256(data).hexdigest()


def ranges(count: int, shards: int) -> list[tuple[int, int]]:
    """Cut 0..count into ranges of sizes that differ by 1 at most."""
    parts = max(1, min(shards, count))
    edges = [count * i // parts for i in range(parts + 1)]
    return list(pairwise(edges))


def default_shards(items: int, each: int, most: int = 4096) -> int:
    """How many shards so that each has about so many items."""
    return max(1, min(most, -(-items // each)))


def _goes_on(plan: JobPlan) -> bool:
    """Whether this version gives the parts that the plan's would."""
    return _OLDEST <= _release(plan.version) <= _release(__version__)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())


def _unlike(there: JobPlan, plan: JobPlan) -> str:
    """What tells two plans apart, in words."""
    one, other = _facts(there), _facts(plan)
    unlike = (f"its {what}: {one[what]}, not {other[what]}" for what in one if one[what] != other[what])
    return next(unlike, "its shards are cut otherwise")


def _facts(plan: JobPlan) -> dict[str, Any]:
    model = f"{plan.model['name']} {plan.model['digest'][:12]}" if plan.model else "none"
    inputs = ", ".join(f"{given.path} {given.digest[:12]}" for given in plan.inputs[:2])
    inputs += " ..." if len(plan.inputs) > 2 else ""
    facts: dict[str, Any] = {"task": plan.task, "version": plan.version, "model": model, "inputs": inputs}
    return facts | {"options": dict(plan.options), "shards": len(plan.shards)}
