"""What is solved: goals, which item may stand where, what an arrangement is, and how much may be spent on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arrays import Bools, Floats, Ints, as_essence, distances, quantise
from fabula.core.solver.constraints import SLACK, Constraints, count_alike
from fabula.core.template import Template, check_dimensions
from fabula.errors import InputError

MOST_QUANTISED = 300  # items up to which tables are rid of what machines differ in, so that ties are ties everywhere
MOST_SORTED = 1000  # items beyond which rows of flow are added up as they are listed, but for rounding
DIGITS = 4


Table = Callable[[int], Floats]  # from a number of positions m to what n items cost at each of them, (n, m)


@dataclass(frozen=True, eq=False)
class Goal:
    """What positions cost n items: deviations from a template, or tables by the position on a side and in the whole.

    Made by :meth:`template` or :meth:`table`; of a number of items alone, positions cost nothing.

    >>> goal = Goal.template([0.5, 2.0], Template([0, 1], [0, 1]))
    >>> goal.costs(2)
    array([[0.5, 0.5],
           [2. , 1. ]])
    """

    n: int
    essence: Floats | None = None
    follows: Template | None = None
    side: Table | None = None
    whole: Table | None = None

    @classmethod
    def template(cls, essence: ArrayLike, template: Template) -> Goal:
        """Deviations of an essence (n,) or (n, d), on the template's scale: the largest counts first, their sum second.

        Each side follows the template from its beginning to its end.
        """
        values = as_essence(essence)
        check_dimensions(values, template)
        return cls(len(values), essence=quantise(values), follows=template)

    @classmethod
    def table(
        cls,
        side: ArrayLike | Callable[[int], ArrayLike] | None = None,
        n: int | None = None,
        *,
        whole: ArrayLike | Callable[[int], ArrayLike] | None = None,
    ) -> Goal:
        """Costs of any sign, a model's minus scores say: their sum counts alone.

        ``side``: what each item costs at each position (n, n); or, where there are sides or a limit, a function from a
        number of positions m, those of one side, to a table (n, m). ``whole``: the same by the number of all positions,
        of which each side has those where it stands. ``n``: how many items, where only functions are given.

        >>> Goal.table([[0.0, 1.0], [2.0, 0.0]]).costs(2)
        array([[0., 1.],
               [2., 0.]])
        """
        given = [table for table in (side, whole) if table is not None]
        if not given:
            raise InputError("a goal needs a table by the position on a side, in the whole, or both")
        n = next((len(np.asarray(table)) for table in given if not callable(table)), n)
        if n is None:
            raise InputError("a goal of functions alone must be told n, how many items there are")
        return cls(n, side=_as_table(side, n), whole=_as_table(whole, n))

    @property
    def nothing(self) -> bool:
        """Whether positions cost nothing."""
        return self.follows is None and self.side is None and self.whole is None

    def costs(self, *sizes: int) -> Floats:
        """The deviation, or the tables' cost, of each item at each position of sides in a row: (n, sum of sizes)."""
        costs = np.concatenate([self.on_side(size) for size in sizes], axis=1)
        return costs if self.whole is None else costs + self.whole(costs.shape[1])

    def on_side(self, m: int) -> Floats:
        """What counts of it by the position on a side of m, shape (n, m)."""
        if self.follows is not None:
            return distances(self.rows[:, np.newaxis], self.targets(m).reshape(1, m, -1))
        return np.zeros((self.n, m)) if self.side is None else self.side(m)

    def in_whole(self, m: int) -> Floats:
        """What counts of it by the position in the whole of m, shape (n, m)."""
        return np.zeros((self.n, m)) if self.whole is None else self.whole(m)

    @property
    def rows(self) -> Floats:
        """The essence of each item, shape (n, d)."""
        if self.essence is None:
            raise InputError("a goal given as a table has no essence")
        return self.essence.reshape(self.n, -1)

    def targets(self, m: int) -> Floats:
        """The template at each of m positions: shape (m,) or (m, d)."""
        if self.follows is None:
            raise InputError("a goal given as a table has no targets")
        return quantise(self.follows.samples(m))

    def take(self, items: ArrayLike) -> Goal:
        """The goal of some items, in the order they are named."""
        chosen = np.asarray(items, dtype=np.intp)
        return Goal(
            len(chosen),
            essence=None if self.essence is None else self.essence[chosen],
            follows=self.follows,
            side=_as_table(self.side, len(chosen), chosen),
            whole=_as_table(self.whole, len(chosen), chosen),
        )


