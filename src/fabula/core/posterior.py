"""The posterior: where items stand and what they follow, over all orderings by their likelihood.

A model's score is the logarithm of an ordering's likelihood, and a sum over positions and neighbours. So the sum over
all n! orderings is a dynamic programme over subsets, forwards and backwards (Held and Karp's, with sums for minima),
and its parts are the probabilities. Beyond few items they are counted over orderings that are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import lgamma
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabula.core.arranging import Arrangement, Constraints, Goal, arrange
from fabula.core.arranging.proving.prove import assigned
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import InputError
from fabula.models.encoders.set import Array
from fabula.models.sets.sampling import draw_orderings

# The posterior: where items stand and what they follow, over all orderings by their likelihood.

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


# The posteriors of many collections of one length: the sums of :mod:`fabula.core.posterior`, side by side.

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
        place, follow = _scaled_posteriors(positions[some], flow[some])
        whole, found.positions[some], found.neighbours[some] = _summed_posteriors(place, follow)
        _fill(found, positions, flow, at + np.flatnonzero(~(whole > _LEAST)))
    return found


def _fill(found: Posteriors, positions: Floats, flow: Floats, which: Ints) -> None:
    """Fill in some collections one by one."""
    for number in which:
        one = posterior(positions[number], flow[number])
        found.positions[number], found.neighbours[number] = one.positions, one.neighbours


def _summed_posteriors(place: Array, follow: Array) -> tuple[Array, Floats, Floats]:
    """The sums over all orderings (B,), and what part of them has each item at each position, before each other."""
    count, n, _ = place.shape
    steps = _steps(n)
    ahead = _ahead_posteriors(place, follow, steps)
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


def _ahead_posteriors(place: Array, follow: Array, steps: Steps) -> list[Array]:
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


def _scaled_posteriors(positions: Floats, flow: Floats) -> tuple[Array, Array]:
    """Likelihoods that neither vanish nor run over, as ``posterior`` scales those of one collection."""
    n = positions.shape[1]
    place, follow = positions.astype(np.float64), np.where(np.eye(n, dtype=bool), -np.inf, flow)
    for axis, span in ((2, slice(None, -1)), (1, slice(1, None))):
        most = follow.max(axis=axis)
        follow = follow - np.expand_dims(most, axis)
        place[:, :, span] += most[:, :, np.newaxis]
    item, column = _prices_posteriors(place)
    place -= item[:, :, np.newaxis] + column[:, np.newaxis]
    return np.exp(place).astype(np.float32), np.exp(follow).astype(np.float32)


def _prices_posteriors(tables: Floats) -> tuple[Floats, Floats]:
    """Prices of rows and columns, (B, n) each: no cell is worth more than both, the best assignment's as much."""
    count, n, _ = tables.shape
    item_at = assigned(-tables)
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


# Agreement: how well an ordering can be expected to agree with the true one, as tables the solver takes.

AGREED_NEIGHBOURS = 2.0  # what neighbours kept count for: with less, parts of one thing are torn apart
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
    return expected.neighbours * (AGREED_NEIGHBOURS * n / max(n - 1, 1))


def most_agreeing(expected: Posterior, constraints: Constraints | None = None, *, seconds: float = 1.5) -> Arrangement:
    """The ordering that can be expected to agree best with the true one: exact up to 18 items, with a true gap beyond.

    Examples
    --------
    >>> most_agreeing(Posterior(np.array([[0.2, 0.8], [0.8, 0.2]]), np.array([[0.0, 0.2], [0.8, 0.0]]))).ordering
    array([1, 0])
    """
    goal = Goal.table(n=len(expected.positions), whole=lambda m: -position_agreement(expected, m))
    return arrange(goal, constraints=constraints, flow=-neighbour_agreement(expected), seconds=seconds)


# The consensus of orderings that a model holds likely: what to lay where, and side by side, to be right on average.

NEIGHBOURS = 2.0  # what the share of neighbours that is right counts against the rank correlation


@dataclass(frozen=True, eq=False)
class Consensus:
    """Orderings drawn from what a model holds likely.

    Attributes
    ----------
    drawn
        Shape (s, n), each an ordering.

    Examples
    --------
    >>> consensus = Consensus(np.array([[0, 1, 2], [0, 2, 1]]))
    >>> consensus.mean.tolist(), consensus.sureness(np.array([0, 1, 2]))
    ([0.0, 1.5, 1.5], 1.0)
    """

    drawn: Ints

    @property
    def places(self) -> Ints:
        """Where each item stands in each ordering: shape (s, n)."""
        return np.argsort(self.drawn, axis=1)

    @property
    def mean(self) -> Floats:
        """Where each item stands on average: shape (n,)."""
        return np.asarray(self.places.mean(axis=0))

    def shares(self) -> Floats:
        """How often each item stands at each position: shape (n, n), rows and columns add up to 1."""
        s, n = self.drawn.shape
        counts = np.bincount((self.drawn * n + np.arange(n)).ravel(), minlength=n * n)
        return np.asarray(counts.reshape(n, n) / s)

    def costs(self, m: int) -> Floats:
        """What it costs the rank correlation, n-fold, to have each item at each of m positions: shape (n, m)."""
        n = self.drawn.shape[1]
        at = np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 1.0)
        spread = self.places.var(axis=0)[:, np.newaxis]
        return np.asarray(6 / (n * n - 1 or 1) * ((at - self.mean[:, np.newaxis]) ** 2 + spread))

    def flow(self) -> Floats:
        """What it costs to have each two side by side, n-fold, in either order: shape (n, n), not above zero."""
        s, n = self.drawn.shape
        pairs = self.drawn[:, :-1] * n + self.drawn[:, 1:]
        counts = np.bincount(pairs.ravel(), minlength=n * n).reshape(n, n)
        return np.asarray(-NEIGHBOURS * (counts + counts.T) / s)

    def sureness(self, ordering: Ints) -> float:
        """How many of the orderings drawn run the same way as this one of some of the items, rather than against it."""
        if len(ordering) < 2:
            return 1.0
        places = self.places[:, ordering]
        along = (places - places.mean(axis=1, keepdims=True)) @ (np.arange(len(ordering)) - (len(ordering) - 1) / 2)
        return float(((along > 0) + 0.5 * (along == 0)).mean())
