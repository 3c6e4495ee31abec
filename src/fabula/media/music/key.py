"""The key of a stream from its pitch classes, by profiles that were learned from pieces whose key is written down.

One profile for major and one for minor, turned to each of the twelve tonics: what is learned of one key holds for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.fft

from fabula.core.arrays import Floats, Ints
from fabula.media.music.loudness import Samples
from fabula.media.music.spectra import Frames
from fabula.media.music.tempo import weights_of

_FEWEST = 3  # blocks of about 3 s; a key of fewer is less sure
_TUNED = 0.12  # pitches that keep less to a scale say less of a key
_CLASSES = 3.0  # pitch classes besides the first that a key needs


@dataclass(frozen=True)
class Key:
    """A key, 0 for C to 11 for B; its mode, 1 for major and 0 for minor; and how likely that is right, 0 to 1."""

    tonic: int
    mode: int
    confidence: float


def find_key(classes: Floats, tuned: float) -> Key:
    """The key of pitch classes (blocks, 2, 12), as `chroma` gives them.

    ``tuned``: how much the pitches keep to twelve classes, 0 to 1, as `tuning` gives it; noise does not.
    """
    if not classes.any():
        return Key(0, 1, 0.0)
    shares = _shares(key_scores(classes))
    best = int(shares.argmax())
    tonal = min(1.0, tuned / _TUNED) * min(1.0, (_count(classes) - 1) / _CLASSES) * min(1.0, len(classes) / _FEWEST)
    return Key(best % 12, 1 - best // 12, float(shares[best]) * tonal)


def _count(classes: Floats) -> float:
    """How many pitch classes there are, each counted as far as it is used: 1 for a single tone."""
    shares = _share(classes.sum(axis=(0, 1)))
    used = shares[shares > 0]
    return float(np.exp(-(used * np.log(used)).sum()))


def key_scores(classes: Floats) -> Floats:
    """What keys are told by, seen from each of the twelve tonics: shape (12, features).

    The pitch classes above middle C, below and of both; every block counts alike, wherever it stands.
    """
    sums = classes.sum(axis=(1, 2), keepdims=True)
    high, low = (classes / np.maximum(sums, 1e-12)).mean(axis=0)
    rows = np.sqrt(np.stack([_share(high), _share(low), _share(high + low)]))
    return np.stack([np.roll(rows, -tonic, axis=1).reshape(-1) for tonic in range(12)])


def _shares(features: Floats) -> Floats:
    """How likely each key is: twelve major ones, then twelve minor ones."""
    scores = (features @ weights_of("key.profiles") + weights_of("key.bias")).T.reshape(-1)
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


def _share(values: Floats) -> Floats:
    total = values.sum()
    return values / total if total > 0 else np.full(12, 1 / 12)


# Pitch classes of a stream, fine enough to hear its tuning.

FINE = 120  # classes of 10 cents in an octave
SECONDS = 3.0  # of a block

_WINDOW, _HOP = 4096, 3072  # samples of the mix: about 370 and 280 ms
_LOWEST, _HIGHEST = 55.0, 2200.0  # Hz
_BASS = 262.0  # Hz: below it a pitch counts as bass
_REFERENCE = 440.0 * 2 ** (-9 / 12)  # Hz: C


class Pitches:
    """Histograms of spectral peaks by pitch class, in blocks of about three seconds."""

    def __init__(self, rate: float) -> None:
        self._frames = Frames(_WINDOW, _HOP)
        bins = np.fft.rfftfreq(_WINDOW, 1 / rate)
        self._first, self._last = (int(np.searchsorted(bins, f)) for f in (_LOWEST, min(_HIGHEST, 0.45 * rate)))
        self._step = rate / _WINDOW
        self._per_block = max(1, round(SECONDS * rate / _HOP))
        self.block_seconds = self._per_block * _HOP / rate
        self._seen = 0
        self._blocks: list[Floats] = []

    def push(self, mono: Samples) -> None:
        """Take samples of the mix into account."""
        windows = self._frames.push(mono)
        if not len(windows):
            return
        spectra = scipy.fft.rfft(windows, workers=1)[:, self._first - 1 : self._last + 1]
        sizes = np.sqrt(np.sqrt(spectra.real**2 + spectra.imag**2))
        frame, pitch, weight = _peaks(sizes, self._first - 1, self._step)
        block = (self._seen + frame) // self._per_block
        self._seen += len(windows)
        while len(self._blocks) * self._per_block < self._seen:
            self._blocks.append(np.zeros((2, FINE)))
        low = pitch < FINE * np.log2(_BASS / _REFERENCE)
        first = (self._seen - len(windows)) // self._per_block
        which = ((block - first) * 2 + low) * FINE + np.round(pitch).astype(np.intp) % FINE
        found = np.bincount(which, weight, (len(self._blocks) - first) * 2 * FINE).reshape(-1, 2, FINE)
        for one, more in zip(self._blocks[first:], found, strict=True):
            one += more

    @property
    def blocks(self) -> Floats:
        """Shape (blocks, 2, 120): pitches above middle C and below, by tens of cents from C on."""
        return np.stack(self._blocks) if self._blocks else np.empty((0, 2, FINE))


def _peaks(sizes: Samples, first: int, step: float) -> tuple[Ints, Floats, Floats]:
    """Frame, pitch in tens of cents above C, and weight of every local maximum that stands out of its frame."""
    mid = sizes[:, 1:-1]
    floor = 1.5 * sizes.mean(axis=1, keepdims=True)
    frame, place = np.nonzero((mid > sizes[:, :-2]) & (mid >= sizes[:, 2:]) & (mid > floor))
    before, at, after = (sizes[frame, place + k].astype(np.float64) for k in range(3))
    offset = 0.5 * (before - after) / (before - 2 * at + after)
    pitch = FINE * np.log2((first + place + 1 + offset) * step / _REFERENCE)
    return frame, pitch, at


def tuning(blocks: Floats) -> tuple[float, float]:
    """How many cents the notes of blocks (blocks, 2, 120) lie above A = 440 Hz, -50 to 50, and how sure that is."""
    histogram = blocks.sum(axis=(0, 1)).reshape(12, FINE // 12).sum(axis=0)
    total = histogram.sum()
    if not total > 0:
        return 0.0, 0.0
    turn = (histogram * np.exp(2j * np.pi * np.arange(FINE // 12) / (FINE // 12))).sum() / total
    return float(100 * np.angle(turn) / (2 * np.pi)), float(abs(turn))


def chroma(blocks: Floats, cents: float) -> Floats:
    """Twelve pitch classes per block with the tuning taken out, above middle C and below: shape (blocks, 2, 12)."""
    tens = (np.arange(FINE) - cents / 10) % FINE
    gap = np.abs((tens[:, None] - 10 * np.arange(12) + FINE / 2) % FINE - FINE / 2)
    near = np.where(gap < 5, np.cos(np.pi * gap / 10) ** 2, 0.0)
    return np.asarray(blocks @ near)
