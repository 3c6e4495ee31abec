"""The best arrangement of a few units, whatever the mix of constraints, sides and limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.arranging.constraints import SLACK, Constraints
from fabula.core.arranging.exact.criteria import (
    NEVER,
    Criterion,
    Longs,
    bits_of,
    feasibility,
    sum_of_deviations,
    weighed_sum,
    worst_deviation,
)
from fabula.core.arranging.exact.joining import NO_SETS, Numbers, join, keep_better, shares
from fabula.core.arranging.exact.plan import Plan, plan
from fabula.core.arranging.exact.pruning import Singles, by_price, priced, within, worst_limits
from fabula.core.arranging.exact.side import Side, fill, side, trace
from fabula.core.arranging.exact.subsets import Subsets
from fabula.core.arranging.goal import Goal
from fabula.core.arranging.limits import kept_counts, side_room
from fabula.core.arranging.units import Units
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

MOST_UNITS = 18  # 2^18 subsets with 18 first units each: a quarter of a second and 80 MB


@dataclass(frozen=True, eq=False)
class Filled:
    """Sides filled under one criterion.

    Attributes
    ----------
    plan, criterion
        What was filled, and what was minimised.
    single
        For (side, items before it, its size): both numbers of its subsets, where that side can be.
    joined
        For each side: both numbers of each subset (2^u,) on the sides up to it.
    """

    plan: Plan
    criterion: Criterion
    single: Singles
    joined: list[Numbers]

    @property
    def best(self) -> int:
        """The smallest number; NEVER where nothing keeps the constraints."""
        return int(self.joined[-1][0].min())


def solve_exactly(goal: Goal, flow: Floats | None, constraints: Constraints) -> tuple[Ints, tuple[int, ...]] | None:
    """The best ordering of at most ``MOST_UNITS`` units, and the sizes of its sides; None when there is none.

    Of orderings that tie in every criterion, the first by the smallest index: pass the items in an order that means
    something.
    """
    for kept in kept_counts(constraints):
        planned = plan(constraints, kept, side_room(constraints))
        found = _best(goal, flow, planned)
        if found is None and constraints.sides > 1 and constraints.side_limit is None:
            longest = shortest_room(replace_room(planned, np.inf))
            found = None if longest is None else _best(goal, flow, replace_room(planned, longest * SLACK))
        if found is not None:
            return traced(found)
    return None


def replace_room(planned: Plan, room: float) -> Plan:
    """The same plan with sides that hold so much."""
    return Plan(planned.constraints, planned.subsets, planned.kept, room)


def shortest_room(planned: Plan) -> float | None:
    """The smallest length of the longest side; None where the constraints cannot be kept at all."""
    subsets = planned.subsets
    lengths = np.unique(subsets.load)
    rank = np.searchsorted(lengths, subsets.load).astype(np.int64)
    single = {
        key: (np.where(numbers[0] < NEVER, rank[subsets.of_items.get(key[2], NO_SETS)], NEVER), None)
        for key, numbers in _singles(planned, feasibility(planned.constraints)).items()
    }
    longest = Criterion(lambda size: np.zeros((0, size), dtype=np.int64), mask=(1 << 20) - 1)
    limits = worst_limits(planned, longest, single)
    steps = np.unique(np.minimum(len(limits) // 500 * (3 ** np.arange(12) - 1), max(len(limits) - 1, 0)))
    for limit in limits[np.append(steps, len(limits) - 1)].tolist() if len(limits) else ():
        some = {key: (np.where(numbers[0] <= limit, numbers[0], NEVER), None) for key, numbers in single.items()}
        found = Filled(planned, longest, some, _joined(planned, longest, some))
        if found.best < NEVER:
            return float(lengths[found.best])
    return None


def _best(goal: Goal, flow: Floats | None, planned: Plan) -> Filled | None:
    """All sides filled by the criteria of the goal; None where the constraints cannot be kept."""
    constraints = planned.constraints
    if flow is not None or goal.follows is None:
        return _optimum(planned, weighed_sum(goal, flow, constraints))
    worst = worst_deviation(goal, constraints)
    if planned.simple:
        found = _optimum(planned, worst)
        limit = NEVER if found is None else found.best & worst.mask
        return None if found is None else _optimum(planned, sum_of_deviations(goal, constraints, limit))
    return _within_worst(goal, planned, worst)


def _within_worst(goal: Goal, planned: Plan, worst: Criterion) -> Filled | None:
    """The smallest sum under the smallest limit on deviations that permits an arrangement.

    The limit is tried from below: the lower bound that parts give is nearly always enough.
    """
    constraints = planned.constraints
    alike = 0
    if constraints.apart_soft and constraints.apart is not None:
        found = _optimum(planned, sum_of_deviations(goal, constraints, NEVER))
        alike = 0 if found is None else found.best >> bits_of(goal.n)
    limits = worst_limits(planned, worst, _singles(planned, worst))
    known: dict[int, Filled | None] = {}

    def enough(at: int) -> bool:
        found = _optimum(planned, sum_of_deviations(goal, constraints, int(limits[at])))
        known[at] = found if found is not None and found.best >> bits_of(goal.n) == alike else None
        return known[at] is not None

    low, high, step = -1, 0, max(1, len(limits) // 100)  # limits[low] is too small
    while high < len(limits) and not enough(high):
        low, high, step = high, min(high + step, len(limits) - 1) if high < len(limits) - 1 else len(limits), step * 3
    while high < len(limits) and high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return known.get(high)


def _optimum(planned: Plan, criterion: Criterion) -> Filled | None:
    """All sides filled and joined; None where nothing keeps the constraints."""
    single = _singles(planned, criterion)
    if planned.simple:
        found = Filled(planned, criterion, single, _joined(planned, criterion, single))
        return found if found.best < NEVER else None
    prices = priced(planned, single)
    for some, proven in by_price(single, prices) if prices is not None else ():
        found = Filled(planned, criterion, some, _joined(planned, criterion, some))
        if found.best < NEVER and prices is not None:
            if proven(found.best):
                return found
            some = within(single, prices, found.best)
            return Filled(planned, criterion, some, _joined(planned, criterion, some))
    return None


def _singles(planned: Plan, criterion: Criterion) -> Singles:
    """Both numbers of every subset on each side that there can be."""
    single: Singles = {}
    known: dict[bytes, Numbers] = {}
    for number in range(planned.constraints.sides):
        for begun, size in planned.steps(number):
            allowed = planned.allowed(number, begun, size)
            if allowed is None:
                continue
            key = size.to_bytes(4) + allowed.tobytes()
            if key not in known:
                first, second = fill(side(planned.subsets, criterion, allowed, planned.room))
                here = planned.subsets.of_items.get(size, NO_SETS)
                known[key] = first[here], None if second is None else second[here]
            single[number, begun, size] = known[key]
    return single


def _joined(planned: Plan, criterion: Criterion, single: Singles) -> list[Numbers]:
    """Both numbers of each subset on the sides up to each."""
    out: list[Numbers] = []
    for number in range(planned.constraints.sides):
        kept = _nothing(planned.subsets, criterion)
        for begun, size in planned.steps(number):
            if (number, begun, size) not in single:
                continue
            following = _spread(planned.subsets, criterion, size, single[number, begun, size])
            sets = planned.wanted(number, begun + size)
            if number == 0:
                total, minor = following[0][sets], None if following[1] is None else following[1][sets]
            else:
                before = _with_items(planned.subsets, out[-1], begun)
                total, minor = join(planned.subsets, criterion, before, following, sets, size)
            keep_better(kept, sets, total, minor)
        out.append(kept)
    return out


def _nothing(subsets: Subsets, criterion: Criterion) -> Numbers:
    shape = subsets.every.shape
    return np.full(shape, NEVER), None if criterion.minor is None else np.full(shape, NEVER)


def _spread(subsets: Subsets, criterion: Criterion, size: int, numbers: Numbers) -> Numbers:
    """The numbers of the subsets with ``size`` items, in arrays over all subsets."""
    first, second = _nothing(subsets, criterion)
    here = subsets.of_items.get(size, NO_SETS)
    first[here] = numbers[0]
    if second is not None and numbers[1] is not None:
        second[here] = numbers[1]
    return first, second


def _with_items(subsets: Subsets, numbers: Numbers, items: int) -> Numbers:
    """The numbers of those subsets alone that hold so many items."""
    return np.where(subsets.items == items, numbers[0], NEVER), numbers[1]


def traced(found: Filled) -> tuple[Ints, tuple[int, ...]]:
    """The ordering behind the best numbers; of those that tie, the first in the order of the items."""
    planned, subsets = found.plan, found.plan.subsets
    first, second = found.joined[-1]
    final = planned.final
    left = int(_least(subsets, final, first[final], None if second is None else second[final]))
    pieces: list[list[int]] = []
    for number in range(planned.constraints.sides - 1, -1, -1):
        begun, part = (0, left) if number == 0 else _last_side(found, number, left)
        pieces.append(_laid(found, number, begun, part))
        left ^= part
    pieces.reverse()
    sizes = tuple(map(len, pieces))
    return np.concatenate(pieces).astype(np.intp), sizes if len(sizes) > 1 else ()


def _least(subsets: Subsets, sets: Longs, first: Longs, second: Longs | None) -> int:
    """Of the subsets with the smallest numbers, the first by its items."""
    keys = [subsets.item_masks[sets], first] if second is None else [subsets.item_masks[sets], second, first]
    return int(sets[np.lexsort(keys)[0]])


def _last_side(found: Filled, number: int, left: int) -> tuple[int, int]:
    """How many items stand before the last side, and its subset, in the best way for a subset."""
    planned, subsets = found.plan, found.plan.subsets
    goal = tuple(None if x is None else int(x[left]) for x in found.joined[number])
    for begun, size in sorted(planned.steps(number), key=lambda step: step[1]):
        if begun + size != subsets.items[left] or (number, begun, size) not in found.single:
            continue
        following = _spread(subsets, found.criterion, size, found.single[number, begun, size])
        before = found.joined[number - 1]
        parts = np.concatenate([p.ravel() for _, p in shares(subsets, np.array([left]), size)])
        parts = parts[subsets.items[parts] == size]
        tight = found.criterion.joined(before[0][left - parts], following[0][parts]) == goal[0]
        if before[1] is not None and following[1] is not None:
            tight &= before[1][left - parts] + following[1][parts] == goal[1]
        parts = parts[tight]
        if len(parts):
            return begun, int(parts[np.argmin(subsets.item_masks[parts])])
    raise RuntimeError("the sides do not add up to what was found")


def _laid(found: Filled, number: int, begun: int, part: int) -> list[int]:
    """The items of a side, in order."""
    planned, subsets = found.plan, found.plan.subsets
    size = int(subsets.items[part])
    allowed = planned.allowed(number, begun, size)
    if allowed is None:
        raise RuntimeError("a side stands where it cannot")
    whole = side(subsets, found.criterion, allowed, planned.room)
    chosen = [unit for unit in range(len(whole.cost)) if part >> unit & 1]
    order = trace(_restricted(whole, chosen))
    return [item for unit in order for item in subsets.parts.members[chosen[unit]]]


def _restricted(whole: Side, chosen: list[int]) -> Side:
    """The same side for some of its units alone."""
    parts = whole.subsets.parts
    few = Units(
        tuple(parts.members[unit] for unit in chosen),
        parts.of,
        parts.offset,
        parts.lengths[chosen],
        parts.earlier[np.ix_(chosen, chosen)],
    )
    return Side(
        Subsets(few, whole.subsets.lengths[chosen]),
        whole.criterion,
        whole.cost[chosen],
        None if whole.minor is None else whole.minor[chosen],
        None if whole.link is None else whole.link[np.ix_(chosen, chosen)],
        whole.room,
    )
