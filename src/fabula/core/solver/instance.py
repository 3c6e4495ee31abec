"""Instances: a problem on sides of given sizes as two tables of costs, in which what must not be is infinite.

Sides stand in one row, a dummy item between two of them, so that neighbours across a break cost nothing. What is left
out stands behind them, each item after a dummy of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.matching import match_assignment
from fabula.core.solver.budget import Budget
from fabula.core.solver.constraints import Constraints
from fabula.core.solver.domains import Bools, Units, item_positions, side_positions, side_sizes, starts_allowed, units
from fabula.core.solver.kinds import SLACK
from fabula.core.solver.problem import Problem
from fabula.errors import ConstraintError

MOST_LAYOUTS = 400
MOST_ASSIGNED = 100  # items up to which layouts are told apart by an assignment


@dataclass(frozen=True, eq=False)
class Instance:
    """Find the ordering of N items, dummies included, with the smallest sum of ``cost`` and of ``link``.

    Attributes
    ----------
    constraints
        What the N items must keep; the dummies are fixed.
    cost
        Shape (N, N): item i at position j; infinite where it cannot stand.
    link
        Shape (N, N): item i right before item k; infinite where they must not be neighbours in this order.
    before
        Shape (2, p): each item of the first row stands before the one of the second.
    parts, starts
        The units, and where each may start.
    zone
        Shape (N,): the side of each position; one more for what is left out, -1 for the dummies.
    lengths
        Shape (N,): what the zones count of each item.
    least, most
        Shape (zones,): how much each zone holds at least and at most.
    sizes
        How many items stand on each side.
    """

    constraints: Constraints
    cost: Floats
    link: Floats
    before: Ints
    parts: Units
    starts: Bools
    zone: Ints
    lengths: Floats
    least: Floats
    most: Floats
    sizes: tuple[int, ...]

    def value(self, ordering: Ints) -> float:
        """The objective; infinite when a constraint other than ``before`` and lengths is broken."""
        standing = self.cost[ordering, np.arange(len(ordering))].sum()
        return float(standing + self.link[ordering[:-1], ordering[1:]].sum())

    def in_order(self, place: Ints) -> bool:
        """Whether ``before`` holds, given the position of each item."""
        return bool((place[self.before[0]] < place[self.before[1]]).all())

    def reach(self, ordering: Ints) -> tuple[Ints, Ints]:
        """The first and last position that the item at each can take while those it is bound to stay: shape (N,)."""
        n, place = len(ordering), np.argsort(ordering)
        low, high = np.zeros(n, dtype=np.intp), np.full(n, n - 1)
        a, b = place[self.before]
        np.maximum.at(low, b, a + 1)
        np.minimum.at(high, a, b - 1)
        return low, high

    def overload(self, ordering: Ints) -> float:
        """By how much zones hold too much or too little, in all."""
        if not self.has_loads:
            return 0.0
        inside = self.zone >= 0
        loads = np.bincount(self.zone[inside], self.lengths[ordering[inside]], len(self.most))
        return float((np.maximum(loads - self.most, 0) + np.maximum(self.least - loads, 0)).sum())

    @property
    def room(self) -> float:
        """The most a side may hold."""
        return float(self.most[0])

    @cached_property
    def has_loads(self) -> bool:
        """Whether lengths matter."""
        return bool(np.isfinite(self.most).any() or (self.least > 0).any())

    def keeps(self, ordering: Ints) -> bool:
        """Whether ``before`` and the lengths hold."""
        return self.in_order(np.argsort(ordering)) and self.overload(ordering) == 0.0

    def items(self, ordering: Ints) -> Ints:
        """The ordering of what is kept, without dummies."""
        return ordering[(self.zone >= 0) & (self.zone < len(self.sizes))]

    def spread(self, kept: Ints) -> Ints:
        """The ordering of all N items that has these on its sides."""
        ordering = np.empty(len(self.cost), dtype=np.intp)
        real = self.zone >= 0
        n = int(real.sum())
        ordering[~real] = np.arange(n, len(ordering))
        ordering[real] = np.concatenate([kept, np.setdiff1d(np.arange(n), kept)])
        return ordering


def pose(
    problem: Problem, sizes: Sequence[int], room: float, *, alike: float = np.inf, link: Floats | None = None
) -> Instance | None:
    """Put a problem into tables, for sides of given sizes; None where the constraints cannot hold for these.

    Parameters
    ----------
    problem
        Of n items.
    sizes
        How many items stand on each side.
    room
        The most a side may hold.
    alike
        What it costs two neighbours to carry the same label, where they may.
    link
        The links, where they are known from other sizes: see :func:`link_table`.
    """
    constraints, n, kept = problem.constraints, problem.constraints.n, sum(sizes)
    allowed = side_positions(constraints, sizes)
    if allowed is None:
        return None
    zone = _zones(sizes, n - kept)
    total = len(zone)
    sides, out = np.flatnonzero((zone >= 0) & (zone < len(sizes))), np.flatnonzero(zone == len(sizes))
    may, cost = np.zeros((total, total), dtype=bool), np.zeros((total, total))
    may[np.arange(n, total), np.flatnonzero(zone < 0)] = True
    may[:n, sides] = allowed
    free = np.setdiff1d(np.arange(n), list(constraints.must_keep))
    may[np.ix_(free, out)] = True
    cost[:n, sides] = problem.costs(sizes)
    link = link_table(problem, total, alike) if link is None else link
    return _instance(constraints, may, cost, link, zone, tuple(sizes), room, alike)


def link_table(problem: Problem, total: int, alike: float) -> Floats:
    """What neighbours cost, dummies included, (total, total); infinite where they must not be neighbours."""
    n, constraints = problem.constraints.n, problem.constraints
    link = np.zeros((total, total))
    if problem.flow is not None:
        link[:n, :n] = problem.flow
    barred, unwanted = constraints.barred(), constraints.alike()
    if barred is not None:
        link[:n, :n][barred] = np.inf
    if unwanted is not None:
        link[:n, :n][unwanted] += alike
    for run in constraints.together:
        for a, b in pairwise(run):
            kept = link[a, b]
            link[a], link[:, b] = np.inf, np.inf
            link[a, b] = kept
    np.fill_diagonal(link, np.inf)
    return link


def _zones(sizes: Sequence[int], left_out: int) -> Ints:
    """The zone of each position, -1 for dummies."""
    zones: list[int] = []
    for side, size in enumerate(sizes):
        zones += ([-1] if side else []) + [side] * size
    return np.array(zones + [-1, len(sizes)] * left_out, dtype=np.intp)


def _instance(
    constraints: Constraints,
    may: Bools,
    cost: Floats,
    link: Floats,
    zone: Ints,
    sizes: tuple[int, ...],
    room: float,
    alike: float,
) -> Instance:
    n, total = constraints.n, len(zone)
    alone = np.flatnonzero(may.sum(axis=1) == 1)
    labels = None if constraints.apart is None else np.concatenate([constraints.apart, np.full(total - n, -1)])
    stretched = Constraints(
        total,
        fixed={int(may[item].argmax()): int(item) for item in alone},
        together=constraints.together,
        before=constraints.before,
        apart=labels if alike == np.inf else None,
    )
    parts = units(stretched)
    starts = starts_allowed(may, parts)
    pairs = [(a, b) for a, b in stretched.before if parts.of[a] != parts.of[b]]  # a run keeps its own order
    lengths = np.concatenate([constraints.weights, np.zeros(total - n)])
    least = np.zeros(len(sizes) + 1)
    if constraints.limit is not None:
        least[-1] = max(0.0, float(lengths.sum()) - constraints.limit * SLACK)
    return Instance(
        stretched,
        np.where(item_positions(parts, starts), cost, np.inf),
        link,
        np.array(pairs, dtype=np.intp).reshape(-1, 2).T,
        parts,
        starts,
        zone,
        lengths,
        least,
        np.append(np.full(len(sizes), room), np.inf),
        sizes,
    )


@dataclass(frozen=True, eq=False)
class Candidate:
    """Sides of given sizes.

    ``instance``: the costs: deviations, or what is weighed against flow. ``worst``: no largest deviation is below it; 0
    where it does not count. ``total``: no sum of position costs is below it.
    """

    instance: Instance
    worst: float
    total: float


@dataclass(frozen=True, eq=False)
class Layouts:
    """Layouts, the most promising first; whether these are all there are; whether neighbours alike are ruled out."""

    candidates: list[Candidate]
    complete: bool
    apart: bool


def layouts(
    problem: Problem, kept: int, room: float, budget: Budget, *, alike: float, most: int = MOST_LAYOUTS
) -> Layouts:
    """Layouts with so many items kept, the most even where there are too many."""
    found, complete, link = list[Candidate](), True, None
    for number, sizes in enumerate(_compositions(problem.constraints, kept, room)):
        if number >= most:
            complete = False
            break
        instance = pose(problem, sizes, room, alike=alike, link=link)
        if instance is None:
            continue
        link, n = instance.link, len(instance.cost)
        budget.spend(400.0 + 0.05 * n**2 + (2e-4 * n**3 if n <= MOST_ASSIGNED else 0.0))
        candidate = _candidate(instance, counts_worst=problem.counts_worst)
        if candidate is not None:
            found.append(candidate)
    return Layouts(
        sorted(found, key=lambda one: (one.worst, one.total)) if problem.counts_worst else found,
        complete,
        alike == np.inf,
    )


def _candidate(instance: Instance, *, counts_worst: bool) -> Candidate | None:
    """A layout with its bounds; None where some items share too few positions."""
    try:
        if not counts_worst:
            few = len(instance.cost) <= MOST_ASSIGNED
            return Candidate(instance, 0.0, position_bound(instance.cost)[0] if few else -np.inf)
        deviations = run_worst(instance)
        order = match_assignment(deviations)
        worst = float(deviations[order, np.arange(len(order))].max())
        return Candidate(instance, worst, position_bound(np.where(deviations <= worst, instance.cost, np.inf))[0])
    except (ConstraintError, ValueError):
        return None


def run_worst(problem: Instance) -> Floats:
    """The largest deviation of an item's run when the item stands at a position: shape (N, N)."""
    worst = problem.cost.copy()
    n = len(worst)
    for run in problem.constraints.together:
        last = n - len(run) + 1
        largest = np.max([problem.cost[item, o : last + o] for o, item in enumerate(run)], axis=0)
        for o, item in enumerate(run):
            worst[item] = np.inf
            worst[item, o : last + o] = largest
    return worst


