"""Bootstrap intervals of a mean over collections."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats
from fabula.errors import InputError

_DRAWN = 4_000_000  # numbers drawn and held at a time
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
    """Bootstrap interval of a mean; for a mean difference pass ``paired_differences(a, b)``.

    Parameters
    ----------
    values
        Shape (m,); NaN are left out.
    rng
        Draws the resamples.
    level
        Share of intervals that should hold the true mean, between 0 and 1.
    resamples
        How many, 1 or more.
    method
        ``"bca"``: corrected for bias and skew (Efron 1987). ``"percentile"``: the plain quantiles.

    Examples
    --------
    >>> interval = bootstrap([1.0, 2.0, 3.0, 4.0], np.random.default_rng(0), method="percentile")
    >>> interval.mean, interval.low, interval.high
    (2.5, 1.5, 3.5)
    """
    if not 0 < level < 1:
        raise InputError(f"the level of an interval must lie between 0 and 1; got {level}")
    if resamples < 1:
        raise InputError(f"resamples must be at least 1; got {resamples}")
    if method not in ("bca", "percentile"):
        raise InputError(f'the method must be "bca" or "percentile"; got {method!r}')
    sample = known(as_scores(values, "values"))
    mean = float(sample.mean())
    if is_constant(sample):
        return Interval(len(sample), mean, mean, mean)
    means = np.concatenate(list(_resampled_means(sample, rng, resamples)))
    ends = np.array([(1 - level) / 2, (1 + level) / 2])
    low, high = np.quantile(means, _bca_ends(sample, means, ends) if method == "bca" else ends.round(12))
    return Interval(len(sample), mean, float(low), float(high))


def mean_interval(values: Floats, rng: np.random.Generator) -> Interval:
    """The 95 % percentile interval of a mean, by 2000 resamples; a single value is its own interval.

    Examples
    --------
    >>> mean_interval(np.array([2.0]), np.random.default_rng(0))
    Interval(n=1, mean=2.0, low=2.0, high=2.0)
    """
    if len(values) == 1:
        only = float(values[0])
        return Interval(1, only, only, only)
    return bootstrap(values, rng, method="percentile")


def grouped_interval(
    values: Floats, groups: Sequence[Hashable], rng: np.random.Generator, *, resamples: int = 2000
) -> Interval:
    """The 95 % percentile interval of a mean by bootstrap over groups, which are drawn whole.

    Values of one group are like each other: drawn one by one, they would make the interval too narrow.

    Examples
    --------
    >>> grouped_interval(np.array([1.0, 1.0, 3.0]), ["a", "a", "b"], np.random.default_rng(0)).high
    3.0
    """
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    number = np.array([numbers[group] for group in groups])
    sums, counts = np.bincount(number, weights=values), np.bincount(number)
    mean = float(values.mean())
    if len(sums) == 1:
        return Interval(len(values), mean, mean, mean)
    means = []
    for size in batches(resamples, len(sums)):
        drawn = rng.integers(len(sums), size=(size, len(sums)))
        means.append(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return Interval(len(values), mean, float(low), float(high))


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


def known(values: Floats) -> Floats:
    """The values that are not NaN; at least two."""
    kept = values[~np.isnan(values)]
    if kept.size < 2:
        raise InputError(f"at least 2 values that are not NaN are needed; got {kept.size}")
    return kept


def is_constant(values: Floats) -> bool:
    """Whether the values are alike to rounding."""
    return bool(np.ptp(values) <= _ALIKE * np.abs(values).max())


def batches(count: int, width: int) -> Iterator[int]:
    """Sizes that add up to ``count``, so that of rows of ``width`` numbers a few million are held at a time."""
    size = max(1, _DRAWN // max(width, 1))
    for start in range(0, count, size):
        yield min(size, count - start)


def _resampled_means(sample: Floats, rng: np.random.Generator, resamples: int) -> Iterator[Floats]:
    n = len(sample)
    for size in batches(resamples, n):
        yield sample[rng.integers(0, n, size=(size, n))].mean(axis=1)


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
