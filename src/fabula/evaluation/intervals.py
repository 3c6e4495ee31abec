"""Intervals of a mean over those who made the collections, and tests of whether one mean is above another."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats
from fabula.errors import InputError

Groups = Sequence[Hashable]

_FEW_GROUPS = 5  # below which the skew of what they do to the mean tells nothing
_ALIKE = 1e-12  # spread, by the largest value, below which values are a constant
_SUMMED = -25.0, 30.0  # logarithms between which a characteristic function is summed up
_SUREST = 1e-7  # p below which that is too coarse


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval, over ``n`` values."""

    n: int
    mean: float
    low: float
    high: float


def mean_interval(
    values: ArrayLike, groups: Groups | None = None, *, within: tuple[float, float] = (-math.inf, math.inf)
) -> Interval:
    """The 95 % interval of the mean of values (m,) over groups, which go together: one rule for every figure.

    The error is that of the jackknife over groups, the quantiles Student's, with fewer degrees of freedom where some
    groups weigh more than others, put right for skew by Hall's transformation (1992). Yes and no, 1 and 0 within
    (0.0, 1.0), have Wilson's interval at the number of independent ones with this error. Nothing passes ``within``.
    Without groups each value is by somebody else; of a single group, which says nothing of others, each value counts
    by itself, and a single value is its own interval. ``benchmarks/coverage.py`` counts how many hold the truth.

    >>> found = mean_interval([1.0, 1.0, 0.0, 1.0], within=(0.0, 1.0))
    >>> found.mean, round(found.low, 3), round(found.high, 3)
    (0.75, 0.193, 0.974)
    """
    sample = np.asarray(values, dtype=np.float64)
    found = _estimate(sample, groups)
    if within == (0.0, 1.0) and len(sample) > 1 and np.isin(sample, (0, 1)).all():
        low, high = _wilson(found, len(sample))
    else:
        low, high = (found.mean - found.error * found.statistic_at(q) for q in (found.quantile, -found.quantile))
    return Interval(len(sample), found.mean, max(low, within[0]), min(high, within[1]))


@dataclass(frozen=True)
class _Estimate:
    """A mean, its error over groups, and what its distribution is like."""

    mean: float
    error: float
    alike: float  # groups of one size that would be as many: 1 / the sum of squared shares
    degrees: float  # of freedom
    skew: float

    @property
    def statistic(self) -> float:
        """Student's t, against zero."""
        return self.mean / self.error if self.error else _endless(self.mean)

    @property
    def quantile(self) -> float:
        """Student's, of 97.5 %."""
        from scipy.special import stdtrit

        return float(stdtrit(self.degrees, 0.975))

    def statistic_at(self, quantile: float) -> float:
        """What (mean - truth) / error is at a quantile, by the inverse of Hall's transformation."""
        k = self.skew
        return quantile if abs(k) < 1e-6 else 3 / k * (float(np.cbrt(1 + k * (quantile - k / 6))) - 1)


def _estimate(values: Floats, groups: Groups | None) -> _Estimate:
    """The mean of values (m,), with its error by leaving out each group in turn."""
    sums, counts = _by_group(values, groups)
    g, mean = len(sums), float(values.mean())
    alike = float(counts.sum() ** 2 / (counts**2).sum())
    if g < 2:
        return _Estimate(mean, 0.0, alike, 1.0, 0.0)
    size = float(np.abs(values).max()) or 1.0  # so that squares neither overflow nor vanish
    moved = (sums / size - mean / size * counts) / (len(values) - counts)  # (g,): how far the mean goes without each
    squares = float((moved**2).sum())
    error = math.sqrt(squares * (g - 1) / g)
    # A group that outweighs the others has no equal to learn its spread from, and says nothing of skew.
    degrees = max(math.cbrt((g - 1) * (alike - 1) ** 2), 1.0)
    if error <= _ALIKE:
        return _Estimate(mean, 0.0, alike, degrees, 0.0)
    skew = float((moved**3).sum()) / squares**1.5 * alike / g if g >= _FEW_GROUPS else 0.0
    return _Estimate(mean, error * size, alike, degrees, skew)


def _wilson(found: _Estimate, m: int) -> tuple[float, float]:
    """Wilson's interval of a share; the error of a share is surer than that of a mean, and has twice the freedom."""
    p, z = found.mean, replace(found, degrees=2 * found.degrees).quantile
    n = min(p * (1 - p) / found.error**2, m) if found.error else found.alike
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def _by_group(values: Floats, groups: Groups | None) -> tuple[Floats, Floats]:
    """Sum and number of the values of each group, (g,) each."""
    if groups is None or len(set(groups)) < 2:
        return values, np.ones(len(values))
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    number = np.array([numbers[group] for group in groups])
    return np.bincount(number, weights=values).astype(np.float64), np.bincount(number).astype(np.float64)


# Significance: whether one way of ordering does better than another on the same collections.


@dataclass(frozen=True)
class Comparison:
    """Two ways of ordering, ``a`` and ``b``, compared on the same collections."""

    a: str
    b: str
    n: int  # pairs used
    difference: float  # mean of a - b
    low: float  # its interval, which holds 0 where p is above 0.05
    high: float
    effect: float  # Cohen's d_z
    p: float
    adjusted: float  # p for the whole family (Holm-Bonferroni)


