"""Leases: who is at which shard, so that two rarely do the same work. Nothing correct rests on them.

A claim is a file that one alone can create. Its owner renews it; one that was not renewed for too long, or whose
process is gone from this machine, is stale. It is not removed, which two could do at once, but superseded: the next
claim on the shard has the next number, and again one alone can create it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from fabula.errors import FabulaError
from fabula.jobs.store import JobStore

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
    host: str
    pid: int
    begun: float
    beat: float
    expiry: float

    @property
    def worker(self) -> str:
        """Its owner, as a person reads it."""
        return f"{self.host}:{self.pid}"

    def stale(self, here: str, now: float) -> bool:
        """Whether its owner is lost: silent for too long, or known to be gone."""
        return now - self.beat > self.expiry or (self.host == here and not _lives(self.pid))


def claims(store: JobStore) -> dict[str, Claim]:
    """The latest claim on each shard that has one."""
    found: dict[str, Claim] = {}
    for name in store.list(FOLDER):
        claim = _read(store, name)
        if claim is not None and (claim.shard not in found or found[claim.shard].number < claim.number):
            found[claim.shard] = claim
    return found


class Lease:
    """A claim of one's own, renewed by a thread as long as it is held; use it by ``with``.

    After ``expiry`` seconds of silence others may take the shard over.
    """

    def __init__(self, store: JobStore, shard: str, owner: Owner, expiry: float = EXPIRY) -> None:
        self._store, self._shard, self._owner, self._expiry = store, shard, owner, expiry
        self._number = -1
        self._begun = 0.0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def take(self) -> bool:
        """Claim the shard: False where another has it, or was quicker."""
        number, now = 0, time.time()
        for name in self._store.list(FOLDER):
            if name.rpartition(".")[0] != self._shard:
                continue
            claim = _read(self._store, name)
            if claim is not None and not claim.stale(self._owner.host, now):
                return False
            number = max(number, int(name.rpartition(".")[2]) + 1)
        self._begun = now
        if not self._store.create(f"{FOLDER}/{self._shard}.{number}", self._content()):
            return False
        self._number = number
        return True

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._renew, daemon=True, name=f"fabula-lease-{self._shard}")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        with contextlib.suppress(FabulaError):  # one that stays becomes stale
            for number in range(self._number, -1, -1):
                self._store.delete(f"{FOLDER}/{self._shard}.{number}")

    def _renew(self) -> None:
        while not self._ended.wait(self._expiry / 4):
            with contextlib.suppress(FabulaError):
                self._store.write(f"{FOLDER}/{self._shard}.{self._number}", self._content())

    def _content(self) -> bytes:
        about: dict[str, Any] = {"host": self._owner.host, "pid": self._owner.pid, "token": self._owner.token}
        about |= {"begun": self._begun, "beat": time.time(), "expiry": self._expiry}
        return json.dumps(about).encode()


def _read(store: JobStore, name: str) -> Claim | None:
    """A claim; None where it is gone, and one of no age where it is broken."""
    data = store.read(f"{FOLDER}/{name}")
    shard, _, number = name.rpartition(".")
    if data is None or not number.isdecimal():
        return None
    try:
        about = json.loads(data)
        times = (float(about[key]) for key in ("begun", "beat", "expiry"))
        return Claim(shard, int(number), str(about["host"]), int(about["pid"]), *times)
    except (ValueError, KeyError, TypeError):
        return Claim(shard, int(number), "", 0, 0.0, 0.0, EXPIRY)


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
