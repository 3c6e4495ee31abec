"""Instances: a problem on sides of given sizes as two tables of costs, in which what must not be is infinite.

Sides stand in one row, a dummy item between two of them, so that neighbours across a break cost nothing. What is left
out stands behind them, each item after a dummy of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from fabula.core.arrays import Bools, Floats, Ints
from fabula.core.fit import assign_least, match_assignment
from fabula.core.solver.constraints import SLACK, Constraints
from fabula.core.solver.problem import UNLIMITED, Budget, Problem, Units, along, side_positions, side_sizes
from fabula.errors import ConstraintError

MOST_LAYOUTS = 400
MOST_ASSIGNED = 100  # items up to which layouts are told apart by an assignment


@dataclass(frozen=True, eq=False)
class Frame:
    """The positions of sides of given sizes, dummies between them and behind."""

    constraints: Constraints  # of the N items; the dummies are fixed
    parts: Units
    starts: Bools  # (units, N) where each unit may start
    zone: Ints  # (N,) the side of each position; one more for what is left out, -1 for the dummies


@dataclass(frozen=True, eq=False)
class Instance(Frame):
    """Find the ordering of N items, dummies included, with the smallest sum of ``cost`` and of ``link``."""

    cost: Floats  # (N, N) item i at position j; infinite where it cannot stand
    link: Floats  # (N, N) item i right before item k; infinite where they must not be neighbours
    before: Ints  # (2, p) each item of the first row stands before the one of the second
    lengths: Floats  # (N,) what the zones count of each item
    least: Floats  # (zones,) how much each holds at least
    most: Floats  # (zones,) at most
    sizes: tuple[int, ...]  # how many items stand on each side

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


def frame(constraints: Constraints, sizes: Sequence[int], *, alike: float = np.inf) -> Frame | None:
    """Sides of given sizes as one row of positions; None where the constraints cannot hold for these."""
    n, kept = constraints.n, sum(sizes)
    allowed = side_positions(constraints, sizes)
    if allowed is None:
        return None
    zones: list[int] = []
    for side, size in enumerate(sizes):
        zones += ([-1] if side else []) + [side] * size
    zone = np.array(zones + [-1, len(sizes)] * (n - kept), dtype=np.intp)
    total = len(zone)
    sides, out = np.flatnonzero((zone >= 0) & (zone < len(sizes))), np.flatnonzero(zone == len(sizes))
    may = np.zeros((total, total), dtype=bool)
    may[np.arange(n, total), np.flatnonzero(zone < 0)] = True
    may[:n, sides] = allowed
    free = np.setdiff1d(np.arange(n), list(constraints.must_keep))
    may[np.ix_(free, out)] = True
    alone = np.flatnonzero(may.sum(axis=1) == 1)
    labels = None if constraints.apart is None else np.concatenate([constraints.apart, np.full(total - n, -1)])
    stretched = Constraints(
        total,
        fixed={int(may[item].argmax()): int(item) for item in alone},
        together=constraints.together,
        before=constraints.before,
        apart=labels if alike == np.inf else None,
    )
    parts = Units.of_items(stretched)
    return Frame(stretched, parts, parts.starts(may), zone)


def pose(
    problem: Problem, sizes: Sequence[int], room: float, *, alike: float = np.inf, link: Floats | None = None
) -> Instance | None:
    """Put a problem into tables, for sides of given sizes; None where the constraints cannot hold for these."""
    constraints, n = problem.constraints, problem.constraints.n
    framed = frame(constraints, sizes, alike=alike)
    if framed is None:
        return None
    parts, total = framed.parts, len(framed.zone)
    cost = np.zeros((total, total))
    cost[:n, (framed.zone >= 0) & (framed.zone < len(sizes))] = problem.costs(sizes)
    pairs = [(a, b) for a, b in constraints.before if parts.of[a] != parts.of[b]]  # a run keeps its own order
    lengths = np.concatenate([constraints.weights, np.zeros(total - n)])
    least = np.zeros(len(sizes) + 1)
    if constraints.limit is not None:
        least[-1] = max(0.0, float(lengths.sum()) - constraints.limit * SLACK)
    return Instance(
        **vars(framed),
        cost=np.where(parts.positions(framed.starts), cost, np.inf),
        link=link_table(problem, total, alike) if link is None else link,
        before=np.array(pairs, dtype=np.intp).reshape(-1, 2).T,
        lengths=lengths,
        least=least,
        most=np.append(np.full(len(sizes), room), np.inf),
        sizes=tuple(sizes),
    )


def link_table(problem: Problem, total: int, alike: float) -> Floats:
    """What neighbours cost, dummies included, (total, total); infinite where they must not be neighbours."""
    n, constraints = problem.constraints.n, problem.constraints
    link = np.zeros((total, total))
    if problem.flow is not None:
        link[:n, :n] = problem.flow
    same = constraints.same_label()
    if same is not None:
        link[:n, :n][same] += alike if constraints.apart_soft else np.inf
    for run in constraints.together:
        for a, b in pairwise(run):
            kept = link[a, b]
            if constraints.apart_soft:  # they are neighbours in any case
                kept = 0.0 if problem.flow is None else problem.flow[a, b]
            link[a], link[:, b] = np.inf, np.inf
            link[a, b] = kept
    np.fill_diagonal(link, np.inf)
    return link


def link_scale(cost: Floats, link: Floats) -> float:
    """How much links (n, n) differ, or, where they hardly do, a small part of what position costs (n, n) do."""
    every = 1 + len(cost) // 500  # of many items, some
    links, costs = (table[np.isfinite(table)] for table in (link[::every, ::every], cost[::every, ::every]))
    return max(float(links.std()) if len(links) else 0.0, 0.1 * float(costs.std()))


@dataclass(frozen=True, eq=False)
class Candidate:
    """Sides of given sizes."""

    instance: Instance  # the costs: deviations, or what is weighed against flow
    worst: float  # no largest deviation is below it; 0 where it does not count
    total: float  # no sum of position costs is below it


def layouts(
    problem: Problem, kept: int, room: float, budget: Budget, *, alike: float, most: int = MOST_LAYOUTS
) -> tuple[list[Candidate], bool]:
    """Layouts with so many items kept, the most promising or even first, and whether these are all there are."""
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
        cost, worst, few = instance.cost, 0.0, n <= MOST_ASSIGNED
        try:
            if problem.counts_worst:
                deviations = run_worst(instance)
                order = match_assignment(deviations)
                worst = float(deviations[order, np.arange(n)].max())
                cost, few = np.where(deviations <= worst, cost, np.inf), True
            found.append(Candidate(instance, worst, position_bound(cost)[0] if few else -np.inf))
        except (ConstraintError, ValueError):  # some items share too few positions
            continue
    if problem.counts_worst:
        found.sort(key=lambda one: (one.worst, one.total))
    return found, complete


def run_worst(problem: Instance) -> Floats:
    """The largest deviation of an item's run when the item stands at a position: shape (N, N)."""
    worst = problem.cost.copy()
    for run in problem.constraints.together:
        largest = along(problem.cost, run).max(axis=0)
        for offset, item in enumerate(run):
            worst[item] = np.inf
            worst[item, offset : len(largest) + offset] = largest
    return worst


