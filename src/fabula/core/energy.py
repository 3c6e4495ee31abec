"""Twelve fixed functions of the position, on which the template of a set model stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.essence import Floats
from fabula.core.ordering import Ints, as_ordering
from fabula.errors import InputError

# Twelve fixed functions of the position, on which the template of a set model stands.

FUNCTIONS = 12


def position_basis(count: int, positions: ArrayLike | None = None) -> NDArray[np.float32]:
    """The functions at some positions of ``count``.

    They are 1, u, u^2, u^3 and two cosines of the place u in [0, 1]; what fades from either end within about two
    positions; and indicators of the first, second, last but one and last position.

    Parameters
    ----------
    count
        How many positions there are.
    positions
        Which to take, shape (m,), 0 to count - 1 (fractions are allowed, for sampling); all by default.

    Returns
    -------
    Shape (12, m).

    Examples
    --------
    >>> position_basis(3)[1]
    array([0. , 0.5, 1. ], dtype=float32)
    """
    if count < 1:
        raise InputError(f"there must be at least 1 position; got {count}")
    j = np.arange(count, dtype=np.float64) if positions is None else np.asarray(positions, dtype=np.float64)
    if j.ndim != 1 or not np.isfinite(j).all() or (j < 0).any() or (j > count - 1).any():
        raise InputError(f"positions must be a list of numbers from 0 to {count - 1}")
    u, left = j / max(count - 1, 1), count - 1 - j
    smooth = [np.ones_like(u), u, u**2, u**3, np.cos(np.pi * u), np.cos(2 * np.pi * u)]
    ends = [np.exp(-j / 1.5), np.exp(-left / 1.5)]
    near = [np.clip(1 - np.abs(distance - at), 0, 1) for distance in (j, left) for at in (0, 1)]
    return np.stack([*smooth, *ends, *near]).astype(np.float32)


# Seven fixed functions of how far apart two items stand, on which the kernels of a step model stand.

KERNELS = 7
ALWAYS = KERNELS - 1  # the function that is 1 at every distance


def distance_basis(n: int) -> Floats:
    """The functions at distances 0 to n - 1 of n items: shape (7, n), zero at distance 0.

    They are indicators of distance 1, 2 and 3; what falls by e within 3 and within 8 positions; the distance as a
    part of the whole; and 1.

    Examples
    --------
    >>> distance_basis(3)[[0, 6]].tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """
    d = np.arange(n, dtype=np.float64)
    falling = [np.exp(-(d - 1) / 3), np.exp(-(d - 1) / 8)]
    basis = np.stack([d == 1, d == 2, d == 3, *falling, d / max(n, 1), np.ones(n)]).astype(np.float64)
    basis[:, :1] = 0.0
    return basis


def summed_pairs(pairs: NDArray[np.floating], orderings: np.ndarray) -> Floats:
    """What the weights of kernels are multiplied with, for each of some orderings.

    Parameters
    ----------
    pairs
        Shape (k, n, n).
    orderings
        Shape (r, n).

    Returns
    -------
    Shape (r, k, 7): sums over all pairs, each by the functions of its distance.
    """
    k, n = len(pairs), orderings.shape[1]
    first, second = np.triu_indices(n, 1)
    flat = pairs.reshape(k, n * n)
    basis = distance_basis(n)[:, second - first]  # (7, pairs)
    found = [flat[:, order[first] * n + order[second]] @ basis.T for order in orderings]
    return np.stack(found) if found else np.zeros((0, k, KERNELS))


# Tables: what a set model says of a collection.


@dataclass(frozen=True, eq=False)
class Tables:
    """What a model says of a collection: both scores are sums over an ordering, higher is likelier.

    Attributes
    ----------
    positions
        Shape (n, m): how much each item likes each position.
    flow
        Shape (n, n): how well each item (row) is followed by each other (column); zero on the diagonal.
    of_count
        From a number of positions to how much each item likes each of so many; None where they are not known.
    """

    positions: Floats
    flow: Floats
    of_count: Callable[[int], Floats] | None = field(default=None, repr=False)

    def at(self, count: int) -> Floats:
        """How much each item likes each of ``count`` positions, (n, count), where some items are left out."""
        if self.of_count is None or count == self.positions.shape[1]:
            return self.positions[:, :count]
        return self.of_count(count)

    def score(self, ordering: ArrayLike) -> float:
        """How likely an ordering of all items is, relative to others.

        Examples
        --------
        >>> Tables(np.eye(2), np.array([[0, 0.5], [0, 0]])).score([0, 1])
        2.5
        """
        order = as_ordering(ordering, len(self.positions))
        flow = self.flow[order[:-1], order[1:]].sum()
        return float(self.positions[order, np.arange(len(order))].sum() + flow)


# What orderings score: by where each item stands, and by how far each stands before each other.

NEVER = -1e5  # score of what must not be


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
