"""A first ordering: one that keeps the constraints, and sides that hold too much relieved by swaps.

Positions are filled one after the other, looking ahead, with a few steps back. Then items are swapped between what
holds too much and what holds less, where that costs least for what it relieves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.solver.budget import UNLIMITED, Budget
from fabula.core.solver.domains import Bools
from fabula.core.solver.instance import Instance

ATTEMPTS = 60
STEPS_BACK = 400  # per attempt
ROWS = 48  # positions that are tried with all others
AT_ONCE = 8  # swaps taken from one look
MISSES = 20  # looks without relief
REACH = 40  # ranks between two items that are exchanged
MOST_LOOKS = 500
WORSE = 50.0  # how much more a deviation above the largest counts


@dataclass(frozen=True, eq=False)
class _Facts:
    """What does not change while positions are filled; the first axis is that of the units."""

    problem: Instance
    head: Ints  # first item
    tail: Ints  # last item
    due: Ints  # the unit must be through by here
    by_due: Ints  # units sorted by it
    ends: Bools  # (units, labels) the unit ends with the label
    same: Bools  # (units, labels) the label at both ends
    other: Bools  # (units, labels) the label at neither end
    pinned: dict[int, int]


@dataclass(frozen=True, eq=False)
class _Left:
    """What is still to be placed; the arrays change."""

    units: Bools  # (units,)
    ahead: Ints  # (units,) how many units that must stand before it are left
    same: Ints  # (labels,) how many units with the label at both ends are left
    other: Ints  # (labels,) how many with it at neither end

    def take(self, facts: _Facts, unit: int, sign: int) -> None:
        """Take a unit away, or with sign -1 put it back."""
        self.units[unit] = sign < 0
        self.ahead[facts.problem.parts.earlier[unit]] -= sign
        self.same[facts.same[unit]] -= sign
        self.other[facts.other[unit]] -= sign


def construct(problem: Instance, wish: Ints, rng: np.random.Generator, budget: Budget = UNLIMITED) -> Ints | None:
    """An ordering that keeps the constraints and stays close to another; None when none was found.

    ``problem``: without a simple contradiction. ``wish``: shape (n,), an ordering that need not keep them all. ``rng``:
    shakes the wish after an attempt that failed. ``budget``: of which every unit that is placed takes a part.
    """
    place = np.argsort(wish)
    facts = _facts(problem)
    for attempt in range(ATTEMPTS):
        noise = rng.normal(size=len(facts.head)) * len(wish) * attempt / ATTEMPTS
        order = _fill(facts, place[facts.head] + noise, budget)
        if order is not None:
            return np.concatenate([problem.parts.members[unit] for unit in order]).astype(np.intp)
        if budget.over:
            break
    return None


def _facts(problem: Instance) -> _Facts:
    parts = problem.parts
    n = len(parts.of)
    head = np.array([run[0] for run in parts.members])
    tail = np.array([run[-1] for run in parts.members])
    due = n - problem.starts[:, ::-1].argmax(axis=1) - 1 + parts.lengths
    labels = problem.constraints.apart
    carried = np.zeros(n, dtype=np.intp) - 1 if labels is None else labels
    labels_held = np.arange(carried.max() + 1)
    starts, ends = carried[head, np.newaxis] == labels_held, carried[tail, np.newaxis] == labels_held
    same, other = starts & ends, ~starts & ~ends
    by_due = np.argsort(due, kind="stable")
    return _Facts(problem, head, tail, due, by_due, ends, same, other, dict(problem.constraints.fixed))


def _fill(facts: _Facts, wish: Floats, budget: Budget) -> list[int] | None:
    """Units in order, or None when too many steps back were needed."""
    parts = facts.problem.parts
    ahead = parts.earlier.sum(axis=0)
    left = _Left(np.ones(len(wish), dtype=bool), ahead, facts.same.sum(axis=0), facts.other.sum(axis=0))
    order: list[int] = []
    by_wish = np.argsort(wish, kind="stable")
    choices = [_choices(facts, by_wish, left, order, 0)]
    steps, place, each = STEPS_BACK, 0, 25.0 + 0.1 * len(wish)
    while place < len(parts.of):
        unit = next(choices[-1], None)
        if unit is None:
            choices.pop()
            steps -= 1
            if not choices or not steps or budget.over:
                return None
            last = order.pop()
            left.take(facts, last, -1)
            place -= int(parts.lengths[last])
            continue
        order.append(unit)
        budget.spend(each)
        left.take(facts, unit, 1)
        place += int(parts.lengths[unit])
        choices.append(_choices(facts, by_wish, left, order, place))
    return order


def _choices(facts: _Facts, by_wish: Ints, left: _Left, order: list[int], place: int) -> Iterator[int]:
    """Units that can stand next, the one wished for first; those that leave another without a position are out."""
    problem, lengths = facts.problem, facts.problem.parts.lengths
    ready = left.units & problem.starts[:, place] & (left.ahead == 0)
    if order:
        ready &= np.isfinite(problem.link[facts.tail[order[-1]], facts.head])
    waiting = facts.by_due[left.units[facts.by_due]]
    slack = facts.due[waiting] - place - np.cumsum(lengths[waiting])
    if (slack < 0).any():
        return
    least = np.concatenate([[problem.constraints.n], np.minimum.accumulate(slack)])
    rank = np.empty(len(by_wish), dtype=np.intp)
    rank[waiting] = np.arange(len(waiting))
    for unit in by_wish[ready[by_wish]].tolist():
        follower = facts.pinned.get(place + int(lengths[unit]))
        meets = follower is not None and follower != facts.head[unit]
        if meets and not np.isfinite(problem.link[facts.tail[unit], follower]):
            continue
        labelled = left.same - facts.same[unit] <= left.other - facts.other[unit] + ~facts.ends[unit]
        if least[rank[unit]] >= lengths[unit] and labelled.all():
            yield unit


def rebalance(problem: Instance, ordering: Ints, rng: np.random.Generator, budget: Budget = UNLIMITED) -> Ints | None:
    """An ordering whose zones hold what they may, by swaps that each bring it nearer; None where that fails.

    ``problem``: the costs. ``ordering``: shape (N,), keeps everything but the lengths. ``rng``: draws the positions
    that are looked at, where there are many. ``budget``: of which every look takes a part.
    """
    zone, inside, misses = problem.zone, np.flatnonzero(problem.zone >= 0), 0
    while problem.overload(ordering) > 0.0:
        if budget.over or misses > MISSES:
            return None
        loads = np.bincount(zone[inside], problem.lengths[ordering[inside]], len(problem.most)).astype(np.float64)
        off = (loads > problem.most) | (loads < problem.least)
        rows = rng.permutation(inside[off[zone[inside]]])[:ROWS]
        budget.spend(300.0 + 0.15 * len(rows) * len(inside))
        i, j = (part.ravel() for part in np.meshgrid(rows, inside, indexing="ij"))
        i, j = i[zone[i] != zone[j]], j[zone[i] != zone[j]]
        shift = problem.lengths[ordering[j]] - problem.lengths[ordering[i]]
        gain = _relief(loads, problem.least, problem.most, zone[i], zone[j], shift)
        helps = gain > 1e-9 * (1.0 + loads.max())
        i, j, gain = i[helps], j[helps], gain[helps]
        better = _relieve(problem, ordering, i, j, gain)
        misses = misses + 1 if better is None else 0
        ordering = ordering if better is None else better
    return ordering


def rebalance_ranks(
    values: Floats,
    lengths: Floats,
    targets: Floats,
    side: Ints,
    room: float,
    *,
    worst: float,
    budget: Budget = UNLIMITED,
) -> Ints | None:
    """Which item takes which rank so that no side holds more than its room; None where that was not found.

    ``values``, ``lengths``: shape (m,), of the items in the order of their values: sorted. ``targets``, ``side``: shape
    (m,): the sorted targets, and the side each is on. ``room``: the most a side may hold. ``worst``: the largest
    deviation so far, which should not grow. ``budget``: of which every look takes a part.
    """
    order, count = np.arange(len(values)), int(side.max()) + 1
    loads = np.bincount(side, lengths, count).astype(np.float64)
    least, most = np.zeros(count), np.full(count, room)

    def cost(item: Ints, rank: Ints) -> Floats:
        away = np.abs(values[item] - targets[rank])
        return away + WORSE * np.maximum(away - worst, 0.0)

    for _ in range(MOST_LOOKS):
        if (loads <= room).all():
            return order
        budget.spend(200.0 + 1.2 * REACH * len(values))
        if budget.over:
            return None
        i, j = _near_pairs(side, loads[side] > room)
        shift = lengths[order[j]] - lengths[order[i]]
        gain = _relief(loads, least, most, side[i], side[j], shift)
        helps = gain > 1e-12 * room
        if not helps.any():
            return None
        i, j, gain = i[helps], j[helps], gain[helps]
        change = cost(order[i], j) + cost(order[j], i) - cost(order[i], i) - cost(order[j], j)
        for one, other in _cheapest(i, j, (change + 1e-9) / gain):
            moved = lengths[order[other]] - lengths[order[one]]
            after = loads.copy()
            after[[side[one], side[other]]] += moved, -moved
            if np.maximum(after - room, 0).sum() < np.maximum(loads - room, 0).sum():
                order[[one, other]] = order[[other, one]]
                loads = after
    return None


def _relief(loads: Floats, least: Floats, most: Floats, one: Ints, other: Ints, shift: Floats) -> Floats:
    """By how much less zones are off, in all, when the first gains ``shift`` from the other."""

    def off(load: Floats, zone: Ints) -> Floats:
        return np.maximum(load - most[zone], 0.0) + np.maximum(least[zone] - load, 0.0)

    mine, others = loads[one], loads[other]
    return off(mine, one) + off(others, other) - off(mine + shift, one) - off(others - shift, other)


def _relieve(problem: Instance, ordering: Ints, i: Ints, j: Ints, gain: Floats) -> Ints | None:
    """The ordering after the swaps that cost least for what they relieve; None where none relieves."""
    change = _swap_changes(problem, ordering, i, j)
    open_ = np.isfinite(change)
    if not open_.any():
        return None
    scale = 0.05 * float(np.abs(change[open_]).mean()) + 1e-12
    best, before = ordering, problem.overload(ordering)
    for one, other in _cheapest(i[open_], j[open_], (change[open_] + scale) / gain[open_]):
        trial = best.copy()
        trial[[one, other]] = best[[other, one]]
        after = problem.overload(trial)
        if after < before and np.isfinite(problem.value(trial)) and problem.in_order(np.argsort(trial)):
            best, before = trial, after
    return None if best is ordering else best


def _cheapest(i: Ints, j: Ints, ratio: Floats) -> list[tuple[int, int]]:
    """The pairs with the smallest ratios, no position in two."""
    first = np.argsort(ratio, kind="stable")[: 4 * AT_ONCE]
    pairs, used = list[tuple[int, int]](), set[int]()
    for one, other in zip(i[first].tolist(), j[first].tolist(), strict=True):
        if one not in used and other not in used and len(pairs) < AT_ONCE:
            pairs.append((one, other))
            used |= {one, other}
    return pairs


def _near_pairs(side: Ints, full: Bools) -> tuple[Ints, Ints]:
    """Ranks near each other on two sides, of which at least one holds too much."""
    m = len(side)
    i = np.repeat(np.arange(m), REACH)
    j = i + np.tile(np.arange(1, REACH + 1), m)
    i, j = i[j < m], j[j < m]
    near = (full[i] | full[j]) & (side[i] != side[j])
    return i[near], j[near]


def _swap_changes(problem: Instance, ordering: Ints, i: Ints, j: Ints) -> Floats:
    """What it changes to swap positions i and j, which are no neighbours; infinite where it is not allowed."""
    n = len(ordering)
    framed = np.concatenate([ordering, [n]])
    link = problem.link
    total = np.zeros(len(i))
    for at, there in ((i, j), (j, i)):
        item, gone = ordering[there], ordering[at]
        total += problem.cost[item, at] - problem.cost[gone, at]
        for near, forth in ((framed[at - 1], False), (framed[at + 1], True)):
            real = near < n
            other = np.where(real, near, 0)
            new = link[item, other] if forth else link[other, item]
            old = link[gone, other] if forth else link[other, gone]
            total += np.where(real, new, 0.0) - np.where(real, old, 0.0)
    low, high = problem.reach(ordering)
    kept = (j <= high[i]) & (j >= low[i]) & (i <= high[j]) & (i >= low[j])
    return np.where(kept & (np.abs(i - j) > 1), total, np.inf)
