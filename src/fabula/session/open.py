"""Opening a collection and ordering it in one call; sessions as files; the demos that come with the package."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Any

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.files import check_target
from fabula.errors import FileError, InputError, ModelError, check_count, check_kind
from fabula.media.extraction import Measuring
from fabula.media.registry import find_medium, medium_of_columns
from fabula.session.measure import measure, usable_columns
from fabula.session.ordered import Ordered
from fabula.session.request import Request, as_request
from fabula.session.review import Review
from fabula.session.selection import Selection
from fabula.session.session import Session, open_session, source_session
from fabula.sources.registry import Opening, Source, as_paths, open_source


def open(  # noqa: A001 - the verb of the design
    paths: str | Path | Sequence[str | Path],
    *,
    by: str | None = None,
    model: str | None = None,
    collection: str | None = None,
    recursive: bool = True,
    embedding: str | None = None,
    occasion: str | None = None,
    medium: str | None = None,
    only: str | None = None,
    one_of: str | None = None,
    pick: int | None = None,
) -> Session:
    """Open a collection: read it, measure its items where they are files, find their essence.

    - ``paths``: a folder, files, a playlist, a table or an address.
    - ``by``: the column to use as the essence, instead of a model.
    - ``model``: a shipped model or a file; by default the one that knows most of what there is.
    - ``collection``: which collection of a table of several, by id or title.
    - ``recursive``: whether to go into folders within folders.
    - ``embedding``: vectors of the user's own: a column of lists in a table, or an ONNX model (``.onnx``) that reads
      what items say.
    - ``occasion``: what the order is for, ``"album"`` or ``"concert"`` in music: it names the model.
    - ``medium``: what kind of media files are, by name, where several media know their endings.
    - ``only``: a comparison of columns that items must fulfil: ``"rating >= 3 and keywords ~ sea"``.
    - ``one_of``: a column: of items that share it, such as the frames of a burst, the best alone.
    - ``pick``: so many items, which tell most: one of what is alike, the best, and none of all far from one of them.

    The session's ``order`` may be called many times.

    >>> session = open(demo_folder())
    >>> len(session.collection), session.essence.shape, session.order(first="Parade").titles[0]
    (9, (9,), 'Parade')
    """
    how: dict[str, Any] = {"by": by, "model": model, "embedding": embedding, "occasion": occasion, "medium": medium}
    return _open(paths, collection=collection, recursive=recursive, only=only, one_of=one_of, pick=pick, **how)


def _open(paths: str | Path | Sequence[str | Path], request: Request | None = None, **how: Any) -> Session:
    """What :func:`open` does, for what will be asked: items that it names are looked for before all are measured."""
    check_kind(how["model"], (str, Path, NoneType), "the name of a model, or its file", "model")
    check_kind(how["recursive"], bool, "True or False", "recursive")
    if how.get("pick") is not None:
        check_count(how["pick"], "pick")
    for field, value in how.items():
        if field not in ("model", "recursive", "pick"):
            check_kind(value, (str, NoneType), "a name", field)
    opening = Opening(**{name: how.pop(name) for name in ("collection", "recursive", "medium") if name in how})
    wanted = Selection(**{name: how.pop(name) for name in ("only", "one_of", "pick") if name in how})
    return open_session(paths, opening, selection=wanted, request=request, **how)


def order(
    paths: str | Path | Sequence[str | Path],
    *,
    by: str | None = None,
    model: str | None = None,
    collection: str | None = None,
    recursive: bool = True,
    embedding: str | None = None,
    occasion: str | None = None,
    **wishes: Any,
) -> Ordered:
    """Put a collection in an order that tells a story: what ``fabula order`` does.

    It is opened as by :func:`open`, which takes medium, only, one_of and pick too. The other wishes are those of
    :class:`fabula.session.request.Request`: template, like, first, last, at, together, before, apart, sides, limit,
    smoothness and the rest.

    >>> ordered = order(demo_folder(), template="icarus", last="Embers")
    >>> ordered.titles[-1], ordered.fit.template.name, ordered.gap
    ('Embers', 'icarus', 0.0)
    """
    opens = ("medium", "one_of", "pick", *(["only"] if isinstance(wishes.get("only"), str) else []))
    how = {name: wishes.pop(name) for name in opens if name in wishes}
    how |= {"by": by, "model": model, "collection": collection, "recursive": recursive, "embedding": embedding}
    request = as_request(None, wishes)
    return _open(paths, request, occasion=occasion, **how).order(request)


def review(
    paths: str | Path | Sequence[str | Path],
    *,
    model: str | None = None,
    collection: str | None = None,
    medium: str | None = None,
    sides: int = 1,
) -> Review:
    """Say what is good and what is weak in an order as it stands: what ``fabula review`` does.

    It is opened as by :func:`open`; the order is that of a playlist or a table, of the numbers in tags and file names,
    or else of the names; ``sides`` are how many to cut it into, where a playlist or a column does not say. A review has
    ``percentile`` among random orders, ``odd``, ``joins``, ``moves``, ``openers``, ``closers`` and ``notes``.

    >>> found = review(demo_folder())
    >>> found.items[0].title, len(found.openers), found.apply(1).titles[0]
    ('Embers', 3, 'Weather Front')
    """
    return open(paths, model=model, collection=collection, medium=medium).review(sides=sides)


def open_ordered(
    paths: str | Path | Sequence[str | Path], *, opening: Opening | None = None, measuring: Measuring | None = None
) -> Ordered:
    """Open a collection in the order that it has, to be copied or written: what ``fabula copy`` does first.

    Sides are those that a playlist's comments or a column ``side`` tell. Without `measuring` nothing is known of files
    but what the source says.
    """
    source = open_source(as_paths(paths), opening)
    source = source.with_lengths() if measuring is None else measure(source, measuring)
    n, sides = len(source.collection), source.sides
    session = Session(source=source, essence=np.zeros(n), notes=source.tell())
    return session.order(ordering=range(n), sides=max(1, len(sides)), side_sizes=sides, alternatives=1)


# A session as one JSON object that opens again.

KIND, VERSION = "fabula session", 2


def dump_session(session: Session, state: Mapping[str, Any]) -> dict[str, Any]:
    """A session as plain JSON data, and what the page keeps of itself: the template, pins and so on."""
    c = session.collection
    rows = c.columns(c.feature_names) if c.features.ndim == 2 else np.empty((len(c), 0))
    items = [
        {
            **{name: getattr(item, name) for name in ("id", "title", "creator", "path")},
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


def load_session(data: Any, *, model: str | None = None) -> tuple[Session, dict[str, Any]]:
    """A session and the state of the page again; nothing is measured anew, and nothing that it names is read."""
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
    try:
        session = source_session(source, Measuring(cache=False), by, model if by is None else None, guess=True)
    except (InputError, ModelError):
        if by is not None or model is None:
            raise
        session = source_session(source, Measuring(cache=False), guess=True)  # it needs more than numbers
    if session.essence.shape != stored.shape or not np.allclose(session.essence, stored, atol=1e-6):
        note = "the model is not the one the session was kept with: the essence was found anew"
        session = replace(session, notes=(*session.notes, note))
    return session, state


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


# The demos.

# Medium: where the items lie, and how they are ordered: by the model, or by a column along a template.
_DEMOS: dict[str, tuple[str, str | None, str | None]] = {
    "music": ("demo", None, None),
    "text": ("demos/The Tide Clock", "valence", "man-in-a-hole"),
    "images": ("demos/One Day", None, None),
}


def demo_folder(medium: str = "music") -> Path:
    """Where the items of a medium's demo lie."""
    if medium not in _DEMOS:
        raise InputError(f"there is no demo {medium!r}; there are: {', '.join(_DEMOS)}")
    with as_file(files("fabula").joinpath(*_DEMOS[medium][0].split("/"))) as folder:
        return Path(folder)


def order_demo(
    folder: str | Path, medium: str = "music", *, measuring: Measuring | None = None
) -> tuple[Ordered, Path]:
    """Order a demo; write its order into a folder, as a format of its medium's own, else as a playlist: both."""
    items = demo_folder(medium)
    ending = next(iter(find_medium(medium).outputs), ".m3u8")
    target = check_target(Path(folder) / f"fabula-demo{ending}")
    _, by, template = _DEMOS[medium]
    ordered = open_session(items, by=by, measuring=measuring).order(template=template)
    return ordered, ordered.save(target)


def original_order(ordered: Ordered) -> str:
    """How the items stood when they were written, and how much of that the order has; "" where nobody knows."""
    items = ordered.collection.items
    numbers = [item.details.get("chapter", "") for item in items]
    if not all(str(number).isdecimal() for number in numbers):
        return ""
    true = [item.label for _, item in sorted(zip(map(int, numbers), items, strict=True), key=lambda pair: pair[0])]
    pairs = set(pairwise(true))
    kept = sum(pair in pairs for pair in pairwise(ordered.titles))
    return f"as it was written: {', '.join(true)}; {kept} of {len(pairs)} neighbours are found again"