def _as_table(given: ArrayLike | Callable[[int], ArrayLike] | None, n: int, items: Ints | None = None) -> Table | None:
    """Costs, of some items, as a function that makes and checks the table for each number of positions once."""
    if given is None:
        return None

    @cache
    def at(m: int) -> Floats:
        costs = np.asarray(given(m) if callable(given) else given, dtype=np.float64)
        if not callable(given) and m != costs.shape[-1]:
            raise InputError(f"the table is for {costs.shape[-1]} positions, and {m} are asked for: give a function")
        costs = costs if items is None else costs[items]
        if costs.shape != (n, m) or not np.isfinite(costs).all():
            raise InputError(f"a table for {m} positions must be finite, of shape ({n}, {m}); got {costs.shape}")
        return quantise(costs) if n <= MOST_QUANTISED else costs

    return at


@dataclass(frozen=True)
class Bounds:
    """What no arrangement can get below."""

    total: float  # the sum of deviations, none above the largest one found; or the weighed sum
    worst: float = 0.0  # the largest deviation, where it counts
    violations: int = 0  # the neighbours that are alike


@dataclass(frozen=True, eq=False)
class Arrangement:
    """An ordering under constraints."""

    ordering: Ints  # Shape (m,): the items kept, ``ordering[position] = item index``
    left_out: Ints  # The items left out, rising
    sides: tuple[int, ...]  # How many items stand on each side; empty for one side
    # Shape (m,): distance of each position's item from its target; None for a goal given as a table
    deviations: Floats | None = field(repr=False)
    # The sum of deviations; with flow, the sum of their squares plus flow; for a table, the sum of its costs plus flow
    objective: float
    # No ordering has a smaller objective, and, where the largest deviation comes first, one that is not larger
    bound: float
    # How much better another ordering could be at most, as a part of what was reached: of the neighbours that are
    # alike, of the largest deviation and of the objective, the largest gap. 0 where the ordering is the best.
    gap: float
    exact: bool  # Whether no other ordering does better
    violations: int = 0  # How many neighbours carry the same label

    @property
    def worst(self) -> float | None:
        """The largest deviation; None for a goal given as a table."""
        return None if self.deviations is None else float(self.deviations.max())


@dataclass(frozen=True, eq=False)
class Problem:
    """What is minimised: a goal, and the cost of neighbours (n, n) or None, under constraints."""

    goal: Goal
    flow: Floats | None
    constraints: Constraints

    @property
    def counts_worst(self) -> bool:
        """Whether the largest deviation comes first."""
        return self.flow is None and self.goal.follows is not None

    @property
    def on_line(self) -> bool:
        """Whether items and targets are numbers."""
        return self.goal.follows is not None and self.goal.rows.shape[1] == 1

    @property
    def sorts(self) -> bool:
        """Whether sorting tells all but which side an item is on: numbers, no flow and no wishes."""
        return self.on_line and self.flow is None and not self.constraints.wishes

    def costs(self, sizes: Sequence[int]) -> Floats:
        """What is summed over positions, (n, kept), on sides of given sizes: deviations are squared beside flow."""
        costs = self.goal.costs(*sizes)
        return costs if self.flow is None or self.goal.follows is None else costs**2

    def key(self, items: Ints, sizes: tuple[int, ...]) -> tuple[float, ...]:
        """The criteria of an ordering, the first first."""
        found = describe(self, items, sizes)
        return (float(found.violations), *((found.worst or 0.0,) if self.counts_worst else ()), found.objective)

    def take(self, items: Ints) -> Problem | None:
        """The problem of some items alone, in the order they are named; None where the constraints do not permit it."""
        constraints = self.constraints.renumber(items)
        flow = None if self.flow is None else self.flow[np.ix_(items, items)]
        return None if constraints is None else Problem(self.goal.take(items), flow, constraints)


