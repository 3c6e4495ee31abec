"""The best arrangement of a few units, whatever the mix of constraints, sides and limits."""

from __future__ import annotations

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
    """The smallest sum under the smallest limit on deviations that permits an arrangement.

    The limit is tried from below: the lower bound that parts give is nearly always enough.
    """
    constraints = planned.constraints
    alike = 0
    if constraints.apart_soft and constraints.apart is not None:
        found = _optimum(planned, sum_of_deviations(goal, constraints, NEVER))
        alike = 0 if found is None else found.best >> bits_of(goal.n)
    limits = worst_limits(planned, worst, single_sides(planned, worst))
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
