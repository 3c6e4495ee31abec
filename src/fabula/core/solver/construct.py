"""A first ordering that keeps the constraints: position by position, looking ahead, with a few steps back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.core.solver.domains import Bools
from fabula.core.solver.instance import Instance
from fabula.core.solver.moves import here, swap_changes

# A first ordering that keeps the constraints: position by position, looking ahead, with a few steps back.

ATTEMPTS = 60
STEPS_BACK = 400  # per attempt


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


def construct(problem: Instance, wish: Ints, rng: np.random.Generator, *, until: float = np.inf) -> Ints | None:
    """An ordering that keeps the constraints and stays close to another; None when none was found.

    Parameters
    ----------
    problem
        Without a simple contradiction.
    wish
        Shape (n,), an ordering that need not keep them all.
    rng
        Shakes the wish after an attempt that failed.
    until
        When to give up by ``time.monotonic()`` at the latest.
    """
    place = np.argsort(wish)
    facts = _facts(problem)
    for attempt in range(ATTEMPTS):
        noise = rng.normal(size=len(facts.head)) * len(wish) * attempt / ATTEMPTS
        order = _fill(facts, place[facts.head] + noise, until)
        if order is not None:
            return np.concatenate([problem.parts.members[unit] for unit in order]).astype(np.intp)
        if time.monotonic() > until:
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


def _fill(facts: _Facts, wish: Floats, until: float) -> list[int] | None:
    """Units in order, or None when too many steps back were needed."""
    parts = facts.problem.parts
    ahead = parts.earlier.sum(axis=0)
    left = _Left(np.ones(len(wish), dtype=bool), ahead, facts.same.sum(axis=0), facts.other.sum(axis=0))
    order: list[int] = []
    by_wish = np.argsort(wish, kind="stable")
    choices = [_choices(facts, by_wish, left, order, 0)]
    steps, place = STEPS_BACK, 0
    while place < len(parts.of):
        unit = next(choices[-1], None)
        if unit is None:
            choices.pop()
            steps -= 1
            if not choices or not steps or time.monotonic() > until:
                return None
            last = order.pop()
            left.take(facts, last, -1)
            place -= int(parts.lengths[last])
            continue
        order.append(unit)
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


# Balance: sides that hold too much made to hold what they may, at the least cost.

MOST_SWAPS = 300


def balance(problem: Instance, ordering: Ints) -> Ints | None:
    """An ordering whose zones hold what they may, by swaps that each bring it nearer; None where that fails.

    Parameters
    ----------
    problem
        The costs.
    ordering
        Shape (N,), keeps everything but the lengths.
    """
    for _ in range(MOST_SWAPS):
        over = problem.overload(ordering)
        if over == 0.0:
            return ordering
        change = swap_changes(here(problem, ordering))
        after = _overload_after(problem, ordering)
        after[~np.isfinite(change)] = np.inf
        gain = over - after
        if not (gain > 1e-12 * over).any():
            return None
        worth = np.where(gain > 1e-12 * over, (change + _scale(change)) / np.maximum(gain, 1e-300), np.inf)
        i, j = np.unravel_index(int(worth.argmin()), worth.shape)
        ordering = ordering.copy()
        ordering[[i, j]] = ordering[[j, i]]
    return None


def _scale(change: Floats) -> float:
    """What makes every change positive, and large gains worth more than small ones."""
    finite = change[np.isfinite(change)]
    return float(np.abs(finite).max(initial=0.0)) + 1e-9


def _overload_after(problem: Instance, ordering: Ints) -> Floats:
    """How far zones are off after each swap of two positions: shape (N, N)."""
    zone, length = problem.zone, problem.lengths[ordering]
    count = len(problem.most)
    loads = np.bincount(zone[zone >= 0], length[zone >= 0], count)
    shift = length[np.newaxis] - length[:, np.newaxis]  # what the zone of i gains when j's item comes
    total = np.zeros(shift.shape)
    for side in range(count):
        mine, other = (zone == side)[:, np.newaxis], (zone == side)[np.newaxis]
        load = loads[side] + np.where(mine & ~other, shift, 0.0) - np.where(other & ~mine, shift, 0.0)
        total += np.maximum(load - problem.most[side], 0) + np.maximum(problem.least[side] - load, 0)
    return total


# Swaps of two positions, judged in samples: for orderings too long for a table of all swaps.

ROWS = 48  # positions that are tried with all others
AT_ONCE = 8  # swaps taken from one sample


def swap_gains(problem: Instance, ordering: Ints, i: Ints, j: Ints) -> Floats:
    """What it changes to swap positions i and j, which are no neighbours; infinite where it is not allowed."""
    n = len(ordering)
    framed = np.concatenate([ordering, [n]])
    link = problem.link
    total = np.zeros(len(i))
    for here, there in ((i, j), (j, i)):
        item, gone = ordering[there], ordering[here]
        total += problem.cost[item, here] - problem.cost[gone, here]
        for near, forth in ((framed[here - 1], False), (framed[here + 1], True)):
            real = near < n
            other = np.where(real, near, 0)
            new = link[item, other] if forth else link[other, item]
            old = link[gone, other] if forth else link[other, gone]
            total += np.where(real, new - old, 0.0)
    return np.where(_in_order(problem, ordering, i, j) & (np.abs(i - j) > 1), total, np.inf)


def _in_order(problem: Instance, ordering: Ints, i: Ints, j: Ints) -> Bools:
    """Whether no pair of ``before`` is turned round."""
    n = len(ordering)
    place = np.argsort(ordering)
    low, high = np.zeros(n, dtype=np.intp), np.full(n, n - 1)
    a, b = place[problem.before]
    np.maximum.at(low, b, a + 1)
    np.minimum.at(high, a, b - 1)
    return np.asarray((j <= high[i]) & (j >= low[i]) & (i <= high[j]) & (i >= low[j]))


def evened(problem: Instance, ordering: Ints, rng: np.random.Generator, *, until: float) -> Ints | None:
    """An ordering whose zones hold what they may, by swaps that each bring it nearer; None where that fails.

    Parameters
    ----------
    problem
        The costs.
    ordering
        Shape (N,), keeps everything but the lengths.
    rng
        Draws the samples.
    until
        When to give up by ``time.monotonic()``.
    """
    misses = 0
    while problem.overload(ordering) > 0.0:
        if time.monotonic() > until or misses > 20:
            return None
        zone = problem.zone
        held = problem.lengths[ordering][zone >= 0]
        loads = np.bincount(zone[zone >= 0], held, len(problem.most)).astype(np.float64)
        full = np.flatnonzero((zone >= 0) & (loads > problem.most)[zone])
        rows = rng.permutation(full)[:ROWS]
        i, j = (part.ravel() for part in np.meshgrid(rows, np.flatnonzero(zone >= 0), indexing="ij"))
        i, j = i[zone[i] != zone[j]], j[zone[i] != zone[j]]
        better = _relieved(problem, ordering, i, j, loads)
        misses = misses + 1 if better is None else 0
        ordering = ordering if better is None else better
    return ordering


def _relieved(problem: Instance, ordering: Ints, i: Ints, j: Ints, loads: Floats) -> Ints | None:
    """The ordering after the swaps that cost least for what they relieve; None where none relieves."""
    length, most, zone = problem.lengths[ordering], problem.most, problem.zone
    shift = length[i] - length[j]
    over = np.maximum(loads - most, 0.0)
    relief = over[zone[i]] + over[zone[j]]
    relief = relief - np.maximum(loads[zone[i]] - shift - most[zone[i]], 0.0)
    relief = relief - np.maximum(loads[zone[j]] + shift - most[zone[j]], 0.0)
    helps = np.flatnonzero(relief > 1e-9 * (1.0 + over.max()))
    i, j, relief = i[helps], j[helps], relief[helps]
    change = swap_gains(problem, ordering, i, j)
    open_ = np.isfinite(change)
    if not open_.any():
        return None
    scale = 0.05 * float(np.abs(change[open_]).mean()) + 1e-12
    best, before = ordering, problem.overload(ordering)
    for one in np.argsort(np.where(open_, (change + scale) / relief, np.inf))[:AT_ONCE].tolist():
        trial = best.copy()
        trial[[i[one], j[one]]] = best[[j[one], i[one]]]
        after = problem.overload(trial)
        if after < before and np.isfinite(problem.value(trial)) and problem.in_order(np.argsort(trial)):
            best, before = trial, after
    return None if best is ordering else best


# Shares: sides that hold too much made to hold what they may, by exchanges of items of nearly the same value.

REACH = 40  # ranks between two items that are exchanged
MOST_EXCHANGES = 500  # rounds of them
# exchanges in a round
WORSE = 50.0  # how much more a deviation above the largest counts


def shared(
    values: Floats, lengths: Floats, targets: Floats, side: Ints, room: float, *, worst: float, until: float
) -> Ints | None:
    """Which item takes which rank so that no side holds more than its room; None where that was not found.

    Parameters
    ----------
    values, lengths
        Shape (m,), of the items in the order of their values: sorted.
    targets, side
        Shape (m,): the sorted targets, and the side each is on.
    room
        The most a side may hold.
    worst
        The largest deviation so far, which should not grow.
    until
        When to give up by ``time.monotonic()``.
    """
    order, count = np.arange(len(values)), int(side.max()) + 1
    loads = np.bincount(side, lengths, count).astype(np.float64)
    for _ in range(MOST_EXCHANGES):
        if (loads <= room).all():
            return order
        if time.monotonic() > until:
            return None
        pairs = _cheapest(order, values, lengths, targets, side, loads, room, worst)
        if not pairs:
            return None
        for one, other in pairs:
            shift = lengths[order[other]] - lengths[order[one]]
            after = loads.copy()
            after[[side[one], side[other]]] += shift, -shift
            if np.maximum(after - room, 0).sum() < np.maximum(loads - room, 0).sum():
                order[[one, other]] = order[[other, one]]
                loads = after
    return None


def _cheapest(
    order: Ints, values: Floats, lengths: Floats, targets: Floats, side: Ints, loads: Floats, room: float, worst: float
) -> list[tuple[int, int]]:
    """Exchanges of two ranks that cost least for what they take off sides that hold too much; no rank in two."""
    i, j = _pairs(len(order), loads[side] > room)
    i, j = i[side[i] != side[j]], j[side[i] != side[j]]
    shift = lengths[order[j]] - lengths[order[i]]  # what the side of i gains
    mine, other = loads[side[i]], loads[side[j]]
    before = np.maximum(mine - room, 0) + np.maximum(other - room, 0)
    gain = before - np.maximum(mine + shift - room, 0) - np.maximum(other - shift - room, 0)
    helps = gain > 1e-12 * room
    if not helps.any():
        return []
    i, j, gain = i[helps], j[helps], gain[helps]
    new = _costs(values[order[i]] - targets[j], worst) + _costs(values[order[j]] - targets[i], worst)
    old = _costs(values[order[i]] - targets[i], worst) + _costs(values[order[j]] - targets[j], worst)
    ratio = (new - old + 1e-9) / gain
    first = np.argsort(ratio, kind="stable")[: 4 * AT_ONCE]
    pairs, used = list[tuple[int, int]](), set[int]()
    for one, other in zip(i[first].tolist(), j[first].tolist(), strict=True):
        if one not in used and other not in used and len(pairs) < AT_ONCE:
            pairs.append((one, other))
            used |= {one, other}
    return pairs


def _costs(difference: Floats, worst: float) -> Floats:
    away = np.abs(difference)
    return away + WORSE * np.maximum(away - worst, 0.0)


def _pairs(m: int, full: Bools) -> tuple[Ints, Ints]:
    """Ranks near each other, of which at least one is on a side that holds too much."""
    step = np.arange(1, REACH + 1)
    i = np.repeat(np.arange(m), REACH)
    j = i + np.tile(step, m)
    inside = j < m
    i, j = i[inside], j[inside]
    near = full[i] | full[j]
    return i[near], j[near]
