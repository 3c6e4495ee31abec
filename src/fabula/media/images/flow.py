"""How far it is from one picture to the next in colour, tone, format, detail, subject; which are nearly the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.media.steps import Step, Steps, essence_steps

_ROWS = 512  # compared with all at a time
_MANY = 1000  # pictures from which single precision will do
SAME = "duplicates"  # the column that numbers groups of pictures that are nearly the same
_BITS = 10  # of 64 in which the hashes of two shots of one thing differ at most
_LOOKS = {"brightness": 12.0, "warmth": 12.0, "green_red": 12.0}  # and how far they are apart in light and colour

# What a step compares: feature -> its deviation over the pictures of many collections, so that each counts alike.
_PARTS: dict[str, Mapping[str, float]] = {
    "colour": {"warmth": 11.8, "green_red": 8.0, "colourfulness": 24.7},
    "tone": {"brightness": 20.0, "contrast": 6.6, "key_low": 0.25, "key_high": 0.24},
    "detail": {"edge_density": 0.138, "sharpness": 0.93, "entropy": 0.89},
    "subject": {"subject_x": 0.05, "subject_y": 0.068, "subject_size": 0.034, "top_bottom": 38.5},
}


def picture_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps between pictures: colour, tone, format, detail and subject, as far as they are known; else the essence.

    Each is a distance in deviations of the features it compares; the format is the ratio of the aspects, in octaves.

    Parameters
    ----------
    collection
        n pictures.
    essence
        Shape (n,) or (n, d).
    """
    parts = []
    for name, scales in _PARTS.items():
        there = [feature for feature in scales if feature in collection.feature_names]
        if there and collection.features.ndim == 2:
            columns = collection.columns(there) / np.array([scales[feature] for feature in there])
            parts.append(Step(name, "deviations", partial(_distance, columns)))
    if "aspect" in collection.feature_names and collection.features.ndim == 2:
        octaves = np.log2(np.maximum(collection.column("aspect"), 1e-3))[:, np.newaxis]
        parts.append(Step("format", "octaves", partial(_distance, octaves)))
    return Steps(tuple(parts)) if parts else essence_steps(collection, essence)


def _distance(columns: Floats) -> Floats:
    """Euclidean, shape (n, n); a value that is not known lies where the average does."""
    known = np.isfinite(columns)
    centre = np.where(known, columns, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    rows = np.where(known, columns, centre)
    table = np.empty((len(rows), len(rows)), dtype=np.float32 if len(rows) >= _MANY else np.float64)
    for start in range(0, len(rows), _ROWS):
        table[start : start + _ROWS] = cdist(rows[start : start + _ROWS], rows)
    return cast(Floats, table)


def with_duplicates(collection: Collection) -> Collection:
    """The collection with a column that numbers groups of pictures that are nearly the same, NaN where one is alone.

    Two are nearly the same when their hashes differ in at most 10 of 64 bits and their light and colour are close;
    groups are what hangs together so.
    """
    names = collection.feature_names
    if collection.features.ndim != 2 or SAME in names or not {"hash_a", "hash_b"} <= set(names):
        return collection
    looks = [collection.column(name) / far for name, far in _LOOKS.items() if name in names]
    groups = near_groups(collection.column("hash_a"), collection.column("hash_b"), looks)
    if not np.isfinite(groups).any():
        return collection
    return replace(collection, features=np.column_stack([collection.features, groups]), feature_names=(*names, SAME))


def near_groups(first: Floats, second: Floats, looks: Sequence[Floats] = ()) -> Floats:
    """Groups of hashes that nearly agree, numbered from 1: shape (n,), NaN where one stands alone.

    Parameters
    ----------
    first, second
        Shape (n,): the halves of 64-bit hashes; NaN where there is none.
    looks
        Each of shape (n,): what may differ by 1 at most between two that are nearly the same.

    Examples
    --------
    >>> near_groups(np.array([7.0, 6.0, 4294967295.0]), np.array([0.0, 0.0, 0.0])).tolist()
    [1.0, 1.0, nan]
    """
    known = np.isfinite(first) & np.isfinite(second)
    whole = np.where(known, first, 0).astype(np.uint64) << np.uint64(32) | np.where(known, second, 0).astype(np.uint64)
    one, other = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for start in range(0, len(whole), _ROWS):
        rows = slice(start, start + _ROWS)
        near = (np.bitwise_count(whole[rows, np.newaxis] ^ whole) <= _BITS) & known[rows, np.newaxis] & known
        for look in looks:
            near &= np.abs(look[rows, np.newaxis] - look) <= 1
        i, j = np.nonzero(near)
        one.append(i + start)
        other.append(j)
    pairs = np.concatenate(one), np.concatenate(other)
    graph = coo_matrix((np.ones(len(pairs[0])), pairs), shape=(len(whole), len(whole)))
    _, label = connected_components(graph, directed=False)
    counts = np.bincount(label)
    numbers = np.cumsum(counts > 1)
    return np.where(counts[label] > 1, numbers[label].astype(np.float64), np.nan)
