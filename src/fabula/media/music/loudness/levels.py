"""What follows from the K-weighted power of every 100 ms: loudness range, silence, fades, loudness at the edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.media.music.loudness.meter import FLOOR, level, power

EDGE_SECONDS = 15.0  # of each end that are taken for the edge

_STEPS_A_SECOND = 10
_WINDOW = 3 * _STEPS_A_SECOND  # of short-term loudness
_GATE = 20.0  # LU below the mean: EBU Tech 3342
_SILENT = 45.0  # LU below the loudness of the whole
_FADED = 6.0  # LU


@dataclass(frozen=True)
class Edges:
    """The sounding part of a stream, in seconds and LUFS.

    Attributes
    ----------
    start, end
        Where the first and the last sound is.
    fade_in, fade_out
        From the first sound until a second of it is within 6 LU of the loudness of the whole; the same from the end.
    start_loudness, end_loudness
        Of the first and the last 15 seconds between `start` and `end`.
    """

    start: float
    end: float
    fade_in: float
    fade_out: float
    start_loudness: float
    end_loudness: float


def loudness_range(powers: Floats) -> float:
    """LU between the 10th and the 95th percentile of the loudness of 3 s, gated: EBU Tech 3342.

    Parameters
    ----------
    powers
        Per 100 ms, shape (n,).
    """
    if len(powers) < _WINDOW:
        return 0.0
    sums = np.concatenate([[0.0], np.cumsum(powers)])
    short = np.maximum(0.0, sums[_WINDOW:] - sums[:-_WINDOW]) / _WINDOW
    short = short[short >= power(FLOOR)]
    if not len(short):
        return 0.0
    short = np.sort(short[short >= short.mean() * 10 ** (-_GATE / 10)])
    low, high = (short[max(0, int(share * len(short) + 0.5) - 1)] for share in (0.10, 0.95))  # nearest rank
    return float(10 * np.log10(high / low))


def edges(powers: Floats, loudness: float) -> Edges:
    """Where the sound begins and ends, and how loud it is there.

    Parameters
    ----------
    powers
        Per 100 ms, shape (n,).
    loudness
        Of the whole, in LUFS. What is 45 LU softer, or softer than -70 LUFS, is silence.
    """
    sounding = np.flatnonzero(powers > power(max(FLOOR, loudness - _SILENT)))
    if not len(sounding):
        return Edges(0.0, 0.0, 0.0, 0.0, FLOOR, FLOOR)
    first, last = int(sounding[0]), int(sounding[-1]) + 1
    heard, steps = powers[first:last], round(EDGE_SECONDS * _STEPS_A_SECOND)
    return Edges(
        first / _STEPS_A_SECOND,
        last / _STEPS_A_SECOND,
        _until_full(heard, loudness),
        _until_full(heard[::-1], loudness),
        max(FLOOR, level(heard[:steps].mean())),
        max(FLOOR, level(heard[-steps:].mean())),
    )


def _until_full(powers: Floats, loudness: float) -> float:
    wide = min(_STEPS_A_SECOND, len(powers))
    means = np.convolve(powers, np.full(wide, 1 / wide), mode="valid")
    full = np.flatnonzero(means >= power(loudness - _FADED))
    return float(full[0] / _STEPS_A_SECOND) if len(full) else len(powers) / _STEPS_A_SECOND
