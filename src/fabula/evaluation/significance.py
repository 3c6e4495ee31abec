"""Significance: whether one way of ordering does better than another on the same collections.

Everything here is paired: ``a[i]`` and ``b[i]`` are scores of one collection. A pair with a NaN on either side is left
out, and ``n`` says how many pairs were used; two are needed. Differences that are all alike (to rounding) have no
spread: the effect is then 0 for zeros and infinite for any other constant, and the t-test follows it (p = 1 for zeros).

A p-value never comes alone: the number of pairs, the mean difference and the effect size stand beside it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats
from fabula.errors import InputError
from fabula.evaluation.intervals import as_scores, batch_size, drop_missing, is_constant, mean_and_error, mean_interval

Alternative = Literal["two-sided", "greater", "less"]
Groups = Sequence[Hashable]

_EXACT = 16  # pairs up to which all 2**n signs are tried


@dataclass(frozen=True)
class Test:
    """The outcome of one test of a mean difference against zero."""

    __test__ = False  # not a class of tests

    n: int  # pairs used
    difference: float  # mean of a - b
    effect: float  # Cohen's d_z: the mean difference by the deviation of the differences
    statistic: float  # Student's t, or the mean difference for the sign-flip test
    p: float  # probability of a statistic this extreme when there is no difference


@dataclass(frozen=True)
class Comparison:
    """Two ways of ordering, ``a`` and ``b``, compared on the same collections."""

    a: str
    b: str
    n: int  # pairs used
    difference: float  # mean of a - b
    low: float  # its bootstrap interval
    high: float
    effect: float  # Cohen's d_z
    p: float
    adjusted: float  # p for the whole family (Holm-Bonferroni)


@dataclass(frozen=True)
class ComparisonSettings:
    """How scores are compared."""

    test: Literal["t", "sign-flip"] = "t"  # the paper's paired t-test, or the sign-flip permutation test
    alternative: Alternative = "two-sided"  # "greater": a is larger than b
    level: float = 0.95  # of the interval of the mean difference, by a studentised bootstrap
    resamples: int = 2000
    seed: int = 0  # of the bootstrap and of random sign flips

    def __post_init__(self) -> None:
        if self.test not in ("t", "sign-flip"):
            raise InputError(f'the test must be "t" or "sign-flip"; got {self.test!r}')


def compare_scores(
    scores: Mapping[str, ArrayLike],
    *,
    baseline: str | None = None,
    pairs: Iterable[tuple[str, str]] | None = None,
    settings: ComparisonSettings | None = None,
    groups: Groups | None = None,
) -> list[Comparison]:
    """Compare ways of ordering (name -> scores (m,)) on the same collections, as one family.

    Compared are the pairs given, or every other one with the baseline, or every two. Where some collections are by the
    same, ``groups`` says whom each is by: errors and intervals are then over groups, drawn whole. P-values are adjusted
    over all pairs.

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
            differences, by = pair_differences(scores[a], scores[b], groups)
        except InputError as error:
            raise InputError(f"{a} and {b}: {error}") from error
        zeros = np.zeros_like(differences)
        intervals.append(mean_interval(differences, rng, by, level=how.level, resamples=how.resamples))
        if how.test == "t":
            tests.append(t_test(differences, zeros, alternative=how.alternative, groups=by))
        else:
            tests.append(sign_flip_test(differences, zeros, rng, alternative=how.alternative))
    adjusted = holm([each.p for each in tests])
    return [
        Comparison(a, b, each.n, each.difference, interval.low, interval.high, each.effect, each.p, float(q))
        for (a, b), each, interval, q in zip(chosen, tests, intervals, adjusted, strict=True)
    ]


def t_test(a: ArrayLike, b: ArrayLike, *, alternative: Alternative = "two-sided", groups: Groups | None = None) -> Test:
    """Paired t-test of scores (m,) each, as in the paper's Appendix D.

    With ``groups``, whom each pair is by, the error of the mean is that over groups, and there is one degree of freedom
    less than groups.
    """
    from scipy.special import stdtr

    _check_alternative(alternative)
    differences, by = pair_differences(a, b, groups)
    if by is None:
        degrees, statistic = len(differences) - 1, cohen_dz(differences) * math.sqrt(len(differences))
    else:
        mean, error = mean_and_error(differences, by)
        degrees, statistic = max(len(set(by)) - 1, 1), mean / error if error > 0 else _endless(mean)
    tail = {"two-sided": -abs(statistic), "greater": -statistic, "less": statistic}[alternative]
    p = float(stdtr(degrees, tail)) * (2 if alternative == "two-sided" else 1)
    return Test(len(differences), float(differences.mean()), cohen_dz(differences), statistic, p)


