"""Goals: what it costs an item to stand at a position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats, as_essence
from fabula.core.template import Template
from fabula.errors import InputError


@dataclass(frozen=True, eq=False)
class Goal:
    """What positions cost n items: deviations from a template, or a table.

    Made by :meth:`template` or :meth:`table`.

    Examples
    --------
    >>> goal = Goal.template([0.5, 2.0], Template([0, 1], [0, 1]))
    >>> goal.costs(2)
    array([[0.5, 0.5],
           [2. , 1. ]])
    """

    n: int
    essence: Floats | None = None
    follows: Template | None = None
    function: Callable[[int], ArrayLike] | None = None

    @classmethod
    def template(cls, essence: ArrayLike, template: Template) -> Goal:
        """Deviations from a template: the largest one counts first, their sum second.

        Parameters
        ----------
        essence
            Shape (n,) or (n, d), finite, on the template's scale.
        template
            With values of shape (knots,) or (knots, d). Each side follows it from its beginning to its end.
        """
        values = as_essence(essence)
        if values.shape[1:] != template.values.shape[1:]:
            dimensions = 1 if values.ndim == 1 else values.shape[1]
            raise InputError(
                f"essence has {dimensions} dimension(s), template has {template.dimensions}: they must agree"
            )
        return cls(len(values), essence=values, follows=template)

    @classmethod
    def table(cls, function: Callable[[int], ArrayLike], n: int | None = None) -> Goal:
        """Costs of any sign, a model's minus scores say: their sum counts alone.

        Parameters
        ----------
        function
            From a number of positions m, those of one side, to the costs (n, m) of each item there.
        n
            How many items there are; by default as many as the function has rows for.
        """
        return cls(np.shape(function(1))[0] if n is None else n, function=function)

    def costs(self, m: int) -> Floats:
        """The deviation, or the table's cost, of each item at each of m positions: shape (n, m)."""
        if self.function is not None:
            costs = np.asarray(self.function(m), dtype=np.float64)
            if costs.shape != (self.n, m) or not np.isfinite(costs).all():
                raise InputError(
                    f"a table for {m} positions must be finite, of shape ({self.n}, {m}); got {costs.shape}"
                )
            return costs
        return distances(self.rows[:, np.newaxis], self.targets(m).reshape(1, m, -1))

    @property
    def rows(self) -> Floats:
        """The essence of each item, shape (n, d)."""
        if self.essence is None:
            raise InputError("a goal given as a table has no essence")
        return self.essence.reshape(self.n, -1)

    def targets(self, m: int) -> Floats:
        """The template at each of m positions: shape (m,) or (m, d)."""
        if self.follows is None:
            raise InputError("a goal given as a table has no targets")
        return self.follows.samples(m)

    def taken(self, items: ArrayLike) -> Goal:
        """The goal of some items, in the order they are named."""
        chosen = np.asarray(items, dtype=np.intp)
        if self.function is None:
            return Goal(
                len(chosen), essence=None if self.essence is None else self.essence[chosen], follows=self.follows
            )
        return Goal(len(chosen), function=lambda m: self.costs(m)[chosen])


def distances(rows: Floats, goals: Floats) -> Floats:
    """Euclidean distance over the last axis."""
    difference = rows - goals
    if difference.shape[-1] == 1:
        return np.abs(difference[..., 0])
    return np.asarray(np.sqrt((difference**2).sum(axis=-1)))
