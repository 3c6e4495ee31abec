"""The main job in one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabula.session.ordered import Ordered
from fabula.session.session import Session, open_session
from fabula.sources.registry import Opening


def open(  # noqa: A001 - the verb of the design
    paths: str | Path | Sequence[str | Path],
    *,
    by: str | None = None,
    model: str | None = None,
    collection: str | None = None,
    recursive: bool = True,
    embedding: str | None = None,
) -> Session:
    """Open a collection: read it, measure its items where they are files, find their essence.

    Parameters
    ----------
    paths
        A folder, files, a playlist, a table or an address.
    by
        The column to use as the essence, instead of a model.
    model
        A shipped model or a file; by default the one that knows most of what there is.
    collection
        Which collection of a table of several, by id or title.
    recursive
        Whether to go into folders within folders.
    embedding
        Vectors of the user's own: a column of lists in a table, or an ONNX model (``.onnx``) that reads what items say.

    Returns
    -------
    A session, whose ``order`` may be called many times.

    Examples
    --------
    >>> from fabula.session.demo import demo_folder
    >>> session = open(demo_folder())
    >>> len(session.collection), session.essence.shape, session.order(first="Parade").titles[0]
    (9, (9,), 'Parade')
    """
    opening = Opening(collection=collection, recursive=recursive)
    return open_session(paths, by=by, model=model, opening=opening, embedding=embedding)


def order(
    paths: str | Path | Sequence[str | Path],
    *,
    by: str | None = None,
    model: str | None = None,
    collection: str | None = None,
    **wishes: Any,
) -> Ordered:
    """Put a collection in an order that tells a story: what ``fabula order`` does.

    Parameters
    ----------
    paths, by, model, collection
        As :func:`open` takes them.
    wishes
        As :class:`fabula.Request` has them: template, like, first, last, at, together, before, apart, sides, limit,
        smoothness and the rest.

    Examples
    --------
    >>> from fabula.session.demo import demo_folder
    >>> ordered = order(demo_folder(), template="icarus", last="Embers")
    >>> ordered.titles[-1], ordered.fit.template.name, ordered.gap
    ('Embers', 'icarus', 0.0)
    """
    return open(paths, by=by, model=model, collection=collection).order(**wishes)
