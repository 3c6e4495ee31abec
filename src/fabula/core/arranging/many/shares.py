"""Shares: sides that hold too much made to hold what they may, by exchanges of items of nearly the same value."""

from __future__ import annotations

import time

import numpy as np

from fabula.core.arranging.positions import Bools
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

REACH = 40  # ranks between two items that are exchanged
MOST_EXCHANGES = 500  # rounds of them
AT_ONCE = 8  # exchanges in a round
WORSE = 50.0  # how much more a deviation above the largest counts


def shared(
    values: Floats, lengths: Floats, targets: Floats, side: Ints, room: float, *, worst: float, until: float
) -> Ints | None:
    """Which item takes which rank so that no side holds more than its room; None where that was not found.

    Parameters
    ----------
    values, lengths
        Shape (m,), of the items in the order of their values: sorted.
    targets, side
        Shape (m,): the sorted targets, and the side each is on.
    room
        The most a side may hold.
    worst
        The largest deviation so far, which should not grow.
    until
        When to give up by ``time.monotonic()``.
    """
    order, count = np.arange(len(values)), int(side.max()) + 1
    loads = np.bincount(side, lengths, count)
    for _ in range(MOST_EXCHANGES):
        if (loads <= room).all():
            return order
        if time.monotonic() > until:
            return None
        pairs = _cheapest(order, values, lengths, targets, side, loads, room, worst)
        if not pairs:
            return None
        for one, other in pairs:
            if loads[side[one]] > room or loads[side[other]] > room:
                order[[one, other]] = order[[other, one]]
                loads = np.bincount(side, lengths[order], count)
    return None


def _cheapest(
    order: Ints, values: Floats, lengths: Floats, targets: Floats, side: Ints, loads: Floats, room: float, worst: float
) -> list[tuple[int, int]]:
    """Exchanges of two ranks that cost least for what they take off sides that hold too much; no rank in two."""
    i, j = _pairs(len(order), loads[side] > room)
    i, j = i[side[i] != side[j]], j[side[i] != side[j]]
    shift = lengths[order[j]] - lengths[order[i]]  # what the side of i gains
    mine, other = loads[side[i]], loads[side[j]]
    before = np.maximum(mine - room, 0) + np.maximum(other - room, 0)
    gain = before - np.maximum(mine + shift - room, 0) - np.maximum(other - shift - room, 0)
    helps = gain > 1e-12 * room
    if not helps.any():
        return []
    i, j, gain = i[helps], j[helps], gain[helps]
    new = _costs(values[order[i]] - targets[j], worst) + _costs(values[order[j]] - targets[i], worst)
    old = _costs(values[order[i]] - targets[i], worst) + _costs(values[order[j]] - targets[j], worst)
    ratio = (new - old + 1e-9) / gain
    first = np.argsort(ratio, kind="stable")[: 4 * AT_ONCE]
    pairs, used = [], set[int]()
    for one, other in zip(i[first].tolist(), j[first].tolist(), strict=True):
        if one not in used and other not in used and len(pairs) < AT_ONCE:
            pairs.append((one, other))
            used |= {one, other}
    return pairs


def _costs(difference: Floats, worst: float) -> Floats:
    away = np.abs(difference)
    return away + WORSE * np.maximum(away - worst, 0.0)


def _pairs(m: int, full: Bools) -> tuple[Ints, Ints]:
    """Ranks near each other, of which at least one is on a side that holds too much."""
    step = np.arange(1, REACH + 1)
    i = np.repeat(np.arange(m), REACH)
    j = i + np.tile(step, m)
    inside = j < m
    i, j = i[inside], j[inside]
    near = full[i] | full[j]
    return i[near], j[near]
