"""Orderings under ten wishes, with and without flow, on one side and on two, beside OR-Tools CP-SAT.

``python -m benchmarks.bench_search --seconds 60`` gives CP-SAT that long per problem; 0 leaves it out. On two sides
CP-SAT is given the sizes of the sides that were found: a model with free sizes is far too large for it. ``--seeds 5``
tells the median and the worst gap over five problems of each kind.

Then 500 and 1000 items, ours alone: on sides, within a limit that leaves out about a third of them, with flow.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np

from fabula.core.arrays import normalise
from fabula.core.solver import Arrangement, Constraints, Goal, arrange
from fabula.core.template import PAPER_KNOTS, Template

CURVE = Template(PAPER_KNOTS, [-1.0, 0.5, 1.5, -0.5, -1.5, 0.2, 1.0]).normalised()
SMOOTHNESS = 0.1  # position costs and flow are then about equal
MANY = {  # sides, limit as a part of all lengths, flow, ten wishes
    "2 sides": (2, None, False, False),
    "4 sides": (4, None, False, False),
    "limit": (1, 0.55, False, False),
    "limit, 2 sides": (2, 0.55, False, False),
    "flow": (1, None, True, False),
    "2 sides, flow": (2, None, True, False),
    "limit, flow": (1, 0.55, True, False),
    "wishes": (1, None, False, True),
    "4 sides, flow, wishes": (4, None, True, True),
    "limit, 2 sides, flow, wishes": (2, 0.55, True, True),
}
MOST_SECONDS = 2.0
TARGETS = {1: {30: 0.02, 50: 0.02, 60: 0.02, 200: 0.05}, 2: {30: 0.08, 50: 0.08, 60: 0.08, 200: 0.08}}  # of the gap


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="for CP-SAT, per problem")
    parser.add_argument("--items", type=int, nargs="*", default=[30, 50, 60, 200])
    parser.add_argument("--seeds", type=int, default=1, help="problems of each kind")
    parser.add_argument("--many", type=int, nargs="*", default=[500, 1000], help="items, ours alone")
    options = parser.parse_args()
    arrange(*instance(20, 0, 1)[:1])  # imports aside
    for n in options.items:
        for sides in (1, 2):
            for smoothness in (0.0, SMOOTHNESS):
                found = [compare(n, sides, smoothness, options.seconds, 1 + seed) for seed in range(options.seeds)]
                if options.seeds > 1:
                    gaps, times = zip(*found, strict=True)
                    missed = " MISSED" if max(gaps) > TARGETS[sides].get(n, 1.0) else ""
                    print(
                        f"  of {len(gaps)}: gap {100 * statistics.median(gaps):.2f} % (worst {100 * max(gaps):.2f} %),"
                        f" {statistics.median(times):.2f} s of one core{missed}"
                    )
    for n in options.many:
        for name in MANY:
            alone(n, name)


def alone(n: int, name: str) -> None:
    """One line: what was found among very many items."""
    sides, limit, flowing, wishes = MANY[name]
    goal, wished, steps = instance(n, 1, sides)
    lengths = wished.weights
    most = None if limit is None else limit * float(lengths.sum())
    constraints = Constraints(n, sides=sides, lengths=lengths, limit=most)
    if wishes:
        constraints = replace(wished, limit=most)
    start = time.process_time()
    found = arrange(goal, constraints=constraints, flow=SMOOTHNESS * steps if flowing else None)
    taken = time.process_time() - start
    broken = constraints.broken(found.ordering, found.sides)
    print(
        f"n = {n}, {name}: worst {found.worst:.3f}, objective {found.objective:.3f}, gap {100 * found.gap:.2f} %,"
        f" {taken:.2f} s{' MISSED' if taken > MOST_SECONDS else ''}{f' BROKEN {broken}' if broken else ''}"
    )


def compare(n: int, sides: int, smoothness: float, seconds: float, seed: int) -> tuple[float, float]:
    """One line: what was found and its bound, then the same of CP-SAT, and their ratios; the gap and the time."""
    goal, constraints, steps = instance(n, seed, sides)
    flow = smoothness * steps if smoothness else None
    start = time.process_time()
    found = arrange(goal, constraints=constraints, flow=flow)
    taken = time.process_time() - start
    broken = constraints.broken(found.ordering, found.sides)
    missed = " MISSED" if found.gap > TARGETS[sides].get(n, 1.0) or taken > MOST_SECONDS else ""
    first = "" if flow is not None else f"worst {found.worst:.3f}, "
    print(
        f"n = {n}, {sides} side(s), {'flow' if smoothness else 'no flow'}: {first}objective {found.objective:.3f},"
        f" bound {found.bound:.3f}, gap {100 * found.gap:.2f} %, {taken:.2f} s{missed}"
        f"{f' BROKEN {broken}' if broken else ''}"
    )
    if seconds > 0:
        print("    CP-SAT: " + rival(goal, flow, constraints, found, taken, seconds))
    return found.gap, taken


def rival(
    goal: Goal, flow: np.ndarray | None, constraints: Constraints, found: Arrangement, taken: float, seconds: float
) -> str:
    """What CP-SAT finds, told beside what was found."""
    from benchmarks import cp_sat

    start = time.perf_counter()
    other = cp_sat.solve(goal, flow, constraints, found.sides or (goal.n,), seconds)
    if other is None:
        return f"nothing in {time.perf_counter() - start:.1f} s"
    told = f"worst {other.worst:.3f}, " if flow is None else ""
    return (
        f"{told}objective {other.objective:.3f}, bound {other.bound:.3f}, {other.seconds:.1f} s; ours / CP-SAT:"
        f" objective {found.objective / other.objective:.3f} x, time {taken / other.seconds:.3f} x"
    )


def instance(n: int, seed: int, sides: int) -> tuple[Goal, Constraints, np.ndarray]:
    """Items of n / 5 artists under ten constraints that a hidden ordering keeps, and the steps between items."""
    rng = np.random.default_rng(seed)
    hidden = rng.permutation(n)
    artist = rng.integers(0, max(3, n // 5), size=n)
    for before, item in pairwise(hidden):
        while artist[item] == artist[before]:
            artist[item] = rng.integers(0, max(3, n // 5))
    essence = normalise(rng.normal(size=n))
    sound = np.column_stack([essence, rng.normal(size=(n, 2))])
    at = hidden.tolist()
    constraints = Constraints(
        n,
        fixed={0: at[0], -1: at[-1]} if sides > 1 else {0: at[0], n // 2: at[n // 2], -1: at[-1]},
        forbidden=[(at[3], 1), (at[5], 1)],
        together=[at[6:9], at[11:13]],
        before=[(at[2], at[14]), (at[7], at[13])],
        apart=artist,
        sides=sides,
        lengths=rng.uniform(150, 330, size=n),
    )
    return Goal.template(essence, CURVE), constraints, np.linalg.norm(sound[:, np.newaxis] - sound, axis=2)


if __name__ == "__main__":
    main()
