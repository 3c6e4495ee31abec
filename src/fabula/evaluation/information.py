"""Information about the order: the InfoNCE bound, honest.

The true order of each collection competes with independent uniform permutations of it, under a softmax of scores.
Such a permutation may equal the true order: the bound needs exactly that. With N sequences in all the bound cannot
pass log2 N, nor, for n items, log2 n!: the smaller of the two is the ceiling.
"""

import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection
from fabula.core.display import table_html
from fabula.core.energy import Energy
from fabula.core.fingerprints import fingerprints_of
from fabula.errors import InputError, SeenWarning, brief, check_count, check_kind
from fabula.evaluation.intervals import Interval, mean_interval

Score = Callable[[Floats], ArrayLike]

_SEQUENCES = 4096  # scored at a time
_ORDERINGS = 65_536  # gathered at a time


@dataclass(frozen=True)
class LengthInformation:
    """Information about the order of the collections of one length."""

    bits: float
    count: int
    ceiling: float


@dataclass(frozen=True)
class Information:
    """Mutual information of essence and order, in bits per collection."""

    bits: float  # the estimate: a lower bound, on average
    # its 95 % interval over those who made the collections; the draw of the negatives is part of it
    low: float
    high: float
    # what no estimate of this kind can pass on these collections: a sample may by chance, and is cut there
    ceiling: float
    negatives: int  # permutations against each true order
    draws: int  # how often they were drawn
    collections: int  # how many were measured
    per_length: Mapping[int, LengthInformation] = field(repr=False)  # by number of items
    groups: int = 0  # how many made them: what the interval is over
    noise: float | None = None  # deviation of the bits by the draw of the negatives alone; None of a single draw
    # how many of them the model was trained on, as far as it knows; None where that was not recorded
    seen: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON, without those by number of items."""
        return {name: value for name, value in vars(self).items() if name != "per_length"}

    def _repr_html_(self) -> str:
        rows = [
            [str(n), str(each.count), f"{each.bits:.3f}", f"{each.ceiling:.2f}"] for n, each in self.per_length.items()
        ]
        told = f"{self.bits:.3f} bits (95 % interval {self.low:.3f} to {self.high:.3f}) of at most {self.ceiling:.2f}"
        caption = f"{told}; {self.collections} collections, {self.negatives} negatives"
        return table_html(["items", "collections", "bits", "ceiling"], rows, caption=caption)


def mutual_information(
    model: Any,
    collections: Sequence[Collection],
    negatives: int = 31,
    draws: int = 4,
    seed: int = 0,
    scorer: str | None = None,
    energies: Iterable[Energy] | None = None,
) -> Information:
    """How much a model tells about the order of collections, in bits each.

    It is asked for the essence of the items, where that is their own, and to score sequences; else for ``energies``,
    what it says of every ordering of each collection, unless these are given because its evidence was looked for.
    :func:`fabula.mutual_information` says what the others are.
    """
    for name, count, least in (("negatives", negatives, 1), ("draws", draws, 1), ("seed", seed, 0)):
        check_count(count, name, least=least)
    if not hasattr(model, "by_item"):
        raise InputError(f"must be a model, as fabula.load_model gives one; got {brief(model)}", field="model")
    if not isinstance(collections, Sequence):
        raise InputError(f"must be a list of collections; got {brief(collections)}", field="collections")
    for collection in collections:
        check_kind(collection, Collection, "a list of collections", "collections")
        if not collection.ordered:
            raise InputError(f"collection {collection.id!r} is not ordered: its true order must be known")
    if not collections:
        raise InputError("information needs at least one collection; got none")
    seen = count_seen(model, collections)
    if seen:
        message = (
            f"{seen:,} of {len(collections):,} collections were trained on: what is measured on them is no finding"
        )
        warnings.warn(message, SeenWarning, stacklevel=2)
    how: dict[str, Any] = {"negatives": negatives, "draws": draws}
    by = makers(collections)
    if energies is None and model.by_item:
        chosen, essences = scorer or model.most_detailed, model.encode_all(collections)
        found = information_of(lambda rows: model.score(rows, chosen), essences, seed=seed, groups=by, **how)
    else:
        known = list(model.energies(collections, scorer) if energies is None else energies)
        bits = energy_bits(known, rng=np.random.default_rng(seed), **how)
        found = summarise_bits(bits, np.array([each.n for each in known]), by, negatives)
    return replace(found, seen=seen)


@contextmanager
def suppress_seen_warning() -> Iterator[None]:
    """Give no :class:`fabula.errors.SeenWarning`: what was trained on and is measured is told in another way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeenWarning)
        yield


