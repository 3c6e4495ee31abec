"""What is known of items beside their features: tables over all pairs of them, and the terms they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fabula.core.arrays import Floats


@dataclass(frozen=True, eq=False)
class Terms:
    """How often which term stands in which of n items.

    Attributes
    ----------
    language
        Whose terms they are; empty where it is not known.
    names
        w terms.
    counts
        Shape (n, w), sparse.
    totals
        Shape (n,): all terms of each item.
    """

    language: str
    names: Sequence[str]
    counts: sparse.csr_array
    totals: Floats

    def rates(self, wanted: Sequence[str]) -> Floats:
        """Logarithms of 1 + how often each wanted term stands among 1,000: shape (n, wanted).

        Examples
        --------
        >>> terms = Terms("en", ("sea", "land"), sparse.csr_array([[1.0, 0.0], [0.0, 3.0]]), np.array([100.0, 100.0]))
        >>> terms.rates(["land", "sky"]).round(2).tolist()
        [[0.0, 0.0], [3.43, 0.0]]
        """
        place = {name: number for number, name in enumerate(self.names)}
        there = [(column, place[name]) for column, name in enumerate(wanted) if name in place]
        found = np.zeros((self.counts.shape[0], len(wanted)))
        if there:
            columns, numbers = map(list, zip(*there, strict=True))
            found[:, columns] = self.counts[:, numbers].toarray()
        return np.asarray(np.log1p(1000 * found / np.maximum(self.totals, 1)[:, np.newaxis]))


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of n items beside their features.

    Attributes
    ----------
    pairs
        Name -> shape (n, n), scaled: how alike two items are, or how much speaks for the first before the second.
    terms
        What they hold; None where that is not known.
    """

    pairs: Mapping[str, NDArray[np.floating]] = field(default_factory=dict)
    terms: Terms | None = None
