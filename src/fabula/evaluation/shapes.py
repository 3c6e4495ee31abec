"""Which of some templates an arc is like, how sure that is: against shuffles, and with its pieces drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.arrays import Floats
from fabula.core.template import Template
from fabula.errors import InputError

POINTS = 100  # of a smoothed arc
_BLOCKS = 40  # runs of pieces that are shuffled, or drawn again within: neighbouring pieces are alike


@dataclass(frozen=True, eq=False)
class ShapeFit:
    """How like an arc is to k templates."""

    templates: tuple[Template, ...]  # the likest first
    likeness: Floats  # (k,): the correlation of the arc with each, in that order
    shares: Floats  # (k,): in which share of the arcs drawn again each is the likest
    # The share of shuffles that follow one of them as far as the arc does: by the height of the swing that is like it,
    # since after smoothing many a small swing of a shuffle is like something.
    chance: float


@dataclass(frozen=True, eq=False)
class SmoothArc:
    """An arc smoothed over windows: its values and a 90 % band of the same drawn again, shapes (p,)."""

    values: Floats
    low: Floats
    high: Floats


def smooth(values: Floats, span: int, points: int = POINTS) -> Floats:
    """Means (..., p) of values (..., m), NaN left out, over p sliding windows of so many pieces, whole ones alone.

    >>> smooth(np.array([1.0, 2, 3, 4]), 2).tolist()
    [1.5, 2.5, 3.5]
    """
    m = values.shape[-1]
    starts = np.unique(np.linspace(0, m - span, points).round().astype(np.int64))
    known = np.isfinite(values)
    zero = np.zeros((*values.shape[:-1], 1))
    sums = np.concatenate([zero, np.cumsum(np.where(known, values, 0.0), axis=-1)], axis=-1)
    counts = np.concatenate([zero, np.cumsum(known, axis=-1)], axis=-1)
    there = counts[..., starts + span] - counts[..., starts]
    return np.asarray((sums[..., starts + span] - sums[..., starts]) / np.maximum(there, 1))


def smooth_with_band(values: Floats, span: int, rng: np.random.Generator, draws: int = 400) -> SmoothArc:
    """An arc smoothed over windows, with the band in which nine in ten of the same drawn again lie."""
    low, high = np.quantile(smooth(_draw_again(values, draws, rng), span), [0.05, 0.95], axis=0)
    return SmoothArc(smooth(values, span), low, high)


def fit_shapes(
    values: Floats, templates: Sequence[Template], *, span: int, rng: np.random.Generator, draws: int = 400
) -> ShapeFit:
    """Which of some templates of one dimension the arc of pieces (m,), NaN where one says nothing, is like."""
    if not 1 <= span < len(values):
        raise InputError(f"a window must have 1 to {len(values) - 1} pieces; got {span}")
    arc = smooth(values, span)
    curves = _unit(np.stack([template.samples(len(arc)) for template in templates]))  # (k, p)
    likeness = curves @ _unit(arc)
    again = _unit(smooth(_draw_again(values, draws, rng), span)) @ curves.T  # (r, k)
    shares = np.bincount(again.argmax(axis=1), minlength=len(templates)) / draws
    by_chance = (smooth(_shuffle(values, draws, rng), span) @ curves.T).max(axis=1)  # curves have mean 0
    order = np.argsort(-likeness, kind="stable")
    chance = float((1 + (by_chance >= (curves @ arc).max()).sum()) / (1 + draws))
    return ShapeFit(tuple(templates[i] for i in order), likeness[order], shares[order], chance)


def _blocks(m: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return np.array_split(np.arange(m), min(_BLOCKS, m))


def _draw_again(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """The pieces of each block drawn with replacement: shape (r, m)."""
    chosen = [block[rng.integers(len(block), size=(draws, len(block)))] for block in _blocks(len(values))]
    return np.asarray(values[np.concatenate(chosen, axis=1)])


def _shuffle(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """The blocks in random orders: shape (r, m)."""
    blocks = _blocks(len(values))
    orders = [np.concatenate([blocks[b] for b in rng.permutation(len(blocks))]) for _ in range(draws)]
    return np.asarray(values[np.stack(orders)])


def _unit(curves: Floats) -> Floats:
    """Curves less their means, of length 1: shape (..., p); flat ones are 0."""
    centred = curves - curves.mean(axis=-1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=-1, keepdims=True))
    return np.asarray(centred / np.where(length > 1e-12, length, 1.0))
