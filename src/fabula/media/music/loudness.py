"""Loudness by ITU-R BS.1770-4 and EBU R 128: integrated, its range, its true peak, silences and fades at the edges."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats, Ints
from fabula.errors import InputError

Samples = NDArray[np.float32]
AnyFloats = NDArray[np.floating[Any]]
ROW = 32  # samples per row of the matrices that weigh
STATES = 4  # of the filter's two second-order sections

# Integrated loudness by ITU-R BS.1770-4: K-weighting, 400 ms blocks overlapping by 75 %, two gates.

FLOOR = -70.0  # LUFS: the absolute gate, and what silence is said to have
LOWEST_RATE = 4000  # Hz: below it the high shelf of the K-weighting does not exist
HIGHEST_RATE = 3_072_000  # Hz: none is higher; what a filter takes grows with it

_OFFSET = -0.691  # dB, so that a 997 Hz sine reads as its level
_RELATIVE_GATE = 10.0  # dB under the loudness of what passes the absolute gate
_SURROUND = 1.41
_STEPS = 2 * ROW  # of 100 ms in a chunk, so that rows fill it


def chunk_frames(rate: int) -> int:
    """How many frames each chunk but the last must have for a `Meter`: some steps of 100 ms, in whole rows."""
    if not rate >= LOWEST_RATE:
        raise InputError(f"the rate must be at least {LOWEST_RATE} Hz to measure loudness; got {rate}")
    return _STEPS * round(rate / 10)


class Meter:
    """Measures the integrated loudness of a stream of chunks (frames, channels) of ``chunk_frames(rate)`` but the last.

    A chunk may be overwritten once it was pushed. ``vorbis``: see `channel_weights`. What is shorter than one block of
    400 ms is measured over what there is, without gates.
    """

    def __init__(self, rate: int, channels: int, *, vorbis: bool = False) -> None:
        self.frames = 0
        self._size, self._step = chunk_frames(rate), round(rate / 10)
        self._gains = channel_weights(channels, vorbis=vorbis)
        self._filter = KFilter(rate, channels, self._size // ROW)
        self._powers: list[Floats] = []
        self._rest = 0.0

    def push(self, chunk: Samples) -> None:
        """Take the next chunk of `chunk_frames` frames, of which the last may be shorter; refuses what is no number."""
        frames, channels = chunk.shape
        if frames < self._size:
            chunk = np.concatenate([chunk, np.zeros((self._size - frames, channels), np.float32)])
        step, whole, rest = self._step, frames // self._step, np.zeros(channels)
        energies = np.empty((channels, _STEPS))
        with np.errstate(invalid="ignore", over="ignore"):  # told below, in words
            for channel, start, weighted in self._filter.weigh(chunk):
                first = start // step
                energies[channel, first : first + len(weighted) // step] = _energies(weighted.reshape(-1, step))
                rest[channel] += _energies(weighted[max(0, whole * step - start) : max(0, frames - start)])
            self._rest = float(self._gains @ rest)
            self._powers.append(self._gains @ energies[:, :whole] / step)
        if not np.isfinite(self._powers[-1].sum() + self._rest):
            raise InputError("some samples are not finite numbers, or far beyond full scale")
        self.frames += frames

    @property
    def powers(self) -> Floats:
        """K-weighted power of every whole step of 100 ms, summed over channels: shape (steps,)."""
        return np.concatenate([*self._powers, np.empty(0)])

    def loudness(self) -> float:
        """The loudness in LUFS of all that was pushed."""
        if self.frames == 0:
            raise InputError("there are no samples to measure")
        powers = self.powers
        if len(powers) < 4:  # shorter than one block: no gates
            return max(FLOOR, level((powers.sum() * self._step + self._rest) / self.frames))
        return gate(mean_powers(powers, 4))[1]


def channel_weights(channels: int, *, vorbis: bool = False) -> Floats:
    """Weights of the channels' powers: surrounds count 1.41, the low-frequency effects channel nothing, beyond 8 all 1.

    Channels come as in WAV files (L, R, C, LFE, surrounds) or, ``vorbis``, as in Ogg files (L, C, R, surrounds, LFE).

    >>> channel_weights(6)
    array([1.  , 1.  , 1.  , 0.  , 1.41, 1.41])
    >>> channel_weights(6, vorbis=True)
    array([1.  , 1.  , 1.  , 1.41, 1.41, 0.  ])
    """
    if not 4 <= channels <= 8:
        return np.ones(channels)
    fronts = [1.0] * (2 if channels == 4 else 3)
    effects = [0.0] * (channels >= 6)
    surrounds = [_SURROUND] * (channels - len(fronts) - len(effects))
    return np.array(fronts + surrounds + effects if vorbis else fronts + effects + surrounds)


def mean_powers(powers: Floats, steps: int) -> Floats:
    """Mean powers of every so many steps that follow each other."""
    sums = np.concatenate([[0.0], np.cumsum(powers)])
    return np.asarray((sums[steps:] - sums[:-steps]) / steps)


def gate(blocks: Floats) -> tuple[Floats, float]:
    """The powers of blocks that pass the absolute gate, and the loudness of what passes both; -70 where none does."""
    blocks = blocks[blocks > power(FLOOR)]
    if not len(blocks):
        return blocks, FLOOR
    return blocks, level(blocks[blocks > power(level(blocks.mean()) - _RELATIVE_GATE)].mean())


def level(power: float) -> float:
    """LUFS of a K-weighted power."""
    return _OFFSET + 10 * float(np.log10(power)) if power > 0 else -np.inf


def power(level: float) -> float:
    """K-weighted power of a level in LUFS."""
    return float(10 ** ((level - _OFFSET) / 10))


def _energies(samples: Samples) -> Floats:
    """Sums of squares over the last axis."""
    sums: Floats = np.vecdot(samples, samples).astype(np.float64)
    return sums


# What follows from the K-weighted power of every 100 ms: loudness range, silence, fades, loudness at the edges.

EDGE_SECONDS = 15.0  # of each end that are taken for the edge

_STEPS_A_SECOND = 10
_WINDOW = 3 * _STEPS_A_SECOND  # of short-term loudness
_GATE = 20.0  # LU below the mean: EBU Tech 3342
_SILENT = 45.0  # LU below the loudness of the whole
_FADED = 6.0  # LU


@dataclass(frozen=True)
class Edges:
    """The sounding part of a stream, in seconds and LUFS."""

    # Where the first and the last sound is.
    start: float
    end: float
    # From the first sound until a second of it is within 6 LU of the loudness of the whole; the same from the end.
    fade_in: float
    fade_out: float
    # Of the first and the last 15 seconds between `start` and `end`.
    start_loudness: float
    end_loudness: float


def loudness_range(powers: Floats) -> float:
    """LU between the 10th and the 95th percentile of the loudness of 3 s, gated: EBU Tech 3342."""
    if len(powers) < _WINDOW:
        return 0.0
    short = mean_powers(powers, _WINDOW)
    short = short[short >= power(FLOOR)]
    if not len(short):
        return 0.0
    short = np.sort(short[short >= short.mean() * 10 ** (-_GATE / 10)])
    low, high = (short[max(0, int(share * len(short) + 0.5) - 1)] for share in (0.10, 0.95))  # nearest rank
    return float(10 * np.log10(high / low))


def edges(powers: Floats, loudness: float) -> Edges:
    """Where the sound begins and ends, and how loud it is there, from powers per 100 ms and the loudness of the whole.

    What is 45 LU softer than the whole, or softer than -70 LUFS, is silence.
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


