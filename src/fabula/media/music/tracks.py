"""What is known of tracks, what is told of it, and how far it is from one to the next.

What tags and tables say counts where they say it, what was heard where they do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats
from fabula.core.collection import Collection
from fabula.errors import InputError
from fabula.media.facts import Axis, Ends, Fact
from fabula.media.medium import Step, Steps, column, essence_steps

REFERENCE = -18.0  # LUFS: what ReplayGain 2.0 brings a track to
SURE = 0.5  # from here on what was heard is told without a doubt
SAME_TEMPO = 0.06  # octaves: about 4 %
_TEMPI = ("tempo", "heard_tempo", "start_tempo", "end_tempo")
_MIXES = ("mix_in", "mix_out")
LONGEST_MIX = 32  # bars that are enough for any mix


@dataclass(frozen=True, eq=False)
class TrackValues:
    """Values of n tracks, NaN where nothing is known; and how sure they are, 0 to 1.

    ``sure`` is 1 for what was said and 0 where nothing is known.
    """

    values: Floats
    sure: Floats

    @property
    def any(self) -> bool:
        """Whether anything is known."""
        return bool(np.isfinite(self.values).any())


def levels(collection: Collection) -> Floats:
    """LUFS, shape (n,): what a ReplayGain tag says where there is one, else what was measured.

    >>> from fabula.core.collection import Item
    >>> c = Collection("c", [Item("a", details={"replaygain": -9.0}), Item("b")], [[-8.0], [-14.0]], ("loudness",))
    >>> levels(c)
    array([ -9., -14.])
    """
    said = collection.texts("replaygain")
    tagged = np.array([REFERENCE - gain if isinstance(gain, float) else np.nan for gain in said])
    return np.where(np.isfinite(tagged), tagged, column(collection, "loudness"))


def tempi(collection: Collection, where: str = "heard") -> TrackValues:
    """Beats per minute of the whole, the ``start`` or the ``end``; an InputError where a tag says 0 or less.

    An edge has a tempo of its own where it is another than that of the whole, beyond half and double time.
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


def fold_tempi(collection: Collection, low: float, high: float) -> Collection:
    """The collection with its tempi doubled or halved until they lie in a range; else as near its middle as can be.

    >>> from fabula.core.collection import Item
    >>> fold_tempi(Collection("c", [Item("a"), Item("b")], [[62.0], [350.0]], ("tempo",)), 88, 176).features.tolist()
    [[124.0], [175.0]]
    """
    tempi = [k for k, name in enumerate(collection.feature_names) if name in _TEMPI]
    if not tempi or collection.features.ndim > 2:
        return collection
    features, names = np.array(collection.features, dtype=np.float64), collection.feature_names
    found = features[:, tempi]
    known = found > 0
    beats = np.where(known, found, low)
    moves = np.log2(np.sqrt(low * high) / beats).round()  # the octave nearest to the middle
    features[:, tempi] = np.where(known & ~((low <= beats) & (beats <= high)), beats * 2.0**moves, found)
    if "heard_tempo" in names:  # bars are counted by it
        bars = [k for k, name in enumerate(names) if name in _MIXES]
        before, after = collection.column("heard_tempo"), features[:, names.index("heard_tempo")]
        features[:, bars] *= (after / np.where(before > 0, before, 1.0))[:, np.newaxis]
    return replace(collection, features=features)


def tempo_octaves(one: Floats, other: Floats) -> Floats:
    """Octaves from one tempo to another, half and double time counted as equal.

    >>> tempo_octaves(np.array([60.0, 60.0]), np.array([120.0, 90.0])).round(3).tolist()
    [0.0, 0.415]
    """
    gap = np.abs(np.log2(one) - np.log2(other)) % 1.0
    return np.asarray(np.minimum(gap, 1.0 - gap))


