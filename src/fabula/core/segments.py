"""Many collections in one array: the rows of all, one collection after the other, and where each begins.

``offsets`` (number + 1,) are integers from 0 to the number of rows: collection i has the rows ``offsets[i]`` to
``offsets[i + 1]``, at least one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import InputError


class Alike(NamedTuple):
    """Collections of one length: their numbers (B,) and their rows (B, n)."""

    numbers: Ints
    rows: Ints


def as_offsets(offsets: ArrayLike, rows: int) -> Ints:
    """Check where collections begin and end in an array of so many rows."""
    found = np.asarray(offsets)
    if found.ndim != 1 or not len(found) or not np.issubdtype(found.dtype, np.integer):
        raise InputError(f"offsets must be integers of shape (number of collections + 1,); got {_describe(found)}")
    if found[0] != 0 or found[-1] != rows:
        raise InputError(f"offsets must begin with 0 and end with the number of rows, {rows}; got {_describe(found)}")
    empty = np.flatnonzero(np.diff(found) < 1)
    if len(empty):
        raise InputError(f"offsets must rise: a collection has at least one row; collection {int(empty[0])} has none")
    return found.astype(np.intp)


def normalise_many(values: Floats, offsets: Ints) -> Floats:
    """Z-score rows (rows, d) within each collection, as :func:`fabula.core.essence.normalise` does one.

    >>> normalise_many(np.array([[2.0], [4.0], [7.0]]), np.array([0, 2, 3])).ravel().tolist()
    [-1.0, 1.0, 0.0]
    """
    if not len(values):
        return values
    starts, sizes = offsets[:-1], np.diff(offsets)
    scale = np.maximum.reduceat(np.abs(values), starts)  # so that squares neither overflow nor vanish
    scaled = values / np.repeat(np.where(scale > 0, scale, 1.0), sizes, axis=0)
    count = sizes[:, np.newaxis]
    centred = scaled - np.repeat(np.add.reduceat(scaled, starts) / count, sizes, axis=0)
    middle = np.add.reduceat(centred, starts) / count  # the mean again: what rounding left of it
    variance = np.add.reduceat((centred - np.repeat(middle, sizes, axis=0)) ** 2, starts) / count
    deviation = np.sqrt(variance)
    alike = deviation <= 1e-12
    return np.where(
        np.repeat(alike, sizes, axis=0), 0.0, centred / np.repeat(np.where(alike, 1.0, deviation), sizes, axis=0)
    )


def by_length(offsets: Ints, cells: int, axes: int = 2) -> Iterator[Alike]:
    """Collections of one length n, as many at a time as have ``cells`` cells of n ** axes each, at least one.

    >>> [(some.numbers.tolist(), some.rows.tolist()) for some in by_length(np.array([0, 1, 3, 4]), 100)]
    [([0, 2], [[0], [3]]), ([1], [[1, 2]])]
    """
    sizes = np.diff(offsets)
    for n in np.unique(sizes).tolist():
        numbers = np.flatnonzero(sizes == n)
        together = max(1, cells // n**axes)
        for at in range(0, len(numbers), together):
            some = numbers[at : at + together]
            yield Alike(some, offsets[some][:, np.newaxis] + np.arange(n))


def _describe(offsets: NDArray[np.generic]) -> str:
    return f"{np.array2string(offsets, threshold=8)} of shape {offsets.shape}"
