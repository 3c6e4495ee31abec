"""Memory and time of the main job: titled tracks in a table, files of text or pictures, by every way it is asked for.

    PYTHONPATH=src python -m benchmarks.bench_orders [--items 12 100 200 1000 5000] [--of music] [--ways plain json]
    PYTHONPATH=src python -m benchmarks.bench_orders --wishes [--items 5000]

The most memory of a process and of those that it started (VmHWM), and its processor time. Fails beyond 500 MB.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

WORDS = ["love", "night", "river", "stone", "light", "shadow", "road", "dream", "fire", "rain", "silver", "heart"]
NUMBERS = ["danceability", "energy", "loudness", "speechiness", "acousticness", "liveness", "valence"]
MOST = 500  # MB
WAYS = {"plain": [], "--json": ["--json"], "--why": ["--why"], "--report": ["--report", "r.html"], "page": None}
WISHES = {
    "sides": ["--sides", "4"],
    "limit": ["--limit", "5h"],
    "apart": ["--apart", "artist", "--apart", "soft"],
    "together": ["--together", "TITLE 3", "TITLE 9"],
    "before": ["--before", "TITLE 20", "TITLE 4"],
}

COMMAND = """
import resource, sys
from pathlib import Path
from fabula.cli import run
code = run(sys.argv[1:])
mine = next(int(row.split()[1]) for row in Path("/proc/self/status").open() if row.startswith("VmHWM"))
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
time = sum(one.ru_utime + one.ru_stime for one in used)
Path("used").write_text(f"{max(mine, used[1].ru_maxrss) / 1024:.0f} {time:.1f} {code}")
"""
PAGE = """
import sys
from fastapi.testclient import TestClient
from pathlib import Path
from fabula.web.app import create_app
from fabula.web.server_store import Settings
import resource, time
app = create_app(Settings(roots=(Path.cwd(),)))
client = TestClient(app, base_url="http://127.0.0.1", headers={"Authorization": f"Bearer {app.state.access.token}"})
job = client.post("/api/collections", json={"path": str(Path.cwd() / sys.argv[1])}).json()
while job["state"] == "running":
    time.sleep(0.05)
    job = client.get(f"/api/jobs/{job['id']}").json()
answer = client.post("/api/order", json={"collection": job["collection"], "explain": True})
mine = next(int(row.split()[1]) for row in Path("/proc/self/status").open() if row.startswith("VmHWM"))
used = resource.getrusage(resource.RUSAGE_SELF)
Path("used").write_text(f"{mine / 1024:.0f} {used.ru_utime + used.ru_stime:.1f} {int(answer.status_code != 200)}")
"""


def write_items(path: Path, count: int) -> None:
    """A table with titles, an artist, lengths and features."""
    rng = random.Random(3)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["title", "artist", "duration_ms", "key", "mode", "tempo", *NUMBERS])
        for number in range(count):
            title = " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 4))).title()
            numbers = [round(rng.random(), 3) for _ in NUMBERS]
            start = [f"{title} {number}", rng.choice(["Ann", "The Cats"]), rng.randint(90_000, 400_000)]
            table.writerow([*start, rng.randint(0, 11), rng.randint(0, 1), round(60 + 120 * rng.random(), 1), *numbers])


def write_texts(folder: Path, count: int) -> None:
    """Texts of some eighty words."""
    rng = random.Random(3)
    for number in range(count):
        lines = [" ".join(rng.choice(WORDS) for _ in range(10)).capitalize() + "." for _ in range(8)]
        (folder / f"{rng.choice(WORDS)} {number}.txt").write_text(" ".join(lines) + "\n")


def write_pictures(folder: Path, count: int) -> None:
    """Pictures of 64 x 48 pixels."""
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(3)
    for number in range(count):
        small = Image.fromarray(rng.integers(0, 255, (6, 8, 3), np.uint8))
        small.resize((64, 48)).save(folder / f"{number:05d}.png")


def prepare(folder: Path, kind: str, count: int) -> str:
    """Make the items; the name of what is opened."""
    if kind == "music":
        write_items(folder / "items.csv", count)
        return "items.csv"
    (folder / "items").mkdir()
    (write_texts if kind == "text" else write_pictures)(folder / "items", count)
    return "items"


def measure(folder: Path, more: list[str] | None, name: str = "items.csv") -> tuple[float, float]:
    """MB and seconds of one way."""
    environment = {**os.environ, "FABULA_CACHE_DIR": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))  # the package that was asked for
    code = [PAGE, name] if more is None else [COMMAND, "order", name, *more]
    subprocess.run(
        [sys.executable, "-c", *code], cwd=folder, env=environment, stdout=subprocess.DEVNULL, timeout=3600, check=True
    )
    memory, seconds, failed = (folder / "used").read_text().split()
    if failed != "0":
        raise RuntimeError(f"it ended with {failed}")
    return float(memory), float(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, nargs="+", default=[12, 100, 200, 1000, 5000])
    parser.add_argument("--of", choices=["music", "text", "pictures"], default="music")
    parser.add_argument("--ways", nargs="+", choices=[name.strip("-") for name in WAYS], metavar="WAY")
    parser.add_argument("--wishes", action="store_true", help="each wish in place of each way")
    options, most = parser.parse_args(), 0.0
    chosen = {name: words for name, words in WAYS.items() if options.ways is None or name.strip("-") in options.ways}
    ways = WISHES if options.wishes else chosen
    print(f"| {options.of} | {' | '.join(ways)} |\n|---|{'---|' * len(ways)}")
    for count in options.items:
        print(f"| {count:,} |", end="", flush=True)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            name = prepare(folder, options.of, count)
            titles = (
                [row.partition(",")[0] for row in (folder / name).read_text().splitlines()[1:]]
                if ways is WISHES
                else []
            )
            for words in ways.values():
                asked = words and [titles[int(w[6:])] if w.startswith("TITLE ") else w for w in words]
                memory, seconds = measure(folder, asked, name)
                most = max(most, memory)
                print(f" {memory:.0f} MB, {seconds:.0f} s |", end="", flush=True)
        print(flush=True)
    sys.exit(1 if most > MOST else 0)


if __name__ == "__main__":
    main()
