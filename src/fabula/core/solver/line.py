"""Items and targets on a line: what sorting tells of every ordering.

Numbers laid on targets cost least, in the largest deviation, in the sum and in the squares alike, where sorted values
meet sorted targets. So the ranks of the targets are all that counts; where the sizes of sides are open, each rank is
known to lie between two numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.solver.constraints import SLACK, Constraints
from fabula.core.solver.problem import UNLIMITED, Bools, Budget, Goal
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


def lay_out(template: Template, sizes: Sequence[int], values: Floats, items: Ints) -> Ints:
    """The best ordering of items by their sorted values, on sides of given sizes."""
    targets = np.concatenate([template.samples(size) for size in sizes])
    ordering = np.empty(len(items), dtype=np.intp)
    ordering[np.argsort(targets, kind="stable")] = items[np.argsort(values, kind="stable")]
    return ordering


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
    """Sizes that sides of sorted values can have, the best first, and whether these are all there are.

    With squares, ``power`` 2, the largest deviation does not count and is told as 0.
    """
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
    """The smallest sum of deviations and priced lengths over the ranks, and the items that have it, in order.

    Without ``weigh`` deviations do not count. Where ``most``, the largest one, leaves no choice, the sum is infinite.
    """
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
            taken[item, first:last] = True
            best[first + 1 : last + 1] = filled
            best[: first + 1] = np.inf
            continue
        better = filled < best[first + 1 : last + 1]
        taken[item, first:last] = better
        best[first + 1 : last + 1] = np.where(better, filled, best[first + 1 : last + 1])
    return float(best[m]), _trace(taken) if np.isfinite(best[m]) else np.empty(0, dtype=np.intp)


def _trace(taken: Bools) -> Ints:
    n, m = taken.shape
    items, rank = [], m
    for item in range(n - 1, -1, -1):
        if rank and taken[item, rank - 1]:
            items.append(item)
            rank -= 1
    return np.array(items[::-1], dtype=np.intp)


def _choice_cost(pool: Pool, ranks: Ranks) -> float:
    """The work of one choice."""
    return len(pool.values) * (15.0 + 0.004 * len(ranks.low))


def smallest_worst(pool: Pool, ranks: Ranks, budget: Budget = UNLIMITED) -> tuple[float, float]:
    """The smallest largest deviation of a choice within the limit, between two numbers: the larger one can be kept.

    First among even steps, then among the deviations that there are between two of them.
    """
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
