"""The features of a source: measured where its items are files, and embeddings of the user's own.

An embedding is a column of lists in a table, or an ONNX model that reads what items say. It gives steps between items,
by the cosine, and a column ``embedding``: where each item lies along the direction in which they differ most.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.arrays import Floats
from fabula.core.collection import Collection, Item
from fabula.errors import FileError, InputError, import_extra, shown
from fabula.media.extraction import Extraction, Measuring, extract
from fabula.media.steps import Step, Steps
from fabula.sources.source import Source


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
        raise FileError(_none_usable(source, problems))
    start = "kept where it stands, not measured" if source.playlist is not None else "left out"
    notes = [f"{start}: {_tell(item, why)}" for item, why in problems]
    kept = source.only([there[i] for i in found.kept])
    collection = add_columns(kept, found)
    doubts = source.medium.telling.doubts(collection)
    return replace(kept, collection=collection).with_notes(*notes, *doubts).with_lengths()


def _tell(item: Item, why: str) -> str:
    """What is wrong with an item, its name in front where that is not said already."""
    return why if item.path and why.startswith(f"{shown(item.path)}:") else f"{item.label}: {why}"


def add_columns(source: Source, found: Extraction) -> Collection:
    """What was measured, and beside it what the source and the tags of the files say, where all are plain numbers."""
    collection = source.collection
    if found.features.ndim > 2:
        return replace(collection, features=found.features, feature_names=found.feature_names)
    columns = dict(zip(found.feature_names, found.features.T, strict=True))
    for name in collection.feature_names:
        columns.setdefault(name, collection.column(name))
    for name in source.medium.columns:
        if any(name in item.details for item in collection.items):  # NaN where tags do not give the number
            values = [item.details.get(name) for item in collection.items]
            numbers = [float(value) if isinstance(value, int | float) else np.nan for value in values]
            columns.setdefault(name, np.array(numbers))
    return replace(collection, features=np.column_stack(list(columns.values())), feature_names=tuple(columns))


def _none_usable(source: Source, problems: list[tuple[Item, str]]) -> str:
    item, why = problems[0]
    first = why if item.path else f"{item.label}: {why}"
    if len(problems) == 1:
        return first
    return f"{shown(str(source.path))}: none of its {len(problems)} files can be measured; the first: {first}"


# Embeddings.

EMBEDDING = "embedding"
_AT_A_TIME = 32  # items that a model reads


def embed(source: Source, where: str) -> tuple[Source, dict[str, Floats]]:
    """A source with the column ``embedding``, and the vector of each item by its id.

    `where` is a column of a table, each cell a list of as many numbers; or a file ``.onnx`` with one input, texts of
    shape (N,) or (N, 1), whose first output is N vectors, shape (N, d).
    """
    vectors = _by_model(source, where) if where.lower().endswith(".onnx") else _by_column(source, where)
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


def with_embedding(steps: Steps, vectors: Floats | None) -> Steps:
    """The steps of a medium and those of an embedding; the latter alone where the medium knows nothing but essence."""
    if vectors is None:
        return steps
    return Steps((*(part for part in steps.parts if part.name != "essence"), embedding_step(vectors)))


def _by_column(source: Source, name: str) -> Floats:
    table = source.table
    if table is None:
        raise InputError(f"takes a column of a table, or a model as .onnx; got {name!r}", field=EMBEDDING)
    if name not in table.columns:
        raise InputError(f"there is no column {name!r}; there are: {', '.join(table.columns)}", field=EMBEDDING)
    vectors = []
    for row in map(int, source.rows):
        vector = _vector(table.columns[name].values[row])
        if vector is None:
            told = f"{table.path}: {table.row(row)}, column {name!r}: must be a list of numbers"
            raise InputError(told, field=EMBEDDING)
        vectors.append(vector)
    sizes = sorted(set(map(len, vectors)))
    if len(sizes) > 1:
        rule = f"all must be of one length; got {sizes[0]} and {sizes[-1]}"
        raise InputError(f"{table.path}: column {name!r}: {rule}", field=EMBEDDING)
    return np.stack(vectors)


def _vector(cell: Any) -> Floats | None:
    try:
        found = np.asarray(json.loads(cell) if isinstance(cell, str) else cell, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return found if found.ndim == 1 and found.size > 1 and np.isfinite(found).all() else None


def _by_model(source: Source, path: str) -> Floats:
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
