"""From a request of the page to a result of the session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from fabula.core.collection import Item
from fabula.core.template import Template
from fabula.errors import FabulaError, InputError, ModelError
from fabula.session.ordered import Ordered
from fabula.session.requests.naming import named_template
from fabula.session.requests.request import Request
from fabula.session.session import Session, session_of
from fabula.web.errors import StatusError
from fabula.web.requests import ItemBody, OrderRequest, TemplateBody
from fabula.web.store import OpenCollection, Store

_SAME = (
    "flip", "scaled", "alternatives", "choose", "ordering", "side_sizes", "first", "last", "together", "before",
    "apart", "apart_soft", "sides", "spreads", "side_limit", "limit", "smoothness", "smooth_by",
)  # fmt: skip


def order(store: Store, asked: OrderRequest) -> tuple[Ordered, str | None]:
    """The result that was asked for, and the id under which it can be exported; None for items of the request."""
    if (asked.collection is None) == (asked.items is None):
        raise InputError("give either a collection or items")
    opened = None if asked.collection is None else store.get(asked.collection)
    session = _session(store, asked.items or []) if opened is None else opened.session
    request = _request(store, session, asked)
    with _searching(store, asked, len(session.collection)):
        try:
            ordered = session.order(request)
        except InputError as error:
            raise InputError(error.message, field="fixed" if error.field == "at" else error.field) from error
    return ordered, None if opened is None else store.add_result(opened.id, ordered)


def _request(store: Store, session: Session, asked: OrderRequest) -> Request:
    values: dict[str, Any] = {name: getattr(asked, name) for name in _SAME}
    return Request(
        template=_template(asked.template, session),
        like=None if asked.like is None else store.get(asked.like).session,
        at=asked.fixed,
        **values,
    )


def _session(store: Store, rows: Sequence[ItemBody]) -> Session:
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


def _template(given: TemplateBody | str | None, session: Session) -> Template | None:
    """The template asked for; a name is never taken for a file."""
    try:
        if isinstance(given, TemplateBody):
            return Template(given.knots, given.values, given.name or "drawn")
        return None if given is None else named_template(given, session.templates, files=False)
    except InputError as error:
        raise InputError(error.message, field="template") from error


@contextmanager
def _searching(store: Store, asked: OrderRequest, n: int) -> Iterator[None]:
    """Let only a few search at a time: unlike a sort, a search takes a second or two."""
    if asked.ordering is not None or not _needs_search(asked):
        yield
        return
    most = store.settings.most_searched
    if n > most:
        raise InputError(
            f"together, before, apart, smoothness, sides and limits take {most} items at most on this page"
        )
    if not store.searching.acquire(timeout=20):
        raise StatusError(429, "too many searches at a time; try again")
    try:
        yield
    finally:
        store.searching.release()


def _needs_search(asked: OrderRequest) -> bool:
    runs = bool(asked.together or asked.before) or asked.apart is not None
    return runs or bool(asked.smoothness) or asked.sides > 1 or asked.limit is not None


def change_essence(opened: OpenCollection, by: str | None, model: str | None) -> Session:
    """An open collection with another column as its essence, or the model's again; nothing is measured anew."""
    known = opened.session.columns
    if by is not None and by not in known:
        there = ", ".join(known)
        raise InputError(f"there is no column {by[:80]!r} with a number for every item; there are: {there}", field="by")
    return _by(opened.session, by) if by is not None else _by_model(opened.session, model)


def knows_model(session: Session, model: str | None) -> bool:
    """Whether a model can give the essence of this collection."""
    try:
        if session.card is not None:
            return True
        found = _by_model(session, model)
        return found.model is not None or (session.source.files and found.card is not None)
    except FabulaError:
        return False


def _by_model(session: Session, model: str | None) -> Session:
    """The essence of the server's own model, where it knows what there is; else of the medium's."""
    try:
        return _by(session, model=model)
    except ModelError:
        if model is None:
            raise
        return _by(session)


def _by(session: Session, column: str | None = None, model: str | None = None) -> Session:
    """The session with another essence of what is known already: paths that the page shows are not to be opened."""
    files = session.source.files
    found = replace(session, source=replace(session.source, files=False)).by(column, model)
    return replace(found, source=replace(found.source, files=files))
