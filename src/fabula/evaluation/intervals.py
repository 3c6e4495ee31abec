"""Bootstrap intervals of a mean over collections, and tests of whether one mean is above another."""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints
from fabula.errors import InputError

_DRAWN = 4_000_000  # numbers drawn and held at a time
_FEW_GROUPS = 5  # below which resamples are too much alike
_ALIKE = 1e-12  # spread, by the largest value, below which values are a constant


@dataclass(frozen=True)
class Interval:
    """A mean with its bootstrap interval, over ``n`` values."""

    n: int
    mean: float
    low: float
    high: float


def bootstrap(
    values: ArrayLike,
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    method: Literal["bca", "percentile"] = "bca",
) -> Interval:
    """Bootstrap interval of the mean of values (m,), NaN left out; for a difference pass ``pair_differences(a, b)[0]``.

    ``"bca"`` corrects for bias and skew (Efron 1987); ``"percentile"`` takes the plain quantiles.
    """
    if not 0 < level < 1:
        raise InputError(f"the level of an interval must lie between 0 and 1; got {level}")
    if resamples < 1:
        raise InputError(f"resamples must be at least 1; got {resamples}")
    if method not in ("bca", "percentile"):
        raise InputError(f'the method must be "bca" or "percentile"; got {method!r}')
    sample = drop_missing(as_scores(values, "values"))
    mean = float(sample.mean())
    if is_constant(sample):
        return Interval(len(sample), mean, mean, mean)
    means = np.concatenate([sample[drawn].mean(axis=1) for drawn in _resample(len(sample), resamples, rng)])
    ends = np.array([(1 - level) / 2, (1 + level) / 2])
    low, high = np.quantile(means, _bca_ends(sample, means, ends) if method == "bca" else ends.round(12))
    return Interval(len(sample), mean, float(low), float(high))


def mean_interval(
    values: Floats,
    rng: np.random.Generator,
    groups: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 2000,
) -> Interval:
    """The interval of the mean of values (m,) by a studentised bootstrap over groups, which are drawn whole.

    Each resample is measured by its own error, so that few and skewed values are not taken for sure
    (``benchmarks/known_truth.py`` counts how many intervals hold the truth). Values of one group are like each other:
    drawn one by one, they would make the interval too narrow. Without groups each value is by somebody else. Below 5
    groups it is Student's interval. A single group says nothing of others: its mean is its own interval.
    """
    sums, counts = _by_group(values, groups)
    mean, error = mean_and_error(values, groups)
    if len(sums) < 2 or error <= _ALIKE * float(np.abs(values).max()):
        return Interval(len(values), mean, mean, mean)
    below, above = _student_ends(sums, counts, mean, rng, level, resamples)
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
    sums: Floats, counts: Floats, mean: float, rng: np.random.Generator, level: float, resamples: int
) -> tuple[float, float]:
    """Quantiles of (resampled mean - mean) / its error; of Student's t where groups are few."""
    from scipy.special import stdtrit

    g = len(sums)
    ends = np.array([(1 - level) / 2, (1 + level) / 2])
    if g < _FEW_GROUPS:
        low, high = stdtrit(g - 1, ends)
        return float(low), float(high)
    found = []
    for drawn in _resample(g, resamples, rng):
        totals, sizes = sums[drawn], counts[drawn]
        means = totals.sum(axis=1) / sizes.sum(axis=1)
        errors = _errors(totals, sizes, means)
        varied = errors > _ALIKE * np.abs(sums).max()
        found.append((means - mean)[varied] / errors[varied])
    low, high = np.quantile(np.concatenate(found), ends)
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


def batch_size(width: int) -> int:
    """How many rows of ``width`` numbers are drawn at a time: a few million numbers are held."""
    return max(1, _DRAWN // max(width, 1))


def _resample(groups: int, resamples: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Numbers of groups drawn with replacement, (rows, groups), some rows at a time."""
    size = batch_size(groups)
    for start in range(0, resamples, size):
        yield rng.integers(groups, size=(min(size, resamples - start), groups))


def _bca_ends(sample: Floats, means: Floats, ends: Floats) -> Floats:
    """The quantiles to take instead of ``ends``: bias from the resamples, skew from the jackknife."""
    from scipy.special import ndtr, ndtri

    mean = sample.mean()
    below = ((means < mean).mean() + (means <= mean).mean()) / 2
    if not 0 < below < 1:  # too few resamples to tell the bias
        return ends
    bias = ndtri(below)
    centred = (sample - mean) / np.abs(sample - mean).max()  # the jackknife means about theirs, but for a factor
    skew = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)
    shifted = bias + ndtri(ends)
    return np.asarray(ndtr(bias + shifted / (1 - skew * shifted)), dtype=np.float64)


# Significance: whether one way of ordering does better than another on the same collections.

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
