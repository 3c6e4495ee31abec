"""Metrics: a proposed ordering against the true one.

Conventions: an ordering is ``ordering[position] = item index`` with the items numbered in their true order, so the
true ordering is the identity 0..n-1. Every metric is 1 for the true ordering and larger is better. For a single
item there is no pair to look at: spearman, kendall and neighbours are then NaN, and means leave them out.

============  ========================================================================  =================
metric        what it is                                                                a random ordering
============  ========================================================================  =================
edit          1 / (1 + Levenshtein distance), the paper's string edit score             near 1 / n
spearman      rank correlation of item and position, -1 to 1                            0
kendall       pairs in their true order less pairs turned round, by all pairs, -1 to 1  0
first, last   whether the true opener comes first, the true closer last                 1 / n
neighbours    share of true neighbours (i, i + 1) still next to each other in that      1 / n
              direction
position      share of items in their true position                                     1 / n
perfect       whether the ordering is the true one                                      1 / n!
lcs           longest subsequence that keeps the true order, by n                       near 2 / sqrt(n)
============  ========================================================================  =================
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints, as_ordering
from fabula.errors import InputError

_SMALL = 64  # items compared pair by pair
_AT_A_TIME = 2**22  # pairs


@dataclass(frozen=True)
class Evaluation:
    """Means of every metric over orderings; ``evaluation["edit"]`` is ``evaluation.edit``, and ``dict()`` takes it.

    ``n`` says over how many orderings.
    """

    edit: float
    spearman: float
    kendall: float
    first: float
    last: float
    neighbours: float
    position: float
    perfect: float
    lcs: float
    n: int

    def keys(self) -> list[str]:
        """Names of the metrics, and ``n``."""
        return [each.name for each in fields(self)]

    def __getitem__(self, name: str) -> float:
        if name not in self.keys():
            raise KeyError(name)
        return float(getattr(self, name)) if name != "n" else self.n


def evaluate(orderings: Iterable[ArrayLike]) -> Evaluation:
    """Every metric, averaged over orderings.

    Parameters
    ----------
    orderings
        One per collection, each against the identity.

    Examples
    --------
    >>> result = evaluate([[0, 1, 2], [0, 2, 1]])
    >>> result.first, result["perfect"], result.n
    (1.0, 0.5, 2)
    """
    checked = validate(orderings)
    means = {name: _mean(np.array([metric(order) for order in checked])) for name, metric in METRICS.items()}
    return Evaluation(**means, n=len(checked))


def validate(orderings: Iterable[ArrayLike]) -> list[Ints]:
    """Check that each is a permutation of 0..n-1 with n at least 1, and that there is one."""
    checked = []
    for number, ordering in enumerate(orderings):
        try:
            order = as_ordering(ordering)
        except InputError as error:
            raise InputError(f"ordering {number}: {error}") from error
        if not order.size:
            raise InputError(f"ordering {number}: is empty; an ordering has at least one item")
        checked.append(order)
    if not checked:
        raise InputError("evaluation needs at least one ordering; got none")
    return checked


def edit(ordering: Ints) -> float:
    """1 / (1 + Levenshtein distance): insertions, deletions and substitutions that make it the true ordering.

    Examples
    --------
    >>> edit(np.array([2, 0, 1]))
    0.3333333333333333
    """
    from rapidfuzz.distance import Levenshtein

    return 1.0 / (1 + Levenshtein.distance(ordering.tolist(), range(len(ordering))))


def spearman(ordering: Ints) -> float:
    """Spearman's rho of item and position; NaN for one item."""
    n = len(ordering)
    if n < 2:
        return float("nan")
    squares = float(((ordering - np.arange(n)).astype(np.float64) ** 2).sum())
    return 1.0 - 6.0 * squares / (n * (n**2 - 1))


def kendall(ordering: Ints) -> float:
    """Kendall's tau of item and position; NaN for one item."""
    n = len(ordering)
    return 1.0 - 4.0 * _inversions(ordering) / (n * (n - 1)) if n > 1 else float("nan")


