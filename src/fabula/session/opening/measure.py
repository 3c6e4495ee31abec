"""Measuring the items of a source, where they are files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.essence import Floats
from fabula.errors import FileError, shown
from fabula.media.extraction import Extraction, Measuring, extract
from fabula.sources.source import Source


def measured(source: Source, measuring: Measuring, *, spec: str | None = None) -> Source:
    """The source with the features of its files: by default the first spec of its medium.

    Items that cannot be measured are no items of the result. Where they are entries of a playlist they keep their
    position in it; either way a note tells them by name.

    Parameters
    ----------
    source
        Whose items are files.
    measuring
        How.
    spec
        What; one of the medium's.

    Raises
    ------
    FileError
        When none can be measured.
    """
    items = source.collection.items
    there = [i for i, item in enumerate(items) if item.path]
    found = extract([items[i].path for i in there], source.medium.spec(spec), measuring)
    problems = [(item, "is not a file") for item in items if not item.path]
    messages = dict(found.problems)
    problems += [(items[i], messages[items[i].path]) for i in there if items[i].path in messages]
    if not found.kept:
        raise FileError(_none_usable(source, problems))
    kept = source.only([there[i] for i in found.kept])
    notes = (_note(source, item, why) for item, why in problems)
    collection = joined(kept, found)
    doubts = source.medium.telling.doubts(collection)
    return replace(kept, collection=collection).with_notes(*notes, *doubts).with_lengths()


def joined(source: Source, found: Extraction) -> Collection:
    """What was measured, and beside it what the source and the tags of the files say, where all are plain numbers."""
    collection = source.collection
    if found.features.ndim > 2:
        return replace(collection, features=found.features, feature_names=found.feature_names)
    columns = dict(zip(found.feature_names, found.features.T, strict=True))
    for name in collection.feature_names:
        columns.setdefault(name, collection.column(name))
    for name in source.medium.columns:
        if any(name in item.details for item in collection.items):
            columns.setdefault(name, _tagged(collection, name))
    return replace(collection, features=np.column_stack(list(columns.values())), feature_names=tuple(columns))


def _tagged(collection: Collection, name: str) -> Floats:
    """A number that tags may give, shape (n,); NaN where they do not."""
    values = [item.details.get(name) for item in collection.items]
    return np.array([float(value) if isinstance(value, int | float) else np.nan for value in values])


def _note(source: Source, item: Item, why: str) -> str:
    told = why if why.startswith(shown(item.path) + ":") and item.path else f"{item.label}: {why}"
    return f"kept where it stands, not measured: {told}" if source.playlist is not None else f"left out: {told}"


def _none_usable(source: Source, problems: list[tuple[Item, str]]) -> str:
    item, why = problems[0]
    first = why if item.path else f"{item.label}: {why}"
    if len(problems) == 1:
        return first
    return f"{shown(str(source.path))}: none of its {len(problems)} files can be measured; the first: {first}"
