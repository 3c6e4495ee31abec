"""Durations of items and time limits: checked, and told as a clock tells them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats
from fabula.errors import InputError


def as_durations(durations: ArrayLike, n: int) -> Floats:
    """Check durations in seconds: n finite numbers, none negative.

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
        raise InputError(f"durations must be finite and not negative; got {as_clocks(times[item])[0]} for item {item}")
    return times


def as_limit(limit: float | None) -> float:
    """Check a time limit in seconds: a number above 0; None is no limit, which is infinity."""
    if limit is None:
        return float("inf")
    if not limit > 0:
        raise InputError(f"a time limit must be above 0:00; got {as_clocks(limit)[0]}")
    return float(limit)


def as_clock(seconds: float, *, digits: int = 0) -> str:
    """Minutes and seconds, with hours where there are some, and with digits behind the seconds if asked for.

    Examples
    --------
    >>> as_clock(1320.4), as_clock(3723), as_clock(1320.4, digits=1)
    ('22:00', '1:02:03', '22:00.4')
    """
    if not np.isfinite(seconds):
        return str(float(seconds))
    whole, part = divmod(int(abs(seconds) * 10**digits + 0.5), 10**digits)  # half a second counts as one
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
    sign = "-" if seconds < 0 and (whole or part) else ""
    return f"{sign}{clock}.{part:0{digits}d}" if digits else f"{sign}{clock}"


def as_clocks(*seconds: float) -> list[str]:
    """Several durations as clocks, to the second where that tells them apart, else as finely as it takes.

    Without it a side of 22:00 could be too short for an item of 22:00.

    Examples
    --------
    >>> as_clocks(1320, 1412.3), as_clocks(1320, 1320.4)
    (['22:00', '23:32'], ['22:00.0', '22:00.4'])
    """
    clocks: list[str] = []
    for digits in range(7):
        clocks = [as_clock(one, digits=digits) for one in seconds]
        if len({as_clock(0, digits=digits), *clocks}) == len({0.0, *seconds}):
            break
    return clocks
