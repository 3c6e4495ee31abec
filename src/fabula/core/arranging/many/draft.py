"""Drafts on a line: which items are kept, sizes of sides and an ordering, by sorting."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from fabula.core.arranging.limits import side_sizes
from fabula.core.arranging.local.task import Task
from fabula.core.arranging.many.bounds import pool_of
from fabula.core.arranging.many.choosing import smallest_sum, smallest_worst
from fabula.core.arranging.many.dealing import dealt, laid_alone
from fabula.core.arranging.many.line import laid, ranks_of
from fabula.core.arranging.many.shares import shared
from fabula.core.arranging.many.sizes import Sizes, even_sizes, judged_sizes
from fabula.core.ordering import Ints
from fabula.core.template import Template

NEAR = 1.01  # how much worse sizes may be that are more even
MOST_TRIED = 40  # sizes for which items are shared out


@dataclass(frozen=True, eq=False)
class Draft:
    """An ordering of the items kept, on sides of given sizes; whether no side holds more than its room."""

    ordering: Ints
    sizes: Sizes
    fits: bool


def line_draft(task: Task, template: Template, kept: int, room: float, *, until: float) -> Draft | None:
    """The best draft in the time, wishes and flow aside; None where no sizes of sides are possible."""
    c, power = task.constraints, 1 if task.counts_worst else 2
    allowed = side_sizes(c, kept, room)
    even = even_sizes(kept, c.sides)
    if not len(allowed) or (c.sides > 1 and not all(size in allowed for size in even)):
        return None
    items = _chosen(task, template, even, room, until)
    values = task.goal.rows[items, 0]
    now = time.monotonic()
    judged, _ = judged_sizes(template, values, allowed, c.sides, power=power, until=now + 0.4 * (until - now))
    if not task.sorted_alone:  # even sides leave more room for what comes
        near = [one for one in judged if one[0] <= judged[0][0] * NEAR and one[1] <= judged[0][1] * NEAR]
        judged = sorted(near, key=lambda one: max(one[2]) - min(one[2]))
    best: tuple[tuple[float, ...], Draft] | None = None
    for worst, total, sizes in judged[: MOST_TRIED if task.sorted_alone else 1]:
        if best is not None and ((worst, total) >= best[0][:2] or time.monotonic() > until):
            break
        draft = shared_draft(task, template, sizes, items, room, worst, until)
        if draft is not None:
            key = task.key(draft.ordering, sizes)[1:]
            key = key if power == 1 else (0.0, *key)
            best = (key, draft) if best is None or key < best[0] else best
    if best is not None:
        return best[1]
    dealt = dealt_draft(task, items, room)
    return dealt if dealt.fits else Draft(laid(template, judged[0][2], values, items), judged[0][2], fits=False)


def dealt_draft(task: Task, items: Ints, room: float) -> Draft:
    """Items on sides by their lengths first."""
    lengths = task.constraints.counted[items]
    sides = dealt(lengths, task.constraints.sides)
    fits = all(float(lengths[side].sum()) <= room for side in sides)
    sizes = tuple(len(side) for side in sides)
    begun = np.cumsum([0, *sizes]).tolist()
    laid_out = [
        laid_alone(task.goal, items[side], start, len(items)) for side, start in zip(sides, begun, strict=False)
    ]
    return Draft(np.concatenate(laid_out), sizes, fits=fits)


def _chosen(task: Task, template: Template, sizes: Sizes, room: float, until: float) -> Ints:
    """The items kept, by value: those that fit best on sides of given sizes, within the limit."""
    kept, power = sum(sizes), 1 if task.counts_worst else 2
    pool, order = pool_of(task.goal, task.constraints, room, power)
    if kept == task.constraints.n:
        return order
    ranks, most, now = ranks_of(template, sizes), np.inf, time.monotonic()
    if task.counts_worst:
        most = smallest_worst(pool, ranks, until=now + 0.3 * (until - now))[1]
    items = smallest_sum(pool, ranks, most, until=now + 0.5 * (until - now))[1]
    if items is None:
        free = np.argsort(np.where(pool.must, -1.0, pool.lengths), kind="stable")
        items = np.sort(free[:kept])
    return order[items]


def shared_draft(
    task: Task, template: Template, sizes: Sizes, items: Ints, room: float, worst: float, until: float
) -> Draft | None:
    """Items in the order of their values, shared out on sides of given sizes; None where one would hold too much."""
    targets = np.concatenate([template.samples(size) for size in sizes])
    place = np.argsort(targets, kind="stable")
    side = np.repeat(np.arange(len(sizes)), sizes)[place]
    lengths = task.constraints.counted[items]
    values = task.goal.rows[items, 0]
    most = np.max(np.abs(values - targets[place])) if worst == 0.0 else worst
    order = shared(values, lengths, targets[place], side, room, worst=float(most), until=until)
    if order is None:
        return None
    ordering = np.empty(len(items), dtype=np.intp)
    ordering[place] = items[order]
    return Draft(ordering, sizes, fits=True)
