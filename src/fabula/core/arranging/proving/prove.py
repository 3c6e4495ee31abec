"""The best orderings of collections of one length, where it can be proved that they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabula.core.arranging.proving.bounds import NEVER, Costs, raised
from fabula.core.arranging.proving.labels import solved
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

MOST_ITEMS = 32  # beyond which too many ways are left for it to be worth it
MANY, FEW = (24, 400, 20_000), (24, 400, 2_000)  # ways that are followed at a time


class Proof(NamedTuple):
    """An ordering of each of B collections (B, n), whether it is surely the best (B,), and a bound on its cost (B,)."""

    orderings: Ints
    sure: NDArray[np.bool_]
    least: Floats


def proved(places: Floats, flow: Floats, ways: Sequence[int] = MANY) -> Proof:
    """Good orderings of B collections of n items: surely the best mostly up to 30 items, never of more than 32.

    Parameters
    ----------
    places, flow
        Shape (B, n, n): what positions cost, and what items (columns) cost right after others (rows).
    ways
        How many beginnings are followed at a time, in turn, until none had to be left. Many take long.
    """
    orderings, n = assigned(places), places.shape[1]
    if n > MOST_ITEMS:
        return Proof(orderings, np.zeros(len(places), dtype=bool), np.full(len(places), -np.inf))
    steps = np.where(np.eye(n, dtype=bool), NEVER if n > 1 else 0.0, flow)
    costs = Costs(np.ascontiguousarray(places.transpose(2, 1, 0)), np.ascontiguousarray(steps.transpose(1, 2, 0)))
    bounds = raised(costs, orderings)
    return Proof(*solved(costs, bounds, ways), bounds.least)


def assigned(places: Floats) -> Ints:
    """The cheapest ordering of each collection by positions (B, n, n) alone: shape (B, n)."""
    from scipy.optimize import linear_sum_assignment

    turned = places.transpose(0, 2, 1)  # (B, positions, items)
    return np.array([linear_sum_assignment(table)[1] for table in turned], dtype=np.intp).reshape(places.shape[:2])
