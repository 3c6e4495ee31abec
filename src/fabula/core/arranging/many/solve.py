"""The search among very many items: a draft, refined where wishes or flow ask for it, and what bounds it."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from fabula.core.arranging.arrangement import Bounds
from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.limits import kept_counts, side_room
from fabula.core.arranging.local.task import Found, Task, alike_price
from fabula.core.arranging.many.assigned import assigned_draft
from fabula.core.arranging.many.bounds import flow_floor, line_bounds, wishes_floor
from fabula.core.arranging.many.draft import Draft, line_draft
from fabula.core.arranging.many.refine import refined

MANY = 300  # items beyond which a search by tables takes too long
MANY_ON_SIDES = 100  # the same where sides have many sizes, or items are left out
ROOMIER = 1.1  # how much more sides hold where no even ones were found
ATTEMPTS = 8
LATE = 1.0  # seconds after which no ordering is looked for


def takes(task: Task) -> bool:
    """Whether there are so many items that a search by tables takes too long."""
    return task.constraints.n > (MANY if task.constraints.one_side else MANY_ON_SIDES)


def searched(task: Task) -> Found | None:
    """As many items kept as can be, on sides as even as can be; with bounds."""
    c = task.constraints
    begun = time.monotonic()
    for kept in kept_counts(c):
        room = side_room(c)
        for _ in range(ATTEMPTS if c.sides > 1 and c.side_limit is None else 1):
            found = _in_room(task, kept, room, begun)
            if found is not None:
                return found
            room *= ROOMIER
            if time.monotonic() > task.until + LATE:
                return None
    return None


def _in_room(task: Task, kept: int, room: float, begun: float) -> Found | None:
    """An ordering of so many items in which no side holds more than its room."""
    drafted = _drafted(task, kept, room, until=begun + 0.4 * (task.until - begun))
    if drafted is None:
        return None
    draft, floor = drafted
    if draft.fits and task.flow is None and _wishless(task.constraints) and task.on_line:
        return _bounded(task, draft.ordering, draft.sizes, room, floor)
    now = time.monotonic()
    least = 0.0
    if task.counts_worst:
        bounds = line_bounds(task, kept, room, np.inf, until=now + 0.1 * (task.until - now))
        least = max(bounds.worst or 0.0, wishes_floor(task, kept, room))
    soft = task.constraints.apart is not None and task.constraints.apart_soft
    for price in (np.inf, alike_price(task)) if soft else (np.inf,):
        until = now + 0.7 * (task.until - now)
        ordering = refined(task, draft, room, least, alike=price, until=until)
        if ordering is not None:
            return _bounded(task, ordering, draft.sizes, room, floor)
    return None


def _drafted(task: Task, kept: int, room: float, *, until: float) -> tuple[Draft, float] | None:
    """A draft, and a bound of its sum where one came with it."""
    follows = task.goal.follows
    if follows is None or not task.on_line:
        return assigned_draft(task, kept, room, until=until)
    draft = line_draft(task, follows, kept, room, until=until)
    return None if draft is None else (draft, -np.inf)


def _wishless(c: Constraints) -> bool:
    return not (c.fixed or c.forbidden or c.together or c.before or c.ends) and c.apart is None


def _bounded(task: Task, ordering: np.ndarray, sizes: tuple[int, ...], room: float, floor: float) -> Found:
    """What was found, with its bounds."""
    key = task.key(ordering, sizes)
    found = Found(ordering, sizes, key, Bounds(-np.inf), room)
    known = floor if len(sizes) == 1 else -np.inf
    return replace(found, bounds=tightened(task, found, Bounds(known, 0.0 if task.counts_worst else None)))


def tightened(task: Task, found: Found, bounds: Bounds) -> Bounds:
    """Bounds, or those by sorting and by the cheapest followers where these are better."""
    kept = len(found.ordering)
    total, worst = bounds.total, bounds.worst
    now = time.monotonic()
    until = max(task.until, now + 0.1)
    flowing = 0.0
    if task.flow is not None:
        flowing = flow_floor(task.flow, task.constraints, kept, until=now + 0.5 * (until - now))
    if task.goal.follows is not None:
        most = found.key[1] if task.counts_worst else np.inf
        line = line_bounds(task, kept, found.room, most, until=until)
        total = max(total, line.total + flowing)
        if task.counts_worst:
            worst = max(worst or 0.0, line.worst or 0.0, wishes_floor(task, kept, found.room))
    elif np.isfinite(total):
        total += flowing
    return replace(bounds, total=total, worst=worst)
