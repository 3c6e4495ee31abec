"""One side by dynamic programming over subsets (Bellman; Held and Karp), exact in whole numbers.

Criteria are whole numbers, so that sums are exact, ties are true ties, and the order of criteria is that of numbers: a
number holds, from its high bits to its low ones, how many neighbours are alike that should not be, and then what is
minimised; a second number, where there is one, decides among those that tie. A side is filled from its last position
to its first: a subset of units is the end of the side, told apart by its first unit too where neighbours matter.
O(2^u u), or O(2^u u^2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats
from fabula.core.fit import distances
from fabula.core.solver.constraints import Constraints
from fabula.core.solver.domains import Bools, Units
from fabula.core.solver.problem import Goal
from fabula.core.template import Template

Longs = NDArray[np.int64]
Table = Callable[[int], Longs]

NEVER = 1 << 61  # the cost of what must not be; three of them still fit
_LARGEST = 1 << 60  # no cost of what may be comes near it


@dataclass(frozen=True, eq=False)
class Criterion:
    """What is minimised.

    ``cost``: from the size of a side to the cost of each item at each of its positions, shape (n, size). ``shared``:
    shape (n, kept): what is added by the position in the whole; None where nothing is. ``minor``: the same as ``cost``
    for the second number; None where there is none. ``link``: shape (n, n): the cost of item k right after item i; None
    where neighbours do not matter. ``mask``: the bits of which the largest counts; all others are summed. 0 where
    everything is summed.
    """

    cost: Table
    minor: Table | None = None
    link: Longs | None = None
    mask: int = 0
    shared: Longs | None = None

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


def feasibility(constraints: Constraints) -> Criterion:
    """Costs nothing, whatever the constraints permit."""
    link = None if constraints.apart_soft else _links(constraints, 0, None)
    return Criterion(lambda size: np.zeros((constraints.n, size), dtype=np.int64), link=link)


def worst_deviation(goal: Goal, constraints: Constraints) -> Criterion:
    """The largest deviation."""
    bits, one = bits_of(goal.n), _grain(goal)
    link = _links(constraints, 1 << bits, None)
    return Criterion(cache(lambda size: _snap(goal, size, one)), link=link, mask=(1 << bits) - 1)


def sum_of_deviations(goal: Goal, constraints: Constraints, worst: int) -> Criterion:
    """The sum of deviations, none above ``worst``; then that of their squares; then the order of values and targets."""
    bits, one = bits_of(goal.n), _grain(goal)

    @cache
    def cost(size: int) -> Longs:
        deviations = _snap(goal, size, one)
        return np.asarray(np.where(deviations <= worst, deviations, NEVER))

    return Criterion(cost, cache(lambda size: _minor(goal, size)), _links(constraints, 1 << bits, None))


def sum_of_costs(goal: Goal, flow: Floats | None, constraints: Constraints, sizes: range, kept: int) -> Criterion:
    """Squared deviations, or the costs of a table, plus flow, where so many items are kept on sides of some sizes."""
    power = 1 if goal.follows is None else 2
    tables = {size: goal.on_side(size) for size in (sizes if power == 1 else range(1, goal.n + 1))}
    largest = max((float(np.abs(table).max()) for table in tables.values()), default=0.0) ** power
    whole = None if goal.whole is None else goal.whole.at(kept)
    largest += 0.0 if whole is None else float(np.abs(whole).max())
    largest += 0.0 if flow is None else float(np.abs(flow).max())
    bits = bits_of(goal.n)
    one = (largest or 1.0) / 2.0 ** (bits - 1 - goal.n.bit_length())
    costs = {size: np.rint(tables[size] ** power / one).astype(np.int64) for size in sizes}
    flowing = None if flow is None else np.rint(flow / one).astype(np.int64)
    shared = None if whole is None else np.rint(whole / one).astype(np.int64)
    return Criterion(costs.__getitem__, link=_links(constraints, 1 << bits, flowing), shared=shared)


def bits_of(n: int) -> int:
    """How many bits a sum over n items may take below the count of neighbours that are alike."""
    return 59 - n.bit_length()


def _grain(goal: Goal) -> float:
    """The grain of deviations: the same whatever the constraints are."""
    return _largest(goal) / 2.0 ** (bits_of(goal.n) - 2 - goal.n.bit_length())


def _largest(goal: Goal) -> float:
    """The largest value or target, over sides of every size."""
    targets = 0.0 if goal.follows is None else _largest_target(goal.follows, goal.n)
    return max(float(np.abs(goal.rows).max()), targets) * max(1.0, goal.rows.shape[1] ** 0.5) or 1.0


@lru_cache(maxsize=64)
def _largest_target(template: Template, n: int) -> float:
    return max(float(np.abs(template.samples(size)).max()) for size in range(1, n + 1))


def _snap(goal: Goal, size: int, one: float) -> Longs:
    """Deviations in grains, shape (n, size); values and targets are rounded first, so that equal sums stay equal."""
    rows, targets = np.rint(goal.rows / one), np.rint(goal.targets(size).reshape(size, -1) / one)
    return np.rint(distances(rows[:, np.newaxis], targets)).astype(np.int64)


def _minor(goal: Goal, size: int) -> Longs:
    """Squares on a coarser grain in the high bits; in the low ones, how far value and target differ in rank."""
    length = goal.n.bit_length()
    one = _largest(goal) / 2.0 ** ((56 - 4 * length) // 2)
    squares = _snap(goal, size, one) ** 2
    if goal.rows.shape[1] > 1:
        return squares << (3 * length)
    value = np.unique(goal.rows[:, 0], return_inverse=True)[1]
    target = np.unique(goal.targets(size), return_inverse=True)[1]
    return np.asarray((squares << (3 * length)) + (value[:, np.newaxis] - target) ** 2)


def _links(constraints: Constraints, alike: int, flow: Longs | None) -> Longs | None:
    """Flow, and what it costs two neighbours that are to be avoided."""
    barred, unwanted = constraints.barred(), constraints.alike()
    if barred is None and unwanted is None:
        return flow
    links = np.zeros((constraints.n, constraints.n), dtype=np.int64)
    if unwanted is not None:
        links[unwanted] = alike
    if barred is not None:
        links[barred] = NEVER
    return links if flow is None else links + flow


# All subsets of a few units, as bit masks, with what they hold.


@dataclass(frozen=True, eq=False)
class Subsets:
    """The 2^u subsets of u units; subset number s holds unit k when bit k of s is set.

    ``parts``: the units. ``lengths``: shape (u,): what limits count, of each unit.
    """

    parts: Units
    lengths: Floats

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

    @cached_property
    def needs(self) -> list[int]:
        """For each unit, the subset of those that must stand before it."""
        return [mask_of(np.flatnonzero(column)) for column in self.parts.earlier.T]

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
    """The sum of each subset of some values, shape (2^u,).

    Examples
    --------
    >>> subset_sums([1, 5])
    array([0., 1., 5., 6.])
    """
    out = np.zeros(1)
    for value in values:
        out = np.concatenate([out, out + value])
    return out


def mask_of(units: Iterable[int]) -> int:
    """The subset of some units."""
    return sum(1 << int(unit) for unit in units)


# One side: the cheapest way to lay each subset of units along its positions.

CHUNK = 4096  # subsets at once: what they need stays in the cache
AT_ONCE = 1 << 18  # entries up to which one step for all units is quicker than one for each


@dataclass(frozen=True, eq=False)
class Side:
    """A side to be filled.

    ``subsets``: of the units that may stand on it. ``cost``, ``minor``: shape (units, size): each unit by the position
    it starts at. ``link``: shape (units, units): the second right after the first; None where neighbours do not matter.
    ``room``: the most it may hold.
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

    @cached_property
    def ends(self) -> tuple[Longs, Longs | None]:
        """The two numbers of every subset at the end of the side: shape (2^u,), or (u, 2^u) by the first unit."""
        return _fill_ends(self)

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
            total = criterion.join(total, step) if isinstance(criterion, Criterion) else total + step
            total = cap(total)
        out[unit, :last] = cap(total)
    return out


