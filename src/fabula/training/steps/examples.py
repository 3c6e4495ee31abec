"""Examples to learn from: whole collections and windows of them, as if there were no other items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats
from fabula.core.ordering import Ints

WINDOWS = ((20, 12), (10, 15))  # items in a window, and items from one to the next
LONGEST = 80  # items of a whole collection


@dataclass(frozen=True, eq=False)
class Example:
    """Some items in their true order.

    Attributes
    ----------
    standing
        Shape (n, f + 4): how far each item stands out, as the encoder of measures says it.
    pairs
        Shape (k, n, n): the tables over all pairs.
    group
        Who made it: what belongs together when collections are set aside or drawn again.
    """

    standing: Floats
    pairs: NDArray[np.floating]
    group: str = ""

    def __len__(self) -> int:
        return len(self.standing)

    def reordered(self, ordering: Ints) -> Example:
        """The same items in another order, taken for the true one."""
        return Example(self.standing[ordering], self.pairs[:, ordering][:, :, ordering], self.group)


def spans(n: int, rng: np.random.Generator) -> list[range]:
    """Which rows of a collection of n items make examples: all of them, and windows.

    Examples
    --------
    >>> [(span.start, span.stop) for span in spans(21, np.random.default_rng(0))][0]
    (0, 21)
    """
    found = [range(n)] if n <= LONGEST else []
    for length, stride in WINDOWS:
        first = int(rng.integers(0, 5))
        found += [range(start, start + length) for start in range(first, n - length + 1, stride) if length < n]
    return found


def shuffled(examples: Sequence[Example], rng: np.random.Generator) -> list[Example]:
    """The same with their items in a random order: a control, of which nothing may be known."""
    return [one.reordered(rng.permutation(len(one))) for one in examples]


def noise(examples: Sequence[Example], rng: np.random.Generator) -> list[Example]:
    """The same with random numbers for what was measured: a control, of which nothing may be known."""
    return [
        Example(rng.standard_normal(one.standing.shape), rng.standard_normal(one.pairs.shape), one.group)
        for one in examples
    ]
