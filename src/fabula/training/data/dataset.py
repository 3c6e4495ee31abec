"""From collections to what training works on: checked, transformed, in one matrix."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.errors import InputError
from fabula.evaluation.parts import Parts
from fabula.models.transform import Transform, log_parts
from fabula.training.config import TrainingConfig
from fabula.training.data.batches import Pool

_ROWS = 256  # items looked at together: few, so that they stay near the processor


def check_collections(collections: Sequence[Collection], *, role: str) -> None:
    """Training and validation need collections whose order is true and can be wrong.

    Parameters
    ----------
    collections
        What to check.
    role
        ``"training"``, ``"validation"`` or ``"measuring"``, for the error.
    """
    if not len(collections):
        raise InputError(f"{role} needs at least one ordered collection; got none")
    for collection in collections:
        if len(collection) < 2:
            raise InputError(f"{role} collection {collection.id!r} has 1 item: an order needs at least 2")
        if not collection.ordered:
            raise InputError(f"{role} collection {collection.id!r} is not ordered: its true order is not known")


def check_parts(parts: Parts) -> None:
    """Check every part, each under its own name."""
    check_collections(parts.training, role="training")
    check_collections(parts.validation, role="validation")
    if parts.measured is not None:
        check_collections(parts.measured, role="measuring")


def chosen_features(config: TrainingConfig, collections: Sequence[Collection]) -> tuple[str, ...]:
    """The features to train on: those the config names, or all that the first collection has."""
    names = config.features or collections[0].feature_names
    if not names:
        raise InputError(f"collection {collections[0].id!r} has no features to train on")
    return tuple(names)


def fit_transform(
    collections: Sequence[Collection], names: tuple[str, ...], logged: Iterable[str], bound: float = 0.0
) -> Transform:
    """The transform that gives the items of these collections mean 0 and deviation 1.

    Parameters
    ----------
    collections
        The training split, and only that.
    names
        Features, in the order the encoder will see them.
    logged
        Those whose logarithm is taken; names that are not among the features are passed over.
    bound
        The most deviations from the mean that the encoder sees; 0: any.
    """
    kept = tuple(text for text in logged if log_parts(text, names)[0] in names)
    shape = collections[0].columns(names).shape[1:]
    plain = Transform(names, kept, np.zeros(shape), np.ones(shape))
    count, mean, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for rows in _blocks(collections, names):  # mean and squares of a block join those before it
        known = ~np.isnan(rows)
        values = plain.apply(rows)  # 0 where unknown
        here = known.sum(axis=0)
        both = np.maximum(count + here, 1)
        centre = values.sum(axis=0) / np.maximum(here, 1)
        apart = centre - mean
        squares += (np.where(known, values - centre, 0.0) ** 2).sum(axis=0) + apart**2 * count * here / both
        mean += apart * here / both
        count += here
    if not count.all():
        raise InputError(f"feature {names[int(np.argwhere(count == 0)[0, 0])]!r} has no value in any training item")
    deviation = np.sqrt(squares / count)
    _check_spread(names, mean, deviation)
    return Transform(names, kept, mean, deviation, bound)


def make_pool(collections: Sequence[Collection], transform: Transform, device: torch.device) -> Pool:
    """Transformed features of all items in one matrix, collections by rising length."""
    by_length = sorted(collections, key=len)
    values = np.empty((sum(map(len, by_length)), *transform.item_shape), dtype=np.float32)
    row = 0
    for rows in _blocks(by_length, transform.feature_names):
        values[row : row + len(rows)] = transform.apply(rows)
        row += len(rows)
    lengths, counts = np.unique([len(collection) for collection in by_length], return_counts=True)
    firsts = np.cumsum(lengths * counts) - lengths * counts
    groups = {int(n): (int(first), int(count)) for n, first, count in zip(lengths, firsts, counts, strict=True)}
    return Pool(torch.from_numpy(values).to(device), groups)


def fingerprint(collections: Sequence[Collection], names: tuple[str, ...]) -> str:
    """SHA-256 over ids and feature values: what a model was trained on, in 64 digits."""
    digest = hashlib.sha256("\0".join(names).encode())
    for collection in collections:
        digest.update(f"\0{collection.id}\0{len(collection)}\0".encode())
        digest.update(np.ascontiguousarray(_columns(collection, names), dtype="<f4").data)
    return digest.hexdigest()


def _blocks(collections: Sequence[Collection], names: tuple[str, ...]) -> Iterator[Floats]:
    """Features of successive collections, some items at a time: (items, f[, s])."""
    held: list[NDArray[np.floating[Any]]] = []
    size = 0
    for collection in collections:
        rows = _columns(collection, names)
        if held and rows.shape[1:] != held[0].shape[1:]:
            raise InputError(
                f"collection {collection.id!r}: features of one item have shape {rows.shape[1:]}, "
                f"those before it {held[0].shape[1:]}"
            )
        held.append(rows)
        size += len(rows)
        if size >= _ROWS:
            yield np.concatenate(held, dtype=np.float64)
            held, size = [held[-1][:0]], 0
    if size:
        yield np.concatenate(held, dtype=np.float64)


def _columns(collection: Collection, names: tuple[str, ...]) -> NDArray[np.floating[Any]]:
    """Some features of every item; not a copy where they are all it has."""
    return collection.features if names == collection.feature_names else collection.columns(names)


def _check_spread(names: tuple[str, ...], mean: Floats, deviation: Floats) -> None:
    alike = (deviation <= 1e-9 * np.maximum(np.abs(mean), 1e-30)).reshape(len(names), -1)
    constant = [name for name, row in zip(names, alike, strict=True) if row.all()]
    if constant:
        which = ", ".join(map(repr, constant))
        raise InputError(f"feature {which} has the same value in every training item and tells nothing: leave it out")
