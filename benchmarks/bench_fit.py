"""The exact fit beside the sorts, the assignment and the plain Algorithm 2 that it replaces."""

from __future__ import annotations

import time

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.algorithm2 import fit_plain
from benchmarks.timing import best_of, report
from fabula.core.fit import fit, lay
from fabula.core.template import PAPER_KNOTS, Template


def main() -> None:
    rng = np.random.default_rng(0)
    _million(rng)
    _against_networkx(rng)
    _general(rng)


def _million(rng: np.random.Generator) -> None:
    values, others = rng.normal(size=(2, 1_000_000))
    curve = Template(PAPER_KNOTS, rng.normal(size=7))

    def ours() -> None:
        found = fit(values, curve)
        _ = found.worst, found.mean

    sorts, fitted = best_of(lambda: (np.argsort(values), np.argsort(others)), ours)
    report("fit of 1,000,000 scalars / two np.argsort", fitted / sorts, 2.5)


def _against_networkx(rng: np.random.Generator) -> None:
    values, curve = rng.normal(size=200), Template(PAPER_KNOTS, rng.normal(size=7))
    start = time.perf_counter()
    plain = lay(values, fit_plain(values, curve.samples(200)), curve)
    slow = time.perf_counter() - start
    quick = fit(values, curve)
    if not np.allclose((plain.worst, plain.mean), (quick.worst, quick.mean)):
        raise SystemExit("the two disagree")
    report(
        "plain Algorithm 2 with networkx / fit, n = 200",
        slow / best_of(lambda: fit(values, curve))[0],
        1000,
        at_least=True,
    )


def _general(rng: np.random.Generator) -> None:
    before = None
    for n in (125, 250, 500, 1000):
        rows, curve = rng.normal(size=(n, 4)), Template(PAPER_KNOTS, rng.normal(size=(7, 4)))
        cost = np.linalg.norm(rows[:, np.newaxis] - curve.samples(n), axis=2)
        once, ours = best_of(lambda c=cost: linear_sum_assignment(c), lambda r=rows, t=curve: fit(r, t), repeats=3)
        growth = f", {ours / before:.1f} x the time of n / 2" if before else ""
        report(f"general solver / one linear_sum_assignment, n = {n}, d = 4{growth}", ours / once, 60)
        before = ours
