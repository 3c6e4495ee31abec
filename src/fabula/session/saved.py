"""Sessions as files: a collection with everything done to it, as one JSON object that opens again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.errors import FileError, InputError, ModelError
from fabula.media.extraction import Measuring
from fabula.media.registry import find_medium, medium_of_columns
from fabula.session.opening.essence import usable_columns
from fabula.session.session import Asked, Session, source_session
from fabula.sources.source import Source

KIND, VERSION = "fabula session", 2
_TEXTS = ("id", "title", "creator", "path")


def as_saved(session: Session, state: Mapping[str, Any]) -> dict[str, Any]:
    """A session as plain JSON data.

    Parameters
    ----------
    session
        What is open.
    state
        What the page keeps of itself: the template, pins and so on; kept as it is.
    """
    c = session.collection
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
        "title": session.title,
        "medium": session.medium.name,
        "by": session.column,
        "feature_names": list(c.feature_names) if c.features.ndim == 2 else [],
        "items": items,
        "essence": session.essence.tolist(),
        "state": dict(state),
    }


def open_saved(data: Any, *, model: str | None = None) -> tuple[Session, dict[str, Any]]:
    """Open a session again; nothing is measured anew, and nothing that it names is read.

    Returns
    -------
    The session, and the state of the page.

    Raises
    ------
    FileError
        When it is not a session, is broken, or comes from a newer version.
    """
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise FileError("this is not a session file of fabula")
    if data.get("version") not in (1, VERSION):
        raise FileError(f"the session has version {data.get('version')!r}; this fabula reads {VERSION}: update it")
    try:
        source, by = _source(data), data["by"]
        stored = np.asarray(data["essence"], dtype=np.float64)
        state = dict(data["state"])
        if by is not None and by not in usable_columns(source.collection):
            raise InputError(f"no column {by!r} is known of every item")
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f": {error}" if isinstance(error, InputError) else ""
        raise FileError(f"the session file is broken{reason}") from error
    asked = Asked(by, model if by is None else None)
    session = _found(source, asked)
    if session.essence.shape != stored.shape or not np.allclose(session.essence, stored, atol=1e-6):
        note = "the model is not the one the session was kept with: the essence was found anew"
        session = replace(session, notes=(*session.notes, note))
    return session, state


def _found(source: Source, asked: Asked) -> Session:
    """The session by what was asked for; where the model needs more than numbers, by what is known without it."""
    try:
        return source_session(source, Measuring(cache=False), asked, guess=True)
    except (InputError, ModelError):
        if asked.model is None:
            raise
        return source_session(source, Measuring(cache=False), Asked(), guess=True)


def _source(data: Mapping[str, Any]) -> Source:
    names = tuple(str(name) for name in data["feature_names"])
    medium = find_medium(_text(data["medium"])) if "medium" in data else medium_of_columns(names)
    items, rows = [], []
    for row in data["items"]:
        made_by = _text(row.get("creator", row.get(medium.words.creator, "")))  # version 1 has the medium's word
        details = {str(k): v for k, v in row["details"].items() if isinstance(v, str | int | float)}
        key, title, path = (_text(row[name]) for name in ("id", "title", "path"))
        items.append(Item(key, title, path, made_by, MappingProxyType(details)))
        rows.append([np.nan if value is None else float(value) for value in row["features"]])
    title = _text(data["title"])
    features = np.array(rows, dtype=np.float64).reshape(len(items), len(names))
    collection = Collection(title, items, features, names, ordered=False, title=title)
    return Source(Path(title or "session"), collection, medium)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
