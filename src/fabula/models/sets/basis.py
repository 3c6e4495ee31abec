"""Twelve fixed functions of the position, on which the template of a set model stands."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.errors import InputError

FUNCTIONS = 12


def position_basis(count: int, positions: ArrayLike | None = None) -> NDArray[np.float32]:
    """The functions at some positions of ``count``.

    They are 1, u, u^2, u^3 and two cosines of the place u in [0, 1]; what fades from either end within about two
    positions; and indicators of the first, second, last but one and last position.

    Parameters
    ----------
    count
        How many positions there are.
    positions
        Which to take, shape (m,), 0 to count - 1 (fractions are allowed, for sampling); all by default.

    Returns
    -------
    Shape (12, m).

    Examples
    --------
    >>> position_basis(3)[1]
    array([0. , 0.5, 1. ], dtype=float32)
    """
    if count < 1:
        raise InputError(f"there must be at least 1 position; got {count}")
    j = np.arange(count, dtype=np.float64) if positions is None else np.asarray(positions, dtype=np.float64)
    if j.ndim != 1 or not np.isfinite(j).all() or (j < 0).any() or (j > count - 1).any():
        raise InputError(f"positions must be a list of numbers from 0 to {count - 1}")
    u, left = j / max(count - 1, 1), count - 1 - j
    smooth = [np.ones_like(u), u, u**2, u**3, np.cos(np.pi * u), np.cos(2 * np.pi * u)]
    ends = [np.exp(-j / 1.5), np.exp(-left / 1.5)]
    near = [np.clip(1 - np.abs(distance - at), 0, 1) for distance in (j, left) for at in (0, 1)]
    return np.stack([*smooth, *ends, *near]).astype(np.float32)
