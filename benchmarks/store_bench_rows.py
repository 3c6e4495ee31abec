"""The rows of ``fabula bench-order`` on its own tasks: those that must be trained are kept in the package.

python -m benchmarks.store_bench_rows arc      # measures them, some minutes a task; without a task all
python -m benchmarks.store_bench_rows --show   # the table in docs/bench-order.md, from what is kept, in seconds
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from fabula.core.files import write_whole
from fabula.research.bench import FAMILIES, family_task, make_card

STORED = ("arcs", "arcs, trained", "the paper's method")


def measure(name: str) -> tuple[str, list[dict[str, Any]]]:
    """The digest of a task and its rows."""
    task = family_task(name)
    card = make_card(task, trained=True, progress=lambda step: print(f"{name}: {step}", flush=True))
    return task.digest, [asdict(row) for row in card.rows if row.method in STORED]


def show() -> None:
    """Print the reference rows of every task."""
    print("| task | method | Spearman | opener | close | neighbours |\n|---|---|---|---|---|---|")
    for name in FAMILIES:
        task = family_task(name)
        for row in make_card(task).rows:
            rho = row.metrics["spearman"]
            mean, low, high = (round(value, 3) + 0.0 for value in (rho.mean, rho.low, rho.high))  # no -0.0
            means = " | ".join(f"{row.metrics[each].mean:.3f}" for each in ("first", "last", "neighbours"))
            label = f"| `{name}`, {task.digest} | {row.method} |"
            print(f"{label} {mean:.3f} ({low:.3f} to {high:.3f}) | {means} |", flush=True)


def main(names: list[str]) -> None:
    if names == ["--show"]:
        show()
        return
    path = Path(str(files("fabula.research").joinpath("bench_rows.json")))
    for name in names or list(FAMILIES):
        digest, rows = measure(name)
        stored = json.loads(path.read_text(encoding="utf-8"))
        write_whole(path, json.dumps({**stored, digest: rows}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
