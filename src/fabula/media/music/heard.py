"""Six things heard in the sound of a track: energy, acousticness, valence, danceability, speechiness, instrumentalness.

Twenty plain descriptors of some seconds of it, and a ridge on them for each, fitted to what a streaming service says of
648 songs (`benchmarks/learn_heard.py`): estimates, 0 to 1, each with the error it had on artists it had not seen.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from math import gcd
from typing import Any

import numpy as np
import scipy.fft
from scipy.signal import detrend, find_peaks, resample_poly, welch

from fabula.core.arrays import Floats
from fabula.media.music.loudness import FLOOR, Samples, level, power
from fabula.media.music.spectra import Mix
from fabula.media.music.tracks import bound_share

RATE = 22050  # Hz, at which the descriptors are defined
PIECES = 4  # chunks of a stream that are listened to, spread over it
HEARD = tuple(
    f"heard_{name}" for name in ("energy", "acousticness", "valence", "danceability", "speechiness", "instrumentalness")
)

_WINDOW, _HOP = 2048, 512
_FRAMES = RATE / _HOP  # a second
_SHORT = 60.0  # seconds up to which loudness is taken by blocks of 400 ms, beyond of 200 ms
_FEWEST = 8  # frames
_TOGETHER = 128  # frames whose spectra are taken at a time
_CELLS, _GROUP = 1 << 14, 8  # of a running median: numbers at a time, rows sorted together
_MOST_KEPT = 16  # chunks held while it is not known how many will come


class Excerpts:
    """Some chunks of a stream of unknown length, spread evenly over it: mono, at the rate of the descriptors."""

    def __init__(self, rate: int) -> None:
        self._rate, self._stride, self._count = rate, 1, 0
        self._kept: list[tuple[int, Samples]] = []

    def push(self, mono: Samples) -> None:
        """Take a chunk of mono samples into account."""
        if self._count % self._stride == 0:
            self._kept.append((self._count, mono.copy()))
            if len(self._kept) > _MOST_KEPT:
                self._stride *= 2
                self._kept = [held for held in self._kept if held[0] % self._stride == 0]
        self._count += 1

    def samples(self) -> Samples:
        """The excerpts one after the other."""
        chosen = list(range(len(self._kept)))
        if self._count > PIECES:
            chosen = [i * len(self._kept) // (PIECES + 1) for i in range(1, PIECES + 1)]
        mono = [self._kept[i][1] for i in chosen]
        return resample(np.concatenate(mono), self._rate) if mono else np.empty(0, np.float32)


def resample(mono: Samples, rate: int) -> Samples:
    """Mono samples at :data:`RATE`."""
    if rate % RATE == 0:
        return Mix(rate, RATE, cut=0.97).push(mono)
    shared = gcd(rate, RATE)
    return np.asarray(resample_poly(mono, RATE // shared, rate // shared), dtype=np.float32)


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


def errors() -> dict[str, float]:
    """The error of each estimate on artists that it was not fitted to: of the share, or of its logarithm.

    >>> sorted(errors())[:2]
    ['heard_acousticness', 'heard_danceability']
    """
    return dict(zip(HEARD, _ridges().errors, strict=True))


class _Ridges:
    """The fitted ridge."""

    def __init__(self, said: dict[str, Any]) -> None:
        heads = [said["heads"][name.removeprefix("heard_")] for name in HEARD]
        self.descriptors: list[str] = said["descriptors"]
        self.weights = np.array([head["weights"] for head in heads]).T  # (20, 6)
        self.intercepts = np.array([head["intercept"] for head in heads])
        self.means = np.array([head["mean"] for head in heads])
        self.errors: list[float] = [head["error"] for head in heads]
        self._logged = np.array([name.removeprefix("heard_") in said["logged"] for name in HEARD])
        self._offset = said["logged_offset"]

    def shares(self, estimates: Floats) -> Floats:
        """Estimates in the units of the fit as shares."""
        logged = np.clip(np.exp(np.minimum(estimates, 1.0)) - self._offset, 0.0, 1.0)
        return np.where(self._logged, logged, bound_share(estimates))


@lru_cache(maxsize=1)
def _ridges() -> _Ridges:
    return _Ridges(json.loads(files("fabula.media.music").joinpath("heard.json").read_text(encoding="utf-8")))


def describe(mono: Samples, powers: Floats) -> dict[str, float] | None:
    """Twenty descriptors by name; None for less than eight frames, or silence. See :func:`hear`."""
    count = 1 + (len(mono) - _WINDOW) // _HOP
    if count < _FEWEST or not np.abs(mono).max() > 1e-4:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(mono, _WINDOW)[::_HOP]
    spectrum = np.empty((count, _WINDOW // 2 + 1), np.float32)
    for first in range(0, count, _TOGETHER):
        spectra = scipy.fft.rfft(windows[first : first + _TOGETHER] * _bins().window, axis=1, workers=1)
        spectrum[first : first + _TOGETHER] = spectra.real**2 + spectra.imag**2
    strength = np.sqrt(spectrum.sum(axis=1) / _WINDOW**2 * 2.67) + 1e-9
    sounding = strength > strength.max() * 1e-3
    sounding = sounding if sounding.sum() >= _FEWEST else np.ones_like(sounding)
    heard = spectrum if sounding.all() else spectrum[sounding]
    mel = np.log(spectrum @ _bins().mel + np.float32(1e-8))
    return {
        **_loudness(powers),
        **_colour(heard),
        **_timbre(mel[sounding]),
        **_pulse(np.maximum(0, np.diff(mel, axis=0))),
        **_syllables(spectrum),
        **_pitches(heard),
        "harm_perc": _harmonic(spectrum),
    }


class _Bins:
    """What the bins of a spectrum stand for."""

    def __init__(self) -> None:
        self.window = np.hanning(_WINDOW).astype(np.float32)
        frequency = np.arange(_WINDOW // 2 + 1) * RATE / _WINDOW
        self.mel = _mel_bands(frequency).T.astype(np.float32)  # (bins, 40)
        self.bands = [slice(*np.searchsorted(frequency, edges)) for edges in ((250, 500), (500, 1000))]
        self.voice = slice(*np.searchsorted(frequency, (300, 3400), side="right"))
        self.pitched = slice(*np.searchsorted(frequency, (55, 5000), side="right"))
        pitch = np.round(12 * np.log2(frequency[self.pitched] / 440.0)).astype(int) % 12
        self.chroma = (pitch[:, np.newaxis] == np.arange(12)).astype(np.float32)


@lru_cache(maxsize=1)
def _bins() -> _Bins:
    return _Bins()


def _mel_bands(frequency: Floats, count: int = 40, low: float = 30.0, high: float = 11025.0) -> Floats:
    """Triangles along the mel scale, each with a sum of 1: shape (count, bins)."""
    first, last = 2595 * np.log10(1 + np.array([low, high]) / 700)
    mel = np.linspace(first, last, count + 2)
    left, middle, right = (700 * (10 ** (mel[i : count + i, np.newaxis] / 2595) - 1) for i in range(3))
    bands = np.maximum(0, np.minimum((frequency - left) / (middle - left), (right - frequency) / (right - middle)))
    total = bands.sum(axis=1, keepdims=True)
    return np.asarray(bands / np.where(total > 0, total, 1))


def _loudness(powers: Floats) -> dict[str, float]:
    """Gated loudness and the range between its 10th and 95th percentile."""
    short = len(powers) <= 10 * _SHORT
    if short and len(powers) >= 4:
        sums = np.concatenate([[0.0], np.cumsum(powers)])
        blocks = (sums[4:] - sums[:-4]) / 4
    else:
        blocks = powers[: len(powers) // 2 * 2].reshape(-1, 2).mean(axis=1)
    blocks = blocks[blocks > power(FLOOR)]
    if not len(blocks):
        return {"lufs": FLOOR, "lra": 0.0}
    gated = blocks[blocks > power(max(FLOOR, level(blocks.mean()) - 10))]
    low, high = np.percentile(10 * np.log10(blocks), [10, 95])
    return {"lufs": level(gated.mean()), "lra": float(high - low)}


def _colour(heard: Samples) -> dict[str, float]:
    """Flatness, bands, contrast within one of them, and how far peaks stand out."""
    bins = _bins()
    middle = heard[:, 5:750]
    flat = np.exp(np.log(middle + np.float32(1e-10)).mean(axis=1)) / (middle.mean(axis=1) + 1e-10)
    means = heard.mean(axis=0, dtype=np.float64)
    band2, band3 = (10 * np.log10(means[band].sum() / means.sum() + 1e-7) for band in bins.bands)
    inner = np.sort(10 * np.log10(heard[::4, bins.bands[0]] + np.float32(1e-10)), axis=1)
    low, high = (_quantile(inner, share) for share in (0.20, 0.95))
    logs = np.log(heard[::6, 5:370] + np.float32(1e-9))
    above = np.maximum(0, logs - running_median(logs.T, 21).T - 1)
    return {"flatness": float(np.log(flat + 1e-6).mean()), "band2": float(band2), "band3": float(band3),
            "contrast2": float((high - low).mean()), "peakiness": float(above.mean())}  # fmt: skip


def _quantile(rising: Samples, share: float) -> Samples:
    """A quantile of rows that rise, between neighbours."""
    place = share * (rising.shape[1] - 1)
    first = int(place)
    part = np.float32(place - first)
    return np.asarray(rising[:, first] * (1 - part) + rising[:, first + 1] * part)


def _timbre(mel: Samples) -> dict[str, float]:
    """The mean of the first cepstral coefficient, and how far the next twelve move within a second."""
    cepstra = scipy.fft.dct(mel, axis=1, norm="ortho")[:, :13]
    second = int(_FRAMES)
    moves = np.abs(cepstra[second:, 1:] - cepstra[:-second, 1:]).mean() if len(cepstra) > 60 else 0.0
    return {"mfcc0": float(cepstra[:, 0].mean()), "timbre_slow": float(moves)}


def _pulse(rises: Samples) -> dict[str, float]:
    """How much begins, how strongly, and how regularly: from rises (moments, bands) of the mel spectrum."""
    flux = rises.mean(axis=1)
    base = running_median(flux[:, np.newaxis], int(_FRAMES * 0.8) | 1)[:, 0]
    onsets = np.maximum(0, flux - base)
    peaks, _ = find_peaks(flux, height=base + 0.12, distance=max(1, int(0.05 * _FRAMES)))
    repeats = _repeats(onsets - onsets.mean())
    lag = np.arange(len(repeats)) / _FRAMES
    beat, quick = (lag >= 0.25) & (lag <= 1.5), (lag > 0.2) & (lag < 0.3)
    return {
        "flux": float(flux.mean()), "flux_std": float(flux.std()), "flux_low": float(rises[:, :6].mean()),
        "onset_strength": float(onsets[peaks].mean()) if len(peaks) else 0.0,
        "pulse_clarity": float(repeats[beat].max(initial=-np.inf)) if beat.any() else 0.0,
        "pulse_slope": float(repeats[quick].mean()) if quick.any() else 0.0,
    }  # fmt: skip


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


def _syllables(spectrum: Samples) -> dict[str, float]:
    """How strongly the level of voices' frequencies moves 2.5 to 6 and 6 to 10 times a second."""
    voice = 10 * np.log10(spectrum[:, _bins().voice].sum(axis=1) + 1e-6)
    level = detrend(voice) if len(voice) > 10 else voice
    frequency, density = welch(level, fs=_FRAMES, nperseg=min(256, len(level)))
    return {
        name: float(np.log(density[(frequency >= low) & (frequency < high)].sum() + 1e-3))
        for name, low, high in (("mod4", 2.5, 6), ("mod8", 6, 10))
    }


