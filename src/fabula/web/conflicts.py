"""Which wishes of a request cannot hold, so that the page can mark them."""

from __future__ import annotations

from collections.abc import Collection as Some
from collections.abc import Iterator, Mapping, Sequence

from fabula.core.collection import Item
from fabula.errors import ConflictError, ConstraintError, InputError
from fabula.session.request import find_item
from fabula.web.errors import Wish
from fabula.web.requests import OrderRequest, Which

_WHOLE = ("apart", "sides", "side_limit", "limit")


def wishes_of(error: InputError, asked: OrderRequest, items: Sequence[Item]) -> list[Wish]:
    """The wishes that an error is about.

    Parameters
    ----------
    error
        What the session raised.
    asked
        The request.
    items
        Of the collection, in the order given.
    """
    cause = error if isinstance(error, ConflictError | ConstraintError) else error.__cause__
    if isinstance(cause, ConflictError):
        limited = ["limit"] if cause.lengths and asked.limit is not None else []
        return list(_contradicting(asked, items, [*cause.options, *limited], set(cause.items)))
    if isinstance(cause, ConstraintError):
        return list(_contradicting(asked, items, ("fixed", "together", "before", "ends"), set(cause.items)))
    field = "fixed" if error.field == "at" else error.field
    return [] if field is None else [{"field": field, "key": None}]


def _contradicting(
    asked: OrderRequest, items: Sequence[Item], words: Sequence[str], among: Some[int]
) -> Iterator[Wish]:
    """Wishes of these kinds that are about these items; about any where none is named."""

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
