"""How far it is from one item to the next: loudness, tempo and key, as far as they are known."""

from __future__ import annotations

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.errors import InputError
from fabula.media.steps import Step, Steps, essence_steps

_PLAIN = (("loudness", "dB"), ("energy", "of 1"))  # compared as they are, and in what
_HALF_OR_DOUBLE = 1.0  # octaves: a tempo twice as fast is no change


def music_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps between tracks: loudness, energy, tempo and key, as far as they are known; else the essence.

    Tempo counts half and double time as equal; key goes by the Camelot wheel, from ``key`` 0..11 and ``mode`` 0 or 1.
    Where a value is missing, the median stands for it.

    Parameters
    ----------
    collection
        n tracks.
    essence
        Shape (n,) or (n, d).

    Raises
    ------
    InputError
        When a key or a tempo is outside its range.
    """
    parts = [Step(name, unit, _spread(_column(collection, name))) for name, unit in _PLAIN if _known(collection, name)]
    if _known(collection, "tempo"):
        percent = 100 * (2 ** tempo_distance(_column(collection, "tempo")) - 1)
        parts.append(Step("tempo", "%", percent))
    if _known(collection, "key") and _known(collection, "mode"):
        wheel = camelot_distance(_column(collection, "key"), _column(collection, "mode"))
        parts.append(Step("key", "steps on the wheel of keys", wheel))
    return Steps(tuple(parts)) if parts else essence_steps(collection, essence)


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
    return np.abs(values[:, np.newaxis] - values)
