"""What is known of tracks: what tags and tables say where they say it, what was heard where they do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.errors import InputError

REFERENCE = -18.0  # LUFS: what ReplayGain 2.0 brings a track to
SURE = 0.5  # from here on what was heard is told without a doubt
SAME_TEMPO = 0.06  # octaves: about 4 %


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


def levels(collection: Collection) -> Floats:
    """LUFS, shape (n,): what a ReplayGain tag says where there is one, else what was measured.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> c = Collection("c", [Item("a", details={"replaygain": -9.0}), Item("b")], [[-8.0], [-14.0]], ("loudness",))
    >>> levels(c)
    array([ -9., -14.])
    """
    said = [item.details.get("replaygain") for item in collection.items]
    tagged = np.array([REFERENCE - gain if isinstance(gain, float) else np.nan for gain in said])
    return np.where(np.isfinite(tagged), tagged, column(collection, "loudness"))


def tempi(collection: Collection, where: str = "heard") -> Known:
    """Beats per minute of the whole, the ``start`` or the ``end``.

    An edge has a tempo of its own where it is another than that of the whole, beyond half and double time.

    Raises
    ------
    InputError
        When what is said is not above 0.
    """
    said = column(collection, "tempo")
    if (said <= 0).any():
        raise InputError(f"a tempo must be above 0; got {said[said <= 0][0]:g}")
    heard, sure = column(collection, "heard_tempo"), column(collection, "tempo_confidence")
    heard = np.where(heard > 0, heard, np.nan)
    if where != "heard":
        edge, edge_sure = column(collection, f"{where}_tempo"), column(collection, f"{where}_tempo_confidence")
        edge = np.where(edge > 0, edge, np.nan)
        other = _clear(edge_sure, sure) & ~(tempo_octaves(edge, heard) <= SAME_TEMPO)
        heard, sure = np.where(other, edge, heard), np.where(other, edge_sure, sure)
    return _join(said, heard, sure)


def tempo_octaves(one: Floats, other: Floats) -> Floats:
    """Octaves from one tempo to another, half and double time counted as equal.

    Examples
    --------
    >>> tempo_octaves(np.array([60.0, 60.0]), np.array([120.0, 90.0])).round(3).tolist()
    [0.0, 0.415]
    """
    gap = np.abs(np.log2(one) - np.log2(other)) % 1.0
    return np.asarray(np.minimum(gap, 1.0 - gap))


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
    heard, mode, sure = _key_by_ear(collection, where)
    known = _join(np.where(there, said, np.nan), heard, sure)
    return known, np.where(there, mode_said, mode)


def _key_by_ear(collection: Collection, where: str) -> tuple[Floats, Floats, Floats]:
    """The key heard at an edge, or that of the whole."""
    names = ("heard_key", "heard_mode", "key_confidence")
    whole = [column(collection, name) for name in names]
    if where != "heard":
        edge = [column(collection, f"{where}_{name}") for name in ("key", "mode", "key_confidence")]
        whole = [np.where(_clear(edge[2], whole[2]), at, all_of) for at, all_of in zip(edge, whole, strict=True)]
    heard, mode, sure = whole
    return np.where(sure > 0, heard, np.nan), mode, sure


def _clear(edge: Floats, whole: Floats) -> NDArray[np.bool_]:
    """Whether an edge was heard at least half as surely as the whole, and counts for itself."""
    return np.asarray((edge > 0) & (edge >= 0.5 * np.nan_to_num(whole)))


def _join(said: Floats, heard: Floats, sure: Floats) -> Known:
    there = np.isfinite(said)
    values = np.where(there, said, heard)
    certain = np.where(there, 1.0, np.where(np.isfinite(heard), np.nan_to_num(sure), 0.0))
    return Known(values, certain)


# Tables of albums: their columns, and the album that the paper shows.

# The audio features of a track, as streaming services give them.
FEATURES = (
    "danceability", "energy", "loudness", "speechiness", "acousticness", "instrumentalness", "liveness", "valence",
    "tempo", "key", "mode", "duration_ms",
)  # fmt: skip
LOGGED = ("duration_ms",)  # features of which a model takes the logarithm
ORIENTED_BY = "loudness"  # the sign of an essence is free: it is chosen so that it rises with this feature
# Rows to keep, where a table has the column: albums by one artist, with tracks in an order that somebody chose.
KEPT_ROWS = {"kind": "", "alpha_sorted": "false", "one_song": "false"}
SHOWN_TITLE, SHOWN_CREATOR = "thriller", "jackson"  # the paper's Figure 6
