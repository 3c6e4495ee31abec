"""Orderings of many collections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from fabula.core.essence import Floats
from fabula.core.fit import Fit
from fabula.core.ordering import Ints


@dataclass(frozen=True, eq=False)
class OrderedMany:
    """One ordering of each of many collections, as arrays.

    Attributes
    ----------
    orderings
        Shape (rows,): of each collection, where its rows are, its ordering; ``ordering[position] = item``, counted
        within the collection.
    offsets
        Shape (number + 1,): where each collection begins and ends.
    scores
        Shape (number,): how likely each ordering is beside others of the same collection; higher is likelier.
    exact
        Shape (number,): whether no other ordering does better.
    gap
        Shape (number,): how much better another could be at most, as a part of what was reached; 0 where it is
        exact, NaN where it is not known.

    Examples
    --------
    >>> two = OrderedMany(np.array([1, 0, 0]), np.array([0, 2, 3]), np.zeros(2), np.ones(2, bool), np.zeros(2))
    >>> two[0], two.rows
    (array([1, 0]), array([1, 0, 2]))
    """

    orderings: Ints = field(repr=False)
    offsets: Ints = field(repr=False)
    scores: Floats
    exact: np.ndarray[tuple[int], np.dtype[np.bool_]]
    gap: Floats

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, number: int) -> Ints:
        number = range(len(self))[number]
        return self.orderings[self.offsets[number] : self.offsets[number + 1]]

    def __iter__(self) -> Iterator[Ints]:
        return (self[number] for number in range(len(self)))

    @property
    def rows(self) -> Ints:
        """The same orderings as rows of the whole, shape (rows,): ``features[ordered.rows]`` is all in order."""
        return self.orderings + np.repeat(self.offsets[:-1], np.diff(self.offsets))


def ordered_many(fits: Sequence[Fit], offsets: Ints) -> OrderedMany:
    """Orderings found one by one."""
    orderings = np.concatenate([np.empty(0, np.intp), *(fit.ordering for fit in fits)])
    exact = np.array([fit.exact for fit in fits], dtype=bool)
    scores = np.array([np.nan if fit.score is None else fit.score for fit in fits])
    return OrderedMany(orderings, offsets, scores, exact, np.where(exact, 0.0, np.nan))
