"""Bounds for many items: what sorting says of every size of sides at once, single wishes, and what neighbours cost.

Under prices that explain the best matching on even sides, every other matching costs at least what its items and its
targets are worth. What the targets of a side are worth is known for each size; the sizes add up to what is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.solver.budget import Budget
from fabula.core.solver.constraints import Constraints
from fabula.core.solver.domains import side_sizes
from fabula.core.solver.kinds import SLACK
from fabula.core.solver.line import (
    Pool,
    Ranks,
    even_sizes,
    judge_sizes,
    ranks_between,
    ranks_of,
    smallest_sum,
    smallest_worst,
)
from fabula.core.solver.one_tree import link_bound, tree_bound
from fabula.core.solver.problem import Bounds, Goal, Problem
from fabula.core.template import Template, replace_values

SLOPES = 60  # that are tried


@dataclass(frozen=True, eq=False)
class Pinned:
    """Items that stand at known targets: their values and these targets, shape (p,), both left out elsewhere."""

    values: Floats
    targets: Floats

    def cost(self, power: int) -> float:
        """What they cost."""
        return float((np.abs(self.values - self.targets) ** power).sum())


@dataclass(frozen=True, eq=False)
class Worth:
    """What items are worth by their values, and positions by their targets; never more in all than what it costs."""

    item: Callable[[Floats], Floats]
    target: Callable[[Floats], Floats]
    power: int

    def extra(self, values: Floats, targets: Floats) -> float:
        """What a run of items costs at least beyond its worth, on a side with these targets."""
        last = len(targets) - len(values) + 1
        if last < 1:
            return np.inf
        total = np.zeros(last)
        for o, value in enumerate(values.tolist()):
            there = targets[o : last + o]
            total += np.abs(there - value) ** self.power - self.target(there)
        return float(total.min() - self.item(values).sum())


def worth_bound(
    template: Template,
    values: Floats,
    sizes: range,
    sides: int,
    pinned: Pinned,
    power: int,
    runs: Sequence[Floats] = (),
) -> float:
    """What no ordering of all items gets below, whatever the sizes of its sides.

    ``template``: what each side follows. ``values``: shape (n - p,), sorted: the items that are not pinned. ``sizes``,
    ``sides``: the sizes that each of so many sides can have. ``pinned``: the p other items. ``power``: of deviations, 1
    or 2, in the sum. ``runs``: the values of items that stand next to each other, none of them pinned.
    """
    kept = len(values) + len(pinned.values)
    even = np.concatenate([template.samples(size) for size in even_sizes(kept, sides)])
    for target in pinned.targets:
        even = np.delete(even, int(np.abs(even - target).argmin()))
    worth = (_for_distances if power == 1 else _for_squares)(values, np.sort(even))
    samples = [template.samples(size) for size in sizes]
    total = float(worth.item(values).sum()) - float(worth.target(pinned.targets).sum()) + pinned.cost(power)
    for run in runs:
        total += max(0.0, min(worth.extra(run, targets) for targets in samples))
    by_size = np.array([float(worth.target(targets).sum()) for targets in samples])
    return total + _least(np.array(sizes, dtype=np.float64), by_size, sides, kept)


def _least(sizes: Floats, worth: Floats, sides: int, kept: int) -> float:
    """The least that sides are worth in all: by the slope along which no size does better than the others."""
    mean = kept / sides
    near = np.abs(sizes - mean).argmin()
    with np.errstate(divide="ignore", invalid="ignore"):
        chords = (worth - worth[near]) / (sizes - sizes[near])
    chords = np.unique(chords[np.isfinite(chords)])
    if not len(chords):
        return sides * float(worth[near])
    slopes = np.quantile(chords, np.linspace(0.0, 1.0, SLOPES))
    return max(float(sides * (worth - slope * sizes).min() + slope * kept) for slope in slopes)


def _for_distances(values: Floats, targets: Floats) -> Worth:
    """For deviations: a function that never rises or falls by more than the distance."""
    points = np.unique(np.concatenate([values, targets]))
    count = np.searchsorted(targets, points, side="right") - np.searchsorted(values, points, side="right")
    height = np.concatenate([[0.0], np.cumsum(np.sign(count[:-1]) * np.diff(points))])
    return Worth(lambda at: np.interp(at, points, height), lambda at: -np.interp(at, points, height), 1)


def _for_squares(values: Floats, targets: Floats) -> Worth:
    """For squares: tangents, each the best between two targets."""
    middle = 0.5 * (targets[1:] + targets[:-1])
    height = np.concatenate([[0.0], np.cumsum(2 * np.diff(values) * middle)])

    def item(at: Floats) -> Floats:
        return np.asarray(at**2 - height[np.searchsorted(values, at)])

    def target(at: Floats) -> Floats:
        best = np.searchsorted(middle, at, side="left")
        return np.asarray(at**2 + height[best] - 2 * values[best] * at)

    return Worth(item, target, 2)


MOST_JUDGED = 1500  # runs and ends by sizes of sides


def line_bounds(task: Problem, kept: int, room: float, worst: float, budget: Budget) -> Bounds:
    """What no ordering of so many items gets below, flow and wishes aside.

    ``task``: whose goal is a template. ``kept``, ``room``: how many items are kept, and the most a side may hold.
    ``worst``: the largest deviation that counts. ``budget``: of the bounds.
    """
    best = Bounds(0.0, 0.0)
    follows = task.goal.follows
    axes = task.goal.rows.shape[1] if follows is not None else 0
    for axis in range(axes):
        one = _on_axis(task.goal, axis)
        found = _axis_bounds(task, one, kept, room, worst, budget.part(1 / (axes - axis)))
        # squares along the axes add up; of plain distances the longest axis tells most
        total = max(best.total, found.total) if task.counts_worst else best.total + found.total
        best = Bounds(total, max(best.worst or 0.0, found.worst or 0.0))
    return best


def _on_axis(goal: Goal, axis: int) -> Goal:
    """The goal in one dimension: a distance is never below that along an axis."""
    if goal.rows.shape[1] == 1 or goal.follows is None:
        return goal
    curve = replace_values(goal.follows, goal.follows.values[:, axis])
    return Goal.template(goal.rows[:, axis], curve)


def _axis_bounds(task: Problem, goal: Goal, kept: int, room: float, worst: float, budget: Budget) -> Bounds:
    c, power = task.constraints, 1 if task.counts_worst else 2
    sizes = side_sizes(c, kept, room)
    if goal.follows is None or not len(sizes):
        return Bounds(0.0, 0.0)
    ranks = ranks_of(goal.follows, (kept,)) if c.sides == 1 else ranks_between(goal.follows, sizes, c.sides, kept)
    if kept < c.n:
        pool, _ = pool_of(goal, c, room, power)
        return _choice_bounds(pool, ranks, worst if task.counts_worst else None, budget)
    values = np.sort(goal.rows[:, 0])
    least, total = float(ranks.deviations(values).max()), float((ranks.deviations(values) ** power).sum())
    pinned, free = find_pinned(goal, goal.follows, c, alone=1 in sizes)
    if len(free):
        spans = sizes if c.sides > 1 else range(kept, kept + 1)
        loose = [run for run in c.together if set(run) <= set(free.tolist())]
        runs = [goal.rows[list(run), 0] for run in loose[: MOST_JUDGED // len(spans)]]
        rest = np.sort(goal.rows[free, 0])
        total = max(total, worth_bound(goal.follows, rest, spans, c.sides, pinned, power, runs))
    if c.sides == 2:
        judged, complete = judge_sizes(goal.follows, values, sizes, c.sides, power, budget)
        if complete and judged:
            least = max(least, judged[0][0])
            total = max(total, min((one[1] for one in judged if one[0] <= worst * (1 + 1e-12)), default=0.0))
    return Bounds(total, least)


def find_pinned(goal: Goal, follows: Template, constraints: Constraints, *, alone: bool) -> tuple[Pinned, Ints]:
    """The items whose targets are known whatever the sizes of sides, all items kept; and the other items.

    Where an item can be ``alone`` on a side, its first position is its last, and the target there another one.
    """
    c, ends = constraints, follows.samples(2)
    if c.sides == 1:
        targets = follows.samples(c.n)
        where = {item: float(targets[place]) for place, item in c.fixed.items()}
    elif alone:
        where = {}
    else:
        where = {item: float(ends[place]) for place, item in c.fixed.items() if place in (0, -1)}
        where |= {item: float(ends[place]) for (_, place), item in c.ends.items() if place in (0, -1)}
    items = np.array(list(where), dtype=np.intp)
    free = np.setdiff1d(np.arange(c.n), items)
    return Pinned(goal.rows[items, 0], np.array(list(where.values()))), free


def _choice_bounds(pool: Pool, ranks: Ranks, worst: float | None, budget: Budget) -> Bounds:
    """The same where items are left out; without ``worst`` the largest deviation does not count."""
    if worst is None:
        return Bounds(max(0.0, smallest_sum(pool, ranks, np.inf, budget)[0]), 0.0)
    least = float(ranks.nearest(pool.values).max())  # every rank is taken
    least = max(least, smallest_worst(pool, ranks, budget.part(0.6))[0])
    most = max(worst, least) * (1 + 1e-9)
    return Bounds(max(0.0, smallest_sum(pool, ranks, most, budget)[0]), least)


def pool_of(goal: Goal, constraints: Constraints, room: float, power: int) -> tuple[Pool, Ints]:
    """The items to choose from, sorted, and their order."""
    order = np.argsort(goal.rows[:, 0], kind="stable")
    must = np.zeros(constraints.n, dtype=bool)
    must[list(constraints.must_keep)] = True
    limit = min(constraints.limit or np.inf, constraints.sides * room) * SLACK
    return Pool(goal.rows[order, 0], constraints.weights[order], must[order], limit, power), order


def table_floor(task: Problem, kept: int, room: float, budget: Budget) -> float:
    """What no sum of a table's costs gets below: each item where it costs least, on a side of any size."""
    c = task.constraints
    least = np.full(c.n, np.inf)
    for size in [kept] if c.sides == 1 else side_sizes(c, kept, room):
        budget.spend(50.0 + 0.003 * c.n * size)
        if budget.over:
            return -np.inf
        least = np.minimum(least, task.goal.on_side(size).min(axis=1))
    least = least + task.goal.in_whole(kept).min(axis=1)
    return float(np.sort(least)[:kept].sum())


