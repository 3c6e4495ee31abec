"""From collections to what a set model is trained on: the transform, the vocabulary, and flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.errors import InputError
from fabula.models.encoders.set import OFFSET, Array, SetInputs, SetSpec, set_inputs, standardise
from fabula.models.titles import Title, Vocabulary, fold, learn_vocabulary, read_titles
from fabula.training.sets.data import SetData, as_data


def picked(collection: Collection, names: Sequence[str]) -> Floats:
    """Features of a collection by name, (n, f); NaN where it has none of that name."""
    there = [name in collection.feature_names for name in names]
    features = np.full((len(collection), len(names)), np.nan)
    if any(there):
        features[:, there] = collection.columns(list(compress(names, there)))
    return features


def titles_of(collection: Collection) -> list[Title]:
    """The titles of a collection, taken apart."""
    items = collection.items
    return read_titles([item.title for item in items], collection.title, [item.artist for item in items])


def artist_of(collection: Collection) -> str:
    """Whom a collection is by, for splits and counts: the folded name of its first artist, else its own id."""
    return next((fold(item.artist) for item in collection.items if item.artist), collection.id)


def learn_transform(features: Floats, spec: SetSpec) -> tuple[Array, Array]:
    """Mean and deviation (f,) of the training items' features (items, f), after the logarithms; NaN are left out."""
    raw = features.astype(np.float64)
    for name in spec.logged:
        column = spec.features.index(name)
        raw[:, column] = np.log(np.maximum(raw[:, column], 0.0) + OFFSET)
    raw = np.where(np.isfinite(raw), raw, np.nan)
    seen = ~np.isnan(raw).all(axis=0)
    if not seen.all():
        raise InputError(f"feature {spec.features[int(np.argmin(seen))]!r} is missing in all collections")
    mean, deviation = np.nanmean(raw, axis=0), np.nanstd(raw, axis=0)
    return mean.astype(np.float32), np.where(deviation > 1e-8, deviation, 1.0).astype(np.float32)


def spec_for(features: Sequence[str], *, titles: bool, logged: Sequence[str] = (), **sizes: int) -> SetSpec:
    """A specification for columns of any names: where there is a key with its mode, it stands on the circle of fifths.

    Examples
    --------
    >>> spec_for(("key", "mode", "weight"), titles=False).circle
    'key'
    """
    musical = {"key", "mode"} <= set(features)
    kept = tuple(name for name in logged if name in features)
    plain = {"features": tuple(features), "logged": kept, "titles": titles, **sizes}
    return SetSpec.from_dict({**plain, **({"circle": "key", "mode": "mode"} if musical else {})})


def learn_inputs(
    collections: Sequence[Collection], spec: SetSpec, *, tokens: int, grams: int
) -> tuple[SetSpec, Array, Array, Vocabulary]:
    """What a model must know to read items: the specification with its vocabulary's sizes, mean, deviation, vocabulary.

    Parameters
    ----------
    collections
        Those to train on.
    tokens, grams
        By how many artists a token or gram must be used.
    """
    features = np.concatenate([picked(collection, spec.features) for collection in collections])
    mean, deviation = learn_transform(features, spec) if spec.features else (np.zeros(0, np.float32),) * 2
    vocabulary = Vocabulary((), ())
    if spec.titles:
        named = ((artist_of(collection), titles_of(collection)) for collection in collections)
        vocabulary = learn_vocabulary(named, tokens=tokens, grams=grams)
    spec = replace(spec, tokens=len(vocabulary.tokens), grams=len(vocabulary.grams))
    return spec, mean, deviation, vocabulary


def prepare(
    collections: Sequence[Collection], spec: SetSpec, mean: Array, deviation: Array, vocabulary: Vocabulary
) -> SetData:
    """Collections in true order as data for training or measuring; groups are artists."""
    numbers: dict[str, int] = {}
    groups = [numbers.setdefault(artist_of(collection), len(numbers)) for collection in collections]
    return as_data([as_inputs(c, spec, mean, deviation, vocabulary) for c in collections], groups)


def as_inputs(
    collection: Collection, spec: SetSpec, mean: Array, deviation: Array, vocabulary: Vocabulary
) -> SetInputs:
    """One collection as inputs of B = 1."""
    z, known = standardise(picked(collection, spec.features), spec, mean, deviation)
    return set_inputs(z[None], known[None], [titles_of(collection)] if spec.titles else None, vocabulary)
