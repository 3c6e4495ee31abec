"""Short spectra of a stream: what starts when, how bright it is, how much of it is bass."""

from __future__ import annotations

import numpy as np
import scipy.fft
from scipy.signal.windows import hann

from fabula.core.essence import Floats
from fabula.media.music.loudness.weighting import Samples

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
    """Onsets and colour of a mono stream.

    Attributes
    ----------
    rate
        Onset strengths per second.
    strengths
        The sum over all moments of what sounds at each, in the unit of the onsets.
    """

    def __init__(self, rate: float) -> None:
        hop = round(rate / _FRAMES_A_SECOND)
        self.rate = rate / hop
        self._frames = Frames(WINDOW, hop)
        self._bands, self._groups = _bands(rate)
        self._last: Samples = np.full((1, _BANDS), _LEAST**_COMPRESSION)
        self._colours = _colours(rate)
        self.strengths = 0.0
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
    """The middle of the power spectrum in Hz, 30 to 5300 Hz counted; 0 for silence.

    Examples
    --------
    >>> brightness(np.array([[2.0, 400.0, 0.0]]))
    200.0
    """
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
