"""The tempo of a stream from its onsets, and its key.

Every tempo is judged by how the onsets of bass, middle and treble repeat at its beat, at parts of it and at multiples
of it, and how they answer each other there, as kick, snare and hats do, by a small network that learned from pieces
whose tempo is written down.
"""

from functools import lru_cache
from importlib.resources import files

import numpy as np
import scipy.fft
from safetensors.numpy import load
from scipy.special import softmax

from fabula.core.arrays import Floats, Ints
from fabula.media.music.heard import Frames, square_sizes
from fabula.media.music.loudness import Samples

# What was learned from rendered pieces: ``benchmarks/learn_ears.py`` writes the file.


@lru_cache(maxsize=1)
def weights() -> dict[str, Floats]:
    """The arrays by name."""
    data = files(__package__).joinpath("ears.safetensors").read_bytes()
    return {name: np.asarray(array, dtype=np.float64) for name, array in load(data).items()}


TEMPI = 36.0 * 1.01 ** np.arange(196)  # beats per minute that are judged, 36 to 250

_SEGMENT = 12.0  # s over which repetition is measured
_OVERLAP = 4  # segments begin every fourth of one
_AT_ONCE = 64  # segments
_LONGEST = 6.0  # s between two onsets that are compared
_MULTIPLES = (1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 1.0, 3 / 2, 2.0, 3.0, 4.0)  # of a beat
_ANSWERS = (0.0, 1 / 4, 1 / 3, 1 / 2, 3 / 4, 1.0, 3 / 2, 2.0, 3.0, 4.0)  # of a beat, from one part to another
_RATES = (1 / 4, 1 / 3, 1 / 2, 2 / 3, 1.0, 3 / 2, 2.0, 3.0, 4.0)  # of the beats' frequency
_PAIRS = ((1, 2), (1, 3), (2, 3))  # bass and middle, bass and treble, middle and treble
_CENTRES = np.linspace(np.log(36), np.log(250), 12)
_CLOSE = 1.04  # tempi within 4 % are one
_FAINTEST = 1e-4  # onset strength; the least change of a 16-bit sample is a hundred times that
_LIVELY = 0.08  # of what sounds: onsets that even calm music has; those of a swelling tone are weaker
_FEWEST = 2.0  # s of onsets below which there is nothing to repeat
_ENOUGH = 8.0  # s below which a tempo is less sure


def find_tempo(onsets: Floats, rate: float, strength: float) -> tuple[float, float]:
    """Beats per minute, 0 where none are heard, and how likely that is right, 0 to 1.

    Of onsets (moments, 3), as `ShortSpectra` gives them, at a rate of moments per second. ``strength``: what sounds at
    a moment, on average; onsets far below it are no beats.
    """
    if len(onsets) < _FEWEST * rate or not onsets.max() > _FAINTEST:
        return 0.0, 0.0
    repeats, frequencies = repetition(onsets, rate)
    features, learned = tempo_features(repeats, frequencies, rate, onsets), weights()
    shares = softmax(np.maximum(0, features @ learned["tempo.inner"] + learned["tempo.bias"]) @ learned["tempo.outer"])
    merged = np.convolve(shares, np.ones(7), mode="same")  # candidates within 3 % speak for each other
    best = TEMPI[int(merged.argmax())]
    near = np.abs(np.log(TEMPI / best)) < np.log(_CLOSE)
    clear = min(1.0, clarity(repeats[0], rate, best) / learned["tempo.clear"].item())
    lively = min(1.0, float(np.quantile(onsets.sum(axis=1), 0.99)) / (_LIVELY * max(strength, _FAINTEST)))
    enough = min(1.0, len(onsets) / (_ENOUGH * rate))
    return _refine(repeats[0], rate, best), float(shares[near].sum()) * clear * lively * enough