def count_seen(model: object, collections: Sequence[Collection]) -> int | None:
    """How many collections a model was trained on, by the record of its training; None where there is no record."""
    seen = fingerprints_of(getattr(model, "training", None) or {})
    return None if seen is None else sum(seen.among(collections))


def info_nce_bits(truth: Floats, others: Floats) -> Floats:
    """The InfoNCE bound (b, draws): log2 N + log2 softmax(truth).

    Scores are those of the true orders (b,) and of random ones (b, draws, negatives).

    >>> info_nce_bits(np.array([0.0]), np.zeros((1, 2, 3)))
    array([[0., 0.]])
    """
    logits = np.concatenate([np.broadcast_to(truth[:, np.newaxis, np.newaxis], (*others.shape[:2], 1)), others], axis=2)
    top = logits.max(axis=2, keepdims=True)
    total = top[:, :, 0] + np.log(np.exp(logits - top).sum(axis=2))  # (b, draws)
    nats = truth[:, np.newaxis] - total + math.log(logits.shape[2])
    return np.asarray(np.round(nats / math.log(2), 12) + 0.0)  # who says nothing has 0 bits, not -6e-16


def energy_bits(energies: Sequence[Energy], *, negatives: int, draws: int, rng: np.random.Generator) -> Floats:
    """Bits (c, draws) of collections from what a model says of every ordering of each, items in true order.

    Where scores are sums over tables, a permutation costs but a gather, of many collections at once.

    >>> sure = Energy(9.0 * np.eye(5))
    >>> bool(energy_bits([sure] * 4, negatives=31, draws=4, rng=np.random.default_rng(0)).min() > 3)
    True
    """
    alike = all(each.solvable for each in energies)

    def scores(part: Ints, orders: Ints) -> tuple[Floats, Floats]:
        own = [energies[i] for i in part]
        both, (b, r, n) = own[0], orders.shape
        if alike:
            flow = None if both.flow is None else np.stack([np.asarray(each.flow) for each in own])
            both = Energy(np.stack([each.at(n) for each in own]), flow)
        true = np.asarray(both.score(np.tile(np.arange(n), (b, 1))))
        return true, np.asarray(both.score(orders)).reshape(b, r)

    step = max(1, _ORDERINGS // (negatives * draws)) if alike else 1
    return _bits(scores, np.array([each.n for each in energies]), step, negatives, draws, rng)


def _bits(
    scores: Callable[[Ints, Ints], tuple[Floats, Floats]],
    lengths: Ints,
    step: int,
    negatives: int,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Bits (c, draws) of collections, ``step`` of one length at a time; scores of true (b,) and of orders (b, r, n)."""
    bits = np.zeros((len(lengths), draws))  # a single item has one order, and tells nothing
    for n in np.unique(lengths[lengths > 1]):
        numbers = np.flatnonzero(lengths == n)
        for part in (numbers[i : i + step] for i in range(0, len(numbers), step)):
            orders = rng.permuted(np.tile(np.arange(n), (len(part), negatives * draws, 1)), axis=2)
            truth, others = scores(part, orders)
            bits[part] = info_nce_bits(truth, others.reshape(len(part), draws, negatives))
    return bits


def information_of(
    score: Score,
    essences: Sequence[Floats],
    *,
    negatives: int = 31,
    draws: int = 4,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> Information:
    """How much essences (n, d) or (n,), in true order, tell about their order, by a score: (m, n, d) -> (m,).

    ``negatives``, ``draws`` and ``seed`` are those of :func:`mutual_information`; ``groups`` says whom each collection
    is by, each by somebody else by default.

    >>> rising = lambda sequences: 9 * sequences[:, :, 0] @ np.arange(sequences.shape[1])
    >>> info = information_of(rising, [np.arange(5.0)[:, np.newaxis]] * 20)
    >>> 4 < info.bits < info.ceiling
    True
    """
    if negatives < 1 or draws < 1:
        raise InputError(f"negatives and draws must be at least 1; got {negatives} and {draws}")
    if not essences:
        raise InputError("information needs at least one collection; got none")
    rng = np.random.default_rng(seed)
    sequences = [np.asarray(essence, dtype=np.float64).reshape(len(essence), -1) for essence in essences]
    lengths = np.array([len(sequence) for sequence in sequences])

    def scores(part: Ints, orders: Ints) -> tuple[Floats, Floats]:
        block = np.stack([sequences[i] for i in part])  # (b, n, d)
        (b, r, n), whose = orders.shape, np.repeat(np.arange(len(part)), orders.shape[1])
        pieces = [slice(start, start + _SEQUENCES) for start in range(0, b * r, _SEQUENCES)]
        rows = orders.reshape(b * r, n)
        others = [_score(score, block[whose[piece, np.newaxis], rows[piece]]) for piece in pieces]
        return _score(score, block), np.concatenate(others).reshape(b, r)

    bits = _bits(scores, lengths, max(1, _SEQUENCES // (1 + negatives * draws)), negatives, draws, rng)
    return summarise_bits(bits, lengths, groups, negatives)


def makers(collections: Sequence[Collection]) -> list[str]:
    """Who made each collection, however spelt; one of its own for each that does not say so."""
    return [c.maker or f"\0{c.id}" for c in collections]


def summarise_bits(drawn: Floats, lengths: Ints, groups: Sequence[Hashable] | None, negatives: int) -> Information:
    """Information from the bits of each collection and draw, (c, draws), of so many items each, (c,)."""
    bits, draws = drawn.mean(axis=1), drawn.shape[1]
    interval = mean_interval(bits, groups)
    noise = math.sqrt((drawn.var(axis=1, ddof=1) / draws).sum()) / len(bits) if draws > 1 else None
    ceilings = np.minimum(math.log2(negatives + 1), [math.lgamma(n + 1) / math.log(2) for n in lengths])
    per_length: dict[int, LengthInformation] = {}
    for n in np.unique(lengths).tolist():
        own, most = bits[lengths == n], float(ceilings[lengths == n][0])
        per_length[n] = LengthInformation(float(min(own.mean(), most)), len(own), most)
    ceiling = float(ceilings.mean())
    mean, low, high = (min(value, ceiling) for value in (interval.mean, interval.low, interval.high))
    many = len(bits) if groups is None else len(set(groups))
    return Information(mean, low, high, ceiling, negatives, draws, len(bits), per_length, many, noise)


def _score(score: Score, sequences: Floats) -> Floats:
    scores = np.asarray(score(sequences), dtype=np.float64)
    if scores.shape != (len(sequences),):
        raise InputError(f"a score must be one number per sequence: ({len(sequences)},); got shape {scores.shape}")
    if not np.isfinite(scores).all():
        raise InputError("a score must be finite; got NaN or inf")
    return scores


def information_gain(new: Any, old: Any, collections: Sequence[Collection]) -> Interval:
    """Bits of one model less those of another, with the 95 % interval of the difference.

    Both are asked about the same permutations of collections in true order, so that chance falls on both alike.
    """
    known = (model.energies(collections) for model in (new, old))
    found = [energy_bits(own, negatives=31, draws=16, rng=np.random.default_rng(0)) for own in known]
    return mean_interval((found[0] - found[1]).mean(axis=1), makers(collections))
