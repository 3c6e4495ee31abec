"""The search among very many items: a draft, refined where wishes or flow ask for it, and what bounds it."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from fabula.core.arranging.arrangement import Bounds
from fabula.core.arranging.limits import kept_counts, side_room
from fabula.core.arranging.local.task import Found, Task, alike_price
from fabula.core.arranging.many.assigned import assigned_draft
from fabula.core.arranging.many.bounds import flow_floor, line_bounds, table_floor, wishes_floor
from fabula.core.arranging.many.draft import Draft, line_draft
from fabula.core.arranging.many.refine import refined
from fabula.core.ordering import Ints

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
    if draft.fits and task.sorted_alone:
        return _bounded(task, draft.ordering, draft.sizes, room, floor)
    now = time.monotonic()
    least = 0.0
    if task.counts_worst:
        bounds = line_bounds(task, kept, room, np.inf, until=now + 0.1 * (task.until - now))
        least = max(bounds.worst or 0.0, wishes_floor(task, kept, room))
    soft = task.constraints.apart is not None and task.constraints.apart_soft
    for price in (np.inf, alike_price(task)) if soft else (np.inf,):
        until = now + 0.85 * (task.until - now)
        late = now + 0.3 * (task.until - now) if soft and price == np.inf else task.until + LATE
        ordering = refined(task, draft, room, least, alike=price, until=until, late=late)
        if ordering is not None:
            return _bounded(task, ordering, draft.sizes, room, floor, least)
    return None


def _drafted(task: Task, kept: int, room: float, *, until: float) -> tuple[Draft, float] | None:
    """A draft, and a bound of its sum where one came with it."""
    follows = task.goal.follows
    if follows is None or not task.on_line:
        return assigned_draft(task, kept, room, until=until)
    draft = line_draft(task, follows, kept, room, until=until)
    return None if draft is None else (draft, -np.inf)


def _bounded(
    task: Task, ordering: Ints, sizes: tuple[int, ...], room: float, floor: float, least: float = 0.0
) -> Found:
    """What was found, with its bounds: ``floor`` of the position costs, ``least`` of the largest deviation."""
    found = Found(ordering, sizes, task.key(ordering, sizes), Bounds(-np.inf), room)
    kept, now = len(ordering), time.monotonic()
    until = max(task.until, now + 0.1)
    standing = floor if len(sizes) == 1 else -np.inf
    if task.goal.follows is None:
        standing = max(standing, table_floor(task, kept, room, until=until))
    flowing = 0.0
    if task.flow is not None:
        flowing = flow_floor(task.flow, task.constraints, kept, until=now + 0.5 * (until - now))
    bounds = Bounds(standing + flowing, least if task.counts_worst else None)
    return replace(found, bounds=tightened(task, found, bounds, flowing))


def tightened(task: Task, found: Found, bounds: Bounds, flowing: float | None = None) -> Bounds:
    """Bounds, or those by sorting where these are better; ``flowing`` is a bound of what neighbours cost."""
    if task.goal.follows is None:
        return bounds
    kept, until = len(found.ordering), max(task.until, time.monotonic() + 0.1)
    if flowing is None:
        flowing = 0.0 if task.flow is None else flow_floor(task.flow, task.constraints, kept, until=until)
    most = found.key[1] if task.counts_worst else np.inf
    line = line_bounds(task, kept, found.room, most, until=until)
    worst = max(bounds.worst or 0.0, line.worst or 0.0) if task.counts_worst else None
    return replace(bounds, total=max(bounds.total, line.total + flowing), worst=worst)
