"""The main jobs of this tree against those of another checkout, as ratios of time and memory.

    python -m benchmarks.bench_house --against /path/to/other/src [--full] [--only order-13,exact-18] [--rounds 5]
                                     [--processor]

Each job runs in fresh processes with one source folder or the other on PYTHONPATH, by turns, so that what else the
machine does falls on both; the best of the rounds counts. Jobs use public names and commands alone, which both trees
know. Without ``--against`` this tree runs against itself: what that shows is noise. With ``--processor`` the time of
the processor counts, not that of the clock: the number to take where other work goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.timing import report

OWN = Path(__file__).resolve().parents[1] / "src"
TARGET = 1.05

# Before each job; `measure` takes the best of some repeats and prints it with the memory of this process.
_PRELUDE = """
import json, os, resource, sys, time
import numpy as np
import fabula

def measure(action, repeats=1):
    best = min(timed(action) for _ in range(repeats))
    unit = 1 if sys.platform == "darwin" else 1024
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    print(json.dumps({"seconds": best, "memory": memory}))

def timed(action):
    clock = time.process_time if os.environ.get("FABULA_BENCH_PROCESSOR") else time.perf_counter
    start = clock()
    action()
    return clock() - start

def table(path, sizes, seed):
    rng = np.random.default_rng(seed)
    words = "love night the of in rain intro you song part my blue heart outro light".split()
    with open(path, "w") as file:
        file.write("collection_id,position,title,artist,energy,loudness,tempo,valence,danceability,duration_ms\\n")
        for k, n in enumerate(sizes):
            for j in range(n):
                e, v, d = rng.random(3)
                title = " ".join(rng.choice(words, 2)) + f" {j}"
                numbers = f"{e:.3f},{-20 + 15 * e:.2f},{70 + 90 * e:.1f},{v:.3f},{d:.3f},{rng.integers(120000, 320000)}"
                file.write(f"c{k},{j},{title},A{rng.integers(5)},{numbers}\\n")
    return path
"""

_SESSION = 'session = fabula.open(table("album.csv", [{n}], 1), collection="c0")\n'


@dataclass(frozen=True)
class Job:
    """One thing that is timed: a program, or a command line whose whole process counts."""

    program: str = ""
    command: tuple[str, ...] = ()
    before: tuple[str, ...] = ()  # a command that is run first, untimed
    busy: bool = False


def jobs(*, full: bool) -> dict[str, Job]:
    """Every job by name."""
    thirteen = _SESSION.format(n=13) + "session.order()\nmeasure(lambda: session.order(), {repeats})"
    exact = _SESSION.format(n=18) + (
        "measure(lambda: session.order(first=2, before=[(3, 5)], apart='artist', smoothness=0.3, likeliest=True,"
        " alternatives=1), 2)"
    )
    search = (
        'session = fabula.open(table("album.csv", [200], 1), collection="c0", by="energy")\n'
        "measure(lambda: session.order(apart='artist', smoothness=0.5, alternatives=1))"
    )
    several = (
        'sizes = np.random.default_rng(0).integers(4, 15, {count}).tolist()\nmodel = fabula.load_model("music")\n'
        'albums = fabula.read_table(table("albums.csv", sizes, 2))\nmeasure(lambda: model.order_many(albums))'
    )
    demo = ("-m", "fabula", "demo", "--to", ".")
    return {
        "help": Job(command=("-m", "fabula", "--help")),
        "demo-cold": Job(command=demo),
        "demo-cached": Job(command=demo, before=demo),
        "order-13": Job(thirteen.format(repeats=30)),
        "order-13-busy": Job(thirteen.format(repeats=30), busy=True),
        "albums-2000": Job(several.format(count=2000)),
        **({"albums-10000": Job(several.format(count=10000))} if full else {}),
        "exact-18": Job(exact),
        "search-200": Job(search),
    }


def run(job: Job, source: Path) -> dict[str, float]:
    """Seconds and megabytes of a job in a fresh process, with an empty cache and an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        places = {
            "FABULA_CACHE_DIR": f"{folder}/.cache",
            "FABULA_DATA_DIR": f"{folder}/.data",
            "PYTHONPATH": str(source),
        }
        environment = os.environ | places
        if job.before:
            _wait([sys.executable, *job.before], folder, environment)
        load = _busy() if job.busy else None
        try:
            if job.command:
                return _wait([sys.executable, *job.command], folder, environment)
            done = subprocess.run(
                [sys.executable, "-c", _PRELUDE + job.program],
                cwd=folder, env=environment, check=True, capture_output=True, text=True,
            )  # fmt: skip
            found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
            return found
        finally:
            if load is not None:
                load.kill()
                load.wait()


# A process that starts another and says how long it took and how much memory it had.
_WATCH = """
import json, os, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = time.perf_counter() - start
if os.environ.get("FABULA_BENCH_PROCESSOR"):
    seconds = used.ru_utime + used.ru_stime
unit = 1 if sys.platform == "darwin" else 1024
memory = used.ru_maxrss * unit / 1e6
print(json.dumps({"seconds": seconds, "memory": memory}))
"""


def _wait(command: list[str], folder: str, environment: dict[str, str]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", _WATCH, *command],
        cwd=folder, env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _busy() -> subprocess.Popen[bytes]:
    """A process that keeps one core busy."""
    return subprocess.Popen([sys.executable, "-c", "while True: pass"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, default=OWN, help="the src folder of another checkout")
    parser.add_argument("--full", action="store_true", help="10,000 albums too")
    parser.add_argument("--only", help="names of jobs, separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processor", action="store_true", help="count time of the processor, not of the clock")
    given = parser.parse_args()
    os.environ.update({"FABULA_BENCH_PROCESSOR": "1"} if given.processor else {})
    known = jobs(full=given.full)
    wanted = given.only.split(",") if given.only else list(known)
    for name in wanted:
        if name not in known:
            sys.exit(f"no job {name!r}; there are: {', '.join(known)}")
        best: list[dict[str, float]] = [{}, {}]
        for turn in range(given.rounds):
            for k in (0, 1) if turn % 2 == 0 else (1, 0):
                found = run(known[name], (OWN, given.against.resolve())[k])
                best[k] = {key: min(value, best[k].get(key, value)) for key, value in found.items()}
        own, other = best
        print(f"{name}: {own['seconds'] * 1e3:,.1f} ms against {other['seconds'] * 1e3:,.1f}, ", end="")
        print(f"{own['memory']:,.0f} MB against {other['memory']:,.0f}")
        report(f"  {name}, time", own["seconds"] / other["seconds"], TARGET)
        report(f"  {name}, memory", own["memory"] / other["memory"], TARGET)


if __name__ == "__main__":
    main()
