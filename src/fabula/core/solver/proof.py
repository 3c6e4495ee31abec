"""The best ordering without constraints, of many collections of one length at once, where it can be proved.

A path through the positions that need not hold each item once is found by dynamic programming in O(n^3). A price on
each item makes those held twice dearer and those left out cheaper, so that the cheapest path is a lower bound whatever
the prices (Lagrange; Held and Karp 1971). With that bound on what is to come, nearly all labels of Held and Karp's
programme, subsets of items with a last item, can be seen to be too dear and are never made. Collections are the last
axis, so that all are computed side by side; the labels that are left of all of them are one list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats, Ints
from fabula.core.fit import assign_least

_ROUNDS, _MORE_ROUNDS, _FEW = 30, 100, 13  # of raising the prices; more where more than a few items make it worth it
_FIRST_STEP, _LAST_STEP = 1.4, 0.08  # as a part of what Polyak's step would be
NEVER = 1e30  # what it costs an item to follow itself


@dataclass(frozen=True, eq=False)
class Costs:
    """B problems of n items each: ``places`` (n, n, B) by position and item, ``steps`` (n, n, B) from item to item."""

    places: Floats
    steps: Floats

    @property
    def n(self) -> int:
        """How many items each has."""
        return len(self.places)

    def __len__(self) -> int:
        return int(self.places.shape[2])

    def only(self, which: Ints) -> Costs:
        """Some of the problems."""
        return Costs(self.places[:, :, which], self.steps[:, :, which])

    def of(self, orderings: Ints) -> Floats:
        """What orderings (B, n) cost: shape (B,)."""
        b = np.arange(len(orderings))[:, np.newaxis]
        placed = self.places[np.arange(self.n), orderings, b].sum(axis=1)
        return np.asarray(placed + self.steps[orderings[:, :-1], orderings[:, 1:], b].sum(axis=1))


@dataclass(frozen=True, eq=False)
class Relaxation:
    """What is known of each of B problems."""

    least: Floats  # (B,) no ordering costs less
    prices: Floats  # (n, B) of the items, with which that is found
    orderings: Ints  # (B, n) the best ordering known
    upper: Floats  # (B,) what it costs


def to_go(costs: Costs, prices: Floats) -> Floats:
    """The cheapest way on behind each item at each position, by prices (n, B): shape (positions, items, B)."""
    out = np.zeros_like(costs.places)
    for position in range(costs.n - 2, -1, -1):
        behind = costs.places[position + 1] - prices + out[position + 1]
        np.min(costs.steps + behind, axis=1, out=out[position])
    return out


def raise_bounds(costs: Costs, orderings: Ints) -> Relaxation:
    """Bounds raised from zero, beside the orderings (B, n) that are known."""
    n, count = costs.n, len(costs)
    found = Relaxation(np.full(count, -np.inf), np.zeros((n, count)), orderings.copy(), costs.of(orderings))
    here, left, prices = costs, np.arange(count), np.zeros((n, count))
    rounds = _ROUNDS if n <= _FEW else _MORE_ROUNDS
    for part in np.geomspace(_FIRST_STEP, _LAST_STEP, rounds).tolist():
        least, paths = _cheapest(here, prices)
        higher = least > found.least[left]
        found.least[left[higher]] = least[higher]
        found.prices[:, left[higher]] = prices[:, higher]
        held = np.zeros((n, len(left)))
        np.add.at(held, (paths, np.arange(len(left))[:, np.newaxis]), 1.0)
        whole = (held == 1).all(axis=0)
        if whole.any():  # these paths are orderings: the best
            done = left[whole]
            found.orderings[done], found.least[done], found.upper[done] = paths[whole], least[whole], least[whole]
            kept = np.flatnonzero(~whole)
            here, left, prices, held, least = here.only(kept), left[kept], prices[:, kept], held[:, kept], least[kept]
        if not len(left):
            break
        missing = 1.0 - held
        step = part * (found.upper[left] - least) / (missing**2).sum(axis=0)
        prices = prices + step * missing
    return found


def _cheapest(costs: Costs, prices: Floats) -> tuple[Floats, Ints]:
    """What the cheapest path costs, the prices taken back (B,), and the items along it (B, n)."""
    count, n = len(costs), costs.n
    after = to_go(costs, prices)
    every = np.arange(count)
    total = costs.places[0] - prices + after[0]
    item = total.argmin(axis=0)
    least = total[item, every] + prices.sum(axis=0)
    paths = np.empty((count, n), dtype=np.intp)
    paths[:, 0] = item
    for position in range(1, n):
        behind = costs.places[position] - prices + after[position]  # (items, B)
        item = (costs.steps[item, :, every].T + behind).argmin(axis=0)
        paths[:, position] = item
    return least, paths


# The best orderings of many collections, by dynamic programming over those subsets that can still lead to one.

_SLACK = 1e-9  # of rounding, beside what orderings cost


class Ways(NamedTuple):
    """Ways to lay the first items of a problem, one per row."""

    problem: Ints
    items: NDArray[np.int64]  # those laid, as bits
    last: Ints  # the last of them
    cost: Floats
    owed: Floats  # the prices of all others
    before: Ints  # the row, among the ways one item shorter, that each goes on from

    def take(self, rows: Ints) -> Ways:
        """Some of the ways."""
        problem, items, last, cost, owed, before = self
        return Ways(problem[rows], items[rows], last[rows], cost[rows], owed[rows], before[rows])


def set_labels(costs: Costs, bounds: Relaxation, ways: Sequence[int]) -> tuple[Ints, NDArray[np.bool_]]:
    """The best ordering of each problem (B, n), and whether it is surely the best (B,).

    The most promising ways of each are followed, as many at a time as the first of ``ways`` says; where more could have
    led to a better ordering, more are, and none that is dearer than what was found.
    """
    orderings, upper = bounds.orderings.copy(), bounds.upper.copy()
    slack = _SLACK * np.maximum(1.0, np.abs(upper))
    sure = upper - bounds.least <= slack
    for most in ways:
        left = np.flatnonzero(~sure)
        if not len(left):
            break
        here = costs.only(left)
        reached, found, cut = _follow(here, bounds.prices[:, left], upper[left] + slack[left], most)
        orderings[left[reached]], upper[left[reached]] = found, here.only(reached).of(found)
        sure[left[~cut]] = True
    return orderings, sure


def _follow(costs: Costs, prices: Floats, limit: Floats, most: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """The best ordering within a limit (B,) on ways of which at most so many are followed at a time."""
    count, n = len(costs), costs.n
    after = to_go(costs, prices)
    cut = np.zeros(count, dtype=bool)
    layers: list[Ways] = []
    ways = _first(costs, prices)
    for position in range(n):
        if position:
            ways = _extend(costs, prices, ways, position)
        least = ways.cost + after[position, ways.last, ways.problem] + ways.owed
        kept = np.flatnonzero(least <= limit[ways.problem])
        kept = kept[_keep_cheapest(ways.take(kept), n)]
        many = np.bincount(ways.problem[kept], minlength=count) > most
        if many.any():
            cut |= many
            kept = kept[_promising(ways.problem[kept], least[kept], most)]
        ways = ways.take(kept)
        layers.append(ways)
    best = _promising(ways.problem, ways.cost, 1)
    return ways.problem[best], _trace(layers, best), cut


def _promising(problem: Ints, least: Floats, most: int) -> Ints:
    """Of each problem the ways that may turn out cheapest, so many of them at most."""
    order = np.lexsort((least, problem))
    ordered = problem[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(order)])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    return order[rank < most]


def _first(costs: Costs, prices: Floats) -> Ways:
    """Each item first."""
    count, n = len(costs), costs.n
    problem, item = (each.ravel() for each in np.meshgrid(np.arange(count), np.arange(n), indexing="ij"))
    owed = prices.sum(axis=0)[problem] - prices[item, problem]
    return Ways(problem, np.int64(1) << item, item, costs.places[0, item, problem], owed, np.full(len(item), -1))


def _extend(costs: Costs, prices: Floats, ways: Ways, position: int) -> Ways:
    """Each way with each item that it does not hold."""
    free = (ways.items[:, np.newaxis] >> np.arange(costs.n)) & 1 == 0
    before, item = np.nonzero(free)
    problem, last = ways.problem[before], ways.last[before]
    cost = ways.cost[before] + costs.steps[last, item, problem] + costs.places[position, item, problem]
    owed = ways.owed[before] - prices[item, problem]
    return Ways(problem, ways.items[before] | np.int64(1) << item, item, cost, owed, before)


def _keep_cheapest(ways: Ways, n: int) -> Ints:
    """The cheapest of the ways that hold the same items and end with the same one."""
    key = ((ways.problem.astype(np.int64) << n) | ways.items) * n + ways.last
    order = np.lexsort((ways.cost, key))
    first = np.ones(len(order), dtype=bool)
    first[1:] = key[order[1:]] != key[order[:-1]]
    return order[first]


def _trace(layers: list[Ways], ends: Ints) -> Ints:
    """The items along the ways that end in ``ends`` of the last layer: shape (len(ends), n)."""
    orderings = np.empty((len(ends), len(layers)), dtype=np.intp)
    at = ends
    for position in range(len(layers) - 1, -1, -1):
        orderings[:, position] = layers[position].last[at]
        at = layers[position].before[at]
    return orderings


# The best orderings of collections of one length, where it can be proved that they are.

MOST_ITEMS = 32  # beyond which too many ways are left for it to be worth it
MANY, FEW = (24, 400, 20_000), (24, 400, 2_000)  # ways that are followed at a time


class Proof(NamedTuple):
    """An ordering of each of B collections (B, n), whether it is surely the best (B,), and a bound on its cost (B,)."""

    orderings: Ints
    sure: NDArray[np.bool_]
    least: Floats


def prove(places: Floats, flow: Floats, ways: Sequence[int] = MANY) -> Proof:
    """Good orderings of B collections of n items: surely the best mostly up to 30 items, never of more than 32.

    ``places``, ``flow``: shape (B, n, n): what positions cost, and what items (columns) cost right after others (rows).
    ``ways``: how many beginnings are followed at a time, in turn, until none had to be left. Many take long.
    """
    orderings, n = assign(places), places.shape[1]
    if n > MOST_ITEMS:
        return Proof(orderings, np.zeros(len(places), dtype=bool), np.full(len(places), -np.inf))
    steps = np.where(np.eye(n, dtype=bool), NEVER if n > 1 else 0.0, flow)
    costs = Costs(np.ascontiguousarray(places.transpose(2, 1, 0)), np.ascontiguousarray(steps.transpose(1, 2, 0)))
    bounds = raise_bounds(costs, orderings)
    return Proof(*set_labels(costs, bounds, ways), bounds.least)


def assign(places: Floats) -> Ints:
    """The cheapest ordering of each collection by positions (B, n, n) alone: shape (B, n)."""
    turned = places.transpose(0, 2, 1)  # (B, positions, items)
    return np.array([assign_least(table)[1] for table in turned], dtype=np.intp).reshape(places.shape[:2])
