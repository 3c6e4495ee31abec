"""Orderings under constraints and with smoothness: time, and the gap from the bound."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.search import arrange
from fabula.core.essence import normalise
from fabula.core.template import PAPER_KNOTS, Template

CURVE = Template(PAPER_KNOTS, [-1.0, 0.5, 1.5, -0.5, -1.5, 0.2, 1.0]).normalised()


def main() -> None:
    arrange(*instance(20, 0)[:2])  # imports aside
    for n in (18, 50, 200, 500):
        for smoothness in (0.0, 0.1, 0.5, -0.1):
            essence, curve, constraints, transitions = instance(n, 1)
            start = time.perf_counter()
            found = arrange(essence, curve, constraints=constraints, transitions=transitions, smoothness=smoothness)
            seconds = time.perf_counter() - start
            broken = constraints.broken(found.ordering)
            missed = "  MISSED (target < 2 s)" if seconds > 2 else ""
            print(
                f"n = {n}, ten constraints, smoothness {smoothness:g}: objective {found.objective:.3f}, bound"
                f" {found.bound:.3f}, gap {100 * found.relative_gap:.1f} %, exact {found.fit.exact},"
                f" {seconds:.2f} s{missed}{f'  BROKEN {broken}' if broken else ''}"
            )


def instance(n: int, seed: int) -> tuple[np.ndarray, Template, Constraints, np.ndarray]:
    """Items of n / 5 artists under ten constraints that a hidden ordering keeps."""
    rng = np.random.default_rng(seed)
    hidden = rng.permutation(n)
    artist = rng.integers(0, max(3, n // 5), size=n)
    for before, item in pairwise(hidden):
        while artist[item] == artist[before]:
            artist[item] = rng.integers(0, max(3, n // 5))
    essence = normalise(rng.normal(size=n))
    sound = np.column_stack([essence, rng.normal(size=(n, 2))])
    transitions = np.linalg.norm(sound[:, np.newaxis] - sound, axis=2)
    at = hidden.tolist()
    constraints = Constraints(
        n,
        fixed={0: at[0], n // 2: at[n // 2], -1: at[-1]},
        forbidden=[(at[3], 1), (at[5], 1)],
        together=[at[6:9], at[11:13]],
        before=[(at[2], at[14]), (at[7], at[13])],
        apart=artist,
    )
    return essence, CURVE, constraints, transitions
