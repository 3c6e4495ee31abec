"""Encoders that see each item by itself, and their input transform: logarithms, mean and deviation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Alike, Floats, by_length, normalise_many, quantise
from fabula.core.collection import Collection, Evidence
from fabula.core.collections import Collections
from fabula.errors import InputError, ModelError
from fabula.models.config import FEATURES, Encoded, EncodeItems, Settings, Tensors

_ROWS = 8192  # items at a time, so that memory does not grow with how many there are
_TOGETHER = 30_000  # items whose essence goes to the scorers at a time


@dataclass(frozen=True, eq=False)
class Transform:
    """What is done to features before the encoder sees them.

    The logarithm of some, then less the mean, by the deviation; then squashed so that no value lies further than
    ``bound`` from 0: an item unlike all training items is taken for the most unusual of them, not for something of
    which the encoder knows nothing. A missing value (NaN) becomes 0: it counts as the mean of the training items.

    >>> t = Transform(("energy",), (), [2.0], [1.0])
    >>> t.apply([[5.0], [np.nan]])
    array([[3.],
           [0.]])
    """

    feature_names: tuple[str, ...]  # f, in the order of the columns
    # whose logarithm is taken; "speechiness+0.02" adds a constant first, for features that may be 0
    logged: tuple[str, ...]
    mean: Floats = field(repr=False)  # (f,), or (f, s) for features of s numbers each
    deviation: Floats = field(repr=False)  # the same shape; 0 counts as 1
    bound: float = 0.0  # the most deviations from the mean; 0: any

    def __post_init__(self) -> None:
        names, logs, bound = tuple(self.feature_names), tuple(self.logged), self.bound
        if not names or len(set(names)) != len(names) or not all(isinstance(name, str) for name in names):
            raise InputError(f"feature names must be one or more different texts; got {names}")
        taken = dict(log_parts(text, names) for text in logs)
        if len(taken) != len(logs) or any(n not in names or not 0 <= c < np.inf for n, c in taken.items()):
            raise InputError(f"logged features must be among the feature names, each once; got {logs}")
        centre, spread = (np.array(each, dtype=np.float64) for each in (self.mean, self.deviation))
        if centre.ndim not in (1, 2) or len(centre) != len(names) or spread.shape != centre.shape:
            raise InputError(
                f"a transform of {len(names)} features needs a mean and a deviation of shape ({len(names)},) or "
                f"({len(names)}, s); got {centre.shape} and {spread.shape}"
            )
        if not (np.isfinite(centre).all() and np.isfinite(spread).all() and (spread >= 0).all()):
            raise InputError("the mean and deviation of a transform must be finite, the deviation not below 0")
        if not 0 <= bound < np.inf:
            raise InputError(f"the bound of a transform must be 0 (none) or above; got {bound}")
        self.__dict__.update(feature_names=names, logged=logs, mean=centre, deviation=spread, bound=float(bound))

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Shape of one item's features: (f,) or (f, s)."""
        return self.mean.shape

    def apply(self, features: ArrayLike) -> Floats:
        """Features of shape (n, f) or (n, f, s) as the encoder takes them, the same shape, finite."""
        values = _take_logarithms(np.asarray(features, dtype=np.float64), self.feature_names, self.logged)
        if values.shape[1:] != self.mean.shape:
            raise InputError(
                f"features must have shape (n, {', '.join(map(str, self.mean.shape))}); got {values.shape}"
            )
        values = (values - self.mean) / np.where(self.deviation > 0, self.deviation, 1.0)
        if self.bound:
            values = self.bound * np.tanh(values / self.bound)
        return np.where(np.isnan(values), 0.0, values)