def _compositions(constraints: Constraints, kept: int, room: float) -> Iterator[tuple[int, ...]]:
    """Sizes of sides that add up to the items kept, the most even first."""
    if constraints.sides == 1:
        if side_sizes(constraints, kept, room) or not np.isfinite(room):
            yield (kept,)
        return
    sizes = side_sizes(constraints, kept, room)
    mean = kept / constraints.sides
    partial: list[tuple[int, ...]] = [()]
    for side in range(constraints.sides - 1):
        behind = constraints.sides - side - 1
        partial = [
            (*begun, size)
            for begun in partial
            for size in sizes
            if behind * sizes.start <= kept - sum(begun) - size <= behind * (sizes.stop - 1)
        ]
        partial.sort(key=lambda begun: sum((size - mean) ** 2 for size in begun))
        partial = partial[: 8 * MOST_LAYOUTS]
    whole = [(*begun, kept - sum(begun)) for begun in partial]
    yield from sorted(whole, key=lambda one: sum((size - mean) ** 2 for size in one))


def position_bound(cost: Floats) -> tuple[float, Ints]:
    """The smallest sum of costs over positions (n, n), neighbours aside, and the ordering that has it.

    A ValueError when the finite entries allow no assignment.
    """
    from scipy.optimize import linear_sum_assignment

    items, places = linear_sum_assignment(cost)
    ordering = np.empty(len(cost), dtype=np.intp)
    ordering[places] = items
    return float(cost[items, places].sum()), ordering
