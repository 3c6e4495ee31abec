"""The rows of ``fabula bench-order`` on its own tasks: those that must be trained are kept in the package, and so is
what somebody could do who knows the truth.

python -m benchmarks.store_bench_rows arc      # measures them, some minutes a task; without a task all
python -m benchmarks.store_bench_rows --show   # the table in docs/bench-order.md, from what is kept, in seconds
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection
from fabula.core.energy import Energy
from fabula.core.files import write_whole
from fabula.core.posterior import posterior
from fabula.research import bench
from fabula.research.bench import FAMILIES, BenchRow, BenchTask, family_task, make_card, score_row, take_half
from fabula.research.bench_programs import Orderings
from fabula.research.recovery import order_blind

STORED = ("arcs", "arcs, trained", "the paper's method")
KNOWN = "sorted by the positions that the model that drew it expects: on average none has a higher correlation"


def along_arc(features: Floats) -> Floats:
    """Positions expected where the first feature follows the hill, over all orderings by their likelihood."""
    misses = (features[:, :1] - bench.HILL.samples(len(features))) ** 2  # (n, n): item by position
    return posterior(Energy(-misses / (2 * bench.NOISE**2), np.zeros_like(misses))).places


def along_walk(features: Floats) -> Floats:
    """Positions expected of a walk, over all orderings by their likelihood."""
    n = len(features)
    stands = np.zeros((n, n))
    stands[:, 0] = -(features**2).sum(axis=1) / (2 * bench.START**2)
    steps = features[np.newaxis] - features[:, np.newaxis] - bench.DRIFT  # (n, n, f): from item to item
    return posterior(Energy(stands, -(steps**2).sum(axis=2) / (2 * bench.WALK**2))).places


# Numbers (n,) that rise with the positions expected of items with features (n, f) by somebody who knows the model:
# sorted by them, no other ordering has a higher expected rank correlation.
EXPECTED: dict[str, Callable[[Floats], Floats]] = {
    "plackett-luce": lambda x: 0.6 * x[:, 1] - 1.2 * x[:, 0],
    "mallows": lambda x: x[:, 0],
    "arc": along_arc,
    "opener": lambda x: -x[:, 0],
    "walk": along_walk,
}


def know(task: BenchTask) -> BenchRow:
    """The row of somebody who knows the model that drew a task."""
    expected = EXPECTED[task.name]

    def propose(collection: Collection) -> Ints:
        return np.argsort(expected(collection.features), kind="stable")

    orders = order_blind(task.test, np.random.default_rng((0, 3)), partial(map, propose))
    return score_row("truth known", "known", Orderings(orders), task, about=KNOWN)


def measure(name: str, *, trained: bool = True) -> dict[str, list[dict[str, Any]]]:
    """The rows of a task and of its halves, by digest."""
    task = family_task(name)
    found = {each.digest: [know(each)] for each in (task, take_half(task, "open"), take_half(task, "sealed"))}
    if trained:
        card = make_card(task, trained=True, progress=lambda step: print(f"{name}: {step}", flush=True))
        found[task.digest] += [row for row in card.rows if row.method in STORED]
    return {digest: list(map(asdict, rows)) for digest, rows in found.items()}


def show() -> None:
    """Print Spearman's rho of every reference method on every task."""
    tasks = [family_task(name) for name in FAMILIES]
    print("| method | " + " | ".join(f"`{task.name}`" for task in tasks) + " |\n" + "|---" * (1 + len(tasks)) + "|")
    rows: dict[str, list[str]] = {}
    for task in tasks:
        for row in make_card(task).rows:
            method = "sort by one column" if row.method.startswith("sort by") else row.method
            rows.setdefault(method, []).append(f"{round(row.metrics['spearman'].mean, 3) + 0.0:.3f}")  # no -0.0
    for method, told in rows.items():
        print(f"| {method} | " + " | ".join(told) + " |")
    print("| digest | " + " | ".join(task.digest for task in tasks) + " |")


def main(names: list[str]) -> None:
    if names == ["--show"]:
        show()
        return
    path = Path(str(files("fabula.research").joinpath("bench_rows.json")))
    for name in names or list(FAMILIES):
        stored = json.loads(path.read_text(encoding="utf-8"))
        write_whole(path, json.dumps({**stored, **measure(name)}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
