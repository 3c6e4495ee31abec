"""Which items to keep: m of n sorted values on m ranks, within a limit on their lengths.

Kept items meet the ranks in order, so that a table of items by ranks, filled row by row, holds the best choice of
each beginning. A price on lengths brings the limit in: every price gives a bound, and the lowest that keeps to the
limit gives a choice.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from fabula.core.arranging.many.line import Ranks
from fabula.core.arranging.positions import Bools
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

PRICES = 14  # that are tried
MOST_STEPS = 3_000_000  # deviations that are listed


@dataclass(frozen=True, eq=False)
class Pool:
    """The items to choose from.

    Attributes
    ----------
    values, lengths
        Shape (n,): sorted, and what the limit counts.
    must
        Shape (n,): whether the item is never left out.
    limit
        The most that is kept may hold.
    power
        Of deviations, in the sum.
    """

    values: Floats
    lengths: Floats
    must: Bools
    limit: float
    power: int


def chosen(
    pool: Pool, ranks: Ranks, *, price: float = 0.0, weigh: bool = True, most: float = np.inf
) -> tuple[float, Ints]:
    """The smallest sum of deviations and priced lengths over the ranks, and the items that have it, in order.

    Parameters
    ----------
    pool, ranks
        What is laid on what.
    price
        Of a unit of length.
    weigh
        Whether deviations count in the sum.
    most
        The largest deviation that is allowed. Where it is too small for any choice, the sum is infinite.
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
    return float(best[m]), _traced(taken) if np.isfinite(best[m]) else np.empty(0, dtype=np.intp)


def _traced(taken: Bools) -> Ints:
    n, m = taken.shape
    items, rank = [], m
    for item in range(n - 1, -1, -1):
        if rank and taken[item, rank - 1]:
            items.append(item)
            rank -= 1
    return np.array(items[::-1], dtype=np.intp)


def shortest(pool: Pool, ranks: Ranks, most: float) -> float:
    """The least that items on all ranks can hold, none of them further off than ``most``."""
    return chosen(pool, ranks, price=1.0, weigh=False, most=most)[0]


def smallest_worst(pool: Pool, ranks: Ranks, *, until: float) -> tuple[float, float]:
    """The smallest largest deviation of a choice within the limit, between two numbers: the larger one can be kept."""
    steps, whole = _steps(pool, ranks)
    low, high = -1, len(steps) - 1  # steps[low] is too small, steps[high] is enough
    while low + 1 < high and time.monotonic() < until:
        middle = (low + high) // 2
        low, high = (low, middle) if shortest(pool, ranks, float(steps[middle])) <= pool.limit else (middle, high)
    return float(steps[low + 1] if whole else steps[max(low, 0)]), float(steps[high])


def _steps(pool: Pool, ranks: Ranks) -> tuple[Floats, bool]:
    """The deviations that there can be, or, where they are too many, numbers among them; whether these are all."""
    values = pool.values.tolist()
    if len(values) * len(ranks.low) > MOST_STEPS:
        far = max(float(ranks.away(value).max()) for value in (values[0], values[-1]))
        return np.linspace(0.0, far, 4097), False
    return np.unique(np.concatenate([[0.0], *(ranks.away(value) for value in values)])), True


def smallest_sum(pool: Pool, ranks: Ranks, most: float, *, until: float) -> tuple[float, Ints | None]:
    """A bound of the sum, no deviation above ``most``, and the best choice met within the limit; None where none was.

    A choice without the limit is the bound at once where it keeps to it.
    """
    floor, items = chosen(pool, ranks, most=most)
    if len(items) and pool.lengths[items].sum() <= pool.limit:
        return floor, items
    scale = float(np.ptp(pool.values)) ** pool.power or 1.0
    low, high = 0.0, scale / (float(pool.lengths.mean()) or 1.0)
    best: tuple[float, Ints | None] = (np.inf, None)
    for turn in range(PRICES):
        if turn and time.monotonic() > until:
            break
        price = high if best[1] is None else 0.5 * (low + high)
        total, items = chosen(pool, ranks, price=price, most=most)
        if not len(items):
            break
        floor = max(floor, total - price * pool.limit)
        over = float(pool.lengths[items].sum()) - pool.limit
        value = total - price * (over + pool.limit)
        low, high = (price, 4 * high if best[1] is None else high) if over > 0 else (low, price)
        best = (value, items) if over <= 0 and value < best[0] else best
    return floor, best[1]
