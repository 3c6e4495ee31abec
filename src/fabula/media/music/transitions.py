"""How far it is from the end of one track to the start of the next, as far as it is known."""

from __future__ import annotations

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.errors import InputError
from fabula.media.music.tracks import Known, column, keys, tempi, tempo_octaves
from fabula.media.steps import Step, Steps, essence_steps


def music_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps between tracks: loudness, energy, tempo, key, brightness and silence, as far as known; else the essence.

    Where files were measured, the step is from the end of one to the start of the next: the last and first 15 seconds
    that sound (loudness, brightness), the last and first 30 (tempo, key). Tempo counts half and double time as equal;
    key goes by the Camelot wheel. What tags or a table say wins over what was heard; what is not sure counts as an
    average step in part. Silence counts only where it is asked for.

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
    parts = [*_level(collection), *_energy(collection), *_tempo(collection), *_key(collection)]
    parts += [*_brightness(collection), *_silence(collection)]
    return Steps(tuple(parts)) if parts else essence_steps(collection, essence)


def _level(collection: Collection) -> list[Step]:
    end, start = _edges(collection, "loudness")
    return [_plain("loudness", "dB", end, start)] if np.isfinite(end).any() else []


def _energy(collection: Collection) -> list[Step]:
    energy = column(collection, "energy")
    return [_plain("energy", "of 1", energy, energy)] if np.isfinite(energy).any() else []


def _tempo(collection: Collection) -> list[Step]:
    end, start = tempi(collection, "end"), tempi(collection, "start")
    if not end.any:
        return []
    percent = 100 * (2 ** tempo_distance(_fill(end.values), _fill(start.values)) - 1)
    return [Step("tempo", "%", percent, certainty=_both(end, start))]


def _key(collection: Collection) -> list[Step]:
    (end, end_mode), (start, start_mode) = keys(collection, "end"), keys(collection, "start")
    if not end.any:
        return []
    wheel = camelot_distance(*_usual(end, end_mode), *_usual(start, start_mode))
    return [Step("key", "steps on the wheel of keys", wheel, certainty=_both(end, start))]


def _brightness(collection: Collection) -> list[Step]:
    end, start = (np.log2(np.maximum(30.0, column(collection, f"{edge}_brightness"))) for edge in ("end", "start"))
    return [_plain("brightness", "octaves", end, start)] if np.isfinite(end).any() else []


def _silence(collection: Collection) -> list[Step]:
    after, before = column(collection, "silence_end"), column(collection, "silence_start")
    if not np.isfinite(after).any():
        return []
    between = np.nan_to_num(after)[:, np.newaxis] + np.nan_to_num(before)
    return [Step("silence", "s", between, weight=0.0)]


def tempo_distance(tempo: Floats, next_tempo: Floats | None = None) -> Floats:
    """Octaves between tempi, half and double time counted as equal, shape (n, n).

    Parameters
    ----------
    tempo
        Beats per minute, shape (n,).
    next_tempo
        Those of the follower; by default the same.

    Examples
    --------
    >>> tempo_distance(np.array([60.0, 120.0, 90.0])).round(3).tolist()
    [[0.0, 0.0, 0.415], [0.0, 0.0, 0.415], [0.415, 0.415, 0.0]]
    """
    return tempo_octaves(tempo[:, np.newaxis], tempo if next_tempo is None else next_tempo)


def camelot_distance(
    key: Floats, mode: Floats, next_key: Floats | None = None, next_mode: Floats | None = None
) -> Floats:
    """Steps on the Camelot wheel, shape (n, n): along the circle of fifths, and one for minor against major.

    Parameters
    ----------
    key, mode
        Shape (n,): 0 is C, 11 is B; 1 is major, 0 minor.
    next_key, next_mode
        Those of the follower; by default the same.

    Examples
    --------
    >>> camelot_distance(np.array([0.0, 7.0, 9.0]), np.array([1.0, 1.0, 0.0])).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 2.0], [1.0, 2.0, 0.0]]
    """
    after, after_mode = key if next_key is None else next_key, mode if next_mode is None else next_mode
    gap = np.abs(camelot_hour(key, mode)[:, np.newaxis] - camelot_hour(after, after_mode))
    other_mode = np.abs(mode[:, np.newaxis] - after_mode)
    return np.asarray(np.minimum(gap, 12 - gap) + other_mode)


def camelot_hour(key: Floats, mode: Floats) -> Floats:
    """Fifths above C, 0 to 11; a minor key stands with its relative major.

    Raises
    ------
    InputError
        When it is no key.
    """
    if not (np.isin(key, np.arange(12)).all() and np.isin(mode, (0, 1)).all()):
        raise InputError("a key must be a whole number from 0 (C) to 11 (B), and a mode 0 (minor) or 1 (major)")
    return np.asarray(np.where(mode == 1, key * 7 % 12, (key + 3) * 7 % 12))


def _edges(collection: Collection, name: str) -> tuple[Floats, Floats]:
    """A measure at the end and at the start; that of the whole where an edge was not measured."""
    whole = column(collection, name)
    edges = (column(collection, f"{edge}_{name}") for edge in ("end", "start"))
    end, start = (np.where(np.isfinite(edge), edge, whole) for edge in edges)
    return end, start


def _plain(name: str, unit: str, end: Floats, start: Floats) -> Step:
    """A step between values that are compared as they are."""
    return Step(name, unit, np.abs(_fill(end)[:, np.newaxis] - _fill(start)))


def _fill(values: Floats) -> Floats:
    """The median in place of missing values."""
    known = np.isfinite(values)
    return np.where(known, values, np.median(values[known]))


def _usual(key: Known, mode: Floats) -> tuple[Floats, Floats]:
    """Keys with the commonest of them in place of missing ones."""
    there = np.isfinite(key.values) & np.isfinite(mode)
    pairs, counts = np.unique(np.stack([key.values[there], mode[there]]), axis=1, return_counts=True)
    usual = pairs[:, int(counts.argmax())]
    return np.where(there, key.values, usual[0]), np.where(there, mode, usual[1])


def _both(one: Known, other: Known) -> Floats:
    return np.asarray(np.sqrt(one.sure[:, np.newaxis] * other.sure))
