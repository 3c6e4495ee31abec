"""The likeliest ordering of each of many collections under a mixture of arcs: the climb of ``Arcs.order``, all at once.

Collections of one length climb side by side, from every template and from the middle of every two; a climb that stays
where it is rests. What comes out is what ``Arcs.order`` puts first; only where the targets of two positions, or the
scores of two orderings, are equal but for rounding may it be another one that is as likely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fabula.core.essence import Floats
from fabula.core.matching import mixing
from fabula.core.ordering import Ints
from fabula.core.segments import by_length

if TYPE_CHECKING:
    from fabula.core.arcs import Arcs

_CELLS = 30_000  # items that climb at a time, times the starts: what they need stays in the cache


def order_many(arcs: Arcs, essence: Floats, offsets: Ints) -> tuple[Ints, Floats]:
    """The likeliest ordering of each collection and its score, as :meth:`fabula.core.arcs.Arcs.order` finds them.

    Parameters
    ----------
    arcs
        The mixture.
    essence
        Shape (rows, d), finite, z-scored within each collection.
    offsets
        Shape (number + 1,): where each collection begins and ends.

    Returns
    -------
    orderings : shape (rows,), of each collection where its rows are, counted within it
    scores : shape (number,)
    """
    orderings, scores = np.empty(len(essence), dtype=np.intp), np.empty(len(offsets) - 1)
    for some in by_length(offsets, _CELLS, axes=1):
        rows = essence[some.rows]  # (B, n, d)
        shown = _shown(rows)
        found, score = _likeliest(arcs, np.take_along_axis(rows, shown[..., np.newaxis], axis=1))
        orderings[some.rows] = np.take_along_axis(shown, found, axis=1)
        scores[some.numbers] = score
    return orderings, scores


def _shown(rows: Floats) -> Ints:
    """The order in which the items of each collection are looked at, (B, n): mixed where some are equal."""
    count, n, _ = rows.shape
    shown = np.tile(np.arange(n), (count, 1))
    ranked = np.sort(rows[..., 0], axis=1)  # no two items are equal that are not in the first dimension
    tied = np.flatnonzero((ranked[:, 1:] == ranked[:, :-1]).any(axis=1))
    for number in tied:
        mixed = mixing(rows[number])
        shown[number] = shown[number] if mixed is None else mixed
    return shown


def _likeliest(arcs: Arcs, rows: Floats) -> tuple[Ints, Floats]:
    """The best of what is climbed to from each start: orderings (B, n) of items (B, n, d) and their scores (B,)."""
    count, n, _ = rows.shape
    targets = np.stack([template.samples(n).reshape(-1) for template in arcs.templates])  # (k, n * d)
    starts, blended = arcs.starts()
    from_start = np.tile(starts, (count, 1))  # (B * s, k)
    which = np.repeat(np.arange(count), len(starts))
    orderings = np.full((len(which), n), -1)
    moving = np.arange(len(which))
    while len(moving):
        better = _best(rows, which[moving], (from_start[moving] @ targets).reshape(len(moving), n, -1))
        moved = (better != orderings[moving]).any(axis=1)
        orderings[moving[moved]] = better[moved]
        moving = moving[moved] if blended else moving[:0]
        from_start[moving] = _shares(_logits(arcs, rows, which[moving], orderings[moving], targets))
    scores = _log_sum(_logits(arcs, rows, which, orderings, targets)).reshape(count, -1)
    best = scores.argmax(axis=1)
    return orderings.reshape(count, -1, n)[np.arange(count), best], scores[np.arange(count), best]


def _best(rows: Floats, which: Ints, goals: Floats) -> Ints:
    """The best ordering of collection ``which[a]`` under the targets ``goals[a]`` (n, d), for each a: (a, n)."""
    if rows.shape[2] > 1:
        return _assigned(rows, which, goals)
    values = rows[..., 0]
    items = np.argsort(values, axis=1, kind="stable")  # (B, n)
    positions = np.argsort(goals[..., 0], axis=1, kind="stable")  # (a, n)
    ranked = np.take_along_axis(values, items, axis=1)
    tied = ranked[:, 1:] == ranked[:, :-1]
    if tied.any():  # equal items stand in the order in which they are shown
        run = np.zeros(ranked.shape, dtype=np.intp)
        run[:, 1:] = np.cumsum(~tied, axis=1) * ranked.shape[1]
        positions = np.sort(run[which] + positions, axis=1) - run[which]
    found = np.empty_like(positions)
    np.put_along_axis(found, positions, items[which], axis=1)
    return found


def _assigned(rows: Floats, which: Ints, goals: Floats) -> Ints:
    """The same for items of several dimensions: an assignment each."""
    from scipy.optimize import linear_sum_assignment

    gains = goals @ rows[which].transpose(0, 2, 1)  # (a, positions, items)
    return np.array([linear_sum_assignment(gain, maximize=True)[1] for gain in gains]).reshape(goals.shape[:2])


def _logits(arcs: Arcs, rows: Floats, which: Ints, orderings: Ints, targets: Floats) -> Floats:
    """How likely each ordering is under each template: (a, k)."""
    sequences = rows[which[:, np.newaxis], orderings].reshape(len(which), targets.shape[1])
    return np.asarray(sequences @ targets.T + arcs.weights)


def _shares(logits: Floats) -> Floats:
    likely = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(likely / likely.sum(axis=1, keepdims=True))


def _log_sum(logits: Floats) -> Floats:
    top = logits.max(axis=1)
    return np.asarray(top + np.log(np.exp(logits - top[:, np.newaxis]).sum(axis=1)))
