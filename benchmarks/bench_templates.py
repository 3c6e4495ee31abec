"""Speed of learning templates, as ratios.

Run ``python benchmarks/bench_templates.py [FOLDER]``; FOLDER holds ``training.json``, a list of objects with
``indices`` and ``narrative_essence``. Without it the collections are drawn.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from fabula.core.arrays import normalise
from fabula.core.template import PAPER_KNOTS
from fabula.templates.costs import quadratic_costs
from fabula.templates.refinement import refine

Collections = tuple[list[np.ndarray], list[np.ndarray] | None]


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    essences, positions = read(Path(folder)) if folder else draw(4750, own_positions=True)
    print(f"{'movies' if folder else 'drawn'}: {len(essences)} collections")
    cost_of_one_set(essences[:640], positions[:640] if positions else None)
    refined(essences, positions)
    growth()


def cost_of_one_set(essences: list[np.ndarray], positions: list[np.ndarray] | None) -> None:
    """A set of 4 templates over 640 collections, beside a plain double loop."""
    values = np.random.default_rng(0).normal(size=(4, 7))
    places = positions or [np.linspace(0, 1, len(e)) for e in essences]

    def loop() -> float:
        total = 0.0
        for e, u in zip(essences, places, strict=True):
            total += min(float(np.mean((e - CubicSpline(PAPER_KNOTS, y)(u)) ** 2)) for y in values)
        return total / len(essences)

    def kinder_loop() -> float:
        splines = [CubicSpline(PAPER_KNOTS, y) for y in values]
        errors = [min(np.mean((e - f(u)) ** 2) for f in splines) for e, u in zip(essences, places, strict=True)]
        return float(np.mean(errors))

    costs = quadratic_costs(essences, positions)
    population = values[np.newaxis]
    slow, plain = seconds(loop, repeats=3)
    kinder, _ = seconds(kinder_loop, repeats=5)
    fast, ours = seconds(lambda: float(costs.of(population)[0]), repeats=200)
    once, _ = seconds(lambda: quadratic_costs(essences, positions), repeats=5)
    print(f"cost of 4 templates over 640 collections: {fast * 1e6:.0f} us, plain loop {slow * 1e3:.0f} ms")
    print(f"  {slow / fast:.0f} x faster, difference {abs(ours - plain):.1e}; prepared once in {once * 1e3:.1f} ms")
    print(f"  {kinder / fast:.0f} x faster than the loop with each spline built once ({kinder * 1e3:.0f} ms)")


def refined(essences: list[np.ndarray], positions: list[np.ndarray] | None) -> None:
    """Four templates from all collections."""
    start = time.perf_counter()
    _, cost = refine(quadratic_costs(essences, positions), 4, rng=np.random.default_rng(0))
    print(f"refined, k = 4: {time.perf_counter() - start:.2f} s, cost {cost:.4f}")


def growth() -> None:
    """Time from a thousand to a million collections; 10 per step is linear."""
    before: dict[str, float] = {}
    for m in (1_000, 10_000, 100_000, 1_000_000):
        essences, _ = draw(m, own_positions=False)
        prepare, costs = seconds(lambda e=essences: quadratic_costs(e), repeats=1)
        population = np.random.default_rng(0).normal(size=(12, 4, 7))
        now = {
            "prepare": prepare,
            "cost of 12 sets": seconds(lambda c=costs, p=population: c.of(p), repeats=3)[0],
            "refine": seconds(lambda c=costs: refine(c, 4, rng=np.random.default_rng(0)), repeats=1)[0],
        }
        told = [f"{name} {t:.3g} s" + (f" (x {t / before[name]:.1f})" if before else "") for name, t in now.items()]
        print(f"{m:>9,} collections: {', '.join(told)}", flush=True)
        before = now


def draw(m: int, *, own_positions: bool) -> Collections:
    """Collections of 10 to 29 items around four curves."""
    rng = np.random.default_rng(1)
    shapes = CubicSpline(PAPER_KNOTS, rng.normal(size=(4, 7)), axis=1)
    curves = {n: shapes(np.linspace(0, 1, n)) for n in range(10, 30)}
    lengths = rng.integers(10, 30, size=m).tolist()
    noise = rng.normal(size=sum(lengths))
    cuts = np.cumsum(lengths)
    essences = [noise[c - n : c] + 0.5 * curves[n][i % 4] for i, (c, n) in enumerate(zip(cuts, lengths, strict=True))]
    if not own_positions:
        return essences, None
    return essences, [np.concatenate([[0.0], np.sort(rng.random(n - 2)), [1.0]]) for n in lengths]


def read(folder: Path) -> Collections:
    rows = json.loads((folder / "training.json").read_text())
    places = [np.array(row["indices"], dtype=float) for row in rows]
    return [normalise(row["narrative_essence"]) for row in rows], [(p - p[0]) / (p[-1] - p[0]) for p in places]


def seconds(work: Callable[[], Any], *, repeats: int) -> tuple[float, Any]:
    """The shortest of some runs, and what the work gave."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


if __name__ == "__main__":
    main()
