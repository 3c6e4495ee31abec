"""Whether parts can be joined to an arrangement at all, their costs aside: much quicker than the cheapest join."""

from __future__ import annotations

from math import comb

import numpy as np

from fabula.core.arranging.exact.criteria import NEVER, Criterion
from fabula.core.arranging.exact.joining import NO_SETS, shares
from fabula.core.arranging.exact.plan import Plan
from fabula.core.arranging.exact.pruning import Singles
from fabula.core.arranging.positions import Bools

FEW_PAIRS = 1 << 22


def can_join(planned: Plan, criterion: Criterion, single: Singles, limit: int) -> bool:
    """Whether there is an arrangement of parts none of which costs a side more than ``limit``."""
    subsets = planned.subsets
    reached = np.zeros(len(subsets.every), dtype=bool)
    for number in range(planned.constraints.sides):
        before, reached = reached, np.zeros_like(reached)
        for begun, size in planned.steps(number):
            numbers = single.get((number, begun, size))
            if numbers is None:
                continue
            parts = np.zeros_like(reached)
            here = subsets.of_items.get(size, NO_SETS)
            parts[here] = (numbers[0] < NEVER) & (numbers[0] & criterion.mask <= limit)
            sets = planned.wanted(number, begun + size)
            if number == 0:
                reached[sets] |= parts[sets]
            else:
                _join(planned, before & (subsets.items == begun), parts, reached, number, begun, size)
    return bool(reached[planned.final].any())


def _join(planned: Plan, before: Bools, parts: Bools, reached: Bools, number: int, begun: int, size: int) -> None:
    """Mark the wanted subsets that a subset so far and a part make up, in place."""
    sets = planned.wanted(number, begun + size)
    ahead, behind = np.flatnonzero(before), np.flatnonzero(parts)
    many = sum(comb(int(count), size) for count in np.bitwise_count(sets))
    if len(ahead) * len(behind) < min(2 * many, FEW_PAIRS):
        rows, columns = np.nonzero((ahead[:, np.newaxis] & behind) == 0)
        met = np.zeros_like(reached)
        met[ahead[rows] | behind[columns]] = True
        reached[sets] |= met[sets]
        return
    for some, shared in shares(planned.subsets, sets, size):
        reached[some] |= (parts[shared] & before[some[:, np.newaxis] - shared]).any(axis=1)
