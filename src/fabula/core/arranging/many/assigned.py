"""Drafts by assignment, for goals that are no numbers on a line: tables, and essences of several dimensions."""

from __future__ import annotations

import time

import numpy as np

from fabula.core.arranging.constraints import SLACK
from fabula.core.arranging.limits import side_sizes
from fabula.core.arranging.local.layouts import costs_of
from fabula.core.arranging.local.task import Task
from fabula.core.arranging.many.draft import Draft, dealt_draft
from fabula.core.arranging.many.sizes import Sizes, even_sizes
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

MOST_ASSIGNED = 1000  # items that are assigned at once
PART = 400  # items assigned at once where there are more
ROUNDS = 20  # of prices of positions
PRICES = 10  # on lengths that are tried


def assigned_draft(task: Task, kept: int, room: float, *, until: float) -> tuple[Draft, float] | None:
    """A draft on even sides, and a bound of its sum that holds for these sizes; None where they cannot be."""
    c = task.constraints
    allowed, sizes = side_sizes(c, kept, room), even_sizes(kept, c.sides)
    if not len(allowed) or (c.sides > 1 and not all(size in allowed for size in sizes)):
        return None
    cost = costs_of(task.goal, task.flow, sizes)  # (n, kept)
    must = np.zeros(c.n, dtype=bool)
    must[list(c.named)] = True
    ordering, floor = _laid(cost, must)
    if kept < c.n:
        limit = min(c.limit or np.inf, c.sides * room) * SLACK
        ordering, floor = _within(cost, must, c.counted, limit, until)
    draft = Draft(ordering, sizes, fits=_fits(c.counted[ordering], sizes, room))
    if not draft.fits and c.sides > 1:
        dealt = dealt_draft(task, np.sort(ordering), room)
        draft = dealt if dealt.fits else draft
    return draft, floor


def _laid(cost: Floats, must: np.ndarray) -> tuple[Ints, float]:
    """The items of the smallest sum, by position, and the sum."""
    from scipy.optimize import linear_sum_assignment

    eager = np.zeros(len(cost))
    if cost.shape[1] < len(cost):  # what must be kept is worth more than all else
        eager[must] = 4.0 * cost.shape[1] * (float(np.abs(cost).max()) + 1.0)
    wanted = (cost - eager[:, np.newaxis]).T  # (kept, n)
    m, n = wanted.shape
    parts = 1 if n <= MOST_ASSIGNED else -(-n // PART)
    ordering, dealt = np.empty(m, dtype=np.intp), np.argsort(~must, kind="stable")
    for part in range(parts):  # each with positions and items from everywhere
        places, items = np.arange(part, m, parts), dealt[part::parts]
        rows, columns = linear_sum_assignment(wanted[np.ix_(places, items)])
        ordering[places[rows]] = items[columns]
    total = float(cost[ordering, np.arange(m)].sum())
    return ordering, total if parts == 1 else _priced(cost, ordering)


def _priced(cost: Floats, ordering: Ints) -> float:
    """A bound of the sum for very many items: each at its cheapest position, under prices of positions.

    The prices start at what positions cost in an ordering, and are moved against what is chosen twice or never.
    """
    n, m = cost.shape
    if m < n:
        return float(cost.min(axis=0).sum())
    price = cost[ordering, np.arange(m)]
    total, best = float(price.sum()), float(cost.min(axis=1).sum())
    for _ in range(ROUNDS):
        extra = cost - price
        wanted = extra.argmin(axis=1)
        bound = float(price.sum() + extra[np.arange(n), wanted].sum())
        best = max(best, bound)
        missing = 1.0 - np.bincount(wanted, minlength=m)
        price = price + max(total - bound, 0.0) / float((missing**2).sum() or 1.0) * missing
    return best


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
