"""The search for many items: without the wishes first, by tables or by sorting, and what is told of it."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module

import numpy as np

from fabula.core.arranging.arrangement import Bounds
from fabula.core.arranging.constraints import Constraints, alike
from fabula.core.arranging.goal import Goal
from fabula.core.arranging.local import solve as by_tables
from fabula.core.arranging.local.task import Found, Task
from fabula.core.arranging.many import solve as by_sorting
from fabula.core.arranging.proving.prove import FEW, MOST_ITEMS, proved
from fabula.core.essence import Floats
from fabula.core.fit import fit
from fabula.core.ordering import Ints

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
    late = 0.15 * seconds if goal.n > by_tables.MOST_GUIDED else 0.0  # where a bound takes long
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
    if task.counts_worst or by_sorting.takes(task):
        return 1.0
    if task.goal.n > by_tables.MOST_GUIDED:
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
    [ordering], [sure], [least] = proved(places[np.newaxis], flow[np.newaxis], FEW)
    key = task.key(ordering, (n,))
    return Found(ordering, (n,), key, Bounds(key[-1] if sure else float(least)), np.inf)


def _searched(task: Task) -> Found | None:
    """By sorting where the items are too many for tables."""
    return by_sorting.searched(task) if by_sorting.takes(task) else by_tables.searched(task)


def _told(task: Task, found: Found, best: Found | None) -> tuple[Ints, tuple[int, ...], Bounds]:
    """What was found, with bounds that hold for every layout; without wishes none costs less, and so none with them."""
    bounds = found.bounds
    if not by_sorting.takes(task):
        bounds = bounds if task.counts_worst else by_tables.bounded(task, found)
        bounds = by_sorting.tightened(task, found, bounds)
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
