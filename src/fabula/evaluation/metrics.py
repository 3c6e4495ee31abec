"""Metrics: a proposed ordering against the true one.

Conventions: an ordering is ``ordering[position] = item index`` with the items numbered in their true order, so the
true ordering is the identity 0..n-1. A metric takes one ordering (n,) or many (m, n); it is 1 for the true one, and
larger is better. For a single item there is no pair to look at: spearman, kendall and neighbours are then NaN, and
means leave them out.

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

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints, as_essence, as_ordering, by_length, normalise
from fabula.core.collection import Collection
from fabula.core.fit import fit
from fabula.core.moves import longest_rising
from fabula.core.template import Template, TemplateSet
from fabula.errors import InputError, brief

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
        return list(vars(self))

    def __getitem__(self, name: str) -> float:
        found: float = vars(self)[name]
        return found


def evaluate(orderings: Iterable[ArrayLike]) -> Evaluation:
    """Every metric, averaged over orderings, one per collection, each against the identity.

    >>> result = evaluate([[0, 1, 2], [0, 2, 1]])
    >>> result.first, result["perfect"], result.n
    (1.0, 0.5, 2)
    """
    checked = validate(orderings)
    known = {name: scores[~np.isnan(scores)] for name, scores in score_all(checked).items()}
    means = {name: float(scores.mean()) if scores.size else float("nan") for name, scores in known.items()}
    return Evaluation(**means, n=len(checked))


def validate(orderings: Iterable[ArrayLike]) -> list[Ints]:
    """Check that each is a permutation of 0..n-1 with n at least 1, and that there is one."""
    if not isinstance(orderings, Iterable):
        raise InputError(f"must be a list of orderings; got {brief(orderings)}", field="orderings")
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


def edit(orders: Ints) -> Floats:
    """1 / (1 + Levenshtein distance): insertions, deletions and substitutions that make it the true ordering."""
    from rapidfuzz.distance import Levenshtein

    true = range(orders.shape[-1])
    return _each(lambda order: 1.0 / (1 + Levenshtein.distance(order.tolist(), true)), orders)


def spearman(orders: Ints) -> Floats:
    """Spearman's rho of item and position; NaN for one item."""
    n = orders.shape[-1]
    squares = ((orders - np.arange(n)) ** 2).sum(axis=-1)
    return np.asarray(1.0 - 6.0 * squares / (n * (n**2 - 1)) if n > 1 else np.full(squares.shape, np.nan))


def kendall(orders: Ints) -> Floats:
    """Kendall's tau of item and position; NaN for one item."""
    n = orders.shape[-1]
    if n > _SMALL:
        from scipy.stats import kendalltau

        return _each(lambda order: float(kendalltau(order, range(n)).statistic), orders)
    turned = np.triu(orders[..., :, np.newaxis] > orders[..., np.newaxis, :], 1).sum(axis=(-2, -1))
    return np.asarray(1.0 - 4.0 * turned / (n * (n - 1)) if n > 1 else np.full(turned.shape, np.nan))


def first(orders: Ints) -> Floats:
    """1 where the true opener comes first, else 0."""
    return np.asarray(orders[..., 0] == 0, dtype=np.float64)


def last(orders: Ints) -> Floats:
    """1 where the true closer comes last, else 0."""
    return np.asarray(orders[..., -1] == orders.shape[-1] - 1, dtype=np.float64)


def neighbours(orders: Ints) -> Floats:
    """Share of the n - 1 true neighbours that follow each other in the same direction; NaN for one item."""
    if orders.shape[-1] < 2:
        return np.full(orders.shape[:-1], np.nan)
    return np.asarray((np.diff(orders, axis=-1) == 1).mean(axis=-1))


def position(orders: Ints) -> Floats:
    """Share of items in their true position."""
    return np.asarray((orders == np.arange(orders.shape[-1])).mean(axis=-1))


def perfect(orders: Ints) -> Floats:
    """1 where every item is in its true position, else 0."""
    return np.asarray((orders == np.arange(orders.shape[-1])).all(axis=-1), dtype=np.float64)


def lcs(orders: Ints) -> Floats:
    """Longest common subsequence with the true ordering, by n: the longest rising one."""
    n = orders.shape[-1]
    return np.asarray(longest_rising(orders.reshape(-1, n)).reshape(orders.shape[:-1]) / n)


