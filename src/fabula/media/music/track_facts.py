"""What is told of tracks: tempo, key and loudness in columns, their edges, and where tags and ears disagree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.media.facts import Ends, Fact
from fabula.media.music.tracks import REFERENCE, SAME_TEMPO, SURE, Known, column, keys, levels, tempi, tempo_octaves
from fabula.media.music.transitions import camelot_distance, camelot_hour

_NOTES = ("C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B")
_SAME_LEVEL = 2.0  # dB
_MOST_TOLD = 3  # disagreements of a kind that are told one by one


def music_facts(collection: Collection) -> tuple[Fact, ...]:
    """Tempo, key and loudness of each track, as far as they are known.

    What is not sure begins with ``~``; where a tag says other than what was heard, that follows in brackets.

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
        found.append(Fact("tempo", _texts(tempo, _beats(tempo), _tempo_doubts(collection))))
    if key.any:
        there = np.isfinite(key.values) & np.isfinite(mode)
        names = [key_name(key.values[i], mode[i]) if there[i] else "" for i in range(len(there))]
        wheel = [camelot(key.values[i], mode[i]) if there[i] else "" for i in range(len(there))]
        shown = _texts(
            key, [f"{name} {hour}" for name, hour in zip(names, wheel, strict=True)], _key_doubts(collection)
        )
        found.append(Fact("key", shown, {"key_name": names, "camelot": wheel}))
    level = levels(collection)
    if np.isfinite(level).any():
        sure = Known(level, np.ones(len(level)))
        found.append(Fact("loudness", _texts(sure, [f"{one:.1f}" for one in level], _level_doubts(collection))))
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
    kinds = (
        ("tempo", "its tag says {} beats per minute, heard are {}", _tempo_doubts(collection)),
        ("key", "its tag says {}, heard is {}", _key_doubts(collection)),
        ("gain", "its ReplayGain tag says {} LUFS, measured are {}", _level_doubts(collection)),
    )
    labels = [item.label for item in collection.items]
    return tuple(
        line
        for what, words, doubts in kinds
        for line in _shorten([f"{labels[i]!r}: {words.format(*both)}" for i, both in doubts.items()], what)
    )


_Doubts = dict[int, tuple[str, str]]  # index of a track -> what its tag says, what was heard


def _tempo_doubts(collection: Collection) -> _Doubts:
    said, heard, sure = (column(collection, name) for name in ("tempo", "heard_tempo", "tempo_confidence"))
    return {
        int(i): (f"{said[i]:g}", f"{heard[i]:.0f}")
        for i in np.flatnonzero((said > 0) & (heard > 0) & (sure >= SURE))
        if tempo_octaves(said[i], heard[i]) > SAME_TEMPO
    }


def _key_doubts(collection: Collection) -> _Doubts:
    names = ("key", "mode", "heard_key", "heard_mode", "key_confidence")
    key, mode, heard, heard_mode, sure = (column(collection, name) for name in names)
    return {
        int(i): (key_name(key[i], mode[i]), key_name(heard[i], heard_mode[i]))
        for i in np.flatnonzero(np.isfinite(key) & np.isfinite(mode) & (sure >= SURE))
        if camelot_distance(np.array([key[i], heard[i]]), np.array([mode[i], heard_mode[i]]))[0, 1] > 0
    }


def _level_doubts(collection: Collection) -> _Doubts:
    said, measured = levels(collection), column(collection, "loudness")
    apart = np.flatnonzero(np.abs(said - measured) > _SAME_LEVEL)
    return {int(i): (f"{said[i]:.1f}", f"{measured[i]:.1f}") for i in apart}


def _shorten(notes: list[str], what: str) -> list[str]:
    more = len(notes) - _MOST_TOLD
    return notes[:_MOST_TOLD] + ([f"{more} more whose tag says another {what} than was heard"] if more > 0 else [])


def _beats(tempo: Known) -> list[str]:
    return [f"{one:.1f}".removesuffix(".0") for one in tempo.values]


def _texts(known: Known, texts: Sequence[str], doubts: _Doubts) -> tuple[str, ...]:
    def one(i: int) -> str:
        if not np.isfinite(known.values[i]):
            return ""
        doubt = f" ({doubts[i][1]})" if i in doubts else ""
        return ("" if known.sure[i] >= SURE else "~") + texts[i] + doubt

    return tuple(one(i) for i in range(len(known.values)))


def track_gains(collection: Collection) -> tuple[Floats, str]:
    """What brings every track to -18 LUFS, as ReplayGain 2.0 does, in dB: shape (n,), NaN where it is not known.

    A track that has a ReplayGain tag keeps its gain.
    """
    return REFERENCE - levels(collection), f"to {REFERENCE:g} LUFS, as ReplayGain 2.0"
