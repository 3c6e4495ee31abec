"""A bound of what neighbours cost, Held and Karp's: prices found among near neighbours, then proved on all."""

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats, Ints
from fabula.core.fit import assign_least
from fabula.core.solver.problem import UNLIMITED, Budget

MOST_ROUNDS = 160  # of prices at most
PATIENCE = 8  # rounds without progress after which steps get shorter
NEIGHBOURS = 12  # neighbours of each item that prices look at
MOST_FOLLOWED = 1100  # items beyond which the cheapest followers take too long
_SINGLE = float(np.finfo(np.float32).eps)


def link_bound(link: Floats, reached: float, budget: Budget = UNLIMITED) -> float:
    """A lower bound of the sum of links (n, n) along any ordering, positions aside; infinite when there is none.

    The cheapest followers of all items but one and the cheapest tree both stay below it. Links may be infinite, and
    cost more one way than the other; ``reached`` is the sum of an ordering.
    """
    n = len(link)
    if n < 2:
        return 0.0
    finite = link[np.isfinite(link)]
    if not len(finite):
        return np.inf
    if finite.min() == finite.max():  # nothing to choose
        return float(finite[0]) * (n - 1)
    followers = -np.inf
    if n <= MOST_FOLLOWED:
        table = np.pad(link, (0, 1))  # with a dummy item before the first and behind the last
        table[n, n] = np.inf
        try:
            followers = float(table[assign_least(table)].sum())
        except ValueError:
            followers = np.inf
    either = np.minimum(link, link.T)
    far = float(finite.max()) + n * float(np.ptp(finite))  # dearer than any ordering of what is finite
    return max(followers, tree_bound(np.where(np.isfinite(either), either, far), reached, budget))


def tree_bound(link: Floats, reached: float, budget: Budget = UNLIMITED) -> float:
    """What no sum of symmetric, finite links (n, n) along an ordering is below; ``reached`` is that of a known one."""
    n = len(link)
    near = nearest(link, min(NEIGHBOURS, n - 1))
    one, other = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    low, high = np.minimum(one, other), np.maximum(one, other)
    pairs = np.unique(low * n + high)
    price = _find_prices(link, pairs // n, pairs % n, reached, budget)
    plain = np.zeros(n)
    return max(_bound_by_tree(link, price), _bound_by_tree(link, plain)) if price.any() else _bound_by_tree(link, plain)


def nearest(link: Floats, count: int) -> Ints:
    """The nearest others of each item, the nearest first: shape (n, count)."""
    n = len(link)
    found = np.empty((n, count), dtype=np.intp)
    for start in range(0, n, 128):
        rows = link[start : start + 128].copy()
        own = np.arange(len(rows))
        rows[own, own + start] = np.inf
        some = np.argpartition(rows, count - 1, axis=1)[:, :count]
        costs = np.take_along_axis(rows, some, axis=1)
        found[start : start + 128] = np.take_along_axis(some, np.argsort(costs, axis=1, kind="stable"), axis=1)
    return found


def _find_prices(link: Floats, one: Ints, other: Ints, reached: float, budget: Budget) -> Floats:
    """Prices under which the cheapest tree over some links costs most, by Polyak's steps: shape (n,)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    n, costs = len(link), np.asarray(link[one, other], dtype=np.float64)
    price = best_price = np.zeros(n)
    best, length, idle = -np.inf, 1.5, 0
    for _ in range(MOST_ROUNDS):
        if budget.over:
            break
        budget.spend(250.0 + 3.0 * n)
        weights = costs + price[one] + price[other]
        order, rank = np.argsort(weights, kind="stable"), np.empty(len(weights))
        rank[order] = np.arange(1, len(weights) + 1)  # above 0, which would be no link
        tree = minimum_spanning_tree(csr_array((rank, (one, other)), shape=(n, n)))  # trees where links do not connect
        chosen = order[tree.data.astype(np.intp) - 1]
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


def _bound_by_tree(link: Floats, price: Floats) -> float:
    """The bound that prices give, over all links, rounding on the safe side."""
    total, largest = cheapest_tree(link.astype(np.float32, copy=False), price.astype(np.float32))
    ends = np.sort(price)[:2]
    slack = 8 * _SINGLE * largest * len(link)
    return total + float(ends.sum()) - 2 * float(price.sum()) - slack


def cheapest_tree(link: NDArray[np.float32], price: NDArray[np.float32]) -> tuple[float, float]:
    """The sum of the cheapest tree over items, each link with the prices of its two; and the largest number met."""
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
