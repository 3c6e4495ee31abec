"""Drafts by assignment, for goals that are no numbers on a line: tables, and essences of several dimensions."""

from __future__ import annotations

import time

import numpy as np

from fabula.core.arranging.constraints import SLACK
from fabula.core.arranging.limits import side_sizes
from fabula.core.arranging.local.layouts import costs_of
from fabula.core.arranging.local.task import Task
from fabula.core.arranging.many.draft import Draft
from fabula.core.arranging.many.sizes import Sizes, even_sizes
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

PRICES = 10  # on lengths that are tried


def assigned_draft(task: Task, kept: int, room: float, *, until: float) -> tuple[Draft, float] | None:
    """A draft on even sides, and a bound of its sum that holds for these sizes; None where they cannot be."""
    c = task.constraints
    allowed, sizes = side_sizes(c, kept, room), even_sizes(kept, c.sides)
    if not len(allowed) or (c.sides > 1 and not all(size in allowed for size in sizes)):
        return None
    cost = np.concatenate([costs_of(task.goal, task.flow)(size) for size in sizes], axis=1)  # (n, kept)
    must = np.zeros(c.n, dtype=bool)
    must[list(c.named)] = True
    ordering, floor = _laid(cost, must)
    if kept < c.n:
        limit = min(c.limit or np.inf, c.sides * room) * SLACK
        ordering, floor = _within(cost, must, c.counted, limit, until)
    return Draft(ordering, sizes, fits=_fits(c.counted[ordering], sizes, room)), floor


def _laid(cost: Floats, must: np.ndarray) -> tuple[Ints, float]:
    """The items of the smallest sum, by position, and the sum."""
    from scipy.optimize import linear_sum_assignment

    eager = np.zeros(len(cost))
    if cost.shape[1] < len(cost):  # what must be kept is worth more than all else
        eager[must] = 4.0 * cost.shape[1] * (float(np.abs(cost).max()) + 1.0)
    places, items = linear_sum_assignment((cost - eager[:, np.newaxis]).T)
    ordering = np.empty(cost.shape[1], dtype=np.intp)
    ordering[places] = items
    return ordering, float(cost[ordering, np.arange(len(ordering))].sum())


def _within(cost: Floats, must: np.ndarray, lengths: Floats, limit: float, until: float) -> tuple[Ints, float]:
    """The same within a limit: by a price on lengths, each of which gives a bound."""
    low, high, best, floor = 0.0, float(np.ptp(cost)) / (float(lengths.mean()) or 1.0) + 1e-9, None, -np.inf
    for turn in range(4 * PRICES):
        late = time.monotonic() > until or turn >= PRICES
        if late and best is not None:
            break
        price = (0.0 if turn == 0 else high) if best is None else 0.5 * (low + high)
        ordering, total = _laid(cost + price * lengths[:, np.newaxis], must)
        floor = max(floor, total - price * limit)
        if lengths[ordering].sum() <= limit:
            high, best = price, ordering
        else:
            low, high = price, 8 * high if best is None and turn else high
        if best is not None and price == 0.0:
            break
    return ordering if best is None else best, floor


def _fits(lengths: Floats, sizes: Sizes, room: float) -> bool:
    side = np.repeat(np.arange(len(sizes)), sizes)
    return bool((np.bincount(side, lengths) <= room).all())
