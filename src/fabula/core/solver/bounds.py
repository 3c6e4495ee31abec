"""Bounds for many items: what sorting says of every size of sides at once, single wishes, and what neighbours cost.

Under prices that explain the best matching on even sides, every other matching costs at least what its items and its
targets are worth. What the targets of a side are worth is known for each size; the sizes add up to what is kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from fabula.core.arrays import Floats, Ints
from fabula.core.solver import line
from fabula.core.solver.constraints import Constraints
from fabula.core.solver.instance import Instance, link_scale
from fabula.core.solver.one_tree import link_bound
from fabula.core.solver.problem import UNLIMITED, Bounds, Budget, Goal, Problem, along, side_sizes
from fabula.core.template import Template, replace_values

SLOPES = 60  # that are tried


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
    pinned: Floats,
    power: int,
    runs: Sequence[Floats] = (),
) -> float:
    """What no ordering of all items gets below, whatever the sizes of its sides, deviations to the ``power`` 1 or 2.

    ``values``: (n - p,), sorted: all but the p that stand at known targets. ``pinned``: (2, p), the values of these and
    their targets. ``sizes``: what a side can have. ``runs``: values of runs.
    """
    kept = len(values) + pinned.shape[1]
    even = np.concatenate([template.samples(size) for size in line.even_sizes(kept, sides)])
    for target in pinned[1]:
        even = np.delete(even, int(np.abs(even - target).argmin()))
    worth = (_for_distances if power == 1 else _for_squares)(values, np.sort(even))
    samples = [template.samples(size) for size in sizes]
    total = float(worth.item(values).sum()) - float(worth.target(pinned[1]).sum())
    total += float((np.abs(pinned[0] - pinned[1]) ** power).sum())
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
    """What no ordering of so many items gets below, flow and wishes aside; no deviation above ``worst``."""
    best, goal = Bounds(0.0), task.goal
    axes = 0 if goal.follows is None else goal.rows.shape[1]
    for axis in range(axes):
        one = goal
        if axes > 1 and goal.follows is not None:  # a distance is never below that along an axis
            one = Goal.template(goal.rows[:, axis], replace_values(goal.follows, goal.follows.values[:, axis]))
        found = _axis_bounds(task, one, kept, room, worst, budget.part(1 / (axes - axis)))
        # squares along the axes add up; of plain distances the longest axis tells most
        total = max(best.total, found.total) if task.counts_worst else best.total + found.total
        best = Bounds(total, max(best.worst, found.worst))
    return best


def _axis_bounds(task: Problem, goal: Goal, kept: int, room: float, worst: float, budget: Budget) -> Bounds:
    c, power = task.constraints, 1 if task.counts_worst else 2
    sizes = side_sizes(c, kept, room)
    if goal.follows is None or not len(sizes):
        return Bounds(0.0)
    follows = goal.follows
    ranks = line.ranks_of(follows, (kept,)) if c.sides == 1 else line.ranks_between(follows, sizes, c.sides, kept)
    if kept < c.n:
        (pool, _), least = line.pool_of(goal, c, room, power), 0.0
        if task.counts_worst:
            least = float(ranks.nearest(pool.values).max())  # every rank is taken
            least = max(least, line.smallest_worst(pool, ranks, budget.part(0.6))[0])
        most = max(worst, least) * (1 + 1e-9)
        return Bounds(max(0.0, line.smallest_sum(pool, ranks, most, budget)[0]), least)
    values = np.sort(goal.rows[:, 0])
    least, total = float(ranks.away(values).max()), float((ranks.away(values) ** power).sum())
    pinned, free = find_pinned(goal, goal.follows, c, alone=1 in sizes)
    if len(free):
        loose = [run for run in c.together if set(run) <= set(free.tolist())]
        runs = [goal.rows[list(run), 0] for run in loose[: MOST_JUDGED // len(sizes)]]
        rest = np.sort(goal.rows[free, 0])
        total = max(total, worth_bound(goal.follows, rest, sizes, c.sides, pinned, power, runs))
    if c.sides == 2:
        judged, complete = line.judge_sizes(goal.follows, values, sizes, c.sides, power, budget)
        if complete and judged:
            least = max(least, judged[0][0])
            total = max(total, min((one[1] for one in judged if one[0] <= worst * (1 + 1e-12)), default=0.0))
    return Bounds(total, least)


def find_pinned(goal: Goal, follows: Template, constraints: Constraints, *, alone: bool) -> tuple[Floats, Ints]:
    """Values and targets (2, p) of items whose targets all sizes of sides agree on, all kept; and the other items."""
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
    return np.array([goal.rows[items, 0], list(where.values())]), free


def table_floor(task: Problem, kept: int, room: float, budget: Budget) -> float:
    """What no sum of a table's costs gets below: each item where it costs least, on a side of any size."""
    c = task.constraints
    least = np.full(c.n, np.inf)
    for size in side_sizes(c, kept, room):
        budget.spend(50.0 + 0.003 * c.n * size)
        if budget.over:
            return -np.inf
        least = np.minimum(least, task.goal.on_side(size).min(axis=1))
    least = least + task.goal.in_whole(kept).min(axis=1)
    return float(np.sort(least)[:kept].sum())


