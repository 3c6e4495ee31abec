"""Arrangements: an ordering that was found, and how far from the best it can be."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fabula.core.arranging.constraints import Constraints, alike
from fabula.core.arranging.goal import Goal, distances
from fabula.core.essence import Floats
from fabula.core.ordering import Ints


@dataclass(frozen=True)
class Bounds:
    """What no arrangement can get below.

    Attributes
    ----------
    total
        Of the sum of deviations, none above the largest one found; or of the weighed sum.
    worst
        Of the largest deviation; None where it does not count.
    violations
        Of the neighbours that are alike.
    """

    total: float
    worst: float | None = None
    violations: int = 0


@dataclass(frozen=True, eq=False)
class Arrangement:
    """An ordering under constraints.

    Attributes
    ----------
    ordering
        Shape (m,): the items kept, ``ordering[position] = item index``.
    left_out
        The items left out, rising.
    sides
        How many items stand on each side; empty for one side.
    targets
        Shape (m,) or (m, d): the template at each position; None for a goal given as a table.
    deviations
        Shape (m,): distance of each position's item from its target; None for a goal given as a table.
    objective
        The sum of deviations; with flow, the sum of their squares plus flow; for a table, the sum of its costs plus
        flow.
    bound
        No ordering has a smaller objective, and, where the largest deviation comes first, one that is not larger.
    gap
        How much better another ordering could be at most, as a part of what was reached: of the neighbours that are
        alike, of the largest deviation and of the objective, the largest gap. 0 where the ordering is the best.
    exact
        Whether no other ordering does better.
    violations
        How many neighbours carry the same label.
    """

    ordering: Ints
    left_out: Ints
    sides: tuple[int, ...]
    targets: Floats | None = field(repr=False)
    deviations: Floats | None = field(repr=False)
    objective: float
    bound: float
    gap: float
    exact: bool
    violations: int = 0

    @property
    def worst(self) -> float | None:
        """The largest deviation; None for a goal given as a table."""
        return None if self.deviations is None else float(self.deviations.max())

    @property
    def mean(self) -> float | None:
        """The mean deviation; None for a goal given as a table."""
        return None if self.deviations is None else float(self.deviations.mean())


def describe(
    goal: Goal,
    flow: Floats | None,
    constraints: Constraints,
    ordering: Ints,
    sides: tuple[int, ...],
    bounds: Bounds | None = None,
) -> Arrangement:
    """An arrangement with everything that is told of it; without bounds, it is the best."""
    sizes = sides or (len(ordering),)
    side = np.repeat(np.arange(len(sizes)), sizes)
    targets, costs = measured(goal, ordering, sizes)
    deviations = None if goal.follows is None else costs
    violations = 0 if constraints.apart is None else alike(constraints.apart[ordering], side)
    at, flowing = float((costs if flow is None or deviations is None else costs**2).sum()), 0.0
    if flow is not None:
        flowing = float((flow[ordering[:-1], ordering[1:]] * (side[1:] == side[:-1])).sum())
    objective = at + flowing
    bound, gap = objective, 0.0
    if bounds is not None:
        bound = min(bounds.total, objective)
        gap = _relative(objective - bound, abs(at) + abs(flowing))
        gap = max(gap, _relative(violations - bounds.violations, violations))
        if bounds.worst is not None and deviations is not None:
            gap = max(gap, _relative(float(deviations.max()) - bounds.worst, float(deviations.max())))
    left_out = np.setdiff1d(np.arange(goal.n), ordering)
    return Arrangement(ordering, left_out, sides, targets, deviations, objective, bound, gap, gap == 0.0, violations)


def measured(goal: Goal, ordering: Ints, sizes: tuple[int, ...]) -> tuple[Floats | None, Floats]:
    """The targets and the costs along an ordering, each side by itself."""
    if goal.nothing:
        return None, np.zeros(len(ordering))
    if goal.follows is None:
        return None, goal.along(sizes)[ordering, np.arange(len(ordering))]
    targets = np.concatenate([goal.targets(size) for size in sizes])
    return targets, distances(goal.rows[ordering], targets.reshape(len(ordering), -1))


def _relative(gap: float, scale: float) -> float:
    """A gap as a part; 0 where it is but rounding."""
    return 0.0 if gap <= 1e-9 * max(scale, 1e-300) else min(1.0, gap / scale) if scale else 1.0
