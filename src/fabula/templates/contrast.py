"""Contrast: the mixture of arcs that tells true orders from shuffled ones, for a given essence.

A sequence s with positions u scores ``logsumexp_p ( sum_j t_p(u_j) s_j + w_p )``. With t_p(u) = B(u) y_p the sum is
``x'y_p`` where ``x = sum_j B(u_j) s_j``: q numbers per sequence, computed once. The knot values y and the weights w
maximise InfoNCE, the information with which the true order stands out among shuffled ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arcs import Arcs
from fabula.core.arrays import Floats
from fabula.core.builtin import name_templates
from fabula.core.template import PAPER_KNOTS, TemplateSet, basis, join_essences
from fabula.errors import InputError
from fabula.templates.costs import as_count
from fabula.templates.refinement import Progress

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

_CELLS = 1 << 18  # floats held at once
_MOST = 50_000  # collections learned from; more would not change 8 numbers per template
_RACE = 2048  # collections that the starts race on
_RACE_STEPS = 20
_START_SCALE = 0.2

Features = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Contrast:
    """Arcs found by contrast, and how it went."""

    values: Floats  # (k, q)
    weights: Floats  # (k,)
    bits: float  # InfoNCE on the collections learned from; at most log2(negatives + 1)
    history: Floats  # those bits after each step of the winning start, less the ridge


@dataclass(frozen=True)
class ContrastSettings:
    """How arcs are learned by contrast."""

    knots: ArrayLike = PAPER_KNOTS  # (q,), rising from 0 to 1
    negatives: int = 31  # shuffled orders each true one is told from; drawn once
    starts: int = 8  # random ones
    steps: int = 200  # that the best start takes at most
    ridge: float = 1.0  # weight of the squares of the parameters, against a log likelihood summed over the collections

    def __post_init__(self) -> None:
        if self.starts < 1 or self.steps < 1 or not self.ridge >= 0:
            got = self.starts, self.steps, self.ridge
            raise InputError(f"contrast needs starts and steps of 1 or more, ridge of 0 or more; got {got}")


def learn_arcs(
    essences: Sequence[ArrayLike],
    k: int = 4,
    *,
    rng: np.random.Generator,
    positions: Sequence[ArrayLike] | None = None,
    settings: ContrastSettings | None = None,
    progress: Progress | None = None,
) -> Arcs:
    """Learn a mixture of k arcs that tells the true orders of collections from shuffled ones.

    Takes essences and positions as ``learn_templates`` does; ``progress(step, steps, loss)`` gets the loss in nats.
    """
    as_count(k, len(essences))
    how = settings or ContrastSettings()
    if len(essences) > _MOST:
        join_essences(essences, positions)  # names the collection that breaks a rule by its own number
        kept = np.sort(rng.choice(len(essences), _MOST, replace=False)).tolist()
        essences = [essences[i] for i in kept]
        positions = None if positions is None else [positions[i] for i in kept]
    features = contrast_features(essences, positions, knots=how.knots, negatives=how.negatives, rng=rng)
    found = contrast(features, k, rng=rng, settings=how, progress=progress)
    return Arcs(TemplateSet(name_templates(how.knots, found.values)), found.weights)


def contrast_features(
    essences: Sequence[ArrayLike],
    positions: Sequence[ArrayLike] | None = None,
    *,
    rng: np.random.Generator,
    knots: ArrayLike = PAPER_KNOTS,
    negatives: int = 31,
) -> Features:
    """The q numbers x of every true order and of shuffled ones: shape (m, 1 + negatives, q), the true order first.

    Negatives are independent, uniformly random permutations of the items, which may be the true order by chance.
    """
    if negatives < 1:
        raise InputError(f"contrast needs at least 1 negative; got {negatives}")
    values, u, lengths = join_essences(essences, positions)
    x = np.asarray(knots, dtype=np.float64)
    starts = np.cumsum(lengths) - lengths
    out = np.empty((len(lengths), 1 + negatives, basis(x, [0.0]).shape[1]), dtype=np.float32)
    for n in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == n)
        step = max(1, _CELLS // ((1 + negatives) * n))
        for part in (rows[i : i + step] for i in range(0, len(rows), step)):
            cells = starts[part][:, np.newaxis] + np.arange(n)
            orders = np.repeat(values[cells][:, np.newaxis], 1 + negatives, axis=1)  # (rows, 1 + negatives, n)
            orders[:, 1:] = rng.permuted(orders[:, 1:], axis=2)
            out[part] = orders @ basis(x, u[cells.ravel()]).reshape(len(part), n, -1)
    return out


def contrast(
    features: Features,
    k: int,
    *,
    rng: np.random.Generator,
    settings: ContrastSettings | None = None,
    progress: Progress | None = None,
) -> Contrast:
    """Maximise InfoNCE over the knot values and weights of k arcs (L-BFGS from several starts).

    The features, (m, 1 + negatives, q), are those of :func:`contrast_features`.
    """
    how = settings or ContrastSettings()
    q = features.shape[2]
    begin = rng.normal(scale=_START_SCALE, size=(how.starts, k * (q + 1)))
    begin[:, k * q :] = 0.0
    few = features if len(features) <= _RACE else features[np.sort(rng.choice(len(features), _RACE, replace=False))]
    raced = [_descend(few, start, k, how.ridge, _RACE_STEPS, None) for start in begin]
    winner = min(raced, key=lambda run: run[1][-1])[0]
    parameters, losses = _descend(features, winner, k, how.ridge, how.steps, progress)
    values, weights = _split(parameters, k)
    nats = info_nce(features, values, weights)[0]
    ceiling = np.log2(features.shape[1])
    return Contrast(values, weights - weights.mean(), float(ceiling - nats / np.log(2)), ceiling - losses / np.log(2))


def info_nce(features: Features, values: Floats, weights: Floats) -> tuple[float, Floats, Floats]:
    """The InfoNCE loss in nats, mean over collections, and its gradient for values (k, q) and weights (k,)."""
    m, orders, q = features.shape
    k = len(weights)
    loss, slope, push = 0.0, np.zeros((k, q)), np.zeros(k)
    y, w = values.astype(features.dtype), weights.astype(features.dtype)[:, np.newaxis]
    step = max(1, _CELLS // (orders * max(k, q)))
    for i in range(0, m, step):
        part = features[i : i + step].reshape(-1, q)
        scores, share = _mixture(y @ part.T + w)  # (rows * orders,), (k, rows * orders)
        table = scores.reshape(-1, orders)
        top = table.max(axis=1, keepdims=True)
        odds = np.exp(table - top)
        total = odds.sum(axis=1, keepdims=True)
        loss += float((np.log(total) + top - table[:, :1]).sum(dtype=np.float64))
        pull = odds / total
        pull[:, 0] -= 1.0
        share *= pull.reshape(1, -1)
        slope += share @ part
        push += share.sum(axis=1, dtype=np.float64)
    return loss / m, slope / m, push / m


def information(features: Features, arcs: Arcs) -> Floats:
    """InfoNCE of each collection in bits, shape (m,); their mean is the information about the order."""
    m, orders, q = features.shape
    logits = arcs.templates.values @ features.reshape(-1, q).T + arcs.weights[:, np.newaxis]  # (k, m * orders)
    scores = _mixture(logits)[0].reshape(m, orders)
    top = scores.max(axis=1)
    nats = scores[:, 0] - top - np.log(np.exp(scores - top[:, np.newaxis]).sum(axis=1))
    return np.asarray(nats / np.log(2) + np.log2(orders), dtype=np.float64)


def _mixture(logits: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Logsumexp over the templates, the first axis, and each one's share in it. Overwrites the logits."""
    top = logits.max(axis=0)
    logits -= top
    share = np.exp(logits, out=logits)
    total = share.sum(axis=0)
    share /= total
    return np.log(total) + top, share


def _descend(
    features: Features, start: Floats, k: int, ridge: float, steps: int, progress: Progress | None
) -> tuple[Floats, Floats]:
    """L-BFGS from one start: the parameters, and the loss with the ridge after each step."""
    from scipy.optimize import minimize

    weight = ridge / len(features)
    losses: list[float] = []

    def objective(parameters: Floats) -> tuple[float, Floats]:
        loss, slope, push = info_nce(features, *_split(parameters, k))
        gradient = np.concatenate([slope.ravel(), push]) + weight * parameters
        return loss + 0.5 * weight * float(parameters @ parameters), gradient

    def record(intermediate_result: OptimizeResult) -> None:
        losses.append(float(intermediate_result.fun))
        if progress is not None:
            progress(len(losses), steps, losses[-1])

    options: Any = {"maxiter": steps, "ftol": 1e-7, "gtol": 1e-5}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", callback=record, options=options)
    return np.asarray(found.x, dtype=np.float64), np.array([*losses, float(found.fun)])


def _split(parameters: Floats, k: int) -> tuple[Floats, Floats]:
    return parameters[:-k].reshape(k, -1), parameters[-k:]