def fill(side: Side) -> tuple[Longs, Longs | None]:
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


def _fill_ends(side: Side) -> tuple[Longs, Longs | None]:
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
    if side.at_once and len(side.cost) ** 2 * len(sets) <= AT_ONCE:
        _extend_at_once(side, first, sets)
        return
    here = first[..., sets]
    minor = None if second is None else second[..., sets]
    start = side.size - side.subsets.items[sets]
    for unit in range(len(side.cost) if len(sets) else 0):
        position = start - int(side.subsets.parts.lengths[unit])
        possible = (sets & ((1 << unit) | side.subsets.needs[unit]) == 0) & (position >= 0)
        possible &= side.cost[unit, np.maximum(position, 0)] < NEVER
        if possible.any():
            total, tie = _behind(side, here[..., possible], None if minor is None else minor[..., possible], unit)
            _place(side, first, second, sets[possible] | (1 << unit), unit, position[possible], total, tie)


def _extend_at_once(side: Side, first: Longs, sets: Longs) -> None:
    """The same for single items: all of them before all of some subsets, of which each holds as many."""
    if side.link is None or not len(sets):
        return
    unit = np.arange(len(side.cost))[:, np.newaxis]
    cost = side.cost[:, side.size - int(side.subsets.items[sets[0]]) - 1][:, np.newaxis]
    total = np.zeros((len(unit), 1), dtype=np.int64)
    if sets[0]:
        total = (side.link[:, :, np.newaxis] + first[:, sets]).min(axis=1)  # (unit, subsets)
    total = cap(side.criterion.join(total, cost))
    barred = (np.int64(1) << unit) | np.array(side.subsets.needs, dtype=np.int64)[:, np.newaxis]
    units, columns = np.nonzero((sets & barred == 0) & (cost < NEVER))
    first[units, sets[columns] | (np.int64(1) << units)] = total[units, columns]


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
    total = cap(side.criterion.join(total, side.cost[unit, position]))
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
    first, second = side.ends
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
            if rest > left or rest & side.subsets.needs[unit] or first[rest] >= NEVER:
                continue
            tight = first[rest] + side.cost[unit, start] == first[left]
            if tight and side.minor is not None and second is not None:
                tight = second[rest] + side.minor[unit, start] == second[left]
            if tight:
                break
        order.append(unit)
        left = rest
    return order
