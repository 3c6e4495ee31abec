"""Jobs: what cutting into shards costs beside a plain loop, and what a second worker brings.

``python -m benchmarks.bench_jobs`` prints the first; with ``--files FOLDER`` also how much faster two workers are than
one on decoding the files there, beside two plain processes and two threads, each with caches off.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.timing import best_of, report
from fabula.jobs.job import Input, ShardedJob, gather, plan_job, ranges
from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.jobs.worker import work, work_side_by_side

_ITEMS, _SHARDS = 200_000, 16


class Tiny(JobTask):
    """The number of vowels in each line of a file: about as little as a task can do with an item."""

    name = "tiny"

    def cut(self, asked: JobRequest) -> Cut:
        count = len(_lines(asked.inputs[0]))
        return Cut((Input.of(asked.inputs[0]),), tuple(ranges(count, asked.shards or _SHARDS)), count)

    def open(self, job: ShardedJob) -> list[str]:
        return _lines(job.inputs[0].path)

    def do(self, job: ShardedJob, now: Round, shard: int) -> tuple[pa.Table, int]:
        lines = job.opened[slice(*job.plan.shards[shard])]
        return _rows(lines), len(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", help="a folder of files to decode")
    asked = parser.parse_args(arguments)
    overhead()
    if asked.files:
        two_workers(asked.files)


def overhead() -> None:
    """A whole job, from plan to gathered table, beside a loop that writes the same table."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        source = place / "lines.txt"
        source.write_text("\n".join(f"the line of number {i}" for i in range(_ITEMS)))
        runs = iter(range(1000))

        def loop() -> None:
            pq.write_table(_rows(_lines(str(source))), place / "loop.parquet")

        def job() -> None:
            address = str(place / f"job{next(runs)}")
            plan_job(address, "benchmarks.bench_jobs:Tiny", [str(source)])
            work(address)
            gather(address, place / "job.parquet")

        plain, sharded = best_of(loop, job)
        per_item = f"{1e6 * plain / _ITEMS:.2f} and {1e6 * sharded / _ITEMS:.2f} microseconds an item"
        print(f"tiny task, {_ITEMS:,} items in {_SHARDS} shards, plain loop and job: {per_item}")
        report("job over plain loop", sharded / plain, 2.0)


def two_workers(folder: str) -> None:
    """Measure the files of a folder with one worker, two, and otherwise."""
    with tempfile.TemporaryDirectory() as place:
        os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        folder = _several(folder, f"{place}/files")
        seconds: dict[str, float] = {}
        for jobs in (1, 2):
            seconds[f"{jobs} worker(s)"] = _measured(f"{place}/{jobs}", folder, jobs)
        for threads in (1, 2):
            seconds[f"{threads} thread(s)"] = _threads(f"{place}/t{threads}", folder, threads)
        print(", ".join(f"{name} {value:.1f} s" for name, value in seconds.items()))
        report("two workers over one, decoding", seconds["1 worker(s)"] / seconds["2 worker(s)"], 1.9, at_least=True)
        print(f"two threads over one, decoding: {seconds['1 thread(s)'] / seconds['2 thread(s)']:.3g} x")


def _several(folder: str, target: str) -> str:
    """Four copies of the larger files, each cut short by some bytes: other content, so that no cache knows it."""
    Path(target).mkdir()
    found = {path.resolve() for path in Path(folder).rglob("*") if path.is_file() and path.stat().st_size > 100_000}
    for copy in range(4):
        for number, path in enumerate(sorted(found)):
            data = path.read_bytes()
            (Path(target) / f"{copy}-{number:04d}{path.suffix}").write_bytes(data[: len(data) - 997 * (copy + 1)])
    return target


def _measured(address: str, folder: str, jobs: int) -> float:
    """Seconds that processes take, from the first part begun to the last done: starting Python is no decoding."""
    os.environ["FABULA_CACHE_DIR"] = f"{address}-cache"
    plan_job(address, "extract", [folder], shards=_SHARDS * 2)
    work_side_by_side(address, jobs)
    return _span(address)


def _span(address: str) -> float:
    from fabula.jobs.store import manifests, open_store

    parts = manifests(open_store(address), 0, _SHARDS * 2)
    return max(part.finished for part in parts) - min(part.finished - part.seconds for part in parts)


def _threads(place: str, folder: str, threads: int) -> float:
    code = (
        "import sys, time\n"
        "from fabula.media.extraction import Measuring, extract\n"
        "from fabula.media.registry import find_medium\n"
        "from fabula.sources.folders import read_folder\n"
        "medium = find_medium('music'); found = read_folder(sys.argv[1], medium).collection\n"
        "paths = [item.path for item in found.items]\n"
        "began = time.perf_counter(); extract(paths, medium.spec(), Measuring(int(sys.argv[2]), cache=False))\n"
        "print(time.perf_counter() - began)"
    )
    command: list[Any] = [sys.executable, "-c", code, folder, str(threads)]
    began = time.perf_counter()
    out = subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | {"FABULA_CACHE_DIR": place}
    )
    return float(out.stdout) if out.stdout else time.perf_counter() - began


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()


def _rows(lines: Sequence[str]) -> pa.Table:
    """The plain loop."""
    counts = [sum(line.count(vowel) for vowel in "aeiou") for line in lines]
    return pa.table({"line": list(lines), "vowels": counts})


if __name__ == "__main__":
    main()