def describe(problem: Problem, ordering: Ints, sizes: tuple[int, ...], bounds: Bounds | None = None) -> Arrangement:
    """An arrangement with everything that is told of it; without bounds, it is the best."""
    goal, flow, labels = problem.goal, problem.flow, problem.constraints.apart
    side = np.repeat(np.arange(len(sizes)), sizes)
    deviations = None
    if goal.follows is not None:
        targets = np.concatenate([goal.targets(size) for size in sizes])
        costs = deviations = distances(goal.rows[ordering], targets.reshape(len(ordering), -1))
    elif goal.nothing:
        costs = np.zeros(len(ordering))
    else:
        costs = goal.costs(*sizes)[ordering, np.arange(len(ordering))]
    violations = 0 if labels is None else count_alike(labels[ordering], side)
    at, flowing = float((costs if flow is None or deviations is None else costs**2).sum()), 0.0
    if flow is not None:
        flowing = float((flow[ordering[:-1], ordering[1:]] * (side[1:] == side[:-1])).sum())
    objective = at + flowing
    bound, gap = objective, 0.0
    if bounds is not None:
        bound = min(bounds.total, objective)
        gap = _relative(objective - bound, abs(at) + abs(flowing))
        gap = max(gap, _relative(violations - bounds.violations, violations))
        if problem.counts_worst and deviations is not None:
            gap = max(gap, _relative(float(deviations.max()) - bounds.worst, float(deviations.max())))
    left_out = np.flatnonzero(np.bincount(ordering, minlength=goal.n) == 0)
    sides = sizes if len(sizes) > 1 else ()
    return Arrangement(ordering, left_out, sides, deviations, objective, bound, gap, gap == 0.0, violations)


def _relative(gap: float, scale: float) -> float:
    """A gap as a part; 0 where it is but rounding."""
    return 0.0 if gap <= 1e-9 * max(scale, 1e-300) else min(1.0, gap / scale) if scale else 1.0


def canonical_order(problem: Problem) -> Ints:
    """The items by value, or by cost; then by flow; then by length; as they are listed where nothing tells them apart.

    It decides between orderings that tie in every criterion, so that the order in which items are listed has no say.
    What the constraints ask for has no part in it, or a wish that already holds could change the result; lengths have
    one only where they decide something anyway.
    """
    goal, flow, constraints = problem.goal, problem.flow, problem.constraints
    known = np.zeros((goal.n, 0)) if goal.nothing else goal.costs(goal.n) if goal.follows is None else goal.rows
    keys = list((known + 0.0).T)
    if flow is not None and goal.n > MOST_SORTED:
        keys += [flow.sum(axis=axis, dtype=np.float64).round(DIGITS) for axis in (1, 0)]
    elif flow is not None:
        own = np.eye(goal.n, dtype=bool)  # left out
        out, into = (np.sort(np.where(own, np.inf, table), axis=1)[:, :-1] for table in (flow, flow.T))
        keys += [out.sum(axis=1), into.sum(axis=1), out[:, 0], into[:, 0]]
    if constraints.lengths is not None and not constraints.one_side:
        keys.append(constraints.lengths)
    return np.lexsort(keys[::-1]) if keys else np.arange(goal.n)


# Budgets: how much a search may do, counted in work and not by the clock.

UNITS_PER_SECOND = 1_000_000.0


