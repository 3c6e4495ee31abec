"""A trained model: from features to essence, and how likely a sequence of essence is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arcs import Arcs
from fabula.core.collection import Collection
from fabula.core.collections import Batch, as_batch
from fabula.core.essence import Floats
from fabula.core.fit import Fit
from fabula.core.segments import normalise_many
from fabula.errors import InputError, ModelError
from fabula.models.card import CardShown
from fabula.models.config import dtype_of, tensor_shapes
from fabula.models.encoders import encoder_kind
from fabula.models.layers import Array
from fabula.models.order import OrderedMany, ordered_many
from fabula.models.scorers import most_detailed, scorer_kind
from fabula.models.scorers.kind import Scorer
from fabula.models.transform import Transform

_ROWS = 8192  # items at a time, so that memory does not grow with how many there are


class Model(CardShown):
    """An encoder with its input transform, and its scorers.

    Parameters
    ----------
    config
        What it is made of, as :mod:`fabula.models.config` says.
    tensors
        The weights by name, without the transform's. They are checked against the configuration by name and shape.
    transform
        What is done to features first.
    training
        What it was trained on and how: data fingerprint, seeds, preset.
    card
        What it is for and how it did.

    Raises
    ------
    ModelError
        When a tensor is missing, unknown, of another shape or not finite.

    Examples
    --------
    >>> transform = Transform(("energy",), (), [0.0], [1.0])
    >>> config = {"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": [{"kind": "arcs", "k": 1, "knots": 2}]}
    >>> rise = {"arcs.values": [[[-1], [1]]], "arcs.weights": [0], "arcs.knots": [0, 1]}
    >>> model = Model(config, rise, transform)
    >>> model.encode([[0.9], [0.1]])
    array([[ 1.],
           [-1.]])
    >>> model.order([[0.9], [0.1]], alternatives=1)[0].ordering
    array([1, 0])
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        tensors: Mapping[str, ArrayLike],
        transform: Transform,
        *,
        training: Mapping[str, Any] | None = None,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.config: dict[str, Any] = plain(config, "configuration")
        self.training: dict[str, Any] = plain(training or {}, "training record")
        self.card: dict[str, Any] = plain(card or {}, "card")
        self.transform = transform
        shapes = tensor_shapes(self.config, transform.item_shape)
        self.tensors = _checked(tensors, {name: s for name, s in shapes.items() if not name.startswith("transform.")})
        # Doubles, so that equal items get an equal essence however the products are blocked; scores bear floats.
        self._encoder = {name: t.astype(np.float64) for name, t in self.tensors.items() if name.startswith("encoder.")}
        self._scorers: dict[str, Scorer] = {
            settings["kind"]: scorer_kind(settings["kind"]).load(self.tensors, settings)
            for settings in self.config["scorers"]
        }

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features it takes, in the order of the columns."""
        return self.transform.feature_names

    @property
    def dimensions(self) -> int:
        """How many numbers an item's essence has."""
        return int(self.config["dimensions"])

    @property
    def scorers(self) -> tuple[str, ...]:
        """The kinds of scorer it has."""
        return tuple(self._scorers)

    @property
    def arcs(self) -> Arcs | None:
        """Its mixture of arcs, where it has one."""
        arcs = self._scorers.get("arcs")
        return arcs if isinstance(arcs, Arcs) else None

    @property
    def most_detailed(self) -> str | None:
        """The kind of its scorers that sees most of a sequence, and so measures information; None without any."""
        return most_detailed(self.scorers)

    def encode(self, features: ArrayLike | Collection, *, raw: bool = False) -> Floats:
        """The essence of a collection, z-scored within it.

        Parameters
        ----------
        features
            Shape (n, f) or (n, f, s), columns as in ``feature_names``, NaN where a value is missing; or a
            collection, from which they are picked by name.
        raw
            As the encoder gives it, before it is z-scored: what an item is by itself, whatever stands beside it.

        Returns
        -------
        Shape (n, d). A dimension in which all items are alike is zero, so a single item gets zeros.
        """
        return self.encode_all([features], raw=raw)[0]

    def encode_many(
        self,
        features: ArrayLike | Sequence[Collection] | Batch,
        offsets: ArrayLike | None = None,
        *,
        raw: bool = False,
    ) -> Floats:
        """The essence of the items of many collections, in one pass over all of them.

        Parameters
        ----------
        features
            Shape (rows, f) or (rows, f, s): the items of all collections, one collection after the other, columns as
            in ``feature_names``, NaN where a value is missing; or a batch, or collections, without ``offsets``.
        offsets
            Shape (number + 1,), integers: collection i has the rows ``offsets[i]`` to ``offsets[i + 1]``.
        raw
            As the encoder gives it, not z-scored within each collection.

        Returns
        -------
        Shape (rows, d): for each collection what :meth:`encode` gives.

        Examples
        --------
        >>> transform = Transform(("energy",), (), [0.0], [1.0])
        >>> model = Model({"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": []}, {}, transform)
        >>> model.encode_many([[0.5], [1.0], [2.0]], [0, 2, 3]).ravel().tolist()
        [-1.0, 1.0, 0.0]
        >>> model.encode_many([[0.5], [1.0], [2.0]], [0, 2, 3], raw=True).ravel().tolist()
        [0.5, 1.0, 2.0]
        """
        batch = self._batch(features, offsets)
        try:
            essence = self._raw(self._checked_shape(batch.picked(self.feature_names)))
        except InputError:
            self._blame(batch)
            raise
        return essence if raw else normalise_many(essence, batch.offsets)

    def encode_all(self, collections: Sequence[ArrayLike | Collection], *, raw: bool = False) -> list[Floats]:
        """The essence of each of many collections, in one pass over all their items.

        Takes what :meth:`encode` takes, once per collection; gives an array of shape (n, d) for each.
        """
        features = [self._pick(collection) for collection in collections]
        if not features:
            return []
        ids = [each.id for each in collections if isinstance(each, Collection)]
        batch = Batch(
            np.concatenate(features),
            np.cumsum([0, *map(len, features)]),
            ids=ids if len(ids) == len(features) else None,
        )
        return np.split(self.encode_many(batch, raw=raw), batch.offsets[1:-1])

    def score(self, sequence: ArrayLike, scorer: str | None = None) -> float | Floats:
        """How likely an essence sequence is; higher is likelier.

        Parameters
        ----------
        sequence
            Shape (n, d), or (n,) where d is 1; (m, n, d) for m sequences of one length.
        scorer
            One of ``scorers``; by default the one that orders.

        Returns
        -------
        One number, or shape (m,).
        """
        chosen = self._scorer(scorer)
        batch, single = self._as_batch(sequence)
        if not len(batch):
            return np.zeros(0)
        scores = np.asarray(chosen.score(batch))
        return float(scores[0]) if single else scores

    def order(
        self, features: ArrayLike | Collection, alternatives: int = 4, fixed: Mapping[int, int] | None = None
    ) -> list[Fit]:
        """Likely orderings of different shape, likeliest first, distinct.

        With arcs they are exact. A model whose scorers cannot be solved searches from several starts and finds
        good orderings, not surely the best; their template is then their own arc.

        Parameters
        ----------
        features
            As :meth:`encode` takes them.
        alternatives
            How many orderings to return at most, 1 or more.
        fixed
            position -> item; negative positions count from the end.
        """
        return self._scorer(None).order(self.encode(features), alternatives=alternatives, fixed=fixed)

    def order_many(
        self, features: ArrayLike | Sequence[Collection] | Batch, offsets: ArrayLike | None = None
    ) -> OrderedMany:
        """The likeliest ordering of each of many collections: the first of what :meth:`order` gives.

        Parameters
        ----------
        features, offsets
            As :meth:`encode_many` takes them.

        Examples
        --------
        >>> transform = Transform(("energy",), (), [0.0], [1.0])
        >>> config = {"dimensions": 1, "encoder": {"kind": "identity"}}
        >>> config["scorers"] = [{"kind": "arcs", "k": 1, "knots": 2}]
        >>> rise = {"arcs.values": [[[-1], [1]]], "arcs.weights": [0], "arcs.knots": [0, 1]}
        >>> ordered = Model(config, rise, transform).order_many([[0.9], [0.1], [0.3], [0.4]], [0, 2, 4])
        >>> ordered.orderings
        array([1, 0, 0, 1])
        """
        batch = self._batch(features, offsets)
        essence = self.encode_many(batch)
        scorer = self._scorer(None)
        if isinstance(scorer, Arcs):
            orderings, scores = scorer.order_many(essence, batch.offsets)
            exact, gap = np.ones(len(batch), dtype=bool), np.zeros(len(batch))
            return OrderedMany(orderings, batch.offsets, scores, exact, gap)
        fits = [scorer.order(part, alternatives=1)[0] for part in np.split(essence, batch.offsets[1:-1])]
        return ordered_many(fits, batch.offsets)

    def _batch(self, features: ArrayLike | Sequence[Collection] | Batch, offsets: ArrayLike | None) -> Batch:
        """What :meth:`encode_many` is given as a batch that has every feature."""
        return as_batch(features, offsets, self.feature_names)

    def _raw(self, features: Floats) -> Floats:
        """Features (rows, f[, s]) to essence (rows, d), not z-scored, some rows at a time."""
        found = np.empty((len(features), self.dimensions))
        for at in range(0, len(features), _ROWS):
            found[at : at + _ROWS] = self._encode_items(self.transform.apply(features[at : at + _ROWS]))
        return found

    def _encode_items(self, x: Floats) -> Floats:
        """Transformed features (n, f[, s]) to essence (n, d), each item by itself."""
        settings = self.config["encoder"]
        return np.asarray(encoder_kind(settings["kind"]).encode(self._encoder, x, settings), dtype=np.float64)

    def _pick(self, features: ArrayLike | Collection) -> Floats:
        """Features of one collection, shape (n, f) or (n, f, s)."""
        if isinstance(features, Collection):
            missing = [name for name in self.feature_names if name not in features.feature_names]
            if missing:
                raise ModelError(
                    f"collection {features.id!r} lacks {len(missing)} of the {len(self.feature_names)} features "
                    f"this model needs: {', '.join(missing)}"
                )
            array = features.columns(self.feature_names)
        else:
            array = _as_numbers(features, "features")
        return self._checked_shape(array, least=1)

    def _checked_shape(self, features: Floats, least: int = 0) -> Floats:
        shape = self.transform.item_shape
        if features.ndim != 1 + len(shape) or features.shape[1:] != shape or len(features) < least:
            expected = ", ".join(map(str, shape))
            raise ModelError(f"this model takes features of shape (n, {expected}), n at least 1; got {features.shape}")
        return features

    def _blame(self, batch: Batch) -> None:
        """Name the collection whose features the transform refuses."""
        features = batch.picked(self.feature_names)
        for number, (start, end) in enumerate(pairwise(batch.offsets.tolist())):
            try:
                self.transform.apply(features[start:end])
            except InputError as error:
                name = number if batch.ids is None else batch.ids[number]
                raise InputError(f"collection {name!r}: {error}") from error

    def _scorer(self, kind: str | None) -> Scorer:
        """A scorer by kind; by default the one that orders: the first that is exact, else the first."""
        if not self._scorers:
            raise ModelError("this model has no scorer: it gives an essence only")
        if kind is None:
            kind = next((name for name in self._scorers if scorer_kind(name).exact), self.scorers[0])
        if kind not in self._scorers:
            raise ModelError(f"this model has no scorer {kind!r}; it has: {', '.join(self._scorers)}")
        return self._scorers[kind]

    def _as_batch(self, sequence: ArrayLike) -> tuple[Floats, bool]:
        """Sequences as (m, n, d), and whether there is a single one."""
        values = _as_numbers(sequence, "a sequence")
        single = values.ndim < 3
        batch = values[:, np.newaxis] if values.ndim == 1 else values
        batch = batch[np.newaxis] if single else batch
        if batch.ndim != 3 or batch.shape[2] != self.dimensions or batch.shape[1] == 0:
            d = self.dimensions
            raise ModelError(f"this model scores sequences of shape (n, {d}) or (m, n, {d}); got {values.shape}")
        if not np.isfinite(batch).all():
            raise InputError("a sequence must be finite to be scored; it holds NaN or inf")
        return batch, single


