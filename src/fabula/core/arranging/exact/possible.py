"""Whether parts can be joined to an arrangement at all, their costs aside: much quicker than the cheapest join."""

from __future__ import annotations

from math import comb

import numpy as np

from fabula.core.arranging.exact.criteria import NEVER, Criterion, Longs
from fabula.core.arranging.exact.joining import NO_SETS, shares
from fabula.core.arranging.exact.plan import Plan
from fabula.core.arranging.exact.pruning import Singles
from fabula.core.arranging.positions import Bools

FEW_PAIRS = 1 << 22


def can_join(planned: Plan, criterion: Criterion, single: Singles, limit: int) -> bool:
    """Whether there is an arrangement of parts none of which costs a side more than ``limit``."""
    last = planned.constraints.sides - 1
    reached = np.zeros(len(planned.subsets.every), dtype=bool)
    closing = _closing(planned, criterion, single, limit)
    for number in range(last):
        before, reached = reached, np.zeros_like(reached)
        for begun, size in planned.steps(number):
            parts = _parts(planned, criterion, single, (number, begun, size), limit)
            sets = planned.wanted(number, begun + size)
            if number == last - 1 and closing is not None:
                sets = sets[closing[sets]]
            if number == 0:
                reached[sets] |= parts[sets]
            else:
                _join(planned, before & (planned.subsets.items == begun), parts, reached, sets, size)
    if closing is not None:
        return bool((reached & closing).any())
    whole = np.zeros_like(reached)
    for begun, size in planned.steps(last):
        parts = _parts(planned, criterion, single, (last, begun, size), limit)
        _join(planned, reached & (planned.subsets.items == begun), parts, whole, planned.final, size)
    return bool(whole[planned.final].any())


def _parts(planned: Plan, criterion: Criterion, single: Singles, key: tuple[int, int, int], limit: int) -> Bools:
    """Which subsets can be a side: shape (2^u,)."""
    out = np.zeros(len(planned.subsets.every), dtype=bool)
    numbers = single.get(key)
    if numbers is not None:
        here = planned.subsets.of_items.get(key[2], NO_SETS)
        out[here] = (numbers[0] < NEVER) & (numbers[0] & criterion.mask <= limit)
    return out


def _closing(planned: Plan, criterion: Criterion, single: Singles, limit: int) -> Bools | None:
    """Which subsets leave what can be the last side, where nothing is left out: shape (2^u,); None where it may be."""
    if not planned.complete:
        return None
    last = planned.constraints.sides - 1
    out = np.zeros(len(planned.subsets.every), dtype=bool)
    for begun, size in planned.steps(last):
        out |= _parts(planned, criterion, single, (last, begun, size), limit)[::-1]  # the complement of each subset
    return out


def _join(planned: Plan, before: Bools, parts: Bools, reached: Bools, sets: Longs, size: int) -> None:
    """Mark those of some subsets that a subset so far and a part make up, in place."""
    sets = sets[~reached[sets]]
    ahead, behind = np.flatnonzero(before), np.flatnonzero(parts)
    held = np.bincount(np.bitwise_count(sets), minlength=1)
    many = sum(int(number) * comb(count, size) for count, number in enumerate(held))
    if len(ahead) * len(behind) < min(2 * many, FEW_PAIRS):
        rows, columns = np.nonzero((ahead[:, np.newaxis] & behind) == 0)
        met = np.zeros_like(reached)
        met[ahead[rows] | behind[columns]] = True
        reached[sets] |= met[sets]
        return
    for some, shared in shares(planned.subsets, sets, size):
        reached[some] |= (parts[shared] & before[some[:, np.newaxis] - shared]).any(axis=1)
