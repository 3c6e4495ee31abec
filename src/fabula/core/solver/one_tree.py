"""A bound of what neighbours cost: Held and Karp's, its prices found among near neighbours, then proved on all.

An ordering is a tree over the items in which none has three neighbours. A price per item is moved until most have two
in the cheapest tree. While prices move, only links to near neighbours are looked at, in a tenth of the time; the bound
that is told is the cheapest tree over all links under the best prices, so that it holds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from fabula.core.arrays import Floats, Ints
from fabula.core.solver.budget import UNLIMITED, Budget
from fabula.core.solver.tsp import nearest

ROUNDS = 160  # of prices at most
PATIENCE = 8  # rounds without progress after which steps get shorter
NEAR = 12  # neighbours of each item that prices look at
MOST_FOLLOWED = 1100  # items beyond which the cheapest followers take too long
_SINGLE = float(np.finfo(np.float32).eps)


def tree_bound(link: Floats, reached: float, budget: Budget = UNLIMITED) -> float:
    """What no ordering's sum of links is below.

    ``link``: shape (n, n), symmetric, finite off the diagonal, of any sign. ``reached``: the sum of an ordering, which
    tells how far prices should move. ``budget``: of which every move of the prices takes a part.

    Examples
    --------
    >>> x = np.array([0.0, 3.0, 1.0, 7.0])
    >>> round(tree_bound(np.abs(x - x[:, np.newaxis]), 7.0), 3)
    7.0
    """
    n = len(link)
    near = nearest(link, min(NEAR, n - 1))
    one, other = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    low, high = np.minimum(one, other), np.maximum(one, other)
    pairs = np.unique(low * n + high)
    price = _prices(link, pairs // n, pairs % n, reached, budget)
    plain = np.zeros(n)
    return max(_prove(link, price), _prove(link, plain)) if price.any() else _prove(link, plain)


def link_bound(link: Floats, reached: float, budget: Budget = UNLIMITED) -> float:
    """A lower bound of the sum of links (n, n) along any ordering, positions aside; infinite when there is none.

    An ordering is a way to give each item but the last a follower, and it is a tree over the items in which none
    has three neighbours: the cheapest followers and the cheapest tree both stay below it. Links may be infinite, and
    cost more one way than the other; ``reached`` is the sum of an ordering.

    Examples
    --------
    >>> x = np.array([0.0, 3.0, 1.0])
    >>> round(link_bound(np.abs(x - x[:, np.newaxis]) + np.diag([np.inf] * 3), 3.0), 3)
    3.0
    """
    n = len(link)
    if n < 2:
        return 0.0
    finite = link[np.isfinite(link)]
    if not len(finite):
        return np.inf
    if finite.min() == finite.max():  # nothing to choose
        return float(finite[0]) * (n - 1)
    followers = _cheapest_followers(link) if n <= MOST_FOLLOWED else -np.inf
    either = np.minimum(link, link.T)
    far = float(finite.max()) + n * float(np.ptp(finite))  # dearer than any ordering of what is finite
    return max(followers, tree_bound(np.where(np.isfinite(either), either, far), reached, budget))


def _prices(link: Floats, one: Ints, other: Ints, reached: float, budget: Budget) -> Floats:
    """Prices under which the cheapest tree over some links costs most, by Polyak's steps: shape (n,)."""
    n, costs = len(link), np.asarray(link[one, other], dtype=np.float64)
    price = best_price = np.zeros(n)
    best, length, idle = -np.inf, 1.5, 0
    for _ in range(ROUNDS):
        if budget.over:
            break
        budget.spend(250.0 + 3.0 * n)
        weights = costs + price[one] + price[other]
        chosen = _forest(weights, one, other, n)
        ends = np.argpartition(price, 1)[:2]
        value = float(weights[chosen].sum() + price[ends].sum() - 2 * price.sum())
        degree = np.bincount(one[chosen], minlength=n) + np.bincount(other[chosen], minlength=n)
        degree[ends] += 1
        excess = degree - 2.0
        idle = 0 if value > best else idle + 1
        if value > best:
            best, best_price = value, price
        if idle > PATIENCE:
            length, idle, price = length / 2, 0, best_price
        size = float((excess**2).sum())
        if not size or value >= reached:
            break
        price = price + length * max(reached - value, 0.0) / size * excess
    return best_price


def _forest(weights: Floats, one: Ints, other: Ints, n: int) -> Ints:
    """Which of some links make the cheapest tree over n items, or trees where they do not connect all."""
    order, rank = np.argsort(weights, kind="stable"), np.empty(len(weights))
    rank[order] = np.arange(1, len(weights) + 1)  # above 0, which would be no link
    tree = minimum_spanning_tree(csr_array((rank, (one, other)), shape=(n, n)))
    return order[tree.data.astype(np.intp) - 1]


def _prove(link: Floats, price: Floats) -> float:
    """The bound that prices give, over all links, rounding on the safe side."""
    total, largest = cheapest_tree(link.astype(np.float32, copy=False), price.astype(np.float32))
    ends = np.sort(price)[:2]
    slack = 8 * _SINGLE * largest * len(link)
    return total + float(ends.sum()) - 2 * float(price.sum()) - slack


def cheapest_tree(link: NDArray[np.float32], price: NDArray[np.float32]) -> tuple[float, float]:
    """The sum of the cheapest tree over items, each link with the prices of its two; and the largest number met.

    Prim's algorithm; what is in the tree already is taken off the rows, so that they get shorter.
    """
    n = len(link)
    waiting = np.arange(1, n)
    nearest_yet = link[0, 1:] + price[1:] + price[0]
    total, largest = 0.0, float(np.abs(price).max(initial=0.0))
    for left in range(n - 2, -1, -1):
        at = int(nearest_yet.argmin())
        item, cost = int(waiting[at]), float(nearest_yet[at])
        total, largest = total + cost, max(largest, abs(cost))
        waiting[at], nearest_yet[at] = waiting[left], nearest_yet[left]
        waiting, nearest_yet = waiting[:left], nearest_yet[:left]
        row = link[item].take(waiting)
        row += price.take(waiting)
        row += price[item]
        np.minimum(nearest_yet, row, out=nearest_yet)
    return total, largest


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
