"""What is searched for, and what was found."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np

from fabula.core.essence import Floats
from fabula.core.fit import fit
from fabula.core.ordering import Ints
from fabula.core.solver.anneal import anneal, guided
from fabula.core.solver.bottleneck import least_worst
from fabula.core.solver.constraints import Constraints, alike
from fabula.core.solver.construct import balance, construct, evened
from fabula.core.solver.domains import possible_counts, side_room
from fabula.core.solver.drafts import Draft, assigned_draft, line_draft
from fabula.core.solver.dual import flow_floor, line_bounds, table_floor, wishes_floor
from fabula.core.solver.instance import MOST_LAYOUTS, Instance, Layouts, costs_of, layouts, pose, position_bound
from fabula.core.solver.lagrangian import PathSearch, first_prices, lowest_bound
from fabula.core.solver.line import even_sizes
from fabula.core.solver.moves import descend
from fabula.core.solver.one_tree import link_bound
from fabula.core.solver.problem import Bounds, Goal, describe
from fabula.core.solver.proof import FEW, MOST_ITEMS, prove
from fabula.core.solver.tsp import route

# What is searched for, and what was found.

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

    @property
    def on_line(self) -> bool:
        """Whether items and targets are numbers."""
        return self.goal.follows is not None and self.goal.rows.shape[1] == 1

    @property
    def sorted_alone(self) -> bool:
        """Whether sorting tells all but which side an item is on: numbers, no flow and no wishes."""
        return self.on_line and self.flow is None and not self.constraints.wishes

    def key(self, items: Ints, sizes: tuple[int, ...]) -> Key:
        """The criteria of an ordering, the first first."""
        told = describe(self.goal, self.flow, self.constraints, items, sizes)
        return (float(told.violations), *((told.worst or 0.0,) if self.counts_worst else ()), told.objective)


def alike_price(task: Task) -> float:
    """A cost of neighbours that are alike, far above all others."""
    largest = float(np.abs(task.goal.costs(task.goal.n)).max())
    flowing = 0.0 if task.flow is None else float(np.abs(task.flow).max())
    return 20.0 * (largest**2 + largest + flowing) + 1.0


# Refining a draft: wishes kept, sides even, then improved as long as there is time.

TIE = 1e-7  # weight of squares beside the sum, to decide between orderings that tie
WORSE = 30.0  # how much more a deviation above the smallest largest one counts
REFINE_ROUNDS = 4000  # of annealing at most
REFINE_HOT = 0.3  # noise at the start, in deviations of the links


def refine(
    task: Task, draft: Draft, room: float, floor: float, *, alike: float, until: float, late: float
) -> Ints | None:
    """The items kept, in a good order that keeps the wishes; None where none was found.

    Parameters
    ----------
    task, draft
        What is searched for, and where it begins.
    room
        The most a side may hold.
    floor
        No largest deviation is below it.
    alike
        What it costs two neighbours to carry the same label.
    until
        When to stop by ``time.monotonic()``.
    late
        When to stop looking for a first ordering.
    """
    items = np.sort(draft.ordering)
    constraints = restrict(task.constraints, items)
    if constraints is None:
        return None
    goal, flow = task.goal.taken(items), None if task.flow is None else task.flow[np.ix_(items, items)]
    problem = pose(costs_of(goal, flow, draft.sizes), flow, constraints, draft.sizes, room, alike=alike)
    if problem is None:
        return None
    rng = np.random.default_rng(task.seed)
    ordering = construct(problem, problem.spread(np.searchsorted(items, draft.ordering)), rng, until=late)
    ordering = None if ordering is None else evened(problem, ordering, rng, until=late)
    if ordering is None or not np.isfinite(problem.value(ordering)):
        return None
    improved = _worst_first if task.counts_worst else _by_sum
    return items[problem.items(improved(problem, ordering, floor, rng, until))]


def restrict(constraints: Constraints, items: Ints) -> Constraints | None:
    """The constraints on the items kept, numbered anew; None where a position that is asked for is not there."""
    c, m = constraints, len(items)
    if m == c.n:
        return c
    new = {int(item): number for number, item in enumerate(items)}
    if any(not -m <= place < m for place in c.fixed) or any(not -m <= place < m for _, place in c.ends):
        return None
    return Constraints(
        m,
        fixed={place: new[item] for place, item in c.fixed.items()},
        forbidden=[(new[item], place) for item, place in c.forbidden if item in new and -m <= place < m],
        together=[[new[item] for item in run] for run in c.together],
        before=[(new[a], new[b]) for a, b in c.before],
        apart=None if c.apart is None else c.apart[items],
        apart_soft=c.apart_soft,
        sides=c.sides,
        ends={where: new[item] for where, item in c.ends.items()},
        lengths=c.counted[items],
        side_limit=c.side_limit,
    )


def _by_sum(problem: Instance, ordering: Ints, _floor: float, rng: np.random.Generator, until: float) -> Ints:
    return anneal(problem, ordering, rng, rounds=REFINE_ROUNDS, hot=REFINE_HOT, until=until)


def _worst_first(problem: Instance, ordering: Ints, floor: float, rng: np.random.Generator, until: float) -> Ints:
    """Deviations above the floor brought down, then the sum."""
    k, now = np.arange(len(ordering)), time.monotonic()
    if problem.cost[ordering, k].max() > floor * (1 + 1e-9):
        steep = replace(problem, cost=problem.cost + WORSE * np.maximum(problem.cost - floor, 0.0))
        ordering = anneal(steep, ordering, rng, rounds=REFINE_ROUNDS, hot=0.0, until=now + 0.5 * (until - now))
    worst = float(problem.cost[ordering, k].max()) * (1 + 1e-12)
    scale = max(worst, 1e-300)
    cost = np.where(problem.cost <= worst, problem.cost + TIE * problem.cost**2 / scale, np.inf)
    return anneal(replace(problem, cost=cost), ordering, rng, rounds=REFINE_ROUNDS, hot=0.0, until=until)


# The search: a first ordering, improved; for each of the most promising layouts of sides; and what bounds it.

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


def searched_few(task: Task) -> Found | None:
    """As many items kept as can be, on sides as even as can be."""
    constraints = task.constraints
    prices = (np.inf, alike_price(task)) if constraints.apart is not None and constraints.apart_soft else (np.inf,)
    for kept in possible_counts(constraints):
        room = side_room(constraints)
        for _ in range(ATTEMPTS if constraints.sides > 1 and constraints.side_limit is None else 1):
            for price in prices:
                most = MOST_LAYOUTS if task.counts_worst or kept <= MOST_GUIDED else EVEN
                every = layouts(task.goal, task.flow, constraints, kept, room, alike=price, most=most)
                found = _by_worst(task, every) if task.counts_worst else _by_sum_solve(task, every)
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


def _by_sum_solve(task: Task, every: Layouts) -> Found | None:
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


def _found(task: Task, problem: Instance, ordering: Ints, paths: PathSearch | None = None) -> Found:
    items = problem.items(ordering)
    key = task.key(items, problem.sizes)
    return Found(items, problem.sizes, key, Bounds(-np.inf), problem.room, paths)


def _improved(problem: Instance, seed: int, until: float, *, parts: int) -> tuple[Ints, PathSearch | None] | None:
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


# The search among very many items: a draft, refined where wishes or flow ask for it, and what bounds it.

MANY = 300  # items beyond which a search by tables takes too long
MANY_ON_SIDES = 100  # the same where sides have many sizes, or items are left out
MANY_ROUTED, MANY_WISHED = 20, 60  # the same where neighbours count alone, without wishes and with some
ROOMIER_MANY = 1.1  # how much more sides hold where no even ones were found
ATTEMPTS_MANY = 8
ROUTED = 0.65  # of the time, for the route where neighbours count alone; the rest is the bound's
LATE_MANY = 1.0  # seconds after which no ordering is looked for


def takes(task: Task) -> bool:
    """Whether there are so many items that a search by tables takes too long."""
    c = task.constraints
    if c.n > (MANY if c.one_side else MANY_ON_SIDES):
        return True
    return c.one_side and c.n > (MANY_WISHED if c.wishes else MANY_ROUTED) and _routed(task, c.n)


def searched_many(task: Task) -> Found | None:
    """As many items kept as can be, on sides as even as can be; with bounds."""
    c = task.constraints
    begun = time.monotonic()
    for kept in possible_counts(c):
        room = side_room(c)
        for _ in range(ATTEMPTS_MANY if c.sides > 1 and c.side_limit is None else 1):
            found = _in_room(task, kept, room, begun)
            if found is not None:
                return found
            room *= ROOMIER_MANY
            if time.monotonic() > task.until + LATE_MANY:
                return None
    return None


def _in_room(task: Task, kept: int, room: float, begun: float) -> Found | None:
    """An ordering of so many items in which no side holds more than its room."""
    routed = _routed(task, kept)
    alone = routed and task.constraints.sides == 1 and not task.constraints.wishes
    share = ROUTED if alone else 0.4
    drafted = _drafted(task, kept, room, routed=routed, until=begun + share * (task.until - begun))
    if drafted is None:
        return None
    draft, floor = drafted
    if draft.fits and (task.sorted_alone or alone):
        return _bounded(task, draft.ordering, draft.sizes, room, floor, routed=routed)
    now = time.monotonic()
    least = 0.0
    if task.counts_worst:
        bounds = line_bounds(task, kept, room, np.inf, until=now + 0.1 * (task.until - now))
        least = max(bounds.worst or 0.0, wishes_floor(task, kept, room))
    soft = task.constraints.apart is not None and task.constraints.apart_soft
    for price in (np.inf, alike_price(task)) if soft else (np.inf,):
        until = now + 0.85 * (task.until - now)
        late = now + 0.3 * (task.until - now) if soft and price == np.inf else task.until + LATE_MANY
        ordering = refine(task, draft, room, least, alike=price, until=until, late=late)
        if ordering is not None:
            return _bounded(task, ordering, draft.sizes, room, floor, least, routed=routed)
    return None


def _routed(task: Task, kept: int) -> bool:
    """Whether a short way through all items is the draft: positions cost nothing, and links the same either way."""
    if not task.goal.nothing or task.flow is None or kept < task.constraints.n:
        return False
    rows = range(0, kept, 256)
    return all(np.allclose(task.flow[k : k + 256], task.flow[:, k : k + 256].T, rtol=0, atol=1e-4) for k in rows)


def _drafted(task: Task, kept: int, room: float, *, routed: bool, until: float) -> tuple[Draft, float] | None:
    """A draft, and a bound of its sum where one came with it."""
    if routed and task.flow is not None:
        c, sizes = task.constraints, even_sizes(kept, task.constraints.sides)
        ordering = route(task.flow, np.random.default_rng(task.seed), until=until)
        side = np.repeat(np.arange(len(sizes)), sizes)
        fits = bool((np.bincount(side, c.counted[ordering]) <= room).all())
        return Draft(ordering, sizes, fits=fits), 0.0
    follows = task.goal.follows
    if follows is None or not task.on_line:
        return assigned_draft(task, kept, room, until=until)
    draft = line_draft(task, follows, kept, room, until=until)
    return None if draft is None else (draft, -np.inf)


def _bounded(
    task: Task, ordering: Ints, sizes: tuple[int, ...], room: float, floor: float, least: float = 0.0, *, routed: bool
) -> Found:
    """What was found, with its bounds: ``floor`` of the position costs, ``least`` of the largest deviation."""
    found = Found(ordering, sizes, task.key(ordering, sizes), Bounds(-np.inf), room)
    kept, now = len(ordering), time.monotonic()
    until = max(task.until, now + 0.1)
    standing = floor if len(sizes) == 1 else -np.inf
    if task.goal.follows is None:
        standing = 0.0 if task.goal.nothing else max(standing, table_floor(task, kept, room, until=until))
    flowing = 0.0
    if task.flow is not None:
        reached = found.key[-1] if routed else None
        share = 1.0 if routed else 0.5
        flowing = flow_floor(task.flow, task.constraints, kept, until=now + share * (until - now), reached=reached)
    bounds = Bounds(standing + flowing, least if task.counts_worst else None)
    return replace(found, bounds=tightened(task, found, bounds, flowing))


def tightened(task: Task, found: Found, bounds: Bounds, flowing: float | None = None) -> Bounds:
    """Bounds, or those by sorting where these are better; ``flowing`` is a bound of what neighbours cost."""
    if task.goal.follows is None:
        return bounds
    kept, until = len(found.ordering), max(task.until, time.monotonic() + 0.1)
    if flowing is None:
        flowing = 0.0 if task.flow is None else flow_floor(task.flow, task.constraints, kept, until=until)
    most = found.key[1] if task.counts_worst else np.inf
    line = line_bounds(task, kept, found.room, most, until=until)
    worst = max(bounds.worst or 0.0, line.worst or 0.0) if task.counts_worst else None
    return replace(bounds, total=max(bounds.total, line.total + flowing), worst=worst)


# The search for many items: without the wishes first, by tables or by sorting, and what is told of it.

FREE = 0.3  # of the time, for the ordering without wishes


def search(
    goal: Goal, flow: Floats | None, constraints: Constraints, *, seed: int, seconds: float
) -> tuple[Ints, tuple[int, ...], Bounds] | None:
    """A good ordering of many items, the sizes of its sides and bounds; None where none was found.

    If the ordering found without the wishes keeps them all, it is that one.
    """
    import_module("scipy.optimize")  # which takes long, once, before time is counted
    bare = _bare(constraints)
    task = Task(goal, flow, constraints, seed, np.inf)
    freely = task if bare is None else replace(task, constraints=bare)
    best = _proved(freely)
    if best is not None and _is_sure(best) and (bare is None or _keeps(constraints, best)):
        return best.ordering, (), replace(best.bounds, violations=_least_alike(constraints, goal.n))
    begun = time.monotonic()
    task, freely = replace(task, until=begun + seconds), replace(freely, until=begun + FREE * seconds)
    if bare is not None and (best is None or not _is_sure(best)):
        free = _fitted(freely) if task.counts_worst and bare.one_side else _better(_searched(freely), best)
        if free is not None and _keeps(constraints, free):
            return _told(replace(freely, until=task.until), free, best)
    now = time.monotonic()
    found = _searched(replace(task, until=now + _search_share(task) * (task.until - now)))
    late = 0.15 * seconds if goal.n > MOST_GUIDED else 0.0  # where a bound takes long
    found = found if bare is not None else _better(found, best)
    return None if found is None else _told(replace(task, until=task.until + late), found, best)


def _is_sure(best: Found) -> bool:
    """Whether an ordering costs no more than its bound."""
    return best.bounds.total >= best.key[-1]


def _better(found: Found | None, other: Found | None) -> Found | None:
    """Of two orderings of all items on one side the better one."""
    if found is None or other is None or found.key <= other.key:
        return found or other
    return replace(found, ordering=other.ordering, key=other.key)


def _search_share(task: Task) -> float:
    """How much of the time goes to the search; the rest to the bound, where it is not found on the way."""
    if task.counts_worst or takes(task):
        return 1.0
    if task.goal.n > MOST_GUIDED:
        return 0.4
    return 0.9 if task.constraints.sides == 1 else 0.6


def _fitted(task: Task) -> Found | None:
    """The best ordering of all, where the template counts alone."""
    if task.goal.follows is None:
        return None
    laid = fit(task.goal.rows, task.goal.follows, ties="given")
    total = float(laid.deviations.sum())
    key = (0.0, laid.worst, total)
    return Found(laid.ordering, (task.goal.n,), key, Bounds(total, laid.worst), np.inf)


def _proved(task: Task) -> Found | None:
    """A good ordering of not too many items that nothing constrains, where flow counts, and what none costs less."""
    n, c = task.goal.n, task.constraints
    if task.flow is None or n > MOST_ITEMS or c.wishes or not c.one_side:
        return None
    table = task.goal.along((n,))
    places = table if task.goal.follows is None else table**2
    flow = np.asarray(task.flow, dtype=np.float64)
    [ordering], [sure], [least] = prove(places[np.newaxis], flow[np.newaxis], FEW)
    key = task.key(ordering, (n,))
    return Found(ordering, (n,), key, Bounds(key[-1] if sure else float(least)), np.inf)


def _searched(task: Task) -> Found | None:
    """By sorting where the items are too many for tables."""
    return searched_many(task) if takes(task) else searched_few(task)


def _told(task: Task, found: Found, best: Found | None) -> tuple[Ints, tuple[int, ...], Bounds]:
    """What was found, with bounds that hold for every layout; without wishes none costs less, and so none with them."""
    bounds = found.bounds
    if not takes(task):
        bounds = bounds if task.counts_worst else bounded(task, found)
        bounds = tightened(task, found, bounds)
    if best is not None:
        bounds = replace(bounds, total=max(bounds.total, best.bounds.total))
    least = _least_alike(task.constraints, len(found.ordering))
    return found.ordering, found.sizes if len(found.sizes) > 1 else (), replace(bounds, violations=least)


def _bare(constraints: Constraints) -> Constraints | None:
    """The constraints without wishes on single items; None where there are none of these."""
    c = constraints
    if not c.wishes:
        return None
    return Constraints(c.n, sides=c.sides, lengths=c.lengths, side_limit=c.side_limit, limit=c.limit)


def _keeps(constraints: Constraints, free: Found) -> bool:
    """Whether an ordering keeps every wish, and no neighbours are alike."""
    side = np.repeat(np.arange(len(free.sizes)), free.sizes)
    apart = constraints.apart is None or not alike(constraints.apart[free.ordering], side)
    return apart and not constraints.broken(free.ordering, free.sizes)


def _least_alike(constraints: Constraints, kept: int) -> int:
    """How many neighbours must be alike: a label that many carry finds too few others to stand between."""
    if constraints.apart is None or kept < constraints.n:
        return 0
    most = int(np.bincount(constraints.apart[constraints.apart >= 0]).max())
    return max(0, most - (kept - most) - constraints.sides)
