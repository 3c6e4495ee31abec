"""Reading a features.csv of FMA's full size, beside merely reading its lines; time, ratio and peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.timing import report
from fabula.sources.fma.archive import LIBROSA, STATISTICS

TRACKS = 106_574
_CHILD = """
import json, resource, sys, time
from pathlib import Path
from fabula.sources.fma.archive import read_librosa
start = time.perf_counter()
ids, values = read_librosa(Path(sys.argv[1]))
seconds = time.perf_counter() - start
total = float(values[::1000].sum())
scale = 1 if sys.platform == "darwin" else 1024
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
print(json.dumps([seconds, peak, len(ids), total]))
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "features.csv", TRACKS)
        size = (folder / "features.csv").stat().st_size
        start = time.perf_counter()
        with (folder / "features.csv").open("rb") as file:
            lines = sum(1 for _ in file)
        plain = time.perf_counter() - start
        first, peak, tracks, total = _read(folder)
        second, second_peak, _, again = _read(folder)
        if (lines, tracks, total) != (TRACKS + 4, TRACKS, again):
            raise SystemExit("the table was not read whole")
    print(
        f"features.csv of {size / 1e6:,.0f} MB: lines {plain:.1f} s, first reading {first:.1f} s, second {second:.2f} s"
    )
    report("reading features.csv / reading its lines", first / plain, 60)
    report("first reading, seconds", first, 60)
    report("second reading / first", second / first, 0.05)
    report("peak memory of the first reading, GB", peak / 1e9, 2)
    report("peak memory of the second reading, GB", second_peak / 1e9, 2)


def write(path: Path, tracks: int) -> None:
    """A table of FMA's form: three header rows, the line that names the index, 518 columns of 11 digits."""
    columns = sorted((*name.rsplit("_", 1), s) for name in LIBROSA for s in STATISTICS)
    columns = sorted((feature, statistic, number) for feature, number, statistic in columns)
    rng = np.random.default_rng(0)
    rows = [",".join(f"{value:.10e}" for value in rng.normal(size=len(columns)) * 100) for _ in range(500)]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for i, name in enumerate(("feature", "statistics", "number")):
            file.write(",".join([name, *(column[i] for column in columns)]) + "\n")
        file.write("track_id" + "," * len(columns) + "\n")
        file.writelines(f"{track},{rows[track % 500]}\n" for track in islice(range(2, 10**9), tracks))


def _read(folder: Path) -> tuple[float, float, int, float]:
    child = subprocess.run([sys.executable, "-c", _CHILD, str(folder)], check=True, capture_output=True, text=True)
    return tuple(json.loads(child.stdout))


if __name__ == "__main__":
    main()
