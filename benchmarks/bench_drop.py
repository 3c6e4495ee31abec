"""The page under load: three hours of sound dropped twice, and fifty clients at a time; memory of the server.

python -m benchmarks.bench_drop [--minutes 180] [--clients 50]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import soundfile

PIECE = 240  # seconds of one file


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=180)
    parser.add_argument("--clients", type=int, default=50)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as (client, process):
        print(f"server at rest: {memory(process):.0f} MB")
        files = sounds(Path(folder), asked.minutes * 60 // PIECE)
        size = sum(len(data) for _, data in files) / 2**20
        for time_ in ("first", "second"):
            before = processor(process)
            sent, opened = drop(client, files)
            took = processor(process) - before
            print(f"{len(files)} files, {asked.minutes} min, {size:.0f} MiB, {time_} time: received in {sent:.2f} s, "
                  f"opened in {opened:.2f} s, {took:.2f} s of processor; {memory(process):.0f} MB")  # fmt: skip
        clients(client, asked.clients)
        print(f"afterwards: {memory(process):.0f} MB at most")


@contextmanager
def serving(folder: Path) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    """A server as a process, and a client of it."""
    kept = {name: str(folder / name) for name in ("FABULA_CACHE_DIR", "FABULA_DATA_DIR")}
    code = "from fabula.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", "0", "--no-browser"]
    environment = {**os.environ, **kept, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        found = re.search(r"(http\S+/)\?token=(\S+)", process.stdout.readline() if process.stdout else "")
        if found is None:
            raise SystemExit("the server did not start")
        headers = {"Authorization": f"Bearer {found[2]}"}
        try:
            with httpx.Client(base_url=found[1], headers=headers, timeout=600) as client:
                for _ in range(100):
                    try:
                        client.get("api/jobs")
                        break
                    except httpx.TransportError:
                        time.sleep(0.1)
                yield client, process
        finally:
            process.terminate()


def sounds(folder: Path, count: int) -> list[tuple[str, bytes]]:
    """Files of the same sound and different content: a tag at the end makes each its own."""
    rate, rng = 44100, np.random.default_rng(0)
    seconds = np.arange(PIECE * rate) / rate
    sound = 0.2 * np.sin(2 * np.pi * 220 * seconds) * (1 + np.sin(seconds)) + 0.02 * rng.normal(size=len(seconds))
    soundfile.write(folder / "x.mp3", np.stack([sound, sound[::-1]], axis=1), rate)
    data = (folder / "x.mp3").read_bytes()
    tags = [b"TAG" + f"Song {k:03d}".encode().ljust(125, b"\0") for k in range(count)]
    return [(f"set/{k:03d}.mp3", data + tag) for k, tag in enumerate(tags)]


def drop(client: httpx.Client, files: list[tuple[str, bytes]]) -> tuple[float, float]:
    """Send files and wait until they are open: seconds of each."""
    begun = time.perf_counter()
    job = client.post("api/uploads", files=[("files", file) for file in files]).json()
    sent = time.perf_counter()
    while job["state"] == "running":
        time.sleep(0.005)
        job = client.get(f"api/jobs/{job['id']}").json()
    if job["state"] != "done":
        raise SystemExit(str(job))
    return sent - begun, time.perf_counter() - sent


def clients(client: httpx.Client, count: int) -> None:
    """Many who order at once, with wishes and without: how long each waits."""
    rng = np.random.default_rng(1)
    items = [{"essence": float(v), "creator": f"c{k % 40}"} for k, v in enumerate(rng.normal(size=500))]
    plain = {"items": items[:40], "template": "icarus", "explain": False}
    wishes = {"items": items, "template": "icarus", "together": [[1, 2]], "apart": "creator", "explain": False}
    for name, asked, users in (
        ("one client, 500 items with wishes, budget 100 ms", {**wishes, "budget_ms": 100}, 1),
        ("one client, 500 items with wishes, the whole search", wishes, 1),
        (f"{count} clients, 40 items, no wishes", plain, count),
        (f"{count} clients, 500 items with wishes, budget 100 ms", {**wishes, "budget_ms": 100}, count),
    ):
        waits, statuses = together(client, json.dumps(asked), users)
        told = ", ".join(f"{statuses.count(one)} x {one}" for one in sorted(set(statuses)))
        print(f"{name}: median {statistics.median(waits):.2f} s, longest {max(waits):.2f} s ({told})")


def together(client: httpx.Client, body: str, users: int) -> tuple[list[float], list[int]]:
    """The same request from many at once: seconds and statuses; once before for one."""
    waits: list[float] = []
    statuses: list[int] = []

    def ask() -> None:
        headers = {**client.headers, "Content-Type": "application/json"}
        with httpx.Client(base_url=client.base_url, headers=headers, timeout=600) as own:
            begun = time.perf_counter()
            statuses.append(own.post("api/order", content=body).status_code)
            waits.append(time.perf_counter() - begun)

    ask()
    waits.clear()
    statuses.clear()
    threads = [threading.Thread(target=ask) for _ in range(users)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return waits, statuses


def processor(process: subprocess.Popen[str]) -> float:
    """The seconds of processor time a process has had, which a busy machine does not change much."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: subprocess.Popen[str]) -> float:
    """The most memory a process has had, in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    return int(found[1]) / 1024 if found else float("nan")


if __name__ == "__main__":
    main()
