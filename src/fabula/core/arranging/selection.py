"""Choosing: what to leave out so that a collection keeps within a time limit."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arranging.bounds import place_bound
from fabula.core.arranging.durations import as_clocks, as_durations, as_limit
from fabula.core.essence import Floats, as_essence
from fabula.core.fit import as_item
from fabula.core.ordering import Ints
from fabula.core.template import Template
from fabula.errors import ConflictError, InputError

MOST_CHOICES = 5000  # so many are all looked at
MOST_ENTRIES = 2_000_000  # of an array of essences


def choose_within(
    essence: ArrayLike, template: Template, durations: ArrayLike, limit: float, *, keep: Iterable[int] = ()
) -> Ints:
    """Leave out what fits worst, so that the total time is within a limit.

    As few items as possible are left out; among those choices, the one whose rest lies closest to the template
    (smallest sum of deviations when laid on it). Exact up to 5,000 choices; beyond, the choice is improved by
    exchanges of one item left out with one kept until none helps. The number left out is always the smallest.

    Parameters
    ----------
    essence
        Shape (n,) or (n, d), finite, on the template's scale.
    template
        With values of shape (knots,) or (knots, d).
    durations
        Shape (n,), in seconds.
    limit
        The longest total, in seconds.
    keep
        Items that are never left out.

    Returns
    -------
    items : shape (m,), the items kept, rising.

    Raises
    ------
    ConflictError
        When the items to keep take too long, or nothing fits.

    Examples
    --------
    >>> choose_within([0.0, 0.5, 9.0, 1.0], Template([0, 1], [0, 1]), [3, 3, 3, 3], 9)
    array([0, 1, 3])
    """
    values = as_essence(essence)
    n = len(values)
    if values.shape[1:] != template.values.shape[1:]:
        raise InputError(f"essence and template must have the same dimensions; got {values.shape[1:]}")
    times, most = as_durations(durations, n), as_limit(limit) * (1 + 1e-12)
    held = sorted({as_item(item, n) for item in keep})
    free = np.setdiff1d(np.arange(n), held)
    fewest = _fewest(times, free, most)
    if fewest is None or fewest == n:
        named = ", ".join(["{}"] * len(held)) or "even the shortest item"
        told, taken = as_clocks(limit, float(times[held].sum() if held else times.min()))
        verb = "take" if len(held) > 1 else "takes"
        raise ConflictError(f"the limit is {told}; {named} {verb} {taken}", held, ["limit"])
    if fewest == 0:
        return np.arange(n)
    rows = values.reshape(n, -1)
    out = _best_left_out(rows, template, times, free, fewest, most)
    return np.setdiff1d(np.arange(n), out)


def _fewest(times: Floats, free: Ints, most: float) -> int | None:
    """How many items must be left out at least: the longest ones first. None when all are not enough."""
    saved = np.concatenate([[0.0], np.cumsum(np.sort(times[free])[::-1])])
    enough = np.flatnonzero(times.sum() - saved <= most)
    return int(enough[0]) if len(enough) else None


def _best_left_out(rows: Floats, template: Template, times: Floats, free: Ints, count: int, most: float) -> Ints:
    """The items to leave out: of every choice where they are few, else improved by exchanges."""
    needed = times.sum() - most
    if comb(len(free), count) <= MOST_CHOICES:
        every = np.array(list(combinations(free.tolist(), count)), dtype=np.intp)
        every = every[times[every].sum(axis=1) >= needed]
        return np.asarray(every[int(np.argmin(_ratings(rows, template, every)))])
    out = free[np.argsort(-times[free], kind="stable")[:count]]
    value = float(_ratings(rows, template, out[np.newaxis])[0])
    idle, turn = 0, 0
    while idle < count:
        slot = turn % count
        others = np.setdiff1d(free, out)
        others = others[times[others] + times[np.delete(out, slot)].sum() >= needed]
        trials = np.repeat(out[np.newaxis], len(others), axis=0)
        trials[:, slot] = others
        ratings = _ratings(rows, template, trials)
        better = len(ratings) > 0 and float(ratings.min()) < value - 1e-12
        if better:
            out, value = trials[int(ratings.argmin())], float(ratings.min())
        idle, turn = 0 if better else idle + 1, turn + 1
    return out


def _ratings(rows: Floats, template: Template, left_out: Ints) -> Floats:
    """Sum of deviations of the rest for each choice (c, count) of items left out: shape (c,)."""
    n, count = len(rows), left_out.shape[1]
    goals = template.samples(n - count).reshape(n - count, -1)
    ratings = np.empty(len(left_out))
    size = max(1, MOST_ENTRIES // n)
    for start in range(0, len(left_out), size):
        part = left_out[start : start + size]
        stays = np.ones((len(part), n), dtype=bool)
        stays[np.arange(len(part))[:, np.newaxis], part] = False
        rest = np.nonzero(stays)[1].reshape(len(part), n - count)
        if rows.shape[1] == 1:
            laid = np.abs(np.sort(rows[rest, 0], axis=1) - np.sort(goals[:, 0])).sum(axis=1)
        else:
            laid = [place_bound(np.linalg.norm(rows[r][:, np.newaxis] - goals, axis=2))[0] for r in rest]
        ratings[start : start + size] = laid
    return ratings
