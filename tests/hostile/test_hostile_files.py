"""184 files made to hurt: each is read or refused in one line, in time and within memory, by every way in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile import make

SECONDS, MEGABYTES = 15.0, 1000  # of the processor, and of the clock on a quiet machine; and memory; of one file
HUNG = 120.0  # seconds by the clock, after which it is not waited for
TOGETHER = 70.0  # seconds of the processor, of all files
PROGRAM = Path(__file__).parent / "open_all.py"


def open_all(way: str, paths: list[Path], folder: Path) -> None:
    """Open files in a process of its own, and check how each went."""
    environment = {**os.environ, "FABULA_CACHE_DIR": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(PROGRAM), way, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HUNG * len(paths), env=environment)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(paths) + 1, f"it ended at {paths[len(rows)].name}: {done.stderr[-500:]}"
    strange = [row for row in rows[:-1] if row["end"] not in ("fine", "refused")]
    slow = [row for row in rows[:-1] if max(row["computed"], row["seconds"] / row["busy"]) > SECONDS]
    assert not strange, strange
    assert not slow, slow
    assert rows[-1]["most"] < MEGABYTES
    assert sum(row["computed"] for row in rows[:-1]) < 0.6 * TOGETHER  # half of the files
    assert sum(row["end"] == "refused" for row in rows[:-1]) >= len(paths) // 2, "it reads what cannot be read"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the most memory")
@pytest.mark.parametrize("way", ["python", "command"])
def test_each_is_read_or_refused(way, tmp_path):
    """Every second by Python, the others by the command; the page is sent all."""
    paths = make.write(tmp_path)
    assert len(paths) == 184  # as SECURITY.md says
    open_all(way, paths[way == "command" :: 2], tmp_path)
