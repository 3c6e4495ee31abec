"""``compare`` and ``audit``: a recipe in the plan, a training a shard, JSON rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from fabula.core.files import json_text, write_whole
from fabula.errors import InputError
from fabula.jobs.job import Input, ShardedJob
from fabula.jobs.store import manifests, read_part, total_digest
from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.research.splits import Recipe
from fabula.research.train import prepare_audit

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.training.item_models import EssenceTraining

OPTIONS: Mapping[str, Any] = {"where": {}, "preset": "default", "changes": {}, "device": "auto", "held_out": 0.1}


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
    write_whole(output, json_text(document, indent=1) + "\n")


class ByTraining(JobTask):
    """A task of which a shard is one training by the recipe of the plan."""

    items: ClassVar[str] = "trainings"

    def open(self, job: ShardedJob) -> EssenceTraining:
        """The collections."""
        return self.ready(job.inputs[0].path, job.options)

    def ready(self, path: str, options: Mapping[str, Any]) -> EssenceTraining:
        """What is trained; an audit of a small table holds more of it out."""
        given = options["changes"].items()  # JSON has no tuples
        changes = {name: tuple(value) if isinstance(value, list) else value for name, value in given}
        recipe = Recipe(
            Path(path), options["where"], options["preset"], changes, options["device"], options["held_out"]
        )
        from fabula.research.kinds import prepare

        found = prepare_audit(recipe) if self.name == "audit" else prepare(recipe)
        return cast("EssenceTraining", found.trainable)


class Compare(ByTraining):
    """Gathered as the JSON that ``fabula compare --json`` prints."""

    name: ClassVar[str] = "compare"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "seeds": 5, "dimensions": []}

    def cut(self, asked: JobRequest) -> Cut:
        """One shard for each training."""
        table, options = Input.table(asked.inputs), asked.options
        essence = self.ready(table.path, options)
        from fabula.training.compare import list_trials

        runs = list_trials(essence, int(options["seeds"]), options["dimensions"])
        return Cut((table,), tuple(map(list, runs)), len(runs), dict(options))

    def do(self, job: ShardedJob, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Train and measure."""
        from fabula.training.compare import Trial, run_trial

        trial = Trial.of(job.plan.shards[shard])
        return results_table(f"{trial.name}, seed {trial.seed}", [asdict(run_trial(job.opened, trial))]), 1

    def gather(self, job: ShardedJob, output: Path) -> dict[str, Any]:
        """Write the rows of the comparison."""
        from fabula.training.compare import Measured, Trial, gather_trials

        results, digest = results_of(job)
        found = [(Trial.of(shard), Measured(**one[0])) for shard, one in zip(job.plan.shards, results, strict=True)]
        rows = gather_trials(found, sweep=bool(job.options["dimensions"]))
        write_json(output, [asdict(row) for row in rows])
        return {"rows": len(rows), "digest": digest}


class Audit(ByTraining):
    """Gathered as the JSON that ``fabula audit --json`` prints, but for its notes."""

    name: ClassVar[str] = "audit"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "controls_only": False}

    def cut(self, asked: JobRequest) -> Cut:
        """One shard for the real collections and for each control."""
        table = Input.table(asked.inputs)
        essence = self.ready(table.path, asked.options)
        names = ("real", *essence.controls)[bool(asked.options["controls_only"]) :]
        return Cut((table,), tuple(names), len(names), dict(asked.options))

    def do(self, job: ShardedJob, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Train and measure."""
        from fabula.training.audit import audit_one

        name = job.plan.shards[shard]
        return results_table(name, [asdict(row) for row in audit_one(name, job.opened)[1]]), 1

    def gather(self, job: ShardedJob, output: Path) -> dict[str, Any]:
        """Write the report."""
        from fabula.training.audit import AuditReport, AuditRow

        results, digest = results_of(job)
        report = AuditReport([AuditRow(**row) for rows in results for row in rows])
        told = report.to_dict()
        del told["notes"]
        write_json(output, told)
        return {"rows": len(report.rows), "digest": digest, "ok": report.ok}
