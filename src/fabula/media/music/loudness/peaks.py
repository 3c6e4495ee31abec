"""True peak by ITU-R BS.1770-4, annex 2: the highest value between the samples, from four times as many."""

from __future__ import annotations

import numpy as np
from scipy.signal import firwin

from fabula.media.music.loudness.weighting import Samples

LOWEST = -100.0  # dBTP, for silence

_ROW = 128  # samples looked at together
_TAPS = 24  # of every phase
_NEAR = 0.6  # rows whose highest sample is below this part of the peak so far are not looked into (4.4 dB)
_MOST = 16  # rows of a chunk that are


class Peak:
    """The true peak of a stream.

    Only rows of 128 samples whose own highest sample comes near the peak so far can hold it; those are oversampled, of
    every chunk at most the 16 rows with the highest samples.
    """

    def __init__(self, rate: int) -> None:
        self._times = 4 if rate < 80000 else 2 if rate < 160000 else 1
        self._product = _product(self._times)
        self._before: Samples | None = None
        self.highest = 0.0

    def push(self, chunk: Samples) -> None:
        """Take a chunk (frames, channels) into account."""
        if self._before is None:
            self._before = np.zeros((_TAPS, chunk.shape[1]), np.float32)
        seam = np.concatenate([self._before, chunk[: _TAPS + _ROW]])
        self._look(seam)
        done = self._look(chunk)
        self._before = chunk[done:].copy() if done else seam

    def finish(self) -> float:
        """The peak in dBTP, once all chunks were pushed."""
        if self._before is not None:  # the last samples have their followers now: silence
            self._look(np.concatenate([self._before, np.zeros((_TAPS + _ROW, self._before.shape[1]), np.float32)]))
        return max(LOWEST, 20 * float(np.log10(self.highest))) if self.highest > 0 else LOWEST

    def _look(self, samples: Samples) -> int:
        """Look at the rows whose samples have all neighbours that they need; how many samples are done with."""
        rows = (len(samples) - _TAPS) // _ROW
        if rows < 1:
            return 0
        half, channels = _TAPS // 2, samples.shape[1]
        looked = samples[half : half + rows * _ROW].reshape(rows, _ROW * channels)
        sizes = np.maximum(looked.max(axis=1), -looked.min(axis=1))
        self.highest = max(self.highest, float(sizes.max()))
        if self._times == 1:
            return rows * _ROW
        near = np.flatnonzero(sizes > _NEAR * self.highest)
        if len(near) > _MOST:
            near = near[np.argpartition(sizes[near], -_MOST)[-_MOST:]]
        if len(near):
            where = near[:, None] * _ROW + np.arange(_ROW + _TAPS - 1)
            between = samples[where].transpose(0, 2, 1) @ self._product
            self.highest = max(self.highest, float(np.abs(between).max()))
        return rows * _ROW


def _product(times: int) -> Samples:
    """Matrix (row + taps - 1, row * (times - 1)): samples to the values between them."""
    if times == 1:
        return np.empty((0, 0), np.float32)
    low_pass = firwin(_TAPS * times + 1, 1 / times, window=("kaiser", 7.0)) * times
    matrix = np.zeros((_ROW + _TAPS - 1, _ROW, times - 1), np.float32)
    for phase in range(1, times):
        for sample in range(_ROW):
            matrix[sample : sample + _TAPS, sample, phase - 1] = low_pass[phase::times][:_TAPS][::-1]
    return matrix.reshape(_ROW + _TAPS - 1, -1)
