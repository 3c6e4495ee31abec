"""A first ordering that keeps the constraints: position by position, looking ahead, with a few steps back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fabula.core.arranging.local.problem import Problem
from fabula.core.arranging.positions import Bools
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

ATTEMPTS = 60
STEPS_BACK = 400  # per attempt


@dataclass(frozen=True, eq=False)
class _Facts:
    """What does not change while positions are filled; the first axis is that of the units."""

    problem: Problem
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


def construct(problem: Problem, wish: Ints, rng: np.random.Generator, *, until: float = np.inf) -> Ints | None:
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


def _facts(problem: Problem) -> _Facts:
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
    choices = [_choices(facts, wish, left, order, 0)]
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
        choices.append(_choices(facts, wish, left, order, place))
    return order


def _choices(facts: _Facts, wish: Floats, left: _Left, order: list[int], place: int) -> Iterator[int]:
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
    rank = np.empty(len(wish), dtype=np.intp)
    rank[waiting] = np.arange(len(waiting))
    units = np.flatnonzero(ready)
    for unit in units[np.argsort(wish[units], kind="stable")].tolist():
        follower = facts.pinned.get(place + int(lengths[unit]))
        meets = follower is not None and follower != facts.head[unit]
        if meets and not np.isfinite(problem.link[facts.tail[unit], follower]):
            continue
        labelled = left.same - facts.same[unit] <= left.other - facts.other[unit] + ~facts.ends[unit]
        if least[rank[unit]] >= lengths[unit] and labelled.all():
            yield unit
