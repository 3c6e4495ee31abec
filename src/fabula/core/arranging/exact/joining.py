"""Sides joined: the cheapest way to share the units of each subset out between the sides so far and the next one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from fabula.core.arranging.exact.criteria import NEVER, Criterion, Longs, capped
from fabula.core.arranging.exact.subsets import Subsets

MOST_ENTRIES = 1 << 18  # of an array of pairs of subsets
NO_SETS = np.empty(0, dtype=np.int64)

Numbers = tuple[Longs, Longs | None]


def join(
    subsets: Subsets, criterion: Criterion, before: Numbers, following: Numbers, wanted: Longs, size: int
) -> Numbers:
    """The cheapest way for each wanted subset, of which ``size`` items stand on the following side.

    Parameters
    ----------
    subsets, criterion
        The units, and what is minimised.
    before, following
        Both numbers of the cheapest way for each subset, shape (2^u,), on the sides so far and on the following.
    wanted
        Shape (w,), subsets that hold the same number of items.
    size
        How many items the following side has.

    Returns
    -------
    Both numbers for each wanted subset, shape (w,).
    """
    shape = subsets.every.shape
    found = np.full(shape, NEVER), None if before[1] is None else np.full(shape, NEVER)
    held = np.bincount(np.bitwise_count(wanted), minlength=1)
    many = sum(int(number) * comb(count, size) for count, number in enumerate(held))  # with single items
    ahead, behind = (np.flatnonzero(numbers[0] < NEVER) for numbers in (before, following))
    if len(ahead) * len(behind) < 4 * many:
        _join_pairs(criterion, before, following, ahead, behind, found)
    else:
        _join_shares(subsets, criterion, before, following, wanted, size, found)
    return found[0][wanted], None if found[1] is None else found[1][wanted]


def keep_better(kept: Numbers, sets: Longs, total: Longs, minor: Longs | None) -> None:
    """Write down what is better than what is known of some subsets, each named once, in place."""
    first, second = kept
    better = total < first[sets]
    if second is not None and minor is not None:
        better |= (total == first[sets]) & (minor < second[sets])
        second[sets] = np.where(better, minor, second[sets])
    first[sets] = np.where(better, total, first[sets])


def _join_pairs(
    criterion: Criterion, before: Numbers, following: Numbers, ahead: Longs, behind: Longs, found: Numbers
) -> None:
    """Try every pair of the subsets there are on either side."""
    step = max(1, MOST_ENTRIES // max(1, len(behind)))
    for at in range(0, len(ahead), step):
        rows, columns = np.nonzero((ahead[at : at + step, np.newaxis] & behind) == 0)
        one, other = ahead[at + rows], behind[columns]
        totals = criterion.joined(before[0][one], following[0][other])
        sets = one | other
        if before[1] is None or following[1] is None:
            order = np.lexsort([totals, sets])
            minor = None
        else:
            minor = before[1][one] + following[1][other]
            order = np.lexsort([minor, totals, sets])
        order = order[np.flatnonzero(np.diff(sets[order], prepend=-1))]  # the best of each subset
        keep_better(found, sets[order], totals[order], None if minor is None else minor[order])


def _join_shares(
    subsets: Subsets,
    criterion: Criterion,
    before: Numbers,
    following: Numbers,
    wanted: Longs,
    size: int,
    found: Numbers,
) -> None:
    """Try every part of every wanted subset."""
    for sets, parts in shares(subsets, wanted, size):
        rest = sets[:, np.newaxis] - parts
        totals = criterion.joined(before[0][rest], following[0][parts])
        best = totals.min(axis=1)
        minor = None
        if before[1] is not None and following[1] is not None:
            rows, columns = np.nonzero(totals == best[:, np.newaxis])
            ties = before[1][rest[rows, columns]] + following[1][parts[rows, columns]]
            minor = np.minimum.reduceat(ties, np.flatnonzero(np.diff(rows, prepend=-1)))
        keep_better(found, sets, capped(best), minor)


def shares(subsets: Subsets, wanted: Longs, size: int) -> Iterator[tuple[Longs, Longs]]:
    """Wanted subsets, some at a time (r,), and all parts of each that can have ``size`` items (r, c)."""
    counts = np.bitwise_count(wanted)
    held = np.unique(np.bitwise_count(subsets.of_items.get(size, NO_SETS)))
    for count in np.unique(counts).tolist():
        sets = wanted[counts == count]
        bits = _bits(sets, count)
        for taken in held[held <= count].tolist():
            chosen = _choices(count, taken)  # (count, c)
            step = max(1, MOST_ENTRIES // chosen.shape[1])
            for at in range(0, len(sets), step):
                yield sets[at : at + step], (bits[at : at + step] @ chosen).astype(np.int64)


def _bits(sets: Longs, count: int) -> NDArray[np.float32]:
    """The bits of subsets of ``count`` units, as numbers: shape (w, count)."""
    width = int(sets.max(initial=1)).bit_length()
    units = np.nonzero((sets[:, np.newaxis] >> np.arange(width)) & 1)[1].reshape(len(sets), count)
    return np.asarray(2.0**units, dtype=np.float32)  # exact below 2^24


@lru_cache(maxsize=32)
def _choices(count: int, taken: int) -> NDArray[np.float32]:
    """Every choice of some of ``count`` bits: a column of zeros and ones each, shape (count, c)."""
    every = np.arange(1 << count)
    chosen = every[np.bitwise_count(every) == taken]
    return np.asarray((chosen >> np.arange(count)[:, np.newaxis]) & 1, dtype=np.float32)
