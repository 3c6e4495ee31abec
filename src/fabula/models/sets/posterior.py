"""The posterior: where items stand and what they follow, over all orderings by their likelihood.

A model's score is the logarithm of an ordering's likelihood, and a sum over positions and neighbours. So the sum over
all n! orderings is a dynamic programme over subsets, forwards and backwards (Held and Karp's, with sums for minima),
and its parts are the probabilities. Beyond few items they are counted over orderings that are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import InputError
from fabula.models.sets.sampling import draw_orderings

MOST_EXACT = 18  # items: 2^18 subsets with 18 last items each, as many as the solver takes
_CHAINS, _STEPS, _MOST_STEPS = 128, 60, 8000  # of drawing: orderings side by side, steps per item, steps at most
_EVERY = 8  # steps between two that are counted


@dataclass(frozen=True, eq=False)
class Posterior:
    """What a model expects of the order of n items.

    Attributes
    ----------
    positions
        Shape (n, n): how likely each item stands at each position.
    neighbours
        Shape (n, n): how likely each item is right before each other.
    mean_score
        The logarithm of the mean likelihood of all orderings; None where it was not summed up.
    """

    positions: Floats
    neighbours: Floats
    mean_score: float | None = None


def posterior(positions: Floats, flow: Floats, *, seed: int = 0) -> Posterior:
    """Probabilities of positions and neighbours: exact up to 18 items, drawn beyond.

    Parameters
    ----------
    positions, flow
        Shape (n, n): scores of items at positions, and of items followed by others.
    seed
        Of what is drawn.

    Examples
    --------
    >>> found = posterior(np.log([[3.0, 1.0], [1.0, 1.0]]), np.zeros((2, 2)))
    >>> found.positions.round(2).tolist(), found.neighbours.round(2).tolist()
    ([[0.75, 0.25], [0.25, 0.75]], [[0.0, 0.75], [0.25, 0.0]])
    """
    if positions.ndim != 2 or positions.shape[0] != positions.shape[1] or flow.shape != positions.shape:
        raise InputError(f"tables must have shape (n, n); got {positions.shape} and {flow.shape}")
    if len(positions) <= MOST_EXACT:
        return _summed(positions, flow)
    return _drawn(positions, flow, np.random.default_rng(seed))


def _summed(positions: Floats, flow: Floats) -> Posterior:
    """By sums over subsets: ``ahead[S, i]`` of all ways to lay S with i last, ``behind`` of all ways to go on."""
    n = len(positions)
    place, follow, taken = _scaled(positions, flow)
    ahead, scale = _ahead(place, follow)
    chances, neighbours = np.zeros((n, n)), np.zeros((n, n))
    behind = np.zeros(ahead.shape)
    behind[-1] = 1.0
    chances[:, -1] = ahead[-1] / ahead[-1].sum()
    for count in range(n - 1, 0, -1):
        sets = _layers(n)[count]
        onward = np.zeros((len(sets), n))  # going on with an item, which stands at position ``count``
        for item in range(n):
            free = sets >> item & 1 == 0
            onward[free, item] = place[item, count] * behind[sets[free] | 1 << item, item]
        rest = onward @ follow.T
        both = ahead[sets] * rest
        chances[:, count - 1] = both.sum(axis=0) / both.sum()
        neighbours += follow * (ahead[sets].T @ onward) / both.sum()
        behind[sets] = rest / rest.max()
    return Posterior(chances, neighbours, taken + scale - lgamma(n + 1))


def _scaled(positions: Floats, flow: Floats) -> tuple[Floats, Floats, float]:
    """Likelihoods of positions and neighbours that neither vanish nor run over, and the logarithm taken out of both.

    What is taken out of a row of flow is added where the item is not last, of a column where it is not first. Of
    positions the prices of the best assignment are taken out, so that it is 1 all along and nothing is more.
    """
    n = len(positions)
    place, follow = positions.copy(), np.where(np.eye(n, dtype=bool), -np.inf, flow)
    if n > 1:
        for axis, span in ((1, slice(None, -1)), (0, slice(1, None))):
            most = follow.max(axis=axis)
            follow = follow - np.expand_dims(most, axis)
            place[:, span] += most[:, np.newaxis]
    item, column = _prices(place)
    place = place - item[:, np.newaxis] - column
    return np.exp(place), np.exp(follow), float(item.sum() + column.sum())


def _prices(table: Floats) -> tuple[Floats, Floats]:
    """Prices of rows and columns, (n,) each: no cell is worth more than both, those of the best assignment as much."""
    from scipy.optimize import linear_sum_assignment

    n = len(table)
    assigned = linear_sum_assignment(table, maximize=True)[1]
    own = table[np.arange(n), assigned]
    column = np.zeros(n)
    for _ in range(n):  # Bellman and Ford: the dearest way round by other cells
        column = np.maximum(column, (column[assigned] - own + table.T).max(axis=1))
    return own - column[assigned], column


def _ahead(place: Floats, follow: Floats) -> tuple[Floats, float]:
    """Sums (2^n, n) over the ways to lay each subset with each item last, each layer scaled; and the scales' sum."""
    n = len(place)
    ahead, scale = np.zeros((1 << n, n)), 0.0
    ahead[1 << np.arange(n), np.arange(n)] = place[:, 0]
    for count in range(1, n):
        sets, after = _layers(n)[count : count + 2]
        reached = (ahead[sets] @ follow) * place[:, count]
        for item in range(n):
            free = sets >> item & 1 == 0
            ahead[sets[free] | 1 << item, item] = reached[free, item]
        whole = float(ahead[after].sum())
        ahead[after] /= whole
        scale += float(np.log(whole))
    return ahead, scale + float(np.log(ahead[-1].sum()))


@lru_cache(maxsize=4)
def _layers(n: int) -> list[NDArray[np.int64]]:
    """The subsets of n items, as bits, by how many items they hold."""
    every = np.arange(1 << n)
    count = np.bitwise_count(every)
    return [every[count == k] for k in range(n + 1)]


def _drawn(positions: Floats, flow: Floats, rng: np.random.Generator) -> Posterior:
    """By orderings drawn as often as they are likely."""
    n = len(positions)
    steps = min(_STEPS * n, _MOST_STEPS)
    chances, neighbours, counted = np.zeros(n * n), np.zeros(n * n), 0
    for orderings in draw_orderings(positions, flow, rng, chains=_CHAINS, steps=steps, every=_EVERY):
        chances += _counted(orderings * n + np.arange(n), n)
        neighbours += _counted(orderings[:, :-1] * n + orderings[:, 1:], n)
        counted += len(orderings)
    return Posterior(chances.reshape(n, n) / counted, neighbours.reshape(n, n) / counted)


def _counted(cells: Ints, n: int) -> Floats:
    return np.bincount(cells.ravel(), minlength=n * n).astype(np.float64)
