"""How far it is from one item to the next: loudness, tempo and key, as far as they are known."""

from __future__ import annotations

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats, normalise
from fabula.errors import InputError

_PLAIN = ("loudness", "energy")  # compared as they are, z-scored
_HALF_OR_DOUBLE = 1.0  # octaves: a tempo twice as fast is no change


def transitions_of(collection: Collection, essence: Floats) -> Floats:
    """Distance of each item to each as its follower, shape (n, n), about 1 on average; symmetric.

    The mean over what is known: loudness and energy (z-scored), tempo (in octaves, half and double time count as
    equal), key (steps on the Camelot wheel, from ``key`` 0..11 and ``mode`` 0 or 1). Where none is known, the essence.

    Raises
    ------
    InputError
        When a key or a tempo is outside its range.
    """
    parts = [_spread(_column(collection, name)) for name in _PLAIN if _known(collection, name)]
    if _known(collection, "tempo"):
        parts.append(tempo_distance(_column(collection, "tempo")))
    if _known(collection, "key") and _known(collection, "mode"):
        parts.append(camelot_distance(_column(collection, "key"), _column(collection, "mode")))
    if not parts:
        rows = essence.reshape(len(essence), -1)
        parts = [np.sqrt(((rows[:, np.newaxis] - rows) ** 2).sum(axis=2))]
    return np.asarray(np.mean([_scaled(part) for part in parts], axis=0))


def tempo_distance(tempo: Floats) -> Floats:
    """Octaves between tempi, half and double time counted as equal, shape (n, n).

    Examples
    --------
    >>> tempo_distance(np.array([60.0, 120.0, 90.0])).round(3).tolist()
    [[0.0, 0.0, 0.415], [0.0, 0.0, 0.415], [0.415, 0.415, 0.0]]
    """
    if not (tempo > 0).all():
        raise InputError(f"a tempo must be above 0; got {tempo[~(tempo > 0)][0]:g}")
    octaves = np.log2(tempo)
    gap = np.abs(octaves[:, np.newaxis] - octaves) % _HALF_OR_DOUBLE
    return np.asarray(np.minimum(gap, _HALF_OR_DOUBLE - gap))


def camelot_distance(key: Floats, mode: Floats) -> Floats:
    """Steps on the Camelot wheel, shape (n, n): along the circle of fifths, and one for minor against major.

    Parameters
    ----------
    key
        Shape (n,): 0 is C, 11 is B.
    mode
        Shape (n,): 1 is major, 0 minor.

    Examples
    --------
    >>> camelot_distance(np.array([0.0, 7.0, 9.0]), np.array([1.0, 1.0, 0.0])).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 2.0], [1.0, 2.0, 0.0]]
    """
    if not (np.isin(key, np.arange(12)).all() and np.isin(mode, (0, 1)).all()):
        raise InputError("a key must be a whole number from 0 (C) to 11 (B), and a mode 0 (minor) or 1 (major)")
    hour = np.where(mode == 1, key * 7 % 12, (key + 3) * 7 % 12)  # a minor key stands with its relative major
    gap = np.abs(hour[:, np.newaxis] - hour)
    return np.asarray(np.minimum(gap, 12 - gap) + np.abs(mode[:, np.newaxis] - mode))


def _known(collection: Collection, name: str) -> bool:
    return name in collection.feature_names and bool(np.isfinite(collection.column(name)).any())


def _column(collection: Collection, name: str) -> Floats:
    """A feature, the median in place of missing values."""
    values = collection.column(name)
    known = np.isfinite(values)
    fill = np.median(values[known])
    return np.where(known, values, np.round(fill) if name in ("key", "mode") else fill)


def _spread(values: Floats) -> Floats:
    scaled = normalise(values)
    return np.abs(scaled[:, np.newaxis] - scaled)


def _scaled(distance: Floats) -> Floats:
    n = len(distance)
    mean = distance.sum() / (n * (n - 1)) if n > 1 else 0.0
    return distance / mean if mean > 0 else distance
