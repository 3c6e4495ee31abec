"""Tables: what a set model says of a collection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats
from fabula.core.ordering import as_ordering


@dataclass(frozen=True, eq=False)
class Tables:
    """What a model says of a collection: both scores are sums over an ordering, higher is likelier.

    Attributes
    ----------
    positions
        Shape (n, m): how much each item likes each position.
    flow
        Shape (n, n): how well each item (row) is followed by each other (column); zero on the diagonal.
    of_count
        From a number of positions to how much each item likes each of so many; None where they are not known.
    """

    positions: Floats
    flow: Floats
    of_count: Callable[[int], Floats] | None = field(default=None, repr=False)

    def at(self, count: int) -> Floats:
        """How much each item likes each of ``count`` positions, (n, count), where some items are left out."""
        if self.of_count is None or count == self.positions.shape[1]:
            return self.positions[:, :count]
        return self.of_count(count)

    def score(self, ordering: ArrayLike) -> float:
        """How likely an ordering of all items is, relative to others.

        Examples
        --------
        >>> Tables(np.eye(2), np.array([[0, 0.5], [0, 0]])).score([0, 1])
        2.5
        """
        order = as_ordering(ordering, len(self.positions))
        flow = self.flow[order[:-1], order[1:]].sum()
        return float(self.positions[order, np.arange(len(order))].sum() + flow)
