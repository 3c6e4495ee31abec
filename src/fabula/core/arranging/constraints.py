"""Constraints on an ordering: what the user insists on, checked and in one form."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arranging import reading
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import InputError

SLACK = 1 + 1e-12  # so that sums of lengths in another order do not break a limit


@dataclass(frozen=True, eq=False)
class Constraints:
    """What an ordering of n items must keep.

    Parameters
    ----------
    n
        How many items there are.
    fixed
        position -> item in the whole ordering; negative positions count from the end of what is kept.
    forbidden
        Pairs (item, position) that must not occur; negative positions count from the end.
    together
        Runs of items that must stand next to each other, in exactly that order and on one side. Runs that overlap
        are joined: (A, B) and (B, C) are (A, B, C).
    before
        Pairs (a, b): item a stands somewhere before item b.
    apart
        A label per item, or None: no two neighbours on a side carry the same label. -1 and None are no label.
    apart_soft
        Only as few such neighbours as possible, which then comes before every other criterion.
    sides
        How many sides, each of which follows the template from its beginning to its end; none is empty.
    ends
        (side, position within the side) -> item; negative positions count from the end of the side.
    lengths
        Shape (n,), not negative, in any unit: what sides and limits count. None: each item counts 1.
    side_limit
        The most one side may hold. Without it sides are even: none holds more than 1.15 times the mean, or, where
        the constraints do not permit that, than the smallest longest side that they permit.
    limit
        The most all may hold. What fits worst is left out, as few items as possible; what ``fixed``, ``together``,
        ``before`` and ``ends`` name is never left out.

    Raises
    ------
    ConflictError
        When runs contradict each other.
    InputError
        When a constraint is malformed. Whether they can all hold is told when an ordering is asked for.

    Examples
    --------
    >>> kept = Constraints(4, fixed={-1: 0}, together=[(2, 1)], apart=["x", None, None, "x"])
    >>> kept.apart.tolist(), kept.broken([3, 2, 1, 0])
    ([0, -1, -1, 0], [])
    >>> kept.broken([1, 2, 3, 0])
    ['together', 'apart']
    """

    n: int
    fixed: dict[int, int]
    forbidden: tuple[tuple[int, int], ...]
    together: tuple[tuple[int, ...], ...]
    before: tuple[tuple[int, int], ...]
    apart: Ints | None
    apart_soft: bool
    sides: int
    ends: dict[tuple[int, int], int]
    lengths: Floats | None
    side_limit: float | None
    limit: float | None

    def __init__(
        self,
        n: int,
        fixed: Mapping[int, int] | None = None,
        forbidden: Iterable[tuple[int, int]] = (),
        together: Iterable[Sequence[int]] = (),
        before: Iterable[tuple[int, int]] = (),
        apart: Iterable[Hashable] | Ints | None = None,
        *,
        apart_soft: bool = False,
        sides: int = 1,
        ends: Mapping[tuple[int, int], int] | None = None,
        lengths: ArrayLike | None = None,
        side_limit: float | None = None,
        limit: float | None = None,
    ) -> None:
        if sides < 1:
            raise InputError(f"sides must be at least 1; got {sides}")
        checked = {
            "n": n,
            "fixed": reading.as_fixed(fixed or {}, n),
            "forbidden": reading.as_forbidden(forbidden, n),
            "together": reading.as_runs(together, n),
            "before": reading.as_pairs(before, n),
            "apart": reading.as_labels(apart, n),
            "apart_soft": apart_soft,
            "sides": int(sides),
            "ends": reading.as_ends(ends or {}, n, sides),
            "lengths": reading.as_lengths(lengths, n),
            "side_limit": reading.as_limit(side_limit, "side_limit"),
            "limit": reading.as_limit(limit, "limit"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def positions_only(self) -> bool:
        """Whether an item can be judged by its position alone, all items kept on one side."""
        return not (self.together or self.before or self.ends) and self.apart is None and self.one_side

    @property
    def wishes(self) -> bool:
        """Whether anything is asked of single items."""
        asked = self.fixed or self.forbidden or self.together or self.before or self.ends
        return bool(asked) or self.apart is not None

    @property
    def one_side(self) -> bool:
        """Whether all items stand on one side, and no length is counted that matters."""
        total = float(self.counted.sum())
        return self.sides == 1 and all(cap is None or total <= cap * SLACK for cap in (self.limit, self.side_limit))

    @property
    def named(self) -> set[int]:
        """The items that are never left out: those that are fixed, in a run, in a pair or at the end of a side."""
        return {*self.fixed.values(), *self.ends.values(), *chain(*self.together), *chain(*self.before)}

    @property
    def counted(self) -> Floats:
        """Shape (n,): the lengths, 1 each where none are known."""
        return np.ones(self.n) if self.lengths is None else self.lengths

    def broken(self, ordering: Sequence[int] | Ints, sides: Sequence[int] = ()) -> list[str]:
        """The words of the constraints that an ordering does not keep.

        Parameters
        ----------
        ordering
            Shape (m,): the items kept, in order.
        sides
            How many of them stand on each side; empty for one side.
        """
        order = np.asarray(ordering, dtype=np.intp)
        sizes = list(sides) or [len(order)]
        stops = np.cumsum(sizes)
        side = np.repeat(np.arange(len(sizes)), sizes)
        place = np.full(self.n, -1)
        place[order] = np.arange(len(order))
        loads = np.bincount(side, self.counted[order], len(sizes))
        tests = {
            "fixed": all(_at(order, position) == item for position, item in self.fixed.items()),
            "forbidden": all(_at(order, position) != item for item, position in self.forbidden),
            "together": all(_in_a_row(place[list(run)], side) for run in self.together),
            "before": all(0 <= place[a] < place[b] for a, b in self.before),
            "apart": self.apart is None or self.apart_soft or not alike(self.apart[order], side),
            "sides": len(sizes) == self.sides and min(sizes) > 0 and int(stops[-1]) == len(order),
            "ends": len(sizes) == self.sides
            and all(_at(order[side == s], position) == item for (s, position), item in self.ends.items()),
            "side_limit": self.side_limit is None or bool(loads.max() <= self.side_limit * SLACK),
            "limit": self.limit is None or bool(loads.sum() <= self.limit * SLACK),
        }
        return [name for name, kept in tests.items() if not kept]


def alike(labels: Ints, side: Ints) -> int:
    """How many neighbours on one side carry the same label."""
    return int(((labels[1:] == labels[:-1]) & (labels[1:] >= 0) & (side[1:] == side[:-1])).sum())


def _at(order: Ints, position: int) -> int:
    return int(order[position]) if -len(order) <= position < len(order) else -1


def _in_a_row(place: Ints, side: Ints) -> bool:
    return bool(place.min() >= 0 and (np.diff(place) == 1).all() and side[place[0]] == side[place[-1]])
