"""Items that share something kept in one run: as a cost of every step from one strand to another."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints

T = TypeVar("T")
_TIMES = (1.0, 10.0, 100.0)  # weights tried, as multiples of what all else is about worth


def crossings(labels: Sequence[Hashable | None]) -> Floats:
    """1 where a step leads from one strand to another, else 0: shape (n, n); an item without one is a strand alone.

    Examples
    --------
    >>> crossings(["a", "a", "b"]).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    own = [(label,) if label is not None else index for index, label in enumerate(labels)]
    table = np.array([[float(one != other) for other in own] for one in own])
    return table.reshape(len(own), len(own))


def torn(ordering: Ints, labels: Sequence[Hashable | None]) -> list[Hashable]:
    """The strands that an ordering tears apart.

    Examples
    --------
    >>> torn(np.array([0, 2, 1]), ["a", "a", "b"])
    ['a']
    """
    seen, found, before = set(), [], object()
    for label in (labels[i] for i in ordering.tolist()):
        if label is not None and label != before and label in seen:
            found.append(label)
        seen.add(label)
        before = label
    return list(dict.fromkeys(found))


def kept_together(
    labels: Sequence[Hashable | None], worth: float, solve: Callable[[Floats], T], ordering_of: Callable[[T], Ints]
) -> T:
    """Solve with a cost of crossings that rises until no strand is torn; the last result where one still is.

    Parameters
    ----------
    labels
        The strand of each item.
    worth
        What all else is about worth, so that a crossing costs more.
    solve
        From the cost of steps, shape (n, n), to a result.
    ordering_of
        Its ordering.
    """
    table = crossings(labels)
    found = solve(_TIMES[0] * worth * table)
    for times in _TIMES[1:]:
        if not torn(ordering_of(found), labels):
            break
        found = solve(times * worth * table)
    return found
