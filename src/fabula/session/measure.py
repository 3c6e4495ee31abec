"""From a source to the essence of its items: features, embeddings of the user's own, what a model makes of them.

An embedding is a column of lists in a table, or an ONNX model that reads what items say. It gives steps between items,
by the cosine, and a column ``embedding``: where each item lies along the direction in which they differ most.
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.arrays import Floats, normalise
from fabula.core.collection import Collection, Item
from fabula.errors import FileError, InputError, ModelError, import_extra, shown
from fabula.media.extraction import Extraction, Measuring, extract
from fabula.media.facts import Axis
from fabula.media.medium import Medium, Step, detail_column
from fabula.models.model import Model, load_essence_model, load_model
from fabula.models.transform import Transform, log_parts
from fabula.session.propose import APART, Likelihood, judge
from fabula.sources.registry import Source
from fabula.sources.tables.read_table import read_table
from fabula.sources.tables.roles import feature_name


def measure(source: Source, measuring: Measuring, *, spec: str | None = None) -> Source:
    """The source with the features of its files: by default the first spec of its medium.

    Items that cannot be measured are no items of the result. Where they are entries of a playlist they keep their
    position in it; either way a note tells them by name. Refused where none can be measured.
    """
    items = source.collection.items
    there = [i for i, item in enumerate(items) if item.path]
    found = extract([items[i].path for i in there], source.medium.spec(spec), measuring)
    problems = [(item, "is not a file") for item in items if not item.path]
    messages = dict(found.problems)
    problems += [(items[i], messages[items[i].path]) for i in there if items[i].path in messages]
    if not found.kept:
        item, why = problems[0]
        first = why if item.path else f"{item.label}: {why}"
        many = f"{shown(str(source.path))}: none of its {len(problems)} files can be measured; the first: {first}"
        raise FileError(first if len(problems) == 1 else many)
    kept = source.only([there[i] for i in found.kept])
    collection = add_columns(kept, found)
    doubts = source.medium.telling.doubts(collection)
    left = (*source.left_out, *(_tell(item, why) for item, why in problems))
    return replace(kept, collection=collection, left_out=left).with_notes(*doubts).with_lengths()


def _tell(item: Item, why: str) -> tuple[str, str]:
    """The name of an item, and what is wrong with it."""
    named = shown(Path(item.path).name) if item.path else item.label
    return named, why.removeprefix(f"{shown(item.path)}: ") if item.path else why


def add_columns(source: Source, found: Extraction) -> Collection:
    """What was measured, and beside it what the source and the tags of the files say, where all are plain numbers."""
    collection = source.collection
    if found.features.ndim > 2:
        return replace(collection, features=found.features, feature_names=found.feature_names)
    measured = dict(zip(found.feature_names, found.features.T, strict=True))
    said = np.moveaxis(np.asarray(collection.features, dtype=np.float64), 1, 0)
    columns = measured | dict(zip(collection.feature_names, said, strict=True)) | measured
    for name in source.medium.columns:
        if any(name in item.details for item in collection.items):  # NaN where tags do not give the number
            columns.setdefault(name, detail_column(collection, name))
    features = np.column_stack(list(columns.values())) if columns else np.empty((len(collection), 0))
    return replace(collection, features=features, feature_names=tuple(columns))


def with_detail(source: Source, by: str) -> Source:
    """The source with a column of what its items say in a detail, where any says a number there."""
    said = source.collection.detail_named(by)
    if said is None or source.collection.features.ndim > 2:
        return source
    column = detail_column(source.collection, said)
    if np.isnan(column).all():
        return source
    features = np.column_stack([source.collection.features, column])
    named = (*source.collection.feature_names, feature_name(said))
    return replace(source, collection=replace(source.collection, features=features, feature_names=named))


def foresee_lengths(source: Source) -> Source:
    """The source with what is said of its items, and their lengths as far as that tells them: nothing is measured."""
    n = len(source.collection)
    if source.collection.features.ndim > 2:
        return source.with_lengths()
    said = add_columns(source, Extraction(np.empty((n, 0)), (), tuple(range(n))))
    return replace(source, collection=said).with_lengths()


# Embeddings.

EMBEDDING = "embedding"
_AT_A_TIME = 32  # items that a model reads


def embed(source: Source, where: str) -> tuple[Source, dict[str, Floats]]:
    """A source with the column ``embedding``, and the vector of each item by its id.

    `where` is a column of a table, each cell a list of as many numbers; or a file ``.onnx`` with one input, texts of
    shape (N,) or (N, 1), whose first output is N vectors, shape (N, d).
    """
    vectors = _embed_by_model(source, where) if where.lower().endswith(".onnx") else _embed_by_column(source, where)
    collection = source.collection
    if collection.features.ndim != 2:
        raise InputError("goes with items whose features are plain numbers", field=EMBEDDING)
    features = np.column_stack([collection.features, along(vectors)])
    named = replace(collection, features=features, feature_names=(*collection.feature_names, EMBEDDING))
    return replace(source, collection=named), dict(zip((item.id for item in collection.items), vectors, strict=True))


def along(vectors: Floats) -> Floats:
    """Where each of n vectors lies along their first principal component: shape (n,).

    The component has no direction of its own: it is turned so that its largest weight is positive.

    >>> along(np.array([[0.0, 1], [2, 1], [4, 1]])).tolist()
    [-2.0, 0.0, 2.0]
    """
    centred = vectors - vectors.mean(axis=0)
    main = np.linalg.svd(centred, full_matrices=False)[2][0]
    turned = main * np.sign(main[np.argmax(np.abs(main))])
    return np.asarray((centred @ turned).round(9) + 0.0)


def embedding_step(vectors: Floats) -> Step:
    """How far vectors are apart: 100 less their cosines in per cent, shape (n, n).

    >>> embedding_step(np.array([[1.0, 0], [0, 2]])).distance.tolist()
    [[0.0, 100.0], [100.0, 0.0]]
    """
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = vectors / np.where(length > 0, length, 1.0)
    apart = 100 * np.clip(1 - rows @ rows.T, 0, 2)
    np.fill_diagonal(apart, 0.0)
    return Step(EMBEDDING, "% apart", apart)


def _embed_by_column(source: Source, name: str) -> Floats:
    table = source.table
    if table is None:
        raise InputError(f"takes a column of a table, or a model as .onnx; got {name!r}", field=EMBEDDING)
    if name not in table.columns:
        raise InputError(f"there is no column {name!r}; there are: {', '.join(table.columns)}", field=EMBEDDING)
    vectors = []
    for row in map(int, source.rows):
        cell = table.columns[name].values[row]
        try:
            vector = np.asarray(json.loads(cell) if isinstance(cell, str) else cell, dtype=np.float64)
        except (TypeError, ValueError):
            vector = np.empty(0)
        if vector.ndim != 1 or vector.size < 2 or not np.isfinite(vector).all():
            told = f"{table.path}: {table.row(row)}, column {name!r}: must be a list of numbers"
            raise InputError(told, field=EMBEDDING)
        vectors.append(vector)
    sizes = sorted(set(map(len, vectors)))
    if len(sizes) > 1:
        rule = f"all must be of one length; got {sizes[0]} and {sizes[-1]}"
        raise InputError(f"{table.path}: column {name!r}: {rule}", field=EMBEDDING)
    return np.stack(vectors)


def _embed_by_model(source: Source, path: str) -> Floats:
    medium = source.medium
    if medium.content is None:
        raise InputError(f"a model that reads texts cannot read {medium.words.items}", field=EMBEDDING)
    if not Path(path).is_file():
        raise FileError(f"{shown(path)}: no such file")
    texts = []
    for item in source.collection.items:
        where = str(source.folder / item.path) if item.path and source.files else ""
        texts.append(medium.content(replace(item, path=where)))
    onnx = import_extra("onnxruntime", extra="embedding", purpose="embeddings by an ONNX model")
    try:
        model = onnx.InferenceSession(path, providers=["CPUExecutionProvider"])
        return _read(model, texts, path)
    except InputError:
        raise
    except Exception as error:  # onnxruntime has errors of its own, of no common kind
        raise FileError(f"{shown(path)}: cannot be used ({shown(str(error).splitlines()[0])[:200]})") from error


def _read(model: Any, texts: Sequence[str], path: str) -> Floats:
    inputs = model.get_inputs()
    if len(inputs) != 1 or inputs[0].type != "tensor(string)":
        got = ", ".join(f"{one.name}: {one.type}" for one in inputs)
        rule = "must have one input, texts (tensor(string) of shape (N,) or (N, 1)), its tokens found within"
        raise InputError(f"{shown(path)}: {rule}; got {got}", field=EMBEDDING)
    deep = len(inputs[0].shape) > 1
    found = []
    for start in range(0, len(texts), _AT_A_TIME):
        batch = np.array(texts[start : start + _AT_A_TIME], dtype=object)
        output = model.run(None, {inputs[0].name: batch[:, np.newaxis] if deep else batch})[0]
        rows = np.asarray(output, dtype=np.float64)
        if rows.ndim != 2 or len(rows) != len(batch) or rows.shape[1] < 2 or not np.isfinite(rows).all():
            rule = "its first output must be finite, of shape (N, d) with d of 2 or more"
            raise InputError(f"{shown(path)}: {rule}; got {rows.shape} for {len(batch)} texts", field=EMBEDDING)
        found.append(rows)
    return np.concatenate(found)


# From a source to the essence of its items: a column, or what a model makes of their features.

_FEW = 0.25  # share of the items of which a measure may be missing
_NAMED = 40  # columns that are named, of those there are
FAR = 4.0  # deviations from what a model was trained on


@dataclass(frozen=True, eq=False)
class Essence:
    """The essence of a source's items, and what proposes their order."""

    source: Source  #: where they came from, with the features it was made of
    essence: Floats  #: (n,) or (n, d), z-scored, in the order given
    features: tuple[str, ...] = ()  #: their names
    model: Model | None = None  #: what made it; None for a column
    likelihood: Likelihood | None = None  #: of a model that proposes the order where no template is asked for
    axis: Axis | None = None  #: what it is before it is z-scored, where it has a name and a unit: energy, 0 to 100
    notes: tuple[str, ...] = ()  #: what the user should know


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
        return _essence_by_column(source, by, measuring)
    if model is None and guess and not source.files:
        shown, proposes = source.medium.shown, source.medium.proposer is not None
        # Of tracks whose lengths alone are known a model says more.
        usable = [name for name in usable_columns(source.collection) if not proposes or shown(name) != "length"]
        if usable and find_model(source.medium, source.collection.feature_names) is None:
            if proposes and set(source.medium.measured) <= set(source.collection.feature_names):
                with suppress(InputError):  # parts of a file, texts in a table: those a model reads, where it still can
                    return _by_likelihood(source, None, measuring, readable)
            name = next((name for name in source.medium.columns if name in usable), usable[0])
            note = f"ordered by {name}: another column may be chosen"
            return _essence_by_column(source, name, measuring, (note,))
    if model is None and source.medium.proposer is not None:
        return _by_likelihood(source, None, measuring, readable)
    if model is None and not source.medium.models:
        return _essence_by_default(source, measuring)
    known = source.medium.measured if source.files else source.collection.feature_names
    which = find_model(source.medium, known) if model is None else model
    if which is None:
        raise _no_column(source)
    chosen = load_model(which)
    if chosen.by_item:
        return _essence_by_model(source, chosen, measuring)
    return _by_likelihood(source, chosen, measuring, readable)


