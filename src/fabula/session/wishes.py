"""What a person insists on, in her own words, and the same as constraints on item indices."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.durations import as_clocks
from fabula.core.collection import Collection, Item
from fabula.core.essence import Floats
from fabula.errors import InputError
from fabula.session.choosing import choose_item, choose_places


@dataclass(frozen=True)
class Wishes:
    """What the ordering must keep.

    Attributes
    ----------
    first, last
        Titles of the opener and of the close.
    at
        Place, counted from 1 (negative: from the end), to title.
    together
        Runs of titles that stay next to each other, in that order.
    before
        Pairs of titles: the first somewhere before the second.
    apart
        No two neighbours share this: ``"artist"``, or any column.
    sides, side_limit
        How many sides, each with an arc of its own, and the seconds one side holds.
    limit
        Seconds in all; what fits worst is left out.
    smoothness
        Weight of the transitions between neighbours; negative asks for contrast.
    """

    first: str | None = None
    last: str | None = None
    at: Mapping[int, str] = field(default_factory=dict)
    together: Sequence[Sequence[str]] = ()
    before: Sequence[tuple[str, str]] = ()
    apart: str | None = None
    sides: int = 1
    side_limit: float | None = None
    limit: float | None = None
    smoothness: float = 0.0


def constraints_of(wishes: Wishes, collection: Collection) -> Constraints:
    """The wishes as constraints on item indices.

    Raises
    ------
    InputError
        When a title fits no item or several, or there is no such column.
    """
    items = collection.items
    runs = [[choose_item(items, title, "--together") for title in run] for run in wishes.together]
    named = [item for run in runs for item in run]
    for item in named:
        if named.count(item) > 1:
            raise InputError(f"--together: {items[item].label!r} is named twice; an item stands in one run only")
    return Constraints(
        len(items),
        fixed=choose_places(items, first=wishes.first, last=wishes.last, at=wishes.at),
        together=runs,
        before=[(choose_item(items, a, "--before"), choose_item(items, b, "--before")) for a, b in wishes.before],
        apart=None if wishes.apart is None else labels(collection, wishes.apart),
    )


def labels(collection: Collection, column: str) -> list[Hashable | None]:
    """What each item has in a column; None where it has nothing.

    Raises
    ------
    InputError
        When no item has anything there.
    """
    found = [_label(item, collection, index, column) for index, item in enumerate(collection.items)]
    if all(label is None for label in found):
        names = {name for item in collection.items for name in item.details} | set(collection.feature_names)
        raise InputError(f"--apart: no item has {column!r}; there are: {', '.join(sorted({'artist', *names}))}")
    return found


def durations(collection: Collection, option: str) -> Floats:
    """Seconds of each item, shape (n,).

    Raises
    ------
    InputError
        When an item's duration is not known, or negative.
    """
    for name, unit in (("duration_ms", 1000.0), ("duration", 1.0)):
        if name in collection.feature_names:
            seconds = collection.column(name) / unit
            wrong = np.flatnonzero(~(np.isfinite(seconds) & (seconds >= 0)))
            if not len(wrong):
                return np.asarray(seconds)
            label, time = collection.items[int(wrong[0])].label, float(seconds[wrong[0]])
            why = f"must not be negative; got {as_clocks(time)[0]}" if np.isfinite(time) else "is not known"
            raise InputError(f"{option}: the duration of {label!r} {why}")
    raise InputError(f"{option}: the durations are not known (a column duration_ms or duration is needed)")


def _label(item: Item, collection: Collection, index: int, column: str) -> Hashable | None:
    if column.casefold() == "artist":
        return item.artist.casefold() or None
    if column in item.details:
        value = item.details[column]
        return str(value).casefold() if value not in (None, "") else None
    if column in collection.feature_names:
        number = float(collection.column(column)[index])
        return number if np.isfinite(number) else None
    return None
