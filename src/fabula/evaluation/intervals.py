"""Bootstrap intervals of a mean over collections, and tests of whether one mean is above another."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints
from fabula.errors import InputError

_DRAWN = 4_000_000  # numbers drawn and held at a time
_FEW_GROUPS = 5  # below which resamples are too much alike
_ENDS = np.array([(1 - 0.95) / 2, (1 + 0.95) / 2])  # of an interval
_ALIKE = 1e-12  # spread, by the largest value, below which values are a constant


@dataclass(frozen=True)
class Interval:
    """A mean with its bootstrap interval, over ``n`` values."""

    n: int
    mean: float
    low: float
    high: float


def bootstrap(values: ArrayLike, rng: np.random.Generator, *, resamples: int = 2000) -> Interval:
    """The 95 % bootstrap interval of the mean of values (m,), NaN left out; for bias and skew see Efron 1987."""
    if resamples < 1:
        raise InputError(f"resamples must be at least 1; got {resamples}")
    sample = drop_missing(as_scores(values, "values"))
    mean = float(sample.mean())
    if is_constant(sample):
        return Interval(len(sample), mean, mean, mean)
    means = np.concatenate([sample[drawn].mean(axis=1) for drawn in _resample(len(sample), resamples, rng)])
    low, high = np.quantile(means, _bca_ends(sample, means))
    return Interval(len(sample), mean, float(low), float(high))


def mean_interval(
    values: Floats,
    rng: np.random.Generator,
    groups: Sequence[Hashable] | None = None,
    *,
    resamples: int = 2000,
) -> Interval:
    """The 95 % interval of the mean of values (m,) by a studentised bootstrap over groups, which are drawn whole.

    Each resample is measured by its own error, so that few and skewed values are not taken for sure
    (``benchmarks/known_truth.py`` counts how many intervals hold the truth). Values of one group are like each other:
    drawn one by one, they would make the interval too narrow. Without groups each value is by somebody else. Below 5
    groups it is Student's interval. A single group says nothing of others: its mean is its own interval.
    """
    sums, counts = _by_group(values, groups)
    mean, error = mean_and_error(values, groups)
    if len(sums) < 2 or error <= _ALIKE * float(np.abs(values).max()):
        return Interval(len(values), mean, mean, mean)
    below, above = _student_ends(sums, counts, mean, rng, resamples)
    return Interval(len(values), mean, mean - above * error, mean - below * error)


def mean_and_error(values: Floats, groups: Sequence[Hashable] | None = None) -> tuple[float, float]:
    """A mean, and its standard error where the values of one group go together.

    >>> mean_and_error(np.array([1.0, 3.0])), mean_and_error(np.array([1.0, 1.0, 3.0, 3.0]), ["a", "a", "b", "b"])
    ((2.0, 1.0), (2.0, 1.0))
    """
    sums, counts = _by_group(values, groups)
    mean = float(values.mean())
    return mean, float(_errors(sums[np.newaxis], counts[np.newaxis], np.array([mean]))[0])


def _by_group(values: Floats, groups: Sequence[Hashable] | None) -> tuple[Floats, Floats]:
    """Sum and number of the values of each group, (g,) each."""
    if groups is None:
        return values, np.ones(len(values))
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    number = np.array([numbers[group] for group in groups])
    return np.bincount(number, weights=values).astype(np.float64), np.bincount(number).astype(np.float64)


def _errors(sums: Floats, counts: Floats, means: Floats) -> Floats:
    """Standard errors (r,) of means (r,) over groups drawn whole: sums and numbers of values (r, g)."""
    g = sums.shape[1]
    off = ((sums - means[:, np.newaxis] * counts) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(off * g / max(g - 1, 1)) / counts.sum(axis=1))


def _student_ends(
    sums: Floats, counts: Floats, mean: float, rng: np.random.Generator, resamples: int
) -> tuple[float, float]:
    """Quantiles of (resampled mean - mean) / its error; of Student's t where groups are few."""
    from scipy.special import stdtrit

    g = len(sums)
    if g < _FEW_GROUPS:
        low, high = stdtrit(g - 1, _ENDS)
        return float(low), float(high)
    found = []
    for drawn in _resample(g, resamples, rng):
        totals, sizes = sums[drawn], counts[drawn]
        means = totals.sum(axis=1) / sizes.sum(axis=1)
        errors = _errors(totals, sizes, means)
        varied = errors > _ALIKE * np.abs(sums).max()
        found.append((means - mean)[varied] / errors[varied])
    low, high = np.quantile(np.concatenate(found), _ENDS)
    return float(low), float(high)


