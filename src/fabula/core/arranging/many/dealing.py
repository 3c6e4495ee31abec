"""Dealing: items on sides by their lengths alone, the longest first, for sides that are hard to fill."""

from __future__ import annotations

import heapq

import numpy as np

from fabula.core.arranging.goal import Goal
from fabula.core.essence import Floats
from fabula.core.matching import match_sorted
from fabula.core.ordering import Ints

MOST_ASSIGNED = 1000  # items on a side that are laid by assignment


def dealt(lengths: Floats, sides: int) -> list[Ints]:
    """Which items each side gets: the longest first, always to the side that holds least.

    Examples
    --------
    >>> [one.tolist() for one in dealt(np.array([5.0, 1.0, 2.0, 2.0]), 2)]
    [[0], [1, 2, 3]]
    """
    loads = [(0.0, side) for side in range(sides)]
    members: list[list[int]] = [[] for _ in range(sides)]
    for item in np.argsort(-lengths, kind="stable").tolist():
        load, side = loads[0]
        heapq.heapreplace(loads, (load + float(lengths[item]), side))
        members[side].append(item)
    return [np.sort(np.array(one, dtype=np.intp)) for one in members]


def laid_alone(goal: Goal, items: Ints, begun: int, kept: int) -> Ints:
    """Items laid on a side by themselves, which begins after ``begun`` of all that are kept."""
    m = len(items)
    if goal.follows is not None and goal.rows.shape[1] == 1:
        return items[match_sorted(goal.rows[items, 0], goal.targets(m))]
    if m > MOST_ASSIGNED:
        return items
    from scipy.optimize import linear_sum_assignment

    mine = goal.taken(items)
    costs = mine.alone(m) + mine.shared(kept)[:, begun : begun + m]
    places, numbers = linear_sum_assignment(costs.T)
    ordering = np.empty(m, dtype=np.intp)
    ordering[places] = items[numbers]
    return ordering
