"""The search: a first ordering, improved; for each of the most promising layouts of sides; and what bounds it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from fabula.core.arranging.arrangement import Bounds, describe
from fabula.core.arranging.constraints import Constraints, alike
from fabula.core.arranging.goal import Goal
from fabula.core.arranging.limits import kept_counts, side_room
from fabula.core.arranging.local.anneal import anneal
from fabula.core.arranging.local.balance import balance
from fabula.core.arranging.local.bounds import coupling_bound, link_bound, position_bound
from fabula.core.arranging.local.construct import construct
from fabula.core.arranging.local.descent import descend
from fabula.core.arranging.local.layouts import Layout, layouts
from fabula.core.arranging.local.paths import path_bound
from fabula.core.arranging.local.problem import Problem
from fabula.core.arranging.local.worst import least_worst
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

MOST_FOR_PATHS = 300  # beyond, paths cost more than they tell
ROOMIER = 1.1  # how much more sides hold where no even ones were found
ATTEMPTS = 8

Key = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Found:
    """An ordering of what is kept, the sizes of its sides, its criteria and their bounds."""

    ordering: Ints
    sizes: tuple[int, ...]
    key: Key
    bounds: Bounds


@dataclass(frozen=True, eq=False)
class Task:
    """What is searched for, and how long."""

    goal: Goal
    flow: Floats | None
    constraints: Constraints
    seed: int
    until: float

    @property
    def counts_worst(self) -> bool:
        """Whether the largest deviation comes first."""
        return self.flow is None and self.goal.follows is not None


def search(
    goal: Goal, flow: Floats | None, constraints: Constraints, *, seed: int, seconds: float
) -> tuple[Ints, tuple[int, ...], Bounds] | None:
    """A good ordering of many items, the sizes of its sides and bounds; None where none was found.

    If the ordering found without the wishes keeps them all, it is that one.
    """
    bare = _bare(constraints)
    if bare is not None:
        free = _searched(Task(goal, flow, bare, seed, time.monotonic() + 0.45 * seconds))
        if free is not None and not constraints.broken(free.ordering, free.sizes) and _as_apart(constraints, free):
            return free.ordering, free.sizes if len(free.sizes) > 1 else (), free.bounds
        seconds *= 0.55
    found = _searched(Task(goal, flow, constraints, seed, time.monotonic() + seconds))
    if found is None:
        return None
    return found.ordering, found.sizes if len(found.sizes) > 1 else (), found.bounds


def _bare(constraints: Constraints) -> Constraints | None:
    """The constraints without wishes on single items; None where there are none of these."""
    c = constraints
    if not (c.fixed or c.forbidden or c.together or c.before or c.ends) and c.apart is None:
        return None
    return Constraints(c.n, sides=c.sides, lengths=c.lengths, side_limit=c.side_limit, limit=c.limit)


def _as_apart(constraints: Constraints, free: Found) -> bool:
    """Whether no neighbours are alike, soft or not."""
    return not (constraints.apart_soft and _violations(constraints, free.ordering, free.sizes))


def _violations(constraints: Constraints, ordering: Ints, sizes: tuple[int, ...]) -> int:
    if constraints.apart is None:
        return 0
    return alike(constraints.apart[ordering], np.repeat(np.arange(len(sizes)), sizes))


def _searched(task: Task) -> Found | None:
    """As many items kept as can be, on sides as even as can be."""
    constraints = task.constraints
    prices = (np.inf, _alike_price(task)) if constraints.apart is not None and constraints.apart_soft else (np.inf,)
    for kept in kept_counts(constraints):
        room = side_room(constraints)
        for _ in range(ATTEMPTS if constraints.sides > 1 and constraints.side_limit is None else 1):
            for price in prices:
                found = _over_layouts(task, kept, room, price)
                if found is not None:
                    return found
            room *= ROOMIER
        if time.monotonic() > task.until + 2.0:
            return None
    return None


def _alike_price(task: Task) -> float:
    """A cost of neighbours that are alike, far above all others."""
    largest = float(np.abs(task.goal.costs(task.goal.n)).max())
    flowing = 0.0 if task.flow is None else float(np.abs(task.flow).max())
    return 20.0 * (largest**2 + largest + flowing) + 1.0


def _over_layouts(task: Task, kept: int, room: float, price: float) -> Found | None:
    """The best of the layouts there is time for; the bounds are those of all."""
    every, complete = layouts(task.goal, task.flow, task.constraints, kept, room, alike=price)
    best: Found | None = None
    bounds: list[Bounds] = []
    tried = min(len(every), 1 if task.constraints.sides == 1 else 4)
    for number, layout in enumerate(every):
        out_of_time = best is not None and (number >= tried or time.monotonic() > task.until)
        if out_of_time or (best is not None and (layout.worst, layout.total) > best.key[1:][-2:] and task.counts_worst):
            bounds.append(Bounds(layout.total, layout.worst))
            continue
        share = (task.until - time.monotonic()) / max(1, tried - number)
        found = _laid(task, layout, time.monotonic() + share)
        if found is not None:
            bounds.append(found.bounds)
            best = found if best is None or found.key < best.key else best
    if best is None:
        return None
    return replace(best, bounds=_least(task, bounds, kept, complete=complete and np.isinf(price)))


def _least(task: Task, bounds: list[Bounds], kept: int, *, complete: bool) -> Bounds:
    """What holds for every layout; next to nothing where not all were looked at."""
    total = min(bound.total for bound in bounds)
    worst = min(bound.worst or 0.0 for bound in bounds)
    if not complete:
        smallest = min(float(task.goal.costs(size).min()) for size in range(1, kept + 1))
        flowing = 0.0 if task.flow is None else float(task.flow.min())
        total, worst = min(total, kept * (min(smallest, 0.0) + min(flowing, 0.0))), 0.0
    return Bounds(total, worst if task.counts_worst else None, _least_alike(task.constraints, kept))


def _least_alike(constraints: Constraints, kept: int) -> int:
    """How many neighbours must be alike: a label that many carry finds too few others to stand between."""
    if constraints.apart is None or kept < constraints.n:
        return 0
    most = int(np.bincount(constraints.apart[constraints.apart >= 0]).max())
    return max(0, most - (kept - most) - constraints.sides)


def _laid(task: Task, layout: Layout, until: float) -> Found | None:
    """An ordering for a layout, with its bounds."""
    problem = layout.problem
    if task.counts_worst:
        laid = least_worst(problem, layout.worst, seed=task.seed, until=until)
    else:
        laid = _weighed(problem, task.seed, until)
    if laid is None:
        return None
    ordering, bounds = laid
    items = problem.items(ordering)
    told = describe(task.goal, task.flow, task.constraints, items, problem.sizes)
    key = (float(told.violations), *((told.worst or 0.0,) if task.counts_worst else ()), told.objective)
    return Found(items, problem.sizes, key, bounds)


def _weighed(problem: Problem, seed: int, until: float) -> tuple[Ints, Bounds] | None:
    """The smallest sum that is found, and the best bound that there is time for."""
    rng = np.random.default_rng(seed)
    n, now = len(problem.cost), time.monotonic()
    floor, wish = position_bound(problem.cost)
    ordering = construct(problem, wish, rng, until=now + 2 * (until - now))
    ordering = None if ordering is None else balance(problem, ordering)
    if ordering is None:
        return None
    now = time.monotonic()
    rounds = int(np.clip(60_000 / n, 200, 1200))
    ordering = anneal(problem, ordering, rng, rounds=rounds, until=now + 0.5 * (until - now))
    ordering = descend(problem, ordering, until=now + 0.6 * (until - now))
    return ordering, Bounds(_bound(problem, floor, wish, ordering, until))


def _bound(problem: Problem, floor: float, wish: Ints, ordering: Ints, until: float) -> float:
    """The best lower bound that there is time for."""
    n, value = len(wish), problem.value(ordering)
    bound = floor + coupling_bound(problem, wish)
    if not bound >= value - 1e-9 * abs(value):
        bound += link_bound(problem.link, rounds=int(np.clip(3_000 / n, 5, 60)))
    if bound >= value - 1e-9 * abs(value) or n > MOST_FOR_PATHS:
        return bound
    return max(bound, path_bound(problem, ordering, rounds=600, until=until))
