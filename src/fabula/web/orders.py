"""From a request to an ordering."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fabula.core.arranging.constraints import Constraints
from fabula.core.builtin import template as builtin
from fabula.core.collection import Item
from fabula.core.essence import normalise
from fabula.core.template import Template, from_arc
from fabula.errors import InputError
from fabula.session.essence import Essence
from fabula.session.ordering import Ordered
from fabula.session.playing import answer, columns, essence_of, load, order_loaded
from fabula.session.sources import SOUND, Measuring
from fabula.session.wishes import Wishes, labels
from fabula.web.errors import RefusedError
from fabula.web.requests import Curve, Row, ToOrder, Which
from fabula.web.store import Loaded, Store


def ordered(store: Store, asked: ToOrder) -> dict[str, Any]:
    """What ``POST /api/order`` answers."""
    if (asked.collection is None) == (asked.items is None):
        raise InputError("give either a collection or items")
    if asked.template is not None and asked.like is not None:
        raise InputError("give either a template or like, not both")
    found = _brought(store, asked.items) if asked.items is not None else store.get(str(asked.collection)).found
    template = _template(asked.template, scaled=asked.normalise)
    if asked.like is not None:
        other = store.get(asked.like)
        template = from_arc(other.found.values, name=f"like {other.found.source.collection.title or 'that one'}")
    constraints = _constraints(asked, found)
    wishes = Wishes(sides=asked.sides, side_limit=asked.side_limit, limit=asked.limit, smoothness=asked.smoothness)
    with _search(store, asked, constraints):
        result = order_loaded(
            found,
            template=template,
            flip=asked.flip,
            alternatives=asked.alternatives,
            wishes=wishes,
            constraints=constraints,
        )
    told = answer(result, why=asked.why)
    if asked.limit is not None:
        told["left_out"] = _left_out(found, result)
    return told


def _left_out(found: Essence, result: Ordered) -> list[int]:
    """Indices of the items that a limit left out; the ordering counts the others."""
    kept = iter(result.source.collection.items)
    following = next(kept, None)
    out = []
    for index, item in enumerate(found.source.collection.items):
        if item is following:
            following = next(kept, None)
        else:
            out.append(index)
    return out


def _brought(store: Store, rows: Sequence[Row]) -> Essence:
    if len(rows) > store.settings.most_items:
        raise RefusedError(413, f"a collection may have {store.settings.most_items} items here; got {len(rows)}")
    ids = [row.id or str(number) for number, row in enumerate(rows, start=1)]
    twice = [name[:80] for name, times in Counter(ids).items() if times > 1]
    if twice:
        raise InputError(f"each item needs an id of its own; got {twice[0]!r} twice")
    items = [Item(name, row.title, "", row.artist) for name, row in zip(ids, rows, strict=True)]
    return essence_of(items, [row.essence for row in rows])


def _template(given: Curve | str | None, *, scaled: bool) -> Template | None:
    """The template asked for; a name is never taken for a file."""
    if given is None:
        return None
    if isinstance(given, Curve):
        drawn = Template(given.knots, given.values, given.name or "drawn")
    elif ":" in given:
        drawn = _points(given)
    else:
        drawn = builtin(given)
    return drawn.normalised() if scaled else drawn


def _points(text: str) -> Template:
    try:
        pairs = sorted((float(x), float(y)) for x, y in (part.split(":") for part in text.split(",")))
    except ValueError:
        raise InputError(
            f"a drawn template is a list of position:height, such as '0:0.2,0.5:1,1:0'; got {text[:80]!r}"
        ) from None
    return Template([x for x, _ in pairs], [y for _, y in pairs], name=text[:80])


def _constraints(asked: ToOrder, found: Essence) -> Constraints:
    collection = found.source.collection
    ids = {item.id: index for index, item in reversed(list(enumerate(collection.items)))}

    def index(which: Which) -> int:
        if isinstance(which, str):
            if which not in ids:
                raise InputError(f"there is no item with the id {which[:80]!r}")
            return ids[which]
        return which

    return Constraints(
        len(collection),
        fixed={position: index(which) for position, which in asked.fixed.items()},
        together=[[index(which) for which in run] for run in asked.together],
        before=[(index(a), index(b)) for a, b in asked.before],
        apart=None if asked.apart is None else labels(collection, asked.apart),
    )


@contextmanager
def _search(store: Store, asked: ToOrder, constraints: Constraints) -> Iterator[None]:
    """Let only a few search at a time: unlike a sort, a search takes a second or two."""
    plain = constraints.places_only and not asked.smoothness and asked.sides == 1 and asked.limit is None
    if plain:
        yield
        return
    most = store.settings.most_searched
    if constraints.n > most:
        raise InputError(
            f"together, before, apart, smoothness, sides and limits take {most} items at most on this page"
        )
    if not store.searching.acquire(timeout=20):
        raise RefusedError(429, "too many searches at a time; try again")
    try:
        yield
    finally:
        store.searching.release()


def essence_by(loaded: Loaded, by: str | None, model: str | None) -> Essence:
    """A loaded collection with another column as its essence, or the model's again; nothing is measured anew."""
    source = loaded.found.source
    known = columns(source.collection)
    if by is not None and by not in known:
        raise InputError(f"there is no column {by[:80]!r} with a number for every item; there are: {', '.join(known)}")
    if by is not None:
        return Essence(source, normalise(source.collection.column(by)), (by,))
    if source.kind != "table" and not set(SOUND) <= set(known):
        raise InputError(f"the model needs {' and '.join(SOUND)}, which were not measured; open the collection again")
    return load(source, model=model if source.kind != "table" else None, measuring=Measuring(cache=False))
