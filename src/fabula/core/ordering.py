"""Orderings: ``ordering[position] = item index``, in that direction everywhere."""

from __future__ import annotations

from operator import index

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.errors import InputError

Ints = NDArray[np.intp]


def positions(n: int) -> NDArray[np.float64]:
    """Relative positions j / (n - 1) of n places, as the paper samples a template; one place is at 0."""
    return np.linspace(0.0, 1.0, n) if n > 1 else np.zeros(n)


def as_ordering(ordering: ArrayLike, n: int | None = None) -> Ints:
    """Check that something is a permutation of 0..n-1 and return it as integers."""
    array = np.asarray(ordering)
    if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise InputError(f"an ordering must be a list of item indices; got {array.dtype} of shape {array.shape}")
    if n is not None and array.size != n:
        raise InputError(f"an ordering of {n} items must have {n} entries; got {array.size}")
    if not np.array_equal(np.sort(array), np.arange(array.size)):
        raise InputError(
            f"an ordering must hold each of 0..{array.size - 1} once; got {np.array2string(array, threshold=12)}"
        )
    return array.astype(np.intp)


def inverse(ordering: ArrayLike) -> Ints:
    """Place of each item: ``inverse(ordering)[item] = position``."""
    order = as_ordering(ordering)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place


def as_item(item: int, n: int) -> int:
    """Check the index of an item."""
    try:
        what = index(item)
    except TypeError:
        raise InputError(f"an item must be a whole number; got {item!r}") from None
    if not 0 <= what < n:
        raise InputError(f"an item must lie in 0..{n - 1}; got {what}")
    return what


def as_position(position: int, n: int) -> int:
    """Check a position among n: from 0, or negative from the end."""
    try:
        number = index(position)
    except TypeError:
        raise InputError(f"a position must be a whole number; got {position!r}") from None
    if not -n <= number < n:
        raise InputError(f"a position must lie in 0..{n - 1}, or -{n}..-1 from the end; got {number}")
    return number
