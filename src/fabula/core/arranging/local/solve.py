"""The search: a first ordering, improved; for each of the most promising layouts of sides; and what bounds it."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from fabula.core.arranging.arrangement import Bounds
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
from fabula.core.arranging.local.task import Found, Task, alike_price
from fabula.core.arranging.local.worst import least_worst
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
LATE = 2.0  # seconds after which an ordering is given up


def searched(task: Task) -> Found | None:
    """As many items kept as can be, on sides as even as can be."""
    constraints = task.constraints
    prices = (np.inf, alike_price(task)) if constraints.apart is not None and constraints.apart_soft else (np.inf,)
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
    key = task.key(items, problem.sizes)
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


def bounded(task: Task, found: Found) -> Bounds:
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
