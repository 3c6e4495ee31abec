"""What is heard in a track: its mono mix and short spectra, and six things that a streaming service would say of it.

Energy, acousticness, valence, danceability, speechiness and instrumentalness: twenty plain descriptors of some seconds,
and a ridge on them for each, fitted to what a streaming service says of
648 songs (`benchmarks/learn_heard.py`): estimates, 0 to 1, each with the error it had on artists it had not seen.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import Any, NamedTuple

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy.linalg import lstsq

from fabula.core.arrays import Floats, Ints
from fabula.core.files import read_data
from fabula.media.music.loudness import Samples, gate, low_pass, mean_powers
from fabula.media.music.tracks import bound_share

# The mono mix of a stream at about 11 kHz, on which beats and keys are heard; and how wide the stereo is.

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
    """The mean of the channels of a chunk (frames, channels), in memory of its own."""
    mono = np.add(chunk[:, 0], chunk[:, -1]) if chunk.shape[1] == 2 else chunk.sum(axis=1)
    mono *= np.float32(1 / chunk.shape[1])
    return np.asarray(mono)


@lru_cache(maxsize=16)
def _products(factor: int, taps: int, cut: float) -> tuple[Samples, Samples]:
    """Matrices (row, outputs) and (taps - 1, outputs): what a row and the end of the row before it add to the mix."""
    response = low_pass(cut / factor, np.hamming(taps))
    row = factor * _OUTPUTS
    whole = np.zeros((row + taps - 1, _OUTPUTS))
    for output in range(_OUTPUTS):
        start = output * factor  # the taps end at sample `start` of the row
        whole[start : start + taps, output] = response[::-1]
    return whole[taps - 1 :].astype(np.float32), whole[: taps - 1].astype(np.float32)


class Width:
    """How much of the sound is in the difference of left and right."""

    def __init__(self) -> None:
        self._products = np.zeros((3, 3))  # of left, right and 1 with each other, summed over frames

    def push(self, chunk: Samples) -> None:
        """Take a chunk into account; only the first two channels count, and every eleventh frame is enough."""
        if chunk.shape[1] > 1:
            rows = np.stack([chunk[::_EVERY, 0], chunk[::_EVERY, 1], np.ones(-(-len(chunk) // _EVERY), np.float32)])
            self._products += rows @ rows.T

    def share(self) -> float:
        """Energy of (L - R) / 2 as a part of that and of (L + R) / 2: 0 for mono, 0.5 for unrelated channels.

        >>> width = Width()
        >>> width.push(np.tile(np.array([[1.0, -1.0], [-1.0, 1.0]], np.float32), (50, 1)))
        >>> width.share()
        1.0
        """
        sums, frames = self._products[2, :2], max(1.0, self._products[2, 2])
        spread = self._products[:2, :2] - np.outer(sums, sums) / frames
        total = spread[0, 0] + spread[1, 1]
        return float(np.clip((total - 2 * spread[0, 1]) / (2 * total), 0.0, 1.0)) if total > 1e-9 * frames else 0.0


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


def hann(size: int) -> Floats:
    """A window of Hann that repeats after so many samples."""
    return np.asarray(0.5 + 0.5 * np.cos(np.linspace(-np.pi, np.pi, size + 1)[:-1]))


class Frames:
    """Cuts a stream into windows that overlap."""

    def __init__(self, window: int, hop: int) -> None:
        self._hop = hop
        self._kept = np.empty(0, np.float32)
        self._shape = hann(window).astype(np.float32)

    def push(self, samples: Samples) -> Samples:
        """The windows that these samples complete, weighted: shape (windows, window)."""
        there = np.concatenate([self._kept, samples])
        if len(there) < len(self._shape):
            self._kept = there
            return np.empty((0, len(self._shape)), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(there, len(self._shape))[:: self._hop]
        self._kept = there[len(windows) * self._hop :]
        return np.asarray(windows * self._shape)


def square_sizes(spectra: NDArray[np.complex64]) -> Samples:
    """Squared absolute values: real and imaginary parts are squared side by side, which is quicker than each alone."""
    parts = np.square(np.ascontiguousarray(spectra).view(np.float32))
    return np.asarray(parts[..., ::2] + parts[..., 1::2])


class ShortSpectra:
    """Onsets and colour of a mono stream."""

    def __init__(self, rate: float) -> None:
        hop = round(rate / _FRAMES_A_SECOND)
        self.rate = rate / hop  # onset strengths per second
        self.span_seconds = SPAN / self.rate
        self._frames = Frames(WINDOW, hop)
        self._weights, self._groups = _weights(rate)
        self._last: Samples = np.full((1, _BANDS), _LEAST**_COMPRESSION)
        self.strengths = 0.0  # the sum over all moments of what sounds at each, in the unit of the onsets
        self._onsets: list[Samples] = []
        self._spans: list[Floats] = []
        self._open = np.empty((0, self._weights.shape[1]), np.float32)

    def push(self, mono: Samples) -> None:
        """Take samples of the mix into account."""
        windows = self._frames.push(mono)
        if not len(windows):
            return
        powers = square_sizes(scipy.fft.rfft(windows, workers=1))
        colours = powers @ self._weights
        strengths = np.exp(np.log(colours[:, -_BANDS:] + _LEAST) * _COMPRESSION)  # quicker than a power
        colours[:, -_BANDS:] = strengths
        rises = np.diff(np.concatenate([self._last, strengths]), axis=0)
        self._last = strengths[-1:]
        self.strengths += float((strengths.sum(axis=0) @ self._groups).sum())
        self._onsets.append(np.maximum(rises, 0) @ self._groups)
        colours = np.concatenate([self._open, colours])
        whole = len(colours) // SPAN
        summed = colours[: whole * SPAN].reshape(whole, SPAN, colours.shape[1]).sum(axis=1)
        self._spans.append(summed.astype(np.float64))
        self._open = colours[whole * SPAN :]

    @property
    def onsets(self) -> Floats:
        """How much starts at each moment, in bass, middle and treble: shape (moments, 3)."""
        return np.concatenate([*self._onsets, np.empty((0, GROUPS))]).astype(np.float64)

    @property
    def spans(self) -> Floats:
        """Per span of about 0.75 s: power, that times Hz, power of the bass, and 32 bands: shape (spans, 35)."""
        rest = [self._open.sum(axis=0, keepdims=True).astype(np.float64)] if len(self._open) else []
        return np.concatenate([*self._spans, *rest, np.empty((0, self._open.shape[1]))])


def brightness_and_bass(spans: Floats) -> tuple[float, float]:
    """The middle of the power spectrum in Hz, and the part below 150 Hz; 30 to 5300 Hz are counted, 0 for silence."""
    power, weighted, low = spans[:, :3].sum(axis=0).tolist()
    return (weighted / power, low / power) if power > 1e-12 else (0.0, 0.0)


def _weights(rate: float) -> tuple[Samples, Samples]:
    """What each bin counts for power, Hz, bass and bands even in mel, (bins, 3 + bands); groups (bands, groups)."""
    bins = np.fft.rfftfreq(WINDOW, 1 / rate)
    counted = (bins >= _LOWEST) & (bins <= _HIGHEST)
    shape, mid = _triangles(bins, _LOWEST, min(_HIGHEST, 0.48 * rate), _BANDS)
    nearest = np.abs(bins[:, None] - mid).argmin(axis=0)
    shape[nearest, np.arange(_BANDS)] = np.maximum(shape[nearest, np.arange(_BANDS)], 0.5)  # none stays empty
    member = np.digitize(mid, _EDGES)
    groups = np.eye(GROUPS)[member] / np.maximum(1, np.bincount(member, minlength=GROUPS))
    columns = np.column_stack([counted, counted * bins, counted * (bins < _BASS), shape])
    return columns.astype(np.float32), groups.astype(np.float32)


def _triangles(bins: NDArray[np.floating[Any]], lowest: float, highest: float, count: int) -> tuple[Floats, Floats]:
    """Triangles even in mel over frequencies (n,), shape (n, count), and their middles."""
    edges = 700 * np.expm1(np.linspace(np.log1p(lowest / 700), np.log1p(highest / 700), count + 2))
    low, mid, high = (edges[k : k + count] for k in range(3))
    rising, falling = (bins[:, None] - low) / (mid - low), (high - bins[:, None]) / (high - mid)
    return np.maximum(0, np.minimum(rising, falling)), mid


RATE = 22050  # Hz, at which the descriptors are defined
PIECES = 4  # chunks of a stream that are listened to, spread over it
_NAMES = ("energy", "acousticness", "valence", "danceability", "speechiness", "instrumentalness")
HEARD = tuple(f"heard_{name}" for name in _NAMES)

_WINDOW, _HOP = 2048, 512
_FRAMES = RATE / _HOP  # a second
_SHORT = 60.0  # seconds up to which loudness is taken by blocks of 400 ms, beyond of 200 ms
_FEWEST = 8  # frames
_TOGETHER = 128  # frames whose spectra are taken at a time
_CELLS = 1 << 14  # of a running median: numbers at a time
_MOST_KEPT = 16  # chunks held while it is not known how many will come


class Excerpts:
    """Some chunks of a stream of unknown length, spread evenly over it: mono, at the rate of the descriptors."""

    def __init__(self, rate: int) -> None:
        self._rate, self._stride, self._count = rate, 1, 0
        self._kept: list[Samples] = []

    def push(self, mono: Samples) -> None:
        """Take a chunk of mono samples into account, which are kept as they are."""
        if self._count % self._stride == 0:
            self._kept.append(mono)
            if len(self._kept) > _MOST_KEPT:
                self._stride, self._kept = 2 * self._stride, self._kept[::2]
        self._count += 1

    def samples(self) -> Samples:
        """The excerpts one after the other."""
        mono, shared = self._kept, gcd(self._rate, RATE)
        if self._count > PIECES:
            mono = [mono[i * len(mono) // (PIECES + 1)] for i in range(1, PIECES + 1)]
        mixed = map(Mix(self._rate, RATE, cut=0.97).push, mono) if shared == RATE else mono
        whole = np.concatenate([*mixed, np.empty(0, np.float32)])
        return whole if shared == RATE else resample(whole, RATE // shared, self._rate // shared)


def resample(samples: Samples, up: int, down: int) -> Samples:
    """Samples at ``up / down`` times their rate, through a low pass under a Kaiser window of ten zero crossings a side.

    >>> resample(np.ones(40, np.float32), 3, 2)[20:23].round(2).tolist()
    [1.0, 1.0, 1.0]
    """
    from scipy.sparse import csr_array

    half = 10 * max(up, down)
    early = down - half % down  # taps of 0 before the others, so that the first value is of the first sample
    taps = low_pass(1 / max(up, down), np.kaiser(2 * half + 1, 5.0)).astype(np.float32) * np.float32(up)
    many = -(-(early + len(taps)) // up)  # of samples that each value is made of
    taps = np.pad(taps, (early, many * up - early - len(taps))).reshape(many, up)[::-1]
    places = (np.arange(up) + (half + early) // down) * down
    where = (places // up)[:, np.newaxis] + np.arange(many)
    product = csr_array((taps[:, places % up].T.ravel(), where.ravel(), np.arange(up + 1) * many))
    around = np.pad(samples, (many - 1, product.shape[1] + down))
    count = -(-len(samples) * up // down)
    rows = np.lib.stride_tricks.sliding_window_view(around, product.shape[1])[::down][: -(-count // up)]
    return np.asarray((product @ rows.T).T.reshape(-1)[:count])


def hear(mono: Samples, powers: Floats) -> Floats:
    """What is heard, shape (6,), 0 to 1, in the order of :data:`HEARD`.

    Where there is too little sound to tell, no energy, and of the rest what songs have on average.
    ``mono``: excerpts at :data:`RATE`; ``powers``: the K-weighted power of every 100 ms of the whole.
    """
    found = describe(mono, powers)
    said = _ridges()
    if found is None:
        return np.where(np.array(HEARD) == "heard_energy", 0.0, said.shares(said.means))
    return said.shares(np.array([found[name] for name in said.descriptors]) @ said.weights + said.intercepts)


class _Ridges:
    """The fitted ridge."""

    def __init__(self) -> None:
        said = read_data("fabula.media.music", "heard.json")
        heads = [said["heads"][name] for name in _NAMES]
        self.descriptors: list[str] = said["descriptors"]
        self.weights = np.array([head["weights"] for head in heads]).T  # (20, 6)
        self.intercepts = np.array([head["intercept"] for head in heads])
        self.means = np.array([head["mean"] for head in heads])
        self._logged = np.array([name in said["logged"] for name in _NAMES])
        self._offset = said["logged_offset"]

    def shares(self, estimates: Floats) -> Floats:
        """Estimates in the units of the fit as shares."""
        logged = np.clip(np.exp(np.minimum(estimates, 1.0)) - self._offset, 0.0, 1.0)
        return np.where(self._logged, logged, bound_share(estimates))


_ridges = lru_cache(maxsize=1)(_Ridges)


def describe(mono: Samples, powers: Floats) -> dict[str, float] | None:
    """Twenty descriptors by name; None for less than eight frames, or silence. See :func:`hear`."""
    count = 1 + (len(mono) - _WINDOW) // _HOP
    if count < _FEWEST or not np.abs(mono).max() > 1e-4:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(mono, _WINDOW)[::_HOP]
    read = [_read_frames(windows[first : first + _TOGETHER]) for first in range(0, count, _TOGETHER)]
    frames = _Frames(*map(np.concatenate, zip(*read, strict=True)))
    strength = np.sqrt(frames.total / _WINDOW**2 * 2.67) + 1e-9
    sounding = strength > strength.max() * 1e-3
    sounding = sounding if sounding.sum() >= _FEWEST else np.ones_like(sounding)
    heard = frames if sounding.all() else _Frames(*(rows[sounding] for rows in frames))
    second, cepstra = int(_FRAMES), scipy.fft.dct(heard.mel, axis=1, norm="ortho")[:, :13]
    timbre = np.abs(cepstra[second:, 1:] - cepstra[:-second, 1:]).mean() if len(cepstra) > 60 else 0.0
    pitches = heard.chroma / (heard.chroma.sum(axis=1, keepdims=True) + 1e-9)
    moves = np.abs(pitches[20:] - pitches[:-20]).sum(axis=1).mean() if len(pitches) > 40 else 0.0
    # What lasts against what strikes, in dB: medians along time and along frequency.
    sizes = frames.sizes[: 24 * RATE // _HOP]
    lasts, strikes, energy = running_median(sizes, 17) ** 2, running_median(sizes.T, 9).T ** 2, sizes**2
    share = lasts / (lasts + strikes + 1e-9)
    return {
        **_loudness(powers),
        **_colour(heard),
        "mfcc0": float(cepstra[:, 0].mean()),
        "timbre_slow": float(timbre),  # how far the next twelve move within a second
        **_pulse(np.maximum(0, np.diff(frames.mel, axis=0))),
        **_syllables(frames.voice),
        "chroma_peak": float(pitches.max(axis=1).mean()),  # how much one pitch class stands out
        "chroma_change": float(moves),  # how far they move within half a second
        "harm_perc": float(10 * np.log10(((energy * share).sum() + 1e-9) / ((energy * (1 - share)).sum() + 1e-9))),
    }


class _Frames(NamedTuple):
    """What is needed of the spectrum of every frame."""

    total: Samples  # (n,): power
    mel: Samples  # (n, 40): its logarithm
    flat: Samples  # (n,): the geometric mean of bins over their mean
    bands: Samples  # (n, 2): power of 250 to 500 and of 500 to 1000 Hz
    low: Samples  # (n, 365): power of the bins up to 4 kHz
    voice: Samples  # (n,): power where voices are
    chroma: Samples  # (n, 12)
    sizes: Samples  # (n, 186): of four bins together


def _read_frames(windows: Samples) -> _Frames:
    """What is needed of some frames, while their spectra are in the processor's cache."""
    bins = _bins()
    spectrum = square_sizes(scipy.fft.rfft(windows * bins.window, axis=1, workers=1))
    middle, part = spectrum[:, 5:750], spectrum[:, :744]
    return _Frames(
        spectrum.sum(axis=1),
        np.log(spectrum @ bins.mel + np.float32(1e-8)),
        np.exp(np.log(middle + np.float32(1e-10)).mean(axis=1)) / (middle.mean(axis=1) + 1e-10),
        np.stack([spectrum[:, band].sum(axis=1) for band in bins.bands], axis=1),
        spectrum[:, 5:370].copy(),
        spectrum[:, bins.voice].sum(axis=1),
        np.sqrt(spectrum[:, bins.pitched]) @ bins.chroma,
        np.sqrt(part[:, ::4] + part[:, 1::4] + part[:, 2::4] + part[:, 3::4]),
    )


