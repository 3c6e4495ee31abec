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
from fabula.core.arranging.local.bounds import link_bound, position_bound
from fabula.core.arranging.local.construct import construct
from fabula.core.arranging.local.descent import descend
from fabula.core.arranging.local.guided import guided
from fabula.core.arranging.local.layouts import MOST_LAYOUTS, Layouts, layouts
from fabula.core.arranging.local.paths import PathSearch, first_prices, lowest_bound
from fabula.core.arranging.local.problem import Problem
from fabula.core.arranging.local.worst import least_worst
from fabula.core.essence import Floats
from fabula.core.fit import fit
from fabula.core.ordering import Ints

MOST_FOR_PATHS = 300  # beyond, paths cost more than they tell
ROOMIER = 1.1  # how much more sides hold where no even ones were found
ATTEMPTS = 8
MOST_TRIED = 3  # layouts that are searched
EVEN = 6  # layouts that are looked at where each takes long
HOT = 1.5  # noise at the start, in deviations of the links
MOST_GUIDED = 100  # items up to which the bound guides the search
TURNS = 20  # paths that are followed
ROUNDS = 1500  # of the bound
FREE = 0.3  # of the time, for the ordering without wishes
LATE = 2.0  # seconds after which an ordering is given up

Key = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Found:
    """An ordering of what is kept.

    Attributes
    ----------
    ordering, sizes
        The items, and how many of them stand on each side.
    key
        The criteria, the first first.
    bounds
        What no ordering gets below, as far as it is known.
    room
        The most a side may hold.
    paths
        The prices that guided to it.
    """

    ordering: Ints
    sizes: tuple[int, ...]
    key: Key
    bounds: Bounds
    room: float
    paths: PathSearch | None = None


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
    begun, bare = time.monotonic(), _bare(constraints)
    task = Task(goal, flow, constraints, seed, begun + seconds)
    if bare is not None:
        freely = replace(task, constraints=bare, until=begun + FREE * seconds)
        free = _fitted(freely) if task.counts_worst and bare.one_side else _searched(freely)
        if free is not None and _keeps(constraints, free):
            return _told(replace(freely, until=task.until), free)
    now = time.monotonic()
    found = _searched(replace(task, until=now + _search_share(task) * (task.until - now)))
    late = 0.15 * seconds if goal.n > MOST_GUIDED else 0.0  # where a bound takes long
    return None if found is None else _told(replace(task, until=task.until + late), found)


def _search_share(task: Task) -> float:
    """How much of the time goes to the search; the rest to the bound, where it is not found on the way."""
    if task.counts_worst:
        return 1.0
    if task.goal.n > MOST_GUIDED:
        return 0.4
    return 0.9 if task.constraints.sides == 1 else 0.6


def _fitted(task: Task) -> Found | None:
    """The best ordering of all, where the template counts alone."""
    if task.goal.follows is None:
        return None
    laid = fit(task.goal.rows, task.goal.follows)
    total = float(laid.deviations.sum())
    key = (0.0, laid.worst, total)
    return Found(laid.ordering, (task.goal.n,), key, Bounds(total, laid.worst), np.inf)


def _told(task: Task, found: Found) -> tuple[Ints, tuple[int, ...], Bounds]:
    """What was found, with bounds that hold for every layout."""
    bounds = found.bounds if task.counts_worst else _bounded(task, found)
    least = _least_alike(task.constraints, len(found.ordering))
    return found.ordering, found.sizes if len(found.sizes) > 1 else (), replace(bounds, violations=least)


def _bare(constraints: Constraints) -> Constraints | None:
    """The constraints without wishes on single items; None where there are none of these."""
    c = constraints
    if not (c.fixed or c.forbidden or c.together or c.before or c.ends) and c.apart is None:
        return None
    return Constraints(c.n, sides=c.sides, lengths=c.lengths, side_limit=c.side_limit, limit=c.limit)


def _keeps(constraints: Constraints, free: Found) -> bool:
    """Whether an ordering keeps every wish, and no neighbours are alike."""
    side = np.repeat(np.arange(len(free.sizes)), free.sizes)
    apart = constraints.apart is None or not alike(constraints.apart[free.ordering], side)
    return apart and not constraints.broken(free.ordering, free.sizes)


def _searched(task: Task) -> Found | None:
    """As many items kept as can be, on sides as even as can be."""
    constraints = task.constraints
    prices = (np.inf, _alike_price(task)) if constraints.apart is not None and constraints.apart_soft else (np.inf,)
    for kept in kept_counts(constraints):
        room = side_room(constraints)
        for _ in range(ATTEMPTS if constraints.sides > 1 and constraints.side_limit is None else 1):
            for price in prices:
                most = MOST_LAYOUTS if task.counts_worst or kept <= MOST_GUIDED else EVEN
                every = layouts(task.goal, task.flow, constraints, kept, room, alike=price, most=most)
                found = _by_worst(task, every) if task.counts_worst else _by_sum(task, every)
                if found is not None:
                    return found
            room *= ROOMIER
        if time.monotonic() > task.until + LATE:
            return None
    return None


