"""The best ordering of a few items, by the best way to fill the first places with each subset of them."""

from __future__ import annotations

import numpy as np

from fabula.core.arranging.problem import Problem
from fabula.core.ordering import Ints

MOST_ITEMS = 18  # 2^n subsets with n last items each: a quarter of a second and 40 MB


def solve_exhaustively(problem: Problem) -> Ints | None:
    """The best ordering of at most ``MOST_ITEMS`` items; None when none keeps the constraints.

    Bellman's, and Held and Karp's, dynamic programme: the cheapest way to set the items of a subset on the first
    places so that a given one of them stands last, for subsets of growing size. O(2^n n^2).
    """
    n = problem.constraints.n
    masks = np.arange(1 << n)
    size = np.bitwise_count(masks)
    table = np.full((1 << n, n), np.inf)  # (subset, last item)
    came = np.zeros((1 << n, n), dtype=np.int8)  # the item before the last
    needs = np.zeros(n, dtype=np.int64)
    np.bitwise_or.at(needs, problem.before[1], 1 << problem.before[0])
    for item in np.flatnonzero(needs == 0):
        table[1 << item, item] = problem.cost[item, 0]
    for filled in range(1, n):
        layer = masks[size == filled]
        layer = layer[np.isfinite(table[layer]).any(axis=1)]
        for item in np.flatnonzero(np.isfinite(problem.cost[:, filled])):
            free = layer[(layer >> item & 1 == 0) & (layer & needs[item] == needs[item])]
            total = table[free] + problem.link[:, item]  # (subsets, last item)
            best = total.argmin(axis=1)
            full = free | (1 << item)
            table[full, item] = total[np.arange(len(free)), best] + problem.cost[item, filled]
            came[full, item] = best
    return _traced(table, came)


def _traced(table: np.ndarray, came: np.ndarray) -> Ints | None:
    """The ordering behind the best entry of the last subset."""
    subset, n = len(table) - 1, table.shape[1]
    last = int(table[subset].argmin())
    if not np.isfinite(table[subset, last]):
        return None
    ordering = np.empty(n, dtype=np.intp)
    for place in range(n - 1, -1, -1):
        ordering[place] = last
        subset, last = subset ^ (1 << last), int(came[subset, last])
    return ordering
