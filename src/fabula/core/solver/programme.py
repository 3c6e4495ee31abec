"""The bottleneck first: the largest deviation, then the sum; limits on deviations are tried from below.

Under a limit the smallest sum is an integer programme (HiGHS), with a variable for each unit at each position it may
start at. Each unit starts once, each position is taken once; ``before``, labels and lengths are further rows. The
linear relaxation is nearly always whole, so that the best ordering is found and proven at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.solver.instance import Instance
from fabula.core.solver.problem import Bools, Budget

MOST_VARIABLES = 9000
NODES = 100  # of branch and bound


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


Row = tuple[Ints, Floats | float, float, float]  # variables, their factors, and what they add up to: least, most


def programme(problem: Instance, budget: Budget) -> Programmed | None:
    """The ordering with the smallest sum of costs, links (0 or infinite) aside; None where it is too large."""
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
        return Programmed(None, bound, impossible=found.status == 2)
    ordering = np.full(len(problem.cost), -1, dtype=np.intp)
    for unit, start in np.argwhere(possible)[found.x > 0.5].tolist():
        run = problem.parts.members[unit]
        ordering[start : start + len(run)] = run
    return Programmed(ordering, bound, impossible=False)


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
    yield from _before_rows(problem, number)
    if problem.constraints.apart is not None:
        yield from _label_rows(problem, problem.constraints.apart, start, last, unit)
    length = np.array([problem.lengths[list(run)].sum() for run in problem.parts.members])[unit]
    for zone in range(len(problem.most)):
        if np.isfinite(problem.most[zone]) or problem.least[zone] > 0:
            inside = np.flatnonzero(problem.zone[start] == zone)
            yield inside, length[inside], float(problem.least[zone]), float(problem.most[zone])


def _before_rows(problem: Instance, number: Ints) -> Iterator[Row]:
    """At each position: the later unit starts up to there only if the earlier one started before."""
    for a, b in {(int(problem.parts.of[a]), int(problem.parts.of[b])) for a, b in problem.before.T}:
        for position in range(number.shape[1]):
            late, early = number[b, : position + 1], number[a, :position]
            late, early = late[late >= 0], early[early >= 0]
            if len(late):
                factors = np.repeat([1.0, -1.0], [len(late), len(early)])
                yield np.concatenate([late, early]), factors, -np.inf, 0.0


def _label_rows(problem: Instance, labels: Ints, start: Ints, last: Ints, unit: Ints) -> Iterator[Row]:
    """Of all units with a label, one at most ends at a position or starts at the next."""
    head, tail = (labels[[run[k] for run in problem.parts.members]][unit] for k in (0, -1))
    for label in range(int(labels.max()) + 1):
        for position in range(len(labels) - 1):
            meeting = ((tail == label) & (last == position)) | ((head == label) & (start == position + 1))
            if meeting.sum() > 1:
                yield np.flatnonzero(meeting), 1.0, -np.inf, 1.0
