"""Measure the rows of ``fabula bench-order`` that must be trained and keep them in the package: a task a call.

    python -m benchmarks.store_bench_rows arc

Without a task all are measured, which takes some minutes each.
"""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path

from fabula.core.files import write_whole
from fabula.research.bench import FAMILIES, family_task, make_card

STORED = ("arcs", "arcs, trained", "the paper's method")


def measure(name: str) -> tuple[str, list[dict]]:
    """The digest of a task and its rows."""
    task = family_task(name)
    card = make_card(task, trained=True, progress=lambda step: print(f"{name}: {step}", flush=True))
    return task.digest, [row.to_dict() for row in card.rows if row.method in STORED]


def main(names: list[str]) -> None:
    path = Path(str(files("fabula.research").joinpath("bench_rows.json")))
    for name in names or list(FAMILIES):
        digest, rows = measure(name)
        stored = json.loads(path.read_text(encoding="utf-8"))
        write_whole(path, json.dumps({**stored, digest: rows}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
