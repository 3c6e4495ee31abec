"""A catalogue of a million collections, ten million tracks: encoded, ordered and its templates learned, as jobs.

``python -m benchmarks.bench_million --collections 10000 --collections 1000000`` writes a synthetic Parquet table of
each size, ten rows a collection on average, plans the three jobs, lets one worker do each in a process of its own, and
prints for every stage the time, the time an item, and the largest memory of the process; then what ten million tracks
would take in core-hours, what was measured and what is extrapolated kept apart. ``--workers N`` for more processes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fabula.jobs.job import gather, plan_job
from fabula.models.model import load_essence_model

_TRACKS = 10_000_000
_AT_ONCE = 20_000  # collections made and written at a time
_STAGES = ("encode", "order", "templates-learn")
_WORK = """
import resource, sys
from fabula.cli import run
code = run(["job", "work", *sys.argv[1:]])
print(max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
sys.exit(code)
"""


@dataclass(frozen=True)
class Stage:
    """What one stage took: seconds of the clock and of all cores, and the largest memory of a process in MB."""

    name: str
    rows: int
    seconds: float
    core_seconds: float
    megabytes: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--collections", type=int, action="append", help="how many; repeatable; 10000 by default")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", help="where tables and jobs go; by default a temporary folder")
    asked = parser.parse_args(arguments)
    found: dict[int, list[Stage]] = {}
    with tempfile.TemporaryDirectory() as place:
        for count in asked.collections or [10_000]:
            found[count] = measure(count, Path(asked.folder or place), asked.workers)
    if len(found) > 1:
        _growth(found)
    _core_hours(found[max(found)])


def measure(count: int, folder: Path, workers: int) -> list[Stage]:
    """Make a catalogue of so many collections and take it through all stages."""
    table = folder / f"catalogue-{count}.parquet"
    began = time.perf_counter()
    rows = write_catalogue(table, count)
    size = table.stat().st_size / 1e6
    print(f"{count:,} collections, {rows:,} rows, {size:,.0f} MB, made in {time.perf_counter() - began:.1f} s")
    stages = []
    for task in _STAGES:
        address = str(folder / f"{task}-{count}")
        began = time.perf_counter()
        plan_job(address, task, [str(table)], model="albums")
        planned = time.perf_counter() - began
        stage = _worked(task, address, rows, workers)
        began = time.perf_counter()
        output = folder / f"{task}-{count}{'.json' if task == 'templates-learn' else '.parquet'}"
        told = gather(address, output)
        gathered = time.perf_counter() - began
        rounds = f", {told['rounds']} rounds" if "rounds" in told else ""
        print(
            f"  {task}: plan {planned:.1f} s, work {stage.seconds:.1f} s ({1e6 * stage.seconds / rows:.2f} "
            f"microseconds a row){rounds}, gather {gathered:.1f} s, at most {stage.megabytes:,.0f} MB; "
            f"digest {told['digest'][:12]}",
            flush=True,
        )
        stages.append(stage)
        if output.suffix == ".parquet":
            output.unlink()
    return stages


def write_catalogue(path: Path, count: int, seed: int = 0) -> int:
    """Write a catalogue of so many collections of 6 to 14 rows with the features of a model; returns its rows."""
    rng = np.random.default_rng(seed)
    transform = load_essence_model("albums").transform
    names, logged = transform.feature_names, {text.partition(" ")[0] for text in transform.logged}
    written, writer = 0, None
    for first in range(0, count, _AT_ONCE):
        many = min(_AT_ONCE, count - first)
        lengths = rng.integers(6, 15, many)
        rows = int(lengths.sum())
        values = transform.mean + transform.deviation * rng.standard_normal((rows, len(names)))
        columns: dict[str, object] = {
            "album_id": np.repeat(np.arange(first, first + many), lengths),
            "track_number": np.arange(rows) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1,
        }
        for i, name in enumerate(names):
            columns[name] = (np.exp(values[:, i]) if name in logged else values[:, i]).astype(np.float32)
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
        written += rows
    if writer is not None:
        writer.close()
    return written


def _worked(task: str, address: str, rows: int, workers: int) -> Stage:
    """Let processes of their own do a job."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    before, began = os.times(), time.perf_counter()
    command = [sys.executable, "-c", _WORK, address, "--jobs", str(workers)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    seconds, after = time.perf_counter() - began, os.times()
    cores = after.children_user + after.children_system - before.children_user - before.children_system
    return Stage(task, rows, seconds, cores, int(done.stdout.split()[-1]) / 1024)


def _growth(found: dict[int, list[Stage]]) -> None:
    few, many = min(found), max(found)
    print(f"growth from {few:,} to {many:,} collections ({many / few:,.0f} x):")
    for small, large in zip(found[few], found[many], strict=True):
        memory = f"memory {large.megabytes / small.megabytes:.2f} x"
        print(f"  {small.name}: time {large.seconds / small.seconds:.1f} x, {memory}")


def _core_hours(stages: list[Stage]) -> None:
    """What ten million tracks take: measured where so many were done, else by the time a row of the largest run."""
    rows = stages[0].rows
    whole = rows >= 0.9 * _TRACKS
    total = 0.0
    for stage in stages:
        hours = stage.core_seconds / stage.rows * _TRACKS / 3600
        total += hours
        print(f"ten million tracks, {stage.name}: {hours:.3f} core-hours ({'measured' if whole else 'extrapolated'})")
    how = f"measured on {rows:,} rows" if whole else f"extrapolated from {rows:,} rows"
    print(f"ten million tracks, these stages together: {total:.3f} core-hours ({how}); decoding is bench_jobs --files")


if __name__ == "__main__":
    main()
