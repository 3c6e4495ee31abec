"""Orderings drawn by their likelihood, and the likeliest found, for many collections of one length at a time.

Metropolis et al. 1953: two items of an ordering change places, or one is moved; what is likelier is kept, what is less
likely is kept as often as it is likely. Cooled down, the same finds likely orderings (Kirkpatrick et al. 1983).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats
from fabula.core.ordering import Ints

Tables = NDArray[np.floating]


def scores_of(positions: Tables, flow: Tables, orderings: Ints) -> Floats:
    """Scores (B, c) of c orderings (B, c, n) of each collection by its tables (B, n, n).

    Examples
    --------
    >>> scores_of(np.eye(2)[None], np.zeros((1, 2, 2)), np.array([[[0, 1], [1, 0]]]))
    array([[2., 0.]])
    """
    n = orderings.shape[-1]
    first = (np.arange(len(orderings)) * n * n)[:, np.newaxis, np.newaxis]  # where the table of each collection begins
    rows = orderings * n + first
    stands = positions.take(rows + np.arange(n)).sum(axis=-1)
    return np.asarray(stands + flow.take(rows[..., :-1] + orderings[..., 1:]).sum(axis=-1), dtype=np.float64)


def draw_orderings(
    positions: Floats, flow: Floats, rng: np.random.Generator, *, chains: int, steps: int, every: int
) -> Iterator[Ints]:
    """Orderings of one collection drawn as often as they are likely, (chains, n) at a time.

    Parameters
    ----------
    positions, flow
        Shape (n, n).
    chains, steps
        Orderings that are changed side by side, and how often; the first fifth is not given out.
    every
        Steps from one that is given out to the next.
    """
    tables = positions[np.newaxis], flow[np.newaxis]
    orderings = _random(1, chains, len(positions), rng)
    scores = scores_of(*tables, orderings)
    for step in range(steps):
        orderings, scores = _step(*tables, orderings, scores, 1.0, rng)
        if step >= steps // 5 and step % every == 0:
            yield orderings[0]


def likely_orderings(
    positions: Tables,
    flow: Tables,
    rng: np.random.Generator,
    *,
    chains: int = 10,
    steps: int = 2000,
) -> Ints:
    """A likely ordering (B, n) of each collection, found by cooling: mostly the likeliest, not surely."""
    count, n, _ = positions.shape
    orderings = _random(count, chains, n, rng)
    scores = scores_of(positions, flow, orderings)
    best, most = orderings.copy(), scores.copy()
    for step in range(steps):
        heat = 1.5 * (0.02 / 1.5) ** (step / max(steps - 1, 1))
        orderings, scores = _step(positions, flow, orderings, scores, heat, rng)
        better = scores > most
        best[better], most[better] = orderings[better], scores[better]
    return np.asarray(best[np.arange(count), most.argmax(axis=1)])


def _random(count: int, chains: int, n: int, rng: np.random.Generator) -> Ints:
    return np.asarray(rng.random((count, chains, n)).argsort(axis=-1))


def _step(
    positions: Tables, flow: Tables, orderings: Ints, scores: Floats, heat: float, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Each ordering, changed where the change is accepted at this heat, and its score."""
    changed = _swapped(orderings, rng) if rng.random() < 0.5 else _moved(orderings, rng)
    new = scores_of(positions, flow, changed)
    accepted = new - scores > heat * np.log(rng.random(scores.shape))
    return np.where(accepted[..., np.newaxis], changed, orderings), np.where(accepted, new, scores)


def _swapped(orderings: Ints, rng: np.random.Generator) -> Ints:
    """Two items of each change places."""
    n = orderings.shape[-1]
    first, second = rng.integers(n, size=(2, *orderings.shape[:-1], 1))
    changed = orderings.copy()
    np.put_along_axis(changed, first, np.take_along_axis(orderings, second, -1), -1)
    np.put_along_axis(changed, second, np.take_along_axis(orderings, first, -1), -1)
    return changed


def _moved(orderings: Ints, rng: np.random.Generator) -> Ints:
    """One item of each is taken out and put in elsewhere, the same way back being as likely."""
    n = orderings.shape[-1]
    source, target = rng.integers(n, size=(2, *orderings.shape[:-1], 1))
    at = np.arange(n)
    shifted = np.where((at >= source) & (at < target), at + 1, np.where((at <= source) & (at > target), at - 1, at))
    return np.take_along_axis(orderings, np.where(at == target, source, shifted), axis=-1)
