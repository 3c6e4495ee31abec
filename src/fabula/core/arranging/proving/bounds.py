"""Lower bounds for many problems at once: paths that may pass an item twice or not at all, at a price.

A path through the positions that need not hold each item once is found by dynamic programming in O(n^3). A price on
each item makes those held twice dearer and those left out cheaper, and the sum of prices, taken back, leaves every true
ordering as it was: so the cheapest path is a lower bound whatever the prices (Lagrange), and raising it is a concave
problem (Held and Karp 1971). A path that happens to be an ordering is the best one.

Collections are the last axis, so that all are computed side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints

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
class Bounds:
    """What is known of each of B problems.

    Attributes
    ----------
    least
        Shape (B,): no ordering costs less.
    prices
        Shape (n, B): of the items, with which that is found.
    orderings
        Shape (B, n): the best ordering known.
    upper
        Shape (B,): what it costs.
    """

    least: Floats
    prices: Floats
    orderings: Ints
    upper: Floats


def to_go(costs: Costs, prices: Floats) -> Floats:
    """The cheapest way on behind each item at each position, by prices (n, B): shape (positions, items, B)."""
    out = np.zeros_like(costs.places)
    for position in range(costs.n - 2, -1, -1):
        behind = costs.places[position + 1] - prices + out[position + 1]
        np.min(costs.steps + behind, axis=1, out=out[position])
    return out


def raised(costs: Costs, orderings: Ints) -> Bounds:
    """Bounds raised from zero, beside the orderings (B, n) that are known."""
    n, count = costs.n, len(costs)
    found = Bounds(np.full(count, -np.inf), np.zeros((n, count)), orderings.copy(), costs.of(orderings))
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
        _settle(found, left[whole], paths[whole], least[whole])
        if whole.any():
            kept = np.flatnonzero(~whole)
            here, left, prices, held, least = here.only(kept), left[kept], prices[:, kept], held[:, kept], least[kept]
        if not len(left):
            break
        missing = 1.0 - held
        step = part * (found.upper[left] - least) / (missing**2).sum(axis=0)
        prices = prices + step * missing
    return found


def _settle(found: Bounds, which: Ints, paths: Ints, least: Floats) -> None:
    """The paths of some problems are orderings: the best."""
    found.orderings[which], found.least[which], found.upper[which] = paths, least, least


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
