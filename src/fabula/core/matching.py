"""Exact matching of items to positions: smallest largest deviation first, smallest sum of deviations second.

For numbers on a line both are reached by one pairing, sorted values with sorted targets, because the cost is a
convex function of the distance: O(n log n). Vectors and forbidden positions need the general solver.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats, Ints
from fabula.errors import ConstraintError


def match_sorted(values: Floats, targets: Floats) -> Ints:
    """Lay numbers (n,) on targets (n,), exactly optimal in both senses; equal values keep their given order.

    >>> match_sorted(np.array([3.0, 1.0, 2.0]), np.array([0.0, 5.0, 9.0]))
    array([1, 2, 0])
    """
    items = np.argsort(values)
    positions = np.argsort(targets, kind="stable")  # a template has few runs: quick for a merge sort
    ranked = values[items]
    tied = ranked[1:] == ranked[:-1]
    if tied.any():
        run = np.concatenate([[0], np.cumsum(~tied)])  # equal values share a number
        items, positions = _sorted_within(run, items), _sorted_within(run, positions)
    ordering = np.empty_like(items)
    ordering[positions] = items
    return ordering


def match_assignment(cost: Floats, *, floor: float = 0.0) -> Ints:
    """Lay items on positions by a table of deviations (n, n), ``inf`` where they may not stand: Algorithm 2, exact.

    Of all assignments the largest deviation is as small as can be, ``floor`` (of items fixed elsewhere) at least; of
    those, the sum is. A ConstraintError names items that share too few positions, where there is no assignment.

    >>> match_assignment(np.array([[0.0, 2.0], [1.0, np.inf]]))
    array([1, 0])
    """
    if not len(cost):
        return np.empty(0, dtype=np.intp)
    worst = _bottleneck(cost, floor)
    position = assign_least(np.where(cost <= worst, cost, np.inf))[1]
    ordering = np.empty_like(position)
    ordering[position] = np.arange(len(position))
    return ordering


def _bottleneck(cost: Floats, floor: float) -> float:
    """The smallest limit under which every item finds a position: an entry of ``cost``, or ``floor``."""
    low = max(floor, cost.min(axis=0).max(), cost.min(axis=1).max())
    if np.isfinite(low) and _feasible(cost, low):
        return float(low)
    finite = np.isfinite(cost)
    try:
        scaled = cost / (cost[finite].max(initial=0.0) or 1.0)
        position = assign_least(scaled**8)[1]  # close to the smallest maximum at once
    except ValueError:
        raise _shortage(finite) from None
    high = cost[np.arange(len(cost)), position].max()
    limits = np.unique(cost[(cost > low) & (cost <= high)])
    a, b = 0, len(limits) - 1  # limits[b] is enough
    while a < b:
        middle = (a + b) // 2
        a, b = (a, middle) if _feasible(cost, limits[middle]) else (middle + 1, b)
    return float(limits[b])


def _feasible(cost: Floats, limit: float) -> bool:
    """Whether some assignment keeps every deviation within the limit."""
    try:
        assign_least(np.where(cost <= limit, 0.0, np.inf))
    except ValueError:
        return False
    return True


def assign_least(cost: Floats) -> tuple[Ints, Ints]:
    """Rows and columns of the smallest sum; a ValueError when the finite entries allow none. Loads SciPy when asked."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(cost)
    return rows, columns


def _shortage(allowed: NDArray[np.bool_]) -> ConstraintError:
    """Items that share too few positions (a violator of Hall's condition)."""
    # A largest matching leaves an item out; the items reached from it by alternating paths have one position too few.
    position = assign_least((~allowed).astype(np.float64))[1]
    matched = allowed[np.arange(len(allowed)), position]
    owner = np.full(len(allowed), -1)
    owner[position[matched]] = np.flatnonzero(matched)
    frontier = [int(np.flatnonzero(~matched)[0])]
    items, positions = set(frontier), set[int]()
    while frontier:
        for spot in np.flatnonzero(allowed[frontier.pop()]).tolist():
            if spot not in positions:
                positions.add(spot)
                items.add(int(owner[spot]))
                frontier.append(int(owner[spot]))
    return ConstraintError(sorted(items), sorted(positions))


def _sorted_within(run: Ints, indices: Ints) -> Ints:
    """Sort indices within each run of equal run numbers; ``run`` is rising from 0."""
    n = len(indices)
    return np.asarray(np.sort(run * n + indices) - run * n)


# Equal items: which of them comes first is not for the order in which they were given to say.

Ties = Literal["random", "given"]

_TRIED = 8  # permutations, of which the one is taken that goes least with the order given
_SMALL = 256  # items up to which more than one is tried


def mixing(rows: Floats) -> Ints | None:
    """A permutation (n,) to show items in before they are ordered; None where no two rows (n, ...) are equal.

    Drawn from the values: the same items always give the same, which neither follows nor reverses the order given.
    """
    if not _tied(rows):
        return None
    n = len(rows)
    digest = hashlib.blake2b(np.ascontiguousarray(rows + 0.0).tobytes(), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(digest, "little"))
    drawn = [rng.permutation(n) for _ in range(_TRIED if n <= _SMALL else 1)]
    centred = np.arange(n) - (n - 1) / 2
    return min(drawn, key=lambda order: abs(float(centred @ order)))


def _tied(rows: Floats) -> bool:
    if rows.ndim > 1 and rows.shape[1:] != (1,):
        return len(np.unique(rows.reshape(len(rows), -1), axis=0)) < len(rows)
    ranked = np.sort(rows.reshape(-1))
    return bool((ranked[1:] == ranked[:-1]).any())
