"""What is known of tracks: what tags and tables say where they say it, what was heard where they do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.errors import InputError

SURE = 0.5  # from here on what was heard is told without a doubt


@dataclass(frozen=True, eq=False)
class Known:
    """Values of n tracks, NaN where nothing is known; and how sure they are, 0 to 1.

    ``sure`` is 1 for what was said and 0 where nothing is known.
    """

    values: Floats
    sure: Floats

    @property
    def any(self) -> bool:
        """Whether anything is known."""
        return bool(np.isfinite(self.values).any())


def column(collection: Collection, name: str) -> Floats:
    """A feature, shape (n,); NaN where there is none."""
    if name not in collection.feature_names or collection.features.ndim > 2:
        return np.full(len(collection), np.nan)
    return np.asarray(collection.column(name), dtype=np.float64)


def tempi(collection: Collection) -> Known:
    """Beats per minute.

    Raises
    ------
    InputError
        When what is said is not above 0.
    """
    said, heard = column(collection, "tempo"), column(collection, "heard_tempo")
    if (said <= 0).any():
        raise InputError(f"a tempo must be above 0; got {said[said <= 0][0]:g}")
    heard = np.where(heard > 0, heard, np.nan)
    return _joined(said, heard, column(collection, "tempo_confidence"))


def keys(collection: Collection, where: str = "heard") -> tuple[Known, Floats]:
    """Keys, 0 for C to 11 for B, and modes, 1 for major and 0 for minor: of the whole, the ``start`` or the ``end``.

    Raises
    ------
    InputError
        When what is said is no key.
    """
    said, mode_said = column(collection, "key"), column(collection, "mode")
    there = np.isfinite(said) & np.isfinite(mode_said)
    if not (np.isin(said[there], np.arange(12)).all() and np.isin(mode_said[there], (0, 1)).all()):
        raise InputError("a key must be a whole number from 0 (C) to 11 (B), and a mode 0 (minor) or 1 (major)")
    heard, mode, sure = _heard_key(collection, where)
    known = _joined(np.where(there, said, np.nan), heard, sure)
    return known, np.where(there, mode_said, mode)


def _heard_key(collection: Collection, where: str) -> tuple[Floats, Floats, Floats]:
    """The key heard at an edge, or that of the whole where it is much surer."""
    names = ("heard_key", "heard_mode", "key_confidence")
    whole = [column(collection, name) for name in names]
    if where != "heard":
        edge = [column(collection, f"{where}_{name}") for name in ("key", "mode", "key_confidence")]
        clear = edge[2] >= 0.5 * whole[2]
        whole = [np.where(clear, at, all_of) for at, all_of in zip(edge, whole, strict=True)]
    heard, mode, sure = whole
    return np.where(sure > 0, heard, np.nan), mode, sure


def _joined(said: Floats, heard: Floats, sure: Floats) -> Known:
    there = np.isfinite(said)
    values = np.where(there, said, heard)
    certain = np.where(there, 1.0, np.where(np.isfinite(heard), np.nan_to_num(sure), 0.0))
    return Known(values, certain)
