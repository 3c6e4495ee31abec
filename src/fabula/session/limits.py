"""Time: limits on the whole, sides, and how both are written."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.durations import as_clock
from fabula.core.arranging.selection import choose_within
from fabula.core.arranging.sides import arrange_sides
from fabula.core.essence import Floats
from fabula.core.fit import Fit
from fabula.core.template import Template
from fabula.errors import InputError
from fabula.session.essence import Essence
from fabula.session.wishes import Wishes, constraints_of, durations

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def as_seconds(text: str, option: str) -> float:
    """Seconds of ``22:00``, ``1:02:03``, ``90s``, ``45m`` or ``1.5h``.

    Examples
    --------
    >>> as_seconds("22:00", "--limit"), as_seconds("1.5h", "--limit")
    (1320.0, 5400.0)
    """
    clock = re.fullmatch(r"(?:(\d+):)?(\d+):([0-5]?\d(?:\.\d+)?)", text.strip())
    if clock:
        hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return 3600 * hours + 60 * minutes + seconds
    plain = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", text.strip().lower())
    if not plain or float(plain[1]) == 0:
        raise InputError(f"{option} takes a time such as 22:00, 1:02:03, 45m or 90s; got {text!r}")
    return float(plain[1]) * _UNITS[plain[2]]


def keep_within(found: Essence, curve: Template, wishes: Wishes) -> Essence:
    """Leave out what fits worst, so that the whole keeps within the limit; what the wishes name stays."""
    if wishes.limit is None:
        return found
    collection = found.source.collection
    named = constraints_of(replace(wishes, apart=None), collection).named
    kept = choose_within(found.values, curve, durations(collection, "--limit"), wishes.limit, keep=named)
    return found.without(np.setdiff1d(np.arange(len(collection)), kept), left_out_note(wishes.limit))


def left_out_note(limit: float) -> str:
    """Why items were left out."""
    return f"left out to keep within {as_clock(limit)}"


def lay_on_sides(
    found: Essence, curve: Template, constraints: Constraints, wishes: Wishes, transitions: Floats | None
) -> tuple[Fit, tuple[int, ...], float]:
    """One arc per side: the ordering, how many items each side has, and the largest gap of a side."""
    laid = arrange_sides(
        found.values,
        curve,
        durations(found.source.collection, "--sides"),
        sides=wishes.sides,
        limit=wishes.side_limit,
        constraints=constraints,
        transitions=transitions,
        smoothness=wishes.smoothness,
    )
    fits = [part.fit for part in laid.arrangements]
    whole = Fit(
        laid.ordering,
        curve,
        np.concatenate([fit.targets for fit in fits]),
        np.concatenate([fit.deviations for fit in fits]),
        exact=laid.exact,
    )
    gap = max(part.relative_gap for part in laid.arrangements)
    return whole, tuple(len(side) for side in laid.sides), gap
