"""A lower bound that sees positions and neighbours together: cheapest paths through the positions.

A path may take an item twice or never, at a price per item which is moved, round by round, against that (Lagrange's
relaxation of "each item once", by subgradients). Sides may hold too much, at a price per length on each. A path may not
come back to an item at once: for each item the second best way to it is kept beside the best, in case the best came
from where the path goes next. Any prices give a bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from fabula.core.arrays import Floats, Ints
from fabula.core.solver.budget import Budget
from fabula.core.solver.instance import Instance

MANY = 100  # items from which on single precision is used
SMOOTHING = 0.85  # how much of the last direction is kept
AT_ONCE = 8  # rounds on one problem before the lowest bound is looked for
PATIENCE = 7  # rounds without a better bound before steps are halved
LEAST_STEP = 1e-3


def lowest_bound(searches: Sequence[PathSearch], budget: Budget) -> float:
    """What no ordering can get below, whichever of some problems it solves.

    The problem with the lowest bound is always worked on next.

    ``searches``: the prices for each problem. ``budget``: of which each path takes a part, O(N^3).
    """
    while not budget.over:
        lowest = min(searches, key=lambda search: search.best)
        if lowest.done:
            break
        lowest.advance(AT_ONCE, budget)
    return min(search.best for search in searches)


def sweep_cost(n: int) -> float:
    """The work of one path through n positions."""
    return n * (8.0 + 0.0009 * n * n)


class PathSearch:
    """The prices for one problem, on their way to a higher bound.

    ``problem``: the costs. ``prices``: shape (N + zones,), where they start: of the items, and of a mean length on each
    zone. ``value``: of a known ordering, which scales the steps. ``floor``: A bound that is known.
    """

    def __init__(self, problem: Instance, prices: Floats, value: float, *, floor: float = -np.inf) -> None:
        self.problem, self.value, self.floor = problem, value, floor
        self.prices = self.chosen = prices
        self.reached, self.step, self.stale = -np.inf, 1.0, 0
        self.direction = np.zeros(len(prices))
        self.paths: _Paths | None = None
        self.done = False

    @property
    def best(self) -> float:
        """The highest bound that is known."""
        return max(self.floor, self.reached)

    def advance(self, rounds: int, budget: Budget) -> None:
        """Move the prices some times."""
        n = len(self.problem.cost)
        self.paths = self.paths or _Paths(self.problem, np.float64 if n < MANY else np.float32)
        for _ in range(rounds):
            if self.done:
                return
            budget.spend(sweep_cost(n))
            bound, slope = self.paths.bound(self.prices)
            self.stale = 0 if bound > self.reached + 1e-4 * abs(self.value - bound) else self.stale + 1
            if bound > self.reached:
                self.reached, self.chosen = bound, self.prices
            near = self.best >= self.value - 1e-9 * abs(self.value)
            self.done = not slope.any() or near or self.step < LEAST_STEP
            self._move(slope, bound)

    def _move(self, slope: Floats, bound: float) -> None:
        if self.stale >= PATIENCE:
            self.step, self.stale, self.prices = self.step / 2, 0, self.chosen
        self.direction = slope + SMOOTHING * self.direction
        size = self.step * max(self.value - bound, 1e-9) / float((self.direction**2).sum() or 1.0)
        self.prices = self.prices + size * self.direction
        zones = self.prices[len(self.problem.cost) :]  # too much, or too little, is never paid for
        most = np.isfinite(self.problem.most)
        zones[:] = np.where(most, np.maximum(zones, 0.0), np.minimum(zones, 0.0))


def first_prices(problem: Instance, ordering: Ints) -> Floats:
    """What each item costs in an ordering, its links shared with its neighbours; nothing for lengths."""
    n = len(ordering)
    links = problem.link[ordering[:-1], ordering[1:]]
    prices = np.zeros(n + len(problem.most))
    prices[ordering] = problem.cost[ordering, np.arange(n)] + 0.5 * (np.append(links, 0.0) + np.append(0.0, links))
    return prices


class _Paths:
    """Cheapest paths through the positions, for prices of items and lengths."""

    def __init__(self, problem: Instance, kind: DTypeLike) -> None:
        n = len(problem.cost)
        self.cost = np.ascontiguousarray(problem.cost.T, dtype=kind)  # (positions, items)
        self.back = np.ascontiguousarray(problem.link.T, dtype=kind)  # (item, item before)
        self.totals = np.empty((n, n), dtype=kind)
        self.came, self.other = np.zeros((2, n, n), dtype=np.intp)  # (position, item): the best before it, the second
        self.zone = problem.zone
        unit = float(problem.lengths.mean()) or 1.0
        self.lengths = problem.lengths / unit
        self.caps = np.where(np.isfinite(problem.most), problem.most, problem.least) / unit
        self.signs = np.where(np.isfinite(problem.most), 1.0, -1.0)
        self.limits = np.isfinite(problem.most) | (problem.least > 0)

    def bound(self, prices: Floats) -> tuple[float, Floats]:
        """The bound that prices give, and which way it rises: what is missing of items, and too much in zones."""
        n = len(self.cost)
        items, zones = prices[:n], prices[n:]
        cost = self.cost - items.astype(self.cost.dtype)
        if zones.any():
            cost += np.outer(np.append(zones, 0.0)[self.zone], self.lengths).astype(cost.dtype)
        length, path = self._cheapest(cost)
        loads = np.bincount(self.zone[self.zone >= 0], self.lengths[path][self.zone >= 0], len(zones))
        over = np.where(self.limits, loads - self.caps, 0.0)
        over = np.where((zones == 0) & (over * self.signs < 0), 0.0, over)  # what is free and keeps to its limit
        slope = np.concatenate([1.0 - np.bincount(path, minlength=n), over])
        whole = length + float(items.sum()) - float((zones * np.where(self.limits, self.caps, 0.0)).sum())
        rounding = 8 * float(np.finfo(cost.dtype).eps) * n * (abs(length) + float(np.abs(items).max()))
        return whole - rounding, slope

    def _cheapest(self, cost: Floats) -> tuple[float, Ints]:
        """The length of the cheapest path that does not come back at once, and its items (n,)."""
        n = len(cost)
        items = np.arange(n)
        reach, second = cost[0], np.full(n, np.inf, dtype=cost.dtype)
        flat, rows = self.totals.ravel(), items * n
        for position in range(1, n):
            np.add(self.back, reach, out=self.totals)
            if position > 1:
                before = self.came[position - 1]
                self.totals[before, items] = self.back[before, items] + second
            came = self.totals.argmin(axis=1)
            self.came[position] = came
            at = rows + came
            best = flat[at]
            flat[at] = np.inf
            self.other[position] = self.totals.argmin(axis=1)
            second = flat[rows + self.other[position]] + cost[position]
            reach = best + cost[position]
        return float(reach.min()), self._trace(int(reach.argmin()))

    def _trace(self, last: int) -> Ints:
        n = len(self.cost)
        path = np.empty(n, dtype=np.intp)
        path[-1], after = last, -1
        for position in range(n - 1, 0, -1):
            here = int(path[position])
            came = int(self.came[position, here])
            path[position - 1] = int(self.other[position, here]) if came == after else came
            after = here
        return path
