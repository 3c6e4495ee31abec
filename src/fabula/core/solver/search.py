"""The search for more items than can be solved: without the wishes first, by tables or by drafts, and what bounds it.

Up to a few hundred items everything is in two tables: for each of the most promising sizes of sides an ordering is
constructed, and cheapest paths bound it and lead to better ones. Of more items a draft by sorting or by assignment is
refined. All of it is counted in work, so that the same arguments give the same ordering everywhere.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fabula.core.arrays import Ints
from fabula.core.fit import fit
from fabula.core.solver import bounds as floors, instance as tables
from fabula.core.solver.bounds import PathSearch
from fabula.core.solver.constraints import Constraints
from fabula.core.solver.descent import anneal, descend
from fabula.core.solver.instance import Candidate, Instance
from fabula.core.solver.line import Draft, assign_draft, even_sizes, line_draft
from fabula.core.solver.one_tree import link_bound
from fabula.core.solver.problem import UNITS_PER_SECOND, Bounds, Budget, Problem, possible_counts, side_room, side_sizes
from fabula.core.solver.proof import FEW, MOST_ITEMS, coupling_bound, programme, prove

FREE = 0.1  # of the work, for the ordering without wishes
MANY = 300  # items beyond which tables take too long
MANY_ON_SIDES = 100  # the same where sides have very many sizes, or items are left out
ROOMIER = 1.1  # how much more sides hold where no even ones were found
ATTEMPTS = 8
MOST_TRIED = 9  # layouts that are searched where there is no work for all
SETTLED = 20  # paths after which prices tell layouts apart
MOST_JUDGING = 0.9  # of the work, to judge all layouts
JUDGED = 1  # paths for each layout, from the prices of the nearest
WARM = 0.3  # noise at the start, in deviations of the links
FEW_ITEMS, MORE = 100, 1.5  # of more items, how much more work
ANNEALED = 0.15  # of the work, to anneal what prices led to
FOR_BOUND = 0.1 * UNITS_PER_SECOND  # units for a bound, whatever is left
LATE = 1.0  # seconds' worth of work after which no ordering is looked for
TIE = 1e-7  # weight of squares beside the sum, to decide between orderings that tie
WORSE = 30.0  # how much more a deviation above the smallest largest one counts


@dataclass(frozen=True, eq=False)
class Found:
    """An ordering of what is kept."""

    ordering: Ints
    sizes: tuple[int, ...]  # how many items stand on each side
    key: tuple[float, ...]  # the criteria, the first first
    bounds: Bounds  # what no ordering gets below, as far as it is known
    room: float  # the most a side may hold


def search(problem: Problem, seconds: float) -> tuple[Ints, tuple[int, ...], Bounds] | None:
    """A good ordering of many items, the sizes of its sides and bounds; None where none was found.

    If the ordering found without the wishes keeps them all, it is that one.
    """
    constraints = problem.constraints
    bare = replace(problem, constraints=constraints.bare()) if constraints.wishes else None
    best = _prove(bare or problem)
    sure = best is not None and best.bounds.total >= best.key[-1]
    if best is not None and sure and (bare is None or _keeps(constraints, best)):
        return best.ordering, best.sizes, replace(best.bounds, violations=_least_alike(constraints, problem.goal.n))
    more = problem.goal.n > FEW_ITEMS and not problem.counts_worst
    budget = Budget.of_seconds(seconds * (MORE if more else 1.0))
    if bare is not None and not sure:
        fits = problem.counts_worst and bare.constraints.one_side
        free = _fit(bare) if fits else _better(_search(bare, budget.part(FREE), bounds=False), best)
        if free is not None and _keeps(constraints, free):
            return _report(bare, free, best, budget)
    found = _search(problem, budget)
    found = found if bare is not None else _better(found, best)
    return None if found is None else _report(problem, found, best, budget)


def _prove(problem: Problem) -> Found | None:
    """A good ordering of not too many items that nothing constrains, where flow counts, and what none costs less."""
    n, c = problem.goal.n, problem.constraints
    if problem.flow is None or n > MOST_ITEMS or c.wishes or not c.one_side:
        return None
    flow = np.asarray(problem.flow, dtype=np.float64)
    [ordering], [sure], [least] = prove(problem.costs((n,))[np.newaxis], flow[np.newaxis], FEW)
    key = problem.key(ordering, (n,))
    return Found(ordering, (n,), key, Bounds(key[-1] if sure else float(least)), np.inf)


def _fit(problem: Problem) -> Found | None:
    """The best ordering of all, where the template counts alone."""
    goal = problem.goal
    if goal.follows is None:
        return None
    laid = fit(goal.rows, goal.follows, ties="given")
    total = float(laid.deviations.sum())
    return Found(laid.ordering, (goal.n,), (0.0, laid.worst, total), Bounds(total, laid.worst), np.inf)


def _better(found: Found | None, other: Found | None) -> Found | None:
    """Of two orderings of all items on one side the better one."""
    if found is None or other is None or found.key <= other.key:
        return found or other
    return replace(found, ordering=other.ordering, key=other.key)


def _is_large(problem: Problem) -> bool:
    """Whether there are so many items that a search by tables takes too long."""
    c = problem.constraints
    bounded_by_paths = c.sides <= 2 and problem.flow is not None and c.limit is None
    return c.n > (MANY if c.one_side or bounded_by_paths else MANY_ON_SIDES)


def _search(problem: Problem, budget: Budget, *, bounds: bool = True) -> Found | None:
    """As many items kept as can be, on sides as even as can be; with what its bounds need, or without."""
    c = problem.constraints
    in_room = (
        _draft_in_room if _is_large(problem) else partial(_tables_in_room, most=tables.MOST_LAYOUTS if bounds else 1)
    )
    late = budget.extend(LATE * UNITS_PER_SECOND)
    for kept in possible_counts(c):
        room = side_room(c)
        for _ in range(ATTEMPTS if c.sides > 1 and c.side_limit is None else 1):
            found = in_room(problem, kept, room, budget)
            if found is not None:
                return found
            room *= ROOMIER
            if late.over:
                return None
    return None


def _report(problem: Problem, found: Found, best: Found | None, budget: Budget) -> tuple[Ints, tuple[int, ...], Bounds]:
    """What was found, with bounds that hold for every layout; without wishes none costs less, and so none with them."""
    bounds = found.bounds
    if not _is_large(problem):
        if found.key[0] and not problem.counts_worst:
            bounds = _bound_apart(problem, found, budget)
        bounds = _tighten(problem, found, bounds, budget)
    if best is not None:
        bounds = replace(bounds, total=max(bounds.total, best.bounds.total))
    least = _least_alike(problem.constraints, len(found.ordering))
    return found.ordering, found.sizes, replace(bounds, violations=least)


def _keeps(constraints: Constraints, free: Found) -> bool:
    """Whether an ordering keeps every wish, and no neighbours are alike."""
    return not replace(constraints, apart_soft=False).broken(free.ordering, free.sizes)


def _least_alike(constraints: Constraints, kept: int) -> int:
    """How many neighbours must be alike: a label that many carry finds too few others to stand between."""
    if constraints.apart is None or kept < constraints.n:
        return 0
    most = int(np.bincount(constraints.apart[constraints.apart >= 0]).max())
    return max(0, most - (kept - most) - constraints.sides)


def _alike_prices(problem: Problem) -> tuple[float, ...]:
    """What neighbours that are alike cost: first they are ruled out, then, where they may be, far above all else."""
    if problem.constraints.apart is None or not problem.constraints.apart_soft:
        return (np.inf,)
    largest = float(np.abs(problem.goal.costs(problem.goal.n)).max())
    flowing = 0.0 if problem.flow is None else float(np.abs(problem.flow).max())
    return np.inf, 20.0 * (largest**2 + largest + flowing) + 1.0


# By tables: every layout of sides that is promising.


def _tables_in_room(problem: Problem, kept: int, room: float, budget: Budget, *, most: int) -> Found | None:
    """An ordering of so many items in which no side holds more than its room, on one of the most even layouts."""
    for price in _alike_prices(problem):
        most = tables.MOST_LAYOUTS if problem.counts_worst else most
        candidates, complete = tables.layouts(problem, kept, room, budget, alike=price, most=most)
        if problem.counts_worst:
            found = _by_worst(problem, candidates, budget, known=complete and price == np.inf)
        else:
            found = _by_sum(problem, candidates, budget, complete=complete)
        if found is not None:
            return found
    return None


def _by_worst(problem: Problem, candidates: list[Candidate], budget: Budget, *, known: bool) -> Found | None:
    """The smallest largest deviation over all layouts that can be better than what is found; the sum second."""
    best: Found | None = None
    bounds: list[Bounds] = []
    for one in candidates:
        if best is not None and (budget.over or (one.worst, one.total) >= best.key[1:]):
            bounds.append(Bounds(one.total, one.worst))
            continue
        laid = least_worst(one.instance, one.worst, budget.part(1.0 if len(candidates) == 1 else 0.5))
        if laid is not None:
            bounds.append(replace(laid[1], total=max(laid[1].total, one.total)))
            found = _found(problem, one.instance, laid[0])
            best = found if best is None or found.key < best.key else best
    if best is None:
        return None
    # a layout in which no deviation can be as small as the largest found says nothing about the sum
    total = min(bound.total for bound in bounds if bound.worst <= best.key[1] * (1 + 1e-12))
    worst = min(bound.worst for bound in bounds)
    return replace(best, bounds=Bounds(total if known else 0.0, worst if known else 0.0))


def _by_sum(problem: Problem, candidates: list[Candidate], budget: Budget, *, complete: bool) -> Found | None:
    """The smallest sum over all layouts: laid by the prices that bound it, and annealed."""
    waiting, rng = list(candidates), np.random.default_rng(0)
    late, ordering = budget.extend(LATE * UNITS_PER_SECOND), None
    while waiting and ordering is None and not late.over:
        first = waiting.pop(0)
        ordering = tables.construct(first.instance, tables.position_bound(first.instance.cost)[1], rng, late)
    if ordering is None:
        return None
    laid = descend(first.instance, ordering, budget.part(0.3))
    if len(candidates) == 1 and budget.left < 2 * SETTLED * floors.sweep_cost(len(laid)):  # no bound is asked for
        return _found(problem, first.instance, anneal(first.instance, laid, rng, budget, hot=WARM))
    searches, instance, laid = _judge_layouts([first, *waiting], laid, budget)
    instance, laid = _lay_by_prices(searches, instance, laid, budget.part(1 - ANNEALED))
    if min(one.best for one in searches) < instance.value(laid) * (1 - 1e-9):
        laid = anneal(instance, laid, rng, budget, hot=WARM)
    known = complete and len(searches) == len(candidates)
    bounds = Bounds(min(one.best for one in searches) if known else -np.inf)
    return replace(_found(problem, instance, laid), bounds=bounds)


def _judge_layouts(candidates: list[Candidate], laid: Ints, budget: Budget) -> tuple[list[PathSearch], Instance, Ints]:
    """Bounds for all layouts that there is work for, by the prices that settle on the first; and a better ``laid``."""
    first = candidates[0].instance
    each, few = floors.sweep_cost(len(first.cost)), np.isfinite(candidates[0].total)
    links = link_bound(first.link, first.value(laid), budget.part(0.05)) if few else 0.0
    mine = PathSearch(first, floors.first_prices(first, budget), first.value(laid), floor=candidates[0].total + links)
    judging = each * JUDGED * (len(candidates) - 1)
    many = len(candidates) if judging <= MOST_JUDGING * budget.left else MOST_TRIED
    settling = budget.extend(min(0.0, 2 * SETTLED * each - budget.left, -judging if many > MOST_TRIED else 0.0))
    known, (_, laid) = [mine], _lay_by_prices([mine], first, laid, settling)
    for one in sorted(candidates[1:many], key=lambda one: _distance(one.instance.sizes, first.sizes)):
        nearest = min(known, key=lambda other: _distance(other.problem.sizes, one.instance.sizes))
        known.append(PathSearch(one.instance, nearest.prices, mine.value, floor=one.total + links))
        known[-1].direction = nearest.direction
        known[-1].advance(JUDGED, budget)
    return known, first, laid


def _lay_by_prices(searches: list[PathSearch], instance: Instance, laid: Ints, budget: Budget) -> tuple[Instance, Ints]:
    """The lowest bound is always raised next, and its prices lead to an ordering; the best ordering and its tables."""
    while not budget.over:
        lowest = min((one for one in searches if not one.done), key=lambda one: one.best, default=None)
        if lowest is None:
            break
        lowest.advance(floors.AT_ONCE, budget)
        ordering = lowest.follow(budget)
        if ordering is not None:
            ordering = tables.rebalance(lowest.problem, ordering, np.random.default_rng(0), budget)
        if ordering is not None:
            ordering = descend(lowest.problem, ordering, budget)
            if lowest.problem.value(ordering) < instance.value(laid):
                instance, laid = lowest.problem, ordering
                for one in searches:
                    one.value = instance.value(laid)
    return instance, laid


def _distance(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def _found(problem: Problem, instance: Instance, ordering: Ints) -> Found:
    items = instance.items(ordering)
    return Found(items, instance.sizes, problem.key(items, instance.sizes), Bounds(-np.inf), float(instance.most[0]))


def _bound_apart(problem: Problem, found: Found, budget: Budget) -> Bounds:
    """A bound where some neighbours are alike: that of neighbours alike for nothing holds all the more."""
    candidates, complete = tables.layouts(problem, len(found.ordering), found.room, budget, alike=0.0)
    mine = next((one for one in candidates if one.instance.sizes == found.sizes), None)
    if not complete or mine is None:
        return Bounds(-np.inf)
    first = [mine, *(one for one in candidates if one is not mine)]
    searches, _, _ = _judge_layouts(first, mine.instance.spread(found.ordering), budget)
    return Bounds(min(one.best for one in searches) if len(searches) == len(first) else -np.inf)


# By drafts: of very many items.


def _draft_in_room(problem: Problem, kept: int, room: float, budget: Budget) -> Found | None:
    """An ordering of so many items in which no side holds more than its room, with bounds."""
    draft = _draft(problem, kept, room, budget.part(0.4))
    if draft is None:
        return None
    if draft.fits and problem.sorts:
        return _bound_draft(problem, draft, draft.ordering, room, budget)
    least = 0.0
    if problem.counts_worst:
        bounds = floors.line_bounds(problem, kept, room, np.inf, budget.part(0.1))
        least = max(bounds.worst, floors.wishes_floor(problem, kept, room))
    prices = _alike_prices(problem)
    for price in prices:
        first = budget.part(0.3) if price == np.inf and len(prices) > 1 else budget.extend(LATE * UNITS_PER_SECOND)
        ordering = _refine(problem, draft, room, least, price, first, budget.part(0.85))
        if ordering is not None:
            return _bound_draft(problem, draft, ordering, room, budget, least)
    return None


def _draft(problem: Problem, kept: int, room: float, budget: Budget) -> Draft | None:
    follows, even = problem.goal.follows, even_sizes(kept, problem.constraints.sides)
    allowed = side_sizes(problem.constraints, kept, room)
    if not all(size in allowed for size in even):
        return None
    if follows is None or not problem.on_line:
        return assign_draft(problem, even, room, budget)
    return line_draft(problem, follows, even, allowed, room, budget)


def _refine(
    problem: Problem, draft: Draft, room: float, floor: float, alike: float, first: Budget, budget: Budget
) -> Ints | None:
    """The items of a draft in a good order that keeps the wishes; None where none was found with the first budget."""
    items = np.sort(draft.ordering)
    some = problem.take(items) if len(items) < problem.goal.n else problem
    instance = None if some is None else tables.pose(some, draft.sizes, room, alike=alike)
    if instance is None:
        return None
    near, rng = instance.spread(np.searchsorted(items, draft.ordering)), np.random.default_rng(0)
    ordering = tables.construct(instance, near, rng, first)
    if ordering is None:
        return None
    if problem.counts_worst:
        k = np.arange(len(ordering))  # deviations above the floor are brought down first, then the sum
        if instance.cost[ordering, k].max() > floor * (1 + 1e-9):
            steep = replace(instance, cost=instance.cost + WORSE * np.maximum(instance.cost - floor, 0.0))
            ordering = anneal(steep, ordering, rng, budget.part(0.5), hot=0.0)
        worst = float(instance.cost[ordering, k].max()) * (1 + 1e-12)
        cost = np.where(instance.cost <= worst, instance.cost + TIE * instance.cost**2 / max(worst, 1e-300), np.inf)
        instance = replace(instance, cost=cost)
    hot = 0.0 if problem.counts_worst else WARM
    return items[instance.items(anneal(instance, ordering, rng, budget, hot=hot))]


def _bound_draft(
    problem: Problem, draft: Draft, ordering: Ints, room: float, budget: Budget, least: float = 0.0
) -> Found:
    """What came of a draft, with its bounds; ``least`` is one of the largest deviation."""
    found = Found(ordering, draft.sizes, problem.key(ordering, draft.sizes), Bounds(-np.inf), room)
    kept, budget = len(ordering), budget.at_least(FOR_BOUND)
    standing = draft.floor if len(draft.sizes) == 1 else -np.inf
    if problem.goal.follows is None:
        standing = 0.0 if problem.goal.nothing else max(standing, floors.table_floor(problem, kept, room, budget))
    flowing = floors.flow_floor(problem, ordering, found.sizes, budget.part(0.5))
    return replace(found, bounds=_tighten(problem, found, Bounds(standing + flowing, least), budget, flowing))


def _tighten(problem: Problem, found: Found, bounds: Bounds, budget: Budget, flowing: float | None = None) -> Bounds:
    """Bounds, or those by sorting where these are better; ``flowing`` is a bound of what neighbours cost."""
    if problem.goal.follows is None:
        return bounds
    kept, budget = len(found.ordering), budget.at_least(FOR_BOUND)
    flowing = floors.flow_floor(problem, found.ordering, found.sizes, budget) if flowing is None else flowing
    line = floors.line_bounds(problem, kept, found.room, found.key[1] if problem.counts_worst else np.inf, budget)
    return replace(bounds, total=max(bounds.total, line.total + flowing), worst=max(bounds.worst, line.worst))


# The bottleneck first: limits on the largest deviation are tried from below; under each, the sum.

SPARE = 300_000.0  # units for a first ordering, and for a last polish, whatever is left


def least_worst(problem: Instance, floor: float, budget: Budget) -> tuple[Ints, Bounds] | None:
    """An ordering with a small largest deviation, none below ``floor``, under that a small sum; and bounds."""
    deviations = tables.run_worst(problem)
    limits = np.unique(deviations[np.isfinite(deviations) & (deviations >= floor * (1 - 1e-12))])
    proven, at, step = True, 0, 1
    while at < len(limits):
        limit = float(limits[at])
        allowed = deviations <= limit
        starts = problem.starts & allowed[[run[0] for run in problem.parts.members]]
        limited = replace(problem, cost=np.where(allowed, problem.cost, np.inf), starts=starts)
        ordering, bound = _smallest_sum(limited, budget)
        if ordering is not None:
            # among orderings with the same sum, one with smaller squares
            scale = float(limited.cost[np.isfinite(limited.cost)].max(initial=0.0)) or 1.0
            squared = replace(limited, cost=limited.cost + TIE * limited.cost**2 / scale)
            return descend(squared, ordering, budget.at_least(SPARE)), Bounds(bound, floor)
        proven &= bound == np.inf
        following = at + step
        if proven:  # what comes between is tried by the next round of smaller steps
            floor = float(limits[min(at + 1, len(limits) - 1)])
        if budget.over:
            following = max(following, (at + len(limits)) // 2 + 1)
        at, step = (len(limits) - 1 if at < len(limits) - 1 < following else following), 2 * step
    return None


def _smallest_sum(problem: Instance, budget: Budget) -> tuple[Ints | None, float]:
    """The smallest sum of costs, and a bound: proven where the items are not too many, else searched for."""
    links = problem.link[np.isfinite(problem.link)]
    if not links.any():
        found = programme(problem, budget)
        if found is not None and (found[0] is not None or found[1] == np.inf):
            return found
    try:
        floor, wish = tables.position_bound(problem.cost)
    except ValueError:
        return None, np.inf
    rng, late = np.random.default_rng(0), budget.at_least(SPARE)
    ordering = tables.construct(problem, wish, rng, late)
    if ordering is None:
        return None, floor
    if problem.value(ordering) > floor * (1 + 1e-9):
        ordering = anneal(problem, ordering, rng, budget.part(0.7))
    return ordering, floor + coupling_bound(problem)
