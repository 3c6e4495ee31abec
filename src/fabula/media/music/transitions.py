"""How far it is from the end of one track to the start of the next, as far as it is known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.errors import InputError
from fabula.media.medium import column
from fabula.media.music.tracks import Known, keys, tempi, tempo_octaves
from fabula.media.steps import Step, Steps, essence_steps


def music_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps between tracks: loudness, energy, tempo, key, brightness and silence, as far as known; else the essence.

    Where files were measured, the step is from the end of one to the start of the next: the last and first 15 seconds
    that sound (loudness, brightness), the last and first 30 (tempo, key). Tempo counts half and double time as equal;
    key goes by the Camelot wheel. What tags or a table say wins over what was heard; what is not sure counts as an
    average step in part. Silence counts only where it is asked for.
    """
    parts = tuple(_parts(collection))
    return Steps(parts) if parts else essence_steps(collection, essence)


def _parts(collection: Collection) -> Iterator[Step]:
    """The steps of which something is known."""
    end, start = _edges(collection, "loudness")
    if np.isfinite(end).any():
        yield _plain("loudness", "dB", end, start)
    energy = column(collection, "energy")
    if np.isfinite(energy).any():
        yield _plain("energy", "of 1", energy, energy)
    last, first = tempi(collection, "end"), tempi(collection, "start")
    if last.any:
        percent = 100 * (2 ** tempo_distance(_fill(last.values), _fill(first.values)) - 1)
        yield Step("tempo", "%", percent, certainty=_both(last, first))
    (last, last_mode), (first, first_mode) = keys(collection, "end"), keys(collection, "start")
    if last.any:
        wheel = camelot_distance(*_usual(last, last_mode), *_usual(first, first_mode))
        yield Step("key", "steps on the wheel of keys", wheel, certainty=_both(last, first))
    end, start = (np.log2(np.maximum(30.0, column(collection, f"{edge}_brightness"))) for edge in ("end", "start"))
    if np.isfinite(end).any():
        yield _plain("brightness", "octaves", end, start)
    after, before = column(collection, "silence_end"), column(collection, "silence_start")
    if np.isfinite(after).any():
        yield Step("silence", "s", np.nan_to_num(after)[:, np.newaxis] + np.nan_to_num(before), weight=0.0)


def tempo_distance(tempo: Floats, next_tempo: Floats | None = None) -> Floats:
    """Octaves between tempi (n,) and those of the follower, half and double time counted as equal: shape (n, n)."""
    return tempo_octaves(tempo[:, np.newaxis], tempo if next_tempo is None else next_tempo)


def camelot_distance(
    key: Floats, mode: Floats, next_key: Floats | None = None, next_mode: Floats | None = None
) -> Floats:
    """Steps on the Camelot wheel, shape (n, n): along the circle of fifths, and one for minor against major."""
    after, after_mode = key if next_key is None else next_key, mode if next_mode is None else next_mode
    gap = np.abs(camelot_hour(key, mode)[:, np.newaxis] - camelot_hour(after, after_mode))
    other_mode = np.abs(mode[:, np.newaxis] - after_mode)
    return np.asarray(np.minimum(gap, 12 - gap) + other_mode)


def camelot_hour(key: Floats, mode: Floats) -> Floats:
    """Fifths above C, 0 to 11; a minor key stands with its relative major. An InputError where it is no key."""
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
