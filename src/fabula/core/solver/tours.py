"""Routes: a short way through very many items where neighbours count alone, either way round.

Greedy pieces are joined to a circle with a dummy item in it, which is improved by turning stretches (2-opt) and by
moving short ones (Or-opt) among near neighbours; then shaken in one spot at a time, improved there, and kept where it
is no longer than before. The way begins and ends at the dummy, which is nearer to all items than any other: two links
to it are in every circle, so that what they cost decides nothing.
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats, Ints
from fabula.core.fit import assign_least
from fabula.core.solver.problem import UNLIMITED, Budget

NEAR = 8  # neighbours of each item that are looked at
SHAKES = 8  # per item, at most
SPAN = 30  # positions within which one shake stays
LONGEST = 3  # items of a stretch that is moved
LEAST = 1e-9  # what counts as shorter
LOOK = 12.0  # the work of looking at one item


def route(link: Floats, rng: np.random.Generator, budget: Budget = UNLIMITED) -> Ints:
    """A short way (n,) that visits every item once, by symmetric links (n, n) of any sign; the budget is spent at most.

    >>> x = np.array([0.0, 3.0, 1.0, 2.0, 5.0])
    >>> route(np.abs(x - x[:, np.newaxis]), np.random.default_rng(0))
    array([0, 2, 3, 1, 4])
    """
    n = len(link)
    if n < 4:
        return np.arange(n)
    near = nearest(link, min(NEAR, n - 1))
    first = np.array(_join_pieces(link, near))
    dearest = int(link[first, np.roll(first, -1)].argmax())
    table = np.full((n + 1, n + 1), link.min() - 1, dtype=link.dtype)  # item n is nearer to all than any other
    table[:n, :n] = link
    circle = _Circle(table, near, [*np.roll(first, -dearest - 1).tolist(), n])
    budget.spend(100.0 * n)
    circle.improve(range(n), budget)
    _shake(circle, rng, budget)
    ordering = np.roll(circle.tour, -int(circle.place[n]) - 1)[:-1]
    return ordering if ordering[0] <= ordering[-1] else ordering[::-1].copy()


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


def _join_pieces(link: Floats, near: Ints) -> list[int]:
    """A circle: the cheapest links first, as long as no item has three; then each piece to the nearest free end."""
    n = len(link)
    one, other = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    cheap = np.argsort(link[one, other], kind="stable")
    beside: list[list[int]] = [[] for _ in range(n)]
    end_of = list(range(n))  # of an end, the other end of its piece
    for a, b in zip(one[cheap].tolist(), other[cheap].tolist(), strict=True):
        if len(beside[a]) < 2 and len(beside[b]) < 2 and end_of[a] != b and b not in beside[a]:
            beside[a].append(b)
            beside[b].append(a)
            far, away = end_of[a], end_of[b]
            end_of[far], end_of[away] = away, far
    free = np.array([len(two) < 2 for two in beside])
    tour: list[int] = []
    start = int(free.argmax())
    while True:
        end = end_of[start]
        last, now = -1, start
        while now != end:
            tour.append(now)
            last, now = now, next(one for one in beside[now] if one != last)
        tour.append(end)
        free[[start, end]] = False
        ends = np.flatnonzero(free)
        if not len(ends):
            return tour
        start = int(ends[link[end, ends].argmin()])


class _Circle:
    """A circle through all items, that can be improved; the tour and where each item stands in it change."""

    def __init__(self, link: Floats, near: Ints, tour: list[int]) -> None:
        self.link = link.data  # a memoryview: single entries in a third of the time
        dummy = len(near)
        near = np.concatenate([np.full((dummy, 1), dummy), near], axis=1)
        self.near = [*near.tolist(), []]
        self.reach = [*np.take_along_axis(link[:dummy], near, axis=1).tolist(), []]
        self.tour = np.array(tour, dtype=np.intp)
        self.place = np.argsort(self.tour)

    def improve(self, items: range | list[int], budget: Budget) -> float:
        """Improve around some items until nothing there gets shorter; how much was gained."""
        waiting, listed = deque(items), set(items)
        gained = 0.0
        while waiting and not budget.over:
            budget.spend(LOOK)
            item = waiting.popleft()
            listed.discard(item)
            step = self._try_turn(item) or self._try_move(item)
            if step is None:
                continue
            gained += step[0]
            for one in (item, *step[1]):
                if one not in listed:
                    listed.add(one)
                    waiting.append(one)
        return gained

    def _beside(self, item: int, step: int) -> int:
        return int(self.tour[(self.place[item] + step) % len(self.tour)])

    def _try_turn(self, a: int) -> tuple[float, tuple[int, ...]] | None:
        """Turn a stretch round so that an item gets a near neighbour."""
        link = self.link
        for step in (1, -1):
            b = self._beside(a, step)
            now = link[a, b]
            for c, reach in zip(self.near[a], self.reach[a], strict=True):
                if reach >= now:
                    break
                d = self._beside(c, step)
                gain = now + link[c, d] - reach - link[b, d]
                if gain > LEAST and b != c and a != d:
                    first, last = (b, c) if step == 1 else (c, b)
                    self._turn(first, last)
                    return gain, (b, c, d)
        return None

    def _turn(self, first: int, last: int) -> None:
        """Turn the stretch from one item to another, or, where that is shorter, all the rest."""
        n = len(self.tour)
        i, j = int(self.place[first]), int(self.place[last])
        inner = (j - i) % n + 1
        if 2 * inner > n:
            i, j, inner = (j + 1) % n, (i - 1) % n, n - inner
        at = np.arange(i, i + inner) % n if i + inner > n else slice(i, i + inner)
        self._put(at, self.tour[at][::-1].copy())

    def _put(self, at: Ints | slice, items: Ints) -> None:
        self.tour[at] = items
        self.place[items] = at if not isinstance(at, slice) else np.arange(at.start, at.stop)

    def _try_move(self, a: int) -> tuple[float, tuple[int, ...]] | None:
        """Move a stretch that begins or ends with an item between a near neighbour and the one beside that."""
        link, n = self.link, len(self.tour)
        for length in range(1, min(LONGEST, n - 3) + 1):
            for step in (1, -1):
                z = self._beside(a, step * (length - 1))  # the stretch runs from a to z
                before, behind = self._beside(a, -step), self._beside(z, step)
                saved = link[before, a] + link[z, behind] - link[before, behind]
                for c, reach in zip(self.near[a], self.reach[a], strict=True):
                    if reach >= saved:
                        break
                    if (step * (int(self.place[c]) - int(self.place[a]))) % n < length:
                        continue  # within the stretch
                    for other in (self._beside(c, 1), self._beside(c, -1)):
                        if (step * (int(self.place[other]) - int(self.place[a]))) % n < length:
                            continue
                        gain = saved + link[c, other] - reach - link[z, other]
                        if gain > LEAST:
                            self._move(a, z, step, c, other)
                            return gain, (z, before, behind, c, other)
        return None

    def _move(self, a: int, z: int, step: int, c: int, other: int) -> None:
        """Put the stretch from a to z between two neighbours, a beside c: as turns of stretches, the shortest way."""
        first, last = (a, z) if step == 1 else (z, a)
        n = len(self.tour)
        i, j = int(self.place[first]), int(self.place[last])
        count = (j - i) % n + 1
        left, right = (c, other) if self._beside(c, 1) == other else (other, c)
        stretch = self.tour[np.arange(i, i + count) % n]
        ahead = (int(self.place[left]) - j) % n  # items between the stretch and where it goes, going on
        back = (i - int(self.place[right])) % n
        faces = stretch if (left == c) == (stretch[0] == a) else stretch[::-1]
        if ahead <= back:
            at = np.arange(i, i + count + ahead) % n
            self._put(at, np.concatenate([self.tour[at[count:]], faces]))
        else:
            at = np.arange(i - back, i + count) % n
            self._put(at, np.concatenate([faces, self.tour[at[:back]]]))


def _shake(circle: _Circle, rng: np.random.Generator, budget: Budget) -> None:
    """Exchange two stretches that follow each other somewhere, improve there, and keep what is no longer."""
    n = len(circle.tour)
    span = min(SPAN, n // 3)
    if span < 2:
        return
    link = circle.link
    for _ in range(SHAKES * n):
        if budget.over:
            return
        budget.spend(30.0 + 0.002 * n)
        start, first, second = int(rng.integers(n)), int(rng.integers(1, span)), int(rng.integers(1, span))
        at = np.arange(start, start + first + second + 2) % n
        items = circle.tour[at]
        a, b, c, d, e, f = (int(items[k]) for k in (0, 1, first, first + 1, first + second, first + second + 1))
        worse = link[a, d] + link[e, b] + link[c, f] - link[a, b] - link[c, d] - link[e, f]
        tour, place = circle.tour.copy(), circle.place.copy()
        circle._put(at[1:-1], np.concatenate([items[first + 1 : -1], items[1 : first + 1]]))
        if circle.improve(list(dict.fromkeys((a, b, c, d, e, f))), budget) < worse - LEAST:
            circle.tour, circle.place = tour, place


# A bound of what neighbours cost: Held and Karp's, its prices found among near neighbours, then proved on all.

MOST_ROUNDS = 160  # of prices at most
PATIENCE = 8  # rounds without progress after which steps get shorter
NEIGHBOURS = 12  # neighbours of each item that prices look at
MOST_FOLLOWED = 1100  # items beyond which the cheapest followers take too long
_SINGLE = float(np.finfo(np.float32).eps)


def tree_bound(link: Floats, reached: float, budget: Budget = UNLIMITED) -> float:
    """What no sum of symmetric, finite links (n, n) along an ordering is below; ``reached`` is that of a known one."""
    n = len(link)
    near = nearest(link, min(NEIGHBOURS, n - 1))
    one, other = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    low, high = np.minimum(one, other), np.maximum(one, other)
    pairs = np.unique(low * n + high)
    price = _prices(link, pairs // n, pairs % n, reached, budget)
    plain = np.zeros(n)
    return max(_prove(link, price), _prove(link, plain)) if price.any() else _prove(link, plain)


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


def _prices(link: Floats, one: Ints, other: Ints, reached: float, budget: Budget) -> Floats:
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


def _prove(link: Floats, price: Floats) -> float:
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