def keys(collection: Collection, where: str = "heard") -> tuple[TrackValues, Floats]:
    """Keys, 0 for C to 11 for B, and modes, 1 for major and 0 for minor: of the whole, the ``start`` or the ``end``."""
    said, mode_said = column(collection, "key"), column(collection, "mode")
    there = np.isfinite(said) & np.isfinite(mode_said)
    _check_keys(said[there], mode_said[there])
    whole = [column(collection, name) for name in ("heard_key", "heard_mode", "key_confidence")]
    if where != "heard":
        edge = [column(collection, f"{where}_{name}") for name in ("key", "mode", "key_confidence")]
        whole = [np.where(_clear(edge[2], whole[2]), at, all_of) for at, all_of in zip(edge, whole, strict=True)]
    heard, mode, sure = whole
    known = _join(np.where(there, said, np.nan), np.where(sure > 0, heard, np.nan), sure)
    return known, np.where(there, mode_said, mode)


def _check_keys(key: Floats, mode: Floats) -> None:
    if not (np.isin(key, np.arange(12)).all() and np.isin(mode, (0, 1)).all()):
        raise InputError("a key must be a whole number from 0 (C) to 11 (B), and a mode 0 (minor) or 1 (major)")


def _clear(edge: Floats, whole: Floats) -> NDArray[np.bool_]:
    """Whether an edge was heard at least half as surely as the whole, and counts for itself."""
    return np.asarray((edge > 0) & (edge >= 0.5 * np.nan_to_num(whole)))


def _join(said: Floats, heard: Floats, sure: Floats) -> TrackValues:
    there = np.isfinite(said)
    certain = np.where(there, 1.0, np.where(np.isfinite(heard), np.nan_to_num(sure), 0.0))
    return TrackValues(np.where(there, said, heard), certain)


# How far it is from the end of one track to the start of the next, as far as it is known.


