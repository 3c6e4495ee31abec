"""The posterior: where items stand and what they follow, over all orderings by their likelihood; and what agrees best.

An energy is the logarithm of an ordering's likelihood. Where positions and neighbours are all it goes by, the sum over
all n! orderings is a dynamic programme over subsets, forwards and backwards (Held and Karp's, with sums for minima),
and its parts are the probabilities. Beyond few items, and where all pairs count, they are counted over orderings drawn.

The likeliest ordering is one of very many that are nearly as likely, and often far from most of them. The one that
agrees most with all of them, each counted as often as it is likely, is the guess with the least risk (Bayes). What is
counted are sums over positions and neighbours, so that the solver finds it as any other.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb, lgamma

import numpy as np

from fabula.core.arrays import Floats, Ints, one_thread
from fabula.core.energy import Energy
from fabula.core.fit import dual_prices
from fabula.core.sampling import draw_orderings
from fabula.errors import InputError

MOST_EXACT = 18  # items: 2^18 subsets with 18 last items each, as many as the solver takes
NEIGHBOURS = 2.0  # what neighbours kept count for: with less, parts of one thing are torn apart
_COOLING, _KEPT = 6, 24  # rounds of walks by positions and neighbours: until they are counted, and while they are
_CELLS = 150_000  # subsets times items that are summed up at a time: they stay in the cache
_DIGITS = 12  # behind the point, to which sums in double precision are sure


@dataclass(frozen=True, eq=False)
class Posterior:
    """What a model expects of the order of n items; of many collections of one length with a leading axis."""

    positions: Floats  # (..., n, n): how likely each item stands at each position
    neighbours: Floats  # (..., n, n): how likely each item is right before each other
    # logarithm of the mean likelihood of all orderings, of each collection; None if not summed up
    mean_score: float | None = None
    drawn: Ints | None = None  # (s, n): the orderings counted, where all pairs count

    @property
    def places(self) -> Floats:
        """Where each item is expected, as a position: shape (..., n)."""
        return np.asarray(self.positions @ np.arange(self.positions.shape[-1]))


def posterior(energy: Energy) -> Posterior:
    """Probabilities of positions and neighbours: summed up to 18 items, drawn beyond and where all pairs count.

    What is drawn is the same each time, in whatever order the items are listed.

    >>> found = posterior(Energy(np.log([[3.0, 1.0], [1.0, 1.0]]), np.zeros((2, 2))))
    >>> found.positions.round(2).tolist(), found.neighbours.round(2).tolist()
    ([[0.75, 0.25], [0.25, 0.75]], [[0.0, 0.75], [0.25, 0.0]])
    """
    n, lead = energy.n, energy.lead
    tables = [t for t in (energy.positions, energy.flow) if t is not None]
    if any(t.shape != (*lead, n, n) for t in tables) or energy.whole is not None:
        raise InputError(f"a posterior needs tables of shape (n, n); got {', '.join(str(t.shape) for t in tables)}")
    if energy.reach is None and n <= MOST_EXACT:
        positions = energy.at(n).reshape(-1, n, n)
        flow = np.zeros_like(positions) if energy.flow is None else energy.flow.reshape(-1, n, n)
        *tables, mean_scores = _sum_up(positions, flow)
        # Rounded, so that items that nothing tells apart have the same numbers, and keep their order.
        chances, neighbours = (np.round(table, _DIGITS).reshape(*lead, n, n) for table in tables)
        return Posterior(chances, neighbours, None if lead else float(mean_scores[0]))
    if not lead:
        return _draw(energy)
    each = [_draw(energy[number]) for number in range(lead[0])]
    return Posterior(np.stack([one.positions for one in each]), np.stack([one.neighbours for one in each]))


def posterior_of(drawn: Ints) -> Posterior:
    """The posterior that orderings (s, n) drawn by their likelihood have in common."""
    s, n = drawn.shape
    positions = np.bincount((drawn * n + np.arange(n)).ravel(), minlength=n * n).reshape(n, n) / s
    neighbours = np.bincount((drawn[:, :-1] * n + drawn[:, 1:]).ravel(), minlength=n * n).reshape(n, n) / s
    return Posterior(positions, neighbours, drawn=drawn)


def agreement(expected: Posterior) -> Energy:
    """What orderings can be expected to agree with the true one, as an energy of positions and neighbours."""
    return Energy(
        position_agreement(expected),
        neighbour_agreement(expected),
        of_count=lambda m, items: position_agreement(expected, m)[..., items, :],
    )


def position_agreement(expected: Posterior, count: int | None = None) -> Floats:
    """What each item adds at each of ``count`` positions, by default one per item: shape (..., n, count).

    The squared distance from where the item is expected, as it lowers Spearman's rho, and at the ends how likely it is
    the opener and the close. Times n, so that it weighs as much as a model's scores and squared deviations do. Where
    all pairs count, ends count no more than other positions, and an item costs as much more as it is less sure.
    """
    n = expected.positions.shape[-1]
    m = n if count is None else count
    if expected.drawn is not None:
        at, places = np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 1.0), np.argsort(expected.drawn, axis=1)
        far = (at - places.mean(axis=0)[:, np.newaxis]) ** 2 + places.var(axis=0)[:, np.newaxis]
        return np.asarray(-6 / (n * n - 1 or 1) * far)
    place = expected.places / max(n - 1, 1) * (m - 1)
    table = -((np.arange(m) - place[..., np.newaxis]) ** 2) * 6.0 / max(m * (m**2 - 1), 1)
    table[..., 0] += expected.positions[..., 0]
    table[..., -1] += expected.positions[..., -1]
    return np.asarray(n * table)


def neighbour_agreement(expected: Posterior) -> Floats:
    """What each item adds right before each other, times n: shape (..., n, n); beside it, where all pairs count."""
    n = expected.neighbours.shape[-1]
    if expected.drawn is not None:
        return np.asarray(NEIGHBOURS * (expected.neighbours + expected.neighbours.T))
    return np.asarray(expected.neighbours * (NEIGHBOURS * n / max(n - 1, 1)))


def _draw(energy: Energy) -> Posterior:
    """By orderings drawn as often as they are likely, in an amount of work that the number of items sets."""
    n, keys = energy.n, [*energy.at(energy.n).T]
    if energy.reach is not None:
        keys = [energy.apart.sum(axis=(0, 2)), energy.apart.sum(axis=(0, 1)), *keys]
    elif energy.flow is not None:
        keys = [energy.flow.sum(axis=1), energy.flow.sum(axis=0), *keys]
    order = np.lexsort([np.round(key, 6) for key in keys])  # so that the order in which items are listed has no say
    shown = energy.take(order)
    rng = np.random.default_rng(0)
    if energy.reach is None:
        chains = int(np.clip(3200 / n, 24, 64))
        drawn = draw_orderings(shown, rng, chains=chains, cooling=_COOLING, kept=_KEPT, between=1)
        return replace(posterior_of(order[drawn]), drawn=None)
    chains = int(np.clip(24_000 / (n * n), 8, 32))
    drawn = draw_orderings(shown, rng, chains=chains, cooling=30, kept=max(6, 192 // chains), between=3)
    return posterior_of(order[drawn])


@one_thread()
def _sum_up(positions: Floats, flow: Floats) -> tuple[Floats, Floats, Floats]:
    """Chances of positions and of neighbours (B, n, n) and mean scores (B,), by sums over subsets."""
    count, n = positions.shape[:2]
    chances, neighbours = np.ones(positions.shape), np.zeros(positions.shape)
    mean_scores = positions.reshape(count, -1)[:, 0].copy()

    together = max(1, _CELLS // (n << n))  # as many collections at a time as stay in the cache
    for at in range(0, count if n > 1 else 0, together):
        some = slice(at, at + together)
        place, follow, taken = _scale(positions[some], flow[some])
        whole, chances[some], neighbours[some] = _sum_subsets(place, follow)
        mean_scores[some] = taken + whole - lgamma(n + 1)
    return chances, neighbours, mean_scores


def _scale(positions: Floats, flow: Floats) -> tuple[Floats, Floats, Floats]:
    """Likelihoods of positions and neighbours that neither vanish nor run over, and the logarithm taken out (B,)."""
    # What is taken out of a row of flow is added where the item is not last, of a column where it is not first. Of
    # positions the prices of the best assignment are taken out, so that it is 1 all along and nothing is more.
    n = positions.shape[1]
    place, follow = positions.astype(np.float64), np.where(np.eye(n, dtype=bool), -np.inf, flow)
    for axis, span in ((2, slice(None, -1)), (1, slice(1, None))):
        most = follow.max(axis=axis)
        follow = follow - np.expand_dims(most, axis)
        place[:, :, span] += most[:, :, np.newaxis]
    _, item, column = dual_prices(-place)
    place += item[:, :, np.newaxis] + column[:, np.newaxis]
    return np.exp(place), np.exp(follow), -item.sum(axis=1) - column.sum(axis=1)


def _sum_subsets(place: Floats, follow: Floats) -> tuple[Floats, Floats, Floats]:
    """The logarithms of the sums over all orderings (B,), and what part has each item where, and before which."""
    count, n, _ = place.shape
    joining, going = _steps(n)
    ahead, scale = _lay_ahead(place, follow, joining)
    whole = ahead[-1][:, 0].sum(axis=1)
    chances, neighbours = np.zeros((count, n, n)), np.zeros((count, n, n))
    chances[:, :, -1] = ahead[-1][:, 0] / _above_zero(whole)[:, np.newaxis]
    behind = np.ones((count, 2, n))
    behind[:, -1] = 0
    for size in range(n - 1, 0, -1):
        onward = np.take(behind.reshape(count, -1), going[size], axis=1, mode="clip")  # going on with an item
        worth = follow * place[:, np.newaxis, :, size]
        pairs = np.matmul(ahead[size].transpose(0, 2, 1), onward) * worth  # (B, n, n): the last, and the next
        share = pairs / _above_zero(pairs.sum(axis=(1, 2), keepdims=True))
        chances[:, :, size - 1] = share.sum(axis=2)
        neighbours += share
        if size > 1:
            behind = np.empty((count, comb(n, size) + 1, n))
            behind[:, -1] = 0
            np.matmul(onward, worth.transpose(0, 2, 1), out=behind[:, :-1])
            _shrink(behind)
    with np.errstate(divide="ignore"):
        return np.log(whole) + scale, chances, neighbours


def _lay_ahead(place: Floats, follow: Floats, joining: list[Ints]) -> tuple[list[Floats], Floats]:
    """Of each size the sums over the ways to lay each subset with each item last, (B, subsets, n), each scaled."""
    count, n, _ = place.shape
    first = np.zeros((count, n, n))
    first[:, np.arange(n), np.arange(n)] = place[:, :, 0]
    found, scale = [first[:, :0], first], np.zeros(count)
    for size in range(1, n):
        reached = np.empty((count, comb(n, size) + 1, n))
        reached[:, -1] = 0
        np.matmul(found[size], follow * place[:, np.newaxis, :, size], out=reached[:, :-1])
        scale += _shrink(reached)
        found.append(np.take(reached.reshape(count, -1), joining[size], axis=1, mode="clip"))
    return found, scale


def _shrink(sums: Floats) -> Floats:
    """Divide the sums of each collection by a power of two, in place, so that they stay near 1; its logarithm (B,)."""
    exponent = np.frexp(sums.max(axis=(1, 2)))[1]
    sums *= np.ldexp(1.0, -exponent)[:, np.newaxis, np.newaxis]
    return np.asarray(exponent * np.log(2.0))


def _above_zero(sums: Floats) -> Floats:
    return np.maximum(sums, np.finfo(sums.dtype).tiny)


@lru_cache(maxsize=2)
def _steps(n: int) -> tuple[list[Ints], list[Ints]]:
    """How the subsets of n items of one size go over into those of the next; 75 MB for 18 items."""
    # ``joining[c]`` (subsets of c + 1, n): the cell of the subset of c without an item, for each of its items;
    # ``going[c]`` (subsets of c, n): the cell of the subset of c + 1 with an item, for each it does not hold. Elsewhere
    # the cell behind the last, which is zero.
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
    return joining, going
