"""Looking at items once, and at some of them as if there were no others: what models of pairs ask of a medium."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Collection
from fabula.core.evidence import Evidence
from fabula.models.encoders.measures import closeness

if TYPE_CHECKING:
    from fabula.media.medium import Medium
    from fabula.media.steps import Steps

_MANY = 1000  # items beyond which tables of pairs are measured when they are asked for, and not kept

Look = Callable[[Sequence[int]], Evidence]  # from rows of a collection to what is known of these


def nothing(rows: Sequence[int]) -> Evidence:
    """Where items tell nothing beside their features."""
    return Evidence()


def no_look(collection: Collection) -> Look:
    """The look of a medium whose items tell nothing beside their features."""
    return nothing


def find_evidence(collection: Collection, medium: Medium) -> Evidence:
    """What a medium finds in the items of a collection, or else in the steps between what was measured of them."""
    found = medium.look(collection)(range(len(collection)))
    if found.pairs:
        return found
    return Evidence(_Closeness(medium.steps(collection, np.zeros(len(collection)))))


class _Closeness(Mapping[str, NDArray[np.floating]]):
    """How close items are in each of the medium's steps, measured when it is asked for; kept of few items."""

    def __init__(self, steps: Steps) -> None:
        self._parts = {part.name: part for part in steps.parts}
        self._kept: dict[str, NDArray[np.floating]] = {}

    def __getitem__(self, name: str) -> NDArray[np.floating]:
        if name in self._kept:
            return self._kept[name]
        part = self._parts[name]
        table = closeness(part.distance, own=callable(part.measured))
        if len(table) <= _MANY:
            self._kept[name] = table
        return table

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)
