"""Equal items: which of them comes first is not for the order in which they were given to say.

Where collections come in their true order, a sort that keeps equals as they came gives that order away: on noise with
ties it scores a rank correlation of 0.5.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np

from fabula.core.arrays import Floats, Ints

Ties = Literal["random", "given"]

_TRIED = 8  # permutations, of which the one is taken that goes least with the order given
_SMALL = 256  # items up to which more than one is tried


def mixing(rows: Floats) -> Ints | None:
    """A permutation (n,) to show items in before they are ordered; None where no two rows (n, ...) are equal.

    It is drawn from the values, so that the same items always give the same, and neither follows nor reverses the
    order given.

    Examples
    --------
    >>> mixing(np.array([1.0, 2.0])) is None
    True
    >>> sorted(mixing(np.zeros(4)).tolist())
    [0, 1, 2, 3]
    """
    if not _tied(rows):
        return None
    n = len(rows)
    digest = hashlib.blake2b(np.ascontiguousarray(rows + 0.0).tobytes(), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(digest, "little"))
    drawn = [rng.permutation(n) for _ in range(_TRIED if n <= _SMALL else 1)]
    centred = np.arange(n) - (n - 1) / 2
    return min(drawn, key=lambda order: abs(float(centred @ order)))


def _tied(rows: Floats) -> bool:
    if rows.ndim > 1 and rows.shape[1:] != (1,):
        return len(np.unique(rows.reshape(len(rows), -1), axis=0)) < len(rows)
    ranked = np.sort(rows.reshape(-1))
    return bool((ranked[1:] == ranked[:-1]).any())
