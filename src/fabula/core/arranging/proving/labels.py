"""The best orderings of many collections, by dynamic programming over those subsets that can still lead to one.

Held and Karp's programme keeps, for each subset of items and each last item of it, the cheapest way to lay it. With a
lower bound on what is to come, nearly all of them can be seen to be too dear and are never made: of albums, dozens to
hundreds are left of a hundred thousand. What is left of all collections is one list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabula.core.arranging.proving.bounds import Bounds, Costs, to_go
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

_SLACK = 1e-9  # of rounding, beside what orderings cost


class Ways(NamedTuple):
    """Ways to lay the first items of a problem, one per row.

    ``items`` are those laid, as bits, and ``last`` the last of them; ``cost`` is what they cost and ``owed`` the prices
    of all others; ``before`` is the row, in the list of ways one item shorter, that each goes on from.
    """

    problem: Ints
    items: NDArray[np.int64]
    last: Ints
    cost: Floats
    owed: Floats
    before: Ints


def solved(costs: Costs, bounds: Bounds, ways: Sequence[int]) -> tuple[Ints, NDArray[np.bool_]]:
    """The best ordering of each problem (B, n), and whether it is surely the best (B,).

    First few ways of each are followed at a time, the most promising ones, as many as the first of ``ways`` says. Where
    more than those could have led to a better ordering, more are, and none that is dearer than what was found.
    """
    orderings, upper = bounds.orderings.copy(), bounds.upper.copy()
    slack = _SLACK * np.maximum(1.0, np.abs(upper))
    sure = upper - bounds.least <= slack
    for most in ways:
        left = np.flatnonzero(~sure)
        if not len(left):
            break
        here = costs.only(left)
        reached, found, cut = _followed(here, bounds.prices[:, left], upper[left] + slack[left], most)
        orderings[left[reached]], upper[left[reached]] = found, here.only(reached).of(found)
        sure[left[~cut]] = True
    return orderings, sure


def _followed(costs: Costs, prices: Floats, limit: Floats, most: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """The best ordering within a limit (B,) on ways of which at most so many are followed at a time.

    Returns which problems have one, those orderings, and of which problems some ways were left (B,).
    """
    count, n = len(costs), costs.n
    after = to_go(costs, prices)
    cut = np.zeros(count, dtype=bool)
    layers: list[Ways] = []
    ways = _first(costs, prices)
    for position in range(n):
        if position:
            ways = _extended(costs, prices, ways, position)
        least = ways.cost + after[position, ways.last, ways.problem] + ways.owed
        kept = np.flatnonzero(least <= limit[ways.problem])
        kept = kept[_cheapest(_taken(ways, kept), n)]
        many = np.bincount(ways.problem[kept], minlength=count) > most
        if many.any():
            cut |= many
            kept = kept[_promising(ways.problem[kept], least[kept], most)]
        ways = _taken(ways, kept)
        layers.append(ways)
    best = _promising(ways.problem, ways.cost, 1)
    return ways.problem[best], _traced(layers, best), cut


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


def _extended(costs: Costs, prices: Floats, ways: Ways, position: int) -> Ways:
    """Each way with each item that it does not hold."""
    free = (ways.items[:, np.newaxis] >> np.arange(costs.n)) & 1 == 0
    before, item = np.nonzero(free)
    problem, last = ways.problem[before], ways.last[before]
    cost = ways.cost[before] + costs.steps[last, item, problem] + costs.places[position, item, problem]
    owed = ways.owed[before] - prices[item, problem]
    return Ways(problem, ways.items[before] | np.int64(1) << item, item, cost, owed, before)


def _taken(ways: Ways, which: NDArray[np.bool_] | Ints) -> Ways:
    problem, items, last, cost, owed, before = ways
    return Ways(problem[which], items[which], last[which], cost[which], owed[which], before[which])


def _cheapest(ways: Ways, n: int) -> Ints:
    """The cheapest of the ways that hold the same items and end with the same one."""
    key = ((ways.problem.astype(np.int64) << n) | ways.items) * n + ways.last
    order = np.lexsort((ways.cost, key))
    first = np.ones(len(order), dtype=bool)
    first[1:] = key[order[1:]] != key[order[:-1]]
    return order[first]


def _traced(layers: list[Ways], ends: Ints) -> Ints:
    """The items along the ways that end in ``ends`` of the last layer: shape (len(ends), n)."""
    orderings = np.empty((len(ends), len(layers)), dtype=np.intp)
    at = ends
    for position in range(len(layers) - 1, -1, -1):
        orderings[:, position] = layers[position].last[at]
        at = layers[position].before[at]
    return orderings
