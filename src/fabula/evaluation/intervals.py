"""Bootstrap intervals of a mean over collections."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
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
