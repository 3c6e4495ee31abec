"""From a request of the page to a result of the session; and which wishes cannot hold."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from fabula.core.collection import Item
from fabula.core.files import guard_files
from fabula.core.template import Template
from fabula.errors import ConflictError, ConstraintError, FabulaError, InputError, ModelError, naming
from fabula.session.ordered import Ordered
from fabula.session.request import Request, find_item, find_template
from fabula.session.review import Review
from fabula.session.session import Session, session_of
from fabula.web.http_errors import StatusError
from fabula.web.requests import ItemBody, OrderRequest, ReviewRequest, TemplateBody, Which
from fabula.web.server_store import OpenCollection, ServerStore

_MADE = ("template", "like")  # in another way than by taking what the request says
_SAME = [one.name for one in fields(Request) if one.name in OrderRequest.model_fields and one.name not in _MADE]
_FEW = 12  # items that a model is asked about, to know whether it takes them at all
_CLOSEST = 1e-6  # that two knots of a template may be: nobody draws closer, and slopes stay finite


def order(store: ServerStore, asked: OrderRequest) -> tuple[Ordered, str | None]:
    """The result that was asked for, and the id under which it can be exported; None for items of the request."""
    if (asked.collection is None) == (asked.items is None):
        raise InputError("give either a collection or items")
    opened = None if asked.collection is None else store.get(asked.collection)
    session = _make_session(store, asked.items or []) if opened is None else _retitle(opened.session, asked.titles)
    values: dict[str, Any] = {name: getattr(asked, name) for name in _SAME}
    if asked.budget_ms is not None:  # an answer is wanted soon: for one proposal and with less time
        values |= {"seconds": asked.budget_ms / 1000, "alternatives": asked.choose}
    template, like = _make_template(asked.template, session), None if asked.like is None else store.get(asked.like)
    request = Request(template=template, like=None if like is None else like.session, at=asked.fixed, **values)
    with _take_turn(store, asked, len(session.collection)):
        try:
            ordered = session.order(request)
        except InputError as error:
            field = "fixed" if error.field == "at" else error.field
            wishes = list(find_wishes(error, field, asked, session.collection.items))
            raise StatusError(400, str(InputError(error.message, field=field)), field=field, wishes=wishes) from error
    return ordered, None if opened is None else store.add_result(opened.id, ordered)


def review(store: ServerStore, collection: str, asked: ReviewRequest) -> Review:
    """The review of an order of an open collection."""
    opened = store.get(collection)
    session = _retitle(opened.session, asked.titles)
    with store.searching.turn(), guard_files(opened.guard):
        return session.review(asked.ordering, side_sizes=asked.side_sizes)


def _retitle(session: Session, titles: Mapping[int, str]) -> Session:
    """The session with some items called otherwise, for people alone: nothing is measured or judged anew."""
    if not titles:
        return session
    items = list(session.collection.items)
    for index, title in titles.items():
        known = find_item(items, index, "titles")
        items[known] = replace(items[known], title=title)
    return replace(session, source=replace(session.source, collection=replace(session.collection, items=tuple(items))))


def is_final(asked: OrderRequest, ordered: Ordered) -> bool:
    """Whether asking again without a budget could change nothing."""
    return asked.budget_ms is None or asked.ordering is not None or (ordered.fit.exact and asked.alternatives == 1)


def _make_session(store: ServerStore, rows: Sequence[ItemBody]) -> Session:
    """Items of the request as a session."""
    if len(rows) > store.settings.most_items:
        raise StatusError(413, f"a collection may have {store.settings.most_items} items here; got {len(rows)}")
    ids = [row.id or str(number) for number, row in enumerate(rows, start=1)]
    twice = [name[:80] for name, times in Counter(ids).items() if times > 1]
    if twice:
        raise InputError(f"each item needs an id of its own; got {twice[0]!r} twice", field="items")
    pairs = zip(ids, rows, strict=True)
    items = [Item(name, row.title, "", row.creator, length=row.length) for name, row in pairs]
    return session_of(items, [row.essence for row in rows])


def _make_template(given: TemplateBody | str | None, session: Session) -> Template | None:
    """The template asked for; a name is never taken for a file."""
    with naming("template"):
        if isinstance(given, TemplateBody):
            close = min(b - a for a, b in pairwise(given.knots))
            if 0 < close < _CLOSEST:
                raise InputError(f"knots must be at least {_CLOSEST:g} apart; got {close:g}")
            return Template(given.knots, given.values, given.name or "drawn", interpolation=given.interpolation)
        return None if given is None else find_template(given, session.templates, files=False)


def _take_turn(store: ServerStore, asked: OrderRequest, n: int) -> AbstractContextManager[None]:
    """Let only a few search at a time: unlike a sort of not too many, a search takes a second or two."""
    runs = asked.together or asked.before or asked.together_by or asked.spreads or asked.apart is not None
    steps, limits = asked.smoothness or asked.step_limits, (asked.side_limit, asked.limit) != (None, None)
    searched = runs or steps or asked.sides > 1 or limits
    most = store.settings.most_searched
    knots = len(asked.template.knots) if isinstance(asked.template, TemplateBody) else 0
    if asked.ordering is not None or not searched:
        return store.searching.turn() if n > most or knots > most else nullcontext()
    if n > most:
        rule = "together, before, apart, spreads, smoothness, sides and limits take"
        raise InputError(f"{rule} {most} items at most on this page")
    return store.searching.turn()


def change_essence(opened: OpenCollection, by: str | None, model: str | None) -> Session:
    """An open collection with another column as its essence, or the model's again; nothing is measured anew."""
    known = opened.session.columns
    if by is not None and by not in known:
        there = ", ".join(known)
        raise InputError(f"there is no column {by[:80]!r} with a number for every item; there are: {there}", field="by")
    return _set_essence(opened.session, by) if by is not None else _set_model(opened.session, model)


