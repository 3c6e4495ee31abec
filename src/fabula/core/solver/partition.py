"""Units shared out between sides: every side that there can be is filled, and sides are joined at the least cost.

Parts that cannot stand on a side in the best arrangement are left out before: each unit has a price, which a side is
paid for taking it (Lagrange's relaxation of "each unit once"). A side takes what leaves it the least to pay; what all
sides pay together is a lower bound, and a part that costs a side more than its best one by more than the best
arrangement is above the bound is in no best arrangement. Prices are found by subgradients; any give a true bound.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Bools, Floats
from fabula.core.solver import dp
from fabula.core.solver.constraints import SLACK, Constraints
from fabula.core.solver.dp import NEVER, Criterion, Longs, Numbers, Side, Subsets
from fabula.core.solver.problem import Units, positions_allowed, possible_counts, settle, side_room, side_sizes


@dataclass(frozen=True, eq=False)
class Plan:
    """So many items kept, on sides that hold so much."""

    constraints: Constraints
    subsets: Subsets
    kept: int  # how many items are kept
    room: float  # the most a side may hold

    @property
    def complete(self) -> bool:
        """Whether nothing is left out."""
        return self.kept == self.constraints.n

    @property
    def simple(self) -> bool:
        """Whether joining the sides is no work worth pruning."""
        return self.constraints.sides == 1 or (self.constraints.sides == 2 and self.complete)

    @cached_property
    def final(self) -> Longs:
        """The subsets that can be what is kept."""
        s, c = self.subsets, self.constraints
        named = dp.mask_of({int(s.parts.of[item]) for item in c.must_keep})
        sets = s.holding(self.kept)
        limit = np.inf if c.limit is None else c.limit * SLACK
        return np.asarray(sets[(sets & named == named) & (s.load[sets] <= limit)])

    @cached_property
    def sizes(self) -> range:
        """How many items a side can have, by the lengths alone."""
        return side_sizes(self.constraints, self.kept, self.room)

    def steps(self, side: int) -> list[tuple[int, int]]:
        """Pairs (items on the sides before, items on this side)."""
        low, high = self.sizes.start, self.sizes.stop - 1
        behind = self.constraints.sides - side - 1
        return [
            (begun, size)
            for begun in range(side * low, min(side * high, self.kept) + 1)
            for size in self.sizes
            if behind * low <= self.kept - begun - size <= behind * high
        ]

    def candidates(self, side: int, items: int) -> Longs:
        """The subsets with so many items that can be the sides up to this one."""
        s, sides = self.subsets, self.constraints.sides
        if side == sides - 1:
            return self.final
        sets = s.holding(items)
        least = float(s.load[-1]) - (sides - 1 - side) * self.room if self.complete else 0.0
        load = s.load[sets]
        return sets[s.is_closed[sets] & (load >= least * (1 - 1e-12)) & (load <= (side + 1) * self.room)]

    @cached_property
    def _whole(self) -> Bools | None:
        return positions_allowed(self.constraints, self.kept)

    def domain(self, side: int, begun: int, size: int) -> Bools | None:
        """Which item may stand where on a side that begins after ``begun`` items: shape (n, size)."""
        if self._whole is None:
            return None
        here = self._whole[:, begun : begun + size].copy()
        for (number, position), item in self.constraints.ends.items():
            if number != side:
                here[item] = False
            elif not -size <= position < size or not settle(here, item, position % size):
                return None
        return here


def plan(constraints: Constraints, kept: int, room: float) -> Plan:
    """A plan, with the subsets of its units."""
    parts = Units.of_items(constraints)
    lengths = np.array([constraints.weights[list(run)].sum() for run in parts.members])
    return Plan(constraints, Subsets(parts, lengths), kept, room)


# Sides joined: the cheapest way to share the units of each subset out between the sides so far and the next one.

MOST_ENTRIES = 1 << 18  # of an array of pairs of subsets
NO_SETS = np.empty(0, dtype=np.int64)


def join(
    subsets: Subsets, criterion: Criterion, before: Numbers, following: Numbers, wanted: Longs, size: int
) -> Numbers:
    """The numbers of the cheapest way for each wanted subset (w,), ``size`` of its items on the following side."""
    found = np.full_like(before, NEVER)
    held = np.bincount(np.bitwise_count(wanted), minlength=1)
    many = sum(int(number) * comb(count, size) for count, number in enumerate(held))  # with single items
    ahead, behind = (np.flatnonzero(numbers[0] < NEVER) for numbers in (before, following))
    if len(ahead) * len(behind) < 4 * many:
        _join_pairs(criterion, before, following, ahead, behind, found)
    else:
        _join_shares(subsets, criterion, before, following, wanted, size, found)
    return found.take(wanted, axis=1)


def _join_pairs(
    criterion: Criterion, before: Numbers, following: Numbers, ahead: Longs, behind: Longs, found: Numbers
) -> None:
    """Try every pair of the subsets there are on either side."""
    step = max(1, MOST_ENTRIES // max(1, len(behind)))
    for at in range(0, len(ahead), step):
        rows, columns = np.nonzero((ahead[at : at + step, np.newaxis] & behind) == 0)
        one, other = ahead[at + rows], behind[columns]
        totals = criterion.join(before.take(one, axis=1), following.take(other, axis=1))
        sets = one | other
        if len(totals) == 1:
            np.minimum.at(found[0], sets, totals[0])
            continue
        order = np.lexsort([*totals[::-1], sets])
        order = order[np.flatnonzero(np.diff(sets[order], prepend=-1))]  # the best of each subset
        dp.keep_better(found, sets[order], totals.take(order, axis=1))


def _join_shares(
    subsets: Subsets,
    criterion: Criterion,
    before: Numbers,
    following: Numbers,
    wanted: Longs,
    size: int,
    found: Numbers,
) -> None:
    """Try every part of every wanted subset."""
    for sets, parts in shares(subsets, wanted, size):
        rest = sets[:, np.newaxis] - parts
        totals = criterion.join(before[0][rest], following[0][parts])
        best = [totals.min(axis=1)]
        if len(found) > 1:
            rows, columns = np.nonzero(totals == best[0][:, np.newaxis])
            ties = before[1][rest[rows, columns]] + following[1][parts[rows, columns]]
            best.append(np.minimum.reduceat(ties, np.flatnonzero(np.diff(rows, prepend=-1))))
        dp.keep_better(found, sets, np.array([dp.cap(best[0]), *best[1:]]))


def shares(subsets: Subsets, wanted: Longs, size: int) -> Iterator[tuple[Longs, Longs]]:
    """Wanted subsets, some at a time (r,), and all parts of each that can have ``size`` items (r, c)."""
    counts = np.bitwise_count(wanted)
    held = np.unique(np.bitwise_count(subsets.holding(size)))
    for count in np.unique(counts).tolist():
        sets = wanted[counts == count]
        width = int(sets.max(initial=1)).bit_length()
        units = np.nonzero((sets[:, np.newaxis] >> np.arange(width)) & 1)[1].reshape(len(sets), count)
        bits = np.asarray(2.0**units, dtype=np.float32)  # of each subset, (r, count); exact below 2^24
        for taken in held[held <= count].tolist():
            chosen = _choices(count, taken)  # (count, c)
            step = max(1, MOST_ENTRIES // chosen.shape[1])
            for at in range(0, len(sets), step):
                yield sets[at : at + step], (bits[at : at + step] @ chosen).astype(np.int64)


@lru_cache(maxsize=32)
def _choices(count: int, taken: int) -> NDArray[np.float32]:
    """Every choice of some of ``count`` bits: a column of zeros and ones each, shape (count, c)."""
    every = np.arange(1 << count)
    chosen = every[np.bitwise_count(every) == taken]
    return np.asarray((chosen >> np.arange(count)[:, np.newaxis]) & 1, dtype=np.float32)


# Pruning: parts that cannot stand on a side in the best arrangement are left out before the sides are joined.

Key = tuple[int, int, int]  # a side, how many items stand before it, and how many on it
Singles = dict[Key, Numbers]
Excess = dict[Key, Floats]  # what each part leaves its side to pay above its best one

ROUNDS = 60
FEW = 1500  # parts per side at the first attempt
MARGIN = 1 << 24  # above the rounding of large numbers, below the grain of what they hold


def price_units(planned: Plan, single: Singles) -> tuple[Excess, float] | None:
    """What parts cost under prices found by subgradients, and a bound; None where some side has no part at all."""
    sides = planned.constraints.sides
    keys = [[key for key in single if key[0] == side] for side in range(sides)]
    sets = [np.concatenate([planned.subsets.holding(key[2]) for key in group] or [NO_SETS]) for group in keys]
    costs = [np.concatenate([single[key][0] for key in group] or [NO_SETS]).astype(np.float64) for group in keys]
    possible = [cost < NEVER for cost in costs]
    sets = [group[kept] for group, kept in zip(sets, possible, strict=True)]
    costs = [group[kept] for group, kept in zip(costs, possible, strict=True)]
    out = planned.subsets.every[-1] - planned.final  # what is left out pays nothing and is paid nothing less
    if not all(map(len, sets)) or not len(out):
        return None
    sets, costs = [*sets, out], [*costs, np.zeros(len(out))]
    price, bound = _prices(len(planned.subsets.lengths), sets, costs)
    value = dp.subset_sums(price.tolist())
    best = [float((cost - value[group]).min()) for group, cost in zip(sets, costs, strict=True)]
    excess = {key: np.asarray(single[key][0] - value[planned.subsets.holding(key[2])] - best[key[0]]) for key in single}
    return excess, bound


def _prices(units: int, sets: list[Longs], costs: list[Floats]) -> tuple[Floats, float]:
    """The prices with the highest bound that was met, and that bound."""
    scale = sum(float(cost.min()) for cost in costs) / units
    price = np.full(units, scale)
    step = max(float(np.median(cost)) - float(cost.min()) for cost in costs) / units or 1.0
    best, chosen, smoothed, stale = -np.inf, price, np.zeros(units), 0
    for _ in range(ROUNDS):
        value = dp.subset_sums(price.tolist())
        taken, bound = np.zeros(units), float(price.sum())
        for group, cost in zip(sets, costs, strict=True):
            left = cost - value[group]
            at = int(left.argmin())
            bound += float(left[at])
            taken += (int(group[at]) >> np.arange(units)) & 1
        stale = 0 if bound > best else stale + 1
        best, chosen = (bound, price) if bound > best else (best, chosen)
        if stale >= 4:
            step, stale, price = step / 2, 0, chosen
        smoothed = (1.0 - taken) + 0.5 * smoothed
        if not (taken != 1).any():
            break
        price = price + step * smoothed
    return chosen, best


def by_price(single: Singles, excess: Excess) -> Iterator[tuple[Singles, float]]:
    """Ever more parts, and how far above the bound an arrangement of them is still proven to be the best."""
    every = np.concatenate([above[above < NEVER / 4] for above in excess.values()])
    sides = 1 + max(key[0] for key in single)
    count = FEW * sides
    while True:
        limit = np.inf if count >= len(every) else float(np.partition(every, count)[count])
        yield parts_within(single, excess, limit), limit
        if count >= len(every):
            return
        count *= 6


def can_join(planned: Plan, criterion: Criterion, single: Singles, limit: int) -> bool:
    """Whether there is an arrangement of parts in which no deviation is above ``limit``."""
    within = {key: (numbers < NEVER) & (numbers & criterion.mask <= limit) for key, numbers in single.items()}
    some = {key: np.where(free, 0, NEVER) for key, free in within.items()}
    return join_sides(planned, Criterion(criterion.cost), some).best < NEVER


def parts_within(single: Singles, measure: Mapping[Key, NDArray[Any]], limit: float) -> Singles:
    """The parts of which something, such as what they leave their side to pay above its best one, is within a limit."""
    return {key: np.where(measure[key] <= limit, numbers, NEVER) for key, numbers in single.items()}


def worst_limits(planned: Plan, criterion: Criterion, single: Singles) -> Longs:
    """What the largest deviation can be, rising, from a lower bound on."""
    least = np.full(len(planned.subsets.lengths), NEVER)
    kept = [unit for unit in range(len(least)) if (planned.final >> unit & 1 == 1).all()]
    every: list[Longs] = []
    for key, numbers in single.items():
        possible = numbers[0] < NEVER
        sets, worst = planned.subsets.holding(key[2])[possible], numbers[0][possible] & criterion.mask
        every.append(np.unique(worst))
        for unit in kept:
            least[unit] = min(int(least[unit]), int(worst[sets >> unit & 1 == 1].min(initial=NEVER)))
    floor = max((int(least[unit]) for unit in kept), default=0)
    limits = np.unique(np.concatenate(every or [NO_SETS]))
    return limits[limits >= floor]


# Sides filled and joined, under one criterion.


@dataclass(frozen=True, eq=False)
class Filled:
    """Sides filled under one criterion."""

    plan: Plan
    criterion: Criterion
    single: Singles  # the numbers of each side's subsets
    joined: list[Numbers]  # for each side: the numbers of each subset (1 or 2, 2^u) on the sides up to it
    alone: Side | None = None  # the side, where there is one and nothing is left out

    @property
    def best(self) -> int:
        """The smallest number; NEVER where nothing keeps the constraints."""
        return int(self.joined[-1][0].min())


def single_sides(planned: Plan, criterion: Criterion) -> Singles:
    """The numbers of every subset on each side that there can be."""
    single: Singles = {}
    known: dict[bytes, Numbers] = {}
    for number in range(planned.constraints.sides):
        for begun, size in planned.steps(number):
            allowed = planned.domain(number, begun, size)
            if allowed is None:
                continue
            at = begun if criterion.shared is not None else 0
            key = size.to_bytes(4) + at.to_bytes(4) + allowed.tobytes()
            if key not in known:
                filled = dp.fill(dp.side(planned.subsets, criterion, allowed, planned.room, begun=begun))
                known[key] = filled.take(planned.subsets.holding(size), axis=1)
            single[number, begun, size] = known[key]
    return single


def join_sides(planned: Plan, criterion: Criterion, single: Singles) -> Filled:
    """Sides joined one after the other."""
    out: list[Numbers] = []
    last = planned.constraints.sides - 1
    closing = np.full(len(planned.subsets.every), not planned.complete)  # which leave what can be the last side
    for _, begun, size in (key for key in single if planned.complete and key[0] == last):
        here = planned.subsets.holding(size)
        closing[len(closing) - 1 - here[single[last, begun, size][0] < NEVER]] = True  # the complement of each
    for number in range(last + 1):
        kept = np.full((1 if criterion.minor is None else 2, len(closing)), NEVER)
        for begun, size in planned.steps(number):
            if (number, begun, size) not in single:
                continue
            following = spread(planned.subsets, size, single[number, begun, size])
            sets = planned.candidates(number, begun + size)
            sets = sets[closing[sets]] if number == last - 1 else sets
            if number == 0:
                found = following.take(sets, axis=1)
            else:
                before = np.where(planned.subsets.items == begun, out[-1], NEVER)
                found = join(planned.subsets, criterion, before, following, sets, size)
            dp.keep_better(kept, sets, found)
        out.append(kept)
    return Filled(planned, criterion, single, out)


def spread(subsets: Subsets, size: int, numbers: Numbers) -> Numbers:
    """The numbers of the subsets with ``size`` items, in an array over all subsets."""
    every = np.full((len(numbers), len(subsets.every)), NEVER)
    every[:, subsets.holding(size)] = numbers
    return every


def feasible(constraints: Constraints) -> bool:
    """Whether some ordering of few units keeps the constraints."""
    room = np.inf if constraints.side_limit is None else side_room(constraints)
    return shortest_side(constraints, room) is not None


def shortest_side(constraints: Constraints, room: float = np.inf) -> float | None:
    """The smallest length of the longest side, at most ``room``; None where the constraints cannot be kept."""
    every = (shortest_room(plan(constraints, kept, room)) for kept in possible_counts(constraints))
    return next((shortest for shortest in every if shortest is not None), None)


def shortest_room(planned: Plan) -> float | None:
    """The smallest length of the longest side; None where the constraints cannot be kept at all."""
    subsets, constraints = planned.subsets, planned.constraints
    link = None if constraints.apart_soft else dp.links(constraints, 0, None)
    feasible = Criterion(lambda size: np.zeros((constraints.n, size), dtype=np.int64), link=link)  # costs nothing
    lengths = np.unique(subsets.load)
    rank = np.searchsorted(lengths, subsets.load).astype(np.int64)
    single: Singles = {
        key: np.where(numbers < NEVER, rank[subsets.holding(key[2])], NEVER)
        for key, numbers in single_sides(planned, feasible).items()
    }
    longest = Criterion(lambda size: np.zeros((0, size), dtype=np.int64), mask=(1 << 20) - 1)
    limits = worst_limits(planned, longest, single)
    steps = np.unique(np.minimum(len(limits) // 500 * (3 ** np.arange(12) - 1), max(len(limits) - 1, 0)))
    for limit in limits[np.append(steps, len(limits) - 1)].tolist() if len(limits) else ():
        found = join_sides(planned, longest, parts_within(single, single, limit))
        if found.best < NEVER:
            return float(lengths[found.best])
    return None


MOST_UNITS = 18  # 2^18 subsets with 18 first units each: a quarter of a second and 80 MB
