"""The posteriors of many collections of one length: the sums of :mod:`fabula.models.sets.posterior`, side by side.

Subsets of as many items stand in one table, so that a step of the programme is one matrix product for each collection
and one rearrangement for all. In single precision: scaled as they are, the sums reach from about 1 to n!, and what
they lose is beyond the sixth digit. Where a sum is so small that this would not hold, it is done again in double.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.core.solver.proof import assign
from fabula.models.sets.inputs import Array
from fabula.models.sets.posterior import MOST_EXACT, posterior

_CELLS = 300_000  # subsets times items that are summed up at a time: they stay in the cache
_LEAST = 1e-8  # a sum over all orderings that single precision bears


class Posteriors(NamedTuple):
    """How likely each item stands at each position and right before each other: (B, n, n) each."""

    positions: Floats
    neighbours: Floats


class Steps(NamedTuple):
    """How many subsets of each size there are, and where the cells of one size come from in those of the size beside.

    ``joining[c]`` (subsets of c + 1, n): the cell of the subset of c without an item, for each of its items;
    ``going[c]`` (subsets of c, n): the cell of the subset of c + 1 with an item, for each it does not hold. Elsewhere
    the cell behind the last, which is zero.
    """

    sizes: list[int]
    joining: list[Ints]
    going: list[Ints]


def posteriors(positions: Floats, flow: Floats) -> Posteriors:
    """Probabilities of positions and neighbours of B collections of n items each, as ``posterior`` gives them of one.

    Parameters
    ----------
    positions, flow
        Shape (B, n, n): scores of items at positions, and of items followed by others.

    Examples
    --------
    >>> found = posteriors(np.log([[[3.0, 1.0], [1.0, 1.0]]]), np.zeros((1, 2, 2)))
    >>> found.positions.round(2).tolist(), found.neighbours.round(2).tolist()
    ([[[0.75, 0.25], [0.25, 0.75]]], [[[0.0, 0.75], [0.25, 0.0]]])
    """
    count, n = positions.shape[:2]
    found = Posteriors(np.ones(positions.shape), np.zeros(positions.shape))
    if n > MOST_EXACT:
        _fill(found, positions, flow, np.arange(count))
        return found
    together = max(1, _CELLS // (n << n))
    for at in range(0, count if n > 1 else 0, together):
        some = slice(at, at + together)
        place, follow = _scaled(positions[some], flow[some])
        whole, found.positions[some], found.neighbours[some] = _summed(place, follow)
        _fill(found, positions, flow, at + np.flatnonzero(~(whole > _LEAST)))
    return found


def _fill(found: Posteriors, positions: Floats, flow: Floats, which: Ints) -> None:
    """Fill in some collections one by one."""
    for number in which:
        one = posterior(positions[number], flow[number])
        found.positions[number], found.neighbours[number] = one.positions, one.neighbours


def _summed(place: Array, follow: Array) -> tuple[Array, Floats, Floats]:
    """The sums over all orderings (B,), and what part of them has each item at each position, before each other."""
    count, n, _ = place.shape
    steps = _steps(n)
    ahead = _ahead(place, follow, steps)
    whole = ahead[-1][:, 0].sum(axis=1)
    chances, neighbours = np.zeros((count, n, n)), np.zeros((count, n, n))
    safe = np.maximum(whole, np.float32(1e-30))[:, np.newaxis]
    chances[:, :, -1] = ahead[-1][:, 0] / safe
    behind = np.ones((count, 2, n), dtype=np.float32)
    behind[:, -1] = 0
    for size in range(n - 1, 0, -1):
        onward = np.take(behind.reshape(count, -1), steps.going[size], axis=1, mode="clip")  # going on with an item
        worth = follow * place[:, np.newaxis, :, size]
        pairs = (ahead[size].transpose(0, 2, 1) @ onward) * worth  # (B, n, n): the last, and the next
        share = pairs / np.maximum(pairs.sum(axis=(1, 2), keepdims=True), np.float32(1e-30))
        chances[:, :, size - 1] = share.sum(axis=2)
        neighbours += share
        if size > 1:
            behind = np.empty((count, steps.sizes[size] + 1, n), dtype=np.float32)
            behind[:, -1] = 0
            np.matmul(onward, worth.transpose(0, 2, 1), out=behind[:, :-1])
    return whole, chances, neighbours


def _ahead(place: Array, follow: Array, steps: Steps) -> list[Array]:
    """Of each size the sums over the ways to lay each subset with each item last: (B, subsets, n) each."""
    count, n, _ = place.shape
    first = np.zeros((count, n, n), dtype=np.float32)
    first[:, np.arange(n), np.arange(n)] = place[:, :, 0]
    found = [first[:, :0], first]
    for size in range(1, n):
        reached = np.empty((count, steps.sizes[size] + 1, n), dtype=np.float32)
        reached[:, -1] = 0
        np.matmul(found[size], follow * place[:, np.newaxis, :, size], out=reached[:, :-1])
        found.append(np.take(reached.reshape(count, -1), steps.joining[size], axis=1, mode="clip"))
    return found


def _scaled(positions: Floats, flow: Floats) -> tuple[Array, Array]:
    """Likelihoods that neither vanish nor run over, as ``posterior`` scales those of one collection."""
    n = positions.shape[1]
    place, follow = positions.astype(np.float64), np.where(np.eye(n, dtype=bool), -np.inf, flow)
    for axis, span in ((2, slice(None, -1)), (1, slice(1, None))):
        most = follow.max(axis=axis)
        follow = follow - np.expand_dims(most, axis)
        place[:, :, span] += most[:, :, np.newaxis]
    item, column = _prices(place)
    place -= item[:, :, np.newaxis] + column[:, np.newaxis]
    return np.exp(place).astype(np.float32), np.exp(follow).astype(np.float32)


def _prices(tables: Floats) -> tuple[Floats, Floats]:
    """Prices of rows and columns, (B, n) each: no cell is worth more than both, the best assignment's as much."""
    count, n, _ = tables.shape
    item_at = assign(-tables)
    assignment = np.empty_like(item_at)
    np.put_along_axis(assignment, item_at, np.tile(np.arange(n), (count, 1)), axis=1)  # position of each item
    own = np.take_along_axis(tables, assignment[:, :, np.newaxis], axis=2)[:, :, 0]
    column = np.zeros((count, n))
    for _ in range(n):  # Bellman and Ford: the dearest way round by other cells
        spent = np.take_along_axis(column, assignment, axis=1) - own
        raised = np.maximum(column, (spent[:, :, np.newaxis] + tables).max(axis=1))
        if np.array_equal(raised, column):
            break
        column = raised
    return own - np.take_along_axis(column, assignment, axis=1), column


@lru_cache(maxsize=2)
def _steps(n: int) -> Steps:
    """The subsets of n items by size, and how those of one size go over into the next; 75 MB for 18 items."""
    every, bits = np.arange(1 << n), 1 << np.arange(n)
    size = np.bitwise_count(every)
    layers = [every[size == k] for k in range(n + 1)]
    rank = np.empty(1 << n, dtype=np.intp)
    for layer in layers:
        rank[layer] = np.arange(len(layer))
    nothing = np.empty((0, n), dtype=np.intp)
    joining, going = [nothing], [nothing]
    for k in range(1, n):
        here, after = layers[k][:, np.newaxis], layers[k + 1][:, np.newaxis]
        without = rank[after & ~bits] * n + np.arange(n)
        joining.append(np.where(after & bits > 0, without, len(layers[k]) * n))
        with_it = rank[here | bits] * n + np.arange(n)
        going.append(np.where(here & bits > 0, len(layers[k + 1]) * n, with_it))
    return Steps([len(layer) for layer in layers], joining, going)
