"""From a source to the essence of its items: a column, or what a model makes of their features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabula.core.essence import Floats, normalise
from fabula.core.ordering import Ints
from fabula.errors import InputError, ModelError
from fabula.models.file import load_model
from fabula.models.model import Model
from fabula.models.transform import Transform, log_parts
from fabula.session.sources import SOUND, Measuring, Source, measured
from fabula.sources.tables.reading import read_table

_PREFERRED = ("albums", "audio")  # shipped models, the one that knows more first
_FAR = 4.0  # deviations from what a model was trained on


@dataclass(frozen=True, eq=False)
class Essence:
    """The essence of a source's items.

    Attributes
    ----------
    source
        With the features it was made of.
    values
        Shape (n,) or (n, d), z-scored, in the order given.
    features
        Their names.
    model
        What made it; None for a column.
    notes
        What the user should know of it.
    """

    source: Source
    values: Floats
    features: tuple[str, ...]
    model: Model | None = None
    notes: tuple[str, ...] = ()

    def without(self, left_out: Sequence[int] | Ints, why: str) -> Essence:
        """The essence of the other items, on their own scale; a note says why, and which are left out."""
        if not len(left_out):
            return self
        items = self.source.collection.items
        kept = np.setdiff1d(np.arange(len(items)), left_out)
        out = ", ".join(items[i].label for i in sorted(left_out))
        values = normalise(self.values[kept])
        return replace(
            self, source=self.source.only(kept.tolist()), values=values, notes=(*self.notes, f"{why}: {out}")
        )


def find_essence(source: Source, *, by: str | None, model: str | None, measuring: Measuring) -> Essence:
    """The essence of a source: the column the user named, or a model's.

    Parameters
    ----------
    source
        What was read.
    by
        A column.
    model
        A shipped model or a file; by default the shipped one that knows most of the features there are.
    measuring
        How sound is measured, where that is needed.
    """
    if by is not None and model is not None:
        raise InputError("give either --by or --model, not both")
    if by is not None:
        return _by_column(source, by, measuring)
    chosen = load_model(model) if model is not None else _default_model(source)
    missing = [name for name in chosen.feature_names if name not in source.collection.feature_names]
    if missing and source.kind != "table" and set(chosen.feature_names) <= set(SOUND):
        source, missing = measured(source, measuring), []
    if missing:
        known = ", ".join(source.collection.feature_names) or "none"
        raise ModelError(
            f"{source.path}: the model needs {', '.join(chosen.feature_names)}; missing: {', '.join(missing)} "
            f"(it has: {known})"
        )
    features, notes = brought_near(source.collection.columns(chosen.feature_names), chosen.transform)
    values = chosen.encode(features)
    scalar = values[:, 0] if values.shape[1] == 1 else values
    return Essence(source, scalar, chosen.feature_names, chosen, (*_doubts(scalar), *notes))


def _by_column(source: Source, by: str, measuring: Measuring) -> Essence:
    known = source.collection.feature_names
    if source.kind != "table" and by not in known and by in SOUND:
        source = measured(source, measuring)
        known = source.collection.feature_names
    name = next((k for k in known if k.casefold() == by.casefold()), by)
    if name in known:
        values = source.collection.column(name)
        if np.isfinite(values).all():
            return Essence(source, normalise(values), (name,))
    if source.kind == "table":
        read_table(source.path, features=[name])  # says which row and column
    if name not in known:
        there = ", ".join(dict.fromkeys((*known, *SOUND)))
        raise InputError(f"{source.path}: has no column {by!r}; there are: {there}")
    item = int(np.flatnonzero(~np.isfinite(values))[0])
    raise InputError(f"{source.path}: {source.collection.items[item].label!r} (item {item + 1}) has no {name!r}")


def _default_model(source: Source) -> Model:
    if source.kind != "table":
        return load_model("audio")
    known = set(source.collection.feature_names)
    for name in _PREFERRED:
        model = load_model(name)
        if set(model.feature_names) <= known:
            return model
    there = ", ".join(source.collection.feature_names) or "no numbers"
    raise InputError(f"{source.path}: say which column is the essence with --by; there are: {there}")


def brought_near(features: Floats, transform: Transform) -> tuple[Floats, list[str]]:
    """Features as a model can judge them, and what was done to them.

    Where most items of a collection lie far from anything the model was trained on (pieces of ten seconds, symphonies),
    it knows nothing of them as they are. Such a feature is taken relative to the collection: shifted, or scaled where
    the model takes its logarithm, so that its median is that of the training items.

    Parameters
    ----------
    features
        Shape (n, f), columns as the transform has them; other shapes are left as they are.
    transform
        The model's.
    """
    if features.ndim != 2:
        return features, []
    near, notes = features.copy(), []
    plain = Transform(transform.feature_names, transform.logged, transform.mean, transform.deviation)
    distance = plain.apply(features)
    constants = dict(log_parts(text, transform.feature_names) for text in transform.logged)
    for column, name in enumerate(transform.feature_names):
        share = float((np.abs(distance[:, column]) > _FAR).mean())
        if share < 0.5:
            continue
        shift = -float(np.median(distance[:, column])) * float(transform.deviation[column])
        offset = constants.get(name)
        values = near[:, column]
        near[:, column] = values + shift if offset is None else (values + offset) * np.exp(shift) - offset
        notes.append(f"{name} is far from what the model was trained on: it was taken relative to this collection")
    return near, notes


def _doubts(values: Floats) -> list[str]:
    """When the model has little to say."""
    n = len(values)
    if n < 4:
        return [f"only {n} item(s): a model can say little about so few"]
    if not np.any(values):
        return ["the items are all alike to the model: any order is as good as another"]
    return []