def _compositions(constraints: Constraints, kept: int, room: float) -> Iterator[tuple[int, ...]]:
    """Sizes of sides that add up to the items kept, the most even first."""
    sizes, mean = side_sizes(constraints, kept, room), kept / constraints.sides
    partial: list[tuple[int, ...]] = [()] if sizes else []
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
    """The smallest sum of costs over positions (n, n), and the ordering that has it; a ValueError without one."""
    items, places = assign_least(cost)
    return float(cost[items, places].sum()), np.argsort(places)


# A first ordering: one that keeps the constraints, and sides that hold too much relieved by swaps.

ATTEMPTS = 60
STEPS_BACK = 400  # per attempt
ROWS = 48  # positions that are tried with all others
AT_ONCE = 8  # swaps taken from one look
MISSES = 20  # looks without relief
REACH = 40  # ranks between two items that are exchanged
MOST_LOOKS = 500
WORSE = 50.0  # how much more a deviation above the largest counts


def construct(problem: Instance, wish: Ints, rng: np.random.Generator, budget: Budget = UNLIMITED) -> Ints | None:
    """An ordering that keeps the constraints and lengths, close to one (n,) that need not; None when none was found."""
    whole = fill(problem, wish, rng, budget)
    ordering = None if whole is None else rebalance(problem, whole, rng, budget)
    return (
        None if ordering is None or not np.isfinite(problem.value(ordering)) else ordering
    )  # a run may hold two that are alike


