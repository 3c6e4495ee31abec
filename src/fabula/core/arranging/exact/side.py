"""One side: the cheapest way to lay each subset of units along its positions.

Bellman's, and Held and Karp's, dynamic programme, from the last position to the first: a subset is the end of the
side. Where neighbours matter it is told apart by its first unit too. O(2^u u), or O(2^u u^2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.arranging.exact.criteria import NEVER, Criterion, Longs, capped
from fabula.core.arranging.exact.subsets import Subsets
from fabula.core.arranging.positions import Bools
from fabula.core.arranging.units import Units

CHUNK = 4096  # subsets at once: what they need stays in the cache


@dataclass(frozen=True, eq=False)
class Side:
    """A side to be filled.

    Attributes
    ----------
    subsets
        Of the units that may stand on it.
    cost, minor
        Shape (units, size): each unit by the position it starts at.
    link
        Shape (units, units): the second right after the first; None where neighbours do not matter.
    room
        The most it may hold.
    """

    subsets: Subsets
    criterion: Criterion
    cost: Longs
    minor: Longs | None
    link: Longs | None
    room: float

    @property
    def size(self) -> int:
        """How many positions it has."""
        return int(self.cost.shape[1])


def side(subsets: Subsets, criterion: Criterion, allowed: Bools, room: float, *, begun: int = 0, kept: int = 0) -> Side:
    """A side whose positions may be taken as ``allowed`` (n, size) says, after ``begun`` of all items kept."""
    parts = subsets.parts
    cost = np.where(allowed, criterion.on_side(begun, allowed.shape[1], kept), NEVER)
    link = criterion.link
    between = None
    if link is not None:
        heads, tails = ([run[k] for run in parts.members] for k in (0, -1))
        between = link[np.ix_(tails, heads)]
    minor = None if criterion.minor is None else _by_start(parts, criterion.minor(allowed.shape[1]), None, Criterion)
    return Side(subsets, criterion, _by_start(parts, cost, link, criterion), minor, between, room)


def _by_start(parts: Units, cost: Longs, link: Longs | None, criterion: Criterion | type[Criterion]) -> Longs:
    """From the costs of items (n, size) to those of units by where they start, the links within them included."""
    size = cost.shape[1]
    out = np.full((len(parts.members), size), NEVER)
    for unit, run in enumerate(parts.members):
        last = max(0, size - len(run) + 1)
        total = cost[run[0], :last]
        for offset, item in enumerate(run[1:], 1):
            inside = 0 if link is None else int(link[run[offset - 1], item])
            step = cost[item, offset : last + offset] + inside
            total = criterion.joined(total, step) if isinstance(criterion, Criterion) else total + step
            total = capped(total)
        out[unit, :last] = capped(total)
    return out


def fill(side: Side) -> tuple[Longs, Longs | None]:
    """The two numbers of the cheapest way for each subset, shape (2^u,) each; NEVER where the side is not full."""
    first, second = filled(side)
    subsets = side.subsets
    if first.ndim == 2:
        if second is not None:
            tight = np.where(first == first.min(axis=0), second, NEVER)
            second = tight.min(axis=0)
        first = first.min(axis=0)
    full = (subsets.items == side.size) & (subsets.load <= side.room)
    return np.where(full, first, NEVER), second


def filled(side: Side) -> tuple[Longs, Longs | None]:
    """The same for every subset at the end of the side: shape (2^u,), or (u, 2^u) by the first unit."""
    count = len(side.cost)
    shape = (1 << count,) if side.link is None else (count, 1 << count)
    first = np.full(shape, NEVER)
    second = None if side.minor is None else np.zeros(shape, dtype=np.int64)
    if side.link is None:
        first[0] = 0
    subsets = side.subsets
    for layer in subsets.layers[:-1]:
        fits = (subsets.items[layer] < side.size) & (subsets.load[layer] <= side.room)
        for at in range(0, int(fits.sum()), CHUNK):
            _extend(side, first, second, layer[fits][at : at + CHUNK])
    return first, second


def _extend(side: Side, first: Longs, second: Longs | None, sets: Longs) -> None:
    """Set each unit before each of some subsets of as many units, in place."""
    if side.link is None:
        sets = sets[first[sets] < NEVER]
    elif sets[0] > 0:
        sets = sets[first[:, sets].min(axis=0) < NEVER]
    here = first[..., sets]
    minor = None if second is None else second[..., sets]
    start = side.size - side.subsets.items[sets]
    for unit in range(len(side.cost) if len(sets) else 0):
        position = start - int(side.subsets.parts.lengths[unit])
        possible = (sets & ((1 << unit) | side.subsets.needed[unit]) == 0) & (position >= 0)
        possible &= side.cost[unit, np.maximum(position, 0)] < NEVER
        if possible.any():
            total, tie = _behind(side, here[..., possible], None if minor is None else minor[..., possible], unit)
            _place(side, first, second, sets[possible] | (1 << unit), unit, position[possible], total, tie)


def _behind(side: Side, first: Longs, second: Longs | None, unit: int) -> tuple[Longs, Longs | None]:
    """The cheapest way for some subsets with a unit before each, that unit's own cost aside."""
    if side.link is None:
        return first, second
    if first.shape[1] == 1 and first.min() == NEVER:  # the empty subset: nothing behind the unit
        return np.zeros(1, dtype=np.int64), None if second is None else np.zeros(1, dtype=np.int64)
    totals = first + side.link[unit][:, np.newaxis]  # (first unit, subsets)
    best = totals.min(axis=0)
    if second is None:
        return best, None
    return best, np.where(totals == best, second, NEVER).min(axis=0)


