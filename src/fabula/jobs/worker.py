"""Working on a job: claim a shard, do it, keep its part, release it, until the job is complete.

Whatever ends a worker, no half part stays: parts are written whole, and a shard without a manifest is simply done
again. So a worker needs no farewell; on Ctrl-C and SIGTERM it only gives its claim back, so that nobody waits for it.
"""

import gc
import json
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

from fabula.errors import FabulaError, FileError, MissingExtraError, import_extra
from fabula.jobs.job import ShardedJob, open_job
from fabula.jobs.store import PARTS, JobStore, done_shards, shard_name, write_part
from fabula.jobs.task import Round

# Leases: who is at which shard, so that two rarely do the same work. Nothing correct rests on them.
#
# A claim is a file that one alone can create. Its owner renews it; one that was not renewed for too long, or whose
# process is gone from this machine, is stale. It is not removed, which two could do at once, but superseded: the next
# claim on the shard has the next number, and again one alone can create it.

FOLDER = "leases"
EXPIRY = 60.0  # seconds without a sign of life


@dataclass(frozen=True)
class Owner:
    """Who works: a process of a machine; the token tells two processes that had the same number apart."""

    host: str = field(default_factory=socket.gethostname)
    pid: int = field(default_factory=os.getpid)
    token: str = field(default_factory=lambda: uuid.uuid4().hex[:12])

    @property
    def name(self) -> str:
        """As a person reads it."""
        return f"{self.host}:{self.pid}"


@dataclass(frozen=True)
class Claim:
    """A claim as it is read: shard and number of the claim, its owner, and when it was last renewed."""

    shard: str
    number: int
    owner: Owner
    begun: float
    beat: float
    expiry: float

    def stale(self, here: str, now: float) -> bool:
        """Whether its owner is lost: silent for too long, or known to be gone."""
        return now - self.beat > self.expiry or (self.owner.host == here and not _lives(self.owner.pid))


def claims(store: JobStore, wanted: str | None = None) -> dict[str, Claim]:
    """The latest claim on each shard that has one, or on one shard alone."""
    found: dict[str, Claim] = {}
    for name in store.list(FOLDER):
        claim = _read(store, name) if wanted in (None, name.rpartition(".")[0]) else None
        if claim is not None and (claim.shard not in found or found[claim.shard].number < claim.number):
            found[claim.shard] = claim
    return found


class Lease:
    """A claim of one's own, renewed by a thread as long as it is held; use it by ``with``."""

    def __init__(self, store: JobStore, shard: str, owner: Owner, expiry: float = EXPIRY) -> None:
        self._store, self._shard, self._owner, self._expiry = store, shard, owner, expiry
        self._number = -1
        self._begun = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True, name=f"fabula-lease-{shard}")

    def take(self) -> bool:
        """Claim the shard: False where another has it, or was quicker."""
        self._begun = time.time()
        there = claims(self._store, self._shard).get(self._shard)
        if there is not None and not there.stale(self._owner.host, self._begun):
            return False
        number = 0 if there is None else there.number + 1
        if not self._store.create(f"{FOLDER}/{self._shard}.{number}", self._content()):
            return False
        self._number = number
        return True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        with suppress(FabulaError):  # one that stays becomes stale
            for number in range(self._number, -1, -1):
                self._store.delete(f"{FOLDER}/{self._shard}.{number}")

    def _renew(self) -> None:
        while not self._ended.wait(self._expiry / 4):
            with suppress(FabulaError):
                self._store.write(f"{FOLDER}/{self._shard}.{self._number}", self._content())

    def _content(self) -> bytes:
        times = {"begun": self._begun, "beat": time.time(), "expiry": self._expiry}
        return json.dumps({**asdict(self._owner), **times}).encode()


def _read(store: JobStore, name: str) -> Claim | None:
    """A claim; None where it is gone, and one of no age where it is broken."""
    data = store.read(f"{FOLDER}/{name}")
    shard, _, number = name.rpartition(".")
    if data is None or not number.isdecimal():
        return None
    try:
        about = json.loads(data)
        times = (float(about[key]) for key in ("begun", "beat", "expiry"))
        return Claim(shard, int(number), Owner(str(about["host"]), int(about["pid"]), ""), *times)
    except (ValueError, KeyError, TypeError):
        return Claim(shard, int(number), Owner("", 0, ""), 0.0, 0.0, EXPIRY)


