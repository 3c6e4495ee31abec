"""What one model knows more than another about the order of the same collections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabula.core.collection import Collection
from fabula.evaluation.bound import table_bits
from fabula.evaluation.information import Tabled, makers
from fabula.evaluation.intervals import Interval, mean_interval


def information_gained(
    new: Tabled, old: Tabled, collections: Sequence[Collection], *, negatives: int = 31, draws: int = 16, seed: int = 0
) -> Interval:
    """Bits of one model less those of another, with the 95 % interval of the difference.

    Both are asked about the same permutations, so that chance falls on both alike.

    Parameters
    ----------
    new, old
        Models whose scores are sums over tables.
    collections
        In their true order, none of them trained on.
    negatives, draws, seed
        As of :func:`fabula.evaluation.information.mutual_information`.
    """
    found = [
        table_bits(m.tables_all(collections), negatives=negatives, draws=draws, rng=np.random.default_rng(seed))
        for m in (new, old)
    ]
    return mean_interval(found[0] - found[1], np.random.default_rng(seed), makers(collections))
