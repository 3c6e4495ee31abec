"""Swaps of two positions, judged in samples: for orderings too long for a table of all swaps."""

from __future__ import annotations

import time

import numpy as np

from fabula.core.arranging.local.problem import Problem
from fabula.core.arranging.positions import Bools
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

ROWS = 48  # positions that are tried with all others
AT_ONCE = 8  # swaps taken from one sample


def swap_gains(problem: Problem, ordering: Ints, i: Ints, j: Ints) -> Floats:
    """What it changes to swap positions i and j, which are no neighbours; infinite where it is not allowed."""
    n = len(ordering)
    framed = np.concatenate([ordering, [n]])
    link = problem.link
    total = np.zeros(len(i))
    for here, there in ((i, j), (j, i)):
        item, gone = ordering[there], ordering[here]
        total += problem.cost[item, here] - problem.cost[gone, here]
        for near, forth in ((framed[here - 1], False), (framed[here + 1], True)):
            real = near < n
            other = np.where(real, near, 0)
            new = link[item, other] if forth else link[other, item]
            old = link[gone, other] if forth else link[other, gone]
            total += np.where(real, new - old, 0.0)
    return np.where(_in_order(problem, ordering, i, j) & (np.abs(i - j) > 1), total, np.inf)


def _in_order(problem: Problem, ordering: Ints, i: Ints, j: Ints) -> Bools:
    """Whether no pair of ``before`` is turned round."""
    n = len(ordering)
    place = np.argsort(ordering)
    low, high = np.zeros(n, dtype=np.intp), np.full(n, n - 1)
    a, b = place[problem.before]
    np.maximum.at(low, b, a + 1)
    np.minimum.at(high, a, b - 1)
    return np.asarray((j <= high[i]) & (j >= low[i]) & (i <= high[j]) & (i >= low[j]))


def evened(problem: Problem, ordering: Ints, rng: np.random.Generator, *, until: float) -> Ints | None:
    """An ordering whose zones hold what they may, by swaps that each bring it nearer; None where that fails.

    Parameters
    ----------
    problem
        The costs.
    ordering
        Shape (N,), keeps everything but the lengths.
    rng
        Draws the samples.
    until
        When to give up by ``time.monotonic()``.
    """
    misses = 0
    while problem.overload(ordering) > 0.0:
        if time.monotonic() > until or misses > 20:
            return None
        zone = problem.zone
        loads = np.bincount(zone[zone >= 0], problem.lengths[ordering][zone >= 0], len(problem.most))
        full = np.flatnonzero((zone >= 0) & (loads > problem.most)[zone])
        rows = rng.permutation(full)[:ROWS]
        i, j = (part.ravel() for part in np.meshgrid(rows, np.flatnonzero(zone >= 0), indexing="ij"))
        i, j = i[zone[i] != zone[j]], j[zone[i] != zone[j]]
        better = _relieved(problem, ordering, i, j, loads)
        misses = misses + 1 if better is None else 0
        ordering = ordering if better is None else better
    return ordering


def _relieved(problem: Problem, ordering: Ints, i: Ints, j: Ints, loads: Floats) -> Ints | None:
    """The ordering after the swaps that cost least for what they relieve; None where none relieves."""
    length, most, zone = problem.lengths[ordering], problem.most, problem.zone
    shift = length[i] - length[j]
    over = np.maximum(loads - most, 0.0)
    relief = over[zone[i]] + over[zone[j]]
    relief = relief - np.maximum(loads[zone[i]] - shift - most[zone[i]], 0.0)
    relief = relief - np.maximum(loads[zone[j]] + shift - most[zone[j]], 0.0)
    helps = np.flatnonzero(relief > 1e-9 * (1.0 + over.max()))
    i, j, relief = i[helps], j[helps], relief[helps]
    change = swap_gains(problem, ordering, i, j)
    open_ = np.isfinite(change)
    if not open_.any():
        return None
    scale = 0.05 * float(np.abs(change[open_]).mean()) + 1e-12
    best, before = ordering, problem.overload(ordering)
    for one in np.argsort(np.where(open_, (change + scale) / relief, np.inf))[:AT_ONCE].tolist():
        trial = best.copy()
        trial[[i[one], j[one]]] = best[[j[one], i[one]]]
        after = problem.overload(trial)
        if after < before and np.isfinite(problem.value(trial)) and problem.in_order(np.argsort(trial)):
            best, before = trial, after
    return None if best is ordering else best