def _alike_price(task: Task) -> float:
    """A cost of neighbours that are alike, far above all others."""
    largest = float(np.abs(task.goal.costs(task.goal.n)).max())
    flowing = 0.0 if task.flow is None else float(np.abs(task.flow).max())
    return 20.0 * (largest**2 + largest + flowing) + 1.0


def _least_alike(constraints: Constraints, kept: int) -> int:
    """How many neighbours must be alike: a label that many carry finds too few others to stand between."""
    if constraints.apart is None or kept < constraints.n:
        return 0
    most = int(np.bincount(constraints.apart[constraints.apart >= 0]).max())
    return max(0, most - (kept - most) - constraints.sides)


def _by_worst(task: Task, every: Layouts) -> Found | None:
    """The smallest largest deviation over all layouts that can be better than what is found; the sum second."""
    best: Found | None = None
    bounds: list[Bounds] = []
    for layout in every.layouts:
        late = best is not None and time.monotonic() > task.until
        if late or (best is not None and (layout.worst, layout.total) >= best.key[1:]):
            bounds.append(Bounds(layout.total, layout.worst))
            continue
        now = time.monotonic()
        until = task.until if len(every.layouts) == 1 else now + 0.5 * (task.until - now)
        laid = least_worst(layout.problem, layout.worst, seed=task.seed, until=until)
        if laid is not None:
            bounds.append(replace(laid[1], total=max(laid[1].total, layout.total)))
            found = _found(task, layout.problem, laid[0])
            best = found if best is None or found.key < best.key else best
    if best is None:
        return None
    # a layout in which no deviation can be as small as the largest found says nothing about the sum
    total = min(bound.total for bound in bounds if (bound.worst or 0.0) <= best.key[1] * (1 + 1e-12))
    worst = min(bound.worst or 0.0 for bound in bounds)
    known = every.complete and every.apart
    return replace(best, bounds=Bounds(total if known else 0.0, worst if known else 0.0))


def _by_sum(task: Task, every: Layouts) -> Found | None:
    """The smallest sum over the most promising layouts."""
    best: Found | None = None
    tried = every.layouts[: 1 if task.constraints.sides == 1 else MOST_TRIED]
    for number, layout in enumerate(tried):
        now = time.monotonic()
        until = now + (task.until - now) / (len(tried) - number)
        improved = _improved(layout.problem, task.seed, until, parts=len(tried))
        if improved is not None:
            found = _found(task, layout.problem, *improved)
            best = found if best is None or found.key < best.key else best
    return best


def _found(task: Task, problem: Problem, ordering: Ints, paths: PathSearch | None = None) -> Found:
    items = problem.items(ordering)
    told = describe(task.goal, task.flow, task.constraints, items, problem.sizes)
    key = (float(told.violations), *((told.worst or 0.0,) if task.counts_worst else ()), told.objective)
    return Found(items, problem.sizes, key, Bounds(-np.inf), problem.room, paths)


def _improved(problem: Problem, seed: int, until: float, *, parts: int) -> tuple[Ints, PathSearch | None] | None:
    """An ordering with a small sum, and the prices that guided to it; None where none was found."""
    rng = np.random.default_rng(seed)
    n, now = len(problem.cost), time.monotonic()
    ordering = construct(problem, position_bound(problem.cost)[1], rng, until=until + LATE)
    ordering = None if ordering is None else balance(problem, ordering)
    if ordering is None:
        return None
    few = n <= MOST_GUIDED
    walk = anneal(
        problem,
        ordering,
        rng,
        rounds=int(np.clip((20_000 if few else 80_000) / n, 100, 600) / parts),
        hot=HOT,
        until=now + (0.3 if few else 0.8) * (until - now),
    )
    ordering = descend(problem, walk, until=until)
    if not few or not np.isfinite(problem.value(ordering)):
        return ordering, None
    paths = PathSearch(problem, first_prices(problem, ordering), problem.value(ordering))
    return guided(problem, ordering, paths, rng, turns=-(-TURNS // parts), until=until), paths


def _bounded(task: Task, found: Found) -> Bounds:
    """A bound over all layouts, the best that there is time for."""
    alike_price = np.inf if found.key[0] == 0 else 0.0  # neighbours alike for nothing: a bound holds all the more
    every = layouts(task.goal, task.flow, task.constraints, len(found.ordering), found.room, alike=alike_price)
    value = found.key[-1]
    mine = next((layout for layout in every.layouts if layout.problem.sizes == found.sizes), None)
    if not every.complete or mine is None:
        return Bounds(-np.inf)
    n = len(mine.problem.cost)
    links = link_bound(mine.problem.link, rounds=int(np.clip(3_000 / n, 5, 60)))
    floors = [layout.total + links for layout in every.layouts]
    if min(floors) >= value - 1e-9 * abs(value) or n > MOST_FOR_PATHS:
        return Bounds(min(floors))
    ordering = mine.problem.spread(found.ordering)
    price = first_prices(mine.problem, ordering) if found.paths is None else found.paths.chosen
    searches = [
        found.paths
        if layout is mine and found.paths is not None
        else PathSearch(layout.problem, price, value, floor=floor)
        for layout, floor in zip(every.layouts, floors, strict=True)
    ]
    return Bounds(lowest_bound(searches, rounds=ROUNDS, until=task.until))
