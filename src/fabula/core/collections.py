"""Many collections as columns: one block of features, where each collection begins, and items made when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.collection import Collection
from fabula.core.columns import Cells, ItemColumns, Numbered, as_objects
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.core.segments import as_offsets
from fabula.errors import InputError, ModelError


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
        What else is known of each row; by default the items are called by the number of their row.
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

    features: NDArray[np.floating[Any]]
    offsets: Ints
    feature_names: tuple[str, ...]
    ids: NDArray[np.object_]
    titles: NDArray[np.object_] | None

    def __init__(
        self,
        features: ArrayLike,
        offsets: ArrayLike,
        feature_names: Sequence[str] = (),
        *,
        ids: Sequence[str] | NDArray[np.object_] | None = None,
        titles: Sequence[str] | NDArray[np.object_] | None = None,
        items: ItemColumns | None = None,
        ordered: bool = True,
    ) -> None:
        array = np.asarray(features)
        self.features = array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)
        self.offsets = _as_offsets(offsets, len(self.features))
        self.feature_names = tuple(feature_names)
        number = len(self.offsets) - 1
        self.ids = as_objects(Numbered(np.arange(1, number + 1)).tolist() if ids is None else ids)
        self.titles = None if titles is None else as_objects(titles)
        self._items = ItemColumns(Numbered(np.arange(1, len(self.features) + 1))) if items is None else items
        self.ordered = ordered
        _check(self, number)

    @classmethod
    def of(cls, collections: Sequence[Collection]) -> Collections:
        """The same collections in one block; those that are in one already, as they are.

        Raises
        ------
        InputError
            When their features have other names, or there is none.

        Examples
        --------
        >>> from fabula.core.collection import Item
        >>> one = Collection("1", [Item("a"), Item("b")], [[1.0], [2.0]], ["energy"])
        >>> Collections.of([one, one]).offsets
        array([0, 2, 4])
        """
        if isinstance(collections, Collections):
            return collections
        if not collections:
            raise InputError("there must be one collection or more")
        first = collections[0]
        for other in collections:
            if other.feature_names != first.feature_names or other.features.shape[1:] != first.features.shape[1:]:
                raise InputError(f"collections {first.id!r} and {other.id!r} must have the same features")
        return cls(
            np.concatenate([c.features for c in collections]),
            np.cumsum([0, *map(len, collections)]),
            first.feature_names,
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
        """One feature of every item, shape (rows,) or (rows, ...), in the order of the rows.

        Raises
        ------
        InputError
            When there is no such feature; the message lists what there is.
        """
        if name not in self.feature_names:
            known = ", ".join(self.feature_names) or "none"
            raise InputError(f"these collections have no feature {name!r}; they have: {known}")
        return np.asarray(self.features[:, self.feature_names.index(name)], dtype=np.float64)

    def texts(self, name: str) -> Cells:
        """One word of every item, (rows,): its id, title, path, artist, or a detail by its name; "" where it has none.

        Examples
        --------
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

        Examples
        --------
        >>> many = Collections([[0.5], [0.7], [0.1]], [0, 2, 3], ["energy"])
        >>> many.only(many.sizes > 1).ids.tolist(), many.only([1, 0]).features.ravel()
        (['1'], array([0.1, 0.5, 0.7]))
        """
        chosen = np.arange(len(self))[np.asarray(which)]
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(self.offsets[chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return self._made(self.features[rows], offsets, chosen, self._items.part(rows))

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
            rows = slice(first, last)
            offsets = self.offsets[start : stop + 1] - first
            return self._made(self.features[rows], offsets, slice(start, stop), self._items.part(rows))
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

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self.features, self.offsets, self.feature_names, self.ids, self.titles, self._items, self.ordered)
        return _restored, state

    def _collection(self, number: int, start: int, stop: int) -> Collection:
        rows = slice(start, stop)
        title = "" if self.titles is None else self.titles[number]
        return Collection.view(
            self.ids[number],
            (self._items, rows),
            self.features[rows],
            self.feature_names,
            ordered=self.ordered,
            title=title,
        )

    def _made(self, features: NDArray[Any], offsets: Ints, which: slice | Ints, items: ItemColumns) -> Collections:
        titles = None if self.titles is None else self.titles[which]
        return _restored(features, offsets, self.feature_names, self.ids[which], titles, items, self.ordered)


def _restored(
    features: NDArray[Any],
    offsets: Ints,
    names: tuple[str, ...],
    ids: NDArray[np.object_],
    titles: NDArray[np.object_] | None,
    items: ItemColumns,
    ordered: bool,  # noqa: FBT001 - what pickle gives
) -> Collections:
    made = object.__new__(Collections)
    made.features, made.offsets, made.feature_names = features, offsets, names
    made.ids, made.titles, made._items, made.ordered = ids, titles, items, ordered
    return made


def _check(made: Collections, number: int) -> None:
    rows, names = len(made.features), made.feature_names
    if made.features.ndim < 2 or made.features.shape[1] != len(names):
        raise InputError(
            f"{len(names)} features of {rows} items must have shape ({rows}, {len(names)}, ...); "
            f"got {made.features.shape}"
        )
    if len(set(names)) != len(names):
        raise InputError(f"feature {next(name for name in names if names.count(name) > 1)!r} is named twice")
    for what, given, wanted in (
        ("ids", len(made.ids), number),
        ("titles", number if made.titles is None else len(made.titles), number),
        ("items", len(made._items), rows),
    ):
        if given != wanted:
            raise InputError(f"{what}: there must be {wanted}; got {given}")


def _as_offsets(offsets: ArrayLike, rows: int) -> Ints:
    found = np.asarray(offsets)
    if found.ndim != 1 or not len(found) or not np.issubdtype(found.dtype, np.integer):
        raise InputError(f"offsets must be whole numbers, one more than there are collections; got {offsets!r}")
    if found[0] != 0 or found[-1] != rows or (np.diff(found) < 1).any():
        raise InputError(f"offsets must rise from 0 to the number of rows, {rows}; got {found[0]} to {found[-1]}")
    return found.astype(np.intp, copy=False)


# A batch: what is known of the items of many collections, as columns.

Texts = Cells | Sequence[str]


@dataclass(frozen=True, eq=False)
class Batch:
    """The items of many collections as columns: all rows of the first collection, then those of the second, ...

    Parameters
    ----------
    features
        Shape (rows, f) or (rows, f, s), NaN where a value is missing; None where nothing but titles is known.
    offsets
        Shape (number + 1,), integers: collection i has the rows ``offsets[i]`` to ``offsets[i + 1]``.
    feature_names
        f names; by default those of the model that reads it, in its order.
    titles, artists
        One text per row, empty where it is not known; None where none is.
    names, ids
        The title and the id of each collection, number of them; None where none is known.

    Examples
    --------
    >>> batch = Batch([[0.1], [0.5], [0.3]], [0, 2, 3], titles=["Intro", "Rain", "Alone"])
    >>> len(batch), batch.rows
    (2, 3)
    """

    features: Floats | None = field(repr=False)
    offsets: Ints
    feature_names: tuple[str, ...] | None = None
    titles: Cells | None = field(default=None, repr=False)
    artists: Cells | None = field(default=None, repr=False)
    names: Cells | None = field(default=None, repr=False)
    ids: Cells | None = field(default=None, repr=False)

    def __init__(
        self,
        features: ArrayLike | None,
        offsets: ArrayLike,
        *,
        feature_names: Sequence[str] | None = None,
        titles: Texts | None = None,
        artists: Texts | None = None,
        names: Texts | None = None,
        ids: Texts | None = None,
    ) -> None:
        array = None if features is None else _numbers(features)
        rows = next((len(given) for given in (array, titles) if given is not None), None)
        if rows is None:
            raise InputError("a batch needs features, titles or both")
        where = as_offsets(offsets, rows)
        _check_batch({"titles": titles, "artists": artists}, rows, "row")
        _check_batch({"names": names, "ids": ids}, len(where) - 1, "collection")
        known = None if feature_names is None else tuple(feature_names)
        if known is not None and array is not None:
            _check_batch({"feature_names": known}, array.shape[1], "column")
        values = (array, where, known, *map(_cells, (titles, artists, names, ids)))
        for attribute, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, attribute, value)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def rows(self) -> int:
        """How many items all collections have."""
        return int(self.offsets[-1])

    def picked(self, wanted: Sequence[str]) -> Floats:
        """Some features by name, shape (rows, len(wanted), ...); NaN in all rows for a name that is not there."""
        if self.features is None:
            return np.full((self.rows, len(wanted)), np.nan)
        if self.feature_names is None or self.feature_names == tuple(wanted):
            return self.features
        there = [name for name in wanted if name in self.feature_names]
        columns = self.features[:, [self.feature_names.index(name) for name in there]]
        if len(there) == len(wanted):
            return columns
        found = np.full((self.rows, len(wanted), *self.features.shape[2:]), np.nan)
        found[:, [list(wanted).index(name) for name in there]] = columns
        return found


def as_batch(
    features: ArrayLike | Sequence[Collection] | Batch, offsets: ArrayLike | None, needed: Sequence[str] = ()
) -> Batch:
    """What is given to a model as a batch: an array with offsets, a batch, or collections.

    Raises
    ------
    ModelError
        When one of the features ``needed`` is not there.
    """
    if offsets is not None:
        if isinstance(features, Batch):
            raise InputError("a batch has offsets of its own; leave out offsets")
        return Batch(cast("ArrayLike", features), offsets)
    if isinstance(features, Batch):
        known = features.feature_names
        _check_needed("the batch", needed if features.features is None else (), ())
        _check_needed("the batch", needed if known is not None else (), known or ())
        return features
    if not isinstance(features, Sequence) or not all(isinstance(each, Collection) for each in features[:1]):
        raise InputError("offsets must say where each collection begins, unless collections are given")
    return batch_of(cast("Sequence[Collection]", features), needed)


def batch_of(collections: Sequence[Collection], needed: Sequence[str] = ()) -> Batch:
    """Collections as columns: every feature that one of them has, titles, artists and titles of the collections.

    Raises
    ------
    ModelError
        When a collection lacks one of the features ``needed``.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> batch_of([Collection("1", (Item("a", title="Rain"),), [[0.5]], ("energy",))]).titles.tolist()
    ['Rain']
    """
    if isinstance(collections, Collections):
        return _of_columns(collections, needed)
    known = {each.feature_names: each for each in collections}
    for names, first in known.items():
        _check_needed(f"collection {first.id!r}", needed, names)
    names = tuple(needed) or tuple(dict.fromkeys(name for each in known for name in each))
    blocks = [each.features if each.feature_names == names else _under(each, names) for each in collections]
    items = [item for each in collections for item in each.items]
    return Batch(
        np.concatenate(blocks) if blocks else np.zeros((0, len(names))),
        np.cumsum([0, *map(len, collections)]),
        feature_names=names,
        titles=[item.title for item in items],
        artists=[item.artist for item in items],
        names=[each.title for each in collections],
        ids=[each.id for each in collections],
    )


def _of_columns(collections: Collections, needed: Sequence[str]) -> Batch:
    """A batch of collections that are columns already."""
    if len(collections):
        _check_needed(f"collection {collections.ids[0]!r}", needed, collections.feature_names)
    return Batch(
        collections.features,
        collections.offsets,
        feature_names=collections.feature_names,
        titles=collections.texts("title"),
        artists=collections.texts("artist"),
        names=collections.titles,
        ids=collections.ids,
    )


def _under(collection: Collection, names: Sequence[str]) -> Floats:
    """The features of one collection in the columns of some names, (n, len(names), ...); NaN for those it lacks."""
    found = np.full((len(collection), len(names), *collection.features.shape[2:]), np.nan)
    there = [name for name in names if name in collection.feature_names]
    if there:
        found[:, [list(names).index(name) for name in there]] = collection.columns(there)
    return found


def _check_batch(given: Mapping[str, Sized | None], count: int, of: str) -> None:
    for what, values in given.items():
        if values is not None and len(values) != count:
            raise InputError(f"{what} must be one per {of}: {count}; got {len(values)}")


def _check_needed(what: str, needed: Sequence[str], names: Sequence[str]) -> None:
    missing = [name for name in needed if name not in names]
    if missing:
        raise ModelError(
            f"{what} lacks {len(missing)} of the {len(needed)} features this model needs: {', '.join(missing)}"
        )


def _cells(given: Texts | None) -> Cells | None:
    """A column of texts that gives parts of itself for an array of rows."""
    return as_objects(given) if isinstance(given, (list, tuple)) else cast("Cells | None", given)


def _numbers(features: ArrayLike) -> Floats:
    try:
        found = np.asarray(features)
        found = found if np.issubdtype(found.dtype, np.floating) else found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("features must be numbers, one row per item, NaN where one is missing") from error
    if found.ndim < 2:
        raise InputError(f"features must have shape (rows, f) or (rows, f, s); got {found.shape}")
    return found
