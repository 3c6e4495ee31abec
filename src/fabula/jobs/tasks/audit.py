"""``audit``: the bits of a recipe on real collections and on controls; a shard is one training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.jobs.tasks.training import OPTIONS, recipe_of, results_of, results_table, table_of, write_json
from fabula.studies.sweeps import Sweep, audit_report, audited_data, open_sweep

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.jobs.open_job import ShardedJob


class Audit(JobTask):
    """Gathered as the JSON that ``fabula audit --json`` prints, but for its notes."""

    name: ClassVar[str] = "audit"
    options: ClassVar[Mapping[str, Any]] = {**OPTIONS, "controls_only": False}
    items: ClassVar[str] = "trainings"

    def cut(self, asked: JobRequest) -> Cut:
        """One shard for the real collections and for each control."""
        table = table_of(asked)
        open_sweep(recipe_of(table.path, asked.options), audit=True)  # says what is wrong with it
        names = audited_data(controls_only=bool(asked.options["controls_only"]))
        return Cut((table,), tuple(names), len(names), dict(asked.options))

    def open(self, job: ShardedJob) -> Sweep:
        """The collections."""
        return open_sweep(recipe_of(job.inputs[0].path, job.options), audit=True)

    def do(self, job: ShardedJob, now: Round, shard: int) -> tuple[pa.Table, int]:
        """Train and measure."""
        name = job.plan.shards[shard]
        sweep: Sweep = job.opened
        return results_table(name, sweep.audited(name)), 1

    def gather(self, job: ShardedJob, output: Path) -> dict[str, Any]:
        """Write the report."""
        results, digest = results_of(job)
        report = audit_report([row for rows in results for row in rows])
        rows = [
            {**asdict(row), "verdict": report.verdict(row) if row in report.controls else None} for row in report.rows
        ]
        write_json(output, {"ok": report.ok, "judged": report.judged, "needed": report.needed, "rows": rows})
        return {"rows": len(rows), "digest": digest, "ok": report.ok}
