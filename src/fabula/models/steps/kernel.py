"""Seven fixed functions of how far apart two items stand, on which the kernels of a step model stand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats

KERNELS = 7
ALWAYS = KERNELS - 1  # the function that is 1 at every distance


def distance_basis(n: int) -> Floats:
    """The functions at distances 0 to n - 1 of n items: shape (7, n), zero at distance 0.

    They are indicators of distance 1, 2 and 3; what falls by e within 3 and within 8 positions; the distance as a
    part of the whole; and 1.

    Examples
    --------
    >>> distance_basis(3)[[0, 6]].tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """
    d = np.arange(n, dtype=np.float64)
    falling = [np.exp(-(d - 1) / 3), np.exp(-(d - 1) / 8)]
    basis = np.stack([d == 1, d == 2, d == 3, *falling, d / max(n, 1), np.ones(n)]).astype(np.float64)
    basis[:, :1] = 0.0
    return basis


def summed_pairs(pairs: NDArray[np.floating], orderings: np.ndarray) -> Floats:
    """What the weights of kernels are multiplied with, for each of some orderings.

    Parameters
    ----------
    pairs
        Shape (k, n, n).
    orderings
        Shape (r, n).

    Returns
    -------
    Shape (r, k, 7): sums over all pairs, each by the functions of its distance.
    """
    k, n = len(pairs), orderings.shape[1]
    first, second = np.triu_indices(n, 1)
    flat = pairs.reshape(k, n * n)
    basis = distance_basis(n)[:, second - first]  # (7, pairs)
    found = [flat[:, order[first] * n + order[second]] @ basis.T for order in orderings]
    return np.stack(found) if found else np.zeros((0, k, KERNELS))
