"""Sources: one collection, where it came from, and what writing it back needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.collection import Collection
from fabula.errors import InputError
from fabula.media.medium import Medium

if TYPE_CHECKING:
    from fabula.sources.playlists.entries import Playlist
    from fabula.sources.tables.source_table import SourceTable


@dataclass(frozen=True)
class Choice:
    """A collection of a source of several, as a person chooses it: its id, its title or "", and how many items."""

    id: str
    title: str
    items: int


class SeveralCollectionsError(InputError):
    """A source holds several collections, the choices, and none was named."""

    def __init__(self, message: str, choices: Sequence[Choice]) -> None:
        self.choices = tuple(choices)
        super().__init__(message, field="collection")


@dataclass(frozen=True, eq=False)
class Source:
    """A collection and where it came from."""

    path: Path  # The file, folder or address; the first one where there are several
    collection: Collection  # The items in the order given
    medium: Medium  # The kind of media they are
    folder: Path = Path()  # Where the items' relative paths start from
    files: bool = False  # Whether the items are files, which can be measured
    # playlist, table: Kept where the items come from one, so that writing it back changes nothing but the order
    playlist: Playlist | None = None
    table: SourceTable | None = None
    # For each item its entry of the playlist or row of the table; empty where there is neither
    rows: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()  # What the user should know of the reading

    @property
    def title(self) -> str:
        """What to call it."""
        return self.collection.title or self.path.stem

    def only(self, indices: Sequence[int]) -> Source:
        """The same with some of the items, in the order of the indices; the others keep their entries."""
        rows = tuple(self.rows[i] for i in indices) if self.rows else ()
        return replace(self, collection=self.collection.only(indices), rows=rows)

    def with_notes(self, *notes: str) -> Source:
        """The same with more to tell."""
        return replace(self, notes=(*self.notes, *notes))

    def with_lengths(self) -> Source:
        """The same, with what its medium makes of its features: those that follow from others, and lengths."""
        collection = self.medium.complete(self.collection)
        known = [float(length) if np.isfinite(length) else None for length in self.medium.lengths(collection)]
        pairs = zip(collection.items, known, strict=True)
        items = tuple(item if length is None else replace(item, length=length) for item, length in pairs)
        return replace(self, collection=replace(collection, items=items))

    @property
    def unmovable(self) -> tuple[int, ...]:
        """Entries of the playlist that are no items: they cannot be measured and keep where they stand."""
        if self.playlist is None:
            return ()
        return tuple(sorted(set(range(len(self.playlist))) - set(self.rows)))


def with_held(order: Sequence[int], held: Sequence[int]) -> list[int]:
    """Entries in their new order, those that are held put back to where they stood.

    >>> with_held([3, 0, 2], [1])
    [3, 1, 0, 2]
    """
    entries = list(order)
    for position in sorted(held):
        entries.insert(position, position)
    return entries
