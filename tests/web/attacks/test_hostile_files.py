"""183 files made to hurt, sent to the page and opened there: each ends, and others are answered meanwhile."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.hostile import make
from tests.hostile.open_all import busy, computed_seconds, family
from tests.hostile.test_hostile_files import HUNG, MEGABYTES, SECONDS, TOGETHER

ANSWERED = 1.0  # seconds in which others are answered


def send(client: httpx.Client, path: Path, way: str) -> tuple[str, float]:
    """Send or open a file and wait for the end: its state, and the seconds it took by the clock."""
    start = time.monotonic()
    if way == "upload":
        answer = client.post("/api/uploads", files={"files": (path.name, path.read_bytes())})
    else:
        answer = client.post("/api/collections", json={"path": str(path)})
    if answer.status_code != 202:
        assert 400 <= answer.status_code < 500, (path.name, answer.status_code, answer.text[:200])
        return "refused", time.monotonic() - start
    job = answer.json()
    while job["state"] == "running" and time.monotonic() - start < 2 * HUNG:
        time.sleep(0.02)
        job = client.get(f"/api/jobs/{job['id']}").json()
    return job["state"], time.monotonic() - start


def most_megabytes(process: int) -> int:
    """The most that the server, or a process it has started that still runs, has had."""
    found = 0
    for one in family(process):
        with contextlib.suppress(OSError):  # it has ended since
            rows = Path(f"/proc/{one}/status").read_text().splitlines()
            found = max([found, *(int(row.split()[1]) // 1024 for row in rows if row.startswith("VmHWM"))])
    return found


def waited_seconds(process: int) -> float:
    """How long the threads of a process have waited for a processor while they could have gone on, all together."""
    found = 0
    for path in Path(f"/proc/{process}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # it has ended since
            found += int(path.read_text().split()[1])
    return found / 1e9


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the most memory")
def test_each_is_sent_or_opened_and_others_are_answered_meanwhile(start, tmp_path):
    """Where others have the processor, an answer may be late by so much."""
    paths = make.write(tmp_path)
    running = start(str(tmp_path), seconds=60 + HUNG * len(paths))
    waits: list[tuple[float, str]] = []  # how late an answer was, and what was read meanwhile
    memory: list[int] = []
    over = threading.Event()
    ends: dict[str, tuple[str, float]] = {}
    slow: dict[str, tuple[float, float]] = {}

    def waited() -> float:
        return waited_seconds(running.process.pid) + waited_seconds(os.getpid())

    def look() -> None:
        with running.client() as other:
            while not over.wait(0.2):
                begun, before, sent = time.monotonic(), waited(), len(ends)
                other.get("/api/formats")
                late = time.monotonic() - begun - max(0.0, waited() - before)
                waits.append((late, ", ".join(path.name for path in paths[sent : len(ends) + 1])))
                memory.append(most_megabytes(running.process.pid))

    watcher = threading.Thread(target=look)
    watcher.start()
    before = computed_seconds(running.process.pid)
    try:
        with running.client() as client:
            for number, path in enumerate(paths):
                known = computed_seconds(running.process.pid)
                way = "upload" if number % 2 and path.is_file() else "open"  # a folder is not sent as one file
                ends[path.name] = _, seconds = send(client, path, way)
                computed = computed_seconds(running.process.pid) - known
                if max(computed, seconds / busy()) > SECONDS:
                    slow[path.name] = computed, seconds
    finally:
        over.set()
        watcher.join()
    assert running.process.poll() is None
    assert not slow, slow
    assert {state for state, _ in ends.values()} <= {"done", "failed", "refused"}, ends
    assert max(memory) < MEGABYTES
    assert computed_seconds(running.process.pid) - before < TOGETHER
    assert max(waits)[0] < ANSWERED, max(waits)[1]
