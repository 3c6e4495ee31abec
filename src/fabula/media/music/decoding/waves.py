"""What a track looks like over its length: peaks, and where it begins and ceases to sound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats
from fabula.errors import FileError, shown
from fabula.media.extraction import extract_one
from fabula.media.medium import Wave
from fabula.media.music.decoding.sound import open_sound
from fabula.media.music.loudness.weighting import Samples
from fabula.media.spec import Spec, Stop

PARTS = 400  # of a wave
SILENCE = 10 ** (-60 / 20)  # of full scale: what is below counts as silence

_STEP = 1024  # frames, of which the extremes are kept until the length is known


def wave_of(path: str, stop: Stop = lambda: False) -> Wave:
    """The wave of an audio file, in `PARTS` parts, from the cache where it is known.

    Raises
    ------
    FileError
        When the file is not audio, or is broken.
    """
    row = extract_one(path, SPEC, stop)
    low, high = row[: 2 * PARTS].reshape(2, PARTS)
    begins, ends, length = row[2 * PARTS :].tolist()
    return Wave(low, high, begins, ends, length)


def _row(path: str, stop: Stop) -> NDArray[np.float64]:
    """Lows, highs, and begin, end and length in seconds: shape (2 PARTS + 3,)."""
    lows: list[Floats] = []
    highs: list[Floats] = []
    frames, first, last = 0, -1, -1
    with open_sound(path, stop=stop) as sound:
        for chunk in sound.chunks:
            low, high = _extremes(chunk)
            lows.append(low)
            highs.append(high)
            loud = np.flatnonzero(np.abs(chunk).max(axis=1) > SILENCE)
            if len(loud):
                first, last = frames + int(loud[0]) if first < 0 else first, frames + int(loud[-1])
            frames += len(chunk)
    if not frames:
        raise FileError(f"{shown(path)}: has no samples in it")
    parts = _parted(np.concatenate(lows), np.minimum), _parted(np.concatenate(highs), np.maximum)
    edges = np.array([max(0, first), last + 1, frames]) / sound.rate
    return np.concatenate([*parts, edges])


def _extremes(chunk: Samples) -> tuple[Floats, Floats]:
    """Smallest and largest value over the channels in steps of frames: two arrays of ceil(frames / _STEP)."""
    starts = np.arange(0, len(chunk), _STEP)
    low, high = chunk.min(axis=1), chunk.max(axis=1)
    least, most = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
    return np.clip(least, -1, 1).astype(np.float64), np.clip(most, -1, 1).astype(np.float64)


def _parted(values: Floats, ufunc: np.ufunc) -> Floats:
    """Values in `PARTS` parts of equal length, each as its extreme; few values are spread."""
    edges = np.linspace(0, len(values), PARTS, endpoint=False).astype(np.intp)
    if len(values) < PARTS:
        return values[edges]
    parts: Floats = ufunc.reduceat(values, edges)
    return parts


_NAMES = tuple(f"{name}{k}" for name in ("low", "high") for k in range(PARTS))
SPEC = Spec("wave", 1, (*_NAMES, "begins", "ends", "length"), _row, (2 * PARTS + 3,))