def knows_model(session: Session, model: str | None) -> bool:
    """Whether a model can give the essence of this collection."""
    try:
        if session.card is not None:
            return True
        found = _set_model(_take_few(session), model)
        drawn = found.model is not None or found.axis is not None
        return drawn or (session.source.files and found.card is not None)
    except FabulaError:
        return False


def _take_few(session: Session) -> Session:
    """A few items of the session, those of which something is not known: what a model takes, it takes of these."""
    known = session.collection
    gaps = np.isnan(known.features).sum(axis=1) if known.features.ndim == 2 else np.zeros(len(known))
    rows = np.sort(np.argsort(-gaps, kind="stable")[:_FEW])
    source = replace(session.source, collection=known.only(rows), playlist=None, rows=())
    stored = tuple(session.stored[row] for row in rows if session.stored)
    return replace(session, source=source, essence=session.essence[rows], stored=stored)


def _set_model(session: Session, model: str | None) -> Session:
    """The essence of the server's own model, where it knows what there is; else of the medium's."""
    try:
        return _set_essence(session, model=model)
    except ModelError:
        if model is None:
            raise
        return _set_essence(session)


def _set_essence(session: Session, column: str | None = None, model: str | None = None) -> Session:
    """The session with another essence of what is known already: paths that the page shows are not to be opened."""
    files = session.source.files
    found = replace(session, source=replace(session.source, files=False)).by(column, model)
    return replace(found, source=replace(found.source, files=files))


# Which wishes of a request cannot hold, so that the page can mark them

_WHOLE = ("apart", "sides", "side_limit", "limit")
Wish = dict[str, Any]  # field, and key: of a mapping, an index of a list, or None for the whole field


def find_wishes(error: InputError, field: str | None, asked: OrderRequest, items: Sequence[Item]) -> Iterator[Wish]:
    """The wishes that an error of the session is about; the field it names where it is about no items."""
    cause = error if isinstance(error, ConflictError | ConstraintError) else error.__cause__
    if isinstance(cause, ConflictError):
        words = [*cause.options, *(["limit"] if cause.lengths and asked.limit is not None else [])]
    elif isinstance(cause, ConstraintError):
        words = ["fixed", "together", "before", "ends"]
    else:
        yield from [] if field is None else [{"field": field, "key": None}]
        return
    among = set(cause.items)  # any, where none is named

    def about(*which: Which) -> bool:
        return not among or all(find_item(items, one, "") in among for one in which)

    if "fixed" in words:
        yield from ({"field": "fixed", "key": key} for key, one in asked.fixed.items() if about(one))
    if {"fixed", "ends"} & set(words):
        for field, ends in (("first", asked.first), ("last", asked.last)):
            named = ends if isinstance(ends, Mapping) else {} if ends is None else {None: ends}
            yield from ({"field": field, "key": key} for key, one in named.items() if about(one))
    if "together" in words:
        runs = enumerate(asked.together)
        yield from ({"field": "together", "key": k} for k, run in runs if sum(about(one) for one in run) > 1)
    if "before" in words:
        yield from ({"field": "before", "key": k} for k, pair in enumerate(asked.before) if about(*pair))
    yield from ({"field": word, "key": None} for word in _WHOLE if word in words)
