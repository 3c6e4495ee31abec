"""What is searched for, and what was found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.arranging.arrangement import Bounds, describe
from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.goal import Goal
from fabula.core.arranging.local.paths import PathSearch
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

Key = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Found:
    """An ordering of what is kept.

    Attributes
    ----------
    ordering, sizes
        The items, and how many of them stand on each side.
    key
        The criteria, the first first.
    bounds
        What no ordering gets below, as far as it is known.
    room
        The most a side may hold.
    paths
        The prices that guided to it.
    """

    ordering: Ints
    sizes: tuple[int, ...]
    key: Key
    bounds: Bounds
    room: float
    paths: PathSearch | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """What is searched for, and how long."""

    goal: Goal
    flow: Floats | None
    constraints: Constraints
    seed: int
    until: float

    @property
    def counts_worst(self) -> bool:
        """Whether the largest deviation comes first."""
        return self.flow is None and self.goal.follows is not None

    @property
    def on_line(self) -> bool:
        """Whether items and targets are numbers."""
        return self.goal.follows is not None and self.goal.rows.shape[1] == 1

    def key(self, items: Ints, sizes: tuple[int, ...]) -> Key:
        """The criteria of an ordering, the first first."""
        told = describe(self.goal, self.flow, self.constraints, items, sizes)
        return (float(told.violations), *((told.worst or 0.0,) if self.counts_worst else ()), told.objective)


def alike_price(task: Task) -> float:
    """A cost of neighbours that are alike, far above all others."""
    largest = float(np.abs(task.goal.costs(task.goal.n)).max())
    flowing = 0.0 if task.flow is None else float(np.abs(task.flow).max())
    return 20.0 * (largest**2 + largest + flowing) + 1.0
