"""Items and targets on a line: what sorting tells of every ordering.

Numbers laid on targets cost least, in the largest deviation, in the sum and in the squares alike, where sorted values
meet sorted targets. So the ranks of the targets are all that counts; where the sizes of sides are open, each rank is
known to lie between two numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.core.template import Template

GRID = 1201  # numbers between which ranks are told


@dataclass(frozen=True, eq=False)
class Ranks:
    """The m targets, sorted: the one of each rank lies between ``low`` and ``high``, shape (m,)."""

    low: Floats
    high: Floats

    def away(self, value: float, first: int = 0, last: int | None = None) -> Floats:
        """How far a value is at least from the targets of some ranks."""
        low, high = self.low[first:last], self.high[first:last]
        return np.maximum(np.maximum(low - value, value - high), 0.0)

    def nearest(self, values: Floats) -> Floats:
        """How far each rank is at least from the nearest of some sorted values."""
        above = np.searchsorted(values, self.low)
        ahead = values[np.minimum(above, len(values) - 1)]
        behind = values[np.maximum(above - 1, 0)]
        up = np.where(above < len(values), np.maximum(ahead - self.high, 0.0), np.inf)
        return np.minimum(up, np.where(above > 0, np.maximum(self.low - behind, 0.0), np.inf))

    def deviations(self, values: Floats) -> Floats:
        """How far each of m sorted values is at least from the target of its rank."""
        return np.maximum(np.maximum(self.low - values, values - self.high), 0.0)


def ranks_of(template: Template, sizes: Sequence[int]) -> Ranks:
    """The targets of sides of given sizes.

    Examples
    --------
    >>> ranks_of(Template([0, 1], [0, 1]), (2, 3)).low
    array([0. , 0. , 0.5, 1. , 1. ])
    """
    targets = np.sort(np.concatenate([template.samples(size) for size in sizes]))
    return Ranks(targets, targets)


@lru_cache(maxsize=16)
def ranks_between(template: Template, sizes: range, sides: int, kept: int) -> Ranks:
    """The targets of as many sides, of any sizes in a range, that hold so many items in all.

    How many targets of a side lie below a number grows nearly evenly with its size; what it is off by at most, in
    all sizes, bounds how many there are in all.
    """
    curve = np.sort(template.samples(GRID))
    samples = [np.sort(template.samples(size)) for size in sizes]
    ends = min(one[0] for one in samples), max(one[-1] for one in samples)
    grid = np.unique(np.concatenate([[ends[0] - 1.0], curve, ends]))
    counts = np.array([np.searchsorted(one, grid, side="right") for one in samples])  # (sizes, grid)
    number = np.array(sizes)[:, np.newaxis]
    slope = (counts[-1] - counts[0]) / max(sizes[-1] - sizes[0], 1) if len(sizes) > 1 else counts[0] / sizes[0]
    off = counts - slope * number
    most = np.floor(slope * kept + sides * off.max(axis=0) + 1e-6)
    least = np.ceil(slope * kept + sides * off.min(axis=0) - 1e-6)
    most, least = np.minimum.accumulate(most[::-1])[::-1], np.maximum.accumulate(least)
    rank = np.arange(kept)
    above = np.searchsorted(most, rank, side="right") - 1
    below = np.searchsorted(least, rank + 1, side="left")
    low = np.where(above >= 0, grid[np.maximum(above, 0)], -np.inf)
    high = np.where(below < len(grid), grid[np.minimum(below, len(grid) - 1)], np.inf)
    return Ranks(low, high)


def laid(template: Template, sizes: Sequence[int], values: Floats, items: Ints) -> Ints:
    """The best ordering of items by their sorted values, on sides of given sizes."""
    targets = np.concatenate([template.samples(size) for size in sizes])
    ordering = np.empty(len(items), dtype=np.intp)
    ordering[np.argsort(targets, kind="stable")] = items[np.argsort(values, kind="stable")]
    return ordering