def _by_likelihood(source: Source, model: Model | None, measuring: Measuring, readable: Sequence[Item]) -> Essence:
    """A model proposes the order, by default the medium's; the medium's axis or a model of one dimension draws it."""
    files = source.files and any(item.path for item in source.collection.items)
    drawing = find_model(source.medium, source.medium.measured if files else source.collection.feature_names)
    if drawing is not None:
        found = _essence_by_model(source, load_essence_model(drawing), measuring)
    else:
        there = _measure(source, measuring) if files else source
        found = Essence(there, np.zeros(len(there.collection)), ())
    judged = _near(found)
    if not source.files:  # a saved session may name any path
        judged = replace(judged, items=tuple(readable) or tuple(replace(item, path="") for item in judged.items))
    name, why = source.medium.special(judged) if model is None else ("", "")
    chosen = model or load_model(name or str(source.medium.proposer))
    likelihood = replace(judge(chosen, found.source.collection, source.medium, judged), taken=why)
    if model is None and source.medium.varied is not None and likelihood.scattered:
        name, how = source.medium.varied
        why = f"a guess: these {source.medium.words.items} {APART}, and are laid out for variety: {how}"
        likelihood = replace(likelihood, model=load_model(name), taken=why)
    heard = likelihood.model.grounds(judged, likelihood.evidence)
    if not heard:
        raise _no_column(source)
    found, axis = replace(found, features=heard, likelihood=likelihood), source.medium.axis(found.source.collection)
    if axis is not None:
        alike = [] if np.ptp(axis.values) else [f"all items have the same {axis.name}: no arc can be drawn"]
        return replace(found, essence=normalise(axis.values), model=None, axis=axis, notes=(*found.notes, *alike))
    if found.model is not None:
        return found
    values, notes, usable = likelihood.essence(), found.notes, usable_columns(likelihood.collection)
    column = next((name for name in source.medium.columns if name in usable), None)
    if not np.any(values) and column is not None:  # items lean nowhere: the arc is of the medium's first column
        values = normalise(likelihood.collection.column(column))
        note = f"the model knows what follows what, and of no arc: the one drawn is of {source.medium.shown(column)}"
        notes = (*notes, note)
    return replace(found, essence=values, notes=notes)


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


