"""Drafts for many items: which are kept, sizes of sides and an ordering, by sorting, by assignment or by lengths."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.fit import assign_least, match_sorted
from fabula.core.solver import line
from fabula.core.solver.constraints import SLACK
from fabula.core.solver.instance import rebalance_ranks
from fabula.core.solver.line import Sizes
from fabula.core.solver.problem import Budget, Goal, Problem, side_sizes
from fabula.core.template import Template

MOST_ASSIGNED = 1000  # items that are assigned at once
NEAR = 1.01  # how much worse sizes may be that are more even
MOST_TRIED = 40  # sizes for which items are shared out
PART = 400  # items assigned at once where there are more
ROUNDS = 20  # of prices of positions
PRICES = 10  # on lengths that are tried


def deal(lengths: Floats, sides: int) -> list[Ints]:
    """Which items each side gets: the longest first, always to the side that holds least.

    >>> [one.tolist() for one in deal(np.array([5.0, 1.0, 2.0, 2.0]), 2)]
    [[0], [1, 2, 3]]
    """
    loads = [(0.0, side) for side in range(sides)]
    members: list[list[int]] = [[] for _ in range(sides)]
    for item in np.argsort(-lengths, kind="stable").tolist():
        load, side = loads[0]
        heapq.heapreplace(loads, (load + float(lengths[item]), side))
        members[side].append(item)
    return [np.sort(np.array(one, dtype=np.intp)) for one in members]


def _lay_alone(goal: Goal, items: Ints, begun: int, kept: int) -> Ints:
    """Items laid on a side by themselves, which begins after ``begun`` of all that are kept."""
    m = len(items)
    if goal.follows is not None and goal.rows.shape[1] == 1:
        return items[match_sorted(goal.rows[items, 0], goal.targets(m))]
    if m > MOST_ASSIGNED:
        return items
    mine = goal.take(items)
    costs = mine.on_side(m) + mine.in_whole(kept)[:, begun : begun + m]
    places, numbers = assign_least(costs.T)
    ordering = np.empty(m, dtype=np.intp)
    ordering[places] = items[numbers]
    return ordering


@dataclass(frozen=True, eq=False)
class Draft:
    """An ordering of the items kept, on sides of given sizes; whether no side holds more than its room."""

    ordering: Ints
    sizes: Sizes
    fits: bool


def line_draft(task: Problem, template: Template, kept: int, room: float, budget: Budget) -> Draft | None:
    """The best draft in the time, wishes and flow aside; None where no sizes of sides are possible."""
    c, power = task.constraints, 1 if task.counts_worst else 2
    allowed = side_sizes(c, kept, room)
    even = line.even_sizes(kept, c.sides)
    if not len(allowed) or (c.sides > 1 and not all(size in allowed for size in even)):
        return None
    items = _choose(task, template, even, room, budget)
    values = task.goal.rows[items, 0]
    judged, _ = line.judge_sizes(template, values, allowed, c.sides, power, budget.part(0.4))
    if not task.sorts:  # even sides leave more room for what comes
        near = [one for one in judged if one[0] <= judged[0][0] * NEAR and one[1] <= judged[0][1] * NEAR]
        judged = sorted(near, key=lambda one: max(one[2]) - min(one[2]))
    best: tuple[tuple[float, ...], Draft] | None = None
    for worst, total, sizes in judged[: MOST_TRIED if task.sorts else 1]:
        if best is not None and ((worst, total) >= best[0][:2] or budget.over):
            break
        draft = _share_out(task, template, sizes, items, room, worst, budget)
        if draft is not None:
            key = task.key(draft.ordering, sizes)[1:]
            key = key if power == 1 else (0.0, *key)
            best = (key, draft) if best is None or key < best[0] else best
    if best is not None:
        return best[1]
    dealt = deal_draft(task, items, room)
    return dealt if dealt.fits else Draft(line.lay_out(template, judged[0][2], values, items), judged[0][2], fits=False)


def deal_draft(task: Problem, items: Ints, room: float) -> Draft:
    """Items on sides by their lengths first."""
    lengths = task.constraints.weights[items]
    sides = deal(lengths, task.constraints.sides)
    fits = all(float(lengths[side].sum()) <= room for side in sides)
    sizes = tuple(len(side) for side in sides)
    begun = np.cumsum([0, *sizes]).tolist()
    laid_out = [
        _lay_alone(task.goal, items[side], start, len(items)) for side, start in zip(sides, begun, strict=False)
    ]
    return Draft(np.concatenate(laid_out), sizes, fits=fits)


def _choose(task: Problem, template: Template, sizes: Sizes, room: float, budget: Budget) -> Ints:
    """The items kept, by value: those that fit best on sides of given sizes, within the limit."""
    kept, power = sum(sizes), 1 if task.counts_worst else 2
    pool, order = line.pool_of(task.goal, task.constraints, room, power)
    if kept == task.constraints.n:
        return order
    ranks, most = line.ranks_of(template, sizes), np.inf
    if task.counts_worst:
        most = line.smallest_worst(pool, ranks, budget.part(0.3))[1]
    items = line.smallest_sum(pool, ranks, most, budget.part(0.3))[1]
    if items is None:
        free = np.argsort(np.where(pool.must, -1.0, pool.lengths), kind="stable")
        items = np.sort(free[:kept])
    return order[items]


def _share_out(
    task: Problem, template: Template, sizes: Sizes, items: Ints, room: float, worst: float, budget: Budget
) -> Draft | None:
    """Items in the order of their values, shared out on sides of given sizes; None where one would hold too much."""
    targets = np.concatenate([template.samples(size) for size in sizes])
    place = np.argsort(targets, kind="stable")
    side = np.repeat(np.arange(len(sizes)), sizes)[place]
    lengths = task.constraints.weights[items]
    values = task.goal.rows[items, 0]
    most = np.max(np.abs(values - targets[place])) if worst == 0.0 else worst
    order = rebalance_ranks(values, lengths, targets[place], side, room, worst=float(most), budget=budget)
    if order is None:
        return None
    ordering = np.empty(len(items), dtype=np.intp)
    ordering[place] = items[order]
    return Draft(ordering, sizes, fits=True)


def assign_draft(task: Problem, kept: int, room: float, budget: Budget) -> tuple[Draft, float] | None:
    """A draft on even sides, and a bound of its sum that holds for these sizes; None where they cannot be."""
    c = task.constraints
    allowed, sizes = side_sizes(c, kept, room), line.even_sizes(kept, c.sides)
    if not len(allowed) or (c.sides > 1 and not all(size in allowed for size in sizes)):
        return None
    cost = task.costs(sizes)  # (n, kept)
    must = np.zeros(c.n, dtype=bool)
    must[list(c.must_keep)] = True
    ordering, floor = _assign(cost, must)
    budget.spend(_assignment_cost(c.n))
    if kept < c.n:
        limit = min(c.limit or np.inf, c.sides * room) * SLACK
        ordering, floor = _within(cost, must, c.weights, limit, budget)
    draft = Draft(ordering, sizes, fits=fits_in(room, c.weights[ordering], sizes))
    if not draft.fits and c.sides > 1:
        dealt = deal_draft(task, np.sort(ordering), room)
        draft = dealt if dealt.fits else draft
    return draft, floor


def _assign(cost: Floats, must: np.ndarray) -> tuple[Ints, float]:
    """The items of the smallest sum, by position, and the sum."""
    eager = np.zeros(len(cost))
    if cost.shape[1] < len(cost):  # what must be kept is worth more than all else
        eager[must] = 4.0 * cost.shape[1] * (float(np.abs(cost).max()) + 1.0)
    wanted = (cost - eager[:, np.newaxis]).T  # (kept, n)
    m, n = wanted.shape
    parts = 1 if n <= MOST_ASSIGNED else -(-n // PART)
    ordering, dealt = np.empty(m, dtype=np.intp), np.argsort(~must, kind="stable")
    for part in range(parts):  # each with positions and items from everywhere
        places, items = np.arange(part, m, parts), dealt[part::parts]
        rows, columns = assign_least(wanted[np.ix_(places, items)])
        ordering[places[rows]] = items[columns]
    total = float(cost[ordering, np.arange(m)].sum())
    return ordering, total if parts == 1 else _price_bound(cost, ordering)


def _assignment_cost(n: int) -> float:
    """The work of one assignment of n items."""
    return 200.0 + 0.1 * n**2 if n <= MOST_ASSIGNED else 40.0 * n


def _price_bound(cost: Floats, ordering: Ints) -> float:
    """A bound of the sum for very many items: each at its cheapest position, under prices of positions."""
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


def _within(cost: Floats, must: np.ndarray, lengths: Floats, limit: float, budget: Budget) -> tuple[Ints, float]:
    """The same within a limit: by a price on lengths, each of which gives a bound."""
    low, high, best, floor = 0.0, float(np.ptp(cost)) / (float(lengths.mean()) or 1.0) + 1e-9, None, -np.inf
    for turn in range(4 * PRICES):
        late = budget.over or turn >= PRICES
        budget.spend(_assignment_cost(len(cost)))
        if late and best is not None:
            break
        price = (0.0 if turn == 0 else high) if best is None else 0.5 * (low + high)
        ordering, total = _assign(cost + price * lengths[:, np.newaxis], must)
        floor = max(floor, total - price * limit)
        if lengths[ordering].sum() <= limit:
            high, best = price, ordering
        else:
            low, high = price, 8 * high if best is None and turn else high
        if best is not None and price == 0.0:
            break
    return ordering if best is None else best, floor


def fits_in(room: float, lengths: Floats, sizes: Sizes) -> bool:
    """Whether no side of given sizes, with items of these lengths, holds more than its room."""
    side = np.repeat(np.arange(len(sizes)), sizes)
    return bool((np.bincount(side, lengths) <= room).all())
