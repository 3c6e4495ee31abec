"""The same shards on a Dask cluster: each is a future that claims, does and keeps it like any other worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from fabula.errors import FabulaError, import_extra
from fabula.jobs.leases import EXPIRY, Owner
from fabula.jobs.open_job import open_job
from fabula.jobs.store import done_shards, shard_name
from fabula.jobs.worker import Outcome, Report, Worked, attempt_at, begin_next_round, forget_failures

_WAIT = 0.5  # seconds before shards that others are at are asked for again
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
    job, owner, worked = open_job(address, inputs), Owner(), Worked()
    count = report or (lambda done, total, note: None)
    with _open_client(scheduler) as client:
        tell(f"dashboard: {client.dashboard_link}")
        try:
            while (now := job.round()) is not None:
                done = done_shards(job.store, now.number)
                count(len(done), now.shards, "")
                if len(done) >= now.shards:
                    begin_next_round(job, now, owner, expiry)
                    continue
                names = {shard: shard_name(now.number, shard) for shard in range(now.shards) if shard not in done}
                left = [shard for shard, name in names.items() if name not in worked.failed]
                if not left:  # but what failed
                    return worked
                where = (job.store.address, tuple(inputs), now.number)
                sent = {client.submit(attempt_at, *where, shard, expiry, pure=False): shard for shard in left}
                outcomes = set()
                for future in distributed.as_completed(sent):
                    shard, (outcome, why) = sent[future], _outcome(future)
                    outcomes.add(outcome)
                    worked.note(names[shard], outcome, why)
                    done |= {shard} if outcome == "done" else set()
                    count(len(done), now.shards, "")
                if outcomes == {"held"}:
                    time.sleep(_WAIT)
        finally:
            forget_failures(job, worked.done)
    worked.complete = True
    return worked


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
    try:
        yield client
    except lost as error:
        kept = "what is done is kept: give the command again"
        raise FabulaError(f"{scheduler}: the Dask scheduler is lost; {kept}") from error
    finally:
        client.close(timeout=2)
        if local is not None:
            local.close(timeout=10)
