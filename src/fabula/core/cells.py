"""Columns of text whose values are made when asked for: one block of UTF-8, or the numbers of rows.

A column of an item's words is anything with a length that gives part of itself for a slice or an array of rows, and its
values by ``tolist``. An object array of NumPy is one; so are the classes here, which hold no Python object per row.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from fabula.core.ordering import Ints


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