def wishes_floor(task: Problem, kept: int, room: float) -> float:
    """The largest deviation that a single wish asks for: an item at an end, or a run at its best."""
    c, goal = task.constraints, task.goal
    sizes = [kept] if c.sides == 1 else list(side_sizes(c, kept, room))
    ends = sizes[:1] if 1 not in sizes else sizes  # where the first and the last position are the same for all
    floor = 0.0
    for place, item in c.fixed.items():
        if c.sides == 1 or place in (0, -1):
            floor = max(floor, _at(goal, item, place, ends))
    wishes = len(c.ends) + len(c.together)
    if len(sizes) * wishes > MOST_JUDGED:
        return floor
    for (_, place), item in c.ends.items():
        floor = max(floor, _at(goal, item, place, ends if place in (0, -1) else sizes))
    for run in c.together:
        floor = max(floor, min((_run_at_best(goal, run, size) for size in sizes), default=0.0))
    return floor


def _at(goal: Goal, item: int, place: int, sizes: list[int]) -> float:
    """The deviation of an item at a place, for the best of some sizes."""
    one = goal.take([item])
    return min((float(one.costs(size)[0, place]) for size in sizes if -size <= place < size), default=0.0)


def _run_at_best(goal: Goal, run: tuple[int, ...], size: int) -> float:
    last = size - len(run) + 1
    if last < 1:
        return np.inf
    costs = goal.take(run).costs(size)
    return float(np.max([costs[o, o : last + o] for o in range(len(run))], axis=0).min())


def flow_floor(
    flow: Floats, constraints: Constraints, kept: int, reached: float, budget: Budget, *, symmetric: bool = False
) -> float:
    """What neighbours cost at least, positions aside: all but the last of each side are followed.

    ``reached`` is what an ordering of all items has; ``symmetric`` where links cost the same either way.
    """
    n, sides = len(flow), constraints.sides
    if symmetric and kept == n:
        return tree_bound(_frame(flow, sides), reached, budget)
    table = flow + np.diag(np.full(n, np.inf))
    links = kept - sides
    floor = max(float(np.sort(table.min(axis=axis))[:links].sum()) for axis in (0, 1))
    if kept == n and not budget.over:
        framed = _frame(flow, sides).astype(np.float64)
        np.fill_diagonal(framed, np.inf)
        floor = max(floor, link_bound(framed, reached, budget))
    return floor


def _frame(flow: Floats, sides: int) -> Floats:
    """The links with a dummy item between two sides, at no cost beside any."""
    if sides == 1:
        return flow
    n = len(flow)
    framed = np.zeros((n + sides - 1, n + sides - 1), dtype=flow.dtype)
    framed[:n, :n] = flow
    return framed