def compare_scores(
    scores: Mapping[str, ArrayLike], pairs: Sequence[tuple[str, str]], *, groups: Groups | None = None
) -> list[Comparison]:
    """Compare pairs of ways of ordering (name -> scores (m,)) on the same collections, as one family.

    The paper's paired t-test, and the interval of the mean difference that goes with it. Where some collections are by
    the same, ``groups`` says whom each is by: errors are then over groups. P-values are adjusted over all pairs.

    >>> scores = {"arcs": [0.5, 0.4, 0.6], "random": [0.1, 0.2, 0.1]}
    >>> result = compare_scores(scores, [("arcs", "random")])[0]
    >>> result.a, result.n, round(result.difference, 3), round(result.effect, 2), round(result.p, 3)
    ('arcs', 3, 0.367, 2.4, 0.053)
    """
    unknown = next((name for pair in pairs for name in pair if name not in scores), None)
    if unknown is not None:
        raise InputError(f"there are no scores called {unknown!r}; there are: {', '.join(scores) or 'none'}")
    found = []
    for a, b in pairs:
        try:
            differences, by = pair_differences(scores[a], scores[b], groups)
        except InputError as error:
            raise InputError(f"{a} and {b}: {error}") from error
        own, null = _estimate(differences, by), _Null.of(differences, by)
        mean, half = own.mean, own.error * null.quantile
        told = mean, mean - half, mean + half, cohen_dz(differences), null.p(own.statistic), 1.0
        found.append(Comparison(a, b, len(differences), *told))
    adjusted = holm([each.p for each in found])
    return [replace(each, adjusted=float(p)) for each, p in zip(found, adjusted, strict=True)]


@dataclass(frozen=True)
class _Null:
    """How a mean by its error over groups is distributed where nothing differs."""

    sizes: Floats  # (s,), the different ones, of how many groups each
    many: Floats
    spread: Floats  # (s,): the variance of the sum of a group of each size

    @classmethod
    def of(cls, values: Floats, groups: Groups | None) -> "_Null":
        """By the variances within and between groups, as an analysis of variance estimates them, of values (m,)."""
        values = values / (float(np.abs(values).max()) or 1.0)
        sums, counts = _by_group(values, groups)
        m, g = len(values), len(sums)
        between_squares = float((sums**2 / counts).sum())
        within = max(float((values**2).sum()) - between_squares, 0.0) / max(m - g, 1)
        usual = (m - float((counts**2).sum()) / m) / (g - 1)
        between = max((between_squares - m * float(values.mean()) ** 2) / (g - 1) - within, 0.0) / usual
        if not within + between:
            within = 1.0  # all are one value: no spread is known, and every one would do
        sizes, many = np.unique(counts, return_counts=True)
        return cls(sizes, many.astype(np.float64), sizes**2 * between + sizes * within)

    def p(self, statistic: float) -> float:
        """How often chance alone is as far from zero: Student's of groups of one size, else by Imhof (1961)."""
        from scipy.special import stdtr

        t, g, m = abs(statistic), self.many.sum(), self.many @ self.sizes
        if len(self.sizes) == 1 or math.isinf(t) or not t:
            return float(stdtr(g - 1, -t)) * 2
        # mean^2 > (t error)^2 where a quadratic form of normal numbers, one for each size and those within, is above 0
        share = np.sqrt(self.many * self.spread) / m
        moved = np.diag(np.sqrt(self.spread) / (m - self.sizes))
        moved -= np.outer(np.sqrt(self.many) * self.sizes / (m - self.sizes), share)
        squared = t * t * (g - 1) / g
        values = np.linalg.eigvalsh(np.outer(share, share) - squared * moved.T @ moved)
        values = np.concatenate([values, -squared * self.spread / (m - self.sizes) ** 2])
        values /= np.abs(values).max()
        freedom = np.concatenate([np.ones(len(self.sizes)), self.many - 1])
        step = 0.2 / math.sqrt(max(g, 16.0))  # of more groups it swings faster
        at = np.exp(np.arange(*_SUMMED, step))[:, np.newaxis] * values  # (u, 2 s)
        swing = np.sin(0.5 * np.arctan(at) @ freedom) * np.exp(-0.25 * np.log1p(at * at) @ freedom)
        found = 0.5 + float(swing.sum()) * step / math.pi
        return found if found > _SUREST else min(float(stdtr(g - 1, -t)) * 2, _SUREST)

    @property
    def quantile(self) -> float:
        """How far from zero one of twenty is by chance."""
        from scipy.optimize import brentq
        from scipy.special import stdtrit

        if len(self.sizes) == 1:
            return float(stdtrit(self.many.sum() - 1, 0.975))
        return math.exp(float(brentq(lambda x: self.p(math.exp(x)) - 0.05, -4.0, 9.0, xtol=1e-8)))


def pair_differences(a: ArrayLike, b: ArrayLike, groups: Groups | None = None) -> tuple[Floats, Groups | None]:
    """``a - b`` without the pairs that hold a NaN, of which at least two must remain, and whom those are by."""
    first, second = _as_scores(a, "a"), _as_scores(b, "b")
    if first.shape != second.shape:
        raise InputError(f"paired scores must be of the same collections: got {first.size} and {second.size}")
    known = ~np.isnan(first - second)
    if known.sum() < 2:
        raise InputError(f"at least 2 values that are not NaN are needed; got {known.sum()}")
    by = None if groups is None else [group for group, there in zip(groups, known, strict=True) if there]
    return (first - second)[known], by


def _as_scores(values: ArrayLike, name: str) -> Floats:
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


def cohen_dz(values: Floats) -> float:
    """Cohen's d_z: mean difference by the standard deviation of the differences (n - 1); infinite where that is 0."""
    if np.ptp(values) <= _ALIKE * np.abs(values).max():
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
