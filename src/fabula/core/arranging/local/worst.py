"""The largest deviation first, then the sum: limits on deviations tried from below."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from fabula.core.arranging.arrangement import Bounds
from fabula.core.arranging.local.anneal import anneal
from fabula.core.arranging.local.balance import balance
from fabula.core.arranging.local.bounds import coupling_bound, position_bound
from fabula.core.arranging.local.construct import construct
from fabula.core.arranging.local.descent import descend
from fabula.core.arranging.local.layouts import run_worst
from fabula.core.arranging.local.problem import Problem
from fabula.core.arranging.local.programme import Programmed, programme
from fabula.core.arranging.positions import Bools
from fabula.core.ordering import Ints

TIE = 1e-7  # weight of squares beside the sum, to decide between orderings that tie


def least_worst(problem: Problem, floor: float, *, seed: int, until: float) -> tuple[Ints, Bounds] | None:
    """An ordering with a small largest deviation and, under that, a small sum; and bounds of both.

    Parameters
    ----------
    problem
        Whose costs are deviations.
    floor
        No largest deviation is below it.
    seed, until
        Of the search, and when it ends by ``time.monotonic()``.
    """
    deviations = run_worst(problem)
    limits = np.unique(deviations[np.isfinite(deviations) & (deviations >= floor * (1 - 1e-12))])
    proven, at, step = True, 0, 1
    while at < len(limits):
        limit = float(limits[at])
        limited = _limited(problem, deviations <= limit)
        found = _smallest_sum(limited, seed, until)
        if found.ordering is not None:
            return _polished(limited, found.ordering, until), Bounds(found.bound, floor)
        proven &= found.impossible
        following = at + step
        if proven:  # what comes between is tried by the next round of smaller steps
            floor = float(limits[min(at + 1, len(limits) - 1)])
        if time.monotonic() > until:
            following = max(following, (at + len(limits)) // 2 + 1)
        at, step = (len(limits) - 1 if at < len(limits) - 1 < following else following), 2 * step
    return None


def _limited(problem: Problem, allowed: Bools) -> Problem:
    """The problem in which items stand only where it is allowed (N, N)."""
    starts = problem.starts & allowed[[run[0] for run in problem.parts.members]]
    return replace(problem, cost=np.where(allowed, problem.cost, np.inf), starts=starts)


def _smallest_sum(problem: Problem, seed: int, until: float) -> Programmed:
    """The smallest sum of costs: proven where the items are not too many, else searched for."""
    links = problem.link[np.isfinite(problem.link)]
    if not links.any():
        found = programme(problem, seconds=until - time.monotonic())
        if found is not None and (found.ordering is not None or found.impossible):
            return found
    try:
        floor, wish = position_bound(problem.cost)
    except ValueError:
        return Programmed(None, np.inf, impossible=True)
    rng, now = np.random.default_rng(seed), time.monotonic()
    ordering = construct(problem, wish, rng, until=max(until, now + 0.3))
    ordering = None if ordering is None else balance(problem, ordering)
    if ordering is None or not np.isfinite(problem.value(ordering)):
        return Programmed(None, floor, impossible=False)
    rounds = int(np.clip(60_000 / len(wish), 150, 1200))
    if problem.value(ordering) > floor * (1 + 1e-9):
        ordering = anneal(problem, ordering, rng, rounds=rounds, until=now + 0.7 * (until - now))
        ordering = descend(problem, ordering, until=until)
    return Programmed(ordering, floor + coupling_bound(problem, wish), impossible=False)


def _polished(problem: Problem, ordering: Ints, until: float) -> Ints:
    """Among orderings with the same sum, one with smaller squares."""
    scale = float(problem.cost[np.isfinite(problem.cost)].max(initial=0.0)) or 1.0
    squared = replace(problem, cost=problem.cost + TIE * problem.cost**2 / scale)
    return descend(squared, ordering, until=max(until, time.monotonic() + 0.1))
