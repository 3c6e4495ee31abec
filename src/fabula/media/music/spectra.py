"""The mono mix of a stream at about 11 kHz, on which beats and keys are heard; and how wide the stereo is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import scipy.fft
from scipy.signal import firwin
from scipy.signal.windows import hann

from fabula.core.arrays import Floats
from fabula.media.music.loudness import Samples

TARGET_RATE = 11025.0  # Hz: beats and keys lie below 5.5 kHz
_OUTPUTS = 16  # samples of the mix per matrix row
_EVERY = 11  # frames, of which one counts for the width
_ZEROS = 12  # zero crossings of the low pass within its taps


class Mix:
    """Mono samples in and out, at the rate divided by a whole number: 8 to 16 kHz if it can be.

    Every row of samples and the end of the row before it give one row of the mix by a matrix product: a low pass at
    ``cut`` of the new Nyquist frequency, kept at every `factor`-th sample.
    """

    def __init__(self, rate: int, target: float = TARGET_RATE, cut: float = 0.9) -> None:
        self.factor = max(1, round(rate / target))
        self.rate = rate / self.factor
        self._row = self.factor * _OUTPUTS
        self._taps = 1 if self.factor == 1 else _ZEROS * self.factor + 1
        self._own, self._before = _products(self.factor, self._taps, cut)
        self._end = np.zeros(self._taps - 1, np.float32)
        self._rest = np.empty(0, np.float32)

    def push(self, mono: Samples) -> Samples:
        """The samples of the mix that mono samples complete."""
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


def mix_channels(chunk: Samples) -> Samples:
    """The mean of the channels of a chunk (frames, channels)."""
    if chunk.shape[1] == 1:
        return chunk[:, 0]
    mono: Samples = chunk[:, 0] + chunk[:, 1]
    for channel in range(2, chunk.shape[1]):
        mono += chunk[:, channel]
    mono *= np.float32(1 / chunk.shape[1])
    return np.asarray(mono)


@lru_cache(maxsize=16)
def _products(factor: int, taps: int, cut: float) -> tuple[Samples, Samples]:
    """Matrices (row, outputs) and (taps - 1, outputs): what a row and the end of the row before it add to the mix."""
    response = firwin(taps, cut / factor) if factor > 1 else np.ones(1)
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


# Short spectra of a stream: what starts when, how bright it is, how much of it is bass.

WINDOW = 512  # samples of the mix: about 46 ms
GROUPS = 3  # of bands whose onsets are told apart: bass, middle, treble
SPAN = 32  # spectra summed up for brightness and bass: about 0.75 s

_FRAMES_A_SECOND = 43.0
_BANDS = 32
_LOWEST, _HIGHEST = 30.0, 5300.0  # Hz
_BASS = 150.0  # Hz
_EDGES = (200.0, 1200.0)  # Hz, between the groups
_LEAST = np.float32(1e-30)
_COMPRESSION = np.float32(1 / 6)  # of the power: near the logarithm, and a change of volume only scales it


class Frames:
    """Cuts a stream into windows that overlap."""

    def __init__(self, window: int, hop: int) -> None:
        self.window, self.hop = window, hop
        self._kept = np.empty(0, np.float32)
        self._shape = hann(window, sym=False).astype(np.float32)

    def push(self, samples: Samples) -> Samples:
        """The windows that these samples complete, weighted: shape (windows, window)."""
        there = np.concatenate([self._kept, samples])
        count = max(0, (len(there) - self.window) // self.hop + 1)
        self._kept = there[count * self.hop :]
        if not count:
            return np.empty((0, self.window), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(there, self.window)[:: self.hop][:count]
        return np.asarray(windows * self._shape)


class ShortSpectra:
    """Onsets and colour of a mono stream."""

    def __init__(self, rate: float) -> None:
        hop = round(rate / _FRAMES_A_SECOND)
        self.rate = rate / hop  # onset strengths per second
        self._frames = Frames(WINDOW, hop)
        self._bands, self._groups = _bands(rate)
        self._last: Samples = np.full((1, _BANDS), _LEAST**_COMPRESSION)
        self._colours = _colours(rate)
        self.strengths = 0.0  # the sum over all moments of what sounds at each, in the unit of the onsets
        self._onsets: list[Samples] = []
        self._spans: list[Floats] = []
        self._open = np.empty((0, self._colours.shape[1]), np.float32)

    def push(self, mono: Samples) -> None:
        """Take samples of the mix into account."""
        windows = self._frames.push(mono)
        if not len(windows):
            return
        spectra = scipy.fft.rfft(windows, workers=1)
        powers = spectra.real**2 + spectra.imag**2
        strengths = np.exp(np.log(powers @ self._bands + _LEAST) * _COMPRESSION)  # quicker than a power
        rises = np.diff(np.concatenate([self._last, strengths]), axis=0)
        self._last = strengths[-1:]
        self.strengths += float((strengths.sum(axis=0) @ self._groups).sum())
        self._onsets.append(np.maximum(rises, 0) @ self._groups)
        colours = np.concatenate([self._open, powers @ self._colours])
        whole = len(colours) // SPAN
        self._spans.append(colours[: whole * SPAN].reshape(whole, SPAN, 3).sum(axis=1).astype(np.float64))
        self._open = colours[whole * SPAN :]

    @property
    def onsets(self) -> Floats:
        """How much starts at each moment, in bass, middle and treble: shape (moments, 3)."""
        return np.concatenate([*self._onsets, np.empty((0, GROUPS))]).astype(np.float64)

    @property
    def spans(self) -> Floats:
        """Per span of about 0.75 s: power, power times frequency in Hz, power of the bass; shape (spans, 3)."""
        rest = [self._open.sum(axis=0, keepdims=True).astype(np.float64)] if len(self._open) else []
        return np.concatenate([*self._spans, *rest, np.empty((0, 3))])

    @property
    def span_seconds(self) -> float:
        """How long a span is."""
        return SPAN / self.rate


def brightness(spans: Floats) -> float:
    """The middle of the power spectrum in Hz, 30 to 5300 Hz counted; 0 for silence."""
    power, weighted, _ = spans.sum(axis=0)
    return float(weighted / power) if power > 1e-12 else 0.0


def bass_share(spans: Floats) -> float:
    """The part of the power below 150 Hz, 30 to 5300 Hz counted; 0 for silence."""
    power, _, low = spans.sum(axis=0)
    return float(low / power) if power > 1e-12 else 0.0


def _bands(rate: float) -> tuple[Samples, Samples]:
    """Triangles even in mel, (bins, bands); and which group each belongs to, (bands, groups)."""
    bins = np.fft.rfftfreq(WINDOW, 1 / rate)
    mel = np.linspace(_mel(_LOWEST), _mel(min(_HIGHEST, 0.48 * rate)), _BANDS + 2)
    edges = 700 * (np.exp(mel / 1127) - 1)
    low, mid, high = (edges[k : k + _BANDS] for k in range(3))
    rising, falling = (bins[:, None] - low) / (mid - low), (high - bins[:, None]) / (high - mid)
    shape = np.maximum(0, np.minimum(rising, falling))
    nearest = np.abs(bins[:, None] - mid).argmin(axis=0)
    shape[nearest, np.arange(_BANDS)] = np.maximum(shape[nearest, np.arange(_BANDS)], 0.5)  # none stays empty
    member = np.digitize(mid, _EDGES)
    groups = np.eye(GROUPS)[member] / np.maximum(1, np.bincount(member, minlength=GROUPS))
    return shape.astype(np.float32), groups.astype(np.float32)


def _colours(rate: float) -> Samples:
    bins = np.fft.rfftfreq(WINDOW, 1 / rate)
    counted = (bins >= _LOWEST) & (bins <= _HIGHEST)
    return np.stack([counted, counted * bins, counted * (bins < _BASS)], axis=1).astype(np.float32)


def _mel(frequency: float) -> float:
    return float(1127 * np.log(1 + frequency / 700))
