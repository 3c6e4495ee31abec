"""From a source to the essence of its items: a column, or what a model makes of their features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabula.core.arrays import Floats, normalise
from fabula.core.collection import Collection, Item
from fabula.errors import InputError, ModelError
from fabula.media.extraction import Measuring
from fabula.media.medium import Medium
from fabula.models.model import Model, load_essence_model, load_model
from fabula.models.transform import Transform, log_parts
from fabula.session.measure import measure
from fabula.session.propose import Likelihood, judge
from fabula.sources.source import Source
from fabula.sources.tables.read_table import read_table
from fabula.sources.tables.roles import feature_name

_FEW = 0.25  # share of the items of which a measure may be missing
FAR = 4.0  # deviations from what a model was trained on


@dataclass(frozen=True, eq=False)
class Essence:
    """The essence of a source's items."""

    source: Source  # with the features it was made of
    values: Floats  # (n,) or (n, d), z-scored, in the order given
    features: tuple[str, ...]  # their names
    model: Model | None = None  # what made it; None for a column
    likelihood: Likelihood | None = None  # what a model says of the collection, which then proposes the order
    notes: tuple[str, ...] = ()  # what the user should know of it


def find_essence(
    source: Source,
    measuring: Measuring,
    *,
    by: str | None = None,
    model: str | None = None,
    guess: bool = False,
    readable: Sequence[Item] = (),
) -> Essence:
    """The essence of a source: the column the user named, or a model's.

    By default that of the medium's model that knows most of the features there are; with ``guess`` a likely column
    where none knows them, which a note says. ``readable`` are the items as they can be read, where those of the source
    are no files; by default nothing they name is.
    """
    if by is not None and model is not None:
        raise InputError("give either a column (by) or a model, not both")
    if by is not None:
        return _by_column(source, by, measuring)
    if model is None and guess and not source.files:
        usable = usable_columns(source.collection)
        if usable and not _models(source.medium, source.collection.feature_names):
            name = next((name for name in source.medium.columns if name in usable), usable[0])
            note = f"ordered by {name}: another column may be chosen"
            return _by_column(source, name, measuring, (note,))
    if model is None and source.medium.proposer is not None:
        return _by_likelihood(source, load_model(source.medium.proposer), measuring, readable)
    chosen = load_model(model) if model is not None else _default_model(source)
    if chosen.by_item:
        return _by_model(source, chosen, measuring)
    return _by_likelihood(source, chosen, measuring, readable)


def _by_likelihood(source: Source, model: Model, measuring: Measuring, readable: Sequence[Item]) -> Essence:
    """A model proposes the order; a model of one dimension, where one knows the features, draws the arc."""
    files = source.files and any(item.path for item in source.collection.items)
    if _models(source.medium, source.medium.measured if files else source.collection.feature_names):
        found = _by_model(source, _default_model(source), measuring)
    else:
        there = _measure(source, measuring) if files else source
        found = Essence(there, np.zeros(len(there.collection)), ())
    judged = _near(found)
    if not source.files:  # a saved session may name any path
        judged = replace(judged, items=tuple(readable) or tuple(replace(item, path="") for item in judged.items))
    likelihood = judge(model, found.source.collection, source.medium, judged)
    heard = likelihood.grounds()
    if not heard:
        raise _no_column(source)
    if found.model is not None:
        return replace(found, features=heard, likelihood=likelihood)
    values, notes = _draw_arc(likelihood, source.medium)
    return replace(found, values=values, features=heard, likelihood=likelihood, notes=(*found.notes, *notes))


def _draw_arc(likelihood: Likelihood, medium: Medium) -> tuple[Floats, tuple[str, ...]]:
    """What the arc is drawn of: where items lean to; or, where the model knows of no arc, the medium's first column."""
    values = likelihood.essence()
    usable = usable_columns(likelihood.collection)
    name = next((name for name in medium.columns if name in usable), None)
    if np.any(values) or name is None:
        return values, ()
    note = f"the model knows what follows what, and of no arc: the one drawn is of {medium.shown(name)}"
    return normalise(likelihood.collection.column(name)), (note,)


def _near(found: Essence) -> Collection:
    """The collection as a model can judge it: features far from all it has learned from are brought near."""
    collection = found.source.collection
    if found.model is None:
        return collection
    names = list(found.model.feature_names)
    near, moved = shift_to_training_range(collection.columns(names), found.model.transform)
    if not moved:
        return collection
    features = np.array(collection.features, dtype=np.float64)
    features[:, [collection.feature_names.index(name) for name in names]] = near
    return replace(collection, features=features)


def usable_columns(collection: Collection) -> list[str]:
    """The features that can be an essence: one number, known of every item."""
    if collection.features.ndim > 2:
        return []
    known = np.isfinite(collection.features).all(axis=0)
    return [name for name, usable in zip(collection.feature_names, known, strict=True) if usable]


