"""Durations of items, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats
from fabula.errors import InputError


def as_durations(durations: ArrayLike, n: int) -> Floats:
    """Check durations: n finite numbers, none negative.

    Examples
    --------
    >>> as_durations([3, 4.5], 2)
    array([3. , 4.5])
    """
    try:
        times = np.asarray(durations, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"durations must be numbers, one per item; got {durations!r}") from error
    if times.shape != (n,):
        raise InputError(f"durations must hold one number per item, {n} in all; got shape {times.shape}")
    if not (np.isfinite(times) & (times >= 0)).all():
        item = int(np.flatnonzero(~(np.isfinite(times) & (times >= 0)))[0])
        raise InputError(f"durations must be finite and not negative; got {times[item]} for item {item}")
    return times


def as_limit(limit: float | None) -> float:
    """Check a time limit: a number above 0; None is no limit, which is infinity."""
    if limit is None:
        return float("inf")
    if not limit > 0:
        raise InputError(f"a time limit must be above 0; got {limit}")
    return float(limit)
