"""Items and targets on a line, and drafts of many items: what sorting, assignment or lengths tell of every ordering.

Numbers laid on targets cost least, in the largest deviation, in the sum and in the squares alike, where sorted values
meet sorted targets. So the ranks of the targets are all that counts; where the sizes of sides are open, each rank is
known to lie between two numbers.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np

from fabula.core.arrays import Bools, Floats, Ints
from fabula.core.fit import assign_least, match_sorted
from fabula.core.solver.constraints import SLACK, Constraints
from fabula.core.solver.instance import rebalance_ranks
from fabula.core.solver.problem import UNLIMITED, Budget, Goal, Problem
from fabula.core.template import Template

GRID = 1201  # numbers between which ranks are told


@dataclass(frozen=True, eq=False)
class Ranks:
    """The m targets, sorted: the one of each rank lies between ``low`` and ``high``, shape (m,)."""

    low: Floats
    high: Floats

    def away(self, value: Floats | float, first: int = 0, last: int | None = None) -> Floats:
        """How far a value, or one for each, is at least from the targets of some ranks."""
        low, high = self.low[first:last], self.high[first:last]
        return np.maximum(np.maximum(low - value, value - high), 0.0)

    def nearest(self, values: Floats) -> Floats:
        """How far each rank is at least from the nearest of some sorted values."""
        above = np.searchsorted(values, self.low)
        ahead = values[np.minimum(above, len(values) - 1)]
        behind = values[np.maximum(above - 1, 0)]
        up = np.where(above < len(values), np.maximum(ahead - self.high, 0.0), np.inf)
        return np.minimum(up, np.where(above > 0, np.maximum(self.low - behind, 0.0), np.inf))


def ranks_of(template: Template, sizes: Sequence[int]) -> Ranks:
    """The targets of sides of given sizes."""
    targets = np.sort(np.concatenate([template.samples(size) for size in sizes]))
    return Ranks(targets, targets)


@lru_cache(maxsize=16)
def ranks_between(template: Template, sizes: range, sides: int, kept: int) -> Ranks:
    """The targets of as many sides, of any sizes in a range, that hold so many items in all.

    How many targets of a side lie below a number grows nearly evenly with its size; what it is off by at most, in
    all sizes, bounds how many there are in all.
    """
    curve = np.sort(template.samples(GRID))
    samples = [np.sort(template.samples(size)) for size in sizes]
    ends = min(one[0] for one in samples), max(one[-1] for one in samples)
    grid = np.unique(np.concatenate([[ends[0] - 1.0], curve, ends]))
    counts = np.array([np.searchsorted(one, grid, side="right") for one in samples])  # (sizes, grid)
    number = np.array(sizes)[:, np.newaxis]
    slope = (counts[-1] - counts[0]) / max(sizes[-1] - sizes[0], 1) if len(sizes) > 1 else counts[0] / sizes[0]
    off = counts - slope * number
    most = np.floor(slope * kept + sides * off.max(axis=0) + 1e-6)
    least = np.ceil(slope * kept + sides * off.min(axis=0) - 1e-6)
    most, least = np.minimum.accumulate(most[::-1])[::-1], np.maximum.accumulate(least)
    rank = np.arange(kept)
    above = np.searchsorted(most, rank, side="right") - 1
    below = np.searchsorted(least, rank + 1, side="left")
    low = np.where(above >= 0, grid[np.maximum(above, 0)], -np.inf)
    high = np.where(below < len(grid), grid[np.minimum(below, len(grid) - 1)], np.inf)
    return Ranks(low, high)


MOST_SIZES = 2000  # that are judged
FAR = (1, 2, 5, 12, 30, 75)  # items moved from one side to another

Sizes = tuple[int, ...]
Judged = tuple[float, float, Sizes]  # the largest deviation, the sum, the sizes


def even_sizes(kept: int, sides: int) -> Sizes:
    """Sizes that differ by one at most."""
    return tuple(kept // sides + (side < kept % sides) for side in range(sides))


def judge_sizes(
    template: Template, values: Floats, allowed: range, sides: int, power: int, budget: Budget
) -> tuple[list[Judged], bool]:
    """Sizes that sides of sorted values can have, the best first, and whether these are all there are."""
    kept = len(values)
    known: dict[Sizes, Judged] = {}

    def judge(sizes: Sizes) -> Judged:
        if sizes not in known:
            budget.spend(100.0 + 0.1 * kept)
            deviations = ranks_of(template, sizes).away(values)
            worst = float(deviations.max()) if power == 1 else 0.0
            known[sizes] = (worst, float((deviations**power).sum()), sizes)
        return known[sizes]

    if sides == 1:
        return [judge((kept,))], True
    every = [(size, kept - size) for size in allowed if sides == 2 and kept - size in allowed]
    every.sort(key=_uneven)
    for sizes in every:
        judge(sizes)
        if budget.over:
            break
    complete = sides == 2 and len(known) == len(every)
    best = judge(even_sizes(kept, sides))
    while sides > 2 and len(known) < MOST_SIZES and not budget.over:
        better = min((judge(sizes) for sizes in _near(best[2], allowed)), default=best)
        if better[:2] >= best[:2]:
            break
        best = better
    return sorted(known.values(), key=lambda one: (*one[:2], _uneven(one[2]))), complete


def _uneven(sizes: Sizes) -> int:
    return max(sizes) - min(sizes)


def _near(sizes: Sizes, allowed: range) -> Iterator[Sizes]:
    """Sizes with some items moved from one side to another."""
    for giver, taker in permutations(range(len(sizes)), 2):
        for count in FAR:
            moved = list(sizes)
            moved[giver] -= count
            moved[taker] += count
            if moved[giver] in allowed and moved[taker] in allowed:
                yield tuple(moved)


PRICES = 14  # that are tried
STEPS = 1025  # numbers tried first for the largest deviation


@dataclass(frozen=True, eq=False)
class Pool:
    """The n items to choose from."""

    values: Floats  # (n,), sorted
    lengths: Floats  # (n,) what the limit counts
    must: Bools  # (n,) never left out
    limit: float  # the most that is kept may hold
    power: int  # of deviations, in the sum


def choose(
    pool: Pool, ranks: Ranks, *, price: float = 0.0, weigh: bool = True, most: float = np.inf
) -> tuple[float, Ints]:
    """The smallest sum of deviations and priced lengths over the ranks, and the items that have it, in order."""
    n, m = len(pool.values), len(ranks.low)
    taken = np.zeros((n, m), dtype=bool)
    best = np.full(m + 1, np.inf)  # of the items so far, by how many ranks are filled
    best[0] = 0.0
    for item, value in enumerate(pool.values.tolist()):
        first, last = max(0, m - n + item), min(item + 1, m)
        away = ranks.away(value, first, last)
        cost = (away**pool.power if weigh else np.zeros(last - first)) + price * pool.lengths[item]
        filled = best[first:last] + np.where(away <= most, cost, np.inf)
        if pool.must[item]:
            best[:] = np.inf  # nothing goes without it
        known = best[first + 1 : last + 1]
        taken[item, first:last] = filled < known
        np.minimum(known, filled, out=known)
    items, rank = list[int](), m if np.isfinite(best[m]) else 0
    for item in range(n - 1, -1, -1):
        if rank and taken[item, rank - 1]:
            items.append(item)
            rank -= 1
    return float(best[m]), np.array(items[::-1], dtype=np.intp)


def _choice_cost(pool: Pool, ranks: Ranks) -> float:
    """The work of one choice."""
    return len(pool.values) * (15.0 + 0.004 * len(ranks.low))


def smallest_worst(pool: Pool, ranks: Ranks, budget: Budget = UNLIMITED) -> tuple[float, float]:
    """The smallest largest deviation of a choice within the limit, between two numbers: the larger one can be kept."""
    values = pool.values.tolist()
    far = max(float(ranks.away(value).max()) for value in (values[0], values[-1]))
    even = np.linspace(0.0, far, STEPS)
    low, high = _halve(pool, ranks, even, budget)
    least, most = float(even[max(low, 0)]), float(even[high])
    if budget.over:
        return least, most
    between = [away[(away >= least) & (away <= most)] for away in (ranks.away(value) for value in values)]
    steps = np.unique(np.concatenate([[most], *between]))
    low, high = _halve(pool, ranks, steps, budget)
    return float(steps[low + 1]), float(steps[high])


def _halve(pool: Pool, ranks: Ranks, steps: Floats, budget: Budget) -> tuple[int, int]:
    """The last of rising steps that is too small, -1 where none is, and the first that is known to be enough."""
    low, high = -1, len(steps) - 1
    while low + 1 < high and not budget.over:
        budget.spend(_choice_cost(pool, ranks))
        middle = (low + high) // 2
        shortest = choose(pool, ranks, price=1.0, weigh=False, most=float(steps[middle]))[0]
        low, high = (low, middle) if shortest <= pool.limit else (middle, high)
    return low, high


def smallest_sum(pool: Pool, ranks: Ranks, most: float, budget: Budget = UNLIMITED) -> tuple[float, Ints | None]:
    """A bound of the sum, no deviation above ``most``, and the best choice within the limit that was met, or None."""
    floor, items = choose(pool, ranks, most=most)
    if len(items) and pool.lengths[items].sum() <= pool.limit:
        return floor, items
    scale = float(np.ptp(pool.values)) ** pool.power or 1.0
    low, high = 0.0, scale / (float(pool.lengths.mean()) or 1.0)
    best: tuple[float, Ints | None] = (np.inf, None)
    for turn in range(PRICES):
        if turn and budget.over:
            break
        budget.spend(_choice_cost(pool, ranks))
        price = high if best[1] is None else 0.5 * (low + high)
        total, items = choose(pool, ranks, price=price, most=most)
        if not len(items):
            break
        floor = max(floor, total - price * pool.limit)
        over = float(pool.lengths[items].sum()) - pool.limit
        value = total - price * (over + pool.limit)
        low, high = (price, 4 * high if best[1] is None else high) if over > 0 else (low, price)
        best = (value, items) if over <= 0 and value < best[0] else best
    return floor, best[1]


def pool_of(goal: Goal, constraints: Constraints, room: float, power: int) -> tuple[Pool, Ints]:
    """The items to choose from, sorted, and their order."""
    order = np.argsort(goal.rows[:, 0], kind="stable")
    must = np.zeros(constraints.n, dtype=bool)
    must[list(constraints.must_keep)] = True
    limit = min(constraints.limit or np.inf, constraints.sides * room) * SLACK
    return Pool(goal.rows[order, 0], constraints.weights[order], must[order], limit, power), order


# Drafts for many items: which are kept, sizes of sides and an ordering, by sorting, by assignment or by lengths.

MOST_ASSIGNED = 1000  # items that are assigned at once
NEAR = 1.01  # how much worse sizes may be that are more even
MOST_TRIED = 40  # sizes for which items are shared out
PART = 400  # items assigned at once where there are more
LENGTH_PRICES = 10  # on lengths that are tried


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
    return items[assign_least(costs.T)[1]]


@dataclass(frozen=True, eq=False)
class Draft:
    """An ordering of the items kept, on sides of given sizes."""

    ordering: Ints
    sizes: Sizes
    fits: bool  # whether no side holds more than its room
    floor: float = -np.inf  # no sum of position costs on sides of these sizes is below it


def line_draft(task: Problem, template: Template, even: Sizes, allowed: range, room: float, budget: Budget) -> Draft:
    """The best draft in the time on sides of allowed sizes, even ones if need be, wishes and flow aside."""
    power = 1 if task.counts_worst else 2
    items = _choose(task, template, even, room, budget)
    values = task.goal.rows[items, 0]
    judged, _ = judge_sizes(template, values, allowed, len(even), power, budget.part(0.4))
    if not task.sorts:  # even sides leave more room for what comes
        near = [one for one in judged if one[0] <= judged[0][0] * NEAR and one[1] <= judged[0][1] * NEAR]
        judged = sorted(near, key=lambda one: max(one[2]) - min(one[2]))
    best: tuple[tuple[float, ...], Draft] | None = None
    for worst, total, sizes in judged[: MOST_TRIED if task.sorts else 1]:
        if best is not None and ((worst, total) >= best[0][:2] or budget.over):
            break
        draft = _lay_on_sides(task, template, sizes, items, room, worst, budget)
        if draft is not None:
            key = task.key(draft.ordering, sizes)[1:]
            key = key if power == 1 else (0.0, *key)
            best = (key, draft) if best is None or key < best[0] else best
    if best is not None:
        return best[1]
    dealt = deal_draft(task, items, room)
    if dealt.fits:
        return dealt
    sizes, ordering = judged[0][2], np.empty_like(items)
    ordering[np.argsort(np.concatenate([template.samples(size) for size in sizes]), kind="stable")] = items
    return Draft(ordering, sizes, fits=False)


def deal_draft(task: Problem, items: Ints, room: float) -> Draft:
    """Items on sides by their lengths first."""
    lengths = task.constraints.weights[items]
    sides = deal(lengths, task.constraints.sides)
    fits = all(float(lengths[side].sum()) <= room for side in sides)
    sizes = tuple(len(side) for side in sides)
    begun = np.cumsum([0, *sizes]).tolist()
    laid_out = [_lay_alone(task.goal, items[side], at, len(items)) for side, at in zip(sides, begun, strict=False)]
    return Draft(np.concatenate(laid_out), sizes, fits=fits)


def _choose(task: Problem, template: Template, sizes: Sizes, room: float, budget: Budget) -> Ints:
    """The items kept, by value: those that fit best on sides of given sizes, within the limit."""
    kept, power = sum(sizes), 1 if task.counts_worst else 2
    pool, order = pool_of(task.goal, task.constraints, room, power)
    if kept == task.constraints.n:
        return order
    ranks, most = ranks_of(template, sizes), np.inf
    if task.counts_worst:
        most = smallest_worst(pool, ranks, budget.part(0.3))[1]
    items = smallest_sum(pool, ranks, most, budget.part(0.3))[1]
    if items is None:
        free = np.argsort(np.where(pool.must, -1.0, pool.lengths), kind="stable")
        items = np.sort(free[:kept])
    return order[items]


def _lay_on_sides(
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


def assign_draft(task: Problem, sizes: Sizes, room: float, budget: Budget) -> Draft:
    """A draft on sides of given sizes."""
    c = task.constraints
    cost = task.costs(sizes)  # (n, kept)
    must = np.zeros(c.n, dtype=bool)
    must[list(c.must_keep)] = True
    ordering, floor = _assign(cost, must)
    budget.spend(_assignment_cost(c.n))
    if cost.shape[1] < c.n:
        limit = min(c.limit or np.inf, c.sides * room) * SLACK
        ordering, floor = _within(cost, must, c.weights, limit, budget)
    draft = Draft(ordering, sizes, fits_in(room, c.weights[ordering], sizes), floor)
    dealt = deal_draft(task, np.sort(ordering), room) if not draft.fits and c.sides > 1 else draft
    return dealt if dealt.fits else draft


def _assign(cost: Floats, must: np.ndarray) -> tuple[Ints, float]:
    """The items of the smallest sum, by position, and the sum; of very many a small one, and a bound of it."""
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
    if parts == 1:
        return ordering, float(cost[ordering, np.arange(m)].sum())
    cheapest = float(cost.min(axis=0).sum())  # of each position; and of each item, where all are kept
    return ordering, cheapest if m < n else max(cheapest, float(cost.min(axis=1).sum()))


def _assignment_cost(n: int) -> float:
    """The work of one assignment of n items."""
    return 200.0 + 0.1 * n**2 if n <= MOST_ASSIGNED else 40.0 * n


def _within(cost: Floats, must: np.ndarray, lengths: Floats, limit: float, budget: Budget) -> tuple[Ints, float]:
    """The same within a limit: by a price on lengths, each of which gives a bound."""
    low, high, best, floor = 0.0, float(np.ptp(cost)) / (float(lengths.mean()) or 1.0) + 1e-9, None, -np.inf
    for turn in range(4 * LENGTH_PRICES):
        late = budget.over or turn >= LENGTH_PRICES
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