def wishes_floor(task: Problem, kept: int, room: float) -> float:
    """The largest deviation that a single wish asks for: an item at an end, or a run at its best."""
    c, goal = task.constraints, task.goal
    sizes = list(side_sizes(c, kept, room))
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
    if size < len(run):
        return np.inf
    return float(along(goal.costs(size), run).max(axis=0).min())


def flow_floor(task: Problem, ordering: Ints, sizes: Sequence[int], budget: Budget) -> float:
    """What neighbours cost at least, positions aside."""
    flow = task.flow
    if flow is None:
        return 0.0
    parts = np.split(ordering, np.cumsum(sizes)[:-1])
    reached = sum(float(flow[part[:-1], part[1:]].sum(dtype=np.float64)) for part in parts)
    n, kept, sides = len(flow), len(ordering), task.constraints.sides
    table = flow + np.diag(np.full(n, np.inf))
    links = kept - sides  # all but the last of each side are followed
    floor = max(float(np.sort(table.min(axis=axis))[:links].sum()) for axis in (0, 1))
    if kept == n and not budget.over:
        framed = np.pad(flow, (0, sides - 1)).astype(np.float64)  # with a dummy item between two sides, free beside any
        np.fill_diagonal(framed, np.inf)
        floor = max(floor, link_bound(framed, reached, budget))
    return floor


# A lower bound that sees positions and neighbours together: cheapest paths through the positions.

MANY = 100  # items from which on single precision is used
SMOOTHING = 0.85  # how much of the last direction is kept
AT_ONCE = 8  # rounds on one problem before the lowest bound is looked for
PATIENCE = 7  # rounds without a better bound before steps are halved
LEAST_STEP = 1e-3
FIRST_STEP = 0.25
# of first prices: warmth in deviations of the links, and its steps
HOT, COLD, SOFT_ROUNDS, DAMPING = 1.0, 0.1, 30, 0.25
NARROWEST, WIDEST = 30, 2000  # endings on a beam


def sweep_cost(n: int) -> float:
    """The work of one path through n positions."""
    return n * (8.0 + 0.0009 * n * n)


