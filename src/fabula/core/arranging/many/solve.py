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
from fabula.core.arranging.many.routes import route
from fabula.core.arranging.many.sizes import even_sizes
from fabula.core.ordering import Ints

MANY = 300  # items beyond which a search by tables takes too long
MANY_ON_SIDES = 100  # the same where sides have many sizes, or items are left out
MANY_ROUTED, MANY_WISHED = 20, 60  # the same where neighbours count alone, without wishes and with some
ROOMIER = 1.1  # how much more sides hold where no even ones were found
ATTEMPTS = 8
ROUTED = 0.65  # of the time, for the route where neighbours count alone; the rest is the bound's
LATE = 1.0  # seconds after which no ordering is looked for


def takes(task: Task) -> bool:
    """Whether there are so many items that a search by tables takes too long."""
    c = task.constraints
    if c.n > (MANY if c.one_side else MANY_ON_SIDES):
        return True
    return c.one_side and c.n > (MANY_WISHED if c.wishes else MANY_ROUTED) and _routed(task, c.n)


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
    routed = _routed(task, kept)
    alone = routed and task.constraints.sides == 1 and not task.constraints.wishes
    share = ROUTED if alone else 0.4
    drafted = _drafted(task, kept, room, routed=routed, until=begun + share * (task.until - begun))
    if drafted is None:
        return None
    draft, floor = drafted
    if draft.fits and (task.sorted_alone or alone):
        return _bounded(task, draft.ordering, draft.sizes, room, floor, routed=routed)
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
            return _bounded(task, ordering, draft.sizes, room, floor, least, routed=routed)
    return None


def _routed(task: Task, kept: int) -> bool:
    """Whether a short way through all items is the draft: positions cost nothing, and links the same either way."""
    if not task.goal.nothing or task.flow is None or kept < task.constraints.n:
        return False
    rows = range(0, kept, 256)
    return all(np.allclose(task.flow[k : k + 256], task.flow[:, k : k + 256].T, rtol=0, atol=1e-4) for k in rows)


def _drafted(task: Task, kept: int, room: float, *, routed: bool, until: float) -> tuple[Draft, float] | None:
    """A draft, and a bound of its sum where one came with it."""
    if routed and task.flow is not None:
        c, sizes = task.constraints, even_sizes(kept, task.constraints.sides)
        ordering = route(task.flow, np.random.default_rng(task.seed), until=until)
        side = np.repeat(np.arange(len(sizes)), sizes)
        fits = bool((np.bincount(side, c.counted[ordering]) <= room).all())
        return Draft(ordering, sizes, fits=fits), 0.0
    follows = task.goal.follows
    if follows is None or not task.on_line:
        return assigned_draft(task, kept, room, until=until)
    draft = line_draft(task, follows, kept, room, until=until)
    return None if draft is None else (draft, -np.inf)


def _bounded(
    task: Task, ordering: Ints, sizes: tuple[int, ...], room: float, floor: float, least: float = 0.0, *, routed: bool
) -> Found:
    """What was found, with its bounds: ``floor`` of the position costs, ``least`` of the largest deviation."""
    found = Found(ordering, sizes, task.key(ordering, sizes), Bounds(-np.inf), room)
    kept, now = len(ordering), time.monotonic()
    until = max(task.until, now + 0.1)
    standing = floor if len(sizes) == 1 else -np.inf
    if task.goal.follows is None:
        standing = 0.0 if task.goal.nothing else max(standing, table_floor(task, kept, room, until=until))
    flowing = 0.0
    if task.flow is not None:
        reached = found.key[-1] if routed else None
        share = 1.0 if routed else 0.5
        flowing = flow_floor(task.flow, task.constraints, kept, until=now + share * (until - now), reached=reached)
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
