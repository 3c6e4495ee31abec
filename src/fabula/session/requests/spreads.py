"""Spreads: which items face each other on the pages of a book or a wall, as wishes to keep them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fabula.core.collection import Collection
from fabula.core.ordering import Ints
from fabula.core.pairing import pair_up
from fabula.errors import InputError
from fabula.media.medium import Facing, Medium
from fabula.session.requests.naming import find_item
from fabula.session.requests.request import Request


def with_spreads(request: Request, collection: Collection, medium: Medium, plain: Ints) -> Request:
    """The request with its spreads as wishes: a cover alone, then two and two, or one over both pages.

    Parameters
    ----------
    request
        Whose ``spreads`` says whether what faces should match or contrast.
    collection, medium
        n items, and what they are.
    plain
        Shape (n,): the order without spreads, which says what opens where nothing is asked for, and which of two
        facing items stands on the left.

    Raises
    ------
    InputError
        When the medium has no pages, or the spreads do not go with another wish.
    """
    if medium.facing is None:
        raise InputError(f"{medium.words.items} have no pages that face each other", field="spreads")
    for name in ("limit", "ordering"):
        if getattr(request, name) is not None:
            raise InputError(f"goes without {name}", field="spreads")
    if request.sides > 1:
        raise InputError("goes without sides: a book has one run of pages", field="spreads")
    items = collection.items
    runs = [[find_item(items, one, "together") for one in run] for run in request.together]
    if any(len(run) != 2 for run in runs):
        raise InputError("two items face each other; a run of more cannot be kept together", field="spreads")
    cover = find_item(items, request.first, "first") if isinstance(request.first, int | str) else int(plain[0])
    last = find_item(items, request.last, "last") if isinstance(request.last, int | str) else None
    found = medium.facing(collection)
    taken = {cover, *(one for run in runs for one in run)}
    free = [i for i in range(len(items)) if i not in taken and not found.alone[i]]
    costs = _costs(found, request.spreads)
    free, alone = _even(free, costs, last)
    place = np.argsort(plain)
    pairs = [[free[i], free[j]] for i, j in pair_up(costs[np.ix_(free, free)])]
    turned = [sorted(pair, key=lambda i: (i == last, place[i])) for pair in pairs]
    end = last if alone is None else alone
    return replace(request, first=cover, last=end, together=[*runs, *turned], spreads="")


def _costs(found: Facing, how: str) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """What it costs that two face each other."""
    unlike, odd = found.costs()
    return odd + unlike if how == "match" else odd - unlike


def _even(free: Sequence[int], costs: np.ndarray, last: int | None) -> tuple[list[int], int | None]:
    """An even number to be paired, and the one that stands alone at the end where their number is odd."""
    if len(free) % 2 == 0:
        return list(free), None
    if last in free:
        return [i for i in free if i != last], last
    lonely = costs[np.ix_(free, free)] + np.where(np.eye(len(free), dtype=bool), np.inf, 0.0)
    alone = free[int(np.argmax(lonely.min(axis=1)))] if len(free) > 1 else free[0]
    return [i for i in free if i != alone], alone