class PathSearch:
    """The prices for one problem, on their way to a higher bound."""

    def __init__(self, problem: Instance, prices: Floats, value: float, *, floor: float = -np.inf) -> None:
        self.problem, self.value, self.floor = problem, value, floor
        self.prices = self.chosen = prices
        self.reached, self.step, self.stale = -np.inf, FIRST_STEP, 0
        self.direction = np.zeros(len(prices))
        self.paths: _Paths | None = None
        self.done, self.width, self.due = False, NARROWEST, 0.0

    @property
    def best(self) -> float:
        """The highest bound that is known."""
        return max(self.floor, self.reached)

    def advance(self, rounds: int, budget: Budget) -> None:
        """Move the prices some times."""
        n = len(self.problem.cost)
        self.paths = self.paths or _Paths(self.problem, np.float64 if n < MANY else np.float32)
        for _ in range(rounds):
            if self.done or self.step < LEAST_STEP:
                return
            budget.spend(sweep_cost(n))
            self.due += sweep_cost(n)
            bound, slope = self.paths.bound(self.prices)
            self.stale = 0 if bound > self.reached + 1e-4 * abs(self.value - bound) else self.stale + 1
            if bound > self.reached:
                self.reached, self.chosen = bound, self.prices
            self.done = self.best >= self.value - 1e-9 * abs(self.value)
            if not slope.any():  # prices say no more
                self.step = 0.0
                return
            self._move(slope, bound)

    def follow(self, budget: Budget) -> Ints | None:
        """An ordering that costs less than the known one, by a beam of endings; None for none, or before it is due.

        As much work goes to beams as to prices. Where nothing had to leave a beam there is none, and the bound says so.
        """
        n = len(self.problem.cost)
        each = sweep_cost(n) + n * (100.0 + 0.02 * self.width * n)  # of a beam
        if self.paths is None or self.done or (self.step >= LEAST_STEP and self.due < each):
            return None
        budget.spend(each)
        self.due = 0.0
        self.paths.bound(self.chosen)
        settled = self.step < LEAST_STEP
        ordering, cut = _Beam(self.problem, self.paths, self.chosen).follow(self.width, self.value, strict=settled)
        if not cut and n < MANY and (ordering is None or self.problem.value(ordering) >= self.value * (1 - 1e-9)):
            self.floor, self.done = self.value, True
        if settled:
            self.width, self.done = 2 * self.width, self.done or self.width >= WIDEST
        return ordering

    def _move(self, slope: Floats, bound: float) -> None:
        if self.stale >= PATIENCE:
            self.step, self.stale, self.prices = self.step / 2, 0, self.chosen
        self.direction = slope + SMOOTHING * self.direction
        size = self.step * max(self.value - bound, 1e-9) / float((self.direction**2).sum() or 1.0)
        self.prices = self.prices + size * self.direction
        zones = self.prices[len(self.problem.cost) :]  # too much, or too little, is never paid for
        most = np.isfinite(self.problem.most)
        zones[:] = np.where(most, np.maximum(zones, 0.0), np.minimum(zones, 0.0))


def first_prices(problem: Instance, budget: Budget = UNLIMITED) -> Floats:
    """Prices under which paths drawn at random, the cheaper the likelier, hold each item about once; none for lengths.

    Paths are drawn from ever fewer: what they hold too often gets dearer, by their usual chances (Sinkhorn's scaling).
    """
    n, prices = len(problem.cost), np.zeros(len(problem.cost) + len(problem.most))
    scale = link_scale(problem.cost, problem.link) or 1.0
    for warmth in scale * np.geomspace(HOT, COLD, SOFT_ROUNDS):
        budget.spend(n * (9.0 + 0.0003 * n * n))
        follow = np.exp((problem.link.min() - problem.link) / warmth)
        stand = problem.cost.T - prices[:n]
        stand = np.exp((stand.min(axis=1, keepdims=True) - stand) / warmth)
        chance, behind, held = np.empty((n, n)), np.ones(n), np.zeros(n)
        for position in range(n):
            chance[position] = stand[position] * (chance[position - 1] @ follow if position else 1.0)
            chance[position] /= chance[position].sum() or 1.0
        for position in range(n - 1, -1, -1):
            here = chance[position] * behind
            held += here / (here.sum() or 1.0)
            behind = follow @ (stand[position] * behind)
            behind /= behind.max() or 1.0
        prices[:n] -= DAMPING * warmth * np.log(np.maximum(held, 1e-9))
    return prices


