"""``audit``: the bits of a recipe on real collections and on controls; a shard is one training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.jobs.tasks.training import (
    OPTIONS,
    gather_audit,
    open_recipe,
    recipe_of,
    results_of,
    results_table,
    table_of,
    write_json,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.jobs.open_job import ShardedJob
    from fabula.training.item_models import EssenceTraining


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
