"""A lower bound that sees positions and neighbours together: cheapest paths through the positions.

A path may take an item twice or never, at a price per item which is moved, round by round, against that (Lagrange's
relaxation of "each item once", by subgradients). It may not come back to an item at once: for each item the second
best way to it is kept beside the best, in case the best came from where the path goes next. Any prices give a bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.core.solver.budget import Budget
from fabula.core.solver.instance import Instance

LOOSE_ROUNDS = 40  # at the start, for many items, paths may come back at once: twice as fast
MANY = 100  # items from which on single precision is used, but for the last path
SMOOTHING = 0.7  # how much of the last direction is kept
AT_ONCE = 8  # rounds on one problem before the lowest bound is looked for
PATIENCE = 7  # rounds without a better bound before steps are halved


def lowest_bound(searches: Sequence[PathSearch], budget: Budget) -> float:
    """What no ordering can get below, whichever of some problems it solves.

    The problem with the lowest bound is always worked on next.

    Parameters
    ----------
    searches
        The prices for each problem.
    budget
        Of which each path takes a part, O(N^3).
    """
    while not budget.over:
        lowest = min(searches, key=lambda search: search.best)
        if lowest.done:
            break
        lowest.advance(AT_ONCE, budget)
    return min(search.settle() for search in searches)


def sweep_cost(n: int) -> float:
    """The work of one path through n positions."""
    return n * (10.0 + 0.0009 * n * n)


class PathSearch:
    """The prices for one problem, on their way to a higher bound.

    Parameters
    ----------
    problem
        The costs.
    price
        Shape (N,), where the prices start.
    value
        Of a known ordering, which scales the steps.
    floor
        A bound that is known.
    """

    def __init__(self, problem: Instance, price: Floats, value: float, *, floor: float = -np.inf) -> None:
        self.problem, self.value, self.floor = problem, value, floor
        self.price = self.chosen = price
        self.reached, self.step, self.stale, self.turn = -np.inf, 1.0, 0, 0
        self.direction = np.zeros(len(price))
        self.paths: _Paths | None = None
        self.done = False

    @property
    def best(self) -> float:
        """The highest bound that is known."""
        return max(self.floor, self.reached)

    def advance(self, rounds: int, budget: Budget) -> None:
        """Move the prices some times."""
        n = len(self.price)
        budget.spend(rounds * sweep_cost(n))
        self.paths = self.paths or _Paths(self.problem, np.float64 if n < MANY else np.float32)
        for _ in range(rounds):
            length, path = self.paths.cheapest(self.price, straight=n < MANY or self.turn >= LOOSE_ROUNDS)
            self.turn += 1
            missing = np.asarray(1.0 - np.bincount(path, minlength=n), dtype=np.float64)
            self._judge(length + float(self.price.sum()))
            self.done = not missing.any() or self.best >= self.value - 1e-9 * abs(self.value) or self.step < 1e-3
            if self.done:
                return
            self._move(missing, length + float(self.price.sum()))

    def _judge(self, bound: float) -> None:
        self.stale = 0 if bound > self.reached + 1e-4 * abs(self.value - bound) else self.stale + 1
        if bound > self.reached:
            self.reached, self.chosen = bound, self.price

    def _move(self, missing: Floats, bound: float) -> None:
        if self.stale >= PATIENCE:
            self.step, self.stale, self.price = self.step / 2, 0, self.chosen
        self.direction = missing + SMOOTHING * self.direction
        size = self.step * max(self.value - bound, 1e-9) / float((self.direction**2).sum() or 1.0)
        self.price = self.price + size * self.direction

    def settle(self) -> float:
        """The bound of the best prices, in double precision."""
        if len(self.price) < MANY or self.reached <= self.floor:
            return self.best
        length = _Paths(self.problem, np.float64).cheapest(self.chosen, straight=True)[0]
        return max(self.floor, length + float(self.chosen.sum()))

    def path(self, noise: Floats) -> Ints:
        """The cheapest path under the best prices and some noise on them, shape (N,)."""
        paths = self.paths or _Paths(self.problem, np.float64)
        return paths.cheapest(self.chosen + noise, straight=True)[1]


def first_prices(problem: Instance, ordering: Ints) -> Floats:
    """What each item costs in an ordering, its links shared with its neighbours."""
    n = len(ordering)
    links = problem.link[ordering[:-1], ordering[1:]]
    price = np.empty(n)
    price[ordering] = problem.cost[ordering, np.arange(n)] + 0.5 * (np.append(links, 0.0) + np.append(0.0, links))
    return price


class _Paths:
    """Cheapest paths through the positions, for prices of the items."""

    def __init__(self, problem: Instance, kind: DTypeLike) -> None:
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
        return float(reach.min()), self._trace(int(reach.argmin()), straight=straight)

    def _trace(self, last: int, *, straight: bool) -> Ints:
        n = len(self.cost)
        path = np.empty(n, dtype=np.intp)
        path[-1], after = last, -1
        for position in range(n - 1, 0, -1):
            here = int(path[position])
            came = int(self.came[position, here])
            path[position - 1] = int(self.other[position, here]) if straight and came == after else came
            after = here
        return path
