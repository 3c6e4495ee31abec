"""The best arrangement of a few units, whatever the mix of constraints, sides and limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fabula.core.arranging.constraints import SLACK, Constraints
from fabula.core.arranging.exact.criteria import (
    NEVER,
    Criterion,
    bits_of,
    sum_of_deviations,
    weighed_sum,
    worst_deviation,
)
from fabula.core.arranging.exact.feasible import shortest_room
from fabula.core.arranging.exact.filling import Filled, joined, single_sides
from fabula.core.arranging.exact.plan import Plan, plan
from fabula.core.arranging.exact.possible import can_join
from fabula.core.arranging.exact.pruning import MARGIN, by_price, priced, within, worst_limits
from fabula.core.arranging.exact.tracing import traced
from fabula.core.arranging.goal import Goal
from fabula.core.arranging.limits import kept_counts, side_room
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

MOST_UNITS = 18  # 2^18 subsets with 18 first units each: a quarter of a second and 80 MB


def solve_exactly(goal: Goal, flow: Floats | None, constraints: Constraints) -> tuple[Ints, tuple[int, ...]] | None:
    """The best ordering of at most ``MOST_UNITS`` units, and the sizes of its sides; None when there is none.

    Of orderings that tie in every criterion, the first by the smallest index: pass the items in an order that means
    something.
    """
    for kept in kept_counts(constraints):
        planned = plan(constraints, kept, side_room(constraints))
        found = _best(goal, flow, planned)
        if found is None and constraints.sides > 1 and constraints.side_limit is None:
            longest = shortest_room(replace(planned, room=np.inf))
            found = None if longest is None else _best(goal, flow, replace(planned, room=longest * SLACK))
        if found is not None:
            return traced(found)
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
        return None not in (found, fewest) and _alike(goal, found) == _alike(goal, fewest)

    at = _first(len(limits), enough)
    return None if at is None else known[at]


def _alike(goal: Goal, found: Filled | None) -> int:
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
    single = single_sides(planned, criterion)
    if planned.simple:
        found = Filled(planned, criterion, single, joined(planned, criterion, single))
        return found if found.best < NEVER else None
    prices = priced(planned, single)
    for some, limit in by_price(single, prices) if prices is not None else ():
        found = Filled(planned, criterion, some, joined(planned, criterion, some))
        if found.best < NEVER and prices is not None:
            if found.best - prices.bound + MARGIN <= limit:
                return found
            some = within(single, prices, found.best)
            return Filled(planned, criterion, some, joined(planned, criterion, some))
    return None
