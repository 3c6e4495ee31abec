"""The plan of a job: what is to be done, with which versions, model and inputs, in which shards.

It is the first file of a job and never changes. Whoever works on the job compares it with what he has: another
version of this package, another model or another input would put unlike parts into one result, and is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fabula.errors import FileError, InputError
from fabula.jobs.inputs import Input
from fabula.jobs.store import Store
from fabula.version import __version__

FORMAT = "fabula-job"
VERSION = 1
PLAN = "plan.json"
MODEL = "model.safetensors"


@dataclass(frozen=True)
class Plan:
    """What a job does.

    Attributes
    ----------
    task
        The kind of work, a name of :mod:`fabula.jobs.tasks`.
    options
        What the task was asked for, everything that decides the result.
    inputs
        The files it reads.
    shards
        What each shard is, in the task's own terms, such as a range of rows. A shard's number is its place here.
    items
        How many items (collections, files, trainings) all shards have together.
    model
        ``{"name": ..., "digest": ...}`` of the model, which lies beside the plan; empty where none is used.
    version
        Of this package.
    """

    task: str
    options: Mapping[str, Any]
    inputs: tuple[Input, ...]
    shards: tuple[Any, ...]
    items: int
    model: Mapping[str, str] = field(default_factory=dict)
    version: str = __version__

    @property
    def key(self) -> str:
        """Depends on everything that decides the result; paths do not."""
        known = [given.digest for given in self.inputs]
        what = [self.task, dict(self.options), known, list(self.shards), self.model.get("digest", ""), self.version]
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> bytes:
        """As it is kept."""
        document = {"format": FORMAT, "format_version": VERSION, "task": self.task, "version": self.version}
        document |= {"key": self.key, "model": dict(self.model), "inputs": [i.to_dict() for i in self.inputs]}
        document |= {"options": dict(self.options), "items": self.items, "shards": list(self.shards)}
        return (json.dumps(document, ensure_ascii=False) + "\n").encode()


def write_plan(store: Store, plan: Plan, beside: Mapping[str, bytes]) -> bool:
    """Keep a plan where there is none: True where it is new, False where the same one is there already.

    Parameters
    ----------
    store
        Where the job lies.
    plan
        What to do.
    beside
        Name -> content of the files kept beside it, so that a worker needs nothing else: the model, lists of files.

    Raises
    ------
    InputError
        When another job is planned there.
    """
    if store.read(PLAN) is None:
        for name, data in beside.items():
            store.write(name, data)
        if store.create(PLAN, plan.to_json()):
            return True
    there = read_plan(store)
    if there.key != plan.key:
        raise InputError(f"{store.address}: another job is planned there ({_unlike(there, plan)}); take another folder")
    return False


def read_plan(store: Store) -> Plan:
    """Read a plan.

    Raises
    ------
    FileError
        When there is none, or it is broken.
    """
    data = store.read(PLAN)
    if data is None:
        raise FileError(f"{store.address}: no job is planned there; begin with: fabula job plan")
    try:
        document = json.loads(data)
        if document["format"] != FORMAT or document["format_version"] != VERSION:
            raise FileError(f"{store.address}/{PLAN}: is the plan of no job that this fabula knows")
        plan = Plan(
            document["task"],
            document["options"],
            tuple(Input(**given) for given in document["inputs"]),
            tuple(document["shards"]),
            document["items"],
            document["model"],
            document["version"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{store.address}/{PLAN}: is broken ({error})") from error
    if plan.key != document.get("key"):
        raise FileError(f"{store.address}/{PLAN}: was changed after the job was planned; plan another job")
    return plan


def check_plan(store: Store, plan: Plan) -> bytes | None:
    """Check version and model; returns the model file, None where the job has none.

    Raises
    ------
    InputError
        When the job was planned by another version, or its model is another now.
    """
    if plan.version != __version__:
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
    """Cut 0..count into ranges of sizes that differ by 1 at most.

    Examples
    --------
    >>> ranges(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    parts = max(1, min(shards, count))
    edges = [count * i // parts for i in range(parts + 1)]
    return list(pairwise(edges))


def default_shards(items: int, each: int, most: int = 4096) -> int:
    """How many shards so that each has about so many items."""
    return max(1, min(most, -(-items // each)))


def _unlike(there: Plan, plan: Plan) -> str:
    """What tells two plans apart, in words."""
    for what, one, other in (
        ("task", there.task, plan.task),
        ("version", there.version, plan.version),
        ("model", _called(there), _called(plan)),
        ("inputs", _digests(there.inputs), _digests(plan.inputs)),
        ("options", dict(there.options), dict(plan.options)),
        ("shards", len(there.shards), len(plan.shards)),
    ):
        if one != other:
            return f"its {what}: {one}, not {other}"
    return "its shards are cut otherwise"


def _called(plan: Plan) -> str:
    return f"{plan.model['name']} {plan.model['digest'][:12]}" if plan.model else "none"


def _digests(inputs: Sequence[Input]) -> str:
    return ", ".join(f"{given.path} {given.digest[:12]}" for given in inputs[:2]) + (" ..." if len(inputs) > 2 else "")