def fill(problem: Frame, wish: Ints, rng: np.random.Generator, budget: Budget) -> Ints | None:
    """An ordering that keeps the constraints, lengths aside, close to one (n,) that need not."""
    place, filling = np.argsort(wish), _Filling(problem)
    for attempt in range(ATTEMPTS):
        noise = rng.normal(size=len(filling.head)) * len(wish) * attempt / ATTEMPTS
        order = filling.fill(place[filling.head] + noise, budget)
        if order is not None:
            return np.concatenate([problem.parts.members[unit] for unit in order]).astype(np.intp)
        if budget.over:
            break
    return None


class _Filling:
    """Positions filled one after the other; the first axis is that of the units."""

    def __init__(self, problem: Frame) -> None:
        parts, labels = problem.parts, problem.constraints.apart
        n = len(parts.of)
        self.problem, self.lengths, self.pinned = problem, parts.lengths, dict(problem.constraints.fixed)
        self.head = np.array([run[0] for run in parts.members])
        self.tail = np.array([run[-1] for run in parts.members])
        self.due = n - problem.starts[:, ::-1].argmax(axis=1) - 1 + parts.lengths  # the unit must be through by here
        self.by_due = np.argsort(self.due, kind="stable")
        carried = np.zeros(n, dtype=np.intp) - 1 if labels is None else labels.copy()
        carried[(np.bincount(carried + 1)[carried + 1] == 1) & (carried >= 0)] = -1  # who carries it alone meets none
        known, self.carried = np.unique(carried, return_inverse=True)
        self.carried = np.where(carried < 0, -1, self.carried)
        every = np.arange(len(known))
        starts = self.carried[self.head, np.newaxis] == every
        self.ends = self.carried[self.tail, np.newaxis] == every
        self.same = starts & self.ends  # (units, labels) the label at both ends
        self.other = ~starts & ~self.ends  # at neither end

    def fill(self, wish: Floats, budget: Budget) -> list[int] | None:
        """Units in order, or None when too many steps back were needed."""
        self.left = np.ones(len(wish), dtype=bool)
        self.ahead = self.problem.parts.earlier.sum(axis=0)  # how many units that must stand before it are left
        self.same_left, self.other_left = self.same.sum(axis=0), self.other.sum(axis=0)
        order: list[int] = []
        by_wish = np.argsort(wish, kind="stable")
        tried = [0]  # of those wished for, at each unit that stands and at the next
        steps, place, each = STEPS_BACK, 0, 25.0 + 0.1 * len(wish)
        while place < len(self.problem.parts.of):
            found = self._choose(by_wish, order, place, tried[-1])
            if found is None:
                tried.pop()
                steps -= 1
                if not tried or not steps or budget.over:
                    return None
                last = order.pop()
                self._take(last, -1)
                place -= int(self.lengths[last])
                continue
            unit, tried[-1] = found
            order.append(unit)
            budget.spend(each)
            self._take(unit, 1)
            place += int(self.lengths[unit])
            tried.append(0)
        return order

    def _take(self, unit: int, sign: int) -> None:
        """Take a unit away, or with sign -1 put it back."""
        self.left[unit] = sign < 0
        self.ahead[self.problem.parts.earlier[unit]] -= sign
        self.same_left[self.same[unit]] -= sign
        self.other_left[self.other[unit]] -= sign

    def _choose(self, by_wish: Ints, order: list[int], place: int, tried: int) -> tuple[int, int] | None:
        """The next unit that can stand here and leaves all others a position, and how many are tried then."""
        lengths, carried = self.lengths, self.carried
        ready = self.left & self.problem.starts[:, place] & (self.ahead == 0)
        if order and carried[self.tail[order[-1]]] >= 0:
            ready &= carried[self.head] != carried[self.tail[order[-1]]]
        waiting = self.by_due[self.left[self.by_due]]
        slack = self.due[waiting] - place - np.cumsum(lengths[waiting])
        if (slack < 0).any():
            return None
        least = np.concatenate([[self.problem.constraints.n], np.minimum.accumulate(slack)])
        rank = np.empty(len(by_wish), dtype=np.intp)
        rank[waiting] = np.arange(len(waiting))
        for number in (tried + np.flatnonzero(ready[by_wish[tried:]])).tolist():
            unit = int(by_wish[number])
            follower = self.pinned.get(place + int(lengths[unit]))
            meets = follower is not None and follower != self.head[unit]
            if meets and carried[self.tail[unit]] == carried[follower] >= 0:
                continue
            labelled = self.same_left - self.same[unit] <= self.other_left - self.other[unit] + ~self.ends[unit]
            if least[rank[unit]] >= lengths[unit] and labelled.all():
                return unit, number + 1
        return None


