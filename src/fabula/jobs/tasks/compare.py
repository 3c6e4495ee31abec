"""``compare``: what each feature tells about the order and what the essence tells; a shard is one training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.jobs.tasks.training import (
    OPTIONS,
    Trial,
    gather_trials,
    list_trials,
    open_recipe,
    recipe_of,
    results_of,
    results_table,
    run_trial,
    table_of,
    write_json,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.jobs.open_job import ShardedJob
    from fabula.training.item_models import EssenceTraining


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
