"""What a medium finds in the items of a collection beside their features: what models of pairs ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Collection, Evidence
from fabula.media.medium import Medium
from fabula.media.steps import Steps
from fabula.models.encoders.measures import closeness

_MANY = 1000  # items beyond which tables of pairs are measured when they are asked for, and not kept


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
