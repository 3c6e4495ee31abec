"""From measures and distances to what a step model weighs: where items stand out, and how close they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats

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