def first(ordering: Ints) -> float:
    """1 where the true opener comes first, else 0."""
    return float(ordering[0] == 0)


def last(ordering: Ints) -> float:
    """1 where the true closer comes last, else 0."""
    return float(ordering[-1] == len(ordering) - 1)


def neighbours(ordering: Ints) -> float:
    """Share of the n - 1 true neighbours that follow each other in the same direction; NaN for one item."""
    return float((np.diff(ordering) == 1).mean()) if len(ordering) > 1 else float("nan")


def position(ordering: Ints) -> float:
    """Share of items in their true position."""
    return float((ordering == np.arange(len(ordering))).mean())


def perfect(ordering: Ints) -> float:
    """1 where every item is in its true position, else 0."""
    return float((ordering == np.arange(len(ordering))).all())


def lcs(ordering: Ints) -> float:
    """Longest common subsequence with the true ordering, by n: the longest rising one, by patience sorting.

    Examples
    --------
    >>> lcs(np.array([3, 0, 1, 2]))
    0.75
    """
    tops: list[int] = []
    for item in ordering.tolist():
        pile = bisect_left(tops, item)
        tops[pile : pile + 1] = [item]
    return len(tops) / len(ordering)


METRICS = {
    "edit": edit,
    "spearman": spearman,
    "kendall": kendall,
    "first": first,
    "last": last,
    "neighbours": neighbours,
    "position": position,
    "perfect": perfect,
    "lcs": lcs,
}


def score_all(orderings: Sequence[Ints | None]) -> dict[str, Floats]:
    """Every metric of many orderings, (number,) each; NaN where there is no ordering.

    What each metric says of one, said of all of one length at once.

    Examples
    --------
    >>> score_all([np.array([0, 1, 2]), None, np.array([0, 2, 1])])["position"].round(2)
    array([1.  ,  nan, 0.33])
    """
    found = {name: np.full(len(orderings), np.nan) for name in METRICS}
    alike: dict[int, list[tuple[int, Ints]]] = {}
    for number, ordering in enumerate(orderings):
        if ordering is not None:
            alike.setdefault(len(ordering), []).append((number, ordering))
    for n, members in alike.items():
        size = max(1, _AT_A_TIME // n**2)
        for start in range(0, len(members), size):
            numbers, orders = zip(*members[start : start + size], strict=True)
            for name, scores in _of_length(np.stack(orders)).items():
                found[name][list(numbers)] = scores
    return found


def _of_length(orders: Ints) -> dict[str, Floats]:
    """Every metric of orderings of one length, shape (m, n)."""
    m, n = orders.shape
    if n < 2 or n > _SMALL:
        return {name: np.array([metric(order) for order in orders]) for name, metric in METRICS.items()}
    true = np.arange(n)
    turned = np.triu(orders[:, :, np.newaxis] > orders[:, np.newaxis], 1).sum(axis=(1, 2))
    placed = orders == true
    return {
        "edit": np.array([edit(order) for order in orders]),
        "spearman": 1.0 - 6.0 * ((orders - true) ** 2).sum(axis=1).astype(np.float64) / (n * (n**2 - 1)),
        "kendall": 1.0 - 4.0 * turned / (n * (n - 1)),
        "first": placed[:, 0].astype(np.float64),
        "last": placed[:, -1].astype(np.float64),
        "neighbours": (np.diff(orders, axis=1) == 1).mean(axis=1),
        "position": placed.mean(axis=1),
        "perfect": placed.all(axis=1).astype(np.float64),
        "lcs": np.array([lcs(order) for order in orders]).reshape(m),
    }


def _inversions(items: Ints) -> int:
    """Pairs that stand the wrong way round, by merging halves."""
    if len(items) <= _SMALL:
        return int(np.triu(items[:, np.newaxis] > items[np.newaxis], 1).sum())
    half = len(items) // 2
    left, right = items[:half], items[half:]
    across = half - np.searchsorted(np.sort(left), right)
    return _inversions(left) + _inversions(right) + int(across.sum())


def _mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Mean over the orderings for which there is a value; NaN where there is none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