def sign_flip_test(
    a: ArrayLike, b: ArrayLike, rng: np.random.Generator, *, alternative: Alternative = "two-sided", draws: int = 9999
) -> Test:
    """Permutation test of paired scores (m,): under no difference every sign of ``a - b`` is as likely as the other.

    All ``2**n`` signs for n of 16 and fewer, which is exact; else random ones, the observed one counted with them.
    """
    _check_alternative(alternative)
    if draws < 1:
        raise InputError(f"draws must be at least 1; got {draws}")
    differences, _ = pair_differences(a, b)
    n, total = len(differences), float(differences.sum())
    slack = 1e-12 * float(np.abs(differences).sum())  # sums of the same numbers in other orders differ by rounding
    extreme = 0
    for sums in _flip_all(differences) if n <= _EXACT else _flip_some(differences, rng, draws):
        far = {"two-sided": np.abs(sums) - abs(total), "greater": sums - total, "less": total - sums}[alternative]
        extreme += int((far >= -slack).sum())
    p = extreme / 2**n if n <= _EXACT else (1 + extreme) / (1 + draws)
    mean = float(differences.mean())
    return Test(n, mean, cohen_dz(differences), mean, p)


def _flip_all(differences: Floats) -> Iterator[Floats]:
    """Sums of the differences under every choice of signs."""
    sums = np.zeros(1)
    for value in differences.tolist():
        sums = np.concatenate([sums + value, sums - value])
    yield sums


def _flip_some(differences: Floats, rng: np.random.Generator, draws: int) -> Iterator[Floats]:
    """Sums of the differences under random signs, some at a time; many times faster than SciPy's permutation test."""
    n = len(differences)
    for start in range(0, draws, batch_size(n)):
        flipped = rng.integers(0, 2, size=(min(batch_size(n), draws - start), n), dtype=np.int8)
        yield differences.sum() - 2 * (flipped @ differences)


def pair_differences(a: ArrayLike, b: ArrayLike, groups: Groups | None = None) -> tuple[Floats, Groups | None]:
    """``a - b`` without the pairs that hold a NaN, of which at least two must remain, and whom those are by."""
    first, second = as_scores(a, "a"), as_scores(b, "b")
    if first.shape != second.shape:
        raise InputError(f"paired scores must be of the same collections: got {first.size} and {second.size}")
    whole = first - second
    by = None if groups is None else [g for g, value in zip(groups, whole, strict=True) if not np.isnan(value)]
    return drop_missing(whole), by


def cohen_dz(differences: ArrayLike) -> float:
    """Cohen's d_z: mean difference by the standard deviation of the differences (n - 1).

    0 when all differences are zero, infinite when they are another constant.
    """
    values = drop_missing(as_scores(differences, "differences"))
    if is_constant(values):
        return _endless(float(values.mean()))
    scaled = values / np.abs(values).max()  # so that squares neither overflow nor vanish
    return float(scaled.mean() / scaled.std(ddof=1))


def holm(p_values: ArrayLike) -> Floats:
    """Adjust the p-values (m,) of a family so that the chance of any false alarm is held (Holm-Bonferroni)."""
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError(f"p-values must be a list of numbers in [0, 1]; got {np.array2string(p, threshold=8)}")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
    return adjusted


def _endless(mean: float) -> float:
    """The ratio of a mean to no spread at all."""
    return math.copysign(math.inf, mean) if mean else 0.0


def _check_alternative(alternative: str) -> None:
    if alternative not in ("two-sided", "greater", "less"):
        raise InputError(f'the alternative must be "two-sided", "greater" or "less"; got {alternative!r}')


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
    asked = [name for pair in chosen for name in pair] + ([] if baseline is None else [baseline])
    for name in asked:
        if name not in scores:
            raise InputError(f"there are no scores called {name!r}; there are: {', '.join(names) or 'none'}")
    if not chosen:
        raise InputError(f"a comparison needs two lists of scores; got {', '.join(names) or 'none'}")
    return chosen
