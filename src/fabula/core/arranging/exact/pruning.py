"""Pruning: parts that cannot stand on a side in the best arrangement are left out before the sides are joined.

Each unit has a price, which a side is paid for taking it (Lagrange's relaxation of "each unit once"). A side takes
what leaves it the least to pay; what all sides pay together is a lower bound, and a part that costs a side more than
its best one by more than the best arrangement is above the bound is in no best arrangement. Prices are found by
subgradients; any prices give a true bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fabula.core.arranging.exact.criteria import NEVER, Criterion, Longs
from fabula.core.arranging.exact.joining import NO_SETS, Numbers
from fabula.core.arranging.exact.plan import Plan
from fabula.core.arranging.exact.subsets import summed
from fabula.core.essence import Floats

Singles = dict[tuple[int, int, int], Numbers]

ROUNDS = 60
FEW = 1500  # parts per side at the first attempt
MARGIN = 1 << 24  # above the rounding of large numbers, below the grain of what they hold


@dataclass(frozen=True, eq=False)
class Priced:
    """What each part leaves each side to pay above its best one, and the bound of the whole."""

    excess: dict[tuple[int, int, int], Floats]
    bound: float


def priced(planned: Plan, single: Singles) -> Priced | None:
    """Prices, found by subgradients; None where some side has no part at all."""
    sides = planned.constraints.sides
    keys: list[list[tuple[int, int, int]]] = [[key for key in single if key[0] == side] for side in range(sides)]
    sets = [np.concatenate([_sets(planned, key) for key in group] or [NO_SETS]) for group in keys]
    costs = [np.concatenate([single[key][0] for key in group] or [NO_SETS]).astype(np.float64) for group in keys]
    possible = [cost < NEVER for cost in costs]
    sets = [group[kept] for group, kept in zip(sets, possible, strict=True)]
    costs = [group[kept] for group, kept in zip(costs, possible, strict=True)]
    out = planned.subsets.every[-1] - planned.final  # what is left out pays nothing and is paid nothing less
    if not all(map(len, sets)) or not len(out):
        return None
    sets, costs = [*sets, out], [*costs, np.zeros(len(out))]
    price, bound = _prices(len(planned.subsets.lengths), sets, costs)
    value = summed(price.tolist())
    best = [float((cost - value[group]).min()) for group, cost in zip(sets, costs, strict=True)]
    excess = {key: np.asarray(single[key][0] - value[_sets(planned, key)] - best[key[0]]) for key in single}
    return Priced(excess, bound)


def _sets(planned: Plan, key: tuple[int, int, int]) -> Longs:
    return planned.subsets.of_items.get(key[2], NO_SETS)


def _prices(units: int, sets: list[Longs], costs: list[Floats]) -> tuple[Floats, float]:
    """The prices with the highest bound that was met, and that bound."""
    scale = sum(float(cost.min()) for cost in costs) / units
    price = np.full(units, scale)
    step = max(float(np.median(cost)) - float(cost.min()) for cost in costs) / units or 1.0
    best, chosen, smoothed, stale = -np.inf, price, np.zeros(units), 0
    for _ in range(ROUNDS):
        value = summed(price.tolist())
        taken, bound = np.zeros(units), float(price.sum())
        for group, cost in zip(sets, costs, strict=True):
            left = cost - value[group]
            at = int(left.argmin())
            bound += float(left[at])
            taken += (int(group[at]) >> np.arange(units)) & 1
        stale = 0 if bound > best else stale + 1
        best, chosen = (bound, price) if bound > best else (best, chosen)
        if stale >= 4:
            step, stale, price = step / 2, 0, chosen
        smoothed = (1.0 - taken) + 0.5 * smoothed
        if not (taken != 1).any():
            break
        price = price + step * smoothed
    return chosen, best


def by_price(single: Singles, prices: Priced) -> Iterator[tuple[Singles, float]]:
    """Ever more parts, and how far above the bound an arrangement of them is still proven to be the best."""
    every = np.concatenate([excess[excess < NEVER / 4] for excess in prices.excess.values()])
    sides = 1 + max(key[0] for key in single)
    count = FEW * sides
    while True:
        limit = np.inf if count >= len(every) else float(np.partition(every, count)[count])
        yield _kept(single, prices, limit), limit
        if count >= len(every):
            return
        count *= 6


def within(single: Singles, prices: Priced, best: int) -> Singles:
    """The parts that can be in an arrangement that is not worse than ``best``."""
    return _kept(single, prices, best - prices.bound + MARGIN)


def _kept(single: Singles, prices: Priced, limit: float) -> Singles:
    return {
        key: (np.where(prices.excess[key] <= limit, numbers[0], NEVER), numbers[1]) for key, numbers in single.items()
    }


def worst_limits(planned: Plan, criterion: Criterion, single: Singles) -> Longs:
    """What the largest deviation can be, rising, from a lower bound on.

    Each unit must stand somewhere: no largest deviation is below the largest of the smallest with each unit.
    """
    least = np.full(len(planned.subsets.lengths), NEVER)
    kept = [unit for unit in range(len(least)) if (planned.final >> unit & 1 == 1).all()]
    every: list[Longs] = []
    for key, numbers in single.items():
        possible = numbers[0] < NEVER
        sets, worst = _sets(planned, key)[possible], numbers[0][possible] & criterion.mask
        every.append(np.unique(worst))
        for unit in kept:
            least[unit] = min(int(least[unit]), int(worst[sets >> unit & 1 == 1].min(initial=NEVER)))
    floor = max((int(least[unit]) for unit in kept), default=0)
    limits = np.unique(np.concatenate(every or [NO_SETS]))
    return limits[limits >= floor]
