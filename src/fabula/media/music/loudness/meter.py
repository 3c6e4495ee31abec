"""Integrated loudness by ITU-R BS.1770-4: K-weighting, 400 ms blocks overlapping by 75 %, two gates.

Measured chunk by chunk, in memory for a few seconds of sound however long it is.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats
from fabula.errors import InputError
from fabula.media.music.loudness.weighting import ROW, STATES, Room, Samples, k_weighting, room_for, weigh

FLOOR = -70.0  # LUFS: the absolute gate, and what silence is said to have
LOWEST_RATE = 4000  # Hz: below it the high shelf of the K-weighting does not exist

_OFFSET = -0.691  # dB, so that a 997 Hz sine reads as its level
_RELATIVE_GATE = 10.0  # dB under the loudness of what passes the absolute gate
_SURROUND = 1.41
_STEPS = 2 * ROW  # of 100 ms in a chunk, so that rows fill it


def loudness(samples: ArrayLike, rate: int) -> float:
    """Integrated loudness in LUFS of samples in memory.

    Parameters
    ----------
    samples
        Shape (frames,) or (frames, channels), full scale 1. Channels are L, R, C, LFE, Ls, Rs, ... as in WAV files.
    rate
        Samples per second, at least 4000.

    Returns
    -------
    LUFS; -70 (the absolute gate) for silence and anything softer. Sound shorter than one block of 400 ms is
    measured over what there is, without gates.

    Raises
    ------
    InputError
        When the rate is too low, there are no samples, or some are not finite numbers.

    Examples
    --------
    >>> t = np.arange(48000) / 48000
    >>> round(loudness(0.1 * np.sin(2 * np.pi * 997 * t), 48000), 1)
    -23.0
    """
    array = np.asarray(samples, dtype=np.float32)
    if array.ndim not in (1, 2) or array.size == 0:
        raise InputError(f"samples must have shape (frames,) or (frames, channels), not empty; got {array.shape}")
    array = array.reshape(len(array), -1)
    size = chunk_frames(rate)
    return integrated((array[start : start + size] for start in range(0, len(array), size)), rate)


def chunk_frames(rate: int) -> int:
    """How many frames each chunk but the last must have for `integrated`: some steps of 100 ms, in whole rows.

    Examples
    --------
    >>> chunk_frames(44100)
    282240
    """
    if not rate >= LOWEST_RATE:
        raise InputError(f"the rate must be at least {LOWEST_RATE} Hz to measure loudness; got {rate}")
    step = round(rate / 10)
    return _STEPS * step


def integrated(chunks: Iterable[Samples], rate: int, *, vorbis: bool = False) -> float:
    """Integrated loudness in LUFS of a stream.

    Parameters
    ----------
    chunks
        Arrays (frames, channels) that follow one another, each of ``chunk_frames(rate)`` frames, the last shorter
        or not. An array may be overwritten once the next one is asked for.
    rate
        Samples per second, at least 4000.
    vorbis
        Whether the channels come as Ogg files have them: see `channel_weights`.

    Returns
    -------
    As `loudness`.

    Raises
    ------
    InputError
        When there is nothing in it or some samples are not finite numbers.
    """
    meter = Meter(rate, vorbis=vorbis)
    for chunk in chunks:
        meter.push(chunk)
    return meter.integrated()


class Meter:
    """Measures a stream chunk by chunk; see `integrated`."""

    def __init__(self, rate: int, *, vorbis: bool = False) -> None:
        self.frames = 0
        self._size, self._step, self._vorbis = chunk_frames(rate), round(rate / 10), vorbis
        self._weighting = k_weighting(rate, self._size // ROW)
        self._room: Room | None = None
        self._state, self._gains = np.empty(0), np.empty(0)
        self._powers: list[Floats] = []
        self._rest = 0.0

    def push(self, chunk: Samples) -> None:
        """Take the next chunk of `chunk_frames` frames into account; the last may be shorter.

        Raises
        ------
        InputError
            When some samples are not finite numbers.
        """
        frames, channels = chunk.shape
        if self._room is None:
            self._room, self._state = room_for(channels, self._size // ROW), np.zeros((channels, STATES))
            self._gains = channel_weights(channels, vorbis=self._vorbis)
        if frames < self._size:
            chunk = np.concatenate([chunk, np.zeros((self._size - frames, channels), np.float32)])
        with np.errstate(invalid="ignore", over="ignore"):  # told below, in words
            weighted, self._state = weigh(self._weighting, chunk, self._state, self._room)
            whole = frames // self._step
            energies = _energies(weighted.reshape(channels, -1, self._step))[:, :whole]
            self._rest = float(self._gains @ _energies(weighted[:, whole * self._step : frames]))
            self._powers.append(self._gains @ energies / self._step)
        if not np.isfinite(self._powers[-1].sum() + self._rest):
            raise InputError("some samples are not finite numbers, or far beyond full scale")
        self.frames += frames

    @property
    def powers(self) -> Floats:
        """K-weighted power of every whole step of 100 ms, summed over channels: shape (steps,)."""
        return np.concatenate([*self._powers, np.empty(0)])

    def integrated(self) -> float:
        """The loudness in LUFS of all that was pushed."""
        return _gated(self.powers, self._rest, self.frames, self._step)


def channel_weights(channels: int, *, vorbis: bool = False) -> Floats:
    """Weights of the channels' powers: surrounds count 1.41, the low-frequency effects channel nothing.

    Parameters
    ----------
    channels
        How many; more than 8 all count 1.
    vorbis
        Whether they come as in Ogg files (L, C, R, surrounds, LFE) or as in WAV files (L, R, C, LFE, surrounds).

    Examples
    --------
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


def _gated(powers: Floats, rest: float, frames: int, step: int) -> float:
    """Loudness from the powers of all steps of 100 ms; `rest` is the energy after the last whole step."""
    if frames == 0:
        raise InputError("there are no samples to measure")
    if len(powers) < 4:  # shorter than one block: no gates
        return max(FLOOR, level((powers.sum() * step + rest) / frames))
    sums = np.concatenate([[0.0], np.cumsum(powers)])
    blocks = (sums[4:] - sums[:-4]) / 4
    blocks = blocks[blocks > power(FLOOR)]
    if not len(blocks):
        return FLOOR
    blocks = blocks[blocks > power(level(blocks.mean()) - _RELATIVE_GATE)]
    return level(blocks.mean())


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
