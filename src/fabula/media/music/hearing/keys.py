"""The key of a stream from its pitch classes, by profiles that were learned from pieces whose key is written down.

One profile for major and one for minor, turned to each of the twelve tonics: what is learned of one key holds for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.media.music.hearing.learned import learned

_FEWEST = 3  # blocks of about 3 s; a key of fewer is less sure
_TUNED = 0.12  # pitches that keep less to a scale say less of a key
_CLASSES = 3.0  # pitch classes besides the first that a key needs


@dataclass(frozen=True)
class Key:
    """A key, 0 for C to 11 for B; its mode, 1 for major and 0 for minor; and how likely that is right, 0 to 1."""

    tonic: int
    mode: int
    confidence: float


def find_key(classes: Floats, tuned: float) -> Key:
    """The key.

    Parameters
    ----------
    classes
        Shape (blocks, 2, 12), as `chroma` gives them.
    tuned
        How much the pitches keep to twelve classes, 0 to 1, as `tuning` gives it: noise does not.
    """
    if not classes.any():
        return Key(0, 1, 0.0)
    shares = _shares(heard_by(classes))
    best = int(shares.argmax())
    tonal = min(1.0, tuned / _TUNED) * min(1.0, (_count(classes) - 1) / _CLASSES) * min(1.0, len(classes) / _FEWEST)
    return Key(best % 12, 1 - best // 12, float(shares[best]) * tonal)


def _count(classes: Floats) -> float:
    """How many pitch classes there are, each counted as far as it is used: 1 for a single tone."""
    shares = _share(classes.sum(axis=(0, 1)))
    used = shares[shares > 0]
    return float(np.exp(-(used * np.log(used)).sum()))


def heard_by(classes: Floats) -> Floats:
    """What keys are told by, seen from each of the twelve tonics: shape (12, features).

    The pitch classes above middle C, below and of both; every block counts alike, wherever it stands.
    """
    sums = classes.sum(axis=(1, 2), keepdims=True)
    high, low = (classes / np.maximum(sums, 1e-12)).mean(axis=0)
    rows = np.sqrt(np.stack([_share(high), _share(low), _share(high + low)]))
    return np.stack([np.roll(rows, -tonic, axis=1).reshape(-1) for tonic in range(12)])


def _shares(features: Floats) -> Floats:
    """How likely each key is: twelve major ones, then twelve minor ones."""
    scores = (features @ learned("key.profiles") + learned("key.bias")).T.reshape(-1)
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


def _share(values: Floats) -> Floats:
    total = values.sum()
    return values / total if total > 0 else np.full(12, 1 / 12)