def _lives(pid: int) -> bool:
    """Whether a process of this machine is there, as far as can be asked; one that only waits to be buried is not."""
    if os.name == "nt":  # there, asking would end it
        return True
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return not state or state[0] != b"Z"


FAILURES = "failures"
_LOOK = 0.5  # seconds between two looks at what others do
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Report = Callable[[int, int, str], None]  # shards done, shards of the round, a note
Outcome = Literal["done", "was done", "held", "failed"]
# From a round, the shards that are left and those that are done by now to how each attempt at one went, and why
_Attempts = Callable[[Round, Sequence[int], set[int]], Iterator[tuple[int, Outcome, str]]]


@dataclass
class Worked:
    """What a worker did."""

    done: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  # name of a shard -> why it could not be done
    complete: bool = False


def work(address: str, *, inputs: Sequence[str] = (), expiry: float = EXPIRY, report: Report | None = None) -> Worked:
    """Work on a job until it is complete, or nothing is left but what failed here.

    ``inputs`` says where its inputs lie on this machine, if elsewhere than where it was planned; ``expiry`` after how
    many seconds of silence a worker counts as lost.
    """
    job, owner = open_job(address, inputs), Owner()

    def attempts(now: Round, left: Sequence[int], done: set[int]) -> Iterator[tuple[int, Outcome, str]]:
        first = int(owner.token, 16) % now.shards  # so that workers who begin at once do not meet
        for shard in sorted(left, key=lambda shard: (shard < first, shard)):
            if shard not in done:  # by others, meanwhile
                yield shard, *attempt(job, now, shard, owner, expiry)

    return _go_through(job, owner, expiry, report, attempts)


