"""The model of a catalogue, and its collections as that model takes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.collections import Batch, Collections, batch_of
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import InputError
from fabula.media.medium import Medium
from fabula.models.file import AnyModel, load_essence_model, load_model
from fabula.models.model import Model
from fabula.models.sets.model import SetModel
from fabula.models.transform import Transform
from fabula.session.opening.essence import FAR, brought_near

ArrayModel = Model | SetModel
_NOTHING = Item("")


def array_model(model: AnyModel, name: str) -> ArrayModel:
    """The model, where it works on arrays.

    Raises
    ------
    InputError
        When it looks into the items themselves.
    """
    if isinstance(model, Model | SetModel):
        return model
    raise InputError(f"{name} looks into the items themselves: order one collection at a time", field="model")


def essence_name(medium: Medium, known: Iterable[str]) -> str | None:
    """The medium's model of one number an item that knows most of the features there are; None where none does."""
    there = set(known)
    fitting = (name for name in medium.models if set(load_essence_model(name).feature_names) <= there)
    return next(fitting, None)


def encoder_of(medium: Medium, known: Iterable[str]) -> ArrayModel:
    """The model that encodes where none is named."""
    name = essence_name(medium, known) or medium.proposer
    if name is None:
        raise InputError("no model is known for these columns; name one", field="model")
    return array_model(load_model(name), name)


def proposer_of(medium: Medium, known: Iterable[str]) -> ArrayModel:
    """The model that orders where none is named."""
    name = medium.proposer or essence_name(medium, known)
    if name is None:
        raise InputError("no model is known for these columns; name one", field="model")
    return array_model(load_model(name), name)


def completed(collections: Collections, medium: Medium) -> Batch:
    """The collections as a batch, with the features that follow from those there are."""
    batch = batch_of(collections)
    names = collections.feature_names
    whole = Collection("", (_NOTHING,) * len(collections.features), collections.features, names)
    full = medium.complete(whole)
    if full is whole:
        return batch
    return replace(batch, features=np.asarray(full.features), feature_names=full.feature_names)


def brought_near_each(batch: Batch, medium: Medium, model: ArrayModel) -> Batch:
    """The batch as a model can judge it: collections far from all it has learned from are brought near, as one is."""
    name = essence_name(medium, batch.feature_names or ())
    judge = model if isinstance(model, Model) else load_essence_model(name) if name else None
    if judge is None or batch.features is None or batch.feature_names is None or batch.features.ndim != 2:
        return batch
    names = judge.feature_names
    if not set(names) <= set(batch.feature_names):
        return batch
    columns = [batch.feature_names.index(each) for each in names]
    features = np.array(batch.features, dtype=np.float64)
    for number in _far(features[:, columns], batch.offsets, judge.transform):
        rows = slice(int(batch.offsets[number]), int(batch.offsets[number + 1]))
        features[rows, columns] = brought_near(features[rows, columns], judge.transform)[0]
    return replace(batch, features=features)


def _far(features: Floats, offsets: Ints, transform: Transform) -> list[int]:
    """The collections of which most items are far out in a feature (rows, f)."""
    plain = Transform(transform.feature_names, transform.logged, transform.mean, transform.deviation)
    far = np.abs(plain.apply(features)) > FAR
    share = np.add.reduceat(far, offsets[:-1], dtype=np.float64) / np.diff(offsets)[:, np.newaxis]
    return [int(number) for number in np.flatnonzero((share >= 0.5).any(axis=1))]