# True peak by ITU-R BS.1770-4, annex 2: the highest value between the samples, from four times as many.

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

    def __init__(self, rate: int, channels: int) -> None:
        self._times = 4 if rate < 80000 else 2 if rate < 160000 else 1
        self._product = _product(self._times)
        self._before: Samples = np.zeros((channels, _TAPS), np.float32)
        self.highest = 0.0

    def push(self, chunk: Samples) -> None:
        """Take a chunk (frames, channels) into account."""
        samples = np.ascontiguousarray(chunk.T)
        whole = (samples.shape[1] - _TAPS) // _BLOCK * _BLOCK
        seam = np.concatenate([self._before, samples[:, : _TAPS + _ROW] if whole > 0 else samples], axis=1)
        done = self._look(seam, _ROW)
        if whole > 0:  # what follows the last whole block is looked at with the next chunk
            self._look(samples, _BLOCK)
        self._before = samples[:, whole:].copy() if whole > 0 else seam[:, done:]

    def finish(self) -> float:
        """The peak in dBTP, once all chunks were pushed."""
        silence = np.zeros((len(self._before), _TAPS + _ROW), np.float32)  # follows the last samples
        self._look(np.concatenate([self._before, silence], axis=1), _ROW)
        return max(LOWEST, 20 * float(np.log10(self.highest))) if self.highest > 0 else LOWEST

    def _look(self, samples: Samples, size: int) -> int:
        """Look at blocks whose samples (channels, n) have all neighbours they need; how many samples are done with."""
        half, done = _TAPS // 2, max(0, samples.shape[1] - _TAPS) // size * size
        if not done:
            return 0
        blocks = samples[:, half : half + done].reshape(len(samples), -1, size)
        sizes = _highest(blocks)
        self.highest = max(self.highest, float(sizes.max()))
        if self._times > 1:
            channel, block = self._near(sizes)
            inner = _highest(blocks[channel, block].reshape(-1, size // _ROW, _ROW))
            chosen, row = self._near(inner)
            starts = block[chosen] * size + row * _ROW
            where = starts[:, np.newaxis] + np.arange(_ROW + _TAPS - 1)
            between = samples[channel[chosen][:, np.newaxis], where] @ self._product
            self.highest = max(self.highest, float(np.abs(between).max(initial=0.0)))
        return int(done)

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
    response = low_pass(1 / times, np.kaiser(_TAPS * times + 1, 7.0)) * times
    matrix = np.zeros((_ROW + _TAPS - 1, _ROW, times - 1), np.float32)
    for phase in range(1, times):
        for sample in range(_ROW):
            matrix[sample : sample + _TAPS, sample, phase - 1] = response[phase::times][:_TAPS][::-1]
    return matrix.reshape(_ROW + _TAPS - 1, -1)


def low_pass(cut: float, window: Floats) -> Floats:
    """The taps (n,) of a filter, a sinc under a window (n,), that lets pass what is below ``cut`` of half the rate.

    This and what is in `heard` stands in for scipy.signal, which takes longer to load than an album to be measured.
    """
    taps = np.sinc(cut * (np.arange(len(window)) - (len(window) - 1) / 2)) * window
    return np.asarray(taps / taps.sum())


# The K-weighting filter of ITU-R BS.1770-4 as matrix products.

_GROUP = 12  # rows, then groups, summed at once
_PRODUCT = 2**18  # multiplications up to which BLAS stays on one thread; more threads only get in each other's way


class _Group(NamedTuple):
    """One level of the sum over rows: how the states within a group follow from its inputs and its first state."""

    whole: AnyFloats  # (group * states, states): what the inputs of a group add to the state after it
    within: AnyFloats  # (group * states, group * states): what they add to the states before each of its members
    onward: AnyFloats  # (states, group * states): what the first state becomes before each member


class _Weighting(NamedTuple):
    """The K-weighting filter at one rate, as matrices over rows of samples."""

    entering: Samples  # (row, states): what a row adds to the state after it
    leaving: Samples  # (row + states, row): a row and the state before it to weighted samples
    advance: tuple[Floats, ...]  # (states, states) per level: the state from one row, then group, to the next
    groups: tuple[_Group, ...]


class KFilter:
    """Weighs a stream; its arrays are used again for every block, since fresh ones cost more than the arithmetic."""

    def __init__(self, rate: int, channels: int, rows: int) -> None:
        self._weighting = _k_weighting(rate, rows)
        self._state = np.zeros((channels, STATES))
        block = rows // 4 if rows % 4 == 0 else rows // 2  # 16 or 32 steps
        most = _PRODUCT // (ROW * (ROW + STATES))
        divisor = max(d for d in range(1, most + 1) if block % d == 0)
        batch = divisor if divisor >= 16 else block  # not a tiny one
        self._known = np.empty((block // batch, batch, ROW + STATES), np.float32)  # each row, and the state before it
        self._weighted = np.empty((block // batch, batch, ROW), np.float32)

    def weigh(self, chunk: Samples) -> Iterator[tuple[int, int, Samples]]:
        """Channel, first frame and weighted samples of blocks of the next chunk (frames, channels), in whole steps.

        A block stays in the processor's cache, and is overwritten by the next.
        """
        channels = chunk.shape[1]
        samples = chunk.T.reshape(channels, -1, *self._weighted.shape)
        inputs = chunk.T.reshape(channels, -1, ROW) @ self._weighting.entering
        states, self._state = _recurrence(self._weighting, 0, inputs, self._state)
        states = states.reshape(*samples.shape[:-1], STATES)
        for channel in range(channels):
            for block in range(samples.shape[1]):
                self._known[..., :ROW] = samples[channel, block]
                self._known[..., ROW:] = states[channel, block]
                np.matmul(self._known, self._weighting.leaving, out=self._weighted)
                yield channel, block * self._weighted.size, self._weighted.reshape(-1)


def _recurrence(weighting: _Weighting, level: int, inputs: AnyFloats, first: Floats) -> tuple[AnyFloats, Floats]:
    """States ``s[k + 1] = advance @ s[k] + inputs[k]`` from ``s[0] = first``."""
    # `inputs` is (channels, n, states). Returns s[0] to s[n - 1], of that shape, and s[n].
    channels, n, states = inputs.shape
    advance = weighting.advance[level].T
    if level == len(weighting.groups):
        before = np.empty(inputs.shape)
        for k in range(n):
            before[:, k] = first
            first = first @ advance + inputs[:, k]
        return before, first
    group = weighting.groups[level]
    padded = np.zeros((channels, -(-n // _GROUP) * _GROUP, states), inputs.dtype)
    padded[:, :n] = inputs
    grouped = padded.reshape(channels, -1, _GROUP * states)
    starts, _ = _recurrence(weighting, level + 1, (grouped @ group.whole).astype(np.float64), first)
    before = grouped @ group.within
    before += starts.astype(inputs.dtype) @ group.onward
    before = before.reshape(channels, -1, states)[:, :n]
    return before, before[:, -1] @ advance + inputs[:, -1]


@lru_cache(maxsize=8)
def _k_weighting(rate: int, rows: int) -> _Weighting:
    """The filter's matrices for chunks of so many rows, from ``s' = A s + b x`` and ``y = c s + d x``."""
    # The high shelf followed by the high pass as one system of four states.
    (b1, a1), (b2, a2) = sections(rate)
    A1, A2 = np.array([[-a1[0], 1.0], [-a1[1], 0.0]]), np.array([[-a2[0], 1.0], [-a2[1], 0.0]])
    in1, in2, first = b1[1:] - a1 * b1[0], b2[1:] - a2 * b2[0], np.array([1.0, 0.0])
    A = np.block([[A1, np.zeros((2, 2))], [np.outer(in2, first), A2]])
    b, c, d = np.concatenate([in1, in2 * b1[0]]), np.concatenate([first * b2[0], first]), float(b1[0] * b2[0])
    powers = [np.linalg.matrix_power(A, k) for k in range(ROW + 1)]
    response = np.array([d, *(c @ powers[k] @ b for k in range(ROW - 1))])
    lag = np.arange(ROW)[None, :] - np.arange(ROW)[:, None]  # of output j behind input i
    direct = np.where(lag >= 0, response[np.abs(lag)], 0.0)
    ringing = np.stack([c @ powers[k] for k in range(ROW)], axis=1)
    entering = np.stack([powers[ROW - 1 - k] @ b for k in range(ROW)])
    leaving = np.concatenate([direct, ringing]).astype(np.float32)
    groups: list[_Group] = []
    advance, n = [powers[ROW]], rows
    while n > 2 * _GROUP:
        # Single precision will do within the first groups; over many of them errors would add up.
        groups.append(_group(advance[-1], np.float64 if groups else np.float32))
        advance.append(np.linalg.matrix_power(advance[-1], _GROUP))
        n = -(-n // _GROUP)
    return _Weighting(entering.astype(np.float32), leaving, tuple(advance), tuple(groups))


def _group(advance: Floats, dtype: type[np.floating[Any]]) -> _Group:
    powers = [np.linalg.matrix_power(advance, k).T for k in range(_GROUP)]
    within = np.zeros((_GROUP, STATES, _GROUP, STATES))
    for k in range(_GROUP):
        for later in range(k + 1, _GROUP):
            within[k, :, later] = powers[later - 1 - k]
    size = _GROUP * STATES
    matrices = np.concatenate(powers[::-1]), within.reshape(size, size), np.concatenate(powers, axis=1)
    return _Group(*(matrix.astype(dtype) for matrix in matrices))


def sections(rate: int) -> list[tuple[Floats, Floats]]:
    """Numerators (3,) and denominators (2,), without the leading 1, of BS.1770's two filters at any rate.

    The analogue prototypes behind the standard's 48 kHz coefficients, by the bilinear transform.
    """
    k, q, high = np.tan(np.pi * 1681.974450955533 / rate), 0.7071752369554196, 10 ** (3.999843853973347 / 20)
    band, scale = high**0.4996667741545416, 1 + k / q + k * k
    shelf = np.array([high + band * k / q + k * k, 2 * (k * k - high), high - band * k / q + k * k]) / scale
    shelf_poles = np.array([2 * (k * k - 1), 1 - k / q + k * k]) / scale
    k, q = np.tan(np.pi * 38.13547087602444 / rate), 0.5003270373238773
    scale = 1 + k / q + k * k
    return [(shelf, shelf_poles), (np.array([1.0, -2.0, 1.0]), np.array([2 * (k * k - 1), 1 - k / q + k * k]) / scale)]
