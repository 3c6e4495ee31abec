"""The page's server: how fast it answers while a knot is dragged, and 50 clients at a time.

python -m benchmarks.bench_web [--seconds 30]
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import numpy as np

ITEMS, CLIENTS, QUESTIONS = 500, 50, 400
OPTIONS = ["--port", "0", "--no-browser", "--no-token"]
SERVE = f"from fabula.cli.serve import command; command.main({OPTIONS}, standalone_mode=False)"


def main(seconds: float = 30.0) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True) as server:
        try:
            said = [server.stdout.readline() for _ in range(2)] if server.stdout else []  # the first is a warning
            address = re.findall(r"http://[^/\s]+", "".join(said))[0]
            dragging(address)
            crowd(address, server.pid, seconds)
        finally:
            server.terminate()


def dragging(address: str) -> None:
    """One client asks for a new order at each step of a drag, for a column and for a model."""
    with httpx.Client(base_url=address, timeout=30) as client:
        for kind, collection in (("a column", load(client, "energy")), ("the audio model", load(client, None))):
            for what, more in (
                ("knot dragged", {"explain": False}),
                ("knot dragged, with reasons", {}),
                ("with 5 pins", {"explain": False, "fixed": {str(k): 499 - k for k in range(0, 500, 100)}}),
            ):
                print(f"{ITEMS} items, {kind}, {what}: {told(asked(client, collection, more))}")


def asked(client: httpx.Client, collection: str, more: dict[str, object]) -> list[float]:
    times = []
    for step in range(QUESTIONS):
        template = {"knots": [0, 0.3, 0.6, 1], "values": [0, np.sin(step / 20), 1, -1]}
        begin = time.perf_counter()
        answer = client.post(
            "/api/order", json={"collection": collection, "template": template, "scaled": False, **more}
        )
        times.append(time.perf_counter() - begin)
        answer.raise_for_status()
    return times


def load(client: httpx.Client, by: str | None) -> str:
    """A table of many items, its essence a column or what the model makes of length and loudness."""
    rng = np.random.default_rng(0)
    columns = zip(rng.random(ITEMS), rng.normal(2e5, 4e4, ITEMS), rng.normal(-10, 3, ITEMS), strict=True)
    rows = "".join(f"Item {i},Artist {i % 40},{e:.4f},{d:.0f},{v:.2f}\n" for i, (e, d, v) in enumerate(columns))
    table = f"title,artist,energy,duration_ms,loudness\n{rows}"
    job = client.post("/api/uploads", files={"files": ("many.csv", table)}, params={"by": by} if by else {}).json()
    while job["state"] == "running":
        time.sleep(0.02)
        job = client.get(f"/api/jobs/{job['id']}").json()
    return str(job["collection"])


def crowd(address: str, pid: int, seconds: float) -> None:
    """Many clients at a time: orders, collections, previews in ranges."""
    times, errors, memory = asyncio.run(_crowd(address, pid, seconds))
    print(
        f"{CLIENTS} clients for {seconds:.0f} s: {len(times)} answers ({len(times) / seconds:.0f} per second), "
        f"{errors} errors, {told(times)}; memory {memory[0]:.0f} MB at the start, {max(memory):.0f} MB at most, "
        f"{memory[-1]:.0f} MB at the end"
    )


async def _crowd(address: str, pid: int, seconds: float) -> tuple[list[float], int, list[float]]:
    times: list[float] = []
    errors = 0
    with httpx.Client(base_url=address, timeout=30) as client:
        collection = load(client, "energy")
        job = client.post("/api/demo").json()
        while job["state"] == "running":
            time.sleep(0.02)
            job = client.get(f"/api/jobs/{job['id']}").json()
    memory = [resident(pid)]
    until = time.monotonic() + seconds

    async def one(number: int) -> None:
        nonlocal errors
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            step = 0
            while time.monotonic() < until:
                step += 1
                begin = time.perf_counter()
                answer = await _question(client, collection, str(job["collection"]), number + step)
                times.append(time.perf_counter() - begin)
                errors += answer.status_code not in (200, 206)

    async def watch() -> None:
        while time.monotonic() < until:
            await asyncio.sleep(1)
            memory.append(resident(pid))

    await asyncio.gather(watch(), *(one(number) for number in range(CLIENTS)))
    return times, errors, memory


async def _question(client: httpx.AsyncClient, table: str, demo: str, step: int) -> httpx.Response:
    if step % 4 == 0:
        headers = {"Range": f"bytes={step % 1000}-{step % 1000 + 20000}"}
        return await client.get(f"/api/collections/{demo}/preview/{step % 9}", headers=headers)
    if step % 4 == 1:
        return await client.get(f"/api/collections/{demo}")
    template = {"knots": [0, 0.5, 1], "values": [0, np.sin(step), 1]}
    return await client.post("/api/order", json={"collection": table, "template": template, "explain": step % 4 == 2})


def resident(pid: int) -> float:
    """Megabytes a process holds in memory."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", text)
    return int(found.group(1)) / 1024 if found else float("nan")


def told(times: list[float]) -> str:
    middle, high, most = (1000 * float(q) for q in np.quantile(times, [0.5, 0.95, 1.0]))
    return f"median {middle:.1f} ms, p95 {high:.1f} ms, worst {most:.1f} ms"


if __name__ == "__main__":
    main(float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 30.0)