class _Paths:
    """Cheapest paths through the positions, for prices of items and lengths."""

    def __init__(self, problem: Instance, kind: DTypeLike) -> None:
        n = len(problem.cost)
        self.cost = np.ascontiguousarray(problem.cost.T, dtype=kind)  # (positions, items)
        self.back = np.ascontiguousarray(problem.link.T, dtype=kind)  # (item, item before)
        self.totals = np.empty((n, n), dtype=kind)
        self.came, self.other = np.zeros((2, n, n), dtype=np.intp)  # (position, item): the best before it, the second
        self.reach, self.second = np.full((2, n, n), np.inf, dtype=kind)  # (position, item): what paths by these cost
        self.zone = problem.zone
        unit = float(problem.lengths.mean()) or 1.0
        self.lengths = problem.lengths / unit
        self.caps = np.where(np.isfinite(problem.most), problem.most, problem.least) / unit
        self.signs = np.where(np.isfinite(problem.most), 1.0, -1.0)
        self.limits = np.isfinite(problem.most) | (problem.least > 0)

    def priced(self, prices: Floats) -> tuple[Floats, float]:
        """What positions cost (positions, items) less the prices, and what these add up to."""
        items, zones = prices[: len(self.cost)], prices[len(self.cost) :]
        cost = self.cost - items.astype(self.cost.dtype)
        if zones.any():
            cost += np.outer(np.append(zones, 0.0)[self.zone], self.lengths).astype(cost.dtype)
        return cost, float(items.sum()) - float((zones * np.where(self.limits, self.caps, 0.0)).sum())

    def bound(self, prices: Floats) -> tuple[float, Floats]:
        """The bound that prices give, and which way it rises: what is missing of items, and too much in zones."""
        n = len(self.cost)
        items, zones = prices[:n], prices[n:]
        cost, owed = self.priced(prices)
        length, path = self._cheapest(cost)
        loads = np.bincount(self.zone[self.zone >= 0], self.lengths[path][self.zone >= 0], len(zones))
        over = np.where(self.limits, loads - self.caps, 0.0)
        over = np.where((zones == 0) & (over * self.signs < 0), 0.0, over)  # what is free and keeps to its limit
        slope = np.concatenate([1.0 - np.bincount(path, minlength=n), over])
        rounding = 8 * float(np.finfo(cost.dtype).eps) * n * (abs(length) + float(np.abs(items).max()))
        return length + owed - rounding, slope

    def _cheapest(self, cost: Floats) -> tuple[float, Ints]:
        """The length of the cheapest path that does not come back at once, and its items (n,)."""
        n = len(cost)
        items = np.arange(n)
        self.reach[0] = cost[0]
        flat, rows = self.totals.ravel(), items * n
        for position in range(1, n):
            np.add(self.back, self.reach[position - 1], out=self.totals)
            if position > 1:
                before = self.came[position - 1]
                self.totals[before, items] = self.back[before, items] + self.second[position - 1]
            came = self.totals.argmin(axis=1)
            self.came[position] = came
            at = rows + came
            best = flat[at]
            flat[at] = np.inf
            self.other[position] = self.totals.argmin(axis=1)
            self.second[position] = flat[rows + self.other[position]] + cost[position]
            self.reach[position] = best + cost[position]
        path = np.empty(n, dtype=np.intp)
        path[-1], after = self.reach[-1].argmin(), -1
        for position in range(n - 1, 0, -1):
            here = int(path[position])
            came = int(self.came[position, here])
            path[position - 1] = int(self.other[position, here]) if came == after else came
            after = here
        return float(self.reach[-1].min()), path


