"""165 files made to hurt, sent to the page and opened there: each ends, and others are answered meanwhile."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.hostile import make

SECONDS, MEGABYTES = 120.0, 1000  # of one file, also beside other work
COMPUTED = 70.0  # seconds of the processor, of all files together


def send(client: httpx.Client, path: Path, way: str) -> tuple[str, float]:
    """Send or open a file and wait for the end: its state, and the seconds it took."""
    start = time.monotonic()
    if way == "upload":
        answer = client.post("/api/uploads", files={"files": (path.name, path.read_bytes())})
    else:
        answer = client.post("/api/collections", json={"path": str(path)})
    if answer.status_code != 202:
        assert 400 <= answer.status_code < 500, (path.name, answer.status_code, answer.text[:200])
        return "refused", time.monotonic() - start
    job = answer.json()
    while job["state"] == "running" and time.monotonic() - start < 2 * SECONDS:
        time.sleep(0.02)
        job = client.get(f"/api/jobs/{job['id']}").json()
    return job["state"], time.monotonic() - start


def most_megabytes(process: int) -> int:
    rows = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("VmHWM")) // 1024


def computed_seconds(process: int) -> float:
    """The time of the processor that a process has taken, those that it started and have ended with it."""
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]
    return sum(map(int, numbers)) / os.sysconf("SC_CLK_TCK")


def most_of_all(times: list[float]) -> float:
    """The time that 99 of 100 stay below."""
    return sorted(times)[int(0.99 * (len(times) - 1))]


def check_all(start, tmp_path: Path, paths: list[Path], way: str) -> None:
    """Send all while another asks for little; where the machine wakes the other up late, its answers may be late."""
    running = start(str(tmp_path), seconds=60 + SECONDS * len(paths))
    waits: list[float] = []
    late_by: list[float] = []
    over = threading.Event()

    def look() -> None:
        with running.client() as other:
            asleep = time.monotonic()
            while not over.wait(0.2):
                begun = time.monotonic()
                late_by.append(begun - asleep - 0.2)
                other.get("/api/formats")
                asleep = time.monotonic()
                waits.append(asleep - begun)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        with running.client() as client:
            ends = {path.name: send(client, path, way) for path in paths}
    finally:
        over.set()
        watcher.join()
    assert running.process.poll() is None
    late = {name: seconds for name, (_, seconds) in ends.items() if seconds > SECONDS}
    assert not late, late
    assert {state for state, _ in ends.values()} <= {"done", "failed", "refused"}, ends
    assert most_megabytes(running.process.pid) < MEGABYTES
    assert computed_seconds(running.process.pid) < COMPUTED
    assert most_of_all(waits) < 1.0 + 20 * most_of_all(late_by), max(waits)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the most memory")
@pytest.mark.parametrize("way", ["upload", "open"])
def test_each_is_sent_and_others_are_answered_meanwhile(start, tmp_path, way):
    paths = make.write(tmp_path)  # a folder is not sent as one file
    check_all(start, tmp_path, [path for path in paths if way == "open" or path.is_file()], way)
