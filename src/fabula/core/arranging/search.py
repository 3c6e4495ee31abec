"""Arranging: the best ordering under constraints, on sides and within limits, with costs between neighbours."""

from __future__ import annotations

import numpy as np

from fabula.core.arranging.arrangement import describe
from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.exact.solve import solve_exactly
from fabula.core.arranging.ranking import canonical_order, renumbered
from fabula.errors import InputError


def arrange(goal, *, constraints=None, flow=None, seed=0, seconds=1.5):
    kept = constraints or Constraints(goal.n)
    table = None if flow is None else np.asarray(flow, dtype=float)
    if table is not None and not table.any():
        table = None
    order = canonical_order(goal, table, kept)
    sol = solve_exactly(
        goal.taken(order), None if table is None else table[np.ix_(order, order)], renumbered(kept, order)
    )
    if sol is None:
        raise InputError("infeasible")
    return describe(goal, table, kept, order[sol[0]], sol[1])