def _essence_by_model(source: Source, model: Model, measuring: Measuring) -> Essence:
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
    scalar, n = values[:, 0] if values.shape[1] == 1 else values, len(values)
    if n < 4:
        notes.insert(0, f"only {n} {'item' if n == 1 else 'items'}: a model can say little about so few")
    elif not np.any(scalar):
        notes.insert(0, "the items are all alike to the model: any order is as good as another")
    return Essence(source, scalar, model.feature_names, model, notes=tuple(notes))


def _essence_by_column(source: Source, by: str, measuring: Measuring, notes: tuple[str, ...] = ()) -> Essence:
    can_measure = source.medium.measured if source.files else ()
    if by.casefold() == source.medium.axis_name and not source.medium.meant(by, source.collection.feature_names):
        along = _find_axis(source, measuring)
        if along is not None:
            return along
    if source.medium.meant(by, source.collection.feature_names) is None:
        said = with_detail(source, by)
        if source.medium.meant(by, can_measure) or (said is not source and can_measure):
            source = measure(source, measuring)
            said = source if source.medium.meant(by, source.collection.feature_names) else with_detail(source, by)
        source = said
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
        details = (one for one in source.collection.detail_names if with_detail(source, one) is not source)
        there = ", ".join(dict.fromkeys((*known, *can_measure, *details))) or "none"
        raise InputError(f"{source.path}: has no column {by!r}; there are: {there}")
    item = int(np.flatnonzero(~np.isfinite(values))[0])
    why = source.medium.unknown.get(name)
    who = f"{source.path}: {source.collection.items[item].label!r} (item {item + 1}) has no {name!r}"
    raise InputError(f"{who}: {why}" if why else who)