def _place(
    side: Side,
    first: Longs,
    second: Longs | None,
    after: Longs,
    unit: int,
    position: Longs,
    total: Longs,
    minor: Longs | None,
) -> None:
    """Write down what it costs to have a unit at a position before subsets; ``after`` are those with it."""
    total = capped(side.criterion.joined(total, side.cost[unit, position]))
    if minor is not None and side.minor is not None:
        minor = minor + side.minor[unit, position]
    if side.link is not None:
        first[unit, after] = total
        if second is not None and minor is not None:
            second[unit, after] = minor
        return
    better = total < first[after]
    if second is not None and minor is not None:
        better |= (total == first[after]) & (minor < second[after])
        second[after] = np.where(better, minor, second[after])
    first[after] = np.where(better, total, first[after])


def trace(side: Side) -> list[int]:
    """The units of the cheapest way to lay all of them along the side; of those that tie, the smallest first."""
    first, second = filled(side)
    if side.link is None:
        return _trace_plain(side, first, second)
    left, order = len(side.subsets.every) - 1, list[int]()
    goal, minor = _best(first[:, left], None if second is None else second[:, left])
    while left:
        tight = first[:, left] + (side.link[order[-1]] if order else 0) == goal
        if second is not None:
            tight &= second[:, left] == minor
        unit = int(np.flatnonzero(tight)[0])
        order.append(unit)
        start = side.size - int(side.subsets.items[left])
        goal = int(first[unit, left]) - int(side.cost[unit, start])
        minor -= 0 if side.minor is None else int(side.minor[unit, start])
        left ^= 1 << unit
    return order


def _best(first: Longs, second: Longs | None) -> tuple[int, int]:
    best = int(first.min())
    return best, 0 if second is None else int(second[first == best].min())


def _trace_plain(side: Side, first: Longs, second: Longs | None) -> list[int]:
    left, order = len(first) - 1, list[int]()
    while left:
        start = side.size - int(side.subsets.items[left])
        for unit in range(len(side.cost)):
            rest = left ^ (1 << unit)
            if rest > left or rest & side.subsets.needed[unit] or first[rest] >= NEVER:
                continue
            tight = first[rest] + side.cost[unit, start] == first[left]
            if tight and side.minor is not None and second is not None:
                tight = second[rest] + side.minor[unit, start] == second[left]
            if tight:
                break
        order.append(unit)
        left = rest
    return order
