"""What the trainings ``compare`` and ``audit`` have in common: a recipe in the plan, and JSON results as rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.files.atomic import write_whole
from fabula.errors import InputError
from fabula.jobs.plan import Input
from fabula.jobs.shard_parts import manifests, read_part, total_digest
from fabula.jobs.task import JobRequest
from fabula.studies.recipe import Recipe

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.jobs.open_job import ShardedJob

OPTIONS: Mapping[str, Any] = {"where": {}, "preset": "default", "changes": {}, "device": "auto", "held_out": 0.1}


def table_of(asked: JobRequest) -> Input:
    """The one table that is trained on."""
    if len(asked.inputs) != 1:
        raise InputError(f"one table at a time; got {len(asked.inputs)}")
    return Input.of(asked.inputs[0])


def recipe_of(path: str, options: Mapping[str, Any]) -> Recipe:
    """The recipe of a plan; JSON has no tuples."""
    changes = {name: tuple(value) if isinstance(value, list) else value for name, value in options["changes"].items()}
    return Recipe(Path(path), options["where"], options["preset"], changes, options["device"], options["held_out"])


def results_table(name: str, results: Sequence[Any]) -> pa.Table:
    """Results as rows: what they are of, and JSON."""
    import pyarrow as pa

    texts = [json.dumps(one, sort_keys=True) for one in results]
    return pa.table({"name": pa.array([name] * len(texts), pa.string()), "result": pa.array(texts, pa.string())})


def results_of(job: ShardedJob) -> tuple[list[list[Any]], str]:
    """The results of each shard, and the digest of all."""
    parts = manifests(job.store, 0, len(job.plan.shards))
    rows = [read_part(job.store, part).column("result").to_pylist() for part in parts]
    return [[json.loads(str(text)) for text in texts] for texts in rows], total_digest(parts)


def write_json(output: Path, document: Any) -> None:
    """Write what was found, whole or not at all."""
    if output.suffix.lower() != ".json":
        raise InputError(f"{output}: it is gathered as .json")
    write_whole(output, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
