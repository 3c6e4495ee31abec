"""Moves: what an ordering gains when one item goes elsewhere, or two change places; the few that help most.

All n (n - 1) moves and all swaps are weighed exactly by an energy. Where positions and neighbours are all it goes by,
what others gain by making room adds up along the ordering, so that each move costs a handful of look-ups, some rows at
a time. Where all pairs count, it is a sum over pairs, for few items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import ceil

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.energy import Energy
from fabula.errors import InputError

_CELLS = 1 << 20  # moves weighed at a time
_LEAST = 1e-9  # less is rounding
FEW = 8  # items up to which every ordering is looked at
_BEAM, _BEAMED = 12, 60  # orderings kept side by side while some items may move; and items up to which so many are
_LIKELY = 20  # moves that are looked at, best first, for one that is permitted
_BATCHES = 12  # rounds in which the items of a long ordering move


@dataclass(frozen=True)
class Move:
    """One item goes from a position to another, or changes places with what stands there; both counted from 0."""

    at: int
    to: int
    gain: float  # natural logarithms of likelihood
    swap: bool = False
    # how likely it is what went wrong, where either nothing did, or one of all moves and swaps is to be undone
    sure: float = 0.0

    def apply(self, ordering: Ints) -> Ints:
        """The ordering after it.

        >>> Move(0, 2, 1.0).apply(np.array([5, 6, 7, 8])), Move(0, 2, 1.0, swap=True).apply(np.array([5, 6, 7, 8]))
        (array([6, 7, 5, 8]), array([7, 6, 5, 8]))
        """
        done = np.asarray(ordering).copy()
        if self.swap:
            done[[self.at, self.to]] = done[[self.to, self.at]]
            return done
        return np.insert(np.delete(done, self.at), self.to, ordering[self.at])


def move_gains(
    energy: Energy, ordering: Ints, at: Ints | None = None, sides: Sequence[int] = (), *, swap: bool = False
) -> Floats:
    """What an ordering (n,) gains when the item of each position ``at`` (r,), by default all, goes to each: (r, n).

    What stands between makes room, or with ``swap`` the two change places; sides keep their sizes, and neighbours
    count within each. 0 where it stands.

    >>> rising = Energy(np.outer(np.arange(3), np.arange(3)) * 1.0)
    >>> move_gains(rising, np.array([2, 0, 1]))
    array([[ 0.,  2.,  3.],
           [ 2.,  0., -1.],
           [ 0., -1.,  0.]])
    """
    rows = np.arange(len(ordering)) if at is None else np.asarray(at, dtype=np.intp)
    if energy.whole is not None:
        table, here = np.empty((len(rows), len(ordering))), float(energy.score(ordering, sides))
        for gains, one in zip(table, rows.tolist(), strict=True):  # every ordering that comes of it is scored
            moved = np.stack([Move(one, to, 0.0, swap).apply(ordering) for to in range(len(ordering))])
            gains[:] = np.asarray(energy.score(moved, sides)) - here
        return table
    if energy.reach is not None:
        return (_swap_pairs if swap else _move_pairs)(energy.take(ordering), rows)
    line = _Line(energy, ordering, sides)
    return line.swaps(rows) if swap else line.moves(rows)


def best_moves(
    energy: Energy,
    ordering: Ints,
    *,
    most: int = 5,
    least: float = 0.0,
    least_sure: float = 0.0,
    sides: Sequence[int] = (),
    permits: Callable[[Ints], bool] = lambda ordering: True,
) -> list[Move]:
    """The moves and swaps that gain most, one after the other, each at least ``least``; no item is moved twice.

    Each is at least as sure as ``least_sure``.
    Positions of each are those in the ordering after the ones before it. Of a swap and a move that gain alike, the
    move is taken; of the twenty that gain most, the first whose ordering is permitted.
    """
    here, found = np.asarray(ordering, dtype=np.intp), list[Move]()
    touched = np.zeros(len(here), dtype=bool)
    while len(found) < most and len(here) > 1:
        likely = _best(energy, here, ~touched[here], sides)
        gaining = (one for one in likely if one.gain >= max(least, _LEAST) and one.sure >= least_sure)
        move = next((one for one in gaining if permits(one.apply(here))), None)
        if move is None:
            break
        touched[here[[move.at, move.to] if move.swap else [move.at]]] = True
        here = move.apply(here)
        found.append(move)
    return found


def best_positions(energy: Energy, ordering: Ints) -> tuple[Floats, Ints]:
    """What the item of each position gains by its best move, (n,), and where that leads, (n,); 0 and itself if none."""
    gains, to = np.zeros(len(ordering)), np.arange(len(ordering))
    for rows in _blocks(len(ordering)):
        table = move_gains(energy, ordering, rows)
        table[np.arange(len(rows)), rows] = 0.0
        best = table.argmax(axis=1)
        gains[rows] = table[np.arange(len(rows)), best]
        to[rows] = np.where(gains[rows] > _LEAST, best, rows)
    return np.maximum(gains, 0.0), to


def arrange_near(energy: Energy, ordering: Ints, share: float) -> Ints:
    """The best ordering found in which at least ``share`` of the items keep their relative order.

    That is, its longest common subsequence with ``ordering`` has at least that share of the items. All such orderings
    are looked at up to 8 items; beyond, items are taken out and put back one by one, several ways side by side.

    >>> rising = Energy(np.outer(np.arange(4), np.arange(4)) * 1.0)
    >>> arrange_near(rising, np.array([3, 0, 1, 2]), 0.75), arrange_near(rising, np.array([3, 0, 1, 2]), 1.0)
    (array([0, 1, 2, 3]), array([3, 0, 1, 2]))
    """
    if not 0 <= share <= 1:
        raise InputError(f"must be from 0 to 1; got {share:g}", field="keep")
    given, n = np.asarray(ordering, dtype=np.intp), len(ordering)
    spare = n - ceil(share * n - 1e-9)
    if n <= FEW:
        every = np.array(list(permutations(range(n))), dtype=np.intp).reshape(-1, n)
        near = given[every[longest_rising(every) >= n - spare]]
        return np.asarray(near[np.argmax(energy.score(near))])
    return _search_near(energy, given, spare)


def longest_rising(rows: Ints) -> Ints:
    """The length of the longest rising subsequence of each row: shape (r,).

    >>> longest_rising(np.array([[0, 1, 2], [2, 0, 1], [2, 1, 0]]))
    array([3, 2, 1])
    """
    longest = np.ones(rows.shape, dtype=np.intp)
    for k in range(1, rows.shape[1]):
        below = np.where(rows[:, :k] < rows[:, k : k + 1], longest[:, :k], 0)
        longest[:, k] += below.max(axis=1)
    return np.asarray(longest.max(axis=1, initial=0))


def _blocks(n: int) -> list[Ints]:
    """Positions, so many at a time that a table of their moves is bounded."""
    return np.array_split(np.arange(n), max(1, ceil(n * n / _CELLS)))


def _best(energy: Energy, ordering: Ints, free: np.ndarray, sides: Sequence[int]) -> list[Move]:
    """The moves and swaps of free positions that gain most, best first."""
    found: list[Move] = []
    weight = 0.0  # of all moves and swaps, beside 1 for each of them, which is what leaving all as it is has
    n = len(ordering)
    for rows in _blocks(n):
        mine = rows[free[rows]]
        for swap in (False, True) if len(mine) else ():
            gains = move_gains(energy, ordering, mine, sides, swap=swap)
            gains[np.arange(len(mine)), mine] = -np.inf
            if swap:
                gains[:, ~free] = -np.inf
                gains[np.arange(n) < mine[:, np.newaxis] + 2] = -np.inf  # once each; next to each other it is a move
            weight += float(np.exp(np.minimum(gains, 300.0)).sum()) + float(np.isfinite(gains).sum())
            best = np.argsort(-gains, axis=None, kind="stable")[:_LIKELY]
            for k, to in zip(*np.unravel_index(best, gains.shape), strict=True):
                found.append(Move(int(mine[k]), int(to), float(gains[k, to]), swap))
    found = sorted(found, key=lambda move: -round(move.gain, 9))[:_LIKELY]
    return [replace(one, sure=float(np.exp(min(one.gain, 300.0)) / weight)) for one in found if np.isfinite(one.gain)]


class _Line:
    """An ordering by positions and neighbours: what is looked up to weigh its moves."""

    def __init__(self, energy: Energy, ordering: Ints, sides: Sequence[int]) -> None:
        n = self.n = len(ordering)
        self.order, self.at, self.flow = np.asarray(ordering, dtype=np.intp), energy.at(n), energy.flow
        # of the join behind each position whether it counts, from the one before the first to the one behind the last
        self.counts = np.zeros(n + 1)
        self.counts[1:n] = 1.0
        self.counts[np.cumsum(sides, dtype=np.intp)[:-1]] = 0.0
        self.joins = np.zeros(n + 1)  # what is between neighbours, by the same numbers
        self.joins[1:n] = self._between(self.order[:-1], self.order[1:])
        k = np.arange(n)
        stands = self.at[self.order, k]
        # what those before each position gain by going one position back, or on
        back = np.r_[0.0, self.at[self.order[1:], k[:-1]] - stands[1:]]
        on = np.r_[self.at[self.order[:-1], k[1:]] - stands[:-1], 0.0]
        self.back, self.on = (np.r_[0.0, np.cumsum(one)] for one in (back, on))
        # and what the joins behind them gain that go along with both their items, across the end of a side
        next_counts = np.r_[self.counts[2:], 0.0]
        crossed = (
            (self.counts[:n] - self.counts[1:]) * self.joins[1:],
            (next_counts - self.counts[1:]) * self.joins[1:],
        )
        self.joins_back, self.joins_on = (np.r_[0.0, np.cumsum(one)] for one in crossed)
        self.stands = stands

    def moves(self, rows: Ints) -> Floats:
        """What is gained by each move of the items at these positions: shape (r, n)."""
        n, p, q = self.n, rows[:, np.newaxis], np.arange(self.n)
        item, counts, joins = self.order[p], self.counts, self.joins
        gains = self.at[self.order[rows]] - self.stands[p]
        before, behind = self.order[np.maximum(q - 1, 0)], self.order[np.minimum(q + 1, n - 1)]
        closed = self._between(self.order[np.maximum(rows - 1, 0)], self.order[np.minimum(rows + 1, n - 1)])
        closed = closed[:, np.newaxis]
        to, fro = self._between(self.order[q], item), self._between(item, self.order[q])
        later = (
            counts[p] * (closed - joins[p])
            - counts[p + 1] * joins[p + 1]
            + counts[q] * to
            + counts[q + 1] * (self._between(item, behind) - joins[q + 1])
            + self.back[q + 1]
            - self.back[p + 1]
            + self.joins_back[q]
            - self.joins_back[p + 1]
        )
        sooner = (
            counts[q] * (self._between(before, item) - joins[q])
            + counts[q + 1] * fro
            - counts[p] * joins[p]
            + counts[p + 1] * (closed - joins[p + 1])
            + self.on[p]
            - self.on[q]
            + self.joins_on[np.maximum(p - 1, 0)]
            - self.joins_on[q]
        )
        return np.asarray(gains + np.where(q > p, later, np.where(q < p, sooner, 0.0)))

    def swaps(self, rows: Ints) -> Floats:
        """What is gained when the items at these positions change places with each other: shape (r, n)."""
        n, p, q = self.n, rows[:, np.newaxis], np.arange(self.n)
        one, other = self.order[p], self.order[q]
        total = self.at[self.order[rows]] - self.stands[p] + self.at[:, rows][self.order].T - self.stands[q]
        for place, new in ((p, other), (q, one)):  # an item newly at a position, beside what stands there
            before = self.order[np.maximum(place - 1, 0)]
            behind = self.order[np.minimum(place + 1, n - 1)]
            total = total + self.counts[place] * (self._between(before, new) - self.joins[place])
            total = total + self.counts[place + 1] * (self._between(new, behind) - self.joins[place + 1])
        near = np.abs(q - p) == 1
        if near.any():
            total = np.where(near, self.moves(rows), total)
        return np.asarray(np.where(q == p, 0.0, total))

    def _between(self, before: Ints, after: Ints) -> Floats:
        """What items add right before others."""
        shape = np.broadcast_shapes(np.shape(before), np.shape(after))
        return np.zeros(shape) if self.flow is None else np.asarray(self.flow[before, after], dtype=np.float64)


def _move_pairs(energy: Energy, rows: Ints) -> Floats:
    """By all pairs, of items that stand in the order of their numbers: shape (r, n)."""
    n, apart, at = energy.n, energy.apart, energy.at(energy.n)
    k = np.arange(n - 1)
    table = np.zeros((len(rows), n))
    gap = np.triu(k - k[:, np.newaxis])  # (n - 1, n - 1): how far the others stand apart, the item taken out
    later = np.arange(n)[:, np.newaxis] > k  # (n, n - 1): whether the item stands behind, by its position
    far = np.where(later, np.arange(n)[:, np.newaxis] - k, k + 1 - np.arange(n)[:, np.newaxis])
    for found, item in zip(table, rows.tolist(), strict=True):
        others = k + (k >= item)
        wider = np.minimum(gap + 1, n - 1)
        room = apart[wider, others[:, np.newaxis], others] - apart[gap, others[:, np.newaxis], others]
        room[np.tril_indices(n - 1)] = 0.0
        shift = room.sum(axis=1) - room.sum(axis=0) + at[others, k] - at[others, k + 1]
        found[1:] = np.cumsum(shift)
        found += at[item] + np.where(later, apart[far, others, item], apart[far, item, others]).sum(axis=1)
        found -= found[item]
    return table


def _swap_pairs(energy: Energy, rows: Ints) -> Floats:
    """The same when two change places: shape (r, n)."""
    n, apart, at = energy.n, energy.apart, energy.at(energy.n)
    k = np.arange(n)
    # (n, n): what each item (column) would add at each position (row), all others as they stand
    alone = np.stack(
        [apart[p - k[:p], k[:p]].sum(axis=0) + apart[k[p + 1 :] - p, :, k[p + 1 :]].sum(axis=0) for p in k]
    )
    p, q = rows[:, np.newaxis], k
    far, first = np.abs(p - q), p < q
    straight = np.where(first, apart[far, p, q], apart[far, q, p])
    crossed = np.where(first, apart[far, q, p], apart[far, p, q])
    own = apart[far, q, q] + apart[far, p, p]  # of an item with itself, which is counted in ``alone`` twice
    total = alone[p, q] + alone[q, p] - alone[p, p] - alone[q, q] - own + straight + crossed
    total += at[q, p] + at[p, q] - at[p, p] - at[q, q]
    return np.asarray(np.where(p == q, 0.0, total))


def _search_near(energy: Energy, given: Ints, spare: int) -> Ints:
    """Up to ``spare`` items taken out and put back where they gain most, several ways side by side."""
    if not spare:
        return given
    if len(given) > _BEAMED:
        here, moved = _move_many(energy, given, spare)
        return _polish(energy, given, here, moved)
    best: tuple[float, Ints, frozenset[int]] = (0.0, given, frozenset())
    states = [best]
    for _ in range(spare):
        grown: dict[bytes, tuple[float, Ints, frozenset[int]]] = {}
        for gained, here, moved in states:
            gains = move_gains(energy, here)
            np.fill_diagonal(gains, -np.inf)
            for at, to in zip(*np.unravel_index(np.argsort(-gains, axis=None)[:_BEAM], gains.shape), strict=True):
                there, now = Move(int(at), int(to), 0.0).apply(here), moved | {int(here[at])}
                if len(now) <= spare:
                    grown.setdefault(there.tobytes(), (gained + float(gains[at, to]), there, now))
        states = sorted(grown.values(), key=lambda state: -state[0])[:_BEAM]
        best = max(best, *states, key=lambda state: state[0])
    ends = [_polish(energy, given, here, moved) for _, here, moved in [best, *states]]
    return max(ends, key=lambda one: float(energy.score(one)))


def _move_many(energy: Energy, given: Ints, spare: int) -> tuple[Ints, frozenset[int]]:
    """The same for long orderings: in some rounds, the items that gain most, one after the other."""
    here, moved = given, frozenset[int]()
    for _ in range(_BATCHES):
        gains, _ = best_positions(energy, here)
        items = here[np.argsort(-gains, kind="stable")[: ceil(spare / _BATCHES)]]
        for item in items.tolist():
            if len(moved | {item}) > spare:
                break
            here, done = _put_best(energy, here, item)
            moved = moved | {item} if done else moved
    return here, moved


def _put_best(energy: Energy, here: Ints, item: int) -> tuple[Ints, bool]:
    """An item at its best position, and whether that is another."""
    at = int(np.flatnonzero(here == item)[0])
    gains = move_gains(energy, here, np.array([at]))[0]
    to = int(gains.argmax())
    return (here, False) if gains[to] <= _LEAST else (Move(at, to, 0.0).apply(here), True)


def _polish(energy: Energy, given: Ints, here: Ints, moved: frozenset[int]) -> Ints:
    """Items that may move anyway put where they gain most, until none does; and one exchanged for another."""
    place = np.argsort(given)
    rounds = 4 if len(given) <= _BEAMED else 1
    for _ in range(rounds):
        start = here
        for item in sorted(moved):
            here, _ = _put_best(energy, here, item)
        for item in sorted(moved) if len(given) <= _BEAMED else ():
            # again where it stood among those that were not moved: right behind the one that was before it
            rest = here[here != item]
            before = [k for k, one in enumerate(rest.tolist()) if one not in moved and place[one] < place[item]]
            trial = np.insert(rest, max(before, default=-1) + 1, item)
            gains, to = best_positions(energy, trial)
            best = int(gains.argmax())
            other = Move(best, int(to[best]), 0.0).apply(trial)
            if float(energy.score(other)) > float(energy.score(here)) + _LEAST:
                here, moved = other, moved - {item} | {int(trial[best])}
        if np.array_equal(start, here):
            break
    return here
