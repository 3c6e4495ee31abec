"""Goals: what it costs an item to stand at a position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats, as_essence
from fabula.core.template import Template
from fabula.errors import InputError


@dataclass(frozen=True, eq=False)
class Goal:
    """What positions cost n items: deviations from a template, or tables by the position on a side and in the whole.

    Made by :meth:`template` or :meth:`table`; of a number of items alone, positions cost nothing.

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
    whole: Callable[[int], ArrayLike] | None = None

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
    def table(
        cls,
        function: Callable[[int], ArrayLike] | None = None,
        n: int | None = None,
        *,
        whole: Callable[[int], ArrayLike] | None = None,
    ) -> Goal:
        """Costs of any sign, a model's minus scores say: their sum counts alone.

        Parameters
        ----------
        function
            From a number of positions m, those of one side, to the costs (n, m) of each item there.
        n
            How many items there are; by default as many as a table has rows for.
        whole
            The same from the number of all positions, those of every side: each side has those where it stands.
        """
        known = function or whole
        if known is None:
            raise InputError("a goal needs a table by the position on a side, in the whole, or both")
        return cls(np.shape(known(1))[0] if n is None else n, function=function, whole=whole)

    @property
    def nothing(self) -> bool:
        """Whether positions cost nothing."""
        return self.follows is None and self.function is None and self.whole is None

    def costs(self, m: int) -> Floats:
        """The deviation, or the tables' cost, of each item at each of m positions that are all there are: (n, m)."""
        return self.alone(m) if self.whole is None else self.alone(m) + self.shared(m)

    def alone(self, m: int) -> Floats:
        """What counts of it by the position on a side of m, shape (n, m)."""
        if self.follows is not None:
            return distances(self.rows[:, np.newaxis], self.targets(m).reshape(1, m, -1))
        return np.zeros((self.n, m)) if self.function is None else self._checked(self.function, m)

    def shared(self, m: int) -> Floats:
        """What counts of it by the position in the whole of m, shape (n, m)."""
        return np.zeros((self.n, m)) if self.whole is None else self._checked(self.whole, m)

    def along(self, sizes: Sequence[int]) -> Floats:
        """The cost of each item at each position of sides that follow each other: shape (n, sum of sizes).

        Examples
        --------
        >>> Goal.table(whole=lambda m: np.arange(m)[np.newaxis]).along([2, 1])
        array([[0., 1., 2.]])
        """
        costs = np.concatenate([self.alone(size) for size in sizes], axis=1)
        return costs if self.whole is None else costs + self.shared(costs.shape[1])

    def _checked(self, table: Callable[[int], ArrayLike], m: int) -> Floats:
        costs = np.asarray(table(m), dtype=np.float64)
        if costs.shape != (self.n, m) or not np.isfinite(costs).all():
            raise InputError(f"a table for {m} positions must be finite, of shape ({self.n}, {m}); got {costs.shape}")
        return costs

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
        if self.nothing:
            return Goal(len(chosen))
        if self.follows is not None:
            return Goal(
                len(chosen), essence=None if self.essence is None else self.essence[chosen], follows=self.follows
            )
        whole = None if self.whole is None else lambda m: self.shared(m)[chosen]
        return Goal(len(chosen), function=lambda m: self.alone(m)[chosen], whole=whole)


def distances(rows: Floats, goals: Floats) -> Floats:
    """Euclidean distance over the last axis."""
    difference = rows - goals
    if difference.shape[-1] == 1:
        return np.abs(difference[..., 0])
    return np.asarray(np.sqrt((difference**2).sum(axis=-1)))
