"""Orderings drawn at random, each as often as a score of positions and of all pairs makes it likely.

Markov chains side by side. A turn takes an item out and puts it back where its conditional distribution says (Gibbs);
between turns stretches are turned round or moved, and taken as Metropolis and Hastings say. The chains start hot from
random orderings and cool until they walk by the score itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats
from fabula.core.ordering import Ints

HOT = 6.0  # temperature at the start
NEVER = -1e5  # score of what must not be

Stop = Callable[[], bool]


@dataclass(frozen=True, eq=False)
class Scores:
    """What orderings of n items score: ``sum_j at[o_j, j] + sum_j<k apart[k - j, o_j, o_k]``.

    Attributes
    ----------
    at
        Shape (n, n): item i at position j.
    apart
        Shape (n, n, n): item i standing d positions before item k, ``apart[d, i, k]``; d = 0 says nothing.

    Examples
    --------
    >>> scores = Scores(np.eye(3), np.zeros((3, 3, 3)))
    >>> scores.of(np.array([[0, 1, 2], [2, 1, 0]])).tolist()
    [3.0, 1.0]
    """

    at: Floats
    apart: Floats

    @property
    def n(self) -> int:
        """How many items there are."""
        return len(self.at)

    def of(self, orderings: Ints) -> Floats:
        """The score of each of some orderings, (r, n): shape (r,)."""
        n = self.n
        first, second = np.triu_indices(n, 1)
        here = ((second - first) * n + orderings[:, first]) * n + orderings[:, second]
        standing = self.at[orderings, np.arange(n)].sum(axis=1)
        return np.asarray(standing + self.apart.reshape(-1)[here].sum(axis=1))

    def taken(self, items: Ints) -> Scores:
        """The scores of the items in another order, (n,): item ``items[k]`` becomes item k."""
        return Scores(self.at[items], self.apart[:, items][:, :, items])

    def limited(self, allowed: NDArray[np.bool_], before: Ints) -> Scores:
        """The same where items may stand at some positions (n, n) alone, and the first of each pair (p, 2) before."""
        apart = self.apart.copy()
        apart[1:, before[:, 1], before[:, 0]] += NEVER
        return Scores(np.where(allowed, self.at, NEVER), apart)


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
    walk = Walk(scores)
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


class Walk:
    """Chains that walk by a score: what their steps look up."""

    def __init__(self, scores: Scores) -> None:
        n = scores.n
        self.scores, self.n = scores, n
        apart = scores.apart.astype(np.float32)
        further = np.zeros_like(apart)
        further[1:-1] = apart[2:] - apart[1:-1]  # what one position more between two items adds
        self.further = further.reshape(-1)
        # around[i, k, n - 1 + s]: item i with item k before it by s positions, or behind it by 1 - s
        self.around = np.zeros((n, n, 2 * n - 1), dtype=np.float32)
        self.around[:, :, n:] = apart[1:].transpose(2, 1, 0)
        self.around[:, :, : n - 1] = apart[:0:-1].transpose(1, 2, 0)[:, :, : n - 1]
        self.around[:, :, 1:n] = apart[:0:-1].transpose(1, 2, 0)
        k = np.arange(n - 1)
        self.gap = np.maximum(k - k[:, np.newaxis], 0) * (n * n)  # (n - 1, n - 1), 0 below the diagonal

    def round(self, orders: Ints, heat: float, rng: np.random.Generator) -> Ints:
        """Every item taken out once, on average; stretches turned and moved."""
        for turn in range(self.n):
            orders = self._put_back(orders, heat, rng)
            if turn % 3 == 0:
                orders = self._rearranged(orders, heat, rng)
        return orders

    def _put_back(self, orders: Ints, heat: float, rng: np.random.Generator) -> Ints:
        """One item of each chain taken out, and put where its conditional distribution says."""
        n, rows = self.n, np.arange(len(orders))
        out = rng.integers(0, n, len(orders))
        item = orders[rows, out]
        k = np.arange(n - 1)
        others = orders[rows[:, np.newaxis], k + (k >= out[:, np.newaxis])]  # (r, n - 1)
        score = self._by_position(item, others) / heat
        to = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
        k = np.arange(n)
        source = np.minimum(k - (k > to[:, np.newaxis]), n - 2)
        return np.where(k == to[:, np.newaxis], item[:, np.newaxis], others[rows[:, np.newaxis], source])

    def _by_position(self, item: Ints, others: Ints) -> Floats:
        """What the ordering scores with the item at each position, but for a constant: shape (r, n)."""
        n, at, k = self.n, self.scores.at, np.arange(self.n - 1)
        pairs = self.further.take(self.gap + (others * n)[:, :, np.newaxis] + others[:, np.newaxis], mode="clip")
        moved = pairs.sum(axis=2) - pairs.sum(axis=1)  # (r, n - 1): from behind the item to before it
        total = np.zeros((len(item), n))
        np.cumsum(moved + at[others, k] - at[others, k + 1], axis=1, out=total[:, 1:])
        near = self.around[item[:, np.newaxis], others]  # (r, n - 1, 2 n - 1)
        one, row, last = near.strides
        # the k-th of the others is seen from position p at p - k
        seen = np.lib.stride_tricks.as_strided(near[:, :, n - 1 :], (len(item), n - 1, n), (one, row - last, last))
        return np.asarray(total + seen.sum(axis=1) + at[item])

    def _rearranged(self, orders: Ints, heat: float, rng: np.random.Generator) -> Ints:
        """A stretch of each chain turned round, moved, or both; kept by Metropolis and Hastings."""
        n, r = self.n, len(orders)
        k = np.arange(n)
        ends = np.sort(rng.integers(0, n, (r, 2)), axis=1)
        whole = rng.random(r) < 0.1
        first, last = np.where(whole, 0, ends[:, 0])[:, np.newaxis], np.where(whole, n - 1, ends[:, 1])[:, np.newaxis]
        length = last - first + 1
        moves = (rng.random((r, 1)) < 0.5) & ~whole[:, np.newaxis]
        to = np.where(moves, rng.integers(0, n - length + 1), first)
        turned = ~moves | (rng.random((r, 1)) < 0.3)
        inside = (k >= to) & (k < to + length)
        within = np.where(turned, last - (k - to), first + (k - to))
        rest = k - np.where(k >= to, length, 0)  # number among those outside the stretch
        rest = np.where(k < to, k, rest)
        outside = np.where(rest < first, rest, rest + length)
        trial = np.take_along_axis(orders, np.where(inside, within, np.clip(outside, 0, n - 1)), axis=1)
        gained = (self.scores.of(trial) - self.scores.of(orders)) / heat
        taken = np.log(rng.random(r)) < gained
        return np.where(taken[:, np.newaxis], trial, orders)
