"""One side by dynamic programming over subsets (Bellman; Held and Karp), exact in whole numbers.

Criteria are whole numbers, so that sums are exact, ties are true ties, and the order of criteria is that of numbers: a
number holds, from its high bits to its low ones, how many neighbours are alike that should not be, and then what is
minimised; a second number, where there is one, decides among those that tie. A side is filled from its last position
to its first: a subset of units is the end of the side, told apart by its first unit too where neighbours matter.
O(2^u u), or O(2^u u^2).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Bools, Floats
from fabula.core.fit import flow_prices
from fabula.core.solver.constraints import Constraints
from fabula.core.solver.problem import Units

Longs = NDArray[np.int64]
Table = Callable[[int], Longs]
Numbers = tuple[Longs, Longs | None]  # the two numbers of some subsets

NEVER = 1 << 61  # the cost of what must not be; three of them still fit
_LARGEST = 1 << 60  # no cost of what may be comes near it


@dataclass(frozen=True, eq=False)
class Criterion:
    """What is minimised, in whole numbers."""

    cost: Table  # from the size of a side to the cost of each item at each of its positions, (n, size)
    minor: Table | None = None  # the same for the second number, where there is one
    link: Longs | None = None  # (n, n) item k right after item i, where neighbours matter
    mask: int = 0  # the bits of which the largest counts; all others are summed
    shared: Longs | None = None  # (n, kept) what is added by the position in the whole

    def on_side(self, begun: int, size: int) -> Longs:
        """The cost of each item at each position of a side that begins after some: shape (n, size)."""
        cost = self.cost(size)
        return cost if self.shared is None else cost + self.shared[:, begun : begun + size]

    def join(self, one: Longs, other: Longs | int) -> Longs:
        """The cost of two parts taken together."""
        if not self.mask:
            return np.asarray(one + other)
        high = (one & ~self.mask) + (other & ~self.mask)
        return np.asarray(high + np.maximum(one & self.mask, other & self.mask))


def cap(cost: Longs) -> Longs:
    """Costs in which whatever must not be costs NEVER, whatever was added to it."""
    return np.where(cost > _LARGEST, NEVER, cost)


def links(constraints: Constraints, alike: int, flow: Longs | None) -> Longs | None:
    """Flow, and what it costs two neighbours that are alike: so much where they may be."""
    same = constraints.same_label()
    if same is None:
        return flow
    links = np.where(same, alike if constraints.apart_soft else NEVER, 0)
    return links if flow is None else links + flow


# All subsets of a few units, as bit masks, with what they hold.


@dataclass(frozen=True, eq=False)
class Subsets:
    """The 2^u subsets of u units; subset number s holds unit k when bit k of s is set."""

    parts: Units
    lengths: Floats  # (u,) what limits count, of each unit

    @cached_property
    def every(self) -> Longs:
        """All subsets, shape (2^u,)."""
        return np.arange(1 << len(self.lengths), dtype=np.int64)

    @cached_property
    def items(self) -> Longs:
        """How many items each subset holds, shape (2^u,)."""
        return subset_sums(self.parts.lengths.tolist()).astype(np.int64)

    @cached_property
    def load(self) -> Floats:
        """The length of each subset, shape (2^u,)."""
        return subset_sums(self.lengths.tolist())

    @cached_property
    def layers(self) -> list[Longs]:
        """The subsets of 0, 1, ... u units."""
        count = np.bitwise_count(self.every)
        order = np.argsort(count, kind="stable")
        return np.split(self.every[order], np.cumsum(np.bincount(count))[:-1])

    @cached_property
    def of_items(self) -> dict[int, Longs]:
        """The subsets that hold so many items."""
        order = np.argsort(self.items, kind="stable")
        sizes, starts = np.unique(self.items[order], return_index=True)
        return dict(zip(sizes.tolist(), np.split(self.every[order], starts[1:]), strict=True))

    def holding(self, items: int) -> Longs:
        """The subsets that hold so many items."""
        return self.of_items.get(items, np.empty(0, dtype=np.int64))

    @cached_property
    def needs(self) -> list[int]:
        """For each unit, the subset of those that must stand before it."""
        return [mask_of(np.flatnonzero(column)) for column in self.parts.earlier.T]

    @cached_property
    def barred(self) -> Longs:
        """For each unit, the subset of those that cannot stand behind it: shape (u, 1)."""
        needs = np.array(self.needs, dtype=np.int64)
        return (needs | np.int64(1) << np.arange(len(needs)))[:, np.newaxis]

    @cached_property
    def is_closed(self) -> Bools:
        """Whether a subset can be the first sides: whatever must stand before one of its units is in it; (2^u,)."""
        closed = np.ones(len(self.every), dtype=bool)
        for unit, needed in enumerate(self.needs):
            if needed:
                closed &= ((self.every >> unit) & 1 == 0) | (self.every & needed == needed)
        return closed

    @cached_property
    def item_masks(self) -> Floats:
        """Each subset as a mask of items: a name that stays when units are merged; (2^u,)."""
        return subset_sums([float(sum(2.0**item for item in run)) for run in self.parts.members])


def subset_sums(values: Iterable[float]) -> Floats:
    """The sum of each subset of some values, shape (2^u,)."""
    out = np.zeros(1)
    for value in values:
        out = np.concatenate([out, out + value])
    return out


def mask_of(units: Iterable[int]) -> int:
    """The subset of some units."""
    return sum(1 << int(unit) for unit in units)


# One side: the cheapest way to lay each subset of units along its positions.

CHUNK = 4096  # subsets at once: what they need stays in the cache
FEW_AT_ONCE = 1 << 15  # entries up to which they are made at once, with all units behind
AT_ONCE = 1 << 20  # entries up to which one step for all units is quicker than one for each


@dataclass(frozen=True, eq=False)
class Side:
    """A side to be filled."""

    subsets: Subsets
    criterion: Criterion
    cost: Longs  # (units, size) each unit by the position it starts at
    minor: Longs | None  # (units, size)
    link: Longs | None  # (units, units) the second right after the first, where neighbours matter
    room: float  # the most it may hold
    whole: bool = False  # whether nothing but all of its units together is asked for

    @property
    def size(self) -> int:
        """How many positions it has."""
        return int(self.cost.shape[1])

    @cached_property
    def ends(self) -> Numbers:
        """The two numbers of every subset at the end of the side: shape (2^u,), or (u, 2^u) by the first unit."""
        count, subsets = len(self.cost), self.subsets
        bounded = self.whole and self.at_once and not self.criterion.mask and self.size == count >= _FEWEST_BOUNDED
        if bounded and self.link is not None:
            return _follow_bounds(self, self.link), None
        shape = (1 << count,) if self.link is None else (count, 1 << count)
        first = np.full(shape, NEVER)
        second = None if self.minor is None else np.zeros(shape, dtype=np.int64)
        if self.link is None:
            first[0] = 0
        for layer in subsets.layers[:-1]:
            fits = (subsets.items[layer] < self.size) & (subsets.load[layer] <= self.room)
            for at in range(0, int(fits.sum()), CHUNK):
                _extend(self, first, second, layer[fits][at : at + CHUNK])
        return first, second

    @cached_property
    def at_once(self) -> bool:
        """Whether all units can be set before a few subsets in one step: single items, and neighbours matter."""
        return self.link is not None and self.minor is None and bool((self.subsets.parts.lengths == 1).all())


def side(subsets: Subsets, criterion: Criterion, allowed: Bools, room: float, *, begun: int = 0) -> Side:
    """A side whose positions may be taken as ``allowed`` (n, size) says, after ``begun`` items."""
    parts = subsets.parts
    cost = np.where(allowed, criterion.on_side(begun, allowed.shape[1]), NEVER)
    link = criterion.link
    between = None
    if link is not None:
        heads, tails = ([run[k] for run in parts.members] for k in (0, -1))
        between = link[np.ix_(tails, heads)]
    minor = None if criterion.minor is None else _by_start(parts, criterion.minor(allowed.shape[1]), None, np.add)
    return Side(subsets, criterion, _by_start(parts, cost, link, criterion.join), minor, between, room)


def _by_start(parts: Units, cost: Longs, link: Longs | None, join: Callable[[Longs, Longs], Longs]) -> Longs:
    """From the costs of items (n, size) to those of units by where they start, the links within them included."""
    size = cost.shape[1]
    out = np.full((len(parts.members), size), NEVER)
    for unit, run in enumerate(parts.members):
        last = max(0, size - len(run) + 1)
        total = cost[run[0], :last]
        for offset, item in enumerate(run[1:], 1):
            inside = 0 if link is None else int(link[run[offset - 1], item])
            total = cap(join(total, cost[item, offset : last + offset] + inside))
        out[unit, :last] = cap(total)
    return out


def fill(side: Side) -> Numbers:
    """The two numbers of the cheapest way for each subset, shape (2^u,) each; NEVER where the side is not full."""
    first, second = side.ends
    subsets = side.subsets
    if first.ndim == 2:
        if second is not None:
            tight = np.where(first == first.min(axis=0), second, NEVER)
            second = tight.min(axis=0)
        first = first.min(axis=0)
    full = (subsets.items == side.size) & (subsets.load <= side.room)
    return np.where(full, first, NEVER), second


def _extend(side: Side, first: Longs, second: Longs | None, sets: Longs) -> None:
    """Set each unit before each of some subsets of as many units, in place."""
    here = first[..., sets]
    if side.link is None or sets[0] > 0:
        known = (here if side.link is None else here.min(axis=0)) < NEVER
        if not known.all():
            sets, here = sets[known], here[..., known]
    if side.at_once and len(side.cost) ** 2 * len(sets) <= AT_ONCE:
        _extend_at_once(side, first, sets, here)
        return
    minor = None if second is None else second[..., sets]
    start = side.size - side.subsets.items[sets]
    for unit in range(len(side.cost) if len(sets) else 0):
        position = start - int(side.subsets.parts.lengths[unit])
        possible = (sets & ((1 << unit) | side.subsets.needs[unit]) == 0) & (position >= 0)
        possible &= side.cost[unit, np.maximum(position, 0)] < NEVER
        if possible.any():
            at, after = position[possible], sets[possible] | (1 << unit)
            total, tie = _behind(side, here[..., possible], None if minor is None else minor[..., possible], unit)
            total = cap(side.criterion.join(total, side.cost[unit, at]))
            if tie is not None and side.minor is not None:
                tie = tie + side.minor[unit, at]
            if side.link is None:
                keep_better((first, second), after, total, tie)
                continue
            first[unit, after] = total
            if second is not None and tie is not None:
                second[unit, after] = tie


def _extend_at_once(side: Side, first: Longs, sets: Longs, here: Longs, bound: "_Bound | None" = None) -> Longs:
    """The same for single items, all before all of some subsets, where a bound permits; the subsets reached."""
    if side.link is None or not len(sets):
        return sets
    count = len(side.cost)
    start = side.size - int(sets[0]).bit_count() - 1
    cost = side.cost[:, start][:, np.newaxis]
    total = np.zeros((count, 1), dtype=np.int64)
    if sets[0] and count * count * len(sets) <= FEW_AT_ONCE:
        total = (side.link[:, :, np.newaxis] + here).min(axis=1)  # (unit, subsets)
    elif sets[0]:
        total = side.link[:, :1] + here[0]
        for behind, cost_there in zip(side.link.T[1:, :, np.newaxis], here[1:], strict=True):
            np.minimum(total, behind + cost_there, out=total)
    total = cap(side.criterion.join(total, cost))
    possible = (sets & side.subsets.barred == 0) & (cost < NEVER) & (total < NEVER)
    if bound is not None:
        possible &= total <= bound.limit - bound.ahead[start][:, np.newaxis] - bound.owed(sets)
    units, columns = np.nonzero(possible)
    reached = sets[columns] | (np.int64(1) << units)
    first[units, reached] = total[units, columns]
    return reached


# All units on one side: prices on them bound what is to come (Lagrange; Held and Karp), so that few subsets matter.

_FEWEST_BOUNDED = 12  # units from which on bounds save more than they take
_STEPS = (1.2, 0.9, 0.7, 0.5, 0.35, 0.25, 0.18, 0.13)  # of raising prices, as parts of what Polyak's would be
_DEAR, _BARRED = 1 << 53, 1 << 56  # what is to be avoided, and what must not be; as often as there are units
_LIMITS = (0.5, 1.0, 8.0)  # that are tried, between the bound and what is known of an ordering, and beyond


@dataclass(frozen=True, eq=False)
class _Bound:
    """What the units before a subset cost at least, and what all may cost in the end."""

    prices: Longs  # (units,)
    ahead: Longs  # (positions, units) the cheapest way to a unit at a position, prices off, its own cost aside
    limit: int

    def owed(self, sets: Longs) -> Longs:
        """The prices of the units that neither some subsets hold nor are set before them: shape (units, subsets)."""
        held = (sets[:, np.newaxis] >> np.arange(len(self.prices))) & 1
        return np.asarray(self.prices.sum() - self.prices[:, np.newaxis] - held @ self.prices)


def _follow_bounds(side: Side, link: Longs) -> Longs:
    """The costs of those ends (units, 2^units) that may belong to the best way to lay all units."""
    count = len(side.cost)
    for bound in _bounds(side.cost, np.where(np.eye(count, dtype=bool), NEVER, link)):
        first, sets = np.full((count, 1 << count), NEVER), np.zeros(1, dtype=np.int64)
        for _ in range(count):
            parts = (sets[at : at + CHUNK] for at in range(0, len(sets), CHUNK))
            reached = [_extend_at_once(side, first, part, first[:, part], bound) for part in parts]
            sets = np.unique(np.concatenate(reached)) if reached else sets
        if first[:, -1].min() <= bound.limit:
            break
    return first


def _bounds(cost: Longs, link: Longs) -> Iterator[_Bound]:
    """Ever wider limits on what all units cost, the last one none at all."""
    cost, link = np.minimum(cost.T, _BARRED), np.minimum(link, _BARRED)  # (positions, units); (units, units)
    dear = link >= _DEAR
    usual = np.where(dear, link[~dear].mean() if not dear.all() else 0.0, link)
    [order], [prices] = flow_prices(cost.T[np.newaxis].astype(np.float64), usual[np.newaxis])
    known = float(cost[np.arange(len(cost)), order].sum() + usual[order[:-1], order[1:]].sum())
    best, chosen, behind = -np.inf, prices, link.T * 1.0
    for step in _STEPS:
        priced = cost - prices
        total = _ways_ahead(priced, behind)
        total += priced
        way = [int(total[-1].argmin())]
        least = float(total[-1, way[0]] + prices.sum())
        best, chosen = (least, prices) if least > best else (best, chosen)
        for position in range(len(cost) - 2, -1, -1):
            way.append(int((total[position] + behind[way[-1]]).argmin()))
        missing = 1.0 - np.bincount(way, minlength=len(cost))
        if not missing.any():
            break
        prices = prices + step * max(known - least, 0.0) / float(missing @ missing) * missing
    whole = np.rint(chosen).astype(np.int64)
    ahead = _ways_ahead(cost - whole, link.T)
    least = int((ahead[-1] + cost[-1] - whole).min() + whole.sum())
    for part in _LIMITS:
        yield _Bound(whole, ahead, least + int(part * abs(known - least)))
    yield _Bound(whole, ahead, 2 * NEVER)


def _ways_ahead(cost: NDArray[Any], behind: NDArray[Any]) -> NDArray[Any]:
    """The cheapest way to each unit at each position, its own cost aside: (positions, units), as the costs are."""
    ahead = np.zeros_like(cost)
    for position in range(1, len(ahead)):
        np.min(behind + (ahead[position - 1] + cost[position - 1]), axis=1, out=ahead[position])
    return ahead


def _behind(side: Side, first: Longs, second: Longs | None, unit: int) -> Numbers:
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


def keep_better(kept: Numbers, sets: Longs, total: Longs, minor: Longs | None) -> None:
    """Write down what is better than what is known of some subsets, each named once, in place."""
    first, second = kept
    better = total < first[sets]
    if second is not None and minor is not None:
        better |= (total == first[sets]) & (minor < second[sets])
        second[sets] = np.where(better, minor, second[sets])
    first[sets] = np.where(better, total, first[sets])


def trace(side: Side) -> list[int]:
    """The units of the cheapest way to lay all of them along the side; of those that tie, the smallest first."""
    first, second = side.ends
    if side.link is None:
        return _trace_plain(side, first, second)
    left, order = len(side.subsets.every) - 1, list[int]()
    goal = int(first[:, left].min())
    minor = 0 if second is None else int(second[first[:, left] == goal, left].min())
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


def _trace_plain(side: Side, first: Longs, second: Longs | None) -> list[int]:
    left, order, barred = len(first) - 1, list[int](), side.subsets.barred[:, 0]
    while left:
        start = side.size - int(side.subsets.items[left])
        rest = left ^ (1 << np.arange(len(barred)))  # without each unit that is in it
        tight = (rest & barred == 0) & (first[rest] < NEVER) & (first[rest] + side.cost[:, start] == first[left])
        if side.minor is not None and second is not None:
            tight &= second[rest] + side.minor[:, start] == second[left]
        order.append(int(np.flatnonzero(tight)[0]))
        left = int(rest[order[-1]])
    return order
