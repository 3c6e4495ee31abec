"""A task for tests: a row for each number of a list in a text file, with what a file beside it tells it to suffer."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pyarrow as pa

from fabula.jobs.job import Input, ranges
from fabula.jobs.task import Cut, JobTask


class Squares(JobTask):
    """Squares of numbers. Where a file ``<option trap>/<shard>`` is, it says what happens to who does that shard."""

    name = "squares"
    options = {"trap": "", "pause": 0.0}  # noqa: RUF012
    items = "numbers"

    def cut(self, asked):
        numbers = Path(asked.inputs[0]).read_text().split()
        shards = ranges(len(numbers), asked.shards or 4)
        return Cut((Input.of(asked.inputs[0]),), tuple(map(list, shards)), len(numbers), dict(asked.options))

    def open(self, job):
        return [float(text) for text in Path(job.inputs[0].path).read_text().split()]

    def do(self, job, now, shard):
        note = Path(job.options["trap"] or os.devnull) / str(shard)
        first, behind = job.plan.shards[shard]
        numbers = job.opened[first:behind]
        _count(job, shard)
        if note.is_file():
            _spring(note)
        time.sleep(job.options["pause"])
        bad = [x < 0 for x in numbers]
        squares = [None if b else x * x for x, b in zip(numbers, bad, strict=True)]
        why = ["a negative number" if b else None for b in bad]
        rows = {"number": numbers, "square": pa.array(squares, pa.float64()), "failure": pa.array(why, pa.string())}
        return pa.table(rows), len(numbers)


def _count(job, shard):
    """Leave a trace of each time that a shard is begun."""
    place = Path(job.inputs[0].path).parent / "begun"
    place.mkdir(exist_ok=True)
    (place / f"{shard}.{os.getpid()}.{time.monotonic_ns()}").touch()


def _spring(note):
    what = note.read_text()
    note.unlink()
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "fail":
        raise ValueError("the input is corrupt")
    elif what.startswith("wait"):
        time.sleep(float(what.split()[1]))
