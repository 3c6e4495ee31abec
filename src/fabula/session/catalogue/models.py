"""The model of a catalogue, and its collections as that model takes them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Item
from fabula.core.collections import Collections
from fabula.errors import InputError
from fabula.media.medium import Medium
from fabula.models.config import PAIRS
from fabula.models.model import Model, load_essence_model, load_model
from fabula.models.transform import Transform
from fabula.session.essence import FAR, shift_to_training_range

_NOTHING = Item("")


def check_arrays(model: Model, name: str) -> Model:
    """The model, where it works on arrays."""
    if PAIRS in model.reads:
        raise InputError(f"{name} looks into the items themselves: order one collection at a time", field="model")
    return model


def essence_name(medium: Medium, known: Iterable[str]) -> str | None:
    """The medium's model of one number an item that knows most of the features there are; None where none does."""
    there = set(known)
    fitting = (name for name in medium.models if set(load_essence_model(name).feature_names) <= there)
    return next(fitting, None)


def encoder_of(medium: Medium, known: Iterable[str]) -> Model:
    """The model that encodes where none is named."""
    return _load(essence_name(medium, known) or medium.proposer)


def proposer_of(medium: Medium, known: Iterable[str]) -> Model:
    """The model that orders where none is named."""
    return _load(medium.proposer or essence_name(medium, known))


def _load(name: str | None) -> Model:
    if name is None:
        raise InputError("no model is known for these columns; name one", field="model")
    return check_arrays(load_model(name), name)


def complete(collections: Collections, medium: Medium) -> Collections:
    """The collections with the features that follow from those there are."""
    names = collections.feature_names
    whole = Collection("", (_NOTHING,) * len(collections.features), collections.features, names)
    full = medium.complete(whole)
    return collections if full is whole else collections.under(np.asarray(full.features), full.feature_names)


def shift_each_to_training_range(many: Collections, medium: Medium, model: Model) -> Collections:
    """The collections as a model can judge them: those far from all it has learned from are shifted, as one is."""
    name = essence_name(medium, many.feature_names)
    near = model if model.by_item else load_essence_model(name) if name else None
    if near is None or many.features.ndim != 2 or not set(near.feature_names) <= set(many.feature_names):
        return many
    columns = [many.feature_names.index(each) for each in near.feature_names]
    features = np.array(many.features, dtype=np.float64)
    for number in _far(features[:, columns], many.offsets, near.transform):
        rows = slice(int(many.offsets[number]), int(many.offsets[number + 1]))
        features[rows, columns] = shift_to_training_range(features[rows, columns], near.transform)[0]
    return many.under(features, many.feature_names)


def _far(features: Floats, offsets: Ints, transform: Transform) -> list[int]:
    """The collections of which most items are far out in a feature (rows, f)."""
    plain = Transform(transform.feature_names, transform.logged, transform.mean, transform.deviation)
    far = np.abs(plain.apply(features)) > FAR
    share = np.add.reduceat(far, offsets[:-1], dtype=np.float64) / np.diff(offsets)[:, np.newaxis]
    return [int(number) for number in np.flatnonzero((share >= 0.5).any(axis=1))]
