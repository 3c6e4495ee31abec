"""The best arrangement of a few units, whatever the mix of constraints, sides and limits, and whether there is any."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np

from fabula.core.arrays import Floats, Ints, distances
from fabula.core.solver import partition
from fabula.core.solver.constraints import SLACK, Constraints
from fabula.core.solver.dp import NEVER, Criterion, Longs, Subsets, links, side, trace
from fabula.core.solver.partition import Filled, Plan
from fabula.core.solver.problem import Goal, Problem, possible_counts, side_room
from fabula.core.template import Template

# From the best numbers back to the ordering behind them.


def trace_sides(found: Filled) -> tuple[Ints, tuple[int, ...]]:
    """The ordering behind the best numbers; of those that tie, the first in the order of the items."""
    planned, subsets = found.plan, found.plan.subsets
    if found.alone is not None:
        return np.array(trace(found.alone), dtype=np.intp), (planned.kept,)
    final = planned.final
    keys = [subsets.item_masks[final], *found.joined[-1][::-1, final]]
    left = int(final[np.lexsort(keys)[0]])  # of those with the smallest numbers, the first by its items
    pieces: list[list[int]] = []
    for number in range(planned.constraints.sides - 1, -1, -1):
        begun, part = (0, left) if number == 0 else _last_side(found, number, left)
        pieces.append(_lay_side(found, number, begun, part))
        left ^= part
    pieces.reverse()
    return np.concatenate(pieces).astype(np.intp), tuple(map(len, pieces))


def _last_side(found: Filled, number: int, left: int) -> tuple[int, int]:
    """How many items stand before the last side, and its subset, in the best way for a subset."""
    planned, subsets = found.plan, found.plan.subsets
    before, goal = found.joined[number - 1], found.joined[number][:, left, np.newaxis]
    for begun, size in sorted(planned.steps(number), key=lambda step: step[1]):
        if begun + size != subsets.items[left] or (number, begun, size) not in found.single:
            continue
        following = partition.spread(subsets, size, found.single[number, begun, size])
        parts = subsets.holding(size)
        parts = parts[parts & left == parts]
        parts = parts[(found.criterion.join(before[:, left - parts], following[:, parts]) == goal).all(axis=0)]
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
    chosen = [unit for unit in range(len(subsets.lengths)) if part >> unit & 1]
    parts = subsets.parts
    members = tuple(parts.members[unit] for unit in chosen)
    earlier = parts.earlier[np.ix_(chosen, chosen)]
    few = Subsets(
        replace(parts, members=members, lengths=parts.lengths[chosen], earlier=earlier), subsets.lengths[chosen]
    )
    return trace(side(few, found.criterion, allowed, planned.room, begun=begun))


# The best arrangement of a few units, whatever the mix of constraints, sides and limits.


def solve_exactly(problem: Problem) -> tuple[Ints, tuple[int, ...]] | None:
    """The best ordering of at most ``MOST_UNITS`` units, and the sizes of its sides; None when there is none."""
    constraints = problem.constraints
    for kept in possible_counts(constraints):
        planned = partition.plan(constraints, kept, side_room(constraints))
        found = _best(problem, planned)
        if found is None and constraints.sides > 1 and constraints.side_limit is None:
            longest = partition.shortest_room(replace(planned, room=np.inf))
            found = None if longest is None else _best(problem, replace(planned, room=longest * SLACK))
        if found is not None:
            return trace_sides(found)
    return None


def _best(problem: Problem, planned: Plan) -> Filled | None:
    """All sides filled by the criteria of the goal; None where the constraints cannot be kept."""
    goal, flow, constraints = problem.goal, problem.flow, planned.constraints
    if not problem.counts_worst:
        return _optimum(planned, sum_of_costs(goal, flow, constraints, planned.sizes, planned.kept))
    bits, one = bits_of(goal.n), _grain(goal)
    whole = cache(lambda size: _snap(goal, size, one))
    worst = Criterion(whole, link=links(constraints, 1 << bits, None), mask=(1 << bits) - 1)  # the largest deviation
    if planned.simple:
        found = _optimum(planned, worst)
        limit = NEVER if found is None else found.best & worst.mask
        return None if found is None else _optimum(planned, sum_of_deviations(goal, constraints, limit))
    return _within_worst(goal, planned, worst)


def _within_worst(goal: Goal, planned: Plan, worst: Criterion) -> Filled | None:
    """The smallest sum under the smallest limit on deviations that permits an arrangement."""
    constraints = planned.constraints
    single = partition.single_sides(planned, worst)
    limits = partition.worst_limits(planned, worst, single)
    if constraints.apart is None or not constraints.apart_soft:
        at = _first(len(limits), lambda at: partition.can_join(planned, worst, single, int(limits[at])))
        return None if at is None else _optimum(planned, sum_of_deviations(goal, constraints, int(limits[at])))
    fewest = _optimum(planned, sum_of_deviations(goal, constraints, NEVER))
    known: dict[int, Filled | None] = {}

    def enough(at: int) -> bool:
        """Whether as few neighbours are alike as without a limit."""
        known[at] = _optimum(planned, sum_of_deviations(goal, constraints, int(limits[at])))
        found = known[at]
        if found is None or fewest is None:
            return False
        return found.best >> bits_of(goal.n) == fewest.best >> bits_of(goal.n)

    at = _first(len(limits), enough)
    return None if at is None else known[at]


def _first(count: int, enough: Callable[[int], bool]) -> int | None:
    """The first of some numbers that is enough, as all after it are; the first of all is tried first."""
    low, high, step = -1, 0, max(1, count // 100)  # low is not enough
    while high < count and not enough(high):
        low, high, step = high, min(high + step, count - 1) if high < count - 1 else count, step * 3
    if high >= count:
        return None
    return bisect_left(range(high), 1, low + 1, key=enough)


def _optimum(planned: Plan, criterion: Criterion) -> Filled | None:
    """All sides filled and joined; None where nothing keeps the constraints."""
    if planned.constraints.sides == 1 and planned.complete:
        allowed = planned.domain(0, 0, planned.kept)
        if allowed is None or planned.kept not in planned.sizes:
            return None
        whole = replace(side(planned.subsets, criterion, allowed, planned.room), whole=True)
        best = int(whole.ends[0][..., -1].min())
        return Filled(planned, criterion, {}, [np.array([[best]])], whole) if best < NEVER else None
    single = partition.single_sides(planned, criterion)
    if planned.simple:
        found = partition.join_sides(planned, criterion, single)
        return found if found.best < NEVER else None
    priced = partition.price_units(planned, single)
    if priced is None:
        return None
    excess, bound = priced
    for some, limit in partition.by_price(single, excess):
        found = partition.join_sides(planned, criterion, some)
        if found.best < NEVER:
            needed = found.best - bound + partition.MARGIN
            if needed <= limit:
                return found
            return partition.join_sides(planned, criterion, partition.parts_within(single, excess, needed))
    return None


def sum_of_deviations(goal: Goal, constraints: Constraints, worst: int) -> Criterion:
    """The sum of deviations, none above ``worst``; then that of their squares; then the order of values and targets."""
    bits, one = bits_of(goal.n), _grain(goal)

    @cache
    def cost(size: int) -> Longs:
        deviations = _snap(goal, size, one)
        return np.asarray(np.where(deviations <= worst, deviations, NEVER))

    return Criterion(cost, cache(lambda size: _minor(goal, size)), links(constraints, 1 << bits, None))


def sum_of_costs(goal: Goal, flow: Floats | None, constraints: Constraints, sizes: range, kept: int) -> Criterion:
    """Squared deviations, or the costs of a table, plus flow, where so many items are kept on sides of some sizes."""
    power = 1 if goal.follows is None else 2
    tables = {size: goal.on_side(size) for size in (sizes if power == 1 else range(1, goal.n + 1))}
    largest = max((float(np.abs(table).max()) for table in tables.values()), default=0.0) ** power
    whole = None if goal.whole is None else goal.whole(kept)
    largest += 0.0 if whole is None else float(np.abs(whole).max())
    largest += 0.0 if flow is None else float(np.abs(flow).max())
    bits = bits_of(goal.n)
    one = _power(largest or 1.0, bits - 1 - goal.n.bit_length())
    costs = {size: np.rint(tables[size] ** power / one).astype(np.int64) for size in sizes}
    flowing = None if flow is None else np.rint(flow / one).astype(np.int64)
    shared = None if whole is None else np.rint(whole / one).astype(np.int64)
    return Criterion(costs.__getitem__, link=links(constraints, 1 << bits, flowing), shared=shared)


def bits_of(n: int) -> int:
    """How many bits a sum over n items may take below the count of neighbours that are alike."""
    return 59 - n.bit_length()


def _grain(goal: Goal) -> float:
    """The grain of deviations: the same whatever the constraints are."""
    return _power(_largest(goal), bits_of(goal.n) - 2 - goal.n.bit_length())


def _power(largest: float, bits: int) -> float:
    """The grain in which a number takes at most so many bits: a power of two, in which what was quantised is whole."""
    return float(np.ldexp(1.0, np.frexp(largest)[1] - bits))


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
    one = _power(_largest(goal), (56 - 4 * length) // 2)
    squares = _snap(goal, size, one) ** 2
    if goal.rows.shape[1] > 1:
        return squares << (3 * length)
    value = np.unique(goal.rows[:, 0], return_inverse=True)[1]
    target = np.unique(goal.targets(size), return_inverse=True)[1]
    return np.asarray((squares << (3 * length)) + (value[:, np.newaxis] - target) ** 2)
