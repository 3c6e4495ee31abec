"""Pairing: all of an even number of items two by two, so that the costs of the pairs are small."""

from __future__ import annotations

import numpy as np

from fabula.core.arrays import Floats
from fabula.errors import InputError

_FEW = 12  # items up to which every pairing is looked at


def pair_up(costs: Floats) -> list[tuple[int, int]]:
    """Pairs of all items with a small sum of costs: the smallest up to 12 items, beyond what no exchange betters.

    Beyond, two pairs are exchanged as long as that helps, from the greedy pairing; within a few per cent of the best.

    Parameters
    ----------
    costs
        Shape (n, n), symmetric, n even; the diagonal is not looked at.

    Returns
    -------
    n / 2 pairs (i, j), i < j, by i.

    Raises
    ------
    InputError
        When the number of items is odd, or a cost is not finite.

    Examples
    --------
    >>> pair_up(np.array([[0, 9, 1, 9], [9, 0, 9, 2], [1, 9, 0, 9], [9, 2, 9, 0.0]]))
    [(0, 2), (1, 3)]
    """
    n = len(costs)
    if costs.shape != (n, n) or n % 2 or not np.isfinite(costs).all():
        raise InputError(f"costs must be finite, of shape (n, n) with n even; got {costs.shape}")
    pairs = _exact(costs) if n <= _FEW else _exchange(costs, _greedy(costs))
    return sorted((min(pair), max(pair)) for pair in pairs)


def _exact(costs: Floats) -> list[tuple[int, int]]:
    """By dynamic programming over the sets of items that are paired already."""
    n = len(costs)
    best: dict[int, tuple[float, list[tuple[int, int]]]] = {0: (0.0, [])}
    for done in range(1 << n):
        if done not in best:
            continue
        cost, pairs = best[done]
        first = next((i for i in range(n) if not done >> i & 1), None)
        for other in range(first + 1, n) if first is not None else ():
            if done >> other & 1:
                continue
            more, then = cost + float(costs[first, other]), done | 1 << first | 1 << other  # type: ignore[operator]
            if then not in best or more < best[then][0]:
                best[then] = more, [*pairs, (first, other)]  # type: ignore[list-item]
    return best[(1 << n) - 1][1]


def _greedy(costs: Floats) -> list[tuple[int, int]]:
    left, right = np.triu_indices(len(costs), 1)
    free, pairs = np.ones(len(costs), dtype=bool), []
    for k in np.argsort(costs[left, right], kind="stable"):
        i, j = int(left[k]), int(right[k])
        if free[i] and free[j]:
            free[i] = free[j] = False
            pairs.append((i, j))
    return pairs


def _exchange(costs: Floats, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Partners exchanged between two pairs, the exchange that gains most first, until none gains."""
    a, b = np.array(pairs).T
    while True:
        own = costs[a, b]
        before = own[:, np.newaxis] + own
        straight = costs[a[:, np.newaxis], a] + costs[b[:, np.newaxis], b] - before
        crossed = costs[a[:, np.newaxis], b] + costs[b[:, np.newaxis], a] - before
        gains = np.minimum(straight, crossed)
        np.fill_diagonal(gains, 0.0)
        p, q = np.unravel_index(int(np.argmin(gains)), gains.shape)
        if gains[p, q] > -1e-12:
            return list(zip(a.tolist(), b.tolist(), strict=True))
        if straight[p, q] <= crossed[p, q]:
            b[p], a[q] = a[q], b[p]
        else:
            b[p], b[q] = b[q], b[p]
