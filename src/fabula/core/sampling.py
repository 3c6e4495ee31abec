"""Orderings drawn at random, each as often as an energy makes it likely: Markov chains side by side.

A turn takes an item out and puts it back where its conditional distribution says (Gibbs); between turns stretches are
turned round or moved, and taken as Metropolis and Hastings say. Chains start hot from random orderings and cool until
they walk by the energy itself. Collections of different sizes walk together: each is filled up with items that say
nothing and stay at its end.
"""

from collections.abc import Sequence

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.energy import Energy

HOT = 6.0  # temperature at the start
_TURNED, _WHOLE = 0.3, 0.1  # how many of the stretches that move are turned too, and how many stretches are all


def draw_orderings(
    energy: Energy, rng: np.random.Generator, *, chains: int = 24, cooling: int = 40, kept: int = 8, between: int = 5
) -> Ints:
    """Draw orderings (chains * kept, n), each with a probability by the exponential of its score.

    Chains walk side by side, ``cooling`` rounds until they walk by the energy itself, ``between`` two that are kept;
    a round takes every item out once, on average.

    >>> rising = Energy(np.outer(np.arange(4), np.arange(4)) * 1.0)
    >>> drawn = draw_orderings(rising, np.random.default_rng(0), chains=8, cooling=5)
    >>> drawn.shape, bool((drawn[:, 3] == 3).mean() > 0.5)
    ((64, 4), True)
    """
    orders = np.argsort(rng.random((chains, energy.n)), axis=1)
    if energy.n < 2:
        return np.repeat(orders, kept, axis=0)
    walk = Walk([energy], chains)
    for turn in range(cooling):
        orders = walk.round(orders, HOT ** (1 - (turn + 1) / cooling), rng)
    found: list[Ints] = []
    for _ in range(kept):
        for _ in range(between):
            orders = walk.round(orders, 1.0, rng)
        found.append(orders)
    return np.concatenate(found)


class Walk:
    """Chains that walk by the energies of c collections of at most n items: what their steps look up.

    Rows ``c * chains`` to ``c * chains + chains`` of the orderings are the walks of the c-th.
    """

    def __init__(self, energies: Sequence[Energy], chains: int) -> None:
        n = self.n = max(one.n for one in energies)
        own = self.own = np.repeat(np.arange(len(energies)), chains)
        self.size, self.rows = np.array([one.n for one in energies])[own], np.arange(len(own))[:, np.newaxis]
        self.at = np.zeros((len(energies), n, n))
        for number, one in enumerate(energies):
            self.at[number, : one.n, : one.n] = one.at(one.n)
        reaches = any(one.reach is not None for one in energies)
        self.links: _Neighbours | _AllPairs = (_AllPairs if reaches else _Neighbours)(energies, own, n)

    def round(self, orders: Ints, heat: float, rng: np.random.Generator) -> Ints:
        """Every item taken out once, on average; stretches turned and moved."""
        for turn in range(self.n):
            orders = self._put_back(orders, heat, rng)
            if turn % 3 == 0:
                orders = self._rearrange(orders, heat, rng)
        return orders

    def score(self, orders: Ints) -> Floats:
        """The score of each ordering: shape (c * chains,)."""
        standing = self.at[self.own[:, np.newaxis], orders, np.arange(self.n)].sum(axis=1)
        return np.asarray(standing + self.links.score(orders))

    def _put_back(self, orders: Ints, heat: float, rng: np.random.Generator) -> Ints:
        """One item of each chain taken out, and put where its conditional distribution says."""
        n, rows = self.n, self.rows
        out = (rng.random(len(orders)) * self.size).astype(np.intp)
        item = orders[rows[:, 0], out]
        k = np.arange(n - 1)
        others = orders[rows, k + (k >= out[:, np.newaxis])]  # (r, n - 1)
        score = self._by_position(item, others) / heat
        k = np.arange(n)
        drawn = np.where(k < self.size[:, np.newaxis], score + rng.gumbel(size=score.shape), -np.inf)
        to = drawn.argmax(axis=1)[:, np.newaxis]
        source = np.minimum(k - (k > to), n - 2)
        return np.asarray(np.where(k == to, item[:, np.newaxis], others[rows, source]))

    def _by_position(self, item: Ints, others: Ints) -> Floats:
        """What the ordering scores with the item at each position, but for a constant: shape (r, n)."""
        at, own, k = self.at, self.own[:, np.newaxis], np.arange(self.n - 1)
        moved, beside = self.links.by_position(item, others)  # (r, n - 1) or 0, (r, n)
        total = np.zeros((len(item), self.n))
        np.cumsum(moved + at[own, others, k] - at[own, others, k + 1], axis=1, out=total[:, 1:])
        return np.asarray(total + beside + at[self.own, item])

    def _rearrange(self, orders: Ints, heat: float, rng: np.random.Generator) -> Ints:
        """A stretch of each chain turned round, moved, or both; kept by Metropolis and Hastings."""
        r, k, size = len(orders), np.arange(self.n), self.size[:, np.newaxis]
        ends = np.sort((rng.random((r, 2)) * size).astype(np.intp), axis=1)
        whole = rng.random((r, 1)) < _WHOLE
        first, last = np.where(whole, 0, ends[:, :1]), np.where(whole, size - 1, ends[:, 1:])
        length = last - first + 1
        moves = (rng.random((r, 1)) < 0.5) & ~whole
        to = np.where(moves, (rng.random((r, 1)) * (size - length + 1)).astype(np.intp), first)
        turned = ~moves | (rng.random((r, 1)) < _TURNED)
        inside = (k >= to) & (k < to + length)
        within = np.where(turned, last - (k - to), first + (k - to))
        rest = np.where(k < to, k, k - length)  # number among those outside the stretch
        outside = np.where(rest < first, rest, rest + length)
        source = np.where(inside, within, np.clip(outside, 0, self.n - 1))
        trial = np.take_along_axis(orders, source, axis=1)
        gained = (self.score(trial) - self.score(orders)) / heat
        taken = np.log(rng.random(r)) < gained
        return np.where(taken[:, np.newaxis], trial, orders)


