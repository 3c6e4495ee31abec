"""The InfoNCE bound of collections whose scores are known, and of collections given as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fabula.core.essence import Floats

_ORDERINGS = 65_536  # gathered at a time

TablePair = tuple[Floats, Floats]


def bits_against(truth: Floats, others: Floats) -> Floats:
    """log2 N + log2 softmax(truth): (b,) and (b, draws, negatives) -> (b,), averaged over the draws.

    Examples
    --------
    >>> bits_against(np.array([0.0]), np.zeros((1, 2, 3)))
    array([0.])
    """
    logits = np.concatenate([np.broadcast_to(truth[:, np.newaxis, np.newaxis], (*others.shape[:2], 1)), others], axis=2)
    top = logits.max(axis=2, keepdims=True)
    total = top[:, :, 0] + np.log(np.exp(logits - top).sum(axis=2))  # (b, draws)
    nats = truth[:, np.newaxis] - total + math.log(logits.shape[2])
    return np.asarray(nats.mean(axis=1) / math.log(2))


def table_bits(tables: Sequence[TablePair], *, negatives: int, draws: int, rng: np.random.Generator) -> Floats:
    """Bits of each collection (c,) from its position scores and flow scores, (n, n) each, items in true order.

    Scores are sums over an ordering, so that a permutation costs but a gather; no essence is scored again.

    Examples
    --------
    >>> sure = 9.0 * np.eye(5), np.zeros((5, 5))
    >>> bool(table_bits([sure] * 4, negatives=31, draws=4, rng=np.random.default_rng(0)).min() > 3)
    True
    """
    lengths = np.array([len(positions) for positions, _ in tables])
    bits = np.zeros(len(tables))
    for n in np.unique(lengths[lengths > 1]):
        numbers = np.flatnonzero(lengths == n)
        step = max(1, _ORDERINGS // (negatives * draws))
        for start in range(0, len(numbers), step):
            part = numbers[start : start + step]
            positions, flow = (np.stack([tables[i][which] for i in part]) for which in (0, 1))  # (b, n, n)
            bits[part] = _bits_of_part(positions, flow, negatives, draws, rng)
    return bits


def _bits_of_part(positions: Floats, flow: Floats, negatives: int, draws: int, rng: np.random.Generator) -> Floats:
    b, n, _ = positions.shape
    orders = rng.permuted(np.tile(np.arange(n), (b, negatives * draws, 1)), axis=2)  # (b, r, n)
    first = (np.arange(b) * n * n)[:, np.newaxis, np.newaxis]  # where the table of each collection begins
    rows = orders * n + first
    others = positions.take(rows + np.arange(n)).sum(axis=2)
    others += flow.take(rows[:, :, :-1] + orders[:, :, 1:]).sum(axis=2)
    truth = np.trace(positions, axis1=1, axis2=2) + np.trace(flow, offset=1, axis1=1, axis2=2)
    return bits_against(truth, others.reshape(b, draws, negatives))
