"""Orderings drawn at random, each as often as a score of positions and of all pairs makes it likely.

Markov chains side by side (:mod:`fabula.core.sampling.walking`) start hot from random orderings and cool until they
walk by the score itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fabula.core.ordering import Ints
from fabula.core.sampling.scores import Scores
from fabula.core.sampling.walking import Walk

HOT = 6.0  # temperature at the start

Stop = Callable[[], bool]


def draw_orderings(
    scores: Scores,
    rng: np.random.Generator,
    *,
    chains: int = 24,
    cooling: int = 40,
    kept: int = 8,
    between: int = 5,
    stop: Stop = lambda: False,
) -> Ints:
    """Draw orderings from the distribution in which each has the exponential of its score.

    Parameters
    ----------
    scores
        Of n items.
    rng
        Makes the walks.
    chains
        Walks side by side.
    cooling
        Rounds until they walk by the score itself; a round takes every item out once, on average.
    kept, between
        Orderings kept of each chain, and the rounds between two of them.
    stop
        Whether to be content with what is drawn.

    Returns
    -------
    Shape (chains * kept, n), fewer where it was stopped.

    Examples
    --------
    >>> rising = Scores(np.outer(np.arange(4), np.arange(4)) * 1.0, np.zeros((4, 4, 4)))
    >>> drawn = draw_orderings(rising, np.random.default_rng(0), chains=8, cooling=5)
    >>> drawn.shape, bool((drawn[:, 3] == 3).mean() > 0.5)
    ((64, 4), True)
    """
    n = scores.n
    orders = np.argsort(rng.random((chains, n)), axis=1)
    if n < 2:
        return np.repeat(orders, kept, axis=0)
    walk = Walk([scores], chains)
    for turn in range(cooling):
        orders = walk.round(orders, HOT ** (1 - (turn + 1) / cooling), rng)
        if stop():
            break
    found: list[Ints] = []
    for _ in range(kept):
        for _ in range(between):
            orders = walk.round(orders, 1.0, rng)
        found.append(orders)
        if stop():
            break
    return np.concatenate(found)
