"""All subsets of a few units, as bit masks, with what they hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabula.core.arranging.exact.criteria import Longs
from fabula.core.arranging.positions import Bools
from fabula.core.arranging.units import Units
from fabula.core.essence import Floats


@dataclass(frozen=True, eq=False)
class Subsets:
    """The 2^u subsets of u units; subset number s holds unit k when bit k of s is set.

    Attributes
    ----------
    parts
        The units.
    lengths
        Shape (u,): what limits count, of each unit.
    """

    parts: Units
    lengths: Floats

    @cached_property
    def every(self) -> Longs:
        """All subsets, shape (2^u,)."""
        return np.arange(1 << len(self.lengths), dtype=np.int64)

    @cached_property
    def items(self) -> Longs:
        """How many items each subset holds, shape (2^u,)."""
        return summed(self.parts.lengths.tolist()).astype(np.int64)

    @cached_property
    def load(self) -> Floats:
        """The length of each subset, shape (2^u,)."""
        return summed(self.lengths.tolist())

    @cached_property
    def layers(self) -> list[Longs]:
        """The subsets of 0, 1, ... u units."""
        count = np.bitwise_count(self.every)
        order = np.argsort(count, kind="stable")
        return np.split(self.every[order], np.cumsum(np.bincount(count))[:-1])

    @cached_property
    def of_items(self) -> dict[int, Longs]:
        """The subsets that hold so many items."""
        order = np.argsort(self.items, kind="stable")
        sizes, starts = np.unique(self.items[order], return_index=True)
        return dict(zip(sizes.tolist(), np.split(self.every[order], starts[1:]), strict=True))

    @cached_property
    def needed(self) -> list[int]:
        """For each unit, the subset of those that must stand before it."""
        return [mask_of(np.flatnonzero(column)) for column in self.parts.earlier.T]

    @cached_property
    def closed(self) -> Bools:
        """Whether a subset can be the first sides: whatever must stand before one of its units is in it; (2^u,)."""
        closed = np.ones(len(self.every), dtype=bool)
        for unit, needed in enumerate(self.needed):
            if needed:
                closed &= ((self.every >> unit) & 1 == 0) | (self.every & needed == needed)
        return closed

    @cached_property
    def item_masks(self) -> Floats:
        """Each subset as a mask of items: a name that stays when units are merged; (2^u,)."""
        return summed([float(sum(2.0**item for item in run)) for run in self.parts.members])


def summed(values: Iterable[float]) -> Floats:
    """The sum of each subset of some values, shape (2^u,).

    Examples
    --------
    >>> summed([1, 5])
    array([0., 1., 5., 6.])
    """
    out = np.zeros(1)
    for value in values:
        out = np.concatenate([out, out + value])
    return out


def mask_of(units: Iterable[int]) -> int:
    """The subset of some units."""
    return sum(1 << int(unit) for unit in units)
