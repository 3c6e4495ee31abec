"""Limits: how many items can be kept, and how much a side may hold."""

from __future__ import annotations

import numpy as np

from fabula.core.arranging.constraints import SLACK, Constraints

UNEVEN = 1.15  # how far the longest side may be above the mean where no limit is given


def kept_counts(constraints: Constraints) -> range:
    """How many items can be kept, the most first; empty when what must be kept is over the limit.

    Where the limit holds for all items, none is left out, whatever else cannot be kept.

    Examples
    --------
    >>> list(kept_counts(Constraints(4, lengths=[1, 2, 3, 4], limit=6, fixed={0: 3})))
    [2, 1]
    """
    n, lengths = constraints.n, constraints.counted
    if constraints.limit is None or lengths.sum() <= constraints.limit * SLACK:
        return range(n, n - 1, -1)
    free = np.setdiff1d(np.arange(n), list(constraints.named))
    saved = np.concatenate([[0.0], np.cumsum(np.sort(lengths[free])[::-1])])
    enough = np.flatnonzero(lengths.sum() - saved <= constraints.limit * SLACK)
    if not len(enough):
        return range(0)
    return range(n - int(enough[0]), max(n - len(free), 1) - 1, -1)


def even_room(constraints: Constraints) -> float:
    """The most a side may hold without a side limit, where the constraints permit it."""
    total = float(constraints.counted.sum())
    return UNEVEN * min(total, constraints.limit or np.inf) / constraints.sides


def side_room(constraints: Constraints) -> float:
    """The most a side may hold, slack for rounding included."""
    if constraints.side_limit is not None:
        return constraints.side_limit * SLACK
    return even_room(constraints) * SLACK if constraints.sides > 1 else np.inf


def side_sizes(constraints: Constraints, kept: int, room: float) -> range:
    """How many items a side can have when so many are kept, by the lengths alone.

    Examples
    --------
    >>> side_sizes(Constraints(6, sides=2), 6, 4.0)
    range(2, 5)
    """
    lengths, sides = np.sort(constraints.counted), constraints.sides
    most, least = int(np.searchsorted(np.cumsum(lengths), room, side="right")), 1
    rest = float(lengths.sum()) - (sides - 1) * room  # what the other sides cannot hold
    if kept == constraints.n and rest > 0:
        least = int(np.searchsorted(np.cumsum(lengths[::-1]), rest * (1 - 1e-12))) + 1
    return range(least, min(most, kept - (sides - 1) * least) + 1)