class Budget:
    """Units that may be spent, with an end; parts of it spend from the same purse and end sooner.

    >>> whole = Budget.of_seconds(2e-6)
    >>> half = whole.part(0.5)
    >>> half.spend(1.5)
    >>> half.over, whole.over, whole.left
    (True, False, 0.5)
    """

    def __init__(self, units: float, purse: list[float] | None = None) -> None:
        self._purse = [0.0] if purse is None else purse
        self._end = self._purse[0] + units

    @classmethod
    def of_seconds(cls, seconds: float) -> Budget:
        """What so many seconds buy."""
        return cls(seconds * UNITS_PER_SECOND)

    def spend(self, units: float) -> None:
        """Count some work as done."""
        self._purse[0] += units

    @property
    def left(self) -> float:
        """How many units are left; negative where more was spent."""
        return self._end - self._purse[0]

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0.0

    def part(self, share: float) -> Budget:
        """A budget of a share of what is left."""
        return Budget(share * max(self.left, 0.0), self._purse)

    def extend(self, units: float) -> Budget:
        """A budget that ends so many units later."""
        return Budget(self.left + units, self._purse)

    def at_least(self, units: float) -> Budget:
        """A budget with so many units left, or more."""
        return self.extend(max(0.0, units - self.left))


UNLIMITED = Budget(float("inf"))


# Domains: which item may stand where, runs as units, how many items can be kept and what a side may hold.


def positions_allowed(constraints: Constraints, m: int) -> Bools | None:
    """Which item may stand at which of m positions by ``fixed`` and ``forbidden``: shape (n, m).

    None where ``fixed`` asks for a position there is not, for two items at one, or for one item at two.
    """
    allowed = np.ones((constraints.n, m), dtype=bool)
    for item, position in constraints.forbidden:
        if -m <= position < m:
            allowed[item, position] = False
    for position, item in constraints.fixed.items():
        if not -m <= position < m or not settle(allowed, item, position):
            return None
    return allowed


def side_positions(constraints: Constraints, sizes: Sequence[int]) -> Bools | None:
    """The same with ``ends``, for sides of given sizes one after the other: shape (n, m); None as there."""
    allowed = positions_allowed(constraints, sum(sizes))
    starts = np.cumsum([0, *sizes])
    for (side, position), item in constraints.ends.items():
        inside = -sizes[side] <= position < sizes[side]
        if allowed is None or not inside or not settle(allowed, item, int(starts[side]) + position % sizes[side]):
            return None
    return allowed


def settle(allowed: Bools, item: int, position: int) -> bool:
    """Leave an item this position alone, in place; whether it was still allowed there."""
    here = bool(allowed[item, position])
    allowed[item] = False
    allowed[:, position] = False
    allowed[item, position] = here
    return here


# Units: runs of items that move as one, single items among them, and the positions where each may start.


@dataclass(frozen=True, eq=False)
class Units:
    """The m units of n items, sorted by their first item."""

    members: tuple[tuple[int, ...], ...]  # the items of each unit, in order
    of: Ints  # (n,) the unit of each item
    offset: Ints  # (n,) its position in it
    lengths: Ints  # (m,)
    earlier: Bools  # (m, m) whether the first must stand before the second, followed through

    @classmethod
    def of_items(cls, constraints: Constraints) -> Units:
        """Merge the runs, and carry ``before`` over from items to units."""
        inside = {item for run in constraints.together for item in run}
        single = [(item,) for item in range(constraints.n) if item not in inside]
        members = tuple(sorted([*single, *(tuple(run) for run in constraints.together)]))
        of, offset = np.empty((2, constraints.n), dtype=np.intp)
        for number, run in enumerate(members):
            of[list(run)] = number
            offset[list(run)] = np.arange(len(run))
        lengths = np.array([len(run) for run in members], dtype=np.intp)
        earlier = np.zeros((len(members), len(members)), dtype=bool)
        for a, b in constraints.before:
            earlier[of[a], of[b]] |= of[a] != of[b]
        for middle in np.flatnonzero(earlier.any(axis=0) & earlier.any(axis=1)):  # followed through
            earlier[earlier[:, middle]] |= earlier[middle]
        return cls(members, of, offset, lengths, earlier)

    def starts(self, allowed: Bools) -> Bools:
        """Where each unit may start, (units, n), from where each item may stand, (n, n): some may be too many."""
        n = len(allowed)
        starts = np.zeros((len(self.members), n), dtype=bool)
        single = self.lengths == 1
        starts[single] = allowed[[run[0] for run in self.members if len(run) == 1]]
        for number in np.flatnonzero(~single).tolist():
            found = along(allowed, self.members[number])
            starts[number, : found.shape[1]] = found.all(axis=0)
        linked = np.flatnonzero(self.earlier.any(axis=0) | self.earlier.any(axis=1))
        changed = len(linked) > 0
        while changed and starts[linked].any(axis=1).all():
            count, first = starts[linked].sum(), starts.argmax(axis=1)
            behind = starts[:, ::-1].argmax(axis=1) + 1 - self.lengths  # room left behind each unit at its last start
            for unit in linked:  # cut by those before and those behind
                starts[unit, : _through(first, self.lengths, np.flatnonzero(self.earlier[:, unit]))] = False
                room = _through(behind, self.lengths, np.flatnonzero(self.earlier[unit]))
                starts[unit, max(0, n - room - int(self.lengths[unit]) + 1) :] = False
            changed = bool(starts[linked].sum() != count)
        return starts

    def positions(self, starts: Bools) -> Bools:
        """Where each item may stand (n, n), from where its unit may start (units, n)."""
        found = starts[self.of]
        for item in np.flatnonzero(self.offset).tolist():  # behind the first of its run
            found[item] = np.roll(found[item], self.offset[item])  # a run starts where it ends within the positions
        return found