METRICS = {each.__name__: each for each in (edit, spearman, kendall, first, last, neighbours, position, perfect, lcs)}
# The least and the largest value of each.
RANGES = {name: (-1.0 if name in ("spearman", "kendall") else 0.0, 1.0) for name in METRICS}


def score_all(orderings: Sequence[Ints | None]) -> dict[str, Floats]:
    """Every metric of many orderings, (number,) each, those of one length at once; NaN where there is no ordering.

    >>> score_all([np.array([0, 1, 2]), None, np.array([0, 2, 1])])["position"].round(2)
    array([1.  ,  nan, 0.33])
    """
    found = {name: np.full(len(orderings), np.nan) for name in METRICS}
    known = {number: ordering for number, ordering in enumerate(orderings) if ordering is not None}
    numbers, items = np.array(list(known), dtype=np.intp), np.concatenate([np.empty(0, np.intp), *known.values()])
    for some in by_length(np.cumsum([0, *map(len, known.values())]), _AT_A_TIME):
        for name, metric in METRICS.items():
            found[name][numbers[some.numbers]] = metric(items[some.rows])
    return found


def _each(metric: Callable[[Ints], float], orders: Ints) -> Floats:
    """A number of each ordering by itself: (n,) -> (), (m, n) -> (m,)."""
    return np.asarray(np.apply_along_axis(metric, -1, orders), dtype=np.float64)


# Baselines: orderings that any method must beat, and the paper's score of a set of proposals.


def random_proposals(lengths: Iterable[int], k: int, rng: np.random.Generator) -> list[list[Ints]]:
    """The paper's first baseline: k independent, uniformly random orderings per collection of so many items."""
    return [[rng.permutation(n) for _ in range(k)] for n in lengths]


def template_proposals(
    essences: Sequence[ArrayLike], templates: Sequence[Template] | TemplateSet, rng: np.random.Generator
) -> list[list[Ints]]:
    """Each collection fitted to each of k templates: one list of k orderings per collection.

    Essences have shape (n,) or (n, d), in true order, and are normalised here; ``rng`` puts equal items in random
    order.
    """
    proposals = []
    for number, essence in enumerate(essences):
        values = normalise(as_essence(essence, name=f"essence of collection {number}"))
        mixed = rng.permutation(len(values))
        proposals.append([mixed[fit(values[mixed], template).ordering] for template in templates])
    return proposals


def shuffle_proposals(
    essences: Sequence[ArrayLike], templates: Sequence[Template] | TemplateSet, rng: np.random.Generator
) -> list[list[Ints]]:
    """The paper's second baseline: the essence shuffled within each collection, then fitted to the templates.

    What is left over random orderings is what fitting gains from noise. Takes what :func:`template_proposals` takes.
    """
    values = [as_essence(essence, name=f"essence of collection {number}") for number, essence in enumerate(essences)]
    return template_proposals([value[rng.permutation(len(value))] for value in values], templates, rng)


def single_features(collections: Sequence[Collection], rng: np.random.Generator) -> dict[str, list[Ints]]:
    """Each feature by itself: ``"<feature> up"`` and ``"<feature> down"`` -> one ordering per collection.

    The collections, in true order, have the same features of one number per item. Items without a value come last,
    equal ones in random order.
    """
    for c in collections:
        if c.features.ndim != 2:
            shape = c.features.shape
            raise InputError(f"single features must be one number per item; those of {c.id!r} have shape {shape}")
    orderings: dict[str, list[Ints]] = {}
    for name in collections[0].feature_names if collections else ():
        for direction, sign in (("up", 1.0), ("down", -1.0)):
            orderings[f"{name} {direction}"] = [_sort(sign * c.column(name), rng) for c in collections]
    return orderings


def best_scores(proposals: Sequence[Sequence[Ints]], metric: str = "edit") -> Floats:
    """The paper's measure: the largest score (m,) over the proposals of each collection, by a name in ``METRICS``.

    More proposals score higher by chance alone: compare with as many random ones.
    """
    return np.array([METRICS[metric](np.stack(orderings)).max() for orderings in proposals])


def _sort(values: Floats, rng: np.random.Generator) -> Ints:
    mixed = rng.permutation(len(values))
    return np.asarray(mixed[np.argsort(values[mixed], kind="stable")], dtype=np.intp)