class _Beam:
    """Endings of orderings, the most promising kept: each with what the cheapest path to it costs under prices."""

    def __init__(self, problem: Instance, paths: _Paths, prices: Floats) -> None:
        n, zones = len(problem.cost), len(problem.most)
        self.problem, self.paths, self.back = problem, paths, problem.link.T
        self.cost, self.owed = paths.priced(prices)
        self.zones = prices[n:] / (float(problem.lengths.mean()) or 1.0)
        # sums of names tell which items stand where: on which side, where lengths matter
        self.names = np.random.default_rng(0).integers(1, 2**62, size=(zones + 1 if problem.has_loads else 1, n))
        self.held = np.zeros((1, n), dtype=bool)  # (endings, items)
        self.loads = np.zeros((1, zones))
        self.spent, self.name, self.last = np.zeros(1), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.intp)

    def follow(self, width: int, value: float, *, strict: bool) -> tuple[Ints | None, bool]:
        """The best ordering, None for none; and whether endings had to be left that could lead below a value."""
        n, cut, most = len(self.cost), False, value - 1e-9 * abs(value) - self.owed
        steps: list[tuple[Ints, Ints]] = []
        for position in range(n - 1, -1, -1):
            whole, spent = self._judge(position, strict=strict)
            ending, item = np.nonzero(whole < (most if strict else np.inf))
            promise = whole[ending, item]
            if len(promise) > 4 * width:
                some = np.argpartition(promise, 4 * width)
                cut |= bool(promise[some[4 * width]] < most)
                ending, item, promise = ending[some[: 4 * width]], item[some[: 4 * width]], promise[some[: 4 * width]]
            kept = self._extend(position, ending, item, spent[ending, item], promise)
            cut, kept = cut | bool((promise[kept[width:]] < most).any()), kept[:width]
            self.spent, self.name, self.last = self.spent[kept], self.name[kept], self.last[kept]
            self.held, self.loads = self.held[kept], self.loads[kept]
            steps.append((ending[kept], item[kept]))
        if not len(self.spent):
            return None, cut
        ordering, at = np.empty(n, dtype=np.intp), int((self.spent - self.loads @ self.zones).argmin())
        for position, (ending, item) in enumerate(reversed(steps)):
            ordering[position], at = item[at], ending[at]
        return ordering, cut

    def _judge(self, position: int, *, strict: bool) -> tuple[Floats, Floats]:
        """What orderings cost at least with each item (endings, items) before each ending; and what it has cost."""
        paths, problem, zone = self.paths, self.problem, self.problem.zone[position]
        spent = np.repeat(self.spent[:, np.newaxis], len(self.cost), axis=1)
        if position < len(self.cost) - 1:
            spent += self.back[self.last]
        other = self.held[:, paths.came[position]] if position else np.zeros(1, dtype=bool)
        whole = np.where(self.held, np.inf, spent + np.where(other, paths.second[position], paths.reach[position]))
        for before, behind in problem.before.T.tolist():
            whole[~self.held[:, behind], before] = np.inf
        if problem.has_loads and zone >= 0 and strict:
            load = self.loads[:, zone, np.newaxis] + problem.lengths
            whole[load > problem.most[zone] * (1 + 1e-12)] = np.inf
            ahead = np.unique(problem.zone[:position])
            if zone not in ahead:  # the rest stands on the sides before
                whole[load < problem.least[zone] * (1 - 1e-12)] = np.inf
                rest = problem.lengths.sum() * (1 - 1e-9) - problem.most[ahead[ahead >= 0]].sum()
                whole[self.loads.sum(axis=1)[:, np.newaxis] + problem.lengths < rest] = np.inf
        return whole, spent + self.cost[position]

    def _extend(self, position: int, ending: Ints, item: Ints, spent: Floats, promise: Floats) -> Ints:
        """Put items before endings; which are left, the most promising first: of what holds the same the cheapest."""
        problem, zone = self.problem, self.problem.zone[position]
        name = self.name[ending] + self.names[zone if problem.has_loads else 0][item]
        order = np.lexsort((spent, item, name))
        first = np.ones(len(order), dtype=bool)
        first[1:] = (np.diff(name[order]) != 0) | (np.diff(item[order]) != 0)
        self.spent, self.name, self.last = spent, name, item
        self.held, self.loads = self.held[ending], self.loads[ending]
        self.held[np.arange(len(item)), item] = True
        self.loads[:, zone] += problem.lengths[item]
        kept = order[first]
        return kept[np.argsort(promise[kept], kind="stable")]
