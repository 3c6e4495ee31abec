"""The best arrangement of a few units, whatever the mix of constraints, sides and limits, and whether there is any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fabula.core.arrays import Ints
from fabula.core.solver.constraints import Constraints
from fabula.core.solver.domains import Units, possible_counts, side_room
from fabula.core.solver.dp import (
    NEVER,
    Criterion,
    Longs,
    Side,
    Subsets,
    bits_of,
    feasibility,
    side,
    sum_of_costs,
    sum_of_deviations,
    trace,
    worst_deviation,
)
from fabula.core.solver.kinds import SLACK
from fabula.core.solver.partition import (
    MARGIN,
    NO_SETS,
    Filled,
    Plan,
    Singles,
    by_price,
    can_join,
    join_sides,
    parts_within,
    plan,
    price_units,
    single_sides,
    spread,
    worst_limits,
)
from fabula.core.solver.problem import Goal, Problem

# Whether constraints can be kept at all, and how short the longest side can be.


def feasible(constraints: Constraints) -> bool:
    """Whether some ordering of few units keeps the constraints.

    Examples
    --------
    >>> feasible(Constraints(2, before=[(0, 1)])), feasible(Constraints(2, before=[(0, 1)], fixed={0: 1}))
    (True, False)
    """
    if constraints.side_limit is None:
        return shortest_side(constraints) is not None
    for kept in possible_counts(constraints):
        shortest = shortest_room(plan(constraints, kept, side_room(constraints)))
        if shortest is not None:
            return True
    return False


def shortest_side(constraints: Constraints) -> float | None:
    """The smallest length of the longest side that the constraints permit; None where they cannot be kept."""
    for kept in possible_counts(constraints):
        shortest = shortest_room(plan(constraints, kept, np.inf))
        if shortest is not None:
            return shortest
    return None


def shortest_room(planned: Plan) -> float | None:
    """The smallest length of the longest side; None where the constraints cannot be kept at all."""
    subsets = planned.subsets
    lengths = np.unique(subsets.load)
    rank = np.searchsorted(lengths, subsets.load).astype(np.int64)
    single: Singles = {
        key: (np.where(numbers[0] < NEVER, rank[subsets.of_items.get(key[2], NO_SETS)], NEVER), None)
        for key, numbers in single_sides(planned, feasibility(planned.constraints)).items()
    }
    longest = Criterion(lambda size: np.zeros((0, size), dtype=np.int64), mask=(1 << 20) - 1)
    limits = worst_limits(planned, longest, single)
    steps = np.unique(np.minimum(len(limits) // 500 * (3 ** np.arange(12) - 1), max(len(limits) - 1, 0)))
    for limit in limits[np.append(steps, len(limits) - 1)].tolist() if len(limits) else ():
        some: Singles = {
            key: (np.where(numbers[0] <= limit, numbers[0], NEVER), None) for key, numbers in single.items()
        }
        found = Filled(planned, longest, some, join_sides(planned, longest, some))
        if found.best < NEVER:
            return float(lengths[found.best])
    return None


# From the best numbers back to the ordering behind them.


def trace_sides(found: Filled) -> tuple[Ints, tuple[int, ...]]:
    """The ordering behind the best numbers; of those that tie, the first in the order of the items."""
    planned, subsets = found.plan, found.plan.subsets
    if found.alone is not None:
        members = subsets.parts.members
        return np.array([item for unit in trace(found.alone) for item in members[unit]], dtype=np.intp), ()
    first, second = found.joined[-1]
    final = planned.final
    left = int(_least(subsets, final, first[final], None if second is None else second[final]))
    pieces: list[list[int]] = []
    for number in range(planned.constraints.sides - 1, -1, -1):
        begun, part = (0, left) if number == 0 else _last_side(found, number, left)
        pieces.append(_lay_side(found, number, begun, part))
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
        following = spread(subsets, found.criterion, size, found.single[number, begun, size])
        before = found.joined[number - 1]
        parts = subsets.of_items.get(size, NO_SETS)
        parts = parts[parts & left == parts]
        tight = found.criterion.join(before[0][left - parts], following[0][parts]) == goal[0]
        if before[1] is not None and following[1] is not None:
            tight &= before[1][left - parts] + following[1][parts] == goal[1]
        parts = parts[tight]
        if len(parts):
            return begun, int(parts[np.argmin(subsets.item_masks[parts])])
    raise RuntimeError("the sides do not add up to what was found")


def _lay_side(found: Filled, number: int, begun: int, part: int) -> list[int]:
    """The items of a side, in order."""
    planned, subsets = found.plan, found.plan.subsets
    size = int(subsets.items[part])
    allowed = planned.domain(number, begun, size)
    if allowed is None:
        raise RuntimeError("a side stands where it cannot")
    whole = side(subsets, found.criterion, allowed, planned.room, begun=begun)
    chosen = [unit for unit in range(len(whole.cost)) if part >> unit & 1]
    order = trace(_restrict_side(whole, chosen))
    return [item for unit in order for item in subsets.parts.members[chosen[unit]]]


def _restrict_side(whole: Side, chosen: list[int]) -> Side:
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


# The best arrangement of a few units, whatever the mix of constraints, sides and limits.

MOST_UNITS = 18  # 2^18 subsets with 18 first units each: a quarter of a second and 80 MB


def solve_exactly(problem: Problem) -> tuple[Ints, tuple[int, ...]] | None:
    """The best ordering of at most ``MOST_UNITS`` units, and the sizes of its sides; None when there is none.

    Of orderings that tie in every criterion, the first by the smallest index: pass the items in an order that means
    something.
    """
    constraints = problem.constraints
    for kept in possible_counts(constraints):
        planned = plan(constraints, kept, side_room(constraints))
        found = _best(problem, planned)
        if found is None and constraints.sides > 1 and constraints.side_limit is None:
            longest = shortest_room(replace(planned, room=np.inf))
            found = None if longest is None else _best(problem, replace(planned, room=longest * SLACK))
        if found is not None:
            return trace_sides(found)
    return None


def _best(problem: Problem, planned: Plan) -> Filled | None:
    """All sides filled by the criteria of the goal; None where the constraints cannot be kept."""
    goal, flow, constraints = problem.goal, problem.flow, planned.constraints
    if not problem.counts_worst:
        return _optimum(planned, sum_of_costs(goal, flow, constraints, planned.sizes, planned.kept))
    worst = worst_deviation(goal, constraints)
    if planned.simple:
        found = _optimum(planned, worst)
        limit = NEVER if found is None else found.best & worst.mask
        return None if found is None else _optimum(planned, sum_of_deviations(goal, constraints, limit))
    return _within_worst(goal, planned, worst)


def _within_worst(goal: Goal, planned: Plan, worst: Criterion) -> Filled | None:
    """The smallest sum under the smallest limit on deviations that permits an arrangement."""
    constraints = planned.constraints
    single = single_sides(planned, worst)
    limits = worst_limits(planned, worst, single)
    if constraints.apart is None or not constraints.apart_soft:
        at = _first(len(limits), lambda at: can_join(planned, worst, single, int(limits[at])))
        return None if at is None else _optimum(planned, sum_of_deviations(goal, constraints, int(limits[at])))
    fewest = _optimum(planned, sum_of_deviations(goal, constraints, NEVER))
    known: dict[int, Filled | None] = {}

    def enough(at: int) -> bool:
        """Whether as few neighbours are alike as without a limit."""
        known[at] = _optimum(planned, sum_of_deviations(goal, constraints, int(limits[at])))
        found = known[at]
        return None not in (found, fewest) and _count_alike(goal, found) == _count_alike(goal, fewest)

    at = _first(len(limits), enough)
    return None if at is None else known[at]


def _count_alike(goal: Goal, found: Filled | None) -> int:
    """How many neighbours are alike."""
    return -1 if found is None else found.best >> bits_of(goal.n)


def _first(count: int, enough: Callable[[int], bool]) -> int | None:
    """The first of some numbers that is enough, as all after it are; the first of all is tried first."""
    low, high, step = -1, 0, max(1, count // 100)  # low is not enough
    while high < count and not enough(high):
        low, high, step = high, min(high + step, count - 1) if high < count - 1 else count, step * 3
    if high >= count:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _optimum(planned: Plan, criterion: Criterion) -> Filled | None:
    """All sides filled and joined; None where nothing keeps the constraints."""
    if planned.constraints.sides == 1 and planned.complete:
        return _fill_alone(planned, criterion)
    single = single_sides(planned, criterion)
    if planned.simple:
        found = Filled(planned, criterion, single, join_sides(planned, criterion, single))
        return found if found.best < NEVER else None
    prices = price_units(planned, single)
    for some, limit in by_price(single, prices) if prices is not None else ():
        found = Filled(planned, criterion, some, join_sides(planned, criterion, some))
        if found.best < NEVER and prices is not None:
            if found.best - prices.bound + MARGIN <= limit:
                return found
            some = parts_within(single, prices, found.best)
            return Filled(planned, criterion, some, join_sides(planned, criterion, some))
    return None


def _fill_alone(planned: Plan, criterion: Criterion) -> Filled | None:
    """One side of everything filled; None where nothing keeps the constraints."""
    allowed = planned.domain(0, 0, planned.kept)
    if allowed is None or planned.kept not in planned.sizes:
        return None
    whole = side(planned.subsets, criterion, allowed, planned.room)
    best = int(whole.ends[0][..., -1].min())
    return Filled(planned, criterion, {}, [(np.array([best]), None)], whole) if best < NEVER else None
