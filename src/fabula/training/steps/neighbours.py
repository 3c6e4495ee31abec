"""Training a model of steps alone: the weights under which true orders are likeliest among random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from fabula.core.energy import FUNCTIONS, position_basis
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

RIDGE = 1e-4  # on weights that nothing holds


@dataclass(frozen=True, eq=False)
class Example:
    """One collection in its true order.

    Attributes
    ----------
    standing
        Shape (n, f): how far each item stands out, as :func:`fabula.models.encoders.measures.stand_out` says it.
    near
        Shape (k, n, n): how close each pair is by each step.
    group
        Who made it: what belongs together when collections are set aside or drawn again.
    """

    standing: Floats
    near: Floats
    group: str = ""


def train_steps(
    examples: Sequence[Example],
    *,
    negatives: int,
    penalty: float,
    rng: np.random.Generator,
    near: Floats | None = None,
    hold: float = RIDGE,
) -> Floats:
    """The weights of a step model: shape (f * 12 + k,), arcs first.

    They minimise the mean of -log(share of the true order's likelihood among its negatives') plus the penalty times
    the squares of the weights of arcs: a convex problem.

    Parameters
    ----------
    examples
        Of the same features and steps.
    negatives
        Random orderings beside each true one.
    penalty
        On arcs; flow has so few weights that it needs none where collections are many.
    near, hold
        Weights of flow, shape (k,), that the learned ones are held near to, and how firmly; by default hardly, to none.
    rng
        Draws the orderings.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> up = Example(np.linspace(-1.5, 1.5, 8)[:, np.newaxis], np.zeros((0, 8, 8)))
    >>> weights = train_steps([up] * 20, negatives=15, penalty=0.01, rng=rng)
    >>> bool(bits_of([up] * 20, weights, negatives=15, rng=rng).mean() > 3)
    True
    """
    drawn = np.stack([_differences(one, negatives, rng) for one in examples])  # (c, r, w): false less true
    size = drawn.shape[2]
    arcs = examples[0].standing.shape[1] * FUNCTIONS
    ridge, centre = np.full(size, hold), np.zeros(size)
    ridge[:arcs] = penalty
    if near is not None:
        centre[arcs:] = near

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = drawn @ weights.astype(np.float32)  # (c, r), the true order has 0
        total = np.logaddexp(0.0, logsumexp(scores, axis=1))
        shares = np.exp(scores - total[:, np.newaxis]).astype(np.float32)
        slope = np.einsum("cr,crw->w", shares, drawn, optimize=True) / len(drawn)
        away = weights - centre
        return float(total.mean() + (ridge * away**2).sum()), slope.astype(np.float64) + 2 * ridge * away

    found = minimize(loss, centre, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return np.asarray(found.x)


def bits_of(examples: Sequence[Example], weights: Floats, *, negatives: int, rng: np.random.Generator) -> Floats:
    """Information about the order, in bits, of each of some collections: at most log2(negatives + 1). Shape (c,).

    It is log2(N) + log2(share of the true order's likelihood among its N - 1 negatives' and its own).
    """
    found = []
    for one in examples:
        scores = _differences(one, negatives, rng) @ weights
        found.append(np.log2(negatives + 1) - np.logaddexp(0.0, logsumexp(scores)) / np.log(2))
    return np.array(found)


def shuffled(examples: Sequence[Example], rng: np.random.Generator) -> list[Example]:
    """The same with their items in a random order: a control, of which nothing may be known."""
    return [_reordered(one, rng.permutation(len(one.standing))) for one in examples]


def noise(examples: Sequence[Example], rng: np.random.Generator) -> list[Example]:
    """The same with random numbers for what was measured: a control, of which nothing may be known."""
    return [
        Example(rng.standard_normal(one.standing.shape), rng.standard_normal(one.near.shape), one.group)
        for one in examples
    ]


def _reordered(one: Example, order: NDArray[np.int64]) -> Example:
    return Example(one.standing[order], one.near[:, order][:, :, order], one.group)


def _differences(one: Example, negatives: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """What random orderings have less what the true one has: shape (negatives, f * 12 + k)."""
    n = len(one.standing)
    orders = np.argsort(rng.random((negatives, n)), axis=1)
    sums = summed(one.standing, one.near, np.concatenate([np.arange(n)[np.newaxis], orders]))
    differences: NDArray[np.float32] = (sums[1:] - sums[0]).astype(np.float32)
    return differences


def summed(standing_out: Floats, near: Floats, orderings: Ints) -> Floats:
    """What the weights of a step model are multiplied with, for each of some orderings.

    Parameters
    ----------
    standing_out
        Shape (n, f).
    near
        Shape (k, n, n).
    orderings
        Shape (r, n).

    Returns
    -------
    Shape (r, f * 12 + k): sums over positions and over neighbours.
    """
    basis = position_basis(orderings.shape[1]).astype(np.float64)  # (12, n)
    arcs = np.einsum("rnf,bn->rfb", standing_out[orderings], basis, optimize=True)
    flow = near[:, orderings[:, :-1], orderings[:, 1:]].sum(axis=2).T  # (r, k)
    return np.concatenate([arcs.reshape(len(orderings), -1), flow], axis=1)
