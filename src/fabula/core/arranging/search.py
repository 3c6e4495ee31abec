"""Arranging: the ordering that follows a template, keeps constraints and goes smoothly from item to item."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arranging import conflicts
from fabula.core.arranging.anneal import anneal
from fabula.core.arranging.bounds import coupling_bound, link_bound, path_bound, place_bound
from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.construct import construct
from fabula.core.arranging.descent import descend
from fabula.core.arranging.exhaustive import MOST_ITEMS, solve_exhaustively
from fabula.core.arranging.problem import Problem, problem
from fabula.core.essence import Floats, as_essence
from fabula.core.fit import Fit, fit, lay
from fabula.core.ordering import Ints
from fabula.core.template import Template
from fabula.errors import InputError

MOST_FOR_PATHS = 300  # beyond, paths cost more than they tell


@dataclass(frozen=True, eq=False)
class Arrangement:
    """An ordering found under constraints, and how far from the best it can be.

    Attributes
    ----------
    fit
        The essence laid on the template; ``fit.exact`` when no other ordering does better.
    objective
        Sum of deviations plus smoothness times the sum of transitions.
    bound
        No ordering under the constraints has a smaller objective.
    """

    fit: Fit
    objective: float
    bound: float

    @property
    def ordering(self) -> Ints:
        """Shape (n,), ``ordering[position] = item index``."""
        return self.fit.ordering

    @property
    def gap(self) -> float:
        """How much better another ordering could be at most."""
        return max(0.0, self.objective - self.bound)

    @property
    def relative_gap(self) -> float:
        """The gap as a part of the objective, its two terms taken as positive."""
        deviations = float(self.fit.deviations.sum())
        return self.gap / (deviations + abs(self.objective - deviations)) if self.gap else 0.0


def arrange(
    essence: ArrayLike,
    template: Template,
    *,
    constraints: Constraints | None = None,
    transitions: ArrayLike | None = None,
    smoothness: float = 0.0,
    seed: int = 0,
    seconds: float = 1.5,
) -> Arrangement:
    """Find an ordering that follows a template under constraints, with smooth or contrasting transitions.

    It makes ``sum_j |e[ordering[j]] - t(u_j)| + smoothness * sum_j transitions[ordering[j], ordering[j + 1]]`` small.
    Where items are only fixed or forbidden and there is no smoothness, it is :func:`fabula.core.fit.fit`: exact,
    and with the smallest largest deviation first, the smallest sum second. Up to 18 items it is exact by dynamic
    programming. Beyond, it searches for a set number of steps, so that the same arguments give the same ordering
    as long as ``seconds`` suffice; the bound tells how much better any other ordering could be.

    Parameters
    ----------
    essence
        Shape (n,) or (n, d), finite, on the template's scale.
    template
        With values of shape (knots,) or (knots, d).
    constraints
        What the ordering must keep.
    transitions
        Shape (n, n), finite, not negative: the distance from item i to item k when k follows i.
    smoothness
        Weight of the transitions; negative asks for contrast.
    seed
        Of the search.
    seconds
        How long to improve the ordering at most, once there is one.

    Raises
    ------
    ConflictError, ConstraintError
        When the constraints cannot all hold, naming those that take part.
    InputError
        On a malformed argument.

    Examples
    --------
    >>> rise = Template([0, 1], [-1, 1])
    >>> found = arrange([-1.0, 0.0, 1.0], rise, constraints=Constraints(3, before=[(2, 0)]))
    >>> found.ordering, found.objective, found.fit.exact
    (array([2, 1, 0]), 4.0, True)
    """
    values = as_essence(essence)
    n = len(values)
    kept = constraints or Constraints(n)
    if kept.n != n:
        raise InputError(f"the constraints are for {kept.n} items; got {n}")
    weights = _as_weights(transitions, smoothness, n)
    if kept.places_only and weights is None:
        return _by_places(values, template, kept)
    conflicts.check(kept)
    goals = lay(values, np.arange(n), template).targets.reshape(n, -1)
    rows = values.reshape(n, -1)
    posed = problem(np.sqrt(((rows[:, np.newaxis] - goals) ** 2).sum(axis=-1)), weights, kept)
    ordering, bound = solve(posed, seed=seed, seconds=seconds)
    objective = posed.value(ordering)
    found = lay(values, ordering, template)
    return Arrangement(replace(found, exact=objective <= bound + 1e-9), objective, min(bound, objective))


def solve(posed: Problem, *, seed: int, seconds: float) -> tuple[Ints, float]:
    """An ordering, the best one where the items are few, and a lower bound of the objective."""
    n = posed.constraints.n
    if n <= MOST_ITEMS:
        exact = solve_exhaustively(posed)
        if exact is None:
            raise conflicts.conflict(posed.constraints, _unsolvable, most=200 if n <= 12 else 20)
        return exact, posed.value(exact)
    rng = np.random.default_rng(seed)
    floor, wish = place_bound(posed.cost)
    ordering = construct(posed, wish, rng, until=time.monotonic() + 2 * seconds)
    if ordering is None:
        raise conflicts.told(posed.constraints, "no ordering was found that keeps all of these")
    start = time.monotonic()
    ordering = anneal(posed, ordering, rng, rounds=int(np.clip(150_000 / n, 300, 1500)), until=start + 0.55 * seconds)
    ordering = descend(posed, ordering, until=start + 0.9 * seconds)
    return ordering, _bound(posed, floor, wish, posed.value(ordering))


def _bound(posed: Problem, floor: float, wish: Ints, value: float) -> float:
    """The best lower bound that about half a second gives."""
    n = len(wish)
    bound = floor + coupling_bound(posed, wish) + link_bound(posed.link, rounds=int(np.clip(15_000 / n, 5, 100)))
    if bound >= value - 1e-9 or n > MOST_FOR_PATHS:
        return bound
    return max(bound, path_bound(posed, wish, value, rounds=int(np.clip(3e8 / n**3, 2, 200))))


def _unsolvable(constraints: Constraints) -> bool:
    n = constraints.n
    return (
        conflicts.contradictory(constraints) or solve_exhaustively(problem(np.zeros((n, n)), None, constraints)) is None
    )


def _by_places(values: Floats, template: Template, kept: Constraints) -> Arrangement:
    """The exact fit; its sum of deviations is the smallest there is where one number is laid on another."""
    found = fit(values, template, fixed=kept.fixed, forbidden=kept.forbidden)
    objective = float(found.deviations.sum())
    if values.ndim == 1 and not kept.forbidden:
        return Arrangement(found, objective, objective)
    n = len(values)
    rows, goals = values.reshape(n, -1), found.targets.reshape(n, -1)
    posed = problem(np.sqrt(((rows[:, np.newaxis] - goals) ** 2).sum(axis=-1)), None, kept)
    return Arrangement(found, objective, min(objective, place_bound(posed.cost)[0]))


def _as_weights(transitions: ArrayLike | None, smoothness: float, n: int) -> Floats | None:
    """Smoothness times transitions, shape (n, n); None for no smoothness."""
    if not np.isfinite(smoothness):
        raise InputError(f"smoothness must be a finite number; got {smoothness}")
    if smoothness and transitions is None:
        raise InputError(f"smoothness {smoothness:g} needs transitions: an array ({n}, {n}) of distances")
    if transitions is None:
        return None
    try:
        table = np.asarray(transitions, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("transitions must be numbers, one row and one column per item") from error
    if table.shape != (n, n):
        raise InputError(f"transitions must have shape ({n}, {n}), one row and one column per item; got {table.shape}")
    if not np.isfinite(table).all() or (table < 0).any():
        i, k = np.argwhere(~(np.isfinite(table) & (table >= 0)))[0]
        raise InputError(f"transitions must be finite and not negative; got {table[i, k]} from item {i} to item {k}")
    return smoothness * table if smoothness and n > 1 else None