def work_side_by_side(
    address: str, jobs: int, *, inputs: Sequence[str] = (), expiry: float = EXPIRY, report: Report | None = None
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
    errors = [future.exception() for future in running]
    for error in errors:  # one that could not go on; some may have been lost
        if isinstance(error, FabulaError):
            raise error
    found = [future.result() for future, error in zip(running, errors, strict=True) if error is None]
    if not found:
        raise FabulaError(f"all {jobs} processes ended early; what is done is kept: give the command again")
    done = [name for one in found for name in one.done]
    failed = {name: why for one in found for name, why in one.failed.items() if name not in done}
    return Worked(done, failed, complete=job.round() is None)


def attempt(job: ShardedJob, now: Round, shard: int, owner: Owner, expiry: float = EXPIRY) -> tuple[Outcome, str]:
    """Claim one shard and do it; says how that went, and why it failed."""
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


_reopen = lru_cache(maxsize=2)(open_job)  # once in a process


def attempt_at(address: str, inputs: tuple[str, ...], number: int, shard: int, expiry: float) -> tuple[Outcome, str]:
    """The same, for a process that is told nothing but where the job lies."""
    job = _reopen(address, inputs)
    return attempt(job, job.round_of(number), shard, Owner(), expiry)


def _go_through(job: ShardedJob, owner: Owner, expiry: float, report: Report | None, attempts: _Attempts) -> Worked:
    """Go over the shards that are left, again and again, until all are done or nothing is left but what failed."""
    worked, tell = Worked(), report or (lambda done, total, note: None)
    try:
        while (now := job.round()) is not None:
            done = done_shards(job.store, now.number)
            tell(len(done), now.shards, _note(now))
            if len(done) >= now.shards:  # one worker plans the round that follows, the others wait
                lease = Lease(job.store, f"after-{now.number:03d}", owner, expiry)
                if lease.take():
                    with lease:
                        if job.latest().number == now.number:
                            job.advance(now)
                else:
                    time.sleep(min(_LOOK, expiry / 4))
                continue
            names = {shard: shard_name(now.number, shard) for shard in range(now.shards) if shard not in done}
            left = [shard for shard, name in names.items() if name not in worked.failed]
            outcomes: set[Outcome] = set()
            for shard, outcome, why in attempts(now, left, done):
                outcomes.add(outcome)
                if outcome == "done":
                    worked.done.append(names[shard])
                    done.add(shard)
                    tell(len(done), now.shards, _note(now))
                elif outcome == "failed":
                    worked.failed[names[shard]] = why
                else:
                    done |= done_shards(job.store, now.number)
            if not outcomes:
                break
            if outcomes == {"held"}:
                time.sleep(min(_LOOK, expiry / 4))
        worked.complete = now is None
        return worked
    finally:  # the notes of failures whose shards were done after all
        for name in {f"{name}.json" for name in worked.done}.intersection(job.store.list(FAILURES)):
            with suppress(FileError):
                job.store.delete(f"{FAILURES}/{name}")


def _note(now: Round) -> str:
    return f"round {now.number}" if now.number else ""


@contextmanager
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


# The same shards on a Dask cluster: each is a future that claims, does and keeps it like any other worker.

_ANSWER = "10s"  # how long a scheduler may take to answer


def work_on_cluster(
    address: str,
    scheduler: str,
    *,
    inputs: Sequence[str] = (),
    expiry: float = EXPIRY,
    report: Report | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Worked:
    """Work on a job with the workers of a Dask cluster.

    They must see the job's folder or address and its inputs, and have this package in the same version. The
    scheduler is ``tcp://host:8786``, or ``local`` for a cluster on this machine, ``local:4`` of so many processes;
    ``tell`` is told the address of the dashboard.
    """
    distributed = import_extra("distributed", extra="cluster", purpose="working on a cluster")
    job, owner = open_job(address, inputs), Owner()
    with _open_client(scheduler) as client:
        tell(f"dashboard: {client.dashboard_link}")

        def attempts(now: Round, left: Sequence[int], _: set[int]) -> Iterator[tuple[int, Outcome, str]]:
            where = (job.store.address, tuple(inputs), now.number)
            sent = {client.submit(attempt_at, *where, shard, expiry, pure=False): shard for shard in left}
            for future in distributed.as_completed(sent):
                yield sent[future], *_outcome(future)

        return _go_through(job, owner, expiry, report, attempts)


def _outcome(future: Any) -> tuple[Outcome, str]:
    """How a future went; one whose worker died too often is a shard that failed."""
    if future.status in ("cancelled", "lost"):
        raise CancelledError
    if future.status != "error":
        found: tuple[Outcome, str] = future.result()
        return found
    error = future.exception()
    if isinstance(error, FabulaError):
        raise error
    return "failed", f"{type(error).__name__}: {' '.join(str(error).split())}"


@contextmanager
def _open_client(scheduler: str) -> Iterator[Any]:
    """A client of an existing cluster, or of one that lives as long as the work; a scheduler that is lost is told."""
    distributed = import_extra("distributed", extra="cluster", purpose="working on a cluster")
    name, _, count = scheduler.partition(":")
    local = None
    if name == "local":
        workers = int(count) if count.isdecimal() and int(count) > 0 else None
        local = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True)
    try:
        client = distributed.Client(local or scheduler, timeout=_ANSWER)
    except (OSError, ValueError, TimeoutError) as error:
        raise FabulaError(f"{scheduler}: no Dask scheduler answers there ({error})") from error
    lost = (CancelledError, OSError, TimeoutError, distributed.client.ClosedClientError)
    with _silence("distributed", "distributed.client", "distributed.core", "tornado.application", "asyncio"):
        try:
            yield client
        except lost as error:
            kept = "what is done is kept: give the command again"
            raise FabulaError(f"{scheduler}: the Dask scheduler is lost; {kept}") from error
        finally:
            client.close(timeout=2)
            if local is not None:
                local.close(timeout=10)


@contextmanager
def _silence(*names: str) -> Iterator[None]:
    """Let loggers print nothing: what befalls a cluster is told by us, in one line."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        gc.collect()  # tasks that nobody asks how they ended say so when they go
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
