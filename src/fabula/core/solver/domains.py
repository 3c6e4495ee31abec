"""Domains: which item may stand where, runs as units, how many items can be kept and what a side may hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Ints
from fabula.core.solver.constraints import Constraints
from fabula.core.solver.kinds import SLACK

Bools = NDArray[np.bool_]


def positions_allowed(constraints: Constraints, m: int) -> Bools | None:
    """Which item may stand at which of m positions by ``fixed`` and ``forbidden``: shape (n, m).

    None where ``fixed`` asks for a position there is not, for two items at one, or for one item at two.

    Examples
    --------
    >>> positions_allowed(Constraints(2, fixed={-1: 0}), 2)
    array([[False,  True],
           [ True, False]])
    """
    allowed = np.ones((constraints.n, m), dtype=bool)
    for item, position in constraints.forbidden:
        if -m <= position < m:
            allowed[item, position] = False
    for position, item in constraints.fixed.items():
        if not -m <= position < m or not settle(allowed, item, position):
            return None
    return allowed


def side_positions(constraints: Constraints, sizes: Sequence[int]) -> Bools | None:
    """The same with ``ends``, for sides of given sizes one after the other: shape (n, m); None as there."""
    allowed = positions_allowed(constraints, sum(sizes))
    starts = np.cumsum([0, *sizes])
    for (side, position), item in constraints.ends.items():
        inside = -sizes[side] <= position < sizes[side]
        if allowed is None or not inside:
            return None
        if not settle(allowed, item, int(starts[side]) + position % sizes[side]):
            return None
    return allowed


def settle(allowed: Bools, item: int, position: int) -> bool:
    """Leave an item this position alone, in place; whether it was still allowed there."""
    here = bool(allowed[item, position])
    allowed[item] = False
    allowed[:, position] = False
    allowed[item, position] = here
    return here


# Units: runs of items that move as one, single items among them, and the positions where each may start.


@dataclass(frozen=True, eq=False)
class Units:
    """The m units of n items.

    ``members``: the items of each unit, in order; units are sorted by their first item. ``of``, ``offset``: shape (n,):
    unit of each item, and its position in it. ``lengths``: shape (m,). ``earlier``: shape (m, m): ``earlier[a, b]``
    when unit a must stand before unit b, followed through.
    """

    members: tuple[tuple[int, ...], ...]
    of: Ints
    offset: Ints
    lengths: Ints
    earlier: Bools


def units(constraints: Constraints) -> Units:
    """Merge the runs, and carry ``before`` over from items to units."""
    inside = {item for run in constraints.together for item in run}
    single = [(item,) for item in range(constraints.n) if item not in inside]
    members = tuple(sorted([*single, *(tuple(run) for run in constraints.together)]))
    of, offset = np.empty((2, constraints.n), dtype=np.intp)
    for number, run in enumerate(members):
        of[list(run)] = number
        offset[list(run)] = np.arange(len(run))
    lengths = np.array([len(run) for run in members], dtype=np.intp)
    earlier = np.zeros((len(members), len(members)), dtype=bool)
    for a, b in constraints.before:
        earlier[of[a], of[b]] |= of[a] != of[b]
    return Units(members, of, offset, lengths, _closure(earlier))


def _closure(earlier: Bools) -> Bools:
    """Follow the relation through; only rows that lead somewhere are touched."""
    closed = earlier.copy()
    for middle in np.flatnonzero(earlier.any(axis=0) & earlier.any(axis=1)):
        closed[closed[:, middle]] |= closed[middle]
    return closed


def starts_allowed(allowed: Bools, parts: Units) -> Bools:
    """Where each unit may start, shape (units, n): no position is wrongly excluded, some may be wrongly allowed.

    ``allowed`` says where each item may stand by itself, shape (n, n).

    A unit cannot start before everything that must stand before it is through, nor so late that what must follow
    finds no room; both are carried along ``before`` until nothing changes.
    """
    n = len(allowed)
    starts = np.zeros((len(parts.members), n), dtype=bool)
    single = parts.lengths == 1
    starts[single] = allowed[[run[0] for run in parts.members if len(run) == 1]]
    for number in np.flatnonzero(~single).tolist():
        run = parts.members[number]
        last = n - len(run) + 1
        starts[number, :last] = np.all([allowed[item, o : last + o] for o, item in enumerate(run)], axis=0)
    linked = np.flatnonzero(parts.earlier.any(axis=0) | parts.earlier.any(axis=1))
    changed = len(linked) > 0
    while changed and starts[linked].any(axis=1).all():
        count = starts[linked].sum()
        _tighten(starts, parts, linked)
        changed = bool(starts[linked].sum() != count)
    return starts


def _tighten(starts: Bools, parts: Units, linked: Ints) -> None:
    """One round: cut the starts of the linked units, in place, by those before and those behind."""
    n = starts.shape[1]
    first = starts.argmax(axis=1)
    behind = starts[:, ::-1].argmax(axis=1) + 1 - parts.lengths  # room left behind each unit at its last start
    for unit in linked:
        room = _through(first, parts.lengths, np.flatnonzero(parts.earlier[:, unit]))
        starts[unit, :room] = False
        room = _through(behind, parts.lengths, np.flatnonzero(parts.earlier[unit]))
        starts[unit, max(0, n - room - int(parts.lengths[unit]) + 1) :] = False


def _through(release: Ints, lengths: Ints, group: Ints) -> int:
    """When a group of units, each free from its release on, can be through at the earliest."""
    time = 0
    for unit in group[np.argsort(release[group])]:
        time = max(time, int(release[unit])) + int(lengths[unit])
    return time


# Limits: how many items can be kept, and how much a side may hold.

UNEVEN = 1.15  # how far the longest side may be above the mean where no limit is given


def possible_counts(constraints: Constraints) -> range:
    """How many items can be kept, the most first; empty when what must be kept is over the limit.

    Where the limit holds for all items, none is left out, whatever else cannot be kept.

    Examples
    --------
    >>> list(possible_counts(Constraints(4, lengths=[1, 2, 3, 4], limit=6, fixed={0: 3})))
    [2, 1]
    """
    n, lengths = constraints.n, constraints.weights
    if constraints.limit is None or lengths.sum() <= constraints.limit * SLACK:
        return range(n, n - 1, -1)
    free = np.setdiff1d(np.arange(n), list(constraints.must_keep))
    saved = np.concatenate([[0.0], np.cumsum(np.sort(lengths[free])[::-1])])
    enough = np.flatnonzero(lengths.sum() - saved <= constraints.limit * SLACK)
    if not len(enough):
        return range(0)
    return range(n - int(enough[0]), max(n - len(free), 1) - 1, -1)


def even_room(constraints: Constraints) -> float:
    """The most a side may hold without a side limit, where the constraints permit it."""
    total = float(constraints.weights.sum())
    return UNEVEN * min(total, constraints.limit or np.inf) / constraints.sides


def side_room(constraints: Constraints) -> float:
    """The most a side may hold, slack for rounding included."""
    if constraints.side_limit is not None:
        return constraints.side_limit * SLACK
    return even_room(constraints) * SLACK if constraints.sides > 1 else np.inf


def side_sizes(constraints: Constraints, kept: int, room: float) -> range:
    """How many items a side can have when so many are kept, by the lengths alone.

    Examples
    --------
    >>> side_sizes(Constraints(6, sides=2), 6, 4.0)
    range(2, 5)
    """
    lengths, sides = np.sort(constraints.weights), constraints.sides
    most, least = int(np.searchsorted(np.cumsum(lengths), room, side="right")), 1
    rest = float(lengths.sum()) - (sides - 1) * room  # what the other sides cannot hold
    if kept == constraints.n and rest > 0:
        least = int(np.searchsorted(np.cumsum(lengths[::-1]), rest * (1 - 1e-12))) + 1
    return range(least, min(most, kept - (sides - 1) * least) + 1)


def item_positions(parts: Units, starts: Bools) -> Bools:
    """Where each item may stand (n, n), from where its unit may start (units, n)."""
    n = len(parts.of)
    place = np.arange(n) - parts.offset[:, np.newaxis]
    return np.asarray((place >= 0) & starts[parts.of[:, np.newaxis], np.maximum(place, 0)])
