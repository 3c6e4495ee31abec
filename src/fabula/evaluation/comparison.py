"""Ways of ordering compared on the same collections, as one family of tests."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats
from fabula.errors import InputError
from fabula.evaluation.intervals import mean_interval
from fabula.evaluation.significance import (
    Alternative,
    Test,
    grouped_differences,
    holm,
    paired_differences,
    sign_flip_test,
    t_test,
)


@dataclass(frozen=True)
class Comparison:
    """Two ways of ordering compared on the same collections.

    Attributes
    ----------
    a, b
        Their names.
    n
        Pairs used.
    difference, low, high
        Mean of ``a - b`` and its bootstrap interval.
    effect
        Cohen's d_z.
    p, adjusted
        The p-value, and the one adjusted for the whole family (Holm-Bonferroni).
    """

    a: str
    b: str
    n: int
    difference: float
    low: float
    high: float
    effect: float
    p: float
    adjusted: float


@dataclass(frozen=True)
class ComparisonSettings:
    """How scores are compared.

    Attributes
    ----------
    test
        The paper's paired t-test, or the sign-flip permutation test.
    alternative
        ``"greater"``: a is larger than b.
    level, resamples
        Of the interval of the mean difference, by a studentised bootstrap.
    seed
        Of the bootstrap and of random sign flips.
    """

    test: Literal["t", "sign-flip"] = "t"
    alternative: Alternative = "two-sided"
    level: float = 0.95
    resamples: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.test not in ("t", "sign-flip"):
            raise InputError(f'the test must be "t" or "sign-flip"; got {self.test!r}')


def compare_scores(
    scores: Mapping[str, ArrayLike],
    *,
    baseline: str | None = None,
    pairs: Iterable[tuple[str, str]] | None = None,
    settings: ComparisonSettings | None = None,
    groups: Sequence[Hashable] | None = None,
) -> list[Comparison]:
    """Compare ways of ordering on the same collections, as one family.

    Parameters
    ----------
    scores
        Name -> shape (m,), one score per collection, in the same order for all.
    baseline
        Compare every other one with this one.
    pairs
        Compare these, as (a, b); without it and without a baseline, every two.
    settings
        How; by default by paired t-tests.
    groups
        Whom each collection is by, where some are by the same: errors and intervals are then over groups, drawn whole.

    Returns
    -------
    One comparison per pair, p-values adjusted over all of them.

    Examples
    --------
    >>> result = compare_scores({"arcs": [0.5, 0.4, 0.6], "random": [0.1, 0.2, 0.1]}, baseline="random")[0]
    >>> result.a, result.n, round(result.difference, 3), round(result.effect, 2), round(result.p, 3)
    ('arcs', 3, 0.367, 2.4, 0.053)
    """
    how = settings or ComparisonSettings()
    chosen = _pairs(scores, baseline, pairs)
    rngs = np.random.default_rng(how.seed).spawn(len(chosen))
    tests, intervals = [], []
    for (a, b), rng in zip(chosen, rngs, strict=True):
        try:
            differences, by = _differences(scores[a], scores[b], groups)
        except InputError as error:
            raise InputError(f"{a} and {b}: {error}") from error
        intervals.append(mean_interval(differences, rng, by, level=how.level, resamples=how.resamples))
        tests.append(_tested(differences, by, how, rng))
    adjusted = holm([each.p for each in tests])
    return [
        Comparison(a, b, each.n, each.difference, interval.low, interval.high, each.effect, each.p, float(q))
        for (a, b), each, interval, q in zip(chosen, tests, intervals, adjusted, strict=True)
    ]


def _differences(
    a: ArrayLike, b: ArrayLike, groups: Sequence[Hashable] | None
) -> tuple[Floats, Sequence[Hashable] | None]:
    return (paired_differences(a, b), None) if groups is None else grouped_differences(a, b, groups)


def _tested(
    differences: Floats, groups: Sequence[Hashable] | None, how: ComparisonSettings, rng: np.random.Generator
) -> Test:
    zeros = np.zeros_like(differences)
    if how.test == "t":
        return t_test(differences, zeros, alternative=how.alternative, groups=groups)
    return sign_flip_test(differences, zeros, rng, alternative=how.alternative)


def _pairs(
    scores: Mapping[str, ArrayLike], baseline: str | None, pairs: Iterable[tuple[str, str]] | None
) -> Sequence[tuple[str, str]]:
    names = list(scores)
    if baseline is not None and pairs is not None:
        raise InputError("give a baseline or pairs, not both")
    if pairs is not None:
        chosen = list(pairs)
    elif baseline is not None:
        chosen = [(name, baseline) for name in names if name != baseline]
    else:
        chosen = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    unknown = [name for pair in [*chosen, *([(baseline,)] if baseline is not None else [])] for name in pair]
    for name in unknown:
        if name not in scores:
            raise InputError(f"there are no scores called {name!r}; there are: {', '.join(names) or 'none'}")
    if not chosen:
        raise InputError(f"a comparison needs two lists of scores; got {', '.join(names) or 'none'}")
    return chosen
