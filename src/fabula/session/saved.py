"""Sessions: a loaded collection with everything done to it, as one JSON object that opens again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.errors import FileError, InputError
from fabula.session.essence import Essence
from fabula.session.playing import columns, load
from fabula.session.sources import SOUND, Measuring, Source

KIND, VERSION = "fabula session", 1
_TEXTS = ("id", "title", "artist", "path")


def as_session(found: Essence, state: Mapping[str, Any]) -> dict[str, Any]:
    """A session as plain JSON data.

    Parameters
    ----------
    found
        The loaded collection.
    state
        What the page keeps of itself: the curve, pins and so on; kept as it is.
    """
    c = found.source.collection
    rows = c.columns(c.feature_names) if c.features.ndim == 2 else np.empty((len(c), 0))
    items = [
        {
            **{name: getattr(item, name) for name in _TEXTS},
            "details": {k: v for k, v in item.details.items() if isinstance(v, str | int | float)},
            "features": [float(v) if np.isfinite(v) else None for v in row],
        }
        for item, row in zip(c.items, rows, strict=True)
    ]
    return {
        "kind": KIND,
        "version": VERSION,
        "title": c.title or c.id,
        "source": found.source.kind,
        "by": found.features[0] if found.model is None else None,
        "feature_names": list(c.feature_names) if c.features.ndim == 2 else [],
        "items": items,
        "essence": found.values.tolist(),
        "state": dict(state),
    }


def open_session(data: Any, *, model: str | None = None) -> tuple[Essence, dict[str, Any]]:
    """Open a session again; nothing is measured anew.

    Returns
    -------
    The loaded collection, and the state of the page.

    Raises
    ------
    FileError
        When it is not a session, is broken, or comes from a newer version.
    """
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise FileError("this is not a session file of fabula")
    if data.get("version") != VERSION:
        raise FileError(f"the session has version {data.get('version')!r}; this fabula reads {VERSION}: update it")
    try:
        source, by = _source(data), data["by"]
        stored = np.asarray(data["essence"], dtype=np.float64)
        state = dict(data["state"])
        if by is not None and by not in columns(source.collection):
            raise InputError(f"no column {by!r} is known of every item")
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f": {error}" if isinstance(error, InputError) else ""
        raise FileError(f"the session file is broken{reason}") from error
    found = load(source, by=by, model=model if by is None else None, measuring=Measuring(cache=False))
    if found.values.shape != stored.shape or not np.allclose(found.values, stored, atol=1e-6):
        note = "the model is not the one the session was kept with: the essence was found anew"
        found = Essence(found.source, found.values, found.features, found.model, (*found.notes, note))
    return found, state


def _source(data: Mapping[str, Any]) -> Source:
    names = tuple(str(name) for name in data["feature_names"])
    items, rows = [], []
    for row in data["items"]:
        texts = {name: _text(row[name]) for name in _TEXTS}
        details = {str(k): v for k, v in row["details"].items() if isinstance(v, str | int | float)}
        items.append(Item(**texts, details=MappingProxyType(details)))
        rows.append([np.nan if value is None else float(value) for value in row["features"]])
    title = _text(data["title"])
    features = np.array(rows, dtype=np.float64).reshape(len(items), len(names))
    collection = Collection(title, items, features, names, ordered=False, title=title)
    # Nothing that a session names may be read: it counts as sound only where all that would be measured is known.
    kind = "sound" if data["source"] != "table" and set(SOUND) <= set(columns(collection)) else "table"
    return Source(Path(title or "session"), collection, Path(), kind)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
