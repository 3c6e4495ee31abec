"""What items are counted by as arrays: essence, orderings, and many collections in one array.

An essence is one number, or a few, per item. ``ordering[position] = item index``, in that direction everywhere. Many
collections lie one after the other: ``offsets`` (number + 1,) are integers from 0 to the number of rows, and collection
i has the rows ``offsets[i]`` to ``offsets[i + 1]``, at least one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.errors import InputError, brief

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


def as_essence(essence: ArrayLike, *, name: str = "essence") -> Floats:
    """Check an essence and return it as floats: ``(n,)``, or ``(n, d)`` with d of 2 or more; (n, 1) becomes (n,).

    >>> as_essence([[1], [2]])
    array([1., 2.])
    """
    try:
        values = np.asarray(essence, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, one row per item; got {brief(essence)}") from error
    if values.ndim not in (1, 2) or values.shape[-1] == 0:
        raise InputError(f"{name} must have shape (n,) or (n, d) with n and d at least 1; got {values.shape}")
    finite = np.isfinite(values)
    if not finite.all():
        item = int(np.argwhere(~finite)[0, 0])
        raise InputError(f"{name} must be finite; got {values[item]} for item {item}")
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def normalise(essence: ArrayLike) -> Floats:
    """Z-score an essence (n,) or (n, d) within its collection, each dimension by itself.

    A dimension in which all items are alike (to rounding) becomes zero: it says nothing about the order.

    >>> normalise([1.0, 2.0, 3.0]).round(4)
    array([-1.2247,  0.    ,  1.2247])
    >>> normalise([5.0, 5.0])
    array([0., 0.])
    """
    values = as_essence(essence)
    scale = np.abs(values).max(axis=0)
    values = values / np.where(scale > 0, scale, 1.0)  # so that squares neither overflow nor vanish
    centred = values - values.mean(axis=0)
    deviation = centred.std(axis=0)
    alike = deviation <= 1e-12
    return np.where(alike, 0.0, centred / np.where(alike, 1.0, deviation))


def positions(n: int) -> NDArray[np.float64]:
    """Relative positions j / (n - 1) of n places, as the paper samples a template; one place is at 0."""
    return np.linspace(0.0, 1.0, n)


def as_ordering(ordering: ArrayLike, n: int | None = None) -> Ints:
    """Check that something is a permutation of 0..n-1 and return it as integers."""
    array = _as_array(ordering, "an ordering must be a list of item indices")
    if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise InputError(f"an ordering must be a list of item indices; got {array.dtype} of shape {array.shape}")
    if n is not None and array.size != n:
        raise InputError(f"an ordering of {n} items must have {n} entries; got {array.size}")
    if not np.array_equal(np.sort(array), np.arange(array.size)):
        raise InputError(
            f"an ordering must hold each of 0..{array.size - 1} once; got {np.array2string(array, threshold=12)}"
        )
    return array.astype(np.intp)


def _as_array(given: ArrayLike, rule: str) -> NDArray[Any]:
    """What was given as an array; refused where its rows are not alike."""
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InputError(f"{rule}; got {brief(given)}") from error


def as_orderings(orderings: ArrayLike, n: int) -> Ints:
    """Check that all of some rows (m, n), or one (n,), are permutations of 0..n-1; shape (m, n).

    >>> as_orderings([2, 0, 1], 3)
    array([[2, 0, 1]])
    """
    rows = np.atleast_2d(_as_array(orderings, "orderings must be lists of item indices"))
    if rows.shape[1:] != (n,) or rows.dtype.kind not in "iu" or (np.sort(rows, axis=1) != np.arange(n)).any():
        for row in rows:
            as_ordering(row, n)
    return rows.astype(np.intp)


def as_item(item: int, n: int) -> int:
    """Check the index of an item."""
    return _as_index(item, 0, n, "an item", f"0..{n - 1}")


def as_position(position: int, n: int) -> int:
    """Check a position among n: from 0, or negative from the end."""
    return _as_index(position, -n, n, "a position", f"0..{n - 1}, or -{n}..-1 from the end")


def _as_index(value: int, low: int, high: int, what: str, legal: str) -> int:
    try:
        number = index(value)
    except TypeError:
        raise InputError(f"{what} must be a whole number; got {value!r}") from None
    if not low <= number < high:
        raise InputError(f"{what} must lie in {legal}; got {number}")
    return number


class Alike(NamedTuple):
    """Collections of one length: their numbers (B,) and their rows (B, n)."""

    numbers: Ints
    rows: Ints


def as_offsets(offsets: ArrayLike, rows: int) -> Ints:
    """Check where collections begin and end in an array of so many rows."""
    found = _as_array(offsets, "offsets must be integers, one more than there are collections")
    if found.ndim != 1 or not len(found) or not np.issubdtype(found.dtype, np.integer):
        raise InputError(f"offsets must be integers of shape (number of collections + 1,); got {_describe(found)}")
    if found[0] != 0 or found[-1] != rows:
        raise InputError(f"offsets must begin with 0 and end with the number of rows, {rows}; got {_describe(found)}")
    empty = np.flatnonzero(np.diff(found) < 1)
    if len(empty):
        raise InputError(f"offsets must rise: a collection has at least one row; collection {int(empty[0])} has none")
    return found.astype(np.intp)


def normalise_many(values: Floats, offsets: Ints) -> Floats:
    """Z-score rows (rows, d) within each collection, as :func:`fabula.core.arrays.normalise` does one.

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


_APART = 256.0  # times its range that values may lie from zero, and still be told apart by their size


def quantise(values: Floats, axis: tuple[int, ...] | None = None) -> Floats:
    """Values without their last bits, in which machines differ: what is equal but for rounding is equal on all of them.

    At least 28 bits are kept of what has the median size, of all or of those along some axes; of values that hardly
    differ beside it, of their range, 46 bits of the median at most. The grain is a power of two, so that sums stay
    exact, and the same for values of about the same size.

    >>> a, b = quantise(np.array([0.1 + 0.2, 0.3]))
    >>> bool(a == b), round(float(a), 9)
    (True, 0.3)
    """
    size = np.abs(values)
    if not size.size:
        return values
    usual = np.median(size, axis=axis, keepdims=True)
    usual = np.where(usual > 0, usual, size.max(axis=axis, keepdims=True))
    span = np.ptp(values, axis=axis, keepdims=True)
    usual = np.where(usual > _APART * span, np.maximum(span, np.ldexp(usual, -18)), usual)
    grain = np.ldexp(1.0, (np.frexp(usual)[1] + 4) // 8 * 8 - 32)
    return np.asarray(np.rint(values / np.maximum(grain, np.finfo(np.float64).tiny)) * grain)


def distances(rows: Floats, goals: Floats) -> Floats:
    """Euclidean distance over the last axis."""
    difference = rows - goals
    if difference.shape[-1] == 1:
        return np.abs(difference[..., 0])
    return np.asarray(np.sqrt((difference**2).sum(axis=-1)))


# How matrices are multiplied: small products gain nothing by a second thread, and lose much where it must wait.


@contextmanager
def one_thread() -> Iterator[None]:
    """Products of matrices on one thread, in a block or in a function that this decorates; afterwards as before.

    Threads that wait for each other at each small product take ten times as long where another program has a core.

    >>> with one_thread():
    ...     float(np.ones((2, 3)).dot(np.ones(3))[0])
    3.0
    """
    threaded = [(library, count) for library in _libraries() if (count := library.num_threads) > 1]
    for library, _ in threaded:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, count in threaded:
            library.set_num_threads(count)


@cache
def _libraries() -> list[Any]:
    """The libraries by which NumPy multiplies."""
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
