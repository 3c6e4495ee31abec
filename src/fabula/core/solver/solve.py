"""Arranging: the best ordering under constraints, on sides and within limits, with costs between neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats
from fabula.core.fit import fit
from fabula.core.solver import conflicts
from fabula.core.solver.constraints import Constraints
from fabula.core.solver.exact import MOST_UNITS, solve_exactly
from fabula.core.solver.problem import Arrangement, Goal, Problem, canonical_order, describe
from fabula.core.solver.search import search
from fabula.errors import InputError


def arrange(
    goal: Goal,
    *,
    constraints: Constraints | None = None,
    flow: ArrayLike | None = None,
    seed: int = 0,
    seconds: float = 1.5,
) -> Arrangement:
    """Find the best ordering under constraints.

    What is minimised, in this order: the items left out for the limit; the neighbours that are alike, where
    ``apart_soft`` permits any; then, for a template, the largest deviation and the sum of deviations; for a template
    with flow, the sum of squared deviations plus flow; for a table, the sum of its costs plus flow. What still ties
    is decided by the squares of deviations, then by the order of the values; items that nothing tells apart keep their
    order. So the best ordering is one, and a constraint that it keeps already does not change it.

    Up to 18 items, runs counted as one, it is the best, by dynamic programming; with any number of items too where
    they are fixed or forbidden at positions alone, and mostly up to 32 where flow counts and there are no constraints.
    Beyond that it is searched for, with an amount of work that depends on the arguments alone and not on the clock;
    then ``gap`` tells how far it can be from the best. There, if the ordering found without the constraints on single
    items keeps them all, it is that one.

    Parameters
    ----------
    goal
        What positions cost the n items.
    constraints
        What must be kept.
    flow
        Shape (n, n), finite, of any sign: the cost of item k right after item i on the same side.
    seed
        Of the search.
    seconds
        How much to search: what so many seconds do on one core of a usual machine. The same number gives the same
        ordering on any machine and under any load.

    Raises
    ------
    ConflictError
        When the constraints cannot all hold, naming those that take part.
    InputError
        On a malformed argument.

    Examples
    --------
    >>> from fabula.core.template import Template
    >>> goal = Goal.template([-1.0, 0.0, 1.0], Template([0, 1], [-1, 1]))
    >>> found = arrange(goal, constraints=Constraints(3, before=[(2, 0)]))
    >>> found.ordering, found.worst, found.exact
    (array([1, 2, 0]), 2.0, True)
    >>> arrange(goal, constraints=Constraints(3, sides=3)).sides
    (1, 1, 1)
    """
    kept = constraints or Constraints(goal.n)
    if kept.n != goal.n:
        raise InputError(f"the constraints are for {kept.n} items; got {goal.n}")
    table = _as_flow(flow, goal.n)
    conflicts.check(kept)
    if table is None and kept.positions_only and goal.follows is not None:
        plain = not kept.forbidden and goal.rows.shape[1] == 1
        if plain or goal.n > MOST_UNITS:
            return _by_position(goal, kept)
    order = canonical_order(goal, table, kept)
    problem = Problem(goal, table, kept).take(order)
    if problem is None:
        raise RuntimeError("constraints on all items hold in any order")
    if goal.n - sum(len(run) - 1 for run in kept.together) <= MOST_UNITS:
        exact = solve_exactly(problem)
        if exact is None:
            raise conflicts.unsolvable(kept)
        return describe(goal, table, kept, order[exact[0]], exact[1])
    found = search(problem, seed, seconds)
    if found is None:
        raise conflicts.not_found(kept, _side_limit_that_works(kept, seed))
    ordering, sides, bounds = found
    return describe(goal, table, kept, order[ordering], sides, bounds)


def _side_limit_that_works(kept: Constraints, seed: int) -> float | None:
    """The longest side of an ordering found without a side limit, on sides as even as they can be."""
    if kept.side_limit is None:
        return None
    found = search(Problem(Goal(kept.n), None, replace(kept, side_limit=None)), seed, seconds=0.5)
    if found is None:
        return None
    sizes = found[1] or (len(found[0]),)
    return float(np.bincount(np.repeat(np.arange(len(sizes)), sizes), kept.weights[found[0]]).max())


def _by_position(goal: Goal, kept: Constraints) -> Arrangement:
    """The exact fit, where items are judged by their positions alone."""
    if goal.follows is None:
        raise InputError("a goal given as a table has no template to fit")
    fixed = {position % goal.n: item for position, item in kept.fixed.items()}
    laid = fit(goal.rows, goal.follows, fixed=fixed, forbidden=kept.forbidden, ties="given")
    return Arrangement(
        laid.ordering,
        np.empty(0, dtype=np.intp),
        (),
        laid.targets,
        laid.deviations,
        objective=float(laid.deviations.sum()),
        bound=float(laid.deviations.sum()),
        gap=0.0,
        exact=True,
    )


def _as_flow(flow: ArrayLike | None, n: int) -> Floats | None:
    """Check the costs between neighbours; None where they are all zero."""
    if flow is None:
        return None
    try:
        given = np.asarray(flow)
        single = given.dtype == np.float32
        plain = single and given.shape == (n, n) and not given.diagonal().any()  # of very many items, no copy is made
        table = cast(Floats, given if plain else given.astype(np.float32 if single else np.float64))
    except (TypeError, ValueError) as error:
        raise InputError("flow must be numbers, one row and one column per item") from error
    if table.shape != (n, n):
        raise InputError(f"flow must have shape ({n}, {n}), one row and one column per item; got {table.shape}")
    if not plain:
        np.fill_diagonal(table, 0.0)  # no item follows itself
    if not all(np.isfinite(row).all() for row in table):
        i, k = np.argwhere(~np.isfinite(table))[0]
        raise InputError(f"flow must be finite; got {table[i, k]} from item {i} to item {k}")
    return table if table.any() else None
