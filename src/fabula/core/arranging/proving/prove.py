"""The best orderings of collections of one length, where it can be proved that they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabula.core.arranging.proving.bounds import NEVER, Costs, raised
from fabula.core.arranging.proving.labels import solved
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

MOST_ITEMS = 32  # beyond which too many ways are left for it to be worth it


def proved(places: Floats, flow: Floats) -> tuple[Ints, NDArray[np.bool_]]:
    """An ordering of each of B collections of n items, and whether it is surely the best: shapes (B, n) and (B,).

    Always up to 18 items, mostly up to 30; of more than 32 none.

    Parameters
    ----------
    places, flow
        Shape (B, n, n): what positions cost, and what items (columns) cost right after others (rows).
    """
    orderings, n = assigned(places), places.shape[1]
    if n > MOST_ITEMS:
        return orderings, np.zeros(len(places), dtype=bool)
    steps = np.where(np.eye(n, dtype=bool), NEVER if n > 1 else 0.0, flow)
    costs = Costs(np.ascontiguousarray(places.transpose(2, 1, 0)), np.ascontiguousarray(steps.transpose(1, 2, 0)))
    return solved(costs, raised(costs, orderings))


def assigned(places: Floats) -> Ints:
    """The cheapest ordering of each collection by positions (B, n, n) alone: shape (B, n)."""
    from scipy.optimize import linear_sum_assignment

    turned = places.transpose(0, 2, 1)  # (B, positions, items)
    return np.array([linear_sum_assignment(table)[1] for table in turned], dtype=np.intp).reshape(places.shape[:2])
