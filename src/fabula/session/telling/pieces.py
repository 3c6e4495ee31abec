"""Pieces of items laid one after the other, and the arc through all items of an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.essence import Floats
from fabula.evaluation.shapes import SmoothArc, smooth_with_band
from fabula.media.medium import Medium
from fabula.session.telling.threads import MOST_ITEMS

if TYPE_CHECKING:
    from fabula.session.ordered import Ordered

PIECES = 500
FEWEST = 20  # pieces, below which there is no arc to speak of
_KNOWN = 0.5  # share of the pieces that must say something


def pieces_along(items: Sequence[Item], medium: Medium, count: int) -> tuple[Collection | None, list[int]]:
    """About so many pieces of items laid one after the other, and the number of the first of each item.

    Each item has as many as its share of the whole; one that cannot be cut has none. None where none can.

    Parameters
    ----------
    items, medium
        In their order, and their kind.
    count
        How many in all.
    """
    sizes = [len(medium.content(item)) if medium.content is not None else 1 for item in items]
    found: list[Collection] = []
    starts: list[int] = []
    for item, size in zip(items, sizes, strict=True):
        starts.append(sum(map(len, found)))
        pieces = medium.inner(item, max(2, round(count * size / max(1, sum(sizes)))))
        if pieces is not None:
            found.append(pieces)
    if not found:
        return None, starts
    numbered = [Item(str(number)) for number in range(sum(map(len, found)))]
    rows = np.concatenate([pieces.features for pieces in found])
    return Collection("pieces", numbered, rows, found[0].feature_names), starts


@dataclass(frozen=True, eq=False)
class WholeArc:
    """The course of a feature through items laid one after the other.

    ``at`` and ``arc`` are as of an inner arc; ``starts`` tells where each item begins, in [0, 1], and ``labels``
    what it is called.
    """

    column: str
    at: Floats
    arc: SmoothArc
    starts: Floats
    labels: tuple[str, ...]


def whole_arc(ordered: Ordered) -> WholeArc | None:
    """The arc through all items of an order, piece by piece; None where they have no inside that could be told."""
    session = ordered.session
    medium, items = session.medium, session.readable.only(ordered.ordering).items
    if medium.tone is None or len(items) > MOST_ITEMS:
        return None
    pieces, starts = pieces_along(items, medium, PIECES)
    if pieces is None or len(pieces) < FEWEST:
        return None
    values = pieces.column(medium.tone)
    if np.isfinite(values).mean() < _KNOWN:
        return None
    span = max(1, len(values) // 10)
    arc = smooth_with_band(values, span, np.random.default_rng(0))
    half = span / len(values) / 2
    at = np.linspace(half, 1 - half, len(arc.values))
    return WholeArc(medium.tone, at, arc, np.array(starts) / len(values), tuple(item.label for item in items))
