"""Agreement: how well an ordering can be expected to agree with the true one, as tables the solver takes.

Four things are counted: Spearman's rank correlation with the true order, whether the true opener comes first, whether
the true close comes last, and, twice, the share of true neighbours kept. Over the orderings that a model finds likely,
all four are sums over positions and neighbours. The ordering with the largest sum is the guess with the least risk
(Bayes); the likeliest ordering is the best guess only for one who counts nothing but the whole of it.
"""

from __future__ import annotations

import numpy as np

from fabula.core.essence import Floats
from fabula.core.solver.solve import Arrangement, Constraints, Goal, arrange
from fabula.models.sets.posterior import Posterior

NEIGHBOURS = 2.0  # what neighbours kept count for: with less, parts of one thing are torn apart
MOST_EXPECTED = 200  # items, beyond which too few orderings can be drawn to expect anything of them


def position_agreement(expected: Posterior, count: int | None = None) -> Floats:
    """What each item adds at each of ``count`` positions, by default one per item: shape (n, count).

    The squared distance from where the item is expected, as it lowers Spearman's rho, and at the ends how likely it is
    the opener and the close. Times n, so that it weighs as much as a model's scores and squared deviations do.

    Examples
    --------
    >>> sure = Posterior(np.eye(3), np.eye(3, k=1))
    >>> (position_agreement(sure).round(1) + 0.0).tolist()
    [[3.0, -0.8, -3.0], [-0.8, 0.0, -0.8], [-3.0, -0.8, 3.0]]
    """
    n = len(expected.positions)
    m = n if count is None else count
    place = expected.positions @ np.arange(n) / max(n - 1, 1) * (m - 1)
    far = (np.arange(m) - place[:, np.newaxis]) ** 2
    table = -far * 6.0 / max(m * (m**2 - 1), 1)
    table[:, 0] += expected.positions[:, 0]
    table[:, -1] += expected.positions[:, -1]
    return n * table


def neighbour_agreement(expected: Posterior) -> Floats:
    """What each item adds right before each other, times n: shape (n, n)."""
    n = len(expected.neighbours)
    return expected.neighbours * (NEIGHBOURS * n / max(n - 1, 1))


def most_agreeing(expected: Posterior, constraints: Constraints | None = None, *, seconds: float = 1.5) -> Arrangement:
    """The ordering that can be expected to agree best with the true one: exact up to 18 items, with a true gap beyond.

    Examples
    --------
    >>> most_agreeing(Posterior(np.array([[0.2, 0.8], [0.8, 0.2]]), np.array([[0.0, 0.2], [0.8, 0.0]]))).ordering
    array([1, 0])
    """
    goal = Goal.table(n=len(expected.positions), whole=lambda m: -position_agreement(expected, m))
    return arrange(goal, constraints=constraints, flow=-neighbour_agreement(expected), seconds=seconds)
