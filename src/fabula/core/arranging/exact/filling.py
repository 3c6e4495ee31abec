"""Sides filled and joined, under one criterion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.arranging.exact.criteria import NEVER, Criterion
from fabula.core.arranging.exact.joining import NO_SETS, Numbers, join, keep_better
from fabula.core.arranging.exact.plan import Plan
from fabula.core.arranging.exact.pruning import Singles
from fabula.core.arranging.exact.side import Side, fill, side
from fabula.core.arranging.exact.subsets import Subsets
from fabula.core.arranging.positions import Bools


@dataclass(frozen=True, eq=False)
class Filled:
    """Sides filled under one criterion.

    Attributes
    ----------
    plan, criterion
        What was filled, and what was minimised.
    single
        For (side, items before it, its size): both numbers of its subsets, where that side can be.
    joined
        For each side: both numbers of each subset (2^u,) on the sides up to it.
    """

    plan: Plan
    criterion: Criterion
    single: Singles
    joined: list[Numbers]

    @property
    def best(self) -> int:
        """The smallest number; NEVER where nothing keeps the constraints."""
        return int(self.joined[-1][0].min())


def single_sides(planned: Plan, criterion: Criterion) -> Singles:
    """Both numbers of every subset on each side that there can be."""
    single: Singles = {}
    known: dict[bytes, Numbers] = {}
    for number in range(planned.constraints.sides):
        for begun, size in planned.steps(number):
            allowed = planned.allowed(number, begun, size)
            if allowed is None:
                continue
            at = begun if criterion.shared is not None else 0
            key = size.to_bytes(4) + at.to_bytes(4) + allowed.tobytes()
            if key not in known:
                first, second = fill(_side(planned, criterion, allowed, begun))
                here = planned.subsets.of_items.get(size, NO_SETS)
                known[key] = first[here], None if second is None else second[here]
            single[number, begun, size] = known[key]
    return single


def _side(planned: Plan, criterion: Criterion, allowed: Bools, begun: int) -> Side:
    return side(planned.subsets, criterion, allowed, planned.room, begun=begun, kept=planned.kept)


def joined(planned: Plan, criterion: Criterion, single: Singles) -> list[Numbers]:
    """Both numbers of each subset on the sides up to each."""
    out: list[Numbers] = []
    for number in range(planned.constraints.sides):
        kept = _nothing(planned.subsets, criterion)
        for begun, size in planned.steps(number):
            if (number, begun, size) not in single:
                continue
            following = spread(planned.subsets, criterion, size, single[number, begun, size])
            sets = planned.wanted(number, begun + size)
            if number == 0:
                total, minor = following[0][sets], None if following[1] is None else following[1][sets]
            else:
                before = _with_items(planned.subsets, out[-1], begun)
                total, minor = join(planned.subsets, criterion, before, following, sets, size)
            keep_better(kept, sets, total, minor)
        out.append(kept)
    return out


def _nothing(subsets: Subsets, criterion: Criterion) -> Numbers:
    shape = subsets.every.shape
    return np.full(shape, NEVER), None if criterion.minor is None else np.full(shape, NEVER)


def spread(subsets: Subsets, criterion: Criterion, size: int, numbers: Numbers) -> Numbers:
    """The numbers of the subsets with ``size`` items, in arrays over all subsets."""
    first, second = _nothing(subsets, criterion)
    here = subsets.of_items.get(size, NO_SETS)
    first[here] = numbers[0]
    if second is not None and numbers[1] is not None:
        second[here] = numbers[1]
    return first, second


def _with_items(subsets: Subsets, numbers: Numbers, items: int) -> Numbers:
    """The numbers of those subsets alone that hold so many items."""
    return np.where(subsets.items == items, numbers[0], NEVER), numbers[1]
