"""Which item may stand where: fixed, forbidden and ends, for a number of items kept and for sides of given sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fabula.core.arranging.constraints import Constraints

Bools = NDArray[np.bool_]


def allowed_positions(constraints: Constraints, m: int) -> Bools | None:
    """Which item may stand at which of m positions by ``fixed`` and ``forbidden``: shape (n, m).

    None where ``fixed`` asks for a position there is not, for two items at one, or for one item at two.

    Examples
    --------
    >>> allowed_positions(Constraints(2, fixed={-1: 0}), 2)
    array([[False,  True],
           [ True, False]])
    """
    allowed = np.ones((constraints.n, m), dtype=bool)
    for item, position in constraints.forbidden:
        if -m <= position < m:
            allowed[item, position] = False
    for position, item in constraints.fixed.items():
        if not -m <= position < m or not settle(allowed, item, position):
            return None
    return allowed


def side_positions(constraints: Constraints, sizes: Sequence[int]) -> Bools | None:
    """The same with ``ends``, for sides of given sizes one after the other: shape (n, m); None as there."""
    allowed = allowed_positions(constraints, sum(sizes))
    starts = np.cumsum([0, *sizes])
    for (side, position), item in constraints.ends.items():
        inside = -sizes[side] <= position < sizes[side]
        if allowed is None or not inside:
            return None
        if not settle(allowed, item, int(starts[side]) + position % sizes[side]):
            return None
    return allowed


def settle(allowed: Bools, item: int, position: int) -> bool:
    """Leave an item this position alone, in place; whether it was still allowed there."""
    here = bool(allowed[item, position])
    allowed[item] = False
    allowed[:, position] = False
    allowed[item, position] = here
    return here