def _essence_by_default(source: Source, measuring: Measuring) -> Essence:
    """The essence where no model knows the medium: its axis, or the first of the columns that it has for an arc."""
    there = _measure(source, measuring) if source.files and source.medium.specs else source
    along = _find_axis(there, measuring)
    if along is not None:
        return along
    usable = [name for name in usable_columns(there.collection) if name not in source.medium.codes]
    if not usable or not (source.medium.specs or source.medium.columns):
        raise _no_column(there)
    name = next((name for name in source.medium.columns if name in usable), usable[0])
    items, called = source.medium.words.items, source.medium.shown(name)
    note = f"no model knows {items}: ordered by {called}; another column may be chosen"
    return _essence_by_column(there, name, measuring, (note,))


def _find_axis(source: Source, measuring: Measuring) -> Essence | None:
    """The essence along the medium's axis; None where that cannot be known."""
    axis = source.medium.axis(source.collection)
    if axis is None and source.files:
        source = _measure(source, measuring)
        axis = source.medium.axis(source.collection)
    return None if axis is None else Essence(source, normalise(axis.values), (axis.name,), axis=axis)


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


def find_model(medium: Medium, known: Iterable[str]) -> str | None:
    """The medium's model of one number an item that knows most of the features there are; None where none does."""
    there = set(known)
    return next((name for name in medium.models if set(load_essence_model(name).feature_names) <= there), None)


def _no_column(source: Source) -> InputError:
    names = source.collection.feature_names
    if not names and source.files:
        told = f"nothing is measured of {source.medium.words.items}, so there is no number to order them by"
        return InputError(f"{source.path}: {told}; a table with a column of numbers can be ordered")
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    there = ", ".join(names[:_NAMED]) + more or "no numbers"
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
    distance = replace(transform, bound=0.0).apply(features)
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
