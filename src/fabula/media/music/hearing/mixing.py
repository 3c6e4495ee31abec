"""The mono mix of a stream at about 11 kHz, on which beats and keys are heard; and how wide the stereo is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.signal import firwin

from fabula.core.essence import Floats
from fabula.media.music.loudness.weighting import Samples

TARGET_RATE = 11025.0  # Hz: beats and keys lie below 5.5 kHz
_OUTPUTS = 16  # samples of the mix per matrix row
_EVERY = 11  # frames, of which one counts for the width
_ZEROS = 12  # zero crossings of the low pass within its taps


class Mix:
    """Chunks (frames, channels) in, mono samples at a lower rate out.

    Every row of samples and the end of the row before it give one row of the mix by a matrix product: a low pass at 0.9
    of the new Nyquist frequency, kept at every `factor`-th sample.

    Attributes
    ----------
    rate
        Of what comes out: the rate given divided by a whole number, 8 to 16 kHz where that can be.
    """

    def __init__(self, rate: int) -> None:
        self.factor = max(1, round(rate / TARGET_RATE))
        self.rate = rate / self.factor
        self._row = self.factor * _OUTPUTS
        self._taps = 1 if self.factor == 1 else _ZEROS * self.factor + 1
        self._own, self._before = _products(self.factor, self._taps)
        self._end = np.zeros(self._taps - 1, np.float32)
        self._rest = np.empty(0, np.float32)

    def push(self, chunk: Samples) -> Samples:
        """The samples of the mix that a chunk completes."""
        mono = chunk[:, 0] if chunk.shape[1] == 1 else _mono(chunk)
        if self.factor == 1:
            return np.array(mono)
        mono = np.concatenate([self._rest, mono]) if len(self._rest) else mono
        rows = len(mono) // self._row
        self._rest = np.array(mono[rows * self._row :])
        if not rows:
            return np.empty(0, np.float32)
        samples = np.ascontiguousarray(mono[: rows * self._row]).reshape(rows, self._row)
        mixed = samples @ self._own
        tails = len(self._end)
        mixed[1:] += samples[:-1, -tails:] @ self._before
        mixed[0] += self._end @ self._before
        self._end = samples[-1, -tails:].copy()
        return np.asarray(mixed.reshape(-1))


def _mono(chunk: Samples) -> Samples:
    mono = chunk[:, 0] + chunk[:, 1]
    for channel in range(2, chunk.shape[1]):
        mono += chunk[:, channel]
    mono *= np.float32(1 / chunk.shape[1])
    return np.asarray(mono)


@lru_cache(maxsize=16)
def _products(factor: int, taps: int) -> tuple[Samples, Samples]:
    """Matrices (row, outputs) and (taps - 1, outputs): what a row and the end of the row before it add to the mix."""
    response = firwin(taps, 0.9 / factor) if factor > 1 else np.ones(1)
    row = factor * _OUTPUTS
    whole = np.zeros((row + taps - 1, _OUTPUTS))
    for output in range(_OUTPUTS):
        start = output * factor  # the taps end at sample `start` of the row
        whole[start : start + taps, output] = response[::-1]
    return whole[taps - 1 :].astype(np.float32), whole[: taps - 1].astype(np.float32)


@dataclass
class Width:
    """How much of the sound is in the difference of left and right."""

    frames: int = 0
    sums: Floats = field(default_factory=lambda: np.zeros(2))
    products: Floats = field(default_factory=lambda: np.zeros((2, 2)))

    def push(self, chunk: Samples) -> None:
        """Take a chunk into account; only the first two channels count, and every eleventh frame is enough."""
        if chunk.shape[1] > 1:
            left, right = (np.ascontiguousarray(chunk[::_EVERY, channel]) for channel in (0, 1))
            self.frames += len(left)
            self.sums += left.sum(), right.sum()
            self.products += np.array([[left @ left, left @ right], [left @ right, right @ right]])

    def share(self) -> float:
        """Energy of (L - R) / 2 as a part of that and of (L + R) / 2: 0 for mono, 0.5 for unrelated channels.

        Examples
        --------
        >>> width = Width()
        >>> width.push(np.tile(np.array([[1.0, -1.0], [-1.0, 1.0]], np.float32), (50, 1)))
        >>> width.share()
        1.0
        """
        if not self.frames:
            return 0.0
        spread = self.products - np.outer(self.sums, self.sums) / self.frames
        total = spread[0, 0] + spread[1, 1]
        return float(np.clip((total - 2 * spread[0, 1]) / (2 * total), 0.0, 1.0)) if total > 1e-9 * self.frames else 0.0