def onset_density(onsets: Floats, rate: float) -> float:
    """Onsets per second: local maxima of the onset strength that stand out of the second around them."""
    total = _smooth(onsets.sum(axis=1))
    if len(total) < 3 or not total.max() > _FAINTEST:
        return 0.0
    wide = min(len(total), int(rate) | 1)
    around = np.convolve(total, np.full(wide, 1 / wide), mode="same")
    top = (total[1:-1] > total[:-2]) & (total[1:-1] >= total[2:]) & (total[1:-1] > 1.3 * around[1:-1])
    return float((top & (total[1:-1] > 0.1 * total.max())).sum() * rate / len(total))


def repetition(onsets: Floats, rate: float) -> tuple[Floats, Floats]:
    """How alike the onsets are after every lag, and how strong every frequency is in them.

    Shape (7, lags): autocorrelation of all onsets, of the bass, the middle and the treble, 1 at lag 0, and how bass and
    middle, bass and treble, middle and treble answer each other. And the strength of frequencies from 0 to half the
    rate, shape (4, frequencies), 1 on average. Measured in segments of 12 s that overlap by three quarters. Each counts
    by the root of its energy, so that no loud part speaks for the whole, and where the first begins matters little.
    """
    from scipy.ndimage import uniform_filter1d  # here, for what is measured already needs none of it

    smooth = np.stack([_smooth(row) for row in (onsets.sum(axis=1), *onsets.T)])
    wide = min(smooth.shape[1], int(rate) | 1)
    lively = np.asarray(smooth - uniform_filter1d(smooth, wide, axis=1, mode="nearest"), dtype=np.float32)
    size = min(lively.shape[1], round(_SEGMENT * rate))
    segments = np.lib.stride_tricks.sliding_window_view(lively, size, axis=1)[:, :: max(1, size // _OVERLAP)]
    lags, longest = min(round(_LONGEST * rate) + 2, size), round(_LONGEST * rate) + 2
    length = scipy.fft.next_fast_len(4 * round(_SEGMENT * rate), real=True)
    likeness, strength = np.zeros((4 + len(_PAIRS), longest)), np.zeros((4, length // 2 + 1))
    for first in range(0, segments.shape[1], _AT_ONCE):
        more = _repeats(segments[:, first : first + _AT_ONCE], length, lags)
        likeness[:, :lags] += more[0]
        strength += more[1]
    likeness[:, :lags] /= np.maximum(0.25, 1 - np.arange(lags) / size)
    own = np.maximum(likeness[:4, :1], 1e-12)  # and the geometric mean of what the two of a pair have
    likeness /= np.concatenate([own, np.sqrt(np.stack([own[a] * own[b] for a, b in _PAIRS]))])
    return likeness, strength / np.maximum(strength.mean(axis=1, keepdims=True), 1e-12)


def _repeats(segments: Samples, length: int, lags: int) -> tuple[Floats, Floats]:
    """Autocorrelations and answers (7, lags) and strengths (4, frequencies) of segments (4, n, size), summed up."""
    enough = scipy.fft.next_fast_len(segments.shape[2] + lags, real=True)
    energy = np.sqrt(np.maximum(np.vecdot(segments, segments), 1e-12))[..., np.newaxis]
    spectra = scipy.fft.rfft(segments / np.sqrt(energy), enough, workers=1)
    pairs = (*((k, k) for k in range(4)), *_PAIRS)
    products = np.stack([np.einsum("sf,sf->f", spectra[a], spectra[b].conj()).real for a, b in pairs])
    shaped = scipy.fft.rfft(segments * np.hanning(segments.shape[2]).astype(np.float32), length, workers=1)
    strength = np.sqrt(np.sqrt(square_sizes(shaped)))
    mean = np.sqrt(np.maximum(strength.mean(axis=2, keepdims=True), 1e-12))
    likeness = scipy.fft.irfft(products.astype(np.float64), enough, workers=1)[:, :lags]
    return likeness, (strength / mean).sum(axis=1, dtype=np.float64)


def tempo_features(likeness: Floats, strength: Floats, rate: float, onsets: Floats) -> Floats:
    """What every tempo is judged by, shape (tempi, features), from the `repetition` of onsets."""
    beat = 60 / TEMPI
    per_beat = np.log2(np.maximum(0.05, onset_density(onsets, rate)) * beat)
    mean = np.maximum(onsets.mean(axis=0), 1e-12)  # how much of it is in each part, and how sharply
    parts = (*mean / mean.sum(), *np.quantile(onsets, 0.98, axis=0) / mean / 10)
    columns = [
        _read(likeness[:4], rate, _beats(_MULTIPLES)),
        _read(likeness[4:], rate, _beats(_ANSWERS)),
        _read(strength, 2 * (strength.shape[1] - 1) / rate, 1 / _beats(tuple(1 / r for r in _RATES))),
        np.exp(-0.5 * ((np.log(TEMPI) - _CENTRES[:, np.newaxis]) / 0.18) ** 2),
        np.exp(-0.5 * ((per_beat - np.arange(-1.0, 4.0)[:, np.newaxis]) / 0.5) ** 2),
        np.repeat(parts, len(beat)).reshape(-1, len(beat)),
    ]
    return np.concatenate(columns).T


def _beats(multiples: tuple[float, ...]) -> Floats:
    """Seconds that multiples of a beat last at every tempo: shape (multiples, tempi)."""
    return np.multiply.outer(multiples, 60 / TEMPI)


def _read(rows: Floats, rate: float, at: Floats) -> Floats:
    """Rows at places (k, n) in units of which there are `rate` columns, between neighbours, 0 beyond: (rows * k, n)."""
    place = at.reshape(-1) * rate
    first = np.minimum(place.astype(np.intp), rows.shape[1] - 2)
    part = place - first
    read = rows[:, first] * (1 - part) + rows[:, first + 1] * part
    return np.where(part <= 1, read, 0.0).reshape(-1, at.shape[1])


def _smooth(values: Floats) -> Floats:
    return np.convolve(values, (0.25, 0.5, 0.25), mode="same") if len(values) > 2 else values


def clarity(likeness: Floats, rate: float, tempo: float) -> float:
    """The clearest repetition at one to four beats."""
    lags = np.arange(len(likeness)) / rate
    return float(max(np.interp(60 / tempo * m, lags, likeness, right=0.0) for m in (1, 2, 3, 4)))


def _refine(likeness: Floats, rate: float, tempo: float) -> float:
    """The tempo within 3 % whose beats repeat best, one to eight of them together."""
    lags = np.arange(len(likeness)) / rate
    near = tempo * np.exp(np.linspace(-0.03, 0.03, 61))
    counted = [m for m in range(1, 9) if m * 60 / tempo < _LONGEST * 0.97]
    comb = sum(np.interp(60 / near * m, lags, likeness) for m in counted)
    return float(near[int(np.argmax(comb))]) if counted else float(tempo)


# Where a track is full, and how long it is not before and after that: what a DJ mixes over.

_FULLEST = 0.8  # of all spans: what a band has in a full one, and how much of all bands a full one has
_AROUND = 8  # spans that tell whether it has begun
_MISSING = 0.07  # of what a full span has: what must be missing before and after
_BEATS = 4  # of a bar


def find_mix(textures: Floats, seconds: float, tempo: float) -> tuple[int, int]:
    """Whole bars of four beats before a track is full, and after it was: of beats, pads or a fade alone.

    ``textures``: how strongly each band sounds in spans of so many ``seconds``, shape (spans, bands), from the first
    sound to the last. 0 and 0 where no tempo was heard, or less than two spans of eight are there.

    >>> find_mix(np.repeat([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0]], [16, 64, 8], axis=0), 0.5, 120.0)
    (4, 2)
    """
    if len(textures) < 2 * _AROUND or not tempo > 0:
        return 0, 0
    full = np.quantile(textures, _FULLEST, axis=0)
    there = np.minimum(textures, full).sum(axis=1) / max(float(full.sum()), 1e-12)
    level = float(np.quantile(there, _FULLEST))
    before, after = (_until_there(part, level) * seconds * tempo / 60 / _BEATS for part in (there, there[::-1]))
    return round(before), round(after)


def _until_there(there: Floats, level: float) -> int:
    """Spans until a share reaches its level to stay: where the first spans differ most from those that follow."""
    sums = np.concatenate([[0.0], np.cumsum(there)])
    ahead = (sums[_AROUND:] - sums[:-_AROUND]) / _AROUND
    reached = np.flatnonzero(ahead[: len(there) // 2] >= level - _MISSING / 2)
    last = int(reached[0]) if len(reached) else len(there) // 2
    end = min(len(there), last + 2 * _AROUND)
    at = np.arange(1, min(end, last + _AROUND))
    rise = (sums[end] - sums[at]) / (end - at) - sums[at] / at
    best = int(np.argmax(at * (end - at) * rise * np.abs(rise)))
    return int(at[best]) if rise[best] > _MISSING else 0


# The key of a stream from its pitch classes, by profiles that were learned from pieces whose key is written down.

_FEWEST_BLOCKS = 3  # blocks of about 3 s; a key of fewer is less sure
_TUNED = 0.12  # pitches that keep less to a scale say less of a key
_CLASSES = 3.0  # pitch classes besides the first that a key needs


def find_key(classes: Floats, tuned: float) -> tuple[int, int, float]:
    """The key, 0 for C to 11 for B; its mode, 1 for major and 0 for minor; and how likely that is right, 0 to 1.

    Of pitch classes (blocks, 2, 12), as `chroma` gives them. ``tuned``: how much the pitches keep to twelve classes, 0
    to 1, as `tuning` gives it; noise does not.
    """
    if not classes.any():
        return 0, 1, 0.0
    learned, used = weights(), _share(classes.sum(axis=(0, 1)))
    shares = softmax((key_features(classes) @ learned["key.profiles"] + learned["key.bias"]).T.reshape(-1))
    best = int(shares.argmax())  # of twelve major ones, then twelve minor ones
    used = used[used > 0]
    count = float(np.exp(-(used * np.log(used)).sum()))  # of pitch classes, each as far as it is used
    tonal = min(1.0, tuned / _TUNED) * min(1.0, (count - 1) / _CLASSES) * min(1.0, len(classes) / _FEWEST_BLOCKS)
    return best % 12, 1 - best // 12, float(shares[best]) * tonal


def key_features(classes: Floats) -> Floats:
    """What keys are told by, seen from each of the twelve tonics: shape (12, features).

    The pitch classes above middle C, below and of both; every block counts alike, wherever it stands.
    """
    sums = classes.sum(axis=(1, 2), keepdims=True)
    high, low = (classes / np.maximum(sums, 1e-12)).mean(axis=0)
    rows = np.sqrt(np.stack([_share(high), _share(low), _share(high + low)]))
    return np.stack([np.roll(rows, -tonic, axis=1).reshape(-1) for tonic in range(12)])


def _share(values: Floats) -> Floats:
    total = values.sum()
    return values / total if total > 0 else np.full(12, 1 / 12)


# Pitch classes of a stream, fine enough to hear its tuning.

FINE = 120  # classes of 10 cents in an octave
SECONDS = 3.0  # of a block

_WINDOW, _HOP = 4096, 3072  # samples of the mix: about 370 and 280 ms
_LOWEST, _HIGHEST = 55.0, 2200.0  # Hz
_BASS = 262.0  # Hz: below it a pitch counts as bass
_ROUNDING = np.float32(1e-3)  # the root of what rounding leaves of a constant, in other frequencies
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
        spectra = scipy.fft.rfft(windows, workers=1)
        sizes = np.sqrt(np.sqrt(square_sizes(spectra[:, self._first - 1 : self._last + 1])))
        constant = np.sqrt(np.abs(spectra[:, :1]))
        frame, pitch, weight = _peaks(sizes, _ROUNDING * constant, self._first - 1, self._step)
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


def _peaks(sizes: Samples, least: Samples, first: int, step: float) -> tuple[Ints, Floats, Floats]:
    """Frame, pitch in tens of cents above C, and weight of every local maximum that stands out of its frame."""
    mid = sizes[:, 1:-1]
    floor = np.maximum(1.5 * sizes.mean(axis=1, keepdims=True), least)
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
