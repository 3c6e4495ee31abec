"""The K-weighting filter of ITU-R BS.1770-4 as matrix products.

Rows of 32 samples and the filter's state before each row give the 32 weighted samples exactly; the states themselves
follow a linear recurrence over rows, summed group by group. That is faster than filtering sample by sample and needs
NumPy alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats

ROW = 32  # samples per matrix row
STATES = 4  # of the two second-order sections

_GROUP = 12  # rows, then groups, summed at once
_PRODUCT = 2**18  # multiplications up to which BLAS stays on one thread; more threads only get in each other's way

Samples = NDArray[np.float32]
AnyFloats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class _Group:
    """One level of the sum over rows: how the states within a group follow from its inputs and its first state."""

    whole: AnyFloats  # (group * states, states): what the inputs of a group add to the state after it
    within: AnyFloats  # (group * states, group * states): what they add to the states before each of its members
    onward: AnyFloats  # (states, group * states): what the first state becomes before each member


@dataclass(frozen=True, eq=False)
class Weighting:
    """The K-weighting filter at one rate, as matrices over rows of samples."""

    entering: Samples  # (row, states): what a row adds to the state after it
    leaving: Samples  # (row + states, row): a row and the state before it to weighted samples
    advance: tuple[Floats, ...]  # (states, states) per level: the state from one row, then group, to the next
    groups: tuple[_Group, ...]


@dataclass(frozen=True, eq=False)
class Room:
    """Arrays used again for every chunk: fresh ones of this size cost more than the arithmetic."""

    known: Samples  # (channels, rows, row + states)
    weighted: Samples  # (channels, rows, row)


def room_for(channels: int, rows: int) -> Room:
    """Room for chunks of so many rows."""
    known = np.empty((channels, rows, ROW + STATES), np.float32)
    return Room(known, np.empty((channels, rows, ROW), np.float32))


def weigh(weighting: Weighting, chunk: Samples, state: Floats, room: Room) -> tuple[Samples, Floats]:
    """Weighted samples (channels, frames) of a chunk (frames, channels), and the state (channels, states) after it."""
    frames, channels = chunk.shape
    rows = frames // ROW
    known, weighted = room.known, room.weighted
    known[:, :, :ROW] = chunk.T.reshape(channels, rows, ROW)
    inputs = known[:, :, :ROW] @ weighting.entering
    before, after = _recurrence(weighting, 0, inputs, state)
    known[:, :, ROW:] = before
    batch = _divisor(rows, _PRODUCT // (ROW * (ROW + STATES)))
    np.matmul(known.reshape(-1, batch, ROW + STATES), weighting.leaving, out=weighted.reshape(-1, batch, ROW))
    return weighted.reshape(channels, frames), after


def _recurrence(weighting: Weighting, level: int, inputs: AnyFloats, first: Floats) -> tuple[AnyFloats, Floats]:
    """States ``s[k + 1] = advance @ s[k] + inputs[k]`` from ``s[0] = first``.

    `inputs` is (channels, n, states). Returns s[0] to s[n - 1], of that shape, and s[n].
    """
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
def k_weighting(rate: int, rows: int) -> Weighting:
    """The filter's matrices for chunks of so many rows, from ``s' = A s + b x`` and ``y = c s + d x``."""
    A, b, c, d = _state_space(rate)
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
    return Weighting(entering.astype(np.float32), leaving, tuple(advance), tuple(groups))


def _group(advance: Floats, dtype: type[np.floating[Any]]) -> _Group:
    powers = [np.linalg.matrix_power(advance, k).T for k in range(_GROUP)]
    within = np.zeros((_GROUP, STATES, _GROUP, STATES))
    for k in range(_GROUP):
        for later in range(k + 1, _GROUP):
            within[k, :, later] = powers[later - 1 - k]
    size = _GROUP * STATES
    matrices = np.concatenate(powers[::-1]), within.reshape(size, size), np.concatenate(powers, axis=1)
    return _Group(*(matrix.astype(dtype) for matrix in matrices))


def _state_space(rate: int) -> tuple[Floats, Floats, Floats, float]:
    """The high shelf followed by the high pass as one system of four states."""
    (b1, a1), (b2, a2) = sections(rate)
    A1, A2 = np.array([[-a1[0], 1.0], [-a1[1], 0.0]]), np.array([[-a2[0], 1.0], [-a2[1], 0.0]])
    in1, in2 = b1[1:] - a1 * b1[0], b2[1:] - a2 * b2[0]
    first = np.array([1.0, 0.0])
    A = np.block([[A1, np.zeros((2, 2))], [np.outer(in2, first), A2]])
    return A, np.concatenate([in1, in2 * b1[0]]), np.concatenate([first * b2[0], first]), float(b1[0] * b2[0])


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


@lru_cache(maxsize=64)
def _divisor(number: int, limit: int) -> int:
    """The largest divisor within the limit; the number itself where that would be a tiny one."""
    best = max(d for d in range(1, limit + 1) if number % d == 0)
    return best if best >= 16 else number
