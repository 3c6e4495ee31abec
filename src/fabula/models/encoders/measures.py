"""What a step model looks at beside the features of items: tables over all pairs of them, and the terms they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fabula.core.essence import Floats

# What a step model looks at beside the features of items: tables over all pairs of them, and the terms they hold.


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


# From measures and distances to what a step model weighs: where items stand out, and how close they are.

_FAR = 3.0  # deviations beyond which more is no more


def standing(features: Floats, logged: NDArray[np.bool_]) -> Floats:
    """How far each item stands out in each feature, in deviations within the collection: shape (n, f).

    Parameters
    ----------
    features
        Shape (n, f); NaN where a value is not known, which then is an average one.
    logged
        Shape (f,), True where the logarithm of 1 + the value is taken.

    Examples
    --------
    >>> standing(np.array([[1.0], [3.0]]), np.array([False])).tolist()
    [[-1.0], [1.0]]
    """
    values = np.where(logged, np.log1p(np.maximum(features, 0.0)), features)
    known = np.isfinite(values)
    count = np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, values - np.where(known, values, 0.0).sum(axis=0) / count, 0.0)
    spread = np.sqrt((centred**2).sum(axis=0) / count)
    said = spread > 1e-9
    return np.clip(np.where(said, centred / np.where(said, spread, 1.0), 0.0), -_FAR, _FAR)


def closeness(distance: NDArray[np.floating], *, own: bool = False) -> NDArray[np.floating]:
    """How much closer each pair is than its two items are to others, in deviations: shape (n, n), 0 on the diagonal.

    Centred by row and by column, so that an item that is close to all is not close to any. With ``own`` the table of
    distances is overwritten, which of very many items saves much memory.

    Examples
    --------
    >>> closeness(np.array([[0.0, 1, 3], [1, 0, 2], [3, 2, 0]])).round(2).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    n = len(distance)
    if n < 3:
        return np.zeros_like(distance)
    size = max(float(distance.max()), -float(distance.min())) + 1e-9  # of distances; rounding leaves a small part of it
    near = np.negative(distance, out=distance if own else None)
    near -= (near.sum(dtype=np.float64) - np.trace(near)) / (n * (n - 1))
    np.fill_diagonal(near, 0.0)
    # Without the diagonal the two kinds of means are not independent: this is the least-squares fit of both.
    rows, columns = near.sum(axis=1, dtype=np.float64), near.sum(axis=0, dtype=np.float64)
    near -= (((n - 1) * rows + columns) / (n * (n - 2)))[:, np.newaxis].astype(near.dtype)
    near -= (((n - 1) * columns + rows) / (n * (n - 2))).astype(near.dtype)
    np.fill_diagonal(near, 0.0)
    spread = float(np.linalg.norm(near)) / np.sqrt(n * (n - 1))
    if spread <= 1e-6 * size:
        return np.zeros_like(near)
    near /= near.dtype.type(spread)
    return np.asarray(near)
