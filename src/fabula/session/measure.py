"""Measuring the items of a source, where they are files."""

from __future__ import annotations

from dataclasses import replace

from fabula.core.collection import Item
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
    collection = replace(kept.collection, features=_joined(kept, found), feature_names=_names(kept, found))
    notes = (_note(source, item, why) for item, why in problems)
    return replace(kept, collection=collection).noted(*notes).with_lengths()


def _names(source: Source, found: Extraction) -> tuple[str, ...]:
    """What was measured, and behind it what the source said besides, where both are plain numbers."""
    if found.features.ndim > 2:
        return found.feature_names
    return (*found.feature_names, *(n for n in source.collection.feature_names if n not in found.feature_names))


def _joined(source: Source, found: Extraction):  # type: ignore[no-untyped-def]
    import numpy as np

    if found.features.ndim > 2:
        return found.features
    rest = [name for name in source.collection.feature_names if name not in found.feature_names]
    return np.concatenate([found.features, source.collection.columns(rest)], axis=1)


def _note(source: Source, item: Item, why: str) -> str:
    told = why if why.startswith(shown(item.path) + ":") and item.path else f"{item.label}: {why}"
    return f"kept where it stands, not measured: {told}" if source.playlist is not None else f"left out: {told}"


def _none_usable(source: Source, problems: list[tuple[Item, str]]) -> str:
    item, why = problems[0]
    first = why if item.path else f"{item.label}: {why}"
    if len(problems) == 1:
        return first
    return f"{shown(str(source.path))}: none of its {len(problems)} files can be measured; the first: {first}"
