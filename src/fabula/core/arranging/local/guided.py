"""Orderings guided by the bound: a cheapest path, made an ordering again and improved, as the prices settle."""

from __future__ import annotations

import time

import numpy as np

from fabula.core.arranging.local.anneal import anneal
from fabula.core.arranging.local.balance import balance
from fabula.core.arranging.local.construct import construct
from fabula.core.arranging.local.descent import descend
from fabula.core.arranging.local.paths import PathSearch
from fabula.core.arranging.local.problem import Problem
from fabula.core.ordering import Ints

ROUNDS = 16  # of prices before each attempt
WALK = 40  # rounds of annealing, from a low heat, in each
HOT = 0.25
NOISE = 0.1  # on settled prices, in their deviations


def guided(
    problem: Problem, ordering: Ints, paths: PathSearch, rng: np.random.Generator, *, turns: int, until: float
) -> Ints:
    """The best of an ordering and of those that cheapest paths lead to.

    Parameters
    ----------
    problem
        The costs.
    ordering
        Shape (N,), keeps the constraints.
    paths
        The prices, which are moved.
    rng
        Shakes what is improved.
    turns
        How many paths to follow.
    until
        When to stop by ``time.monotonic()`` at the latest.
    """
    value = problem.value(ordering)
    for _ in range(turns):
        if paths.best >= value - 1e-9 * abs(value) or time.monotonic() > until:
            break
        noise = np.zeros(len(ordering))
        if paths.done:  # the prices have settled: look around them
            noise = NOISE * float(paths.chosen.std()) * rng.normal(size=len(ordering))
        else:
            paths.advance(ROUNDS)
        trial = construct(problem, repaired(problem, paths.path(noise)), rng, until=until)
        trial = None if trial is None else balance(problem, trial)
        if trial is None:
            continue
        trial = anneal(problem, trial, rng, rounds=WALK, hot=HOT, until=until)
        trial = descend(problem, trial, until=until)
        if problem.value(trial) < value:
            ordering, value = trial, problem.value(trial)
            paths.value = value
    return ordering


def repaired(problem: Problem, path: Ints) -> Ints:
    """A path (N,) with each item once: the first of those it takes twice, what is missing where it fits best."""
    from scipy.optimize import linear_sum_assignment

    n = len(path)
    wish = np.full(n, -1, dtype=np.intp)
    first = np.unique(path, return_index=True)[1]
    wish[first] = path[first]
    gaps, missing = np.flatnonzero(wish < 0), np.setdiff1d(np.arange(n), path)
    cost = problem.cost[np.ix_(missing, gaps)].copy()
    before, behind = wish[np.maximum(gaps - 1, 0)], wish[np.minimum(gaps + 1, n - 1)]
    near = (before >= 0) & (gaps > 0)
    cost[:, near] += problem.link[np.ix_(before[near], missing)].T
    near = (behind >= 0) & (gaps < n - 1)
    cost[:, near] += problem.link[np.ix_(missing, behind[near])]
    large = 1e3 * float(np.abs(cost[np.isfinite(cost)]).max(initial=1.0))
    rows, columns = linear_sum_assignment(np.where(np.isfinite(cost), cost, large))
    wish[gaps[columns]] = missing[rows]
    return wish
