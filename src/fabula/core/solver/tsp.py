"""Routes: a short way through very many items where neighbours count alone, either way round.

Greedy pieces are joined to a circle with a dummy item in it, which is improved by turning stretches (2-opt) and by
moving short ones (Or-opt) among near neighbours; then shaken in one spot at a time, improved there, and kept where it
is no longer than before. The way begins and ends at the dummy, which is nearer to all items than any other: two links
to it are in every circle, so that what they cost decides nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.solver.budget import UNLIMITED, Budget

NEAR = 8  # neighbours of each item that are looked at
SHAKES = 8  # per item, at most
SPAN = 30  # positions within which one shake stays
LONGEST = 3  # items of a stretch that is moved
LEAST = 1e-9  # what counts as shorter
LOOK = 12.0  # the work of looking at one item


def route(link: Floats, rng: np.random.Generator, budget: Budget = UNLIMITED) -> Ints:
    """A short way that visits every item once.

    ``link``: shape (n, n), symmetric, of any sign: what it costs that two are neighbours; the diagonal does not count.
    ``rng``: shakes it. ``budget``: of which every item that is looked at takes a part; spent, once there is a way, at
    the latest. Returns ordering : shape (n,).

    Examples
    --------
    >>> x = np.array([0.0, 3.0, 1.0, 2.0, 5.0])
    >>> sorted([route(np.abs(x - x[:, np.newaxis]), np.random.default_rng(0)).tolist()])
    [[0, 2, 3, 1, 4]]
    """
    n = len(link)
    if n < 4:
        return np.arange(n)
    near = nearest(link, min(NEAR, n - 1))
    first = np.array(_join_pieces(link, near))
    dearest = int(link[first, np.roll(first, -1)].argmax())
    circle = _Circle(_with_dummy(link), near, [*np.roll(first, -dearest - 1).tolist(), n])
    budget.spend(100.0 * n)
    circle.improve(range(n), budget)
    _shake(circle, rng, budget)
    ordering = np.roll(circle.tour, -int(circle.place[n]) - 1)[:-1]
    return ordering if ordering[0] <= ordering[-1] else ordering[::-1].copy()


def _with_dummy(link: Floats) -> Floats:
    """The links with one more item, n, that is nearer to all than any other: shape (n + 1, n + 1)."""
    n = len(link)
    table = np.empty((n + 1, n + 1), dtype=link.dtype)
    table[:n, :n] = link
    table[n], table[:, n] = link.min() - 1, link.min() - 1
    return table


def nearest(link: Floats, count: int) -> Ints:
    """The nearest others of each item, the nearest first: shape (n, count)."""
    n = len(link)
    found = np.empty((n, count), dtype=np.intp)
    for start in range(0, n, 512):
        rows = link[start : start + 512].copy()
        own = np.arange(len(rows))
        rows[own, own + start] = np.inf
        some = np.argpartition(rows, count - 1, axis=1)[:, :count]
        costs = np.take_along_axis(rows, some, axis=1)
        found[start : start + 512] = np.take_along_axis(some, np.argsort(costs, axis=1, kind="stable"), axis=1)
    return found


def _join_pieces(link: Floats, near: Ints) -> list[int]:
    """A circle: the cheapest links first, as long as no item has three; then piece to nearest piece."""
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
    return _chain(link, beside, end_of)


def _chain(link: Floats, beside: list[list[int]], end_of: list[int]) -> list[int]:
    """Pieces one after the other, each begun at the free end that is nearest to where the last one ended."""
    free = np.array([len(two) < 2 for two in beside])
    tour: list[int] = []
    start = int(free.argmax())
    while True:
        end = end_of[start]
        tour += _along(beside, start, end)
        free[[start, end]] = False
        ends = np.flatnonzero(free)
        if not len(ends):
            return tour
        start = int(ends[link[end, ends].argmin()])


def _along(beside: list[list[int]], start: int, end: int) -> Iterator[int]:
    """The items of a piece from one end to the other."""
    last, now = -1, start
    while True:
        yield now
        if now == end:
            return
        last, now = now, next(one for one in beside[now] if one != last)


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
