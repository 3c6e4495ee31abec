"""The bottleneck first: the largest deviation, then the sum; limits on deviations are tried from below.

Under a limit the smallest sum is an integer programme (HiGHS), with a variable for each unit at each position it may
start at. Each unit starts once, each position is taken once; ``before``, labels and lengths are further rows. The
linear relaxation is nearly always whole, so that the best ordering is found and proven at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats, Ints
from fabula.core.solver.anneal import anneal, descend
from fabula.core.solver.budget import Budget
from fabula.core.solver.construct import construct, rebalance
from fabula.core.solver.domains import Bools
from fabula.core.solver.instance import Instance, position_bound, run_worst
from fabula.core.solver.problem import Bounds

MOST_VARIABLES = 9000
NODES = 100  # of branch and bound
LATE = 300_000.0  # units for a first ordering, and for a last polish, whatever is left
TIE = 1e-7  # weight of squares beside the sum, to decide between orderings that tie


def least_worst(problem: Instance, floor: float, seed: int, budget: Budget) -> tuple[Ints, Bounds] | None:
    """An ordering with a small largest deviation and, under that, a small sum; and bounds of both.

    ``problem``: whose costs are deviations. ``floor``: no largest deviation is below it. ``seed``, ``budget``: of the
    search.
    """
    deviations = run_worst(problem)
    limits = np.unique(deviations[np.isfinite(deviations) & (deviations >= floor * (1 - 1e-12))])
    proven, at, step = True, 0, 1
    while at < len(limits):
        limit = float(limits[at])
        limited = _limit(problem, deviations <= limit)
        found = _smallest_sum(limited, seed, budget)
        if found.ordering is not None:
            return _polish(limited, found.ordering, budget), Bounds(found.bound, floor)
        proven &= found.impossible
        following = at + step
        if proven:  # what comes between is tried by the next round of smaller steps
            floor = float(limits[min(at + 1, len(limits) - 1)])
        if budget.over:
            following = max(following, (at + len(limits)) // 2 + 1)
        at, step = (len(limits) - 1 if at < len(limits) - 1 < following else following), 2 * step
    return None


def _limit(problem: Instance, allowed: Bools) -> Instance:
    """The problem in which items stand only where it is allowed (N, N)."""
    starts = problem.starts & allowed[[run[0] for run in problem.parts.members]]
    return replace(problem, cost=np.where(allowed, problem.cost, np.inf), starts=starts)


def _smallest_sum(problem: Instance, seed: int, budget: Budget) -> Programmed:
    """The smallest sum of costs: proven where the items are not too many, else searched for."""
    links = problem.link[np.isfinite(problem.link)]
    if not links.any():
        found = programme(problem, budget)
        if found is not None and (found.ordering is not None or found.impossible):
            return found
    try:
        floor, wish = position_bound(problem.cost)
    except ValueError:
        return Programmed(None, np.inf, impossible=True)
    rng, late = np.random.default_rng(seed), budget.extend(max(0.0, LATE - budget.left))
    ordering = construct(problem, wish, rng, late)
    ordering = None if ordering is None else rebalance(problem, ordering, rng, late)
    if ordering is None or not np.isfinite(problem.value(ordering)):
        return Programmed(None, floor, impossible=False)
    if problem.value(ordering) > floor * (1 + 1e-9):
        ordering = anneal(problem, ordering, rng, budget.part(0.7))
        ordering = descend(problem, ordering, budget)
    return Programmed(ordering, floor + coupling_bound(problem, wish), impossible=False)


def _polish(problem: Instance, ordering: Ints, budget: Budget) -> Ints:
    """Among orderings with the same sum, one with smaller squares."""
    scale = float(problem.cost[np.isfinite(problem.cost)].max(initial=0.0)) or 1.0
    squared = replace(problem, cost=problem.cost + TIE * problem.cost**2 / scale)
    return descend(squared, ordering, budget.extend(max(0.0, LATE - budget.left)))


def coupling_bound(problem: Instance, assigned: Ints) -> float:
    """What runs and ``before`` add at least to the smallest sum over positions, that of ``assigned`` (n,).

    Under the dual prices of the best assignment every other position costs extra; a run must pay for its best start, a
    pair for its best two positions in order. No item is counted twice.
    """
    price = _dual_prices(problem.cost, assigned)
    places = (problem.cost - price[:, np.newaxis])[assigned, np.arange(len(assigned))]
    extra = np.maximum(problem.cost - price[:, np.newaxis] - places, 0.0)  # (n, n)
    total, used = 0.0, np.zeros(len(assigned), dtype=bool)
    for run in problem.constraints.together:
        m = len(assigned) - len(run) + 1
        total += float(np.sum([extra[item, o : m + o] for o, item in enumerate(run)], axis=0).min())
        used[list(run)] = True
    for a, b in problem.before.T:
        if not used[a] and not used[b]:
            total += float((np.minimum.accumulate(extra[a])[:-1] + extra[b, 1:]).min())
            used[[a, b]] = True
    return total


def _dual_prices(cost: Floats, assigned: Ints) -> Floats:
    """Dual prices of the items under the best assignment, by shortest paths of exchanges."""
    worth = cost[:, np.argsort(assigned)].T - cost[assigned, np.arange(len(cost))][np.argsort(assigned), np.newaxis]
    price = np.zeros(len(cost))
    for _ in range(len(cost)):
        lower = np.minimum(price, (price[:, np.newaxis] + worth).min(axis=0))
        if np.allclose(lower, price, rtol=0, atol=1e-12):
            break
        price = lower
    return price


@dataclass(frozen=True, eq=False)
class Programmed:
    """What came out: an ordering or None, a lower bound of the sum, and whether there is proven to be no ordering."""

    ordering: Ints | None
    bound: float
    impossible: bool


class _Rows:
    """Rows of a sparse matrix, each with its bounds."""

    def __init__(self) -> None:
        self.variables: list[NDArray[np.intp]] = []
        self.factors: list[Floats] = []
        self.low: list[float] = []
        self.high: list[float] = []

    def add(self, variables: NDArray[np.intp], factors: Floats | float, low: float, high: float) -> None:
        self.variables.append(variables)
        self.factors.append(np.broadcast_to(factors, variables.shape).astype(np.float64))
        self.low.append(low)
        self.high.append(high)


def programme(problem: Instance, budget: Budget) -> Programmed | None:
    """The ordering with the smallest sum of costs, links aside; None where there are too many variables.

    ``problem``: whose links are 0 or infinite. ``budget``: of which it takes a part by how many variables there are;
    the solver stops by nodes, not by time.
    """
    from scipy.optimize import Bounds as Between
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import csr_array

    cost = _unit_costs(problem)
    possible = np.isfinite(cost)
    budget.spend(2000.0 + (40.0 if problem.has_loads else 20.0) * possible.sum())
    if possible.sum() > MOST_VARIABLES or budget.over or not _has_rows(problem):
        return None
    if not possible.any(axis=1).all():
        return Programmed(None, np.inf, impossible=True)
    rows = _rows(problem, possible)
    row = np.repeat(np.arange(len(rows.low)), [len(v) for v in rows.variables])
    entries = np.concatenate(rows.factors), (row, np.concatenate(rows.variables))
    matrix = csr_array(entries, shape=(len(rows.low), int(possible.sum())))
    found = milp(
        cost[possible],
        constraints=LinearConstraint(matrix, rows.low, rows.high),
        bounds=Between(0, 1),
        integrality=np.ones(matrix.shape[1], dtype=np.int64),
        options={"node_limit": NODES, "mip_rel_gap": 0.0},
    )
    bound = -np.inf if found.mip_dual_bound is None else float(found.mip_dual_bound)
    if found.x is None:
        return Programmed(None, bound, impossible=found.status == 2)
    return Programmed(_ordering(problem, possible, found.x), bound, impossible=False)


def _has_rows(problem: Instance) -> bool:
    """Whether labels and runs say which neighbours are barred: for any others there are no rows."""
    labels, n = problem.constraints.apart, len(problem.link)
    said = np.eye(n, dtype=bool)
    if labels is not None:
        said |= (labels[:, np.newaxis] == labels) & (labels >= 0)
    for run in problem.constraints.together:
        said[list(run[:-1])] = True
        said[:, list(run[1:])] = True
    return bool((said | np.isfinite(problem.link)).all())


def _unit_costs(problem: Instance) -> Floats:
    """The cost of each unit by where it starts, shape (units, N); infinite where it cannot."""
    n = len(problem.cost)
    cost = np.full((len(problem.parts.members), n), np.inf)
    for unit, run in enumerate(problem.parts.members):
        last = n - len(run) + 1
        cost[unit, :last] = sum(problem.cost[item, o : last + o] for o, item in enumerate(run))
    return np.where(problem.starts, cost, np.inf)


def _rows(problem: Instance, possible: Bools) -> _Rows:
    number = np.full(possible.shape, -1)
    number[possible] = np.arange(possible.sum())
    unit, start = np.nonzero(possible)
    rows = _Rows()
    for one in range(len(possible)):
        rows.add(number[one, possible[one]], 1.0, 1.0, 1.0)
    last = start + problem.parts.lengths[unit] - 1
    for position in range(possible.shape[1]):
        rows.add(np.flatnonzero((start <= position) & (position <= last)), 1.0, 1.0, 1.0)
    _add_before(problem, number, rows)
    _add_labels(problem, start, last, unit, rows)
    _add_lengths(problem, start, last, unit, rows)
    return rows


def _add_before(problem: Instance, number: NDArray[np.intp], rows: _Rows) -> None:
    """At each position: the later unit starts up to there only if the earlier one started before."""
    for a, b in {(int(problem.parts.of[a]), int(problem.parts.of[b])) for a, b in problem.before.T}:
        for position in range(number.shape[1]):
            late, early = number[b, : position + 1], number[a, :position]
            late, early = late[late >= 0], early[early >= 0]
            if len(late):
                factors = np.repeat([1.0, -1.0], [len(late), len(early)])
                rows.add(np.concatenate([late, early]), factors, -np.inf, 0.0)


def _add_labels(problem: Instance, start: Ints, last: Ints, unit: Ints, rows: _Rows) -> None:
    """Of all units with a label, one at most ends at a position or starts at the next."""
    labels = problem.constraints.apart
    if labels is None:
        return
    head, tail = (labels[[run[k] for run in problem.parts.members]][unit] for k in (0, -1))
    for label in range(int(labels.max()) + 1):
        for position in range(len(labels) - 1):
            meeting = ((tail == label) & (last == position)) | ((head == label) & (start == position + 1))
            if meeting.sum() > 1:
                rows.add(np.flatnonzero(meeting), 1.0, -np.inf, 1.0)


def _add_lengths(problem: Instance, start: Ints, last: Ints, unit: Ints, rows: _Rows) -> None:
    """What each zone holds."""
    length = np.array([problem.lengths[list(run)].sum() for run in problem.parts.members])[unit]
    for zone in range(len(problem.most)):
        if np.isfinite(problem.most[zone]) or problem.least[zone] > 0:
            inside = np.flatnonzero(problem.zone[start] == zone)
            rows.add(inside, length[inside], float(problem.least[zone]), float(problem.most[zone]))


def _ordering(problem: Instance, possible: Bools, chosen: Iterable[float]) -> Ints:
    unit, start = np.nonzero(possible)
    taken = np.flatnonzero(np.asarray(chosen) > 0.5)
    ordering = np.full(len(problem.cost), -1, dtype=np.intp)
    for one in taken:
        run = problem.parts.members[unit[one]]
        ordering[start[one] : start[one] + len(run)] = run
    return ordering