class _Bins:
    """What the bins of a spectrum stand for."""

    def __init__(self) -> None:
        self.window = np.hanning(_WINDOW).astype(np.float32)
        frequency = np.arange(_WINDOW // 2 + 1) * RATE / _WINDOW
        mel, _ = _triangles(frequency, 30.0, 11025.0, 40)
        self.mel = (mel / np.maximum(mel.sum(axis=0), 1e-12)).astype(np.float32)  # (bins, 40), each with a sum of 1
        self.bands = [slice(*np.searchsorted(frequency, edges)) for edges in ((250, 500), (500, 1000))]
        self.voice = slice(*np.searchsorted(frequency, (300, 3400), side="right"))
        self.pitched = slice(*np.searchsorted(frequency, (55, 5000), side="right"))
        pitch = np.round(12 * np.log2(frequency[self.pitched] / 440.0)).astype(int) % 12
        self.chroma = (pitch[:, np.newaxis] == np.arange(12)).astype(np.float32)


_bins = lru_cache(maxsize=1)(_Bins)


def _loudness(powers: Floats) -> dict[str, float]:
    """Gated loudness and the range between its 10th and 95th percentile."""
    if 4 <= len(powers) <= 10 * _SHORT:
        blocks = mean_powers(powers, 4)
    else:
        blocks = powers[: len(powers) // 2 * 2].reshape(-1, 2).mean(axis=1)
    blocks, lufs = gate(blocks)
    low, high = np.percentile(10 * np.log10(blocks), [10, 95]) if len(blocks) else (0.0, 0.0)
    return {"lufs": lufs, "lra": float(high - low)}


def _colour(heard: _Frames) -> dict[str, float]:
    """Flatness, bands, contrast within one of them, and how far peaks stand out."""
    total = heard.total.mean(dtype=np.float64)
    band2, band3 = 10 * np.log10(heard.bands.mean(axis=0, dtype=np.float64) / total + 1e-7)
    first = _bins().bands[0]
    inner = 10 * np.log10(heard.low[::4, first.start - 5 : first.stop - 5] + np.float32(1e-10))
    low, high = np.quantile(inner, (0.20, 0.95), axis=1)
    logs = np.log(heard.low[::6] + np.float32(1e-9))
    above = np.maximum(0, logs - running_median(logs.T, 21).T - 1)
    return {"flatness": float(np.log(heard.flat + 1e-6).mean()), "band2": float(band2), "band3": float(band3),
            "contrast2": float((high - low).mean()), "peakiness": float(above.mean())}  # fmt: skip


def _pulse(rises: Samples) -> dict[str, float]:
    """How much begins, how strongly, and how regularly: from rises (moments, bands) of the mel spectrum."""
    flux = rises.mean(axis=1)
    base = running_median(flux[:, np.newaxis], int(_FRAMES * 0.8) | 1)[:, 0]
    onsets = np.maximum(0, flux - base)
    peaks = _peaks(flux)
    peaks = peaks[flux[peaks] >= base[peaks] + 0.12]
    repeats = _repeats(onsets - onsets.mean())
    lag = np.arange(len(repeats)) / _FRAMES
    beat, quick = (lag >= 0.25) & (lag <= 1.5), (lag > 0.2) & (lag < 0.3)
    return {
        "flux": float(flux.mean()), "flux_std": float(flux.std()), "flux_low": float(rises[:, :6].mean()),
        "onset_strength": float(onsets[peaks].mean()) if len(peaks) else 0.0,
        "pulse_clarity": float(repeats[beat].max(initial=-np.inf)) if beat.any() else 0.0,
        "pulse_slope": float(repeats[quick].mean()) if quick.any() else 0.0,
    }  # fmt: skip


def _peaks(values: Floats) -> Ints:
    """Where values are higher than before and behind; of several alike in a row, the middle."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    ends, heights = np.append(starts[1:], len(values)) - 1, values[starts]
    top = 1 + np.flatnonzero((heights[1:-1] > heights[:-2]) & (heights[1:-1] > heights[2:]))
    return np.asarray((starts[top] + ends[top]) // 2)


def _repeats(onsets: Floats) -> Floats:
    """Mean autocorrelation of onsets in windows of six seconds that overlap by half; empty where there is none."""
    wide = int(6 * _FRAMES)
    found = []
    for start in range(0, max(1, len(onsets) - wide + 1), wide // 2):
        part = onsets[start : start + wide]
        if len(part) >= wide // 2:
            products = scipy.fft.irfft(np.abs(scipy.fft.rfft(part, 2 * wide)) ** 2)[: wide // 2 + 1]
            if products[0] > 1e-9:
                found.append(products / products[0])
    return np.mean(found, axis=0) if found else np.empty(0)


def _straighten(values: Samples) -> Samples:
    """Values less the line that fits them best."""
    n = len(values)
    line = np.stack([np.arange(1, n + 1), np.full(n, n)], axis=1, dtype=values.dtype) / values.dtype.type(n)
    return np.asarray(values - line @ lstsq(line, values)[0])


def _syllables(voice: Samples) -> dict[str, float]:
    """How strongly the level of voices' frequencies moves 2.5 to 6 and 6 to 10 times a second."""
    level = 10 * np.log10(voice + 1e-6)
    level = _straighten(level) if len(level) > 10 else level
    size = min(256, len(level))
    parts = np.lib.stride_tricks.sliding_window_view(level, size)[:: size - size // 2]  # Welch's periodogram
    window = hann(size)
    powers = np.abs(scipy.fft.rfft((parts - parts.mean(axis=1, keepdims=True)) * window)) ** 2
    density = 2 * powers.mean(axis=0) / (_FRAMES * (window**2).sum())
    frequency = np.arange(size // 2 + 1) * _FRAMES / size
    return {
        name: float(np.log(density[(frequency >= low) & (frequency < high)].sum() + 1e-3))
        for name, low, high in (("mod4", 2.5, 6), ("mod8", 6, 10))
    }


def running_median(values: Samples, size: int) -> Samples:
    """Medians of ``size`` (odd) values along the first axis of (n, m); beyond the ends they are mirrored.

    By a sorting network over whole arrays, of which only what the middle depends on is done.

    >>> running_median(np.array([[1.0], [9.0], [2.0], [3.0]], np.float32), 3)[:, 0]
    array([1., 2., 3., 3.], dtype=float32)
    """
    n, half = len(values), size // 2
    where = np.arange(-half, n + half) % (2 * n)
    where = np.where(where < n, where, 2 * n - 1 - where)
    found = np.empty(values.shape, values.dtype)
    wide = max(1, _CELLS // n)  # few columns at a time, so that all rows stay in the cache
    for first in range(0, values.shape[1], wide):
        part = slice(first, first + wide)
        padded = np.ascontiguousarray(values[:, part])[where]
        rows = [padded[start : start + n] for start in range(size)]
        for low, high in _network(size, half):  # the lesser of each two first
            rows[low], rows[high] = np.minimum(rows[low], rows[high]), np.maximum(rows[low], rows[high])
        found[:, part] = rows[half]
    return found


@lru_cache(maxsize=16)
def _network(size: int, wanted: int) -> tuple[tuple[int, int], ...]:
    """Batcher's merge sort: which rows are exchanged, as far as one place ``wanted`` needs it."""
    pairs: list[tuple[int, int]] = []
    p = 1
    while p < size:
        k = p
        while k >= 1:
            starts = ((j, i) for j in range(k % p, size - k, 2 * k) for i in range(k))
            pairs += [(i + j, i + j + k) for j, i in starts if (i + j) // (2 * p) == (i + j + k) // (2 * p)]
            k //= 2
        p *= 2
    needed, kept = {wanted}, []
    for low, high in reversed([pair for pair in pairs if pair[1] < size]):
        if low in needed or high in needed:
            needed |= {low, high}
            kept.append((low, high))
    return tuple(reversed(kept))