def rebalance(problem: Instance, ordering: Ints, rng: np.random.Generator, budget: Budget = UNLIMITED) -> Ints | None:
    """An ordering whose zones hold what they may, by swaps that each bring it nearer; None where that fails."""
    zone, inside, misses = problem.zone, np.flatnonzero(problem.zone >= 0), 0
    while problem.overload(ordering) > 0.0:
        if budget.over or misses > MISSES:
            return None
        loads = np.bincount(zone[inside], problem.lengths[ordering[inside]], len(problem.most)).astype(np.float64)
        off = (loads > problem.most) | (loads < problem.least)
        rows = rng.permutation(inside[off[zone[inside]]])[:ROWS]
        budget.spend(300.0 + 0.15 * len(rows) * len(inside))
        i, j = (part.ravel() for part in np.meshgrid(rows, inside, indexing="ij"))
        i, j = i[zone[i] != zone[j]], j[zone[i] != zone[j]]
        shift = problem.lengths[ordering[j]] - problem.lengths[ordering[i]]
        gain = _relief(loads, problem.least, problem.most, zone[i], zone[j], shift)
        helps = gain > 1e-9 * (1.0 + loads.max())
        i, j, gain = i[helps], j[helps], gain[helps]
        better = _relieve(problem, ordering, i, j, gain)
        misses = misses + 1 if better is None else 0
        ordering = ordering if better is None else better
    return ordering


