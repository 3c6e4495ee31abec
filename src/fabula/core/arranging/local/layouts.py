"""Layouts: the sizes that sides can have, each with a lower bound that tells which to try first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.goal import Goal
from fabula.core.arranging.limits import side_sizes
from fabula.core.arranging.local.bounds import position_bound
from fabula.core.arranging.local.problem import Problem, pose
from fabula.core.essence import Floats
from fabula.core.matching import match_assignment
from fabula.errors import ConstraintError

MOST_LAYOUTS = 400


@dataclass(frozen=True, eq=False)
class Layout:
    """Sides of given sizes.

    Attributes
    ----------
    problem
        The costs: deviations, or what is weighed against flow.
    worst
        No largest deviation is below it; 0 where it does not count.
    total
        No sum of position costs is below it.
    """

    problem: Problem
    worst: float
    total: float


@dataclass(frozen=True, eq=False)
class Layouts:
    """Layouts, the most promising first; whether these are all there are; whether neighbours alike are ruled out."""

    layouts: list[Layout]
    complete: bool
    apart: bool


def layouts(
    goal: Goal,
    flow: Floats | None,
    constraints: Constraints,
    kept: int,
    room: float,
    *,
    alike: float,
    most: int = MOST_LAYOUTS,
) -> Layouts:
    """Layouts with so many items kept, the most even where there are too many."""
    found, every = [], True
    for number, sizes in enumerate(_compositions(constraints, kept, room)):
        if number >= most:
            every = False
            break
        posed = pose(costs_of(goal, flow, sizes), flow, constraints, sizes, room, alike=alike)
        layout = None if posed is None else _bounded(posed, counts_worst=flow is None and goal.follows is not None)
        if layout is not None:
            found.append(layout)
    return Layouts(sorted(found, key=lambda layout: (layout.worst, layout.total)), every, alike == np.inf)


def costs_of(goal: Goal, flow: Floats | None, sizes: Sequence[int]) -> Floats:
    """Deviations (n, kept) on sides; squared where they are weighed against flow; the costs of tables as they are."""
    costs = goal.along(sizes)
    return costs if flow is None or goal.follows is None else costs**2


def _bounded(problem: Problem, *, counts_worst: bool) -> Layout | None:
    """A layout with its bounds; None where some items share too few positions."""
    try:
        if not counts_worst:
            return Layout(problem, 0.0, position_bound(problem.cost)[0])
        deviations = run_worst(problem)
        order = match_assignment(deviations)
        worst = float(deviations[order, np.arange(len(order))].max())
        return Layout(problem, worst, position_bound(np.where(deviations <= worst, problem.cost, np.inf))[0])
    except (ConstraintError, ValueError):
        return None


def run_worst(problem: Problem) -> Floats:
    """The largest deviation of an item's run when the item stands at a position: shape (N, N)."""
    worst = problem.cost.copy()
    n = len(worst)
    for run in problem.constraints.together:
        last = n - len(run) + 1
        largest = np.max([problem.cost[item, o : last + o] for o, item in enumerate(run)], axis=0)
        for o, item in enumerate(run):
            worst[item] = np.inf
            worst[item, o : last + o] = largest
    return worst


def _compositions(constraints: Constraints, kept: int, room: float) -> Iterator[tuple[int, ...]]:
    """Sizes of sides that add up to the items kept, the most even first."""
    if constraints.sides == 1:
        if side_sizes(constraints, kept, room) or not np.isfinite(room):
            yield (kept,)
        return
    sizes = side_sizes(constraints, kept, room)
    mean = kept / constraints.sides
    partial: list[tuple[int, ...]] = [()]
    for side in range(constraints.sides - 1):
        behind = constraints.sides - side - 1
        partial = [
            (*begun, size)
            for begun in partial
            for size in sizes
            if behind * sizes.start <= kept - sum(begun) - size <= behind * (sizes.stop - 1)
        ]
        partial.sort(key=lambda begun: sum((size - mean) ** 2 for size in begun))
        partial = partial[: 8 * MOST_LAYOUTS]
    whole = [(*begun, kept - sum(begun)) for begun in partial]
    yield from sorted(whole, key=lambda one: sum((size - mean) ** 2 for size in one))
