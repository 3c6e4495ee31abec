"""True peak by ITU-R BS.1770-4, annex 2: the highest value between the samples, from four times as many."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.signal import firwin

from fabula.core.ordering import Ints
from fabula.media.music.loudness.weighting import Samples

LOWEST = -100.0  # dBTP, for silence

_ROW = 128  # samples looked at together
_BLOCK = 32 * _ROW  # samples whose extremes are found first
_TAPS = 24  # of every phase
_NEAR = 0.6  # rows whose highest sample is below this part of the peak so far are not looked into (4.4 dB)
_MOST = 8  # rows of a chunk that are


class Peak:
    """The true peak of a stream.

    Only rows of 128 samples whose own highest sample comes near the peak so far can hold it; those are oversampled, of
    every chunk at most the 8 rows with the highest samples. They lie in the 8 blocks of 32 rows with the highest
    samples: of the other blocks no row is looked at.
    """

    def __init__(self, rate: int) -> None:
        self._times = 4 if rate < 80000 else 2 if rate < 160000 else 1
        self._product = _product(self._times)
        self._before: Samples | None = None
        self.highest = 0.0

    def push(self, chunk: Samples) -> None:
        """Take a chunk (frames, channels) into account."""
        samples = np.ascontiguousarray(chunk.T)
        if self._before is None:
            self._before = np.zeros((len(samples), _TAPS), np.float32)
        seam = np.concatenate([self._before, samples[:, : _TAPS + _ROW]], axis=1)
        self._look(seam)
        done = self._look(samples)
        self._before = samples[:, done:].copy() if done else seam

    def finish(self) -> float:
        """The peak in dBTP, once all chunks were pushed."""
        if self._before is not None:  # the last samples have their followers now: silence
            silence = np.zeros((len(self._before), _TAPS + _ROW), np.float32)
            self._look(np.concatenate([self._before, silence], axis=1))
        return max(LOWEST, 20 * float(np.log10(self.highest))) if self.highest > 0 else LOWEST

    def _look(self, samples: Samples) -> int:
        """Look at the rows whose samples (channels, n) have all neighbours they need; how many are done with."""
        rows = (samples.shape[1] - _TAPS) // _ROW
        if rows < 1:
            return 0
        half, whole = _TAPS // 2, rows * _ROW // _BLOCK * _BLOCK
        for start, end, size in ((0, whole, _BLOCK), (whole, rows * _ROW, _ROW)):  # the rest row by row
            blocks = samples[:, half + start : half + end].reshape(len(samples), -1, size)
            if blocks.size:
                self._look_into(samples, start, blocks)
        return int(rows * _ROW)

    def _look_into(self, samples: Samples, first: int, blocks: Samples) -> None:
        """Look at blocks (channels, blocks, size), the first of which begins at sample `first`, row by row."""
        size = blocks.shape[2]
        sizes = _highest(blocks)
        self.highest = max(self.highest, float(sizes.max()))
        if self._times == 1:
            return
        channel, block = self._near(sizes)
        inner = _highest(blocks[channel, block].reshape(-1, size // _ROW, _ROW))
        chosen, row = self._near(inner)
        starts = first + block[chosen] * size + row * _ROW
        where = starts[:, np.newaxis] + np.arange(_ROW + _TAPS - 1)
        between = samples[channel[chosen][:, np.newaxis], where] @ self._product
        self.highest = max(self.highest, float(np.abs(between).max(initial=0.0)))

    def _near(self, sizes: Samples) -> tuple[Ints, Ints]:
        """Where those sizes (n, m) are that come near the peak so far, of too many the largest."""
        rows, columns = np.nonzero(sizes > _NEAR * self.highest)
        if len(rows) > _MOST:
            largest = np.argpartition(sizes[rows, columns], -_MOST)[-_MOST:]
            rows, columns = rows[largest], columns[largest]
        return rows, columns


def _highest(samples: Samples) -> Samples:
    """The highest absolute value over the last axis."""
    return np.asarray(np.maximum(samples.max(axis=-1), -samples.min(axis=-1)))


@lru_cache(maxsize=4)
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
