"""Working on a job: claim a shard, do it, keep its part, release it, until the job is complete.

Whatever ends a worker, no half part stays: parts are written whole, and a shard without a manifest is simply done
again. So a worker needs no farewell; on Ctrl-C and SIGTERM it only gives its claim back, so that nobody waits for it.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Literal

from fabula.errors import FabulaError, FileError, MissingExtraError
from fabula.jobs.leases import EXPIRY, Lease, Owner
from fabula.jobs.open_job import ShardedJob, open_job, reopen_job
from fabula.jobs.shard_parts import write_part
from fabula.jobs.store import PARTS, done_shards, shard_name
from fabula.jobs.task import Round

FAILURES = "failures"
_LOOK = 0.5  # seconds between two looks at what others do
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Report = Callable[[int, int, str], None]  # shards done, shards of the round, a note
Outcome = Literal["done", "was done", "held", "failed"]


@dataclass
class Worked:
    """What a worker did."""

    done: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  # name of a shard -> why it could not be done
    complete: bool = False

    def note(self, name: str, outcome: Outcome, why: str) -> None:
        """Take down how an attempt at a shard went."""
        if outcome == "done":
            self.done.append(name)
        elif outcome == "failed":
            self.failed[name] = why


def work(
    address: str,
    *,
    inputs: Sequence[str] = (),
    expiry: float = EXPIRY,
    report: Report | None = None,
) -> Worked:
    """Work on a job until it is complete, or nothing is left but what failed here.

    ``inputs`` says where its inputs lie on this machine, if elsewhere than where it was planned; ``expiry`` after how
    many seconds of silence a worker counts as lost.
    """
    job, owner, worked = open_job(address, inputs), Owner(), Worked()
    tell = report or (lambda done, total, note: None)
    try:
        while (now := job.round()) is not None and _go_over(job, now, owner, expiry, worked, tell):
            pass
        worked.complete = now is None
        return worked
    finally:
        forget_failures(job, worked.done)


def work_side_by_side(
    address: str,
    jobs: int,
    *,
    inputs: Sequence[str] = (),
    expiry: float = EXPIRY,
    report: Report | None = None,
) -> Worked:
    """Work on a job with several processes; takes what :func:`work` takes.

    One that is lost is not replaced: the others take its shard over. Each works like a worker that was started by
    itself, so that a job may have such processes on several machines.
    """
    job = open_job(address, inputs)  # says at once what is wrong
    context = multiprocessing.get_context("spawn")  # a forked process cannot use a GPU, and may inherit held locks
    others = set(multiprocessing.active_children())
    # A pool breaks as a whole when one of its processes is lost, so each process is a pool of its own.
    pools = [ProcessPoolExecutor(1, context, _begin, (os.getpid(),)) for _ in range(jobs)]
    try:
        with _share_threads(jobs):
            running = [pool.submit(work, address, inputs=tuple(inputs), expiry=expiry) for pool in pools]
        while wait(running, timeout=_LOOK).not_done:
            now = job.round()
            if report is not None and now is not None:
                report(len(done_shards(job.store, now.number)), now.shards, _note(now))
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)
    worked = _sum_up(running)
    worked.complete = job.round() is None
    return worked


def attempt(job: ShardedJob, now: Round, shard: int, owner: Owner, expiry: float = EXPIRY) -> tuple[Outcome, str]:
    """Claim one shard and do it; says how that went, and why it failed.

    A store that cannot be written, such as a full disk, is an error: no other shard would fare better.
    """
    name = shard_name(now.number, shard)
    lease = Lease(job.store, name, owner, expiry)
    if not lease.take():
        return "held", ""
    with lease:
        if job.store.read(f"{PARTS}/{name}.json") is not None:
            return "was done", ""
        begun = time.monotonic()
        try:
            job.check_inputs()
            table, items = job.task.do(job, now, shard)
        except MissingExtraError:
            raise
        except Exception as error:
            why = " ".join(str(error).split()) or type(error).__name__
            why = why if isinstance(error, FabulaError) else f"{type(error).__name__}: {why}"
            note = {"failure": why, "worker": owner.name, "when": time.time()}
            job.store.write(f"{FAILURES}/{name}.json", json.dumps(note).encode())
            return "failed", why
        seconds = round(time.monotonic() - begun, 6)
        write_part(job.store, (now.number, shard), table, items=items, worker=owner.name, seconds=seconds)
        return "done", ""


def attempt_at(address: str, inputs: tuple[str, ...], number: int, shard: int, expiry: float) -> tuple[Outcome, str]:
    """The same, for a process that is told nothing but where the job lies."""
    job = reopen_job(address, inputs)
    return attempt(job, job.round_of(number), shard, Owner(), expiry)


def begin_next_round(job: ShardedJob, now: Round, owner: Owner, expiry: float) -> None:
    """Let one worker plan the round that follows one that is complete; the others wait."""
    lease = Lease(job.store, f"after-{now.number:03d}", owner, expiry)
    if lease.take():
        with lease:
            if job.latest().number == now.number:
                job.advance(now)
    else:
        time.sleep(min(_LOOK, expiry / 4))


def forget_failures(job: ShardedJob, names: Sequence[str]) -> None:
    """Remove the notes of failures whose shards were done after all."""
    known = set(job.store.list(FAILURES))
    for name in names:
        if f"{name}.json" in known:
            with contextlib.suppress(FileError):
                job.store.delete(f"{FAILURES}/{name}.json")


def _go_over(job: ShardedJob, now: Round, owner: Owner, expiry: float, worked: Worked, report: Report) -> bool:
    """Go once over the shards that are left; False where there is nothing more to do here."""
    done = done_shards(job.store, now.number)
    report(len(done), now.shards, _note(now))
    if len(done) >= now.shards:
        begin_next_round(job, now, owner, expiry)
        return True
    did, held = False, False
    first = int(owner.token, 16) % now.shards  # so that workers who begin at once do not meet
    for shard in [*range(first, now.shards), *range(first)]:
        name = shard_name(now.number, shard)
        if shard in done or name in worked.failed:
            continue
        outcome, why = attempt(job, now, shard, owner, expiry)
        worked.note(name, outcome, why)
        did, held = did or outcome != "held", held or outcome == "held"
        if outcome in ("was done", "held"):
            done = done_shards(job.store, now.number)
        elif outcome == "done":
            done.add(shard)
            report(len(done), now.shards, _note(now))
    if not did and held:
        time.sleep(min(_LOOK, expiry / 4))
    return did or held


def _note(now: Round) -> str:
    return f"round {now.number}" if now.number else ""


@contextlib.contextmanager
def _share_threads(jobs: int) -> Iterator[None]:
    """Let processes that begin meanwhile have as many threads each as there are cores for them."""
    given = {name: str(max(1, (os.cpu_count() or 1) // jobs)) for name in _THREADS if not os.environ.get(name)}
    os.environ.update(given)
    try:
        yield
    finally:
        for name in given:
            os.environ.pop(name, None)


def _begin(parent: int) -> None:
    """Prepare a process: asked to leave it gives its claim back, and without its parent it ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End when the process that began this one is gone: whatever is under way is done again by another."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _sum_up(running: Sequence[Future[Worked]]) -> Worked:
    """What all processes did; the first error where one could not go on, none where some were lost."""
    errors = [future.exception() for future in running]
    wrong = next((error for error in errors if isinstance(error, FabulaError)), None)
    if wrong is not None:
        raise wrong
    found = [future.result() for future, error in zip(running, errors, strict=True) if error is None]
    if not found:
        raise FabulaError(f"all {len(running)} processes ended early; what is done is kept: give the command again")
    done = [name for one in found for name in one.done]
    failed = {name: why for one in found for name, why in one.failed.items() if name not in done}
    return Worked(done, failed)
