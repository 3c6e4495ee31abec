"""Several workers on one machine: processes over the same shards, which is what ``--jobs`` means for a job."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from fabula.errors import FabulaError
from fabula.jobs.job import open_job
from fabula.jobs.leases import EXPIRY
from fabula.jobs.parts import done_shards
from fabula.jobs.worker import Report, Worked, work

_LOOK = 0.5  # seconds between two looks
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def work_side_by_side(
    address: str,
    jobs: int,
    *,
    inputs: Sequence[str] = (),
    expiry: float = EXPIRY,
    report: Report | None = None,
) -> Worked:
    """Work on a job with several processes; takes what :func:`fabula.jobs.worker.work` takes.

    One that is lost is not replaced: the others take its shard over. Each works like a worker that was started by
    itself, so that a job may have such processes on several machines.

    Raises
    ------
    FabulaError
        When all were lost, or one could not go on.
    """
    job = open_job(address, inputs)  # says at once what is wrong
    context = multiprocessing.get_context("spawn")  # a forked process cannot use a GPU, and may inherit held locks
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update({name: str(max(1, (os.cpu_count() or 1) // jobs)) for name in _THREADS if not before[name]})
    running: list[tuple[Any, Connection]] = []
    try:
        for _ in range(jobs):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_child, args=(address, tuple(inputs), expiry, theirs, os.getpid()))
            process.start()
            theirs.close()
            running.append((process, ours))
        while alive := [process for process, _ in running if process.is_alive()]:  # asks all: who is asked is buried
            now = job.round()
            if report is not None and now is not None:
                report(len(done_shards(job.store, now.number)), now.shards, f"round {now.number}" if now.number else "")
            alive[0].join(_LOOK)
    finally:
        _restore(before)
        for process, _ in running:
            process.terminate()
        for process, _ in running:
            process.join()
    worked = _together([_told(pipe) for _, pipe in running])
    worked.complete = job.round() is None
    return worked


def _child(address: str, inputs: tuple[str, ...], expiry: float, pipe: Connection, parent: int) -> None:
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        pipe.send(work(address, inputs=inputs, expiry=expiry))
    except FabulaError as error:
        pipe.send(error)
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _leave(*_: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def _end_with(parent: int) -> None:
    """End when the process that began this one is gone: whatever is under way is done again by another."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _told(pipe: Connection) -> Worked | FabulaError | None:
    """What a process said before it ended; None where it could not."""
    try:
        found: Worked | FabulaError | None = pipe.recv() if pipe.poll() else None
    except (EOFError, OSError):
        return None
    return found


def _together(told: Sequence[Worked | FabulaError | None]) -> Worked:
    """What all processes did; the first error where one could not go on."""
    wrong = next((one for one in told if isinstance(one, FabulaError)), None)
    if wrong is not None:
        raise wrong
    found = [one for one in told if isinstance(one, Worked)]
    if not found:
        raise FabulaError(f"all {len(told)} processes ended early; what is done is kept: give the command again")
    done = [name for one in found for name in one.done]
    failed = {name: why for one in found for name, why in one.failed.items() if name not in done}
    return Worked(done, failed)


def _restore(before: dict[str, str | None]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