class _Neighbours:
    """What neighbours add, looked up for all chains at once."""

    def __init__(self, energies: Sequence[Energy], own: Ints, n: int) -> None:
        flow = np.zeros((len(energies), n, n))
        for number, one in enumerate(energies):
            if one.flow is not None:
                flow[number, : one.n, : one.n] = one.flow
        self.flow, self.first, self.n = flow.reshape(-1), (own * n * n)[:, np.newaxis], n

    def score(self, orders: Ints) -> Floats:
        """What the neighbours of each ordering (r, n) add: shape (r,)."""
        return np.asarray(self._between(orders[:, :-1], orders[:, 1:]).sum(axis=1))

    def by_position(self, item: Ints, others: Ints) -> tuple[float, Floats]:
        """What an item (r,) put among others (r, n - 1) adds at each position: nothing by shifts, and (r, n)."""
        one = item[:, np.newaxis]
        beside = np.zeros((len(item), self.n))
        beside[:, :-1] += self._between(one, others)
        beside[:, 1:] += self._between(others, one)
        beside[:, 1:-1] -= self._between(others[:, :-1], others[:, 1:])
        return 0.0, beside

    def _between(self, before: Ints, after: Ints) -> Floats:
        return self.flow.take(self.first + before * self.n + after, mode="clip")


class _AllPairs:
    """What all pairs add by how far apart they stand, looked up for all chains at once."""

    def __init__(self, energies: Sequence[Energy], own: Ints, n: int) -> None:
        apart = np.zeros((len(energies), n, n, n), dtype=np.float32)
        for number, one in enumerate(energies):
            apart[number, : one.n, : one.n, : one.n] = one.apart
        further = np.zeros_like(apart)
        further[:, 1:-1] = apart[:, 2:] - apart[:, 1:-1]  # what one position more between two items adds
        self.apart, self.further = apart.reshape(-1), further.reshape(-1)
        # around[c, i, k, n - 1 + s]: item i with item k before it by s positions, or behind it by 1 - s
        around = np.zeros((len(energies), n, n, 2 * n - 1), dtype=np.float32)
        around[..., n:] = apart[:, 1:].transpose(0, 3, 2, 1)
        around[..., 1:n] = apart[:, :0:-1].transpose(0, 2, 3, 1)
        self.around, self.own, self.n = around.reshape(-1, 2 * n - 1), own[:, np.newaxis], n
        self.first = (own * n**3)[:, np.newaxis]  # where the tables of a chain begin
        k = np.arange(n - 1)
        self.gap = np.maximum(k - k[:, np.newaxis], 0) * (n * n)  # (n - 1, n - 1), 0 below the diagonal
        self.pairs = np.triu_indices(n, 1)

    def score(self, orders: Ints) -> Floats:
        """What all pairs of each ordering (r, n) add: shape (r,)."""
        n, (first, second) = self.n, self.pairs
        here = self.first + ((second - first) * n + orders[:, first]) * n + orders[:, second]
        return np.asarray(self.apart.take(here, mode="clip").sum(axis=1, dtype=np.float64))

    def by_position(self, item: Ints, others: Ints) -> tuple[Floats, Floats]:
        """What others (r, n - 1) add by moving behind an item (r,), (r, n - 1), and it at each position, (r, n)."""
        n = self.n
        places = self.gap + (self.first + others * n)[:, :, np.newaxis] + others[:, np.newaxis]
        pairs = self.further.take(places, mode="clip")
        moved = pairs.sum(axis=2) - pairs.sum(axis=1)  # from behind the item to before it
        near = self.around.take((self.own * n + item[:, np.newaxis]) * n + others, axis=0, mode="clip")
        one, row, last = near.strides  # of (r, n - 1, 2 n - 1)
        # the k-th of the others is seen from position p at p - k
        seen = np.lib.stride_tricks.as_strided(near[:, :, n - 1 :], (len(item), n - 1, n), (one, row - last, last))
        return moved, np.asarray(seen.sum(axis=1))
