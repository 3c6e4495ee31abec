"""How a job stands: what is done, by whom, how fast, what failed, and how long the rest will take."""

import json
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from fabula.jobs.job import open_job
from fabula.jobs.store import Manifest, done_shards, read_manifest, shard_name
from fabula.jobs.worker import FAILURES, claims

_WINDOW = 64  # parts by which the rate is told


@dataclass(frozen=True)
class Busy:
    """A shard under way: its name, who is at it, for how many seconds, and whether he is lost."""

    shard: str
    worker: str
    seconds: float
    stale: bool


@dataclass(frozen=True)
class Standing:
    """How a job stands."""

    address: str
    task: str
    items: str  # what they are called
    round: int  # the round under way, from 0
    shards: int
    done: int  # shards of that round
    # of each shard of it: done, failures (done, with rows that failed), busy, stale, failed or waiting
    states: tuple[str, ...] = field(repr=False)
    done_items: int  # in finished shards
    failed_items: int  # rows that tell of a failure
    busy: tuple[Busy, ...]
    failed: dict[str, str]  # shard -> why it failed when it was tried last
    rate: float | None  # items in a second of late
    seconds_left: float | None  # of the round, at that rate
    complete: bool


class Watch:
    """Looks at the job of an address again and again; what is done is read once."""

    def __init__(self, address: str) -> None:
        self._job = open_job(address, check=False)
        self._known: dict[tuple[int, int], Manifest] = {}

    def look(self) -> Standing:
        """How the job stands now."""
        job, now = self._job, time.time()
        going = job.round()
        finished = max(0, job.latest().number - 1) if job.task.rounds else 0
        last = going or job.round_of(finished)
        parts = []
        for key in ((last.number, shard) for shard in sorted(done_shards(job.store, last.number))):
            if key not in self._known:
                empty = Manifest(*key, "", 0, 0, 0, "", "", 0.0, 0.0)
                self._known[key] = read_manifest(job.store, *key) or empty
            parts.append(self._known[key])
        done = {shard_name(last.number, part.shard) for part in parts}
        here = socket.gethostname()
        busy = tuple(
            Busy(name, claim.owner.name, max(0.0, now - claim.begun), claim.stale(here, now))
            for name, claim in sorted(claims(job.store).items())
            if name not in done
        )
        notes = {file.removesuffix(".json"): job.store.read(f"{FAILURES}/{file}") for file in job.store.list(FAILURES)}
        failed = {name: str(json.loads(data).get("failure", "")) for name, data in notes.items() if data is not None}
        failed = {name: why for name, why in failed.items() if name not in done}
        states = dict.fromkeys(failed, "failed")
        states |= {one.shard: "stale" if one.stale else "busy" for one in busy}
        states |= {shard_name(last.number, part.shard): "failures" if part.failures else "done" for part in parts}
        rate = _rate(parts, now) if going and any(not one.stale for one in busy) else _rate(parts)
        items = sum(part.items for part in parts)
        left = (items / len(parts)) * (last.shards - len(parts)) / rate if parts and rate and going else None
        return Standing(
            address=job.store.address, task=job.plan.task, items=job.task.items,
            round=last.number, shards=last.shards, done=len(parts),
            states=tuple(states.get(shard_name(last.number, shard), "waiting") for shard in range(last.shards)),
            done_items=items, failed_items=sum(part.failures for part in parts), busy=busy, failed=failed,
            rate=rate, seconds_left=left if any(not one.stale for one in busy) else None, complete=going is None,
        )  # fmt: skip


def describe(standing: Standing) -> list[str]:
    """A standing in words, a line each."""
    one = standing
    share = 100 * one.done / one.shards if one.shards else 100.0
    where = f"round {one.round}, " if one.round else ""
    lines = [f"{one.task} at {one.address}: {where}{one.done:,} of {one.shards:,} shards done ({share:.0f} %)"]
    if one.done:
        failures = f", {one.failed_items:,} rows tell of a failure" if one.failed_items else ""
        rate = one.rate or 0.0
        pace = f", {f'{rate:,.0f}' if rate >= 10 else f'{rate:.2g}'} {one.items} a second" if rate else ""
        lines.append(f"{one.done_items:,} {one.items} done{failures}{pace}")
    if one.complete:
        lines.append("complete")
    elif one.seconds_left is not None:
        lines.append(f"about {duration(one.seconds_left)} left")
    for each in one.busy:
        state = "lost" if each.stale else "at work"
        lines.append(f"shard {each.shard}: {each.worker}, {state} for {duration(each.seconds)}")
    if not one.complete and not any(not each.stale for each in one.busy):
        lines.append(f"nobody is at work; go on with: fabula job work {one.address}")
    lines += [f"shard {name} failed: {why}" for name, why in one.failed.items()]
    return lines


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(42), duration(3700)
    ('42 s', '1 h 1 min')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"


def _rate(parts: Sequence[Manifest], now: float | None = None) -> float | None:
    """Items in a second, by the parts that were finished last; up to now, where somebody is at work."""
    late = sorted(parts, key=lambda part: part.finished)[-_WINDOW:]
    if not late:
        return None
    begun = min(part.finished - part.seconds for part in late)
    ended = late[-1].finished if now is None else max(late[-1].finished, now)
    return sum(part.items for part in late) / max(ended - begun, 1e-9)
