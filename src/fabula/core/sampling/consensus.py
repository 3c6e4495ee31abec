"""The consensus of orderings that a model holds likely: what to lay where, and side by side, to be right on average.

The likeliest ordering of all is one of very many that are nearly as likely, and often far from most of them. The one
that has most in common with all of them, each counted as often as it is drawn, is right more often (minimum Bayes
risk). What is in common here is Spearman's rank correlation and the neighbours, so that it is found by costs of
positions and of neighbours, as any other ordering is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints

NEIGHBOURS = 2.0  # what the share of neighbours that is right counts against the rank correlation


@dataclass(frozen=True, eq=False)
class Consensus:
    """Orderings drawn from what a model holds likely.

    Attributes
    ----------
    drawn
        Shape (s, n), each an ordering.

    Examples
    --------
    >>> consensus = Consensus(np.array([[0, 1, 2], [0, 2, 1]]))
    >>> consensus.mean.tolist(), consensus.sureness(np.array([0, 1, 2]))
    ([0.0, 1.5, 1.5], 1.0)
    """

    drawn: Ints

    @property
    def places(self) -> Ints:
        """Where each item stands in each ordering: shape (s, n)."""
        return np.argsort(self.drawn, axis=1)

    @property
    def mean(self) -> Floats:
        """Where each item stands on average: shape (n,)."""
        return np.asarray(self.places.mean(axis=0))

    def shares(self) -> Floats:
        """How often each item stands at each position: shape (n, n), rows and columns add up to 1."""
        s, n = self.drawn.shape
        counts = np.bincount((self.drawn * n + np.arange(n)).ravel(), minlength=n * n)
        return np.asarray(counts.reshape(n, n) / s)

    def costs(self, m: int) -> Floats:
        """What it costs the rank correlation, n-fold, to have each item at each of m positions: shape (n, m)."""
        n = self.drawn.shape[1]
        at = np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 1.0)
        spread = self.places.var(axis=0)[:, np.newaxis]
        return np.asarray(6 / (n * n - 1 or 1) * ((at - self.mean[:, np.newaxis]) ** 2 + spread))

    def flow(self) -> Floats:
        """What it costs to have each two side by side, n-fold, in either order: shape (n, n), not above zero."""
        s, n = self.drawn.shape
        pairs = self.drawn[:, :-1] * n + self.drawn[:, 1:]
        counts = np.bincount(pairs.ravel(), minlength=n * n).reshape(n, n)
        return np.asarray(-NEIGHBOURS * (counts + counts.T) / s)

    def sureness(self, ordering: Ints) -> float:
        """How many of the orderings drawn run the same way as this one of some of the items, rather than against it."""
        if len(ordering) < 2:
            return 1.0
        places = self.places[:, ordering]
        along = (places - places.mean(axis=1, keepdims=True)) @ (np.arange(len(ordering)) - (len(ordering) - 1) / 2)
        return float(((along > 0) + 0.5 * (along == 0)).mean())