def as_scores(values: ArrayLike, name: str) -> Floats:
    """Check scores and return them as floats of shape (m,); NaN is allowed."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a list of numbers, one per collection") from error
    if array.ndim != 1:
        raise InputError(f"{name} must be a list of numbers, one per collection; got shape {array.shape}")
    if np.isinf(array).any():
        raise InputError(f"{name} must be finite or NaN; got {array[np.isinf(array)][0]} at {np.isinf(array).argmax()}")
    return array


def drop_missing(values: Floats) -> Floats:
    """The values that are not NaN; at least two."""
    kept = values[~np.isnan(values)]
    if kept.size < 2:
        raise InputError(f"at least 2 values that are not NaN are needed; got {kept.size}")
    return kept


def is_constant(values: Floats) -> bool:
    """Whether the values are alike to rounding."""
    return bool(np.ptp(values) <= _ALIKE * np.abs(values).max())


def _resample(groups: int, resamples: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Numbers of groups drawn with replacement, (rows, groups), some rows at a time."""
    size = max(1, _DRAWN // max(groups, 1))
    for start in range(0, resamples, size):
        yield rng.integers(groups, size=(min(size, resamples - start), groups))


def _bca_ends(sample: Floats, means: Floats) -> Floats:
    """The quantiles to take instead of the ends: bias from the resamples, skew from the jackknife."""
    from scipy.special import ndtr, ndtri

    mean = sample.mean()
    below = ((means < mean).mean() + (means <= mean).mean()) / 2
    if not 0 < below < 1:  # too few resamples to tell the bias
        return _ENDS
    bias = ndtri(below)
    centred = (sample - mean) / np.abs(sample - mean).max()  # the jackknife means about theirs, but for a factor
    skew = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)
    shifted = bias + ndtri(_ENDS)
    return np.asarray(ndtr(bias + shifted / (1 - skew * shifted)), dtype=np.float64)


# Significance: whether one way of ordering does better than another on the same collections.

Groups = Sequence[Hashable]


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


def compare_scores(
    scores: Mapping[str, ArrayLike],
    pairs: Sequence[tuple[str, str]],
    *,
    seed: int = 0,
    resamples: int = 2000,
    groups: Groups | None = None,
) -> list[Comparison]:
    """Compare pairs of ways of ordering (name -> scores (m,)) on the same collections, as one family.

    The paper's paired t-test, and the interval of the mean difference by a studentised bootstrap, which the seed
    draws. Where some collections are by the same, ``groups`` says whom each is by: errors and intervals are then over
    groups, drawn whole. P-values are adjusted over all pairs.

    >>> scores = {"arcs": [0.5, 0.4, 0.6], "random": [0.1, 0.2, 0.1]}
    >>> result = compare_scores(scores, [("arcs", "random")])[0]
    >>> result.a, result.n, round(result.difference, 3), round(result.effect, 2), round(result.p, 3)
    ('arcs', 3, 0.367, 2.4, 0.053)
    """
    unknown = next((name for pair in pairs for name in pair if name not in scores), None)
    if unknown is not None:
        raise InputError(f"there are no scores called {unknown!r}; there are: {', '.join(scores) or 'none'}")
    found = []
    for (a, b), rng in zip(pairs, np.random.default_rng(seed).spawn(len(pairs)), strict=True):
        try:
            differences, by = pair_differences(scores[a], scores[b], groups)
        except InputError as error:
            raise InputError(f"{a} and {b}: {error}") from error
        interval = mean_interval(differences, rng, by, resamples=resamples)
        told = float(differences.mean()), interval.low, interval.high, cohen_dz(differences)
        found.append(Comparison(a, b, len(differences), *told, t_test(differences, by)[1], 1.0))
    adjusted = holm([each.p for each in found])
    return [replace(each, adjusted=float(p)) for each, p in zip(found, adjusted, strict=True)]


def t_test(differences: Floats, groups: Groups | None = None) -> tuple[float, float]:
    """Student's t of paired differences (m,) against zero, and its two-sided p, as in the paper's Appendix D.

    With ``groups``, whom each pair is by, the error of the mean is that over groups, and there is one degree of freedom
    less than groups.
    """
    from scipy.special import stdtr

    if groups is None:
        degrees, statistic = len(differences) - 1, cohen_dz(differences) * math.sqrt(len(differences))
    else:
        mean, error = mean_and_error(differences, groups)
        degrees, statistic = max(len(set(groups)) - 1, 1), mean / error if error > 0 else _endless(mean)
    return statistic, float(stdtr(degrees, -abs(statistic))) * 2


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
