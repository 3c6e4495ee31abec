"""From the wishes of a request to constraints on item indices."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from math import ceil

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.essence import Floats
from fabula.core.solver.constraints import Constraints
from fabula.errors import ConflictError, ConstraintError, InputError
from fabula.media.medium import Medium
from fabula.session.requests.naming import find_item
from fabula.session.requests.request import Request


def constraints_of(request: Request, collection: Collection, medium: Medium) -> Constraints:
    """The wishes of a request as constraints on item indices.

    Raises
    ------
    InputError
        When a title fits no item or several, a position does not exist, two wishes collide, or a length that is
        needed is not known.
    """
    items = collection.items
    with readable(collection, medium):
        return Constraints(
            len(items),
            fixed=_fixed(request, items),
            together=[[find_item(items, one, "together") for one in run] for run in request.together],
            before=[tuple(find_item(items, one, "before") for one in pair) for pair in request.before],  # type: ignore[misc]
            apart=None if request.apart is None else labels(collection, request.apart, medium),
            apart_soft=request.apart_soft,
            sides=request.sides,
            ends=_ends(request, items),
            lengths=_lengths(request, collection, medium),
            side_limit=_limit(request.side_limit, "side_limit", medium),
            limit=_limit(request.limit, "limit", medium),
        )


def _fixed(request: Request, items: tuple[Item, ...]) -> dict[int, int]:
    """Position -> item, of the opener, the close and what has a position."""
    n = len(items)
    asked = [(0, request.first, "first"), (-1, request.last, "last")]
    wishes = [(position, which, field) for position, which, field in asked if isinstance(which, int | str)]
    wishes += [(position, which, "at") for position, which in request.at.items()]
    fixed: dict[int, int] = {}
    for position, which, field in wishes:
        if not -n <= position < n:
            shown = position + 1 if position >= 0 else position
            raise InputError(f"positions go from 1 to {n} (or -1 from the end); got {shown}", field=field)
        item, place = find_item(items, which, field), position % n
        if fixed.get(place, item) != item:
            raise InputError(f"position {place + 1} is already taken by {items[fixed[place]].label!r}", field=field)
        other = next((p for p, i in fixed.items() if i == item and p != place), None)
        if other is not None:
            raise InputError(f"{items[item].label!r} is already at position {other + 1}", field=field)
        fixed[place] = item
    return {(place - n if place == n - 1 and request.limit is not None else place): i for place, i in fixed.items()}


def _ends(request: Request, items: tuple[Item, ...]) -> dict[tuple[int, int], int]:
    """(side, position on it) -> item, where openers and closes are named by side."""
    ends: dict[tuple[int, int], int] = {}
    for position, named, field in ((0, request.first, "first"), (-1, request.last, "last")):
        for side, which in named.items() if isinstance(named, Mapping) else ():
            if not 0 <= side < request.sides:
                raise InputError(f"there are {request.sides} side(s); got side {side_name(side)}", field=field)
            ends[side, position] = find_item(items, which, field)
    return ends


def side_name(side: int) -> str:
    """What a side is called: A, B, C, ...

    Examples
    --------
    >>> side_name(0), side_name(27)
    ('A', 'AB')
    """
    letters = ""
    while side >= 0:
        letters = chr(ord("A") + side % 26) + letters
        side = side // 26 - 1
    return letters


def _limit(limit: float | str | None, field: str, medium: Medium) -> float | None:
    if not isinstance(limit, str):
        if limit is not None and not 0 < limit < float("inf"):
            raise InputError(f"must be above 0; got {limit:g}", field=field)
        return limit
    try:
        return medium.unit.read(limit)
    except InputError as error:
        raise InputError(error.message, field=field) from None


def _lengths(request: Request, collection: Collection, medium: Medium) -> Floats | None:
    """The length of each item where limits need it, or where sides can use it."""
    field = "side_limit" if request.side_limit is not None else "limit"
    if request.side_limit is None and request.limit is None:
        known = [item.length for item in collection.items]
        return np.array(known) if request.sides > 1 and None not in known else None
    for item in collection.items:
        if item.length is None or item.length < 0:
            why = "is not known" if item.length is None else f"must not be negative; got {item.length:g}"
            raise InputError(f"the length of {item.label!r} in {medium.unit.name} {why}", field=field)
    return np.array([item.length for item in collection.items])


def labels(collection: Collection, column: str, medium: Medium, field: str = "apart") -> list[Hashable | None]:
    """What each item has in a column; None where it has nothing.

    Raises
    ------
    InputError
        When no item has anything there.
    """
    found = [_label(collection, index, column, medium) for index in range(len(collection))]
    if all(label is None for label in found):
        names = {name for item in collection.items for name in item.details} | set(collection.feature_names)
        names |= {medium.words.creator} if any(item.creator for item in collection.items) else set()
        there = ", ".join(sorted(names - {column})) or "nothing"
        raise InputError(f"no item has {column!r}; there are: {there}", field=field)
    return found


def _label(collection: Collection, index: int, column: str, medium: Medium) -> Hashable | None:
    item = collection.items[index]
    if column.casefold() in (medium.words.creator, "creator"):
        return item.creator.casefold() or None
    if column in item.details:
        value = item.details[column]
        return str(value).casefold() if value not in (None, "") else None
    if column in collection.feature_names:
        number = float(collection.column(column)[index])
        return number if np.isfinite(number) else None
    return None


@contextmanager
def readable(collection: Collection, medium: Medium) -> Iterator[None]:
    """Where constraints cannot hold, say so with titles and lengths as people write them."""
    try:
        yield
    except ConflictError as error:
        titles = [repr(item.label) for item in collection.items]
        # Rounded up, so that a limit that is said to work does.
        raise InputError(error.told(titles, lengths=lambda length: medium.unit.text(ceil(length - 1e-6)))) from error
    except ConstraintError as error:
        who = ", ".join(repr(collection.items[i].label) for i in error.items[:6])
        places = ", ".join(str(position + 1) for position in error.places) or "none"
        raise InputError(f"the wishes cannot all hold: {who} may only take position(s) {places}") from error
