"""Orderings drawn by their likelihood, and the likeliest found, for many collections of one length at a time.

Metropolis et al. 1953: two items of an ordering change places, or one is moved; what is likelier is kept, what is less
likely is kept as often as it is likely. Cooled down, the same finds likely orderings (Kirkpatrick et al. 1983).
"""

from __future__ import annotations

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


def expected_positions(
    positions: Tables,
    flow: Tables,
    rng: np.random.Generator,
    *,
    chains: int = 16,
    steps: int = 1000,
) -> Floats:
    """The mean position (B, n) of each item over orderings drawn by their likelihood.

    Sorting by it is the guess of the order with the least squared error. Takes what :func:`position_chances` takes.
    """
    chances = position_chances(positions, flow, rng, chains=chains, steps=steps)
    return np.asarray(chances @ np.arange(chances.shape[-1]))


def position_chances(
    positions: Tables,
    flow: Tables,
    rng: np.random.Generator,
    *,
    chains: int = 16,
    steps: int = 1000,
) -> Floats:
    """How likely each item stands at each position, (B, n, n), over orderings drawn by their likelihood.

    Parameters
    ----------
    positions, flow
        Shape (B, n, n).
    chains, steps
        Orderings of each collection that are changed side by side, and how often; the first fifth is not counted.
    """
    count, n, _ = positions.shape
    orderings = _random(count, chains, n, rng)
    scores = scores_of(positions, flow, orderings)
    seen, counted = np.zeros(count * n * n), 0
    first = (np.arange(count) * n * n)[:, np.newaxis, np.newaxis]
    for step in range(steps):
        orderings, scores = _step(positions, flow, orderings, scores, 1.0, rng)
        if step >= steps // 5 and step % 4 == 0:
            seen += np.bincount((first + orderings * n + np.arange(n)).ravel(), minlength=len(seen))
            counted += chains
    return seen.reshape(count, n, n) / max(counted, 1)


def balanced_ordering(chances: Floats) -> Ints:
    """The likeliest opener and close, and the rest sorted by expected position: the best guess at each of them.

    Parameters
    ----------
    chances
        Shape (n, n): how likely each item stands at each position.

    Examples
    --------
    >>> balanced_ordering(np.array([[0.1, 0.1, 0.8], [0.7, 0.2, 0.1], [0.2, 0.7, 0.1]]))
    array([1, 2, 0])
    """
    n = len(chances)
    expected = chances @ np.arange(n)
    if n < 3:
        return np.asarray(np.argsort(expected, kind="stable"))
    ends = chances[:, [0]] + chances[:, -1]  # (n, n): this one first, that one last
    np.fill_diagonal(ends, -np.inf)
    opener, close = np.unravel_index(int(ends.argmax()), ends.shape)
    rest = [i for i in np.argsort(expected, kind="stable") if i not in (opener, close)]
    return np.array([opener, *rest, close], dtype=np.intp)


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
