"""Refining a draft: wishes kept, sides even, then improved as long as there is time."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.local.anneal import anneal
from fabula.core.arranging.local.construct import construct
from fabula.core.arranging.local.layouts import costs_of
from fabula.core.arranging.local.problem import Problem, pose
from fabula.core.arranging.local.task import Task
from fabula.core.arranging.many.draft import Draft
from fabula.core.arranging.many.swaps import evened
from fabula.core.ordering import Ints

TIE = 1e-7  # weight of squares beside the sum, to decide between orderings that tie
WORSE = 30.0  # how much more a deviation above the smallest largest one counts
ROUNDS = 4000  # of annealing at most
HOT = 0.3  # noise at the start, in deviations of the links


def refined(
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
    constraints = restricted(task.constraints, items)
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


def restricted(constraints: Constraints, items: Ints) -> Constraints | None:
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


def _by_sum(problem: Problem, ordering: Ints, _floor: float, rng: np.random.Generator, until: float) -> Ints:
    return anneal(problem, ordering, rng, rounds=ROUNDS, hot=HOT, until=until)


def _worst_first(problem: Problem, ordering: Ints, floor: float, rng: np.random.Generator, until: float) -> Ints:
    """Deviations above the floor brought down, then the sum."""
    k, now = np.arange(len(ordering)), time.monotonic()
    if problem.cost[ordering, k].max() > floor * (1 + 1e-9):
        steep = replace(problem, cost=problem.cost + WORSE * np.maximum(problem.cost - floor, 0.0))
        ordering = anneal(steep, ordering, rng, rounds=ROUNDS, hot=0.0, until=now + 0.5 * (until - now))
    worst = float(problem.cost[ordering, k].max()) * (1 + 1e-12)
    scale = max(worst, 1e-300)
    cost = np.where(problem.cost <= worst, problem.cost + TIE * problem.cost**2 / scale, np.inf)
    return anneal(replace(problem, cost=cost), ordering, rng, rounds=ROUNDS, hot=0.0, until=until)
