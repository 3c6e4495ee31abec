"""Whether constraints can be kept at all, and how short the longest side can be."""

from __future__ import annotations

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.exact.criteria import NEVER, Criterion, feasibility
from fabula.core.arranging.exact.filling import Filled, joined, single_sides
from fabula.core.arranging.exact.joining import NO_SETS
from fabula.core.arranging.exact.plan import Plan, plan
from fabula.core.arranging.exact.pruning import Singles, worst_limits
from fabula.core.arranging.limits import kept_counts, side_room


def feasible(constraints: Constraints) -> bool:
    """Whether some ordering of few units keeps the constraints.

    Examples
    --------
    >>> feasible(Constraints(2, before=[(0, 1)])), feasible(Constraints(2, before=[(0, 1)], fixed={0: 1}))
    (True, False)
    """
    if constraints.side_limit is None:
        return shortest_side(constraints) is not None
    for kept in kept_counts(constraints):
        shortest = shortest_room(plan(constraints, kept, side_room(constraints)))
        if shortest is not None:
            return True
    return False


def shortest_side(constraints: Constraints) -> float | None:
    """The smallest length of the longest side that the constraints permit; None where they cannot be kept."""
    for kept in kept_counts(constraints):
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
        found = Filled(planned, longest, some, joined(planned, longest, some))
        if found.best < NEVER:
            return float(lengths[found.best])
    return None
