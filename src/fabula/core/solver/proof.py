"""What can be proved: the best orderings without constraints, many at once; and the best sum under constraints.

A path through the positions that need not hold each item once is found by dynamic programming in O(n^3). A price on
each item makes those held twice dearer and those left out cheaper, so that the cheapest path is a lower bound whatever
the prices (Lagrange; Held and Karp 1971). With that bound on what is to come, nearly all labels of Held and Karp's
programme, subsets of items with a last item, can be seen to be too dear and are never made. Collections are the last
axis, so that all are computed side by side; the labels that are left of all of them are one list.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Bools, Floats, Ints
from fabula.core.fit import assign_least, dual_prices, flow_prices
from fabula.core.solver.instance import Instance
from fabula.core.solver.problem import Budget, along

_ROUNDS, _MORE_ROUNDS, _FEW = 12, 60, 13  # of raising the prices; more where more than a few items make it worth it
_FIRST_STEP, _LAST_STEP = 1.4, 0.08  # as a part of what Polyak's step would be
NEVER = 1e30  # what it costs an item to follow itself


@dataclass(frozen=True, eq=False)
class Costs:
    """B problems of n items each: ``places`` (n, n, B) by position and item, ``steps`` (n, n, B) from item to item."""

    places: Floats
    steps: Floats

    @property
    def n(self) -> int:
        """How many items each has."""
        return len(self.places)

    def __len__(self) -> int:
        return int(self.places.shape[2])

    def only(self, which: Ints) -> "Costs":
        """Some of the problems."""
        return Costs(self.places[:, :, which], self.steps[:, :, which])

    def of(self, orderings: Ints) -> Floats:
        """What orderings (B, n) cost: shape (B,)."""
        b = np.arange(len(orderings))[:, np.newaxis]
        placed = self.places[np.arange(self.n), orderings, b].sum(axis=1)
        return np.asarray(placed + self.steps[orderings[:, :-1], orderings[:, 1:], b].sum(axis=1))


def to_go(costs: Costs, prices: Floats) -> Floats:
    """The cheapest way on behind each item at each position, by prices (n, B): shape (positions, items, B)."""
    out = np.zeros_like(costs.places)
    for position in range(costs.n - 2, -1, -1):
        behind = costs.places[position + 1] - prices + out[position + 1]
        np.min(costs.steps + behind, axis=1, out=out[position])
    return out


def raise_bounds(costs: Costs, orderings: Ints, prices: Floats) -> tuple[Floats, Floats, Ints, Floats]:
    """Bounds (B,) raised from prices (n, B) of items, beside the orderings (B, n) that are known.

    With the prices that gave them, the best orderings known then, and what these cost (B,).
    """
    n, count = costs.n, len(costs)
    best, chosen, orderings, upper = np.full(count, -np.inf), prices.copy(), orderings.copy(), costs.of(orderings)
    here, left = costs, np.arange(count)
    rounds = _ROUNDS if n <= _FEW else _MORE_ROUNDS
    for part in np.geomspace(_FIRST_STEP, _LAST_STEP, rounds).tolist():
        least, paths = _cheapest(here, prices)
        higher = least > best[left]
        best[left[higher]] = least[higher]
        chosen[:, left[higher]] = prices[:, higher]
        held = np.zeros((n, len(left)))
        np.add.at(held, (paths, np.arange(len(left))[:, np.newaxis]), 1.0)
        whole = (held == 1).all(axis=0)
        if whole.any():  # these paths are orderings: the best
            done = left[whole]
            orderings[done], best[done], upper[done] = paths[whole], least[whole], least[whole]
            kept = np.flatnonzero(~whole)
            here, left, prices, held, least = here.only(kept), left[kept], prices[:, kept], held[:, kept], least[kept]
        if not len(left):
            break
        missing = 1.0 - held
        step = part * (upper[left] - least) / (missing**2).sum(axis=0)
        prices = prices + step * missing
    return best, chosen, orderings, upper


def _cheapest(costs: Costs, prices: Floats) -> tuple[Floats, Ints]:
    """What the cheapest path costs, the prices taken back (B,), and the items along it (B, n)."""
    count, n = len(costs), costs.n
    after = to_go(costs, prices)
    every = np.arange(count)
    total = costs.places[0] - prices + after[0]
    item = total.argmin(axis=0)
    least = total[item, every] + prices.sum(axis=0)
    paths = np.empty((count, n), dtype=np.intp)
    paths[:, 0] = item
    for position in range(1, n):
        behind = costs.places[position] - prices + after[position]  # (items, B)
        item = (costs.steps[item, :, every].T + behind).argmin(axis=0)
        paths[:, position] = item
    return least, paths


# The best orderings of many collections, by dynamic programming over those subsets that can still lead to one.

_SLACK = 1e-9  # of rounding, beside what orderings cost


class Ways(NamedTuple):
    """Ways to lay the first items of a problem, one per row."""

    problem: Ints
    items: NDArray[np.int64]  # those laid, as bits
    last: Ints  # the last of them
    cost: Floats
    owed: Floats  # the prices of all others
    before: Ints  # the row, among the ways one item shorter, that each goes on from

    def take(self, rows: Ints) -> "Ways":
        """Some of the ways."""
        problem, items, last, cost, owed, before = self
        return Ways(problem[rows], items[rows], last[rows], cost[rows], owed[rows], before[rows])


def _follow(costs: Costs, prices: Floats, limit: Floats, most: int) -> tuple[Ints, Ints, Bools]:
    """The best ordering within a limit (B,) on ways of which at most so many are followed at a time."""
    count, n = len(costs), costs.n
    after = to_go(costs, prices)
    cut = np.zeros(count, dtype=bool)
    layers: list[Ways] = []
    nothing = np.zeros(count, dtype=np.intp)
    ways = Ways(np.arange(count), nothing, nothing, np.zeros(count), prices.sum(axis=0), nothing)
    for position in range(n):
        # each way with each item that it does not hold
        before, item = np.nonzero((ways.items[:, np.newaxis] >> np.arange(n)) & 1 == 0)
        problem = ways.problem[before]
        step = costs.steps[ways.last[before], item, problem] if position else 0.0
        cost = ways.cost[before] + step + costs.places[position, item, problem]
        owed = ways.owed[before] - prices[item, problem]
        ways = Ways(problem, ways.items[before] | np.int64(1) << item, item, cost, owed, before)
        least = ways.cost + after[position, ways.last, ways.problem] + ways.owed
        kept = np.flatnonzero(least <= limit[ways.problem])
        kept = kept[_keep_cheapest(ways.take(kept), n)]
        many = np.bincount(ways.problem[kept], minlength=count) > most
        if many.any():
            cut |= many
            kept = kept[_promising(ways.problem[kept], least[kept], most)]
        ways = ways.take(kept)
        layers.append(ways)
    at = best = _promising(ways.problem, ways.cost, 1)
    orderings = np.empty((len(best), n), dtype=np.intp)
    for position in range(n - 1, -1, -1):
        orderings[:, position], at = layers[position].last[at], layers[position].before[at]
    return ways.problem[best], orderings, cut


def _promising(problem: Ints, least: Floats, most: int) -> Ints:
    """Of each problem the ways that may turn out cheapest, so many of them at most."""
    order = np.lexsort((least, problem))
    starts = np.flatnonzero(np.diff(problem[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    return order[rank < most]


def _keep_cheapest(ways: Ways, n: int) -> Ints:
    """The cheapest of the ways that hold the same items and end with the same one."""
    key = ((ways.problem.astype(np.int64) << n) | ways.items) * n + ways.last
    order = np.lexsort((ways.cost, key))
    return order[np.flatnonzero(np.diff(key[order], prepend=-1))]


# The best orderings of collections of one length, where it can be proved that they are.

MOST_ITEMS = 32  # beyond which too many ways are left for it to be worth it
MANY, FEW = (24, 400, 20_000), (24, 400, 2_000)  # ways that are followed at a time


def prove(places: Floats, flow: Floats, ways: Sequence[int] = MANY) -> tuple[Ints, Bools, Floats]:
    """Good orderings (B, n) of B collections of n items, whether each is surely the best (B,), and bounds (B,).

    Mostly they are up to 30 items, and never of more than 32.
    ``places``, ``flow``: shape (B, n, n): what positions cost, and what items (columns) cost right after others (rows).
    ``ways``: how many beginnings are followed at a time, in turn, until none had to be left. Many take long.
    """
    n = places.shape[1]
    if n > MOST_ITEMS:
        return assign(places), np.zeros(len(places), dtype=bool), np.full(len(places), -np.inf)
    steps = np.where(np.eye(n, dtype=bool), NEVER if n > 1 else 0.0, flow)
    costs = Costs(np.ascontiguousarray(places.transpose(2, 1, 0)), np.ascontiguousarray(steps.transpose(1, 2, 0)))
    orderings, prices = flow_prices(places, np.where(np.eye(n, dtype=bool), 0.0, flow))
    least, prices, orderings, upper = raise_bounds(costs, orderings, np.ascontiguousarray(prices.T))
    slack = _SLACK * np.maximum(1.0, np.abs(upper))
    sure = upper - least <= slack
    for most in ways:
        left = np.flatnonzero(~sure)
        if not len(left):
            break
        here = costs.only(left)
        reached, found, cut = _follow(here, prices[:, left], upper[left] + slack[left], most)
        orderings[left[reached]], upper[left[reached]] = found, here.only(reached).of(found)
        sure[left[~cut]] = True
    return orderings, sure, least


def assign(places: Floats) -> Ints:
    """The cheapest ordering of each collection by positions (B, n, n) alone: shape (B, n)."""
    turned = places.transpose(0, 2, 1)  # (B, positions, items)
    return np.array([assign_least(table)[1] for table in turned], dtype=np.intp).reshape(places.shape[:2])


# The bottleneck first: the largest deviation, then the sum; limits on deviations are tried from below.

MOST_VARIABLES = 9000
NODES = 100  # of branch and bound


def coupling_bound(problem: Instance) -> float:
    """What runs and ``before`` add at least to the smallest sum over positions.

    Under the dual prices of the best assignment every other position costs extra; a run must pay for its best start, a
    pair for its best two positions in order. No item is counted twice.
    """
    _, item, place = (each[0] for each in dual_prices(problem.cost[np.newaxis]))
    extra = np.maximum(problem.cost - item[:, np.newaxis] - place, 0.0)  # (n, n)
    total, used = 0.0, np.zeros(len(item), dtype=bool)
    for run in problem.constraints.together:
        total += float(along(extra, run).sum(axis=0).min())
        used[list(run)] = True
    for a, b in problem.before.T:
        if not used[a] and not used[b]:
            total += float((np.minimum.accumulate(extra[a])[:-1] + extra[b, 1:]).min())
            used[[a, b]] = True
    return total


Row = tuple[Ints, Floats | float, float, float]  # variables, their factors, and what they add up to: least, most


def programme(problem: Instance, budget: Budget) -> tuple[Ints | None, float] | None:
    """The ordering with the smallest sum of costs, links (0 or infinite) aside, and a bound; None where too large.

    Where it is proven that there is no ordering, the bound is infinite.
    """
    from scipy.optimize import Bounds as Between, LinearConstraint, milp
    from scipy.sparse import csr_array

    cost = _unit_costs(problem)
    possible = np.isfinite(cost)
    budget.spend(2000.0 + (40.0 if problem.has_loads else 20.0) * possible.sum())
    if possible.sum() > MOST_VARIABLES or budget.over or not _has_rows(problem):
        return None
    if not possible.any(axis=1).all():
        return None, np.inf
    variables, factors, low, high = zip(*_rows(problem, possible), strict=True)
    row = np.repeat(np.arange(len(low)), [len(some) for some in variables])
    whole = [np.broadcast_to(factor, len(some)) for some, factor in zip(variables, factors, strict=True)]
    matrix = csr_array((np.concatenate(whole), (row, np.concatenate(variables))), shape=(len(low), int(possible.sum())))
    found = milp(
        cost[possible],
        constraints=LinearConstraint(matrix, low, high),
        bounds=Between(0, 1),
        integrality=np.ones(matrix.shape[1], dtype=np.int64),
        options={"node_limit": NODES, "mip_rel_gap": 0.0},
    )
    bound = -np.inf if found.mip_dual_bound is None else float(found.mip_dual_bound)
    if found.x is None:
        return None, np.inf if found.status == 2 else bound
    ordering = np.full(len(problem.cost), -1, dtype=np.intp)
    for unit, start in np.argwhere(possible)[found.x > 0.5].tolist():
        run = problem.parts.members[unit]
        ordering[start : start + len(run)] = run
    return ordering, bound


def _has_rows(problem: Instance) -> bool:
    """Whether labels and runs say which neighbours are barred: for any others there are no rows."""
    same, said = problem.constraints.same_label(), np.eye(len(problem.link), dtype=bool)
    said |= False if same is None else same
    for run in problem.constraints.together:
        said[list(run[:-1])] = True
        said[:, list(run[1:])] = True
    return bool((said | np.isfinite(problem.link)).all())


def _unit_costs(problem: Instance) -> Floats:
    """The cost of each unit by where it starts, shape (units, N); infinite where it cannot."""
    cost = np.full(problem.starts.shape, np.inf)
    for unit, run in enumerate(problem.parts.members):
        there = along(problem.cost, run).sum(axis=0)
        cost[unit, : len(there)] = there
    return np.where(problem.starts, cost, np.inf)


def _rows(problem: Instance, possible: Bools) -> Iterator[Row]:
    """Each unit starts once, each position is taken once, and what ``before``, labels and lengths ask for."""
    number = np.full(possible.shape, -1)
    number[possible] = np.arange(possible.sum())
    unit, start = np.nonzero(possible)
    for one in range(len(possible)):
        yield number[one, possible[one]], 1.0, 1.0, 1.0
    last = start + problem.parts.lengths[unit] - 1
    for position in range(possible.shape[1]):
        yield np.flatnonzero((start <= position) & (position <= last)), 1.0, 1.0, 1.0
    for a, b in {(int(problem.parts.of[a]), int(problem.parts.of[b])) for a, b in problem.before.T}:
        # the later unit starts up to a position only if the earlier started before
        for position in range(possible.shape[1]):
            late, early = number[b, : position + 1], number[a, :position]
            late, early = late[late >= 0], early[early >= 0]
            if len(late):
                factors = np.repeat([1.0, -1.0], [len(late), len(early)])
                yield np.concatenate([late, early]), factors, -np.inf, 0.0
    labels = problem.constraints.apart
    if labels is not None:
        head = labels[[run[0] for run in problem.parts.members]][unit]
        tail = labels[[run[-1] for run in problem.parts.members]][unit]
        for label, position in product(range(int(labels.max()) + 1), range(len(labels) - 1)):
            # of all units with a label, one at most ends at a position or starts at the next
            meeting = ((tail == label) & (last == position)) | ((head == label) & (start == position + 1))
            if meeting.sum() > 1:
                yield np.flatnonzero(meeting), 1.0, -np.inf, 1.0
    length = np.array([problem.lengths[list(run)].sum() for run in problem.parts.members])[unit]
    for zone in range(len(problem.most)):
        if np.isfinite(problem.most[zone]) or problem.least[zone] > 0:
            inside = np.flatnonzero(problem.zone[start] == zone)
            yield inside, length[inside], float(problem.least[zone]), float(problem.most[zone])
