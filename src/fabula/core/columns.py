"""Columns of many items: texts in one block of UTF-8 or the numbers of rows, and what is known of items, by word.

A column of an item's words is anything with a length that gives part of itself for a slice or an array of rows, and its
values by ``tolist``. An object array of NumPy is one; so are the classes here, which hold no Python object per row.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Item


class Cells(Protocol):
    """One value a row, of many rows."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any, /) -> Any: ...

    def tolist(self) -> list[Any]:
        """The values as Python has them."""
        ...


T = TypeVar("T")


class Lazy(Sequence[T]):
    """A sequence whose values are made when asked for; for a slice or an array of rows it gives a part of its kind."""

    @abstractmethod
    def tolist(self) -> list[T]:
        """The values as Python has them."""

    @abstractmethod
    def part(self, rows: slice | Ints) -> Self:
        """Some rows."""

    @overload
    def __getitem__(self, rows: int) -> T: ...
    @overload
    def __getitem__(self, rows: slice | Ints) -> Self: ...

    def __getitem__(self, rows: int | slice | Ints) -> T | Self:
        if isinstance(rows, (slice, np.ndarray)):
            return self.part(rows)
        index = range(len(self))[rows]
        return self.part(slice(index, index + 1)).tolist()[0]

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self), _AT_A_TIME):
            yield from self.part(slice(start, start + _AT_A_TIME)).tolist()


_AT_A_TIME = 8192


class Texts(Lazy[str]):
    """Texts of many rows in one block of UTF-8, as Arrow keeps them.

    Parameters
    ----------
    data
        Shape (bytes,), uint8: the block.
    starts, ends
        Shape (rows,), integers: where in the block the text of each row begins and ends.

    Examples
    --------
    >>> texts = Texts.of(["Intro", "", "Café"])
    >>> texts[2], texts[1:].tolist(), texts[np.array([2, 0])].tolist()
    ('Café', ['', 'Café'], ['Café', 'Intro'])
    """

    __slots__ = ("data", "ends", "starts")

    def __init__(self, data: NDArray[np.uint8], starts: NDArray[Any], ends: NDArray[Any]) -> None:
        self.data, self.starts, self.ends = data, starts, ends

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Texts laid into one block."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        offsets = np.cumsum([0, *map(len, encoded)])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets[:-1], offsets[1:])

    def __len__(self) -> int:
        return len(self.starts)

    def tolist(self) -> list[str]:
        """The texts."""
        if not len(self):
            return []
        low, high = int(self.starts.min()), int(self.ends.max())
        block = self.data[low:high].data
        pairs = zip((self.starts - low).tolist(), (self.ends - low).tolist(), strict=True)
        return [str(block[a:b], "utf-8", "surrogatepass") for a, b in pairs]

    def part(self, rows: slice | Ints) -> Texts:
        """The texts of some rows."""
        return Texts(self.data, self.starts[rows], self.ends[rows])

    def __reduce__(self) -> tuple[Any, ...]:
        # A part travels with its own bytes, not with the whole block.
        lengths = self.ends - self.starts
        ends = np.cumsum(lengths)
        block = b"".join(self.data.data[a:b] for a, b in zip(self.starts.tolist(), self.ends.tolist(), strict=True))
        return Texts, (np.frombuffer(block, dtype=np.uint8), ends - lengths, ends)


class Numbered(Lazy[str]):
    """Rows called by their number.

    Examples
    --------
    >>> Numbered(np.arange(1, 4)).tolist()
    ['1', '2', '3']
    """

    __slots__ = ("numbers",)

    def __init__(self, numbers: Ints) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def tolist(self) -> list[str]:
        """The texts."""
        return list(map(str, self.numbers.tolist()))

    def part(self, rows: slice | Ints) -> Numbered:
        """The numbers of some rows."""
        return Numbered(self.numbers[rows])


# What is known of many items, one column per word, from which items are made when asked for.

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
        lengths = [None] * len(self) if self.length is None else map(_length_or_none, self.length.tolist())
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


def _length_or_none(length: float) -> float | None:
    return None if length != length else length
