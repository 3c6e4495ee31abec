"""Balance: sides that hold too much made to hold what they may, at the least cost."""

from __future__ import annotations

import numpy as np

from fabula.core.arranging.local.moves import here, swap_changes
from fabula.core.arranging.local.problem import Problem
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

MOST_SWAPS = 300


def balance(problem: Problem, ordering: Ints) -> Ints | None:
    """An ordering whose zones hold what they may, by swaps that each bring it nearer; None where that fails.

    Parameters
    ----------
    problem
        The costs.
    ordering
        Shape (N,), keeps everything but the lengths.
    """
    for _ in range(MOST_SWAPS):
        over = problem.overload(ordering)
        if over == 0.0:
            return ordering
        change = swap_changes(here(problem, ordering))
        after = _overload_after(problem, ordering)
        after[~np.isfinite(change)] = np.inf
        gain = over - after
        if not (gain > 1e-12 * over).any():
            return None
        worth = np.where(gain > 1e-12 * over, (change + _scale(change)) / np.maximum(gain, 1e-300), np.inf)
        i, j = np.unravel_index(int(worth.argmin()), worth.shape)
        ordering = ordering.copy()
        ordering[[i, j]] = ordering[[j, i]]
    return None


def _scale(change: Floats) -> float:
    """What makes every change positive, and large gains worth more than small ones."""
    finite = change[np.isfinite(change)]
    return float(np.abs(finite).max(initial=0.0)) + 1e-9


def _overload_after(problem: Problem, ordering: Ints) -> Floats:
    """How far zones are off after each swap of two positions: shape (N, N)."""
    zone, length = problem.zone, problem.lengths[ordering]
    count = len(problem.most)
    loads = np.bincount(zone[zone >= 0], length[zone >= 0], count)
    shift = length[np.newaxis] - length[:, np.newaxis]  # what the zone of i gains when j's item comes
    total = np.zeros(shift.shape)
    for side in range(count):
        mine, other = (zone == side)[:, np.newaxis], (zone == side)[np.newaxis]
        load = loads[side] + np.where(mine & ~other, shift, 0.0) - np.where(other & ~mine, shift, 0.0)
        total += np.maximum(load - problem.most[side], 0) + np.maximum(problem.least[side] - load, 0)
    return total