def along(table: NDArray[Any], run: Sequence[int]) -> NDArray[Any]:
    """The entry of each item of a run by where the run starts, from those by position (n, m): (items, starts)."""
    last = table.shape[1] - len(run) + 1
    return np.array([table[item, offset : last + offset] for offset, item in enumerate(run)])


def _through(release: Ints, lengths: Ints, group: Ints) -> int:
    """When a group of units, each free from its release on, can be through at the earliest."""
    time = 0
    for unit in group[np.argsort(release[group])]:
        time = max(time, int(release[unit])) + int(lengths[unit])
    return time


# Limits: how many items can be kept, and how much a side may hold.

UNEVEN = 1.15  # how far the longest side may be above the mean where no limit is given


def possible_counts(constraints: Constraints) -> range:
    """How many items can be kept, the most first; empty when what must be kept is over the limit."""
    n, lengths = constraints.n, constraints.weights
    if constraints.limit is None or lengths.sum() <= constraints.limit * SLACK:
        return range(n, n - 1, -1)
    free = np.setdiff1d(np.arange(n), list(constraints.must_keep))
    saved = np.concatenate([[0.0], np.cumsum(np.sort(lengths[free])[::-1])])
    enough = np.flatnonzero(lengths.sum() - saved <= constraints.limit * SLACK)
    if not len(enough):
        return range(0)
    return range(n - int(enough[0]), max(n - len(free), 1) - 1, -1)


def side_room(constraints: Constraints) -> float:
    """The most a side may hold, slack for rounding included."""
    if constraints.side_limit is not None:
        return constraints.side_limit * SLACK
    even = UNEVEN * min(float(constraints.weights.sum()), constraints.limit or np.inf) / constraints.sides
    return even * SLACK if constraints.sides > 1 else np.inf


def side_sizes(constraints: Constraints, kept: int, room: float) -> range:
    """How many items a side can have when so many are kept, by the lengths alone; the only one has all of them."""
    lengths, sides = np.sort(constraints.weights), constraints.sides
    most, least = int(np.searchsorted(np.cumsum(lengths), room, side="right")), 1
    rest = float(lengths.sum()) - (sides - 1) * room  # what the other sides cannot hold
    if kept == constraints.n and rest > 0:
        least = int(np.searchsorted(np.cumsum(lengths[::-1]), rest * (1 - 1e-12))) + 1
    sizes = range(least, min(most, kept - (sides - 1) * least) + 1)
    return sizes if sides > 1 else range(kept, kept + bool(sizes))
