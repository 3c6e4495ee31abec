"""What the threads that run through a collection say of an order: what an item brings in, and what it goes on with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabula.core.ordering import Ints
from fabula.media.medium import Threads

MOST_ITEMS = 120  # beyond which nobody reads them
_TOLD = 2  # names in a sentence


def threads_told(threads: Threads, ordering: Ints, breaks: Sequence[int] = ()) -> list[str]:
    """For each position what its item brings in, or goes on with; "" where it does neither.

    Parameters
    ----------
    threads
        Through n items.
    ordering
        Of some of them.
    breaks
        Positions at which a new side begins: nothing goes on across.

    Examples
    --------
    >>> found = Threads(("Ann", "Tom", "Eve"), np.array([[2.0, 0, 0], [1, 0, 3], [0, 1, 2]]))
    >>> threads_told(found, np.array([0, 1, 2]))
    ['brings in Ann', 'goes on with Ann and brings in Eve', 'goes on with Eve and brings in Tom']
    """
    there = threads.counts[ordering] > 0  # (m, k)
    rare = there.mean(axis=0) <= 0.75  # what is everywhere binds nothing
    sentences = []
    for position, item in enumerate(ordering.tolist()):
        strength = threads.counts[item]
        new = there[position] & ~there[:position].any(axis=0)
        on = np.zeros_like(new) if position == 0 or position in breaks else there[position - 1] & there[position]
        carried = np.where(on & rare, np.minimum(strength, threads.counts[ordering[position - 1]]), 0.0)
        parts = [
            f"{verb} {_listed(threads.names, weights)}"
            for verb, weights in (("goes on with", carried), ("brings in", np.where(new, strength, 0.0)))
            if weights.any()
        ]
        sentences.append(" and ".join(parts))
    return sentences


def _listed(names: Sequence[str], weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    order = [int(i) for i in np.argsort(-weights, kind="stable") if weights[i] > 0]
    told = [names[i] for i in order[:_TOLD]]
    more = len(order) - len(told)
    if more > 1:
        return f"{', '.join(told)} and {more} more"
    return " and ".join(names[i] for i in order) if more <= 0 else f"{', '.join(told)} and {names[order[-1]]}"
