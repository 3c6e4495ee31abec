"""Lower bounds: what no ordering under the constraints can get below."""

from __future__ import annotations

import time

import numpy as np

from fabula.core.arranging.local.problem import Problem
from fabula.core.essence import Floats
from fabula.core.ordering import Ints


def position_bound(cost: Floats) -> tuple[float, Ints]:
    """The smallest sum of costs over positions (n, n), neighbours aside, and the ordering that has it.

    A ValueError when the finite entries allow no assignment.
    """
    from scipy.optimize import linear_sum_assignment

    items, places = linear_sum_assignment(cost)
    ordering = np.empty(len(cost), dtype=np.intp)
    ordering[places] = items
    return float(cost[items, places].sum()), ordering


def coupling_bound(problem: Problem, assigned: Ints) -> float:
    """What runs and ``before`` add at least to the smallest sum over positions, that of ``assigned`` (n,).

    Under the dual prices of the best assignment every other position costs extra; a run must pay for its best start, a
    pair for its best two positions in order. No item is counted twice.
    """
    price = _prices(problem.cost, assigned)
    places = (problem.cost - price[:, np.newaxis])[assigned, np.arange(len(assigned))]
    extra = np.maximum(problem.cost - price[:, np.newaxis] - places, 0.0)  # (n, n)
    total, used = 0.0, np.zeros(len(assigned), dtype=bool)
    for run in problem.constraints.together:
        m = len(assigned) - len(run) + 1
        total += float(np.sum([extra[item, o : m + o] for o, item in enumerate(run)], axis=0).min())
        used[list(run)] = True
    for a, b in problem.before.T:
        if not used[a] and not used[b]:
            total += float((np.minimum.accumulate(extra[a])[:-1] + extra[b, 1:]).min())
            used[[a, b]] = True
    return total


def link_bound(link: Floats, *, rounds: int = 30, until: float = np.inf) -> float:
    """A lower bound of the sum of links (n, n) along any ordering, positions aside; infinite when there is none.

    An ordering is a way to give each item but the last a follower, and it is a tree over the items in which none
    has three neighbours: the cheapest followers and the cheapest tree both stay below it.

    Examples
    --------
    >>> x = np.array([0.0, 3.0, 1.0])
    >>> link_bound(np.abs(x - x[:, np.newaxis]) + np.diag([np.inf] * 3))
    3.0
    """
    if len(link) < 2:
        return 0.0
    finite = link[np.isfinite(link)]
    if not len(finite):
        return np.inf
    if finite.min() == finite.max():  # nothing to choose
        return float(finite[0]) * (len(link) - 1)
    return max(_cheapest_followers(link), _cheapest_tree(link, rounds, until))


def _cheapest_followers(link: Floats) -> float:
    from scipy.optimize import linear_sum_assignment

    n = len(link)
    table = np.zeros((n + 1, n + 1))  # padded with a dummy item before the first and behind the last
    table[:n, :n] = link
    table[n, n] = np.inf
    try:
        rows, columns = linear_sum_assignment(table)
    except ValueError:
        return np.inf
    return float(table[rows, columns].sum())


def _cheapest_tree(link: Floats, rounds: int, until: float) -> float:
    """Held and Karp's bound: a price per item is moved until most have two neighbours in the cheapest tree.

    A dummy item, at no cost next to any two items, makes the path a circle.
    """
    either = np.minimum(link, link.T)
    n = len(either)
    price = np.zeros(n)
    best, step, last = -np.inf, 0.0, np.zeros(n)
    for turn in range(rounds):
        if time.monotonic() > until:
            break
        total, degree = _tree(either + price + price[:, np.newaxis])
        if not np.isfinite(total):
            return np.inf
        ends = np.argpartition(price, 1)[:2]
        degree[ends] += 1
        best = max(best, total + float(price[ends].sum()) - 2 * float(price.sum()))
        step = step or abs(best) / n / 2 or 1.0
        excess = degree - 2.0
        price = price + step * (1 - turn / rounds) * (0.7 * excess + 0.3 * last)
        last = excess
    return best


def _tree(weight: Floats) -> tuple[float, Floats]:
    """The cheapest tree over the items (n, n), by Prim: its sum, and how many neighbours each item has in it."""
    n = len(weight)
    nearest, parent = weight[0].copy(), np.zeros(n, dtype=np.intp)
    nearest[0] = np.inf
    out = np.ones(n, dtype=bool)
    out[0] = False
    total, degree = 0.0, np.zeros(n)
    for _ in range(n - 1):
        item = int(nearest.argmin())
        total += float(nearest[item])
        degree[item] += 1
        degree[parent[item]] += 1
        out[item] = False
        closer = (weight[item] < nearest) & out
        nearest[closer] = weight[item, closer]
        parent[closer] = item
        nearest[item] = np.inf
    return total, degree


def _prices(cost: Floats, assigned: Ints) -> Floats:
    """Dual prices of the items under the best assignment, by shortest paths of exchanges."""
    worth = cost[:, np.argsort(assigned)].T - cost[assigned, np.arange(len(cost))][np.argsort(assigned), np.newaxis]
    price = np.zeros(len(cost))
    for _ in range(len(cost)):
        lower = np.minimum(price, (price[:, np.newaxis] + worth).min(axis=0))
        if np.allclose(lower, price, rtol=0, atol=1e-12):
            break
        price = lower
    return price