def rebalance_ranks(
    values: Floats,
    lengths: Floats,
    targets: Floats,
    side: Ints,
    room: float,
    *,
    worst: float,
    budget: Budget = UNLIMITED,
) -> Ints | None:
    """Which item takes which rank so that no side holds more than its room; None where that was not found."""
    order, count = np.arange(len(values)), int(side.max()) + 1
    loads = np.bincount(side, lengths, count).astype(np.float64)
    least, most = np.zeros(count), np.full(count, room)
    first = np.repeat(np.arange(len(side)), REACH)
    near = first + np.tile(np.arange(1, REACH + 1), len(side))
    first, near = first[near < len(side)], near[near < len(side)]
    across = side[first] != side[near]  # ranks near each other on two sides
    first, near = first[across], near[across]

    def cost(item: Ints, rank: Ints) -> Floats:
        away = np.abs(values[item] - targets[rank])
        return away + WORSE * np.maximum(away - worst, 0.0)

    for _ in range(MOST_LOOKS):
        if (loads <= room).all():
            return order
        budget.spend(200.0 + 1.2 * REACH * len(values))
        if budget.over:
            return None
        full = loads[side] > room
        i, j = (ranks[full[first] | full[near]] for ranks in (first, near))
        shift = lengths[order[j]] - lengths[order[i]]
        gain = _relief(loads, least, most, side[i], side[j], shift)
        helps = gain > 1e-12 * room
        if not helps.any():
            return None
        i, j, gain = i[helps], j[helps], gain[helps]
        change = cost(order[i], j) + cost(order[j], i) - cost(order[i], i) - cost(order[j], j)
        for one, other in _cheapest(i, j, (change + 1e-9) / gain):
            moved = lengths[order[other]] - lengths[order[one]]
            after = loads.copy()
            after[[side[one], side[other]]] += moved, -moved
            if np.maximum(after - room, 0).sum() < np.maximum(loads - room, 0).sum():
                order[[one, other]] = order[[other, one]]
                loads = after
    return None


def _relief(loads: Floats, least: Floats, most: Floats, one: Ints, other: Ints, shift: Floats) -> Floats:
    """By how much less zones are off, in all, when the first gains ``shift`` from the other."""

    def off(load: Floats, zone: Ints) -> Floats:
        return np.maximum(load - most[zone], 0.0) + np.maximum(least[zone] - load, 0.0)

    mine, others = loads[one], loads[other]
    return off(mine, one) + off(others, other) - off(mine + shift, one) - off(others - shift, other)


def _relieve(problem: Instance, ordering: Ints, i: Ints, j: Ints, gain: Floats) -> Ints | None:
    """The ordering after the swaps that cost least for what they relieve; None where none relieves."""
    change = _swap_changes(problem, ordering, i, j)
    open_ = np.isfinite(change)
    if not open_.any():
        return None
    scale = 0.05 * float(np.abs(change[open_]).mean()) + 1e-12
    best, before = ordering, problem.overload(ordering)
    for one, other in _cheapest(i[open_], j[open_], (change[open_] + scale) / gain[open_]):
        trial = best.copy()
        trial[[one, other]] = best[[other, one]]
        after = problem.overload(trial)
        if after < before and np.isfinite(problem.value(trial)) and problem.in_order(np.argsort(trial)):
            best, before = trial, after
    return None if best is ordering else best


def _cheapest(i: Ints, j: Ints, ratio: Floats) -> list[tuple[int, int]]:
    """The pairs with the smallest ratios, no position in two."""
    first = np.argsort(ratio, kind="stable")[: 4 * AT_ONCE]
    pairs, used = list[tuple[int, int]](), set[int]()
    for one, other in zip(i[first].tolist(), j[first].tolist(), strict=True):
        if one not in used and other not in used and len(pairs) < AT_ONCE:
            pairs.append((one, other))
            used |= {one, other}
    return pairs


def _swap_changes(problem: Instance, ordering: Ints, i: Ints, j: Ints) -> Floats:
    """What it changes to swap positions i and j, which are no neighbours; infinite where it is not allowed."""
    n = len(ordering)
    framed = np.concatenate([ordering, [n]])
    link = problem.link
    total = np.zeros(len(i))
    for at, there in ((i, j), (j, i)):
        item, gone = ordering[there], ordering[at]
        total += problem.cost[item, at] - problem.cost[gone, at]
        for near, forth in ((framed[at - 1], False), (framed[at + 1], True)):
            real = near < n
            other = np.where(real, near, 0)
            new = link[item, other] if forth else link[other, item]
            old = link[gone, other] if forth else link[other, gone]
            total += np.where(real, new, 0.0) - np.where(real, old, 0.0)
    low, high = problem.reach(ordering)
    kept = (j <= high[i]) & (j >= low[i]) & (i <= high[j]) & (i >= low[j])
    return np.where(kept & (np.abs(i - j) > 1), total, np.inf)
