"""What orderings score: by where each item stands, and by how far each stands before each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats
from fabula.core.ordering import Ints

NEVER = -1e5  # score of what must not be


@dataclass(frozen=True, eq=False)
class Scores:
    """What orderings of n items score: ``sum_j at[o_j, j] + sum_j<k apart[k - j, o_j, o_k]``.

    Attributes
    ----------
    at
        Shape (n, n): item i at position j.
    apart
        Shape (n, n, n): item i standing d positions before item k, ``apart[d, i, k]``; d = 0 says nothing.

    Examples
    --------
    >>> scores = Scores(np.eye(3), np.zeros((3, 3, 3)))
    >>> scores.of(np.array([[0, 1, 2], [2, 1, 0]])).tolist()
    [3.0, 1.0]
    """

    at: Floats
    apart: Floats

    @property
    def n(self) -> int:
        """How many items there are."""
        return len(self.at)

    def of(self, orderings: Ints) -> Floats:
        """The score of each of some orderings, (r, n): shape (r,)."""
        n = self.n
        first, second = np.triu_indices(n, 1)
        here = ((second - first) * n + orderings[:, first]) * n + orderings[:, second]
        standing = self.at[orderings, np.arange(n)].sum(axis=1)
        return np.asarray(standing + self.apart.reshape(-1)[here].sum(axis=1))

    def taken(self, items: Ints) -> Scores:
        """The scores of the items in another order, (n,): item ``items[k]`` becomes item k."""
        return Scores(self.at[items], self.apart[:, items][:, :, items])

    def limited(self, allowed: NDArray[np.bool_], before: Ints) -> Scores:
        """The same where items may stand at some positions (n, n) alone, and the first of each pair (p, 2) before."""
        apart = self.apart.copy()
        apart[1:, before[:, 1], before[:, 0]] += NEVER
        return Scores(np.where(allowed, self.at, NEVER), apart)