def plain(value: Mapping[str, Any], what: str) -> dict[str, Any]:
    """A copy that holds nothing but what JSON can hold, or an error that says so."""
    try:
        copied = json.loads(json.dumps(value, allow_nan=False, default=_as_plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"a model's {what} must hold finite numbers, texts, lists and names only ({error})") from error
    return dict(copied)


def _as_plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"got {type(value).__name__}")


def _checked(tensors: Mapping[str, ArrayLike], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """The tensors in the dtype they are stored in, in the order of the configuration."""
    for name in tensors:
        if name not in shapes:
            raise ModelError(f"tensor {name!r} is not one of this model's")
    checked: dict[str, Array] = {}
    for name, shape in shapes.items():
        if name not in tensors:
            raise ModelError(f"tensor {name!r} is missing")
        tensor = np.array(tensors[name], dtype=dtype_of(name), order="C")
        if tensor.shape != shape:
            raise ModelError(f"tensor {name!r} must have shape {shape}; got {tensor.shape}")
        if not np.isfinite(tensor).all():
            raise ModelError(f"tensor {name!r} must be finite; it holds NaN or inf")
        checked[name] = tensor
    return checked


def _as_numbers(value: ArrayLike, what: str) -> Floats:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be an array of numbers; got {type(value).__name__}") from error
