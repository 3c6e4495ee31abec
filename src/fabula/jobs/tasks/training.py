"""``compare`` and ``audit``: a recipe in the plan, a training a shard, JSON rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from fabula.core.files import write_whole
from fabula.errors import InputError
from fabula.jobs.job import Input, ShardedJob
from fabula.jobs.store import manifests, read_part, total_digest
from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.research.splits import Recipe
from fabula.research.train import prepare_audit, prepare_recipe

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.training.audit import AuditReport
    from fabula.training.compare import Compared
    from fabula.training.item_models import EssenceTraining

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


@dataclass(frozen=True)
class Trial:
    """One training of a comparison: the name of a feature or ``"essence"``, its dimensions, and the seed."""

    name: str
    dimensions: int
    seed: int


def open_recipe(recipe: Recipe, *, audit: bool = False) -> EssenceTraining:
    """Read the collections of a recipe; an audit of a small table holds more of it out."""
    if recipe.kind != "essence":
        raise InputError(f"trainings are shared out for models of kind essence; got {recipe.kind}", field="kind")
    found: EssenceTraining = (prepare_audit(recipe) if audit else prepare_recipe(recipe)).trainable  # type: ignore[assignment]
    return found


def list_trials(essence: EssenceTraining, seeds: int, dimensions: Sequence[int] = ()) -> list[Trial]:
    """Every training that :func:`fabula.compare` does, in its order."""
    from fabula.training.compare import ESSENCE
    from fabula.training.data import choose_features

    if dimensions:
        return [Trial(ESSENCE, d, seed) for d in dimensions for seed in range(seeds)]
    names = choose_features(essence.config, essence.parts.training)
    whole = [Trial(ESSENCE, essence.config.dimensions, seed) for seed in range(seeds)]
    return whole + [Trial(name, 1, seed) for name in names for seed in range(seeds)]


def run_trial(essence: EssenceTraining, trial: Trial) -> dict[str, Any]:
    """Train once and measure; as JSON holds it."""
    from fabula.training.compare import ESSENCE, alone, measure

    config = replace(essence.config, dimensions=trial.dimensions)
    recipe = config if trial.name == ESSENCE else alone(config, trial.name)
    return asdict(measure(essence.parts, replace(recipe, seed=recipe.seed + trial.seed), device=essence.device))


def gather_trials(found: Sequence[tuple[Trial, Mapping[str, Any]]], *, sweep: bool = False) -> list[Compared]:
    """The rows of :func:`fabula.compare`, from its trainings; ``sweep`` where they are by dimensions."""
    from fabula.training.compare import ESSENCE, Measured, rank, summarise

    runs: dict[tuple[str, int], list[Measured]] = {}
    for trial, result in found:
        runs.setdefault((trial.name, trial.dimensions), []).append(Measured(**result))
    if sweep:
        return [summarise(name, d, each) for (name, d), each in runs.items()]
    (_, d), essence = next(iter(runs.items()))
    return rank(essence, {name: each for (name, _), each in runs.items() if name != ESSENCE}, d)


def gather_audit(rows: Sequence[Mapping[str, Any]]) -> AuditReport:
    """The report of :func:`fabula.audit`, from the rows of its trainings."""
    from fabula.training.audit import AuditReport, AuditRow

    return AuditReport([AuditRow(**row) for row in rows])


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


class Compare(JobTask):
    """Gathered as the JSON that ``fabula compare --json`` prints."""

    name: ClassVar[str] = "compare"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "seeds": 5, "dimensions": []}
    items: ClassVar[str] = "trainings"

    def cut(self, asked: JobRequest) -> Cut:
        """One shard for each training."""
        table = table_of(asked)
        options = asked.options
        essence = open_recipe(recipe_of(table.path, options))
        runs = list_trials(essence, int(options["seeds"]), options["dimensions"])
        return Cut((table,), tuple([run.name, run.dimensions, run.seed] for run in runs), len(runs), dict(options))

    def open(self, job: ShardedJob) -> EssenceTraining:
        """The collections."""
        return open_recipe(recipe_of(job.inputs[0].path, job.options))

    def do(self, job: ShardedJob, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Train and measure."""
        trial = Trial(*job.plan.shards[shard])
        return results_table(f"{trial.name}, seed {trial.seed}", [run_trial(job.opened, trial)]), 1

    def gather(self, job: ShardedJob, output: Path) -> dict[str, Any]:
        """Write the rows of the comparison."""
        results, digest = results_of(job)
        found = [(Trial(*shard), one[0]) for shard, one in zip(job.plan.shards, results, strict=True)]
        rows = gather_trials(found, sweep=bool(job.options["dimensions"]))
        write_json(output, [asdict(row) for row in rows])
        return {"rows": len(rows), "digest": digest}


class Audit(JobTask):
    """Gathered as the JSON that ``fabula audit --json`` prints, but for its notes."""

    name: ClassVar[str] = "audit"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "controls_only": False}
    items: ClassVar[str] = "trainings"

    def cut(self, asked: JobRequest) -> Cut:
        """One shard for the real collections and for each control."""
        table = table_of(asked)
        essence = open_recipe(recipe_of(table.path, asked.options), audit=True)
        names = ("real", *essence.controls)[bool(asked.options["controls_only"]) :]
        return Cut((table,), tuple(names), len(names), dict(asked.options))

    def open(self, job: ShardedJob) -> EssenceTraining:
        """The collections."""
        return open_recipe(recipe_of(job.inputs[0].path, job.options), audit=True)

    def do(self, job: ShardedJob, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Train and measure."""
        name = job.plan.shards[shard]
        from fabula.training.audit import audit_one

        rows = audit_one(name, job.opened)[1]
        return results_table(name, [asdict(row) for row in rows]), 1

    def gather(self, job: ShardedJob, output: Path) -> dict[str, Any]:
        """Write the report."""
        results, digest = results_of(job)
        report = gather_audit([row for rows in results for row in rows])
        rows = [
            {**asdict(row), "verdict": report.verdict(row) if row in report.controls else None} for row in report.rows
        ]
        write_json(output, {"ok": report.ok, "judged": report.judged, "needed": report.needed, "rows": rows})
        return {"rows": len(rows), "digest": digest, "ok": report.ok}
