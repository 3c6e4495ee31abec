"""The canonical order of items: by what is known of them, so that the order in which they are listed has no say.

It decides between orderings that tie in every criterion. What the constraints ask for has no part in it, or a wish
that already holds could change the result; lengths have one only where they decide something anyway.
"""

from __future__ import annotations

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.goal import Goal
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

MOST_SORTED = 1000  # items beyond which rows of flow are added up as they are listed, but for rounding
DIGITS = 4


def canonical_order(goal: Goal, flow: Floats | None, constraints: Constraints) -> Ints:
    """The items by value, or by cost; then by flow; then by length; as they are listed where nothing tells them apart.

    Returns
    -------
    order : shape (n,), item indices.

    Examples
    --------
    >>> from fabula.core.template import Template
    >>> canonical_order(Goal.template([3, 1, 2, 1], Template([0, 1], [0, 1])), None, Constraints(4))
    array([1, 3, 2, 0])
    """
    known = np.zeros((goal.n, 0)) if goal.nothing else goal.costs(goal.n) if goal.follows is None else goal.rows
    keys = list((known + 0.0).T)
    if flow is not None and goal.n > MOST_SORTED:
        keys += [flow.sum(axis=axis, dtype=np.float64).round(DIGITS) for axis in (1, 0)]
    elif flow is not None:
        out, into = (np.sort(table, axis=1) for table in (_without_self(flow), _without_self(flow.T)))
        keys += [out.sum(axis=1), into.sum(axis=1), out[:, 0], into[:, 0]]
    if constraints.lengths is not None and not constraints.one_side:
        keys.append(constraints.lengths)
    return np.lexsort(keys[::-1]) if keys else np.arange(goal.n)


def _without_self(flow: Floats) -> Floats:
    """The flow to other items: shape (n, n - 1), or (1, 1) for one item."""
    n = len(flow)
    return flow[~np.eye(n, dtype=bool)].reshape(n, n - 1) if n > 1 else np.zeros((1, 1))


def renumbered(constraints: Constraints, order: Ints) -> Constraints:
    """The same constraints on items in another order: item ``order[k]`` becomes item k."""
    new = np.argsort(order).tolist()
    return Constraints(
        constraints.n,
        fixed={position: new[item] for position, item in constraints.fixed.items()},
        forbidden=[(new[item], position) for item, position in constraints.forbidden],
        together=[[new[item] for item in run] for run in constraints.together],
        before=[(new[a], new[b]) for a, b in constraints.before],
        apart=None if constraints.apart is None else constraints.apart[order],
        apart_soft=constraints.apart_soft,
        sides=constraints.sides,
        ends={where: new[item] for where, item in constraints.ends.items()},
        lengths=None if constraints.lengths is None else constraints.lengths[order],
        side_limit=constraints.side_limit,
        limit=constraints.limit,
    )
