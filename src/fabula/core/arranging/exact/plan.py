"""Plans: what is to be shared out between sides, and which sizes the sides can have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabula.core.arranging.constraints import SLACK, Constraints
from fabula.core.arranging.exact.criteria import Longs
from fabula.core.arranging.exact.subsets import Subsets, mask_of
from fabula.core.arranging.limits import side_sizes
from fabula.core.arranging.positions import Bools, allowed_positions, settle
from fabula.core.arranging.units import units


@dataclass(frozen=True, eq=False)
class Plan:
    """So many items kept, on sides that hold so much.

    Attributes
    ----------
    constraints
        What must be kept.
    subsets
        Of all units.
    kept
        How many items are kept.
    room
        The most a side may hold.
    """

    constraints: Constraints
    subsets: Subsets
    kept: int
    room: float

    @property
    def complete(self) -> bool:
        """Whether nothing is left out."""
        return self.kept == self.constraints.n

    @property
    def simple(self) -> bool:
        """Whether joining the sides is no work worth pruning."""
        return self.constraints.sides == 1 or (self.constraints.sides == 2 and self.complete)

    @cached_property
    def final(self) -> Longs:
        """The subsets that can be what is kept."""
        s, c = self.subsets, self.constraints
        named = mask_of({int(s.parts.of[item]) for item in c.named})
        sets = s.of_items.get(self.kept, np.empty(0, dtype=np.int64))
        limit = np.inf if c.limit is None else c.limit * SLACK
        return np.asarray(sets[(sets & named == named) & (s.load[sets] <= limit)])

    @cached_property
    def sizes(self) -> range:
        """How many items a side can have, by the lengths alone."""
        return side_sizes(self.constraints, self.kept, self.room)

    def steps(self, side: int) -> list[tuple[int, int]]:
        """Pairs (items on the sides before, items on this side)."""
        low, high = self.sizes.start, self.sizes.stop - 1
        behind = self.constraints.sides - side - 1
        return [
            (begun, size)
            for begun in range(side * low, min(side * high, self.kept) + 1)
            for size in self.sizes
            if behind * low <= self.kept - begun - size <= behind * high
        ]

    def wanted(self, side: int, items: int) -> Longs:
        """The subsets with so many items that can be the sides up to this one."""
        s, sides = self.subsets, self.constraints.sides
        if side == sides - 1:
            return self.final
        sets = s.of_items.get(items, np.empty(0, dtype=np.int64))
        least = float(s.load[-1]) - (sides - 1 - side) * self.room if self.complete else 0.0
        load = s.load[sets]
        return sets[s.closed[sets] & (load >= least * (1 - 1e-12)) & (load <= (side + 1) * self.room)]

    def allowed(self, side: int, begun: int, size: int) -> Bools | None:
        """Which item may stand where on a side that begins after ``begun`` items: shape (n, size)."""
        whole = allowed_positions(self.constraints, self.kept)
        if whole is None:
            return None
        here = whole[:, begun : begun + size].copy()
        for (number, position), item in self.constraints.ends.items():
            if number != side:
                here[item] = False
            elif not -size <= position < size or not settle(here, item, position % size):
                return None
        return here


def plan(constraints: Constraints, kept: int, room: float) -> Plan:
    """A plan, with the subsets of its units."""
    parts = units(constraints)
    lengths = np.array([constraints.counted[list(run)].sum() for run in parts.members])
    return Plan(constraints, Subsets(parts, lengths), kept, room)
