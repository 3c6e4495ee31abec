"""120 files made to hurt, sent to the page and opened there: each ends, and others are answered meanwhile."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.hostile import make

SECONDS, MEGABYTES = 15.0, 1000


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
    while job["state"] == "running" and time.monotonic() - start < 4 * SECONDS:
        time.sleep(0.05)
        job = client.get(f"/api/jobs/{job['id']}").json()
    return job["state"], time.monotonic() - start


def most_megabytes(process: int) -> int:
    rows = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("VmHWM")) // 1024


def check_all(start, tmp_path: Path, paths: list[Path], way: str) -> None:
    running = start(str(tmp_path), seconds=60 + SECONDS * len(paths))
    waits: list[float] = []
    over = threading.Event()

    def look() -> None:
        with running.client() as other:
            while not over.wait(0.2):
                begun = time.monotonic()
                other.get("/api/formats")
                waits.append(time.monotonic() - begun)

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
    assert sorted(waits)[int(0.99 * (len(waits) - 1))] < 1.0, max(waits)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the most memory")
def test_some_are_sent_and_others_are_answered_meanwhile(start, tmp_path):
    check_all(start, tmp_path, make.write(tmp_path)[5::20], "upload")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.flaky(reruns=1)  # a busy machine is late
@pytest.mark.parametrize("way", ["upload", "open"])
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the most memory")
def test_all_are_sent_and_others_are_answered_meanwhile(start, tmp_path, way):
    check_all(start, tmp_path, make.write(tmp_path), way)
