"""A lower bound that sees positions and neighbours together: cheapest paths through the positions.

A path may take an item twice or never, at a price per item which is moved, round by round, against that (Lagrange's
relaxation of "each item once", by subgradients). It may not come back to an item at once: for each item the second
best way to it is kept beside the best, in case the best came from where the path goes next. Any prices give a bound.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import DTypeLike

from fabula.core.arranging.local.problem import Problem
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

LOOSE_ROUNDS = 40  # at the start, for many items, paths may come back at once: twice as fast
MANY = 100  # items from which on single precision is used, but for the last path
SMOOTHING = 0.7  # how much of the last direction is kept
PATIENCE = 7  # rounds without a better bound before steps are halved


def path_bound(problem: Problem, ordering: Ints, *, rounds: int, until: float = np.inf) -> float:
    """What no ordering can get below.

    Parameters
    ----------
    problem
        The costs.
    ordering
        Shape (N,), as good as is known: its costs are where the prices start, its value scales the steps.
    rounds
        How many paths to find, O(N^3) each.
    until
        When to stop by ``time.monotonic()`` at the latest.
    """
    value, n = problem.value(ordering), len(ordering)
    few = n < MANY
    search = _Paths(problem, np.float64 if few else np.float32)
    price = _first_prices(problem, ordering)
    best, chosen, step, stale = -np.inf, price, 1.0, 0
    direction = np.zeros(n)
    for turn in range(rounds):
        length, path = search.cheapest(price, straight=few or turn >= LOOSE_ROUNDS)
        bound = length + float(price.sum())
        stale = 0 if bound > best + 1e-4 * abs(value - best) else stale + 1
        best, chosen = (bound, price) if bound > best else (best, chosen)
        missing = 1.0 - np.bincount(path, minlength=n)
        if not missing.any() or best >= value - 1e-9 * abs(value) or time.monotonic() > until or step < 1e-3:
            break
        if stale >= PATIENCE:
            step, stale, price = step / 2, 0, chosen
        direction = missing + SMOOTHING * direction
        price = price + step * max(value - bound, 1e-9) / float((direction**2).sum() or 1.0) * direction
    return _Paths(problem, np.float64).cheapest(chosen, straight=True)[0] + float(chosen.sum())


def _first_prices(problem: Problem, ordering: Ints) -> Floats:
    """What each item costs in an ordering, its links shared with its neighbours."""
    n = len(ordering)
    links = problem.link[ordering[:-1], ordering[1:]]
    price = np.empty(n)
    price[ordering] = problem.cost[ordering, np.arange(n)] + 0.5 * (np.append(links, 0.0) + np.append(0.0, links))
    return price


class _Paths:
    """Cheapest paths through the positions, for prices of the items."""

    def __init__(self, problem: Problem, kind: DTypeLike) -> None:
        n = len(problem.cost)
        self.cost = np.ascontiguousarray(problem.cost.T, dtype=kind)  # (positions, items)
        self.back = np.ascontiguousarray(problem.link.T, dtype=kind)  # (item, item before)
        self.totals = np.empty((n, n), dtype=kind)
        self.came, self.other = np.zeros((2, n, n), dtype=np.intp)  # (position, item): the best before it, the second

    def cheapest(self, price: Floats, *, straight: bool) -> tuple[float, Ints]:
        """The length of the cheapest path and its items (n,); a straight one does not come back at once."""
        n = len(price)
        items = np.arange(n)
        cost = self.cost - price.astype(self.cost.dtype)
        reach, second = cost[0], np.full(n, np.inf, dtype=cost.dtype)
        flat, rows = self.totals.ravel(), items * n
        for position in range(1, n):
            np.add(self.back, reach, out=self.totals)
            if straight and position > 1:
                before = self.came[position - 1]
                self.totals[before, items] = self.back[before, items] + second
            came = self.totals.argmin(axis=1)
            self.came[position] = came
            best = flat[rows + came]
            if straight:
                flat[rows + came] = np.inf
                self.other[position] = self.totals.argmin(axis=1)
                second = flat[rows + self.other[position]] + cost[position]
            reach = best + cost[position]
        return float(reach.min()), self._traced(int(reach.argmin()), straight=straight)

    def _traced(self, last: int, *, straight: bool) -> Ints:
        n = len(self.cost)
        path = np.empty(n, dtype=np.intp)
        path[-1], after = last, -1
        for position in range(n - 1, 0, -1):
            here = int(path[position])
            came = int(self.came[position, here])
            path[position - 1] = int(self.other[position, here]) if straight and came == after else came
            after = here
        return path
