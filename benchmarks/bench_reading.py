"""Reading a table of 1,000,000 rows beside pyarrow: time, and the most memory of a process that does nothing else.

    PYTHONPATH=src python benchmarks/bench_reading.py [--collections 100000] [--rounds 5] [--old FOLDER] [--mixed]

The file is synthetic: collections of about ten items, twelve features, titles and names of artists. Each reading is a
process of its own, taking turns; times are of the call alone, memory is that of the process. ``--old`` names the source
folder of another version to read the same file with; ``--mixed`` writes the rows in no order.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import report

FEATURES = 12
_READ = """
import json, re, sys, time
from pathlib import Path
import pyarrow.parquet
how, path = sys.argv[1:]
if how == "pyarrow":
    read = pyarrow.parquet.read_table
else:
    import fabula
    read = fabula.read_table
start = time.perf_counter()
found = read(path)
seconds = time.perf_counter() - start
most = int(re.search("VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])  # maxrss would count the parent's
print(json.dumps([seconds, most / 1024]))
"""


def write_synthetic(path: Path, collections: int, *, mixed: bool = False, seed: int = 0) -> int:
    """A table of collections of 5 to 15 items; returns the number of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 16, collections)
    rows = int(sizes.sum())
    album = np.repeat(np.arange(collections), sizes)
    position = np.arange(rows) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    columns = {
        "collection_id": pa.array([f"album{number:07d}" for number in album.tolist()]),
        "position": pa.array(position),
        "title": pa.array([f"A title of some words {number}" for number in range(rows)]),
        "artist": pa.array([f"The Artists {number % 20011}" for number in album.tolist()]),
    }
    columns |= {f"feature_{i}": pa.array(rng.standard_normal(rows)) for i in range(FEATURES)}
    table = pa.table(columns)
    pq.write_table(table.take(rng.permutation(rows)) if mixed else table, path)
    return rows


def measured(how: str, path: Path, source: str | None = None) -> tuple[float, float]:
    """Seconds and the most megabytes of a process that reads a file."""
    environment = os.environ | ({"PYTHONPATH": source} if source else {})
    done = subprocess.run(
        [sys.executable, "-c", _READ, how, str(path)], env=environment, capture_output=True, text=True, check=True
    )
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--old", help="the source folder of another version")
    parser.add_argument("--mixed", action="store_true", help="rows in no order")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "synthetic.parquet"
        rows = write_synthetic(path, options.collections, mixed=options.mixed)
        print(f"{options.collections:,} collections, {rows:,} rows, {path.stat().st_size / 1e6:.0f} MB")
        ways = {"pyarrow": None, "fabula": None} | ({"old": options.old} if options.old else {})
        found: dict[str, list[tuple[float, float]]] = {how: [] for how in ways}
        for turn in range(options.rounds):
            for how, source in ways.items():
                if how != "old" or turn == 0:
                    found[how].append(measured(how, path, source))
    best = {how: np.array(values).min(axis=0) for how, values in found.items()}
    for how, (seconds, megabytes) in best.items():
        print(f"{how:8} {seconds:7.3f} s  {megabytes:6.0f} MB")
    report("time beside pyarrow", best["fabula"][0] / best["pyarrow"][0], 2.5)
    report("memory beside pyarrow", best["fabula"][1] / best["pyarrow"][1], 2)


if __name__ == "__main__":
    main()
