"""Units: runs of items that move as one, single items among them, and the positions where each may start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.positions import Bools
from fabula.core.ordering import Ints


@dataclass(frozen=True, eq=False)
class Units:
    """The m units of n items.

    Attributes
    ----------
    members
        The items of each unit, in order; units are sorted by their first item.
    of, offset
        Shape (n,): unit of each item, and its position in it.
    lengths
        Shape (m,).
    earlier
        Shape (m, m): ``earlier[a, b]`` when unit a must stand before unit b, followed through.
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


def allowed_starts(allowed: Bools, parts: Units) -> Bools:
    """Where each unit may start, shape (units, n): no position is wrongly excluded, some may be wrongly allowed.

    ``allowed`` says where each item may stand by itself, shape (n, n).

    A unit cannot start before everything that must stand before it is through, nor so late that what must follow
    finds no room; both are carried along ``before`` until nothing changes.
    """
    n = len(allowed)
    starts = np.zeros((len(parts.members), n), dtype=bool)
    for number, run in enumerate(parts.members):
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
