"""Many collections as columns: one block of features, where each collection begins, and items made when asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arrays import Floats, Ints, as_offsets
from fabula.core.collection import Collection, Item
from fabula.errors import InputError

# Columns of many items: texts in one block of UTF-8 or the numbers of rows, and what is known of items, by word.


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

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, (slice, np.ndarray)):
            return self.part(rows)
        index = range(len(self))[rows]
        return self.part(slice(index, index + 1)).tolist()[0]

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self), _AT_A_TIME):
            yield from self.part(slice(start, start + _AT_A_TIME)).tolist()


_AT_A_TIME = 8192


class Texts(Lazy[str]):
    """Texts of many rows in one block of UTF-8 (bytes,), as Arrow keeps them: row i from ``starts[i]`` to ``ends[i]``.

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
        spans = list(zip((self.starts - low).tolist(), (self.ends - low).tolist(), strict=True))
        try:
            return [str(block[a:b], "utf-8", "surrogatepass") for a, b in spans]
        except UnicodeDecodeError:  # a broken file may hold anything
            return [str(block[a:b], "utf-8", "replace") for a, b in spans]

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
    """Rows called by their number."""

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
    """What is known of the items of many rows, one column per word."""

    words: Mapping[str, Cells]  # of WORDS, the id always
    # name -> column; where a cell is "" the item has no such detail
    details: Mapping[str, Cells] = field(default_factory=dict)
    length: Floats | None = None  # (rows,), NaN where it is not known

    @classmethod
    def of(cls, items: Sequence[Item]) -> ItemColumns:
        """The columns of items that are there already."""
        names = dict.fromkeys(name for item in items for name in item.details)
        words = {word: as_objects(getattr(item, word) for item in items) for word in WORDS}
        known = any(item.length is not None for item in items)
        details = {name: as_objects(item.details.get(name, "") for item in items) for name in names}
        length = np.array([np.nan if x.length is None else x.length for x in items]) if known else None
        return cls(words, details, length)

    def __len__(self) -> int:
        return len(self.words["id"])

    def part(self, rows: slice | Ints) -> ItemColumns:
        """Some rows, by a slice or an array of rows."""
        words, details = ({name: cells[rows] for name, cells in each.items()} for each in (self.words, self.details))
        return ItemColumns(words, details, None if self.length is None else self.length[rows])

    def items(self) -> tuple[Item, ...]:
        """An item per row, made now."""
        nothing = [""] * len(self)
        ids, titles, paths, artists = (self.words[w].tolist() if w in self.words else nothing for w in WORDS)
        columns = [cells.tolist() for cells in self.details.values()]
        rest = zip(*columns, strict=True) if columns else [()] * len(self)
        lengths = [None] * len(self)
        if self.length is not None:
            lengths = [None if length != length else length for length in self.length.tolist()]

        def details(row: Sequence[Any]) -> Mapping[str, Any]:
            known = zip(self.details, row, strict=True)
            return MappingProxyType({name: cell for name, cell in known if not (isinstance(cell, str) and cell == "")})

        return tuple(
            Item(one, title, path, artist, details(row), length)
            for one, title, path, artist, row, length in zip(ids, titles, paths, artists, rest, lengths, strict=True)
        )

    def column(self, name: str) -> Cells | None:
        """One column by its name: id, title, path, artist, or a detail; None where there is none."""
        return (self.words if name in WORDS else self.details).get(name)