def music_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps between tracks: loudness, energy, tempo, key, brightness, mix and silence, as known; else the essence.

    Where files were measured, the step is from the end of one to the start of the next: the last and first 15 seconds
    that sound (loudness, brightness), the last and first 30 (tempo, key). Tempo counts half and double time as equal;
    key goes by the Camelot wheel. What tags or a table say wins over what was heard; what is not sure counts as an
    average step in part. Silence, and how many bars two tracks can be mixed over, count only where they are asked for.
    """
    # A measure at the end and at the start; that of the whole where an edge was not measured.
    whole = column(collection, "loudness")
    edges = (column(collection, f"{edge}_loudness") for edge in ("end", "start"))
    end, start = (np.where(np.isfinite(edge), edge, whole) for edge in edges)
    energy = column(collection, "energy")
    parts = [*_plain("loudness", "dB", end, start), *_plain("energy", "of 1", energy, energy)]
    last, first = tempi(collection, "end"), tempi(collection, "start")
    if last.any:
        percent = 100 * (2 ** tempo_octaves(_fill(last.values)[:, np.newaxis], _fill(first.values)) - 1)
        parts.append(Step("tempo", "%", percent, certainty=_both(last, first)))
    (last, last_mode), (first, first_mode) = keys(collection, "end"), keys(collection, "start")
    if last.any:
        key, mode = _usual(last, last_mode)
        wheel = camelot_distance(key[:, np.newaxis], mode[:, np.newaxis], *_usual(first, first_mode))
        parts.append(Step("key", "Camelot steps", wheel, certainty=_both(last, first)))
    end, start = (np.log2(np.maximum(30.0, column(collection, f"{edge}_brightness"))) for edge in ("end", "start"))
    parts += _plain("brightness", "octaves", end, start)
    before, after = mix_bars(collection)
    if np.nansum(before) + np.nansum(after) > 0:  # the longest mix in which never both are full
        short = np.maximum(0.0, LONGEST_MIX - np.nan_to_num(after)[:, np.newaxis] - np.nan_to_num(before))
        known = (np.isfinite(after)[:, np.newaxis] & np.isfinite(before)).astype(np.float64)
        parts.append(Step("mix", f"bars short of {LONGEST_MIX}", short, weight=0.0, certainty=known))
    after, before = column(collection, "silence_end"), column(collection, "silence_start")
    if np.isfinite(after).any():
        silence = np.nan_to_num(after)[:, np.newaxis] + np.nan_to_num(before)
        parts.append(Step("silence", "s", silence, weight=0.0))
    return Steps(tuple(parts)) if parts else essence_steps(collection, essence)


def mix_bars(collection: Collection) -> tuple[Floats, Floats]:
    """Bars before each track is full, and after it was, by the tempo that counts; NaN where they are not known."""
    said, heard = column(collection, "tempo"), column(collection, "heard_tempo")
    times = np.where((said > 0) & (heard > 0), said / np.where(heard > 0, heard, 1.0), 1.0)
    before, after = (np.round(times * column(collection, name)) for name in _MIXES)
    return before, after


def camelot_distance(key: Floats, mode: Floats, next_key: Floats, next_mode: Floats) -> Floats:
    """Steps on the Camelot wheel from keys to others: along the circle of fifths, and one for minor against major."""
    gap = np.abs(camelot_hour(key, mode) - camelot_hour(next_key, next_mode))
    return np.asarray(np.minimum(gap, 12 - gap) + np.abs(mode - next_mode))


def camelot_hour(key: Floats, mode: Floats) -> Floats:
    """Fifths above C, 0 to 11; a minor key stands with its relative major. An InputError where it is no key."""
    _check_keys(key, mode)
    return np.asarray(np.where(mode == 1, key * 7 % 12, (key + 3) * 7 % 12))


def _plain(name: str, unit: str, end: Floats, start: Floats) -> list[Step]:
    """A step between values that are compared as they are; none where no end is known."""
    known = np.isfinite(end).any()
    return [Step(name, unit, np.abs(_fill(end)[:, np.newaxis] - _fill(start)))] if known else []


def _fill(values: Floats) -> Floats:
    """The median in place of missing values."""
    known = np.isfinite(values)
    return np.where(known, values, np.median(values[known]))


def _usual(key: TrackValues, mode: Floats) -> tuple[Floats, Floats]:
    """Keys with the commonest of them in place of missing ones."""
    there = np.isfinite(key.values) & np.isfinite(mode)
    pairs, counts = np.unique(np.stack([key.values[there], mode[there]]), axis=1, return_counts=True)
    usual = pairs[:, int(counts.argmax())]
    return np.where(there, key.values, usual[0]), np.where(there, mode, usual[1])


def _both(one: TrackValues, other: TrackValues) -> Floats:
    return np.asarray(np.sqrt(one.sure[:, np.newaxis] * other.sure))


# The energy of tracks, along which arcs are drawn: 0 for calm to 100 for driving.

# Regressions of Spotify's energy, 0 to 100, on albums: weights of what is heard (0 to 100), of loudness in dB, of the
# logarithm to base 2 of the tempo; and a constant (`examples/learn_energy.py`).
_BY_EAR = (0.8067, 2.1905, 2.9014, 9.9078)
_BY_LEVEL = (0.0, 4.2259, 6.2132, 54.9569)
_LUFS = 3.2  # dB between what Spotify calls loudness and the integrated loudness of the same songs
_USUAL_TEMPO = 118.0  # where none is known


def energy_axis(collection: Collection) -> Axis | None:
    """Energy, 0 to 100: a table's own; or from what is heard, loudness and tempo; or from loudness and tempo alone.

    One of these for all tracks; None where none is known of all.

    >>> from fabula.core.collection import Item
    >>> c = Collection("c", [Item("a"), Item("b")], [[-6.0, 120.0], [-14.0, 70.0]], ("loudness", "tempo"))
    >>> energy_axis(c).values.round()
    array([73., 34.])
    """
    said, heard = column(collection, "energy"), column(collection, "heard_energy")
    if np.isfinite(said).all():
        return Axis("energy", "0 to 100", 100 * said)
    level = column(collection, "loudness")
    if not np.isfinite(level).all():
        return None
    tempo, beats = column(collection, "tempo"), column(collection, "heard_tempo")
    known = np.where(tempo > 0, tempo, np.where(beats > 0, beats, _USUAL_TEMPO))
    by_ear = bool(np.isfinite(heard).all())
    ear, loud, quick, rest = _BY_EAR if by_ear else _BY_LEVEL
    values = ear * 100 * np.nan_to_num(heard) + loud * (level + _LUFS * by_ear) + quick * np.log2(known) + rest
    source = "heard, from loudness, tempo and density" if by_ear else "from loudness and tempo"
    return Axis("energy", "0 to 100", 100 * bound_share(values / 100), source)


def bound_share(estimates: Floats) -> Floats:
    """Estimates between 0 and 1: as they are from 0.1 to 0.9, beyond ever more slowly, so that none are alike.

    >>> bound_share(np.array([-0.5, 0.0, 0.4, 1.2])).round(3)
    array([0.   , 0.037, 0.4  , 0.995])
    """
    inner = np.clip(estimates, 0.1, 0.9)
    beyond = 0.1 * np.exp(-np.abs(estimates - inner) / 0.1)
    return np.where(estimates < 0.1, beyond, np.where(estimates > 0.9, 1 - beyond, inner))


# What is told of tracks: tempo, key and loudness in columns, their edges, and where tags and ears disagree.

_NOTES = ("C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B")
_SAME_LEVEL = 2.0  # dB
_MOST_TOLD = 3  # disagreements of a kind that are told one by one


def music_facts(collection: Collection) -> tuple[Fact, ...]:
    """Tempo, key, bars to mix over, energy and loudness of each track, as far as they are known.

    What is not sure begins with ``~``; where a tag says other than what was heard, that follows in brackets.
    """
    if collection.features.ndim > 2:
        return ()
    tempo, (key, mode) = tempi(collection), keys(collection)
    found = []
    if tempo.any:
        beats = [f"{one:.1f}".removesuffix(".0") for one in tempo.values]
        found.append(Fact("tempo", _texts(tempo, beats, _tempo_doubts(collection)), unit="BPM"))
    if key.any:
        there = np.isfinite(key.values) & np.isfinite(mode)
        names = [key_name(key.values[i], mode[i]) if there[i] else "" for i in range(len(there))]
        wheel = [camelot(key.values[i], mode[i]) if there[i] else "" for i in range(len(there))]
        both = [f"{name} {hour}" for name, hour in zip(names, wheel, strict=True)]
        shown = _texts(key, both, _key_doubts(collection))
        heard = there & ~np.isfinite(column(collection, "key") + column(collection, "mode"))
        marks = np.where(heard, "~", "")  # what was heard must not be read back as said: ~7A is no key
        cells = {name: np.char.add(marks, texts).tolist() for name, texts in (("key_name", names), ("camelot", wheel))}
        found.append(Fact("key", shown, cells))
    mixes = [f"in {a:.0f}, out {b:.0f}" if a + b >= 0 else "" for a, b in zip(*mix_bars(collection), strict=True)]
    found += [Fact("mix", tuple(mixes))] if any(mixes) else []
    level = levels(collection)
    energy = energy_axis(collection)
    if energy is not None:
        mark = "~" if energy.source else ""  # an estimate
        found.append(Fact("energy", tuple(f"{mark}{value:.0f}" for value in energy.values), unit="of 100"))
    if np.isfinite(level).any():
        sure = TrackValues(level, np.ones(len(level)))
        texts = _texts(sure, [f"{one:.1f}" for one in level], _level_doubts(collection))
        found.append(Fact("loudness", texts, unit="LUFS"))
    return tuple(found)


def key_name(key: float, mode: float) -> str:
    """A key as musicians write it."""
    return _NOTES[int(key)] + ("" if mode else "m")


def camelot(key: float, mode: float) -> str:
    """A key as it stands on the Camelot wheel."""
    hour = int(camelot_hour(np.asarray(key), np.asarray(mode)))
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
    found: list[str] = []
    for what, words, doubts in kinds:
        notes = [f"{collection.items[i].label!r}: {words.format(*both)}" for i, both in doubts.items()]
        more = len(notes) - _MOST_TOLD
        found += notes[:_MOST_TOLD]
        found += [f"{more} more whose tag says another {what} than was heard"] if more > 0 else []
    return tuple(found)


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
        if camelot_distance(key[i], mode[i], heard[i], heard_mode[i]) > 0
    }


def _level_doubts(collection: Collection) -> _Doubts:
    said, measured = levels(collection), column(collection, "loudness")
    apart = np.flatnonzero(np.abs(said - measured) > _SAME_LEVEL)
    return {int(i): (f"{said[i]:.1f}", f"{measured[i]:.1f}") for i in apart}


def _texts(known: TrackValues, texts: Sequence[str], doubts: _Doubts) -> tuple[str, ...]:
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
SHOWN_TITLE, SHOWN_CREATOR = "thriller", "jackson"  # the paper's Figure 5
