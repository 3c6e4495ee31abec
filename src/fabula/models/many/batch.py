"""A batch: what is known of the items of many collections, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.cells import Cells
from fabula.core.collection import Collection
from fabula.core.collections import Collections
from fabula.core.essence import Floats
from fabula.core.item_columns import as_objects
from fabula.core.ordering import Ints
from fabula.core.segments import as_offsets
from fabula.errors import InputError, ModelError

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
        _check({"titles": titles, "artists": artists}, rows, "row")
        _check({"names": names, "ids": ids}, len(where) - 1, "collection")
        known = None if feature_names is None else tuple(feature_names)
        if known is not None and array is not None:
            _check({"feature_names": known}, array.shape[1], "column")
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


def _check(given: Mapping[str, Sized | None], count: int, of: str) -> None:
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