def _by_model(source: Source, model: Model, measuring: Measuring) -> Essence:
    known = source.collection.feature_names
    missing = [name for name in model.feature_names if name not in known]
    if source.files and set(model.feature_names) <= set(source.medium.measured):
        source, missing = _measure(source, measuring), []
    if missing:
        there = ", ".join(known) or "none"
        raise ModelError(
            f"{source.path}: the model needs {', '.join(model.feature_names)}; missing: {', '.join(missing)} "
            f"(it has: {there})"
        )
    features, far = shift_to_training_range(source.collection.columns(model.feature_names), model.transform)
    near = f"only differences within the {source.medium.words.collection} count"
    notes = [f"{source.medium.shown(name)} is far from what the model has learned from: {near}" for name in far]
    values = model.encode(features)
    scalar = values[:, 0] if values.shape[1] == 1 else values
    return Essence(source, scalar, model.feature_names, model, notes=(*_doubts(scalar), *notes))


def _by_column(source: Source, by: str, measuring: Measuring, notes: tuple[str, ...] = ()) -> Essence:
    can_measure = source.medium.measured if source.files else ()
    if source.medium.meant(by, source.collection.feature_names) is None and source.medium.meant(by, can_measure):
        source = measure(source, measuring)
    known = source.collection.feature_names
    name = source.medium.meant(by, known) or feature_name(by)
    if name in known:
        values, told = _middling(source, name)
        notes = (*notes, *told)
        if np.isfinite(values).all():
            alike = [] if np.ptp(values) else [f"all items have the same {name}: any order is as good as another"]
            return Essence(source, normalise(values), (name,), notes=(*notes, *alike))
    if source.table is not None:
        read_table(source.path, features=[by])  # says which row and column
    if name not in known:
        there = ", ".join(dict.fromkeys((*known, *can_measure))) or "none"
        raise InputError(f"{source.path}: has no column {by!r}; there are: {there}")
    item = int(np.flatnonzero(~np.isfinite(values))[0])
    why = source.medium.unknown.get(name)
    who = f"{source.path}: {source.collection.items[item].label!r} (item {item + 1}) has no {name!r}"
    raise InputError(f"{who}: {why}" if why else who)


def _middling(source: Source, name: str) -> tuple[Floats, list[str]]:
    """A column, and a note where it is not known of a few items by their nature, which then are taken as average."""
    values, why = source.collection.column(name), source.medium.unknown.get(name)
    missing = np.flatnonzero(~np.isfinite(values))
    if why is None or not len(missing) or len(missing) > _FEW * len(values):
        return values, []
    first = source.collection.items[missing[0]].label
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    note = f"{source.medium.shown(name)} is not known of {first!r}{more} ({why}): taken as average"
    return np.where(np.isfinite(values), values, np.nanmean(values)), [note]


def _measure(source: Source, measuring: Measuring) -> Source:
    """A source of files with what can be measured of them."""
    names, known = source.collection.feature_names, source.collection.column
    complete = all(name in names and np.isfinite(known(name)).all() for name in source.medium.measured)
    return source if complete else measure(source, measuring)


def _models(medium: Medium, known: Iterable[str]) -> list[str]:
    """The medium's models that know only these features, or what can be measured."""
    there = set(known)
    return [name for name in medium.models if set(load_essence_model(name).feature_names) <= there]


def _default_model(source: Source) -> Model:
    known = source.medium.measured if source.files else source.collection.feature_names
    usable = _models(source.medium, known)
    if usable:
        return load_essence_model(usable[0])
    raise _no_column(source)


def _no_column(source: Source) -> InputError:
    there = ", ".join(source.collection.feature_names) or "no numbers"
    return InputError(f"{source.path}: say which column is the essence; there are: {there}", field="by")


def shift_to_training_range(features: Floats, transform: Transform) -> tuple[Floats, list[str]]:
    """Features (n, f) as a model can judge them, and the names of those that were moved.

    Where most items of a collection lie far from anything the model was trained on (pieces of ten seconds, symphonies),
    it knows nothing of them as they are. Such a feature is taken relative to the collection: shifted, or scaled where
    the model takes its logarithm, so that its median is that of the training items.
    """
    if features.ndim != 2:
        return features, []
    near, moved = features.copy(), []
    plain = Transform(transform.feature_names, transform.logged, transform.mean, transform.deviation)
    distance = plain.apply(features)
    constants = dict(log_parts(text, transform.feature_names) for text in transform.logged)
    for column, name in enumerate(transform.feature_names):
        share = float((np.abs(distance[:, column]) > FAR).mean())
        if share < 0.5:
            continue
        shift = -float(np.median(distance[:, column])) * float(transform.deviation[column])
        offset = constants.get(name)
        values = near[:, column]
        near[:, column] = values + shift if offset is None else (values + offset) * np.exp(shift) - offset
        moved.append(name)
    return near, moved


def _doubts(values: Floats) -> list[str]:
    """When the model has little to say."""
    n = len(values)
    if n < 4:
        return [f"only {n} item(s): a model can say little about so few"]
    if not np.any(values):
        return ["the items are all alike to the model: any order is as good as another"]
    return []
