"""Sizes of sides: all there are where they are few, else from even ones on to better ones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import permutations

import numpy as np

from fabula.core.arranging.many.line import ranks_of
from fabula.core.essence import Floats
from fabula.core.template import Template

MOST_SIZES = 2000  # that are judged
FAR = (1, 2, 5, 12, 30, 75)  # items moved from one side to another

Sizes = tuple[int, ...]
Judged = tuple[float, float, Sizes]  # the largest deviation, the sum, the sizes


def even_sizes(kept: int, sides: int) -> Sizes:
    """Sizes that differ by one at most.

    Examples
    --------
    >>> even_sizes(7, 3)
    (3, 2, 2)
    """
    return tuple(kept // sides + (side < kept % sides) for side in range(sides))


def judged_sizes(
    template: Template, values: Floats, allowed: range, sides: int, *, power: int, until: float
) -> tuple[list[Judged], bool]:
    """Sizes that sides of sorted values can have, the best first, and whether these are all there are.

    With squares, ``power`` 2, the largest deviation does not count and is told as 0.
    """
    kept = len(values)
    known: dict[Sizes, Judged] = {}

    def judge(sizes: Sizes) -> Judged:
        if sizes not in known:
            deviations = ranks_of(template, sizes).deviations(values)
            worst = float(deviations.max()) if power == 1 else 0.0
            known[sizes] = (worst, float((deviations**power).sum()), sizes)
        return known[sizes]

    if sides == 1:
        return [judge((kept,))], True
    every = _two(kept, allowed) if sides == 2 else []
    for sizes in every:
        judge(sizes)
        if time.monotonic() > until:
            break
    complete = sides == 2 and len(known) == len(every)
    best = judge(even_sizes(kept, sides))
    while sides > 2 and len(known) < MOST_SIZES and time.monotonic() < until:
        better = min((judge(sizes) for sizes in _near(best[2], allowed)), default=best)
        if better[:2] >= best[:2]:
            break
        best = better
    return sorted(known.values(), key=lambda one: (*one[:2], _uneven(one[2]))), complete


def _two(kept: int, allowed: range) -> list[Sizes]:
    """All sizes of two sides, the most even first."""
    sizes = [(size, kept - size) for size in allowed if kept - size in allowed]
    return sorted(sizes, key=_uneven)


def _uneven(sizes: Sizes) -> int:
    return max(sizes) - min(sizes)


def _near(sizes: Sizes, allowed: range) -> Iterator[Sizes]:
    """Sizes with some items moved from one side to another."""
    for giver, taker in permutations(range(len(sizes)), 2):
        for count in FAR:
            moved = list(sizes)
            moved[giver] -= count
            moved[taker] += count
            if moved[giver] in allowed and moved[taker] in allowed:
                yield tuple(moved)