def _pitches(heard: Samples) -> dict[str, float]:
    """How much one pitch class stands out, and how far pitch classes move within half a second."""
    chroma = np.sqrt(heard[:, _bins().pitched]) @ _bins().chroma
    chroma /= chroma.sum(axis=1, keepdims=True) + 1e-9
    moves = np.abs(chroma[20:] - chroma[:-20]).sum(axis=1).mean() if len(chroma) > 40 else 0.0
    return {"chroma_peak": float(chroma.max(axis=1).mean()), "chroma_change": float(moves)}


def _harmonic(spectrum: Samples) -> float:
    """What lasts against what strikes, in dB: medians along time and along frequency, in the first 24 seconds."""
    part = spectrum[: int(24 * _FRAMES), :744]
    sizes = np.sqrt(part[:, ::4] + part[:, 1::4] + part[:, 2::4] + part[:, 3::4])
    lasts, strikes = running_median(sizes, 17) ** 2, running_median(sizes.T, 9).T ** 2
    share = lasts / (lasts + strikes + 1e-9)
    energy = sizes**2
    return float(10 * np.log10(((energy * share).sum() + 1e-9) / ((energy * (1 - share)).sum() + 1e-9)))


def running_median(values: Samples, size: int) -> Samples:
    """Medians of ``size`` (odd) values along the first axis of (n, m); beyond the ends they are mirrored.

    By a sorting network over whole arrays: groups of eight that windows share are sorted once, and of the rest only
    what the middle depends on is done.

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
        found[:, part] = _medians(np.ascontiguousarray(values[:, part])[where], n, size)
    return found


def _medians(padded: Samples, n: int, size: int) -> Samples:
    """Medians of each ``size`` rows of (n + size - 1, m) that follow each other."""
    grouped = size // _GROUP * _GROUP
    levels = [padded]
    for p in (1, 2, 4) if grouped else ():
        last = len(levels[0]) - p
        levels = [held[:last] for held in levels] + [held[p:] for held in levels]
        _exchange(levels, [pair[1:] for pair in _network(2 * p) if pair[0] == p])
    rows = [levels[w % _GROUP][w // _GROUP * _GROUP :][:n] for w in range(grouped)]
    rows += [padded[w : w + n] for w in range(grouped, size)]
    _exchange(rows, [(low, high) for p, low, high in _network(size, size // 2) if p >= _GROUP or low >= grouped])
    return rows[size // 2]


def _exchange(rows: list[Samples], pairs: list[tuple[int, int]]) -> None:
    """Put the lesser of each two rows first."""
    for low, high in pairs:
        rows[low], rows[high] = np.minimum(rows[low], rows[high]), np.maximum(rows[low], rows[high])


@lru_cache(maxsize=16)
def _network(size: int, wanted: int | None = None) -> tuple[tuple[int, int, int], ...]:
    """Batcher's merge sort: size of the groups merged, what is exchanged; as far as one place ``wanted`` needs it."""
    pairs: list[tuple[int, int, int]] = []
    p = 1
    while p < size:
        k = p
        while k >= 1:
            starts = ((j, i) for j in range(k % p, size - k, 2 * k) for i in range(k))
            pairs += [(p, i + j, i + j + k) for j, i in starts if (i + j) // (2 * p) == (i + j + k) // (2 * p)]
            k //= 2
        p *= 2
    needed, kept = set(range(size)) if wanted is None else {wanted}, []
    for p, low, high in reversed([pair for pair in pairs if pair[2] < size]):
        if low in needed or high in needed:
            needed |= {low, high}
            kept.append((p, low, high))
    return tuple(reversed(kept))
