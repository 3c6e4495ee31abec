"""What is known of many items, one column per word, from which items are made when asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.cells import Cells
from fabula.core.collection import Item
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

WORDS = ("id", "title", "path", "artist")


@dataclass(frozen=True, eq=False)
class ItemColumns:
    """What is known of the items of many rows, one column per word.

    Parameters
    ----------
    id, title, path, artist
        As of :class:`Item`, each of as many rows; None where no item has one.
    details
        Name -> column; where a cell is "" the item has no such detail.
    length
        Shape (rows,), NaN where it is not known; None where none is.
    """

    id: Cells
    title: Cells | None = None
    path: Cells | None = None
    artist: Cells | None = None
    details: Mapping[str, Cells] = field(default_factory=dict)
    length: Floats | None = None

    @classmethod
    def of(cls, items: Sequence[Item]) -> ItemColumns:
        """The columns of items that are there already."""
        names = dict.fromkeys(name for item in items for name in item.details)
        words = {word: as_objects(getattr(item, word) for item in items) for word in WORDS}
        known = any(item.length is not None for item in items)
        return cls(
            **words,
            details={name: as_objects(item.details.get(name, "") for item in items) for name in names},
            length=np.array([np.nan if x.length is None else x.length for x in items]) if known else None,
        )

    def __len__(self) -> int:
        return len(self.id)

    def part(self, rows: slice | Ints) -> ItemColumns:
        """Some rows, by a slice or an array of rows."""

        def of(cells: Any) -> Any:
            return None if cells is None else cells[rows]

        details = {name: of(cells) for name, cells in self.details.items()}
        return ItemColumns(
            of(self.id), of(self.title), of(self.path), of(self.artist), details=details, length=of(self.length)
        )

    def items(self) -> tuple[Item, ...]:
        """An item per row, made now."""
        nothing = [""] * len(self)
        words = (getattr(self, word) for word in WORDS)
        ids, titles, paths, artists = (nothing if cells is None else cells.tolist() for cells in words)
        rest = (
            zip(*(cells.tolist() for cells in self.details.values()), strict=True) if self.details else [()] * len(self)
        )
        lengths = [None] * len(self) if self.length is None else map(_known, self.length.tolist())
        return tuple(
            Item(one, title, path, artist, MappingProxyType(_details(self.details, row)), length)
            for one, title, path, artist, row, length in zip(ids, titles, paths, artists, rest, lengths, strict=True)
        )

    def column(self, name: str) -> Cells | None:
        """One column by its name: id, title, path, artist, or a detail; None where there is none."""
        if name in WORDS:
            found: Cells | None = getattr(self, name)
            return found
        return self.details.get(name)


def as_objects(values: Iterable[Any]) -> NDArray[np.object_]:
    """An array of Python objects, shape (number,); one that is given, as it is."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values
    known = list(values)
    return np.fromiter(known, dtype=object, count=len(known))


def _details(names: Mapping[str, Any], row: Sequence[Any]) -> dict[str, Any]:
    return {name: cell for name, cell in zip(names, row, strict=True) if not (isinstance(cell, str) and cell == "")}


def _known(length: float) -> float | None:
    return None if length != length else length
