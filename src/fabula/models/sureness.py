"""How sure: what may be claimed of an order that a model proposes, so that claims come true as often as they say.

A posterior says how likely a model finds things; that is not yet how often they are so. From it four claims are made of
an ordering, each a chance from 0 to 1, and each is put right by three numbers for its model (an offset, a slope, and
one for the length), fitted by logistic regression on collections that the model was not trained on
(``benchmarks/reliability.py``). They stand beside the shipped models, with a digest of the weights they were fitted
for: of any other model nothing is claimed, nor of a collection that is unlike what the model has learned from. Beside
them may stand a factor that tempers scores before an order is held against random ones, which changes no order; and in
how many of 100 orders a review names an item that was moved.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import erf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.posterior import Posterior

if TYPE_CHECKING:
    from scipy import sparse

    from fabula.core.collection import Terms
    from fabula.models.model import Model

CLAIMS = ("order", "direction", "opener", "close")
_USUAL = 12  # items, at which the number for the length counts nothing
_SURE = 0.005  # a chance is no nearer to 0 or 1
_FEWEST = 3  # items of which anything is claimed


@dataclass(frozen=True)
class Sureness:
    """What is claimed of an ordering, chances from 0 to 1; None where nothing is known."""

    order: float | None = None  # that two of its items, picked at random, stand in their true order
    direction: float | None = None  # that it is nearer to the true order than its reverse is
    opener: float | None = None  # that its first item is the true first
    close: float | None = None  # that its last item is the true last


def claim(model: Model, expected: Posterior, ordering: Ints) -> Sureness:
    """What may be claimed of an ordering (n,) of all items by a model that expects so much of them."""
    known = calibration(model)
    if known is None or not _FEWEST <= len(ordering) == expected.positions.shape[-1]:
        return Sureness()
    raw = raw_claims(expected, ordering)
    return Sureness(**{name: calibrate(known[name], raw[name], len(ordering)) for name in CLAIMS})


def calibration(model: Model) -> Mapping[str, Any] | None:
    """The numbers of a shipped model by claim, three each; None of another, or of one with other weights."""
    known = stored().get(str(model.card.get("name")))
    return known if known is not None and known["digest"] == digest(model) else None


def temper_of(model: Model) -> float:
    """What the scores of a shipped model are to be multiplied with before an order is held against random ones."""
    return float((calibration(model) or {}).get("temper", 1.0))


def calibrate(numbers: list[float], chance: float, n: int) -> float:
    """A chance among n items put right by an offset, a slope and a number for the length.

    >>> calibrate([0.0, 1.0, 0.0], 0.3, 12)
    0.3
    """
    offset, slope, length = numbers
    return float(round(1 / (1 + np.exp(-offset - slope * logit(chance) - length * np.log(n / _USUAL))), 4))


def logit(chance: float) -> float:
    """The logarithm of the odds of a chance, which is taken for no nearer to 0 or 1 than one in two hundred."""
    held = min(max(chance, _SURE), 1 - _SURE)
    return float(np.log(held / (1 - held)))


def raw_claims(expected: Posterior, ordering: Ints) -> dict[str, float]:
    """The four claims as a model's expectations have them, before they are put right.

    >>> from fabula.core.posterior import posterior_of
    >>> raw_claims(posterior_of(np.array([[0, 1, 2], [0, 2, 1]])), np.array([0, 1, 2]))["opener"]
    1.0
    """
    chances = np.asarray(expected.positions, dtype=np.float64)[ordering]  # (n, n): rows in the order proposed
    if expected.drawn is not None:
        places = np.argsort(expected.drawn, axis=1)[:, ordering]  # (s, n)
        first, second = np.triu_indices(len(ordering), 1)
        order = float((places[:, first] < places[:, second]).mean())
        along = (places - places.mean(axis=1, keepdims=True)) @ _centred(len(ordering))
        ways = (along > 0) + 0.5 * (along == 0)
        direction = float((ways.sum() + 1) / (len(ways) + 2))
    else:
        order, direction = _by_positions(chances)
    return {"order": order, "direction": direction, "opener": float(chances[0, 0]), "close": float(chances[-1, -1])}


def _by_positions(chances: Floats) -> tuple[float, float]:
    """Order and direction by where each item is likely (n, n), as if items did not know of each other."""
    n, at = len(chances), np.arange(len(chances))
    earlier = chances @ (1 - np.cumsum(chances, axis=1)).T  # (n, n): how likely the row stands before the column
    pairs = (earlier / np.maximum(1 - chances @ chances.T, 1e-9))[np.triu_indices(n, 1)]
    place = chances @ at
    spread = (_centred(n) ** 2) @ (chances @ at**2 - place**2)
    return float(pairs.mean()), 0.5 + 0.5 * erf(float(_centred(n) @ place) / sqrt(2 * max(float(spread), 1e-9)))


def _centred(n: int) -> Floats:
    return np.arange(n, dtype=np.float64) - (n - 1) / 2


# What a collection is like, to tell whether a model has learned from such.


def measure_kin(features: Floats, terms: Terms, threads: Floats | None) -> Floats:
    """What n texts are like together: shape (f + 5,).

    The logarithm of their number; the mean of each of their features (n, f), as a model reads them; how much of their
    wording they share, how alike the rates of their words are, how many of their words no other has; and how far their
    three most widespread threads, (n, k) times each, reach.
    """
    counts, n = terms.counts.tocsr(), len(features)
    texts = np.bincount(counts.indices, minlength=counts.shape[1])
    weighed = counts.copy()
    weighed.data = (1 + np.log(counts.data)) * np.log(n / np.maximum(texts, 1))[counts.indices]
    wording = max(_mean_cosine(weighed), 1e-4)
    single = float((texts[counts.indices] == 1).mean())
    reach = np.zeros(0) if threads is None else np.sort((threads > 0).mean(axis=0))[::-1]
    known = np.nan_to_num(np.nanmean(features, axis=0))
    return np.array([np.log(n), *known, np.log(wording), _mean_cosine(counts), single, reach[:3].sum() / 3])


def _mean_cosine(rows: sparse.csr_array) -> float:
    """The mean cosine of every two rows, by the length of the sum of all rows of length 1."""
    n, squares = rows.shape[0], np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    total = rows.T @ (1 / np.sqrt(np.maximum(squares, 1e-18)))
    return float((total @ total - np.count_nonzero(squares)) / (n * (n - 1)))


def is_far(kin: Mapping[str, Any], found: Floats) -> bool:
    """Whether a collection is far from all that a model has learned from."""
    return bool(distance_of(kin, found) > kin["far"])


def distance_of(kin: Mapping[str, Any], found: Floats) -> float:
    """How far a collection is from those that a model has learned from: Mahalanobis' distance, about 1 of such."""
    off = np.clip((found[:-1] - kin["mean"]) / np.array(kin["deviation"]), -8, 8)
    return float(np.sqrt(off @ np.array(kin["precision"]) @ off / len(off)))


def is_scattered(kin: Mapping[str, Any], found: Floats) -> bool:
    """Whether the texts of a collection have no more to do with each other than parts of different works."""
    return bool(coherence_of(kin, found) < kin["least"])


def coherence_of(kin: Mapping[str, Any], found: Floats) -> float:
    """How much texts have to do with each other: the logarithm of the odds that they are of one book."""
    offset, reach, wording, number, single = kin["book"]
    return float(offset + reach * found[-1] + wording * found[-4] + number * found[0] + single * found[-2])


@cache
def stored() -> Mapping[str, Mapping[str, Any]]:
    """What was fitted for the shipped models, by their names."""
    text = files("fabula.models").joinpath("shipped", "sureness.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def digest(model: Model) -> str:
    """A digest of a model's weights: another model, another digest."""
    found = hashlib.sha256()
    for name in sorted(model.tensors):
        found.update(name.encode() + np.ascontiguousarray(model.tensors[name], dtype=np.float32).tobytes())
    return found.hexdigest()[:16]
