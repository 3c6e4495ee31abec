"""The search for an ordering as two tables of costs, in which what must not be is infinite."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fabula.core.arranging.conflicts import item_places
from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.units import Bools, Units, allowed_starts, units
from fabula.core.essence import Floats
from fabula.core.ordering import Ints


@dataclass(frozen=True, eq=False)
class Problem:
    """Find the ordering with the smallest sum of ``cost`` over places and ``link`` over neighbours.

    Attributes
    ----------
    constraints
        What the ordering must keep.
    cost
        Shape (n, n): item i at position j; infinite where it cannot stand.
    link
        Shape (n, n): item i right before item k; infinite where they must not be neighbours in this order.
    before
        Shape (2, p): each item of the first row stands before the one of the second.
    parts, starts
        The units, and where each may start.
    """

    constraints: Constraints
    cost: Floats
    link: Floats
    before: Ints
    parts: Units
    starts: Bools

    def value(self, ordering: Ints) -> float:
        """The objective; infinite when a constraint other than ``before`` is broken."""
        places = self.cost[ordering, np.arange(len(ordering))].sum()
        return float(places + self.link[ordering[:-1], ordering[1:]].sum())

    def in_order(self, place: Ints) -> bool:
        """Whether ``before`` holds, given the place of each item."""
        return bool((place[self.before[0]] < place[self.before[1]]).all())


def problem(deviations: Floats, weights: Floats | None, constraints: Constraints) -> Problem:
    """Put the constraints into the tables.

    Parameters
    ----------
    deviations
        Shape (n, n), finite: item i at position j.
    weights
        Shape (n, n), finite: item i right before item k; None for zero.
    constraints
        Without a contradiction.
    """
    n = constraints.n
    parts = units(constraints)
    starts = allowed_starts(constraints, parts)
    cost = np.where(item_places(parts, starts), deviations, np.inf)
    link = np.zeros((n, n)) if weights is None else np.array(weights, dtype=np.float64)
    for run in constraints.together:
        for a, b in pairwise(run):
            kept = link[a, b]
            link[a], link[:, b] = np.inf, np.inf
            link[a, b] = kept
    if constraints.apart is not None:
        labels = constraints.apart
        link[(labels[:, np.newaxis] == labels) & (labels >= 0)] = np.inf
    np.fill_diagonal(link, np.inf)
    pairs = [(a, b) for a, b in constraints.before if parts.of[a] != parts.of[b]]  # a run keeps its own order
    before = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return Problem(constraints, cost, link, before, parts, starts)