@dataclass(frozen=True, eq=False)
class ItemEncoder:
    """An encoder of single items with its weights: the essence of each is its own, z-scored within its collection."""

    encode_items: EncodeItems  # as its kind does it
    settings: Settings
    tensors: Tensors
    transform: Transform
    dimensions: int
    by_item: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = (FEATURES,)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features it needs, in the order of the columns."""
        return self.transform.feature_names

    def raw(self, many: Collections) -> Floats:
        """The essence of all items, (rows, d), not z-scored, some rows at a time; equal items have an equal one."""
        if len(many):
            check_features(self.feature_names, many.feature_names, many.ids[0])
        features, shape = many.pick(self.feature_names), self.transform.item_shape
        if features.shape[1:] != shape:
            expected = ", ".join(map(str, shape))
            raise ModelError(f"this model takes features of shape (n, {expected}), n at least 1; got {features.shape}")
        try:
            found = np.empty((len(features), self.dimensions))
            for at in range(0, len(features), _ROWS):
                x = self.transform.apply(features[at : at + _ROWS])
                found[at : at + _ROWS] = self.encode_items(self.tensors, x, self.settings)
        except InputError:
            for number, (start, end) in enumerate(pairwise(many.offsets.tolist())):  # which collection it refuses
                try:
                    self.transform.apply(features[start:end])
                except InputError as error:
                    raise InputError(f"collection {many.ids[number]!r}: {error}") from error
            raise
        return quantise(found)

    def encode(self, many: Collections, evidence: Sequence[Evidence] | None) -> Iterator[tuple[Alike, Encoded]]:
        """The essence of collections of one length, (B, n, d), z-scored, until all have been."""
        essence = normalise_many(self.raw(many), many.offsets)
        for some in by_length(many.offsets, _TOGETHER, axes=1):
            yield some, Encoded(essence[some.rows])

    def grounds(self, collection: Collection, evidence: Evidence | None) -> tuple[str, ...]:
        """Its features; none where one is missing."""
        return self.feature_names if set(self.feature_names) <= set(collection.feature_names) else ()

    def describe(self) -> list[tuple[str, str]]:
        """What it takes and is made of."""
        logged = f" (logarithm of {', '.join(self.transform.logged)})" if self.transform.logged else ""
        return [
            ("features", ", ".join(self.feature_names) + logged),
            ("dimensions", str(self.dimensions)),
            ("encoder", str(self.settings["kind"])),
        ]


def check_features(needed: Sequence[str], there: Sequence[str], collection: str) -> None:
    """Refuse a collection that lacks some of the features a model needs."""
    missing = [name for name in needed if name not in there]
    if missing:
        raise ModelError(
            f"collection {collection!r} lacks {len(missing)} of the {len(needed)} features "
            f"this model needs: {', '.join(missing)}"
        )


def _take_logarithms(values: Floats, names: tuple[str, ...], logged: tuple[str, ...]) -> Floats:
    """The values with the logarithms taken, checked: shape (n, f[, s])."""
    if values.ndim < 2 or values.shape[1] != len(names):
        raise InputError(f"features must have shape (n, {len(names)}, ...): one column per name; got {values.shape}")
    if np.isinf(values).any():
        item, column = np.argwhere(np.isinf(values))[0, :2]
        raise InputError(f"feature {names[column]!r} must be finite, or NaN where it is missing; got inf, item {item}")
    if not logged:
        return values
    values = values.copy()
    for text in logged:
        name, offset = log_parts(text, names)
        column = names.index(name)
        low = values[:, column] <= -offset
        if low.any():
            item, got = int(np.argwhere(low)[0, 0]), values[:, column][low][0]
            limit = f"{-offset:g}" if offset else "0"
            raise InputError(f"feature {name!r} must be above {limit} (its logarithm is taken); got {got}, item {item}")
        values[:, column] = np.log(values[:, column] + offset)
    return values


def log_parts(text: str, names: Sequence[str]) -> tuple[str, float]:
    """Name and constant of ``"name"`` or ``"name+constant"``.

    >>> log_parts("speechiness+0.02", ["speechiness"])
    ('speechiness', 0.02)
    """
    name, plus, constant = text.rpartition("+")
    if text in names or not plus:
        return text, 0.0
    try:
        offset = float(constant)
    except ValueError:
        return text, 0.0
    return name, offset
