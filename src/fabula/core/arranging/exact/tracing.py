"""From the best numbers back to the ordering behind them."""

from __future__ import annotations

import numpy as np

from fabula.core.arranging.exact.criteria import Longs
from fabula.core.arranging.exact.filling import Filled, spread
from fabula.core.arranging.exact.joining import NO_SETS
from fabula.core.arranging.exact.side import Side, side, trace
from fabula.core.arranging.exact.subsets import Subsets
from fabula.core.arranging.units import Units
from fabula.core.ordering import Ints


def traced(found: Filled) -> tuple[Ints, tuple[int, ...]]:
    """The ordering behind the best numbers; of those that tie, the first in the order of the items."""
    planned, subsets = found.plan, found.plan.subsets
    first, second = found.joined[-1]
    final = planned.final
    left = int(_least(subsets, final, first[final], None if second is None else second[final]))
    pieces: list[list[int]] = []
    for number in range(planned.constraints.sides - 1, -1, -1):
        begun, part = (0, left) if number == 0 else _last_side(found, number, left)
        pieces.append(_laid(found, number, begun, part))
        left ^= part
    pieces.reverse()
    sizes = tuple(map(len, pieces))
    return np.concatenate(pieces).astype(np.intp), sizes if len(sizes) > 1 else ()


def _least(subsets: Subsets, sets: Longs, first: Longs, second: Longs | None) -> int:
    """Of the subsets with the smallest numbers, the first by its items."""
    keys = [subsets.item_masks[sets], first] if second is None else [subsets.item_masks[sets], second, first]
    return int(sets[np.lexsort(keys)[0]])


def _last_side(found: Filled, number: int, left: int) -> tuple[int, int]:
    """How many items stand before the last side, and its subset, in the best way for a subset."""
    planned, subsets = found.plan, found.plan.subsets
    goal = tuple(None if x is None else int(x[left]) for x in found.joined[number])
    for begun, size in sorted(planned.steps(number), key=lambda step: step[1]):
        if begun + size != subsets.items[left] or (number, begun, size) not in found.single:
            continue
        following = spread(subsets, found.criterion, size, found.single[number, begun, size])
        before = found.joined[number - 1]
        parts = subsets.of_items.get(size, NO_SETS)
        parts = parts[parts & left == parts]
        tight = found.criterion.joined(before[0][left - parts], following[0][parts]) == goal[0]
        if before[1] is not None and following[1] is not None:
            tight &= before[1][left - parts] + following[1][parts] == goal[1]
        parts = parts[tight]
        if len(parts):
            return begun, int(parts[np.argmin(subsets.item_masks[parts])])
    raise RuntimeError("the sides do not add up to what was found")


def _laid(found: Filled, number: int, begun: int, part: int) -> list[int]:
    """The items of a side, in order."""
    planned, subsets = found.plan, found.plan.subsets
    size = int(subsets.items[part])
    allowed = planned.allowed(number, begun, size)
    if allowed is None:
        raise RuntimeError("a side stands where it cannot")
    whole = side(subsets, found.criterion, allowed, planned.room, begun=begun, kept=planned.kept)
    chosen = [unit for unit in range(len(whole.cost)) if part >> unit & 1]
    order = trace(_restricted(whole, chosen))
    return [item for unit in order for item in subsets.parts.members[chosen[unit]]]


def _restricted(whole: Side, chosen: list[int]) -> Side:
    """The same side for some of its units alone."""
    parts = whole.subsets.parts
    few = Units(
        tuple(parts.members[unit] for unit in chosen),
        parts.of,
        parts.offset,
        parts.lengths[chosen],
        parts.earlier[np.ix_(chosen, chosen)],
    )
    return Side(
        Subsets(few, whole.subsets.lengths[chosen]),
        whole.criterion,
        whole.cost[chosen],
        None if whole.minor is None else whole.minor[chosen],
        None if whole.link is None else whole.link[np.ix_(chosen, chosen)],
        whole.room,
    )