def as_objects(values: Iterable[Any]) -> NDArray[np.object_]:
    """An array of Python objects, shape (number,); one that is given, as it is."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values
    known = list(values)
    return np.fromiter(known, dtype=object, count=len(known))


class Collections(Sequence[Collection]):
    """Many collections in one block of columns; each is made when asked for, and its items when they are.

    A sequence like a list of :class:`Collection`: it has a length, is indexed, cut, joined and looped over. What
    works on all collections at once reads the block instead.

    Parameters
    ----------
    features
        Shape (rows, f): the items of all collections, one collection after the other, each in its order; NaN where a
        value is missing.
    offsets
        Shape (number + 1,): collection k has the rows ``offsets[k]`` to ``offsets[k + 1]``.
    feature_names
        f names, one per column.
    ids, titles
        One per collection; by default its number from 1, and no title.
    items
        What else is known of each row: columns, or a mapping from ``id``, ``title``, ``path`` or ``artist`` to one text
        per row; by default the items are called by the number of their row.
    ordered
        Whether the order of the rows is the true one.

    Examples
    --------
    >>> many = Collections([[0.5], [0.7], [0.1]], [0, 2, 3], ["energy"], ids=["a", "b"])
    >>> len(many), many[0].column("energy"), [c.id for c in many[1:]]
    (2, array([0.5, 0.7]), ['b'])
    >>> many.column("energy"), many.sizes
    (array([0.5, 0.7, 0.1]), array([2, 1]))
    """

    __slots__ = ("_items", "feature_names", "features", "ids", "offsets", "ordered", "titles")

    def __init__(
        self,
        features: ArrayLike,
        offsets: ArrayLike,
        feature_names: Sequence[str] = (),
        *,
        ids: Sequence[str] | NDArray[np.object_] | None = None,
        titles: Sequence[str] | NDArray[np.object_] | None = None,
        items: ItemColumns | Mapping[str, Sequence[str] | Cells] | None = None,
        ordered: bool = True,
    ) -> None:
        try:
            array = np.asarray(features)
            self.features = array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)
        except (TypeError, ValueError):
            message = "features must be an array of numbers, one row per item, NaN where one is missing"
            raise InputError(message) from None
        self.offsets = as_offsets(offsets, len(self.features))
        self.feature_names = tuple(feature_names)
        number = len(self.offsets) - 1
        self.ids = as_objects(Numbered(np.arange(1, number + 1)).tolist() if ids is None else ids)
        self.titles = None if titles is None else as_objects(titles)
        self._items = items if isinstance(items, ItemColumns) else _as_columns(items or {}, len(array))
        self.ordered = ordered
        rows, names = len(self.features), self.feature_names
        if self.features.ndim < 2 or self.features.shape[1] != len(names):
            raise InputError(
                f"{len(names)} features of {rows} items must have shape ({rows}, {len(names)}, ...); "
                f"got {self.features.shape}"
            )
        if len(set(names)) != len(names):
            raise InputError(f"feature {next(name for name in names if names.count(name) > 1)!r} is named twice")
        for what, given, wanted in (
            ("ids", len(self.ids), number),
            ("titles", number if self.titles is None else len(self.titles), number),
            ("items", len(self._items), rows),
        ):
            if given != wanted:
                raise InputError(f"{what}: there must be {wanted}; got {given}")

    @classmethod
    def of(cls, collections: Sequence[Collection], feature_names: Sequence[str] | None = None) -> Collections:
        """The same collections in one block; those that are in one already, as they are.

        With ``feature_names`` any number, with these columns, NaN where a collection lacks one; without, one or more,
        which must have the same features.

        >>> from fabula.core.collection import Item
        >>> one = Collection("1", [Item("a"), Item("b")], [[1.0], [2.0]], ["energy"])
        >>> Collections.of([one, one]).offsets
        array([0, 2, 4])
        """
        if isinstance(collections, Collections):
            return collections
        if feature_names is None and not collections:
            raise InputError("there must be one collection or more")
        for other in collections if feature_names is None else ():
            first = collections[0]
            if other.feature_names != first.feature_names or other.features.shape[1:] != first.features.shape[1:]:
                raise InputError(f"collections {first.id!r} and {other.id!r} must have the same features")
        names = collections[0].feature_names if feature_names is None else tuple(feature_names)
        blocks = [pick_features(c.features, c.feature_names, names) for c in collections]
        return cls(
            np.concatenate(blocks) if blocks else np.zeros((0, len(names))),
            np.cumsum([0, *map(len, collections)]),
            names,
            ids=[c.id for c in collections],
            titles=[c.title for c in collections],
            items=ItemColumns.of([item for c in collections for item in c.items]),
            ordered=all(c.ordered for c in collections),
        )

    @property
    def sizes(self) -> Ints:
        """How many items each collection has, shape (number,)."""
        return np.diff(self.offsets)

    def column(self, name: str) -> Floats:
        """One feature of every item, shape (rows,) or (rows, ...), in their order; an error lists what there is."""
        if name not in self.feature_names:
            known = ", ".join(self.feature_names) or "none"
            raise InputError(f"these collections have no feature {name!r}; they have: {known}")
        return np.asarray(self.features[:, self.feature_names.index(name)], dtype=np.float64)

    def pick(self, names: Sequence[str]) -> NDArray[np.floating[Any]]:
        """Some features of every item by name, shape (rows, len(names), ...); NaN for a name that is not there.

        >>> Collections([[0.5], [0.7]], [0, 2], ["energy"]).pick(["tempo", "energy"])
        array([[nan, 0.5],
               [nan, 0.7]])
        """
        return pick_features(self.features, self.feature_names, names)

    def under(self, features: NDArray[np.floating[Any]], feature_names: Sequence[str]) -> Collections:
        """The same collections with other features (rows, f)."""
        return self._with(features=features, feature_names=tuple(feature_names))

    def texts(self, name: str) -> Cells:
        """One word of every item, (rows,): its id, title, path, artist, or a detail by its name; "" where it has none.

        >>> Collections([[0.5], [0.7]], [0, 2], ["energy"]).texts("id").tolist()
        ['1', '2']
        """
        found = self._items.column(name)
        return as_objects([""]).repeat(len(self.features)) if found is None else found

    @property
    def detail_names(self) -> tuple[str, ...]:
        """The names of the details that items may have."""
        return tuple(self._items.details)

    def only(self, which: ArrayLike) -> Collections:
        """Some of the collections: by their numbers, or by a mask of shape (number,).

        >>> many = Collections([[0.5], [0.7], [0.1]], [0, 2, 3], ["energy"])
        >>> many.only(many.sizes > 1).ids.tolist(), many.only([1, 0]).features.ravel()
        (['1'], array([0.1, 0.5, 0.7]))
        """
        chosen = np.arange(len(self))[np.asarray(which)]
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(self.offsets[chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return self._rows(rows, offsets, chosen)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Collection: ...
    @overload
    def __getitem__(self, index: slice) -> Collections: ...

    def __getitem__(self, index: int | slice) -> Collection | Collections:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1 or stop <= start:
                return self.only(np.arange(start, stop, step))
            first, last = int(self.offsets[start]), int(self.offsets[stop])
            return self._rows(slice(first, last), self.offsets[start : stop + 1] - first, slice(start, stop))
        try:
            number = range(len(self))[index]
        except IndexError:
            raise IndexError(f"there are {len(self)} collections; got {index}") from None
        return self._collection(number, int(self.offsets[number]), int(self.offsets[number + 1]))

    def __iter__(self) -> Iterator[Collection]:
        for number, (start, stop) in enumerate(pairwise(self.offsets.tolist())):
            yield self._collection(number, start, stop)

    def __add__(self, other: Sequence[Collection]) -> list[Collection]:
        return [*self, *other]

    def __radd__(self, other: Sequence[Collection]) -> list[Collection]:
        return [*other, *self]

    def __repr__(self) -> str:
        what = f"{len(self):,} collections of {len(self.features):,} items"
        return f"<Collections: {what}; features: {', '.join(self.feature_names[:8]) or 'none'}>"

    def _collection(self, number: int, start: int, stop: int) -> Collection:
        rows = slice(start, stop)
        return Collection.view(
            (self._items, rows),
            id=self.ids[number],
            features=self.features[rows],
            feature_names=self.feature_names,
            ordered=self.ordered,
            title="" if self.titles is None else self.titles[number],
        )

    def _rows(self, rows: slice | Ints, offsets: Ints, which: slice | Ints) -> Collections:
        """Some of the collections, with the rows that they have."""
        titles = None if self.titles is None else self.titles[which]
        features, items = self.features[rows], self._items.part(rows)
        return self._with(features=features, offsets=offsets, ids=self.ids[which], titles=titles, _items=items)

    def _with(self, **changes: Any) -> Collections:
        """The same with some of it changed; nothing is checked or copied."""
        made = object.__new__(Collections)
        for name in self.__slots__:
            setattr(made, name, changes.get(name, getattr(self, name)))
        return made


def pick_features(features: NDArray[Any], there: Sequence[str], wanted: Sequence[str]) -> NDArray[np.floating[Any]]:
    """Columns of features (rows, f, ...) by name, NaN for a name that is not there."""
    if tuple(there) == tuple(wanted):
        return features
    known = [name for name in wanted if name in there]
    columns = features[:, [list(there).index(name) for name in known]]
    if len(known) == len(wanted):
        return columns
    found = np.full((len(features), len(wanted), *features.shape[2:]), np.nan)
    found[:, [list(wanted).index(name) for name in known]] = columns
    return found


def _as_columns(words: Mapping[str, Sequence[str] | Cells], rows: int) -> ItemColumns:
    """Columns of so many rows by word; the rows are called by their number where no id is given."""
    cells: dict[str, Any] = {word: as_objects(t) if isinstance(t, (list, tuple)) else t for word, t in words.items()}
    wrong = next((word for word, column in cells.items() if word not in WORDS or len(column) != rows), None)
    if wrong is not None:
        got = f"{wrong!r}" if wrong not in WORDS else f"{len(cells[wrong])} of {wrong!r}"
        raise InputError(f"items must give one text per row, {rows}, of {', '.join(WORDS)}; got {got}")
    return ItemColumns({"id": Numbered(np.arange(1, rows + 1))} | cells)
