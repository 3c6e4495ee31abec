"""The best orderings of many collections of one length by tables of positions and flow, without constraints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arrays import Floats, Ints
from fabula.core.solver.problem import Goal
from fabula.core.solver.proof import assign, prove
from fabula.core.solver.solve import arrange
from fabula.errors import InputError

_TOGETHER = 300_000  # cells of flow at a time: what they need stays in the cache


@dataclass(frozen=True, eq=False)
class ArrangedMany:
    """Orderings (B, n) of B collections, what they cost (B,), whether none costs less (B,), and the gap (B,)."""

    orderings: Ints
    objective: Floats
    exact: NDArray[np.bool_]
    gap: Floats


def arrange_many(places: ArrayLike, flow: ArrayLike | None = None, *, seconds: float = 1.5) -> ArrangedMany:
    """The cheapest ordering of each of B collections of n items, as :func:`fabula.core.solver.arrange` finds one.

    Without flow it is an assignment each. With flow, a lower bound is raised for all at once, which settles many;
    of the others only those ways are followed that can lead to the best. It is exact wherever few enough are left:
    up to 18 items always, and mostly up to 30. Of more than 32, and of those left, an ordering is searched for.
    Where several orderings cost the same, any of them may come out; items that nothing tells apart keep their order.

    Parameters
    ----------
    places
        Shape (B, n, n), finite: what each item costs at each position.
    flow
        Shape (B, n, n), finite: the cost of an item (column) right after another (row).
    seconds
        How long to search for each ordering that is not found exactly.

    Examples
    --------
    >>> arrange_many([[[1.0, 0.0], [0.0, 1.0]]], [[[0.0, 0.0], [0.5, 0.0]]]).orderings
    array([[1, 0]])
    """
    table = _as_tables(places)
    count, n, _ = table.shape
    steps = np.zeros_like(table) if flow is None else _as_tables(flow)
    if steps.shape != table.shape:
        raise InputError(f"flow must have the shape of the tables of positions, {table.shape}; got {steps.shape}")
    found = ArrangedMany(np.zeros((count, n), np.intp), np.zeros(count), np.ones(count, bool), np.zeros(count))
    flowing = steps[:, ~np.eye(n, dtype=bool)].any() if n > 1 else False
    together = max(1, _TOGETHER // n**2)
    for at in range(0, count, together):
        some = slice(at, at + together)
        _arrange(found, some, table[some], steps[some] if flowing else None, seconds)
    _keep_order(found.orderings, table, steps)
    return found


def _arrange(found: ArrangedMany, some: slice, places: Floats, flow: Floats | None, seconds: float) -> None:
    """Fill in some collections."""
    if flow is None:
        orderings = assign(places)
        found.orderings[some], found.objective[some] = orderings, cost_of(places, None, orderings)
        return
    orderings, exact, _ = prove(places, flow)
    gap = np.zeros(len(places))
    for number in np.flatnonzero(~exact):
        one = arrange(Goal.table(places[number]), flow=flow[number], seconds=seconds)
        orderings[number], gap[number], exact[number] = one.ordering, one.gap, one.exact
    found.orderings[some], found.objective[some] = orderings, cost_of(places, flow, orderings)
    found.exact[some], found.gap[some] = exact, gap


def cost_of(places: Floats, flow: Floats | None, orderings: Ints) -> Floats:
    """What orderings (B, n) cost: shape (B,)."""
    count, n = orderings.shape
    b = np.arange(count)[:, np.newaxis]
    total = places[b, orderings, np.arange(n)].sum(axis=1)
    return np.asarray(total if flow is None else total + flow[b, orderings[:, :-1], orderings[:, 1:]].sum(axis=1))


def _keep_order(orderings: Ints, places: Floats, flow: Floats) -> None:
    """Let items that no table tells apart stand in the order in which they are listed, in place."""
    ranked = np.sort(places[:, :, 0], axis=1)
    for number in np.flatnonzero((ranked[:, 1:] == ranked[:, :-1]).any(axis=1)):
        place = np.argsort(orderings[number])
        for same in _alike(places[number], flow[number]):
            orderings[number, np.sort(place[same])] = same


def _alike(places: Floats, flow: Floats) -> list[list[int]]:
    """Items that may be exchanged without changing any table, in groups, each as listed."""
    groups: list[list[int]] = []
    for item in range(len(places)):
        own = next((group for group in groups if _exchangeable(places, flow, group[0], item)), None)
        if own is None:
            groups.append([item])
        else:
            own.append(item)
    return groups


def _exchangeable(places: Floats, flow: Floats, i: int, k: int) -> bool:
    """Whether the tables stay as they are when two items change places in them."""
    if not np.array_equal(places[i], places[k]):
        return False
    swapped = np.arange(len(places))
    swapped[[i, k]] = k, i
    changed = flow[np.ix_(swapped, swapped)] != flow
    np.fill_diagonal(changed, val=False)  # no item follows itself
    return not changed.any()


def _as_tables(given: ArrayLike) -> Floats:
    tables = np.asarray(given, dtype=np.float64)
    if tables.ndim != 3 or tables.shape[1] != tables.shape[2] or not tables.shape[1]:
        raise InputError(f"tables of many collections must have shape (B, n, n), n at least 1; got {tables.shape}")
    if not np.isfinite(tables).all():
        raise InputError("tables must be finite; they hold NaN or inf")
    return tables
