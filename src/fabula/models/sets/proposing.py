"""Likely orderings from the tables of a set model: the likeliest, and others that open or close otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Literal, get_args

import numpy as np

from fabula.core.essence import Floats
from fabula.core.fit import Fit, lay
from fabula.core.solver.solve import Arrangement, Constraints, Goal, arrange
from fabula.core.template import Template, from_arc
from fabula.errors import ConflictError, InputError
from fabula.models.sets.agreement import MOST_EXPECTED, most_agreeing
from fabula.models.sets.posterior import posterior
from fabula.models.sets.tables import Tables

Rule = Literal["likeliest", "agreeing", "arcs"]  # what to propose first
RULES: tuple[Rule, ...] = get_args(Rule)
_SECONDS = 1.5  # to search in, where the items are too many to be solved


def likeliest(tables: Tables, constraints: Constraints | None = None, *, seconds: float = _SECONDS) -> Arrangement:
    """The likeliest ordering under constraints: exact up to 18 items, with a true gap beyond.

    Examples
    --------
    >>> likeliest(Tables(np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros((2, 2)))).ordering
    array([1, 0])
    """
    n = len(tables.positions)
    goal = Goal.table(n=n, whole=lambda m: -tables.at(m))
    return arrange(goal, constraints=constraints, flow=-tables.flow, seconds=seconds)


def by_rule(tables: Tables, rule: Rule, seconds: float = _SECONDS) -> Arrangement:
    """The likeliest ordering, the one expected to agree best with the true one, or the likeliest by positions alone.

    Of more than 200 items nothing is expected: then the likeliest.
    """
    if rule == "arcs":
        return likeliest(Tables(tables.positions, np.zeros_like(tables.flow)), seconds=seconds)
    if rule == "agreeing" and len(tables.positions) <= MOST_EXPECTED:
        return most_agreeing(posterior(tables.positions, tables.flow), seconds=seconds)
    return likeliest(tables, seconds=seconds)


def propose(
    tables: Tables, essence: Floats, alternatives: int = 4, fixed: Mapping[int, int] | None = None
) -> list[Fit]:
    """Likely orderings, likeliest first, distinct: those after the first open or close with other items.

    Parameters
    ----------
    tables
        Of n items on n positions.
    essence
        Shape (n, d), z-scored; each ordering's template is its own arc.
    alternatives
        How many to return at most, 1 or more.
    fixed
        position -> item; negative positions count from the end.
    """
    if alternatives < 1:
        raise InputError(f"alternatives must be at least 1; got {alternatives}")
    n = len(tables.positions)
    found = [likeliest(tables, Constraints(n, fixed=fixed))]
    for forbidden in _otherwise(found, n):
        if len(found) >= alternatives:
            break
        try:
            other = likeliest(tables, Constraints(n, fixed=fixed, forbidden=forbidden))
        except (ConflictError, InputError):
            continue  # what is fixed leaves no such ordering
        if not any(np.array_equal(other.ordering, known.ordering) for known in found):
            found.append(other)
    fits = [_as_fit(tables, essence, arrangement) for arrangement in found]
    return [fits[0], *sorted(fits[1:], key=lambda fit: -(fit.score or 0.0))]


def _otherwise(found: list[Arrangement], n: int) -> Iterator[list[tuple[int, int]]]:
    """What to forbid next: the openers, the closes, or both, of what has been found so far."""
    if n < 2:
        return
    for _, ends in product(range(n), ((0,), (-1,), (0, -1))):
        yield [(int(one.ordering[end]), end) for end in ends for one in found]


def _as_fit(tables: Tables, essence: Floats, found: Arrangement) -> Fit:
    """An arrangement laid on its own arc; a single item has none, and lies on a flat template."""
    flat = Template([0, 1], np.zeros((2, essence.shape[1])))
    template = from_arc(essence[found.ordering], name="own arc") if len(essence) > 1 else flat
    laid = lay(essence, found.ordering, template)
    return replace(laid, exact=found.exact, score=tables.score(found.ordering))
