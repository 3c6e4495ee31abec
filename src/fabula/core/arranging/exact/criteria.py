"""Criteria as whole numbers, so that sums are exact, ties are true ties, and the order of criteria is that of numbers.

A number holds, from its high bits to its low ones, how many neighbours are alike that should not be, and then what
is minimised. A second number, where there is one, decides among those that tie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.goal import Goal, distances
from fabula.core.essence import Floats

Longs = NDArray[np.int64]
Table = Callable[[int], Longs]

NEVER = 1 << 61  # the cost of what must not be; three of them still fit
_LARGEST = 1 << 60  # no cost of what may be comes near it


@dataclass(frozen=True, eq=False)
class Criterion:
    """What is minimised.

    Attributes
    ----------
    cost
        From the size of a side to the cost of each item at each of its positions, shape (n, size).
    shared
        From the number of all positions to what is added by the position in the whole; None where nothing is.
    minor
        The same as ``cost`` for the second number; None where there is none.
    link
        Shape (n, n): the cost of item k right after item i; None where neighbours do not matter.
    mask
        The bits of which the largest counts; all others are summed. 0 where everything is summed.
    """

    cost: Table
    minor: Table | None = None
    link: Longs | None = None
    mask: int = 0
    shared: Table | None = None

    def on_side(self, begun: int, size: int, kept: int) -> Longs:
        """The cost of each item at each position of a side that begins after some of all kept: shape (n, size)."""
        cost = self.cost(size)
        return cost if self.shared is None else cost + self.shared(kept)[:, begun : begun + size]

    def joined(self, one: Longs, other: Longs | int) -> Longs:
        """The cost of two parts taken together."""
        if not self.mask:
            return np.asarray(one + other)
        high = (one & ~self.mask) + (other & ~self.mask)
        return np.asarray(high + np.maximum(one & self.mask, other & self.mask))


def capped(cost: Longs) -> Longs:
    """Costs in which whatever must not be costs NEVER, whatever was added to it."""
    return np.where(cost > _LARGEST, NEVER, cost)


def feasibility(constraints: Constraints) -> Criterion:
    """Costs nothing, whatever the constraints permit."""
    link = None if constraints.apart_soft else _links(constraints, 0, None)
    return Criterion(lambda size: np.zeros((constraints.n, size), dtype=np.int64), link=link)


def worst_deviation(goal: Goal, constraints: Constraints) -> Criterion:
    """The largest deviation."""
    bits, one = bits_of(goal.n), _unit(goal)
    link = _links(constraints, 1 << bits, None)
    return Criterion(cache(lambda size: _snapped(goal, size, one)), link=link, mask=(1 << bits) - 1)


def sum_of_deviations(goal: Goal, constraints: Constraints, worst: int) -> Criterion:
    """The sum of deviations, none above ``worst``; then that of their squares; then the order of values and targets."""
    bits, one = bits_of(goal.n), _unit(goal)

    @cache
    def cost(size: int) -> Longs:
        deviations = _snapped(goal, size, one)
        return np.asarray(np.where(deviations <= worst, deviations, NEVER))

    return Criterion(cost, cache(lambda size: _minor(goal, size)), _links(constraints, 1 << bits, None))


def weighed_sum(goal: Goal, flow: Floats | None, constraints: Constraints) -> Criterion:
    """Squared deviations, or the costs of a table, plus flow."""
    power = 1 if goal.follows is None else 2
    largest = max(float(np.abs(goal.alone(size)).max()) for size in range(1, goal.n + 1)) ** power
    if goal.whole is not None:
        largest += max(float(np.abs(goal.shared(kept)).max()) for kept in range(1, goal.n + 1))
    largest += 0.0 if flow is None else float(np.abs(flow).max())
    bits = bits_of(goal.n)
    one = (largest or 1.0) / 2.0 ** (bits - 1 - goal.n.bit_length())

    @cache
    def cost(size: int) -> Longs:
        return np.rint(goal.alone(size) ** power / one).astype(np.int64)

    @cache
    def shared(kept: int) -> Longs:
        return np.rint(goal.shared(kept) / one).astype(np.int64)

    flowing = None if flow is None else np.rint(flow / one).astype(np.int64)
    return Criterion(cost, link=_links(constraints, 1 << bits, flowing), shared=None if goal.whole is None else shared)


def bits_of(n: int) -> int:
    """How many bits a sum over n items may take below the count of neighbours that are alike."""
    return 59 - n.bit_length()


def _unit(goal: Goal) -> float:
    """The grain of deviations: the same whatever the constraints are."""
    return _largest(goal) / 2.0 ** (bits_of(goal.n) - 2 - goal.n.bit_length())


def _largest(goal: Goal) -> float:
    """The largest value or target, over sides of every size."""
    targets = max(float(np.abs(goal.targets(size)).max()) for size in range(1, goal.n + 1))
    return max(float(np.abs(goal.rows).max()), targets) * max(1.0, goal.rows.shape[1] ** 0.5) or 1.0


def _snapped(goal: Goal, size: int, one: float) -> Longs:
    """Deviations in grains, shape (n, size); values and targets are rounded first, so that equal sums stay equal."""
    rows, targets = np.rint(goal.rows / one), np.rint(goal.targets(size).reshape(size, -1) / one)
    return np.rint(distances(rows[:, np.newaxis], targets)).astype(np.int64)


def _minor(goal: Goal, size: int) -> Longs:
    """Squared deviations on a coarser grain in the high bits; in the low ones, how far value and target differ in rank.

    Both are smallest where values and targets are paired in their order, as :func:`fabula.core.fit.fit` pairs them.
    """
    length = goal.n.bit_length()
    one = _largest(goal) / 2.0 ** ((56 - 4 * length) // 2)
    squares = _snapped(goal, size, one) ** 2
    if goal.rows.shape[1] > 1:
        return squares << (3 * length)
    value = np.unique(goal.rows[:, 0], return_inverse=True)[1]
    target = np.unique(goal.targets(size), return_inverse=True)[1]
    return np.asarray((squares << (3 * length)) + (value[:, np.newaxis] - target) ** 2)


def _links(constraints: Constraints, alike: int, flow: Longs | None) -> Longs | None:
    """Flow, and what it costs two neighbours to carry the same label."""
    labels = constraints.apart
    if labels is None:
        return flow
    same = (labels[:, np.newaxis] == labels) & (labels >= 0)
    price = alike if constraints.apart_soft else NEVER
    links = np.where(same, np.int64(price), np.int64(0))
    return links if flow is None else links + flow
