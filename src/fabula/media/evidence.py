"""Looking at items once, and at some of them as if there were no others: what step models ask of a medium."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabula.core.collection import Collection
from fabula.models.encoders.measures import Evidence

Look = Callable[[Sequence[int]], Evidence]  # from rows of a collection to what is known of these


def nothing(rows: Sequence[int]) -> Evidence:
    """Where items tell nothing beside their features."""
    return Evidence()


def no_look(collection: Collection) -> Look:
    """The look of a medium whose items tell nothing beside their features."""
    return nothing
