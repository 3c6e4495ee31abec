"""``measures``: plain measures of items and the terms they hold, beside tables over all pairs of them.

::

    {"kind": "measures",
     "features": ["words", ...], "logged": [...],   # and those of which the logarithm of 1 + the value is taken
     "pairs": ["wording", ...],                     # tables over all pairs, as the medium has them
     "words": {"en": ["sea", ...], ...}}            # by language, w in all

What an item is by itself are its measures and what its terms say of its position, each in deviations within the
collection; what two are to each other is looked up in the items by their medium, and handed in as evidence.
``lexicon.weights`` is (w, 4): what each term says. All tensors are stored as float32 and computed with as float64.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arrays import Alike, Bools, Floats
from fabula.core.collection import Collection, Evidence, Terms
from fabula.core.collections import Collections, pick_features
from fabula.core.energy import KERNELS
from fabula.errors import InputError, ModelError
from fabula.models.config import FEATURES, PAIRS, WORDS, Encoded, EncoderKind, LoadedEncoder, Settings, Shape, Tensors
from fabula.models.scorers.arcs import ON_POSITIONS

LEANINGS = ("leaning", "middle", "opening", "closing")  # what the terms of an item say of its position
_FAR = 3.0  # deviations beyond which more is no more


def measures_config(
    features: Sequence[str],
    logged: Sequence[str],
    pairs: Sequence[str],
    words: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """The configuration of a model of measures, with arcs over what items are and reach over pairs of them."""
    encoder = {"kind": "measures", "features": features, "logged": logged, "pairs": pairs, "words": words or {}}
    scorers = [ON_POSITIONS, {"kind": "reach", "pairs": pairs}]
    return {"dimensions": len(features) + len(LEANINGS), "encoder": encoder, "scorers": scorers}


def neighbour_tensors(arcs: ArrayLike, flow: ArrayLike) -> dict[str, Floats]:
    """The tensors of a model without words whose pairs count between neighbours alone: arcs (f, 12), flow (k,)."""
    table, weights = np.asarray(arcs, dtype=np.float64), np.asarray(flow, dtype=np.float64)
    if table.ndim != 2 or weights.ndim != 1:
        raise ModelError(f"arcs must be a table and flow a list; got shapes {table.shape} and {weights.shape}")
    reach = np.zeros((len(weights), KERNELS))
    reach[:, 0] = weights
    return {
        "arcs.template": np.concatenate([table, np.zeros((len(LEANINGS), table.shape[1]))]).T,
        "reach.weights": reach,
        "lexicon.weights": np.zeros((0, len(LEANINGS))),
    }


@dataclass(frozen=True, eq=False)
class MeasuresEncoder:
    """The encoder with the weights of its lexicon."""

    feature_names: tuple[str, ...]
    logged: tuple[str, ...]
    pair_names: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]
    lexicon: Mapping[str, Floats]  # by language what its words say, (w, 4)
    far: bool  # whether more than neighbours count
    by_item: ClassVar[bool] = False

    @property
    def reads(self) -> tuple[str, ...]:
        """What it takes of an item."""
        parts = ((FEATURES, self.feature_names), (WORDS, self.words), (PAIRS, self.pair_names))
        return tuple(name for name, there in parts if there)

    def raw(self, many: Collections) -> Floats:
        """It has no essence: it looks into the items and at all pairs of them."""
        raise InputError(f"this model has no essence: it {self._looks()}")

    def encode(self, many: Collections, evidence: Sequence[Evidence] | None) -> Iterator[tuple[Alike, Encoded]]:
        """What each item is by itself, one collection at a time, and what was seen in them."""
        if evidence is None or len(evidence) != len(many):
            raise InputError(f"this model {self._looks()}")
        for number, (collection, seen) in enumerate(zip(many, evidence, strict=True)):
            rows = np.arange(many.offsets[number], many.offsets[number + 1])
            alike = Alike(np.array([number]), rows[np.newaxis])
            yield alike, Encoded(self.measure(collection, seen)[np.newaxis], evidence=seen)

    def read(self, collection: Collection) -> Floats:
        """The features as they are read: shape (n, f), the logarithm of 1 + those that are ``logged``."""
        features = pick_features(collection.features, collection.feature_names, self.feature_names)
        values = np.asarray(features, dtype=np.float64)
        return np.where(np.isin(self.feature_names, self.logged), np.log1p(np.maximum(values, 0.0)), values)

    def measure(self, collection: Collection, evidence: Evidence) -> Floats:
        """How far each item stands out, in deviations: shape (n, f + 4), 0 where something is not known."""
        said = leanings(evidence.terms, self.words, self.lexicon, len(collection))
        return np.concatenate([stand_out(self.read(collection)), said], axis=1)

    def grounds(self, collection: Collection, evidence: Evidence | None) -> tuple[str, ...]:
        """The features and pairs that are known; none where no pair is, without which measures tell little."""
        pairs = {} if evidence is None else evidence.pairs
        there = [name for name in self.pair_names if name in pairs]
        if not there:
            return ()
        return (*features_known(self.feature_names, collection), *(() if self.far else there))

    def describe(self) -> list[tuple[str, str]]:
        """What it takes."""
        logged = f" (logarithm of {', '.join(self.logged)})" if self.logged else ""
        return [
            ("features", (", ".join(self.feature_names) or "none") + logged + "; any may be missing"),
            ("pairs", ", ".join(self.pair_names)),
            ("words", ", ".join(f"{len(words):,} of {language}" for language, words in self.words.items()) or "none"),
        ]

    def _looks(self) -> str:
        pairs = ", ".join(self.pair_names) or "none"
        return f"looks into the items themselves (pairs: {pairs}): order each with fabula.order, or give the evidence"


def leanings(terms: Terms | None, words: Mapping[str, Sequence[str]], weights: Mapping[str, Floats], n: int) -> Floats:
    """What the terms of each of n items say of its position, by words and weights of languages: shape (n, 4)."""
    wanted = words.get("" if terms is None else terms.language, ())
    if terms is None or not wanted:
        return np.zeros((n, len(LEANINGS)))
    return stand_out(stand_out(terms.rates(wanted)) @ weights[terms.language])


def as_measures(encoder: LoadedEncoder) -> MeasuresEncoder:
    """The encoder of a model, where it is of this kind; an error where it is not."""
    if not isinstance(encoder, MeasuresEncoder):
        raise ModelError("the model must be one of measures and pairs, as those of texts and pictures are")
    return encoder


def features_known(names: Sequence[str], collection: Collection) -> list[str]:
    """The features of these names of which some value is known."""
    there = [name for name in names if name in collection.feature_names]
    return [name for name in there if np.isfinite(collection.column(name)).any()]


def stand_out(features: Floats, logged: Bools | None = None) -> Floats:
    """How far each item stands out in each feature (n, f), in deviations within the collection; NaN counts as average.

    Where ``logged`` (f,) is True the logarithm of 1 + the value is taken.

    >>> stand_out(np.array([[1.0], [3.0]])).tolist()
    [[-1.0], [1.0]]
    """
    values = features if logged is None else np.where(logged, np.log1p(np.maximum(features, 0.0)), features)
    known = np.isfinite(values)
    count = np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, values - np.where(known, values, 0.0).sum(axis=0) / count, 0.0)
    spread = np.sqrt((centred**2).sum(axis=0) / count)
    said = spread > 1e-9
    return np.clip(np.where(said, centred / np.where(said, spread, 1.0), 0.0), -_FAR, _FAR)


def closeness(distance: NDArray[np.floating], *, own: bool = False) -> NDArray[np.floating]:
    """How much closer each pair is than its two items are to others, in deviations: shape (n, n), 0 on the diagonal.

    Centred by row and by column, so that an item that is close to all is not close to any. With ``own`` the table of
    distances is overwritten, which of very many items saves much memory.
    """
    n = len(distance)
    if n < 3:
        return np.zeros_like(distance)
    size = max(float(distance.max()), -float(distance.min())) + 1e-9  # of distances; rounding leaves a small part of it
    near = np.negative(distance, out=distance if own else None)
    near -= (near.sum(dtype=np.float64) - np.trace(near)) / (n * (n - 1))
    np.fill_diagonal(near, 0.0)
    # Without the diagonal the two kinds of means are not independent: this is the least-squares fit of both.
    rows, columns = near.sum(axis=1, dtype=np.float64), near.sum(axis=0, dtype=np.float64)
    near -= (((n - 1) * rows + columns) / (n * (n - 2)))[:, np.newaxis].astype(near.dtype)
    near -= (((n - 1) * columns + rows) / (n * (n - 2))).astype(near.dtype)
    np.fill_diagonal(near, 0.0)
    spread = float(np.linalg.norm(near)) / np.sqrt(n * (n - 1))
    near /= near.dtype.type(np.inf if spread <= 1e-6 * size else spread)  # what is noise becomes zero
    return np.asarray(near)


def _shapes(settings: Settings, item_shape: Shape, d: int) -> dict[str, Shape]:
    names: Any
    features, logged, pairs, words = (settings.get(key, []) for key in ("features", "logged", "pairs", "words"))
    if not isinstance(words, Mapping):
        raise ModelError('the configuration must list the "words" of each language')
    for names in (features, logged, pairs, *words.values()):
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ModelError('the configuration must list "features", "logged", "pairs" and "words"')
        if len(set(names)) != len(names):
            raise ModelError(f"the names in a model must be distinct; got {', '.join(names)}")
    unknown = [name for name in logged if name not in features]
    if unknown:
        raise ModelError(f"{unknown[0]!r} is not one of the features: {', '.join(features)}")
    if d != len(features) + len(LEANINGS):
        raise ModelError(f"a model of {len(features)} measures has {len(features) + len(LEANINGS)} dimensions; got {d}")
    return {"lexicon.weights": (sum(map(len, words.values())), len(LEANINGS))}


def _load(settings: Settings, tensors: Tensors, inputs: Any) -> MeasuresEncoder:
    words = {language: tuple(terms) for language, terms in settings["words"].items()}
    features, logged, pairs = (tuple(settings[key]) for key in ("features", "logged", "pairs"))
    far = "reach.weights" in tensors and bool(tensors["reach.weights"][:, 1:].any())
    parts = np.split(tensors["lexicon.weights"], np.cumsum([len(terms) for terms in words.values()]))
    lexicon = dict(zip(words, parts, strict=False))  # what is behind the last is empty
    return MeasuresEncoder(features, logged, pairs, words, lexicon, far)


MEASURES = EncoderKind(1, _shapes, load=_load)
