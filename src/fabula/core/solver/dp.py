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
Numbers = NDArray[np.int64]  # (1 or 2, ...) the first number of some subsets, and the second where there is one

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

    def join(self, one: Longs, other: Longs) -> Longs:
        """The cost of two parts taken together, or both numbers of it."""
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
    def barred(self) -> Longs:
        """For each unit, the subset of those that cannot stand behind it, itself among them: shape (u, 1)."""
        known = [mask_of([unit, *np.flatnonzero(column)]) for unit, column in enumerate(self.parts.earlier.T)]
        return np.array(known, dtype=np.int64)[:, np.newaxis]

    @cached_property
    def is_closed(self) -> Bools:
        """Whether a subset can be the first sides: whatever must stand before one of its units is in it; (2^u,)."""
        closed = np.ones(len(self.every), dtype=bool)
        for unit, barred in enumerate(self.barred[:, 0].tolist()):
            if barred != 1 << unit:
                closed &= ((self.every >> unit) & 1 == 0) | (self.every & barred == barred)
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
    costs: Numbers  # (1 or 2, units, size) each unit by the position it starts at
    link: Longs | None  # (units, units) the second right after the first, where neighbours matter
    room: float  # the most it may hold
    whole: bool = False  # whether nothing but all of its units together is asked for

    @property
    def size(self) -> int:
        """How many positions it has."""
        return int(self.costs.shape[2])

    @cached_property
    def ends(self) -> Numbers:
        """The numbers of every subset at the end of the side: (1 or 2, 2^u), or (1 or 2, u, 2^u) by the first unit."""
        numbers, count, _ = self.costs.shape
        subsets = self.subsets
        bounded = self.whole and self.at_once and not self.criterion.mask and self.size == count >= _FEWEST_BOUNDED
        if bounded and self.link is not None:
            return _follow_bounds(self, self.link)[np.newaxis]
        ends = np.full((numbers, 1 << count) if self.link is None else (numbers, count, 1 << count), NEVER)
        ends[1:] = 0
        if self.link is None:
            ends[0, 0] = 0
        for layer in subsets.layers[:-1]:
            fits = (subsets.items[layer] < self.size) & (subsets.load[layer] <= self.room)
            for at in range(0, int(fits.sum()), CHUNK):
                _extend(self, ends, layer[fits][at : at + CHUNK])
        return ends

    @cached_property
    def at_once(self) -> bool:
        """Whether all units can be set before a few subsets in one step: single items, and neighbours matter."""
        return self.link is not None and len(self.costs) == 1 and bool((self.subsets.parts.lengths == 1).all())


def side(subsets: Subsets, criterion: Criterion, allowed: Bools, room: float, *, begun: int = 0) -> Side:
    """A side whose positions may be taken as ``allowed`` (n, size) says, after ``begun`` items."""
    parts, link, between, size = subsets.parts, criterion.link, None, allowed.shape[1]
    shared = 0 if criterion.shared is None else criterion.shared[:, begun : begun + size]
    cost = np.where(allowed, criterion.cost(size) + shared, NEVER)
    if link is not None:
        heads, tails = ([run[k] for run in parts.members] for k in (0, -1))
        between = link[np.ix_(tails, heads)]
    costs = [_by_start(parts, cost, link, criterion.join)]
    if criterion.minor is not None:
        costs.append(_by_start(parts, criterion.minor(size), None, np.add))
    return Side(subsets, criterion, np.array(costs), between, room)


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
    """The numbers of the cheapest way for each subset, (1 or 2, 2^u); the first is NEVER where the side is not full."""
    subsets, numbers = side.subsets, side.ends.copy() if side.link is None else _least(*side.ends)
    full = (subsets.items == side.size) & (subsets.load <= side.room)
    numbers[0, ~full] = NEVER
    return numbers


def _least(first: Longs, *second: Longs) -> Numbers:
    """The smallest of some numbers, told apart along the first axis: by the first, then by the second."""
    best = first.min(axis=0)
    return np.array([best, *(np.where(first == best, ties, NEVER).min(axis=0) for ties in second)])


def _extend(side: Side, ends: Numbers, sets: Longs) -> None:
    """Set each unit before each of some subsets of as many units, in place."""
    here, cost = ends.take(sets, axis=-1), side.costs[0]
    if side.link is None or sets[0] > 0:
        known = (here[0] if side.link is None else here[0].min(axis=0)) < NEVER
        if not known.all():
            sets, here = sets[known], here.compress(known, axis=-1)
    if side.at_once and len(cost) ** 2 * len(sets) <= AT_ONCE:
        _extend_at_once(side, ends[0], sets, here[0])
        return
    start = side.size - side.subsets.items[sets]
    for unit in range(len(cost) if len(sets) else 0):
        position = start - int(side.subsets.parts.lengths[unit])
        possible = (sets & side.subsets.barred[unit] == 0) & (position >= 0)
        possible &= cost[unit, np.maximum(position, 0)] < NEVER
        some = np.flatnonzero(possible)
        if len(some):
            after, costs = sets[some] | (1 << unit), side.costs[:, unit].take(position[some], axis=1)
            found = side.criterion.join(_behind(side, here.take(some, axis=-1), unit), costs)
            found[0] = cap(found[0])
            if side.link is None:
                keep_better(ends, after, found)
            else:
                ends[:, unit, after] = found


def _extend_at_once(side: Side, first: Longs, sets: Longs, here: Longs, bound: "_Bound | None" = None) -> Longs:
    """The same for single items, all before all of some subsets, where a bound permits; the subsets reached."""
    if side.link is None or not len(sets):
        return sets
    count = len(side.link)
    start = side.size - int(sets[0]).bit_count() - 1
    cost = side.costs[0, :, start, np.newaxis]
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
    count = len(link)
    for bound in _bounds(side.costs[0], np.where(np.eye(count, dtype=bool), NEVER, link)):
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


def _behind(side: Side, here: Numbers, unit: int) -> Numbers:
    """The cheapest way for some subsets with a unit before each, that unit's own cost aside."""
    if side.link is None:
        return here
    if here.shape[2] == 1 and here[0].min() == NEVER:  # the empty subset: nothing behind the unit
        return np.zeros((len(here), 1), dtype=np.int64)
    return _least(here[0] + side.link[unit][:, np.newaxis], *here[1:])


def keep_better(kept: Numbers, sets: Longs, found: Numbers) -> None:
    """Write down what is better than what is known of some subsets, each named once, in place."""
    known = kept.take(sets, axis=1)
    better = found[0] < known[0]
    if len(known) > 1:
        better |= (found[0] == known[0]) & (found[1] < known[1])
    for row, numbers in zip(kept, found, strict=True):
        row[sets[better]] = numbers[better]


def trace(side: Side) -> list[int]:
    """The items of the cheapest way to lay all units along the side; of those that tie, the smallest first."""
    subsets, order = side.subsets, list[int]()
    left, barred = len(subsets.every) - 1, subsets.barred[:, 0]
    while left:  # the numbers of what is left, by its first unit
        if side.link is None:
            rest = left ^ (1 << np.arange(len(barred)))  # without each unit that is in it
            by_unit = side.ends[:, rest] + side.costs[:, :, side.size - int(subsets.items[left])]
            by_unit[0, rest & barred != 0] = 2 * NEVER
        else:
            by_unit = side.ends[:, :, left].copy()
            by_unit[0] += side.link[order[-1]] if order else 0
        order.append(int(np.lexsort(by_unit[::-1])[0]))
        left ^= 1 << order[-1]
    return [item for unit in order for item in subsets.parts.members[unit]]
