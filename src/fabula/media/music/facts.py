"""What is told of tracks: tempo, key and loudness in columns, their edges, and where tags and ears disagree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.media.music.known import SURE, Known, column, keys, tempi
from fabula.media.music.transitions import camelot_distance, camelot_hour, tempo_distance
from fabula.media.telling import Ends, Fact

REFERENCE = -18.0  # LUFS: what ReplayGain 2.0 brings a track to

_NOTES = ("C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B")
_SAME_TEMPO = 0.06  # octaves: about 4 %
_SAME_LEVEL = 2.0  # dB
_MOST_TOLD = 3  # disagreements of a kind that are told one by one


def music_facts(collection: Collection) -> tuple[Fact, ...]:
    """Tempo, key and loudness of each track, as far as they are known; what is not sure begins with ``~``.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> c = Collection("c", [Item("a")], [[9.0, 0.0, 96.5]], ("key", "mode", "tempo"))
    >>> [(fact.name, fact.texts) for fact in music_facts(c)]
    [('tempo', ('96.5',)), ('key', ('Am 8A',))]
    """
    if collection.features.ndim > 2:
        return ()
    tempo, (key, mode) = tempi(collection), keys(collection)
    found = []
    if tempo.any:
        found.append(Fact("tempo", _texts(tempo, lambda i: f"{tempo.values[i]:.1f}".removesuffix(".0"))))
    if key.any:
        there = np.isfinite(key.values) & np.isfinite(mode)
        names = [key_name(key.values[i], mode[i]) if there[i] else "" for i in range(len(there))]
        wheel = [camelot(key.values[i], mode[i]) if there[i] else "" for i in range(len(there))]
        shown = _texts(key, lambda i: f"{names[i]} {wheel[i]}")
        found.append(Fact("key", shown, {"key_name": names, "camelot": wheel}))
    loudness = column(collection, "loudness")
    if np.isfinite(loudness).any():
        found.append(Fact("loudness", tuple(f"{one:.1f}" if np.isfinite(one) else "" for one in loudness)))
    return tuple(found)


def key_name(key: float, mode: float) -> str:
    """A key as musicians write it.

    Examples
    --------
    >>> key_name(9, 0), key_name(10, 1)
    ('Am', 'Bb')
    """
    return _NOTES[int(key)] + ("" if mode else "m")


def camelot(key: float, mode: float) -> str:
    """A key as it stands on the Camelot wheel.

    Examples
    --------
    >>> camelot(0, 1), camelot(9, 0), camelot(6, 1)
    ('8B', '8A', '2B')
    """
    hour = int(camelot_hour(np.array([float(key)]), np.array([float(mode)]))[0])
    return f"{(hour + 7) % 12 + 1}{'B' if mode else 'A'}"


def music_ends(collection: Collection) -> Ends | None:
    """How loud tracks begin and end; None where that was not measured of all."""
    start, whole, end = (column(collection, name) for name in ("start_loudness", "loudness", "end_loudness"))
    known = np.isfinite(start).all() and np.isfinite(whole).all() and np.isfinite(end).all()
    return Ends("loudness", "LUFS", start, whole, end) if known else None


def music_doubts(collection: Collection) -> tuple[str, ...]:
    """Where tags say other than what was heard for sure, or measured: the tag counts, and both are told."""
    labels = [item.label for item in collection.items]
    return (
        *_told([f"{labels[i]!r}: {text}" for i, text in _tempo_doubts(collection)], "tempo"),
        *_told([f"{labels[i]!r}: {text}" for i, text in _key_doubts(collection)], "key"),
        *_told([f"{labels[i]!r}: {text}" for i, text in _gain_doubts(collection)], "gain"),
    )


def _tempo_doubts(collection: Collection) -> list[tuple[int, str]]:
    said, heard, sure = (column(collection, name) for name in ("tempo", "heard_tempo", "tempo_confidence"))
    return [
        (int(i), f"its tag says {said[i]:g} beats per minute, heard are {heard[i]:.0f}")
        for i in np.flatnonzero((said > 0) & (heard > 0) & (sure >= SURE))
        if tempo_distance(np.array([said[i], heard[i]]))[0, 1] > _SAME_TEMPO
    ]


def _key_doubts(collection: Collection) -> list[tuple[int, str]]:
    names = ("key", "mode", "heard_key", "heard_mode", "key_confidence")
    key, mode, heard, heard_mode, sure = (column(collection, name) for name in names)
    found = []
    for i in np.flatnonzero(np.isfinite(key) & np.isfinite(mode) & (sure >= SURE)):
        if camelot_distance(np.array([key[i], heard[i]]), np.array([mode[i], heard_mode[i]]))[0, 1] > 0:
            text = f"its tag says {key_name(key[i], mode[i])}, heard is {key_name(heard[i], heard_mode[i])}"
            found.append((int(i), text))
    return found


def _gain_doubts(collection: Collection) -> list[tuple[int, str]]:
    loudness = column(collection, "loudness")
    found = []
    for i, item in enumerate(collection.items):
        gain = item.details.get("replaygain")
        if isinstance(gain, float) and np.isfinite(loudness[i]) and abs(REFERENCE - gain - loudness[i]) > _SAME_LEVEL:
            found.append((i, f"its ReplayGain tag says {gain:+.1f} dB, measured are {REFERENCE - loudness[i]:+.1f} dB"))
    return found


def _told(notes: list[str], what: str) -> list[str]:
    more = len(notes) - _MOST_TOLD
    return notes[:_MOST_TOLD] + ([f"{more} more whose tag says another {what} than was heard"] if more > 0 else [])


def _texts(known: Known, text: Callable[[int], str]) -> tuple[str, ...]:
    def one(i: int) -> str:
        if not np.isfinite(known.values[i]):
            return ""
        return text(i) if known.sure[i] >= SURE else f"~{text(i)}"

    return tuple(one(i) for i in range(len(known.values)))


def track_gains(collection: Collection) -> tuple[Floats, str]:
    """What brings every track to -18 LUFS, as ReplayGain 2.0 does, in dB: shape (n,), NaN where it is not known."""
    return REFERENCE - column(collection, "loudness"), f"to {REFERENCE:g} LUFS, as ReplayGain 2.0"
