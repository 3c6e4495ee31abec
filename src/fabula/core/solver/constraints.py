"""Constraints on an ordering: what the user insists on, checked and in one form."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats
from fabula.core.fit import as_item
from fabula.core.ordering import Ints
from fabula.errors import ConflictError, InputError

# Reading constraints: each kind checked and put into one form, with errors that name what is wrong.


def as_position(position: int, n: int) -> int:
    """Check a position: from 0, or negative from the end."""
    try:
        place = index(position)
    except TypeError:
        raise InputError(f"a position must be a whole number; got {position!r}") from None
    if not -n <= place < n:
        raise InputError(f"a position must lie in 0..{n - 1}, or -{n}..-1 from the end; got {place}")
    return place


def read_fixed(fixed: Mapping[int, int], n: int) -> dict[int, int]:
    """From position to item, each item once; positions from the end stay negative."""
    checked = {as_position(position, n): as_item(item, n) for position, item in fixed.items()}
    first: dict[int, int] = {}
    for position, item in checked.items():
        if item in first and first[item] % n != position % n:
            raise ConflictError(
                f"{{}} is fixed twice: at {ordinal(first[item])} and {ordinal(position)}", [item], ["fixed"]
            )
        first[item] = position
    return checked


def read_forbidden(forbidden: Iterable[tuple[int, int]], n: int) -> tuple[tuple[int, int], ...]:
    """Pairs (item, position), sorted, none twice."""
    try:
        return tuple(sorted({(as_item(item, n), as_position(position, n)) for item, position in forbidden}))
    except (TypeError, ValueError) as error:
        raise _unless_told(error, f"forbidden must be pairs (item, position); got {forbidden!r}") from error


def as_runs(together: Iterable[Sequence[int]], n: int) -> tuple[tuple[int, ...], ...]:
    """Runs of two items or more; those that overlap are joined.

    Examples
    --------
    >>> as_runs([(0, 1), (3, 2), (1, 4)], 5)
    ((0, 1, 4), (3, 2))
    """
    try:
        pairs = [pair for run in together for pair in pairwise([as_item(item, n) for item in run])]
    except TypeError as error:
        raise InputError(f"together must be runs of items; got {together!r}") from error
    following, leading = dict[int, int](), dict[int, int]()
    for a, b in dict.fromkeys(pairs):
        if a in following or b in leading:
            raise _two_runs((a, b), (a, following[a]) if a in following else (leading[b], b))
        following[a], leading[b] = b, a
    runs = [_followed(item, following) for item in dict.fromkeys(a for a, _ in pairs) if item not in leading]
    missing = sorted(set(following) - {item for run in runs for item in run})
    if missing:
        circle = _followed(missing[0], following)
        raise ConflictError(
            "these cannot all hold: " + " and ".join(["{}"] * len(circle)) + " together", circle, ["together"]
        )
    return tuple(runs)


def _followed(item: int, following: Mapping[int, int]) -> tuple[int, ...]:
    """The run that begins with an item; a circle ends where it began."""
    run = [item]
    while run[-1] in following and (len(run) == 1 or run[-1] != item):
        run.append(following[run[-1]])
    return tuple(run)


def _two_runs(one: tuple[int, int], other: tuple[int, int]) -> ConflictError:
    return ConflictError("these cannot all hold: {} and {} together; {} and {} together", [*other, *one], ["together"])


def as_pairs(before: Iterable[tuple[int, int]], n: int) -> tuple[tuple[int, int], ...]:
    """Pairs (item, later item), none twice."""
    try:
        return tuple(dict.fromkeys((as_item(a, n), as_item(b, n)) for a, b in before))
    except (TypeError, ValueError) as error:
        raise _unless_told(error, f"before must be pairs (item, later item); got {before!r}") from error


def as_labels(apart: Iterable[Hashable] | Ints | None, n: int) -> Ints | None:
    """Labels as numbers from 0, -1 where there is none; None when no label is carried twice."""
    if apart is None:
        return None
    given = apart.tolist() if isinstance(apart, np.ndarray) else list(apart)
    if len(given) != n:
        raise InputError(f"apart must hold one label per item, {n} in all; got {len(given)}")
    try:
        numbers = {label: k for k, label in enumerate(dict.fromkeys(x for x in given if x is not None and x != -1))}
        labels = np.array([-1 if x is None else numbers.get(x, -1) for x in given], dtype=np.intp)
    except TypeError as error:
        raise InputError(f"apart must hold plain labels; got {given!r}") from error
    return labels if (np.bincount(labels[labels >= 0]) > 1).any() else None


def as_ends(ends: Mapping[tuple[int, int], int], n: int, sides: int) -> dict[tuple[int, int], int]:
    """(side, position within the side) -> item."""
    checked: dict[tuple[int, int], int] = {}
    for key, item in ends.items():
        try:
            side, position = key
        except (TypeError, ValueError):
            raise InputError(f"ends must map (side, position) to an item; got {key!r}") from None
        if not 0 <= index(side) < sides:
            raise InputError(f"a side must lie in 0..{sides - 1}; got {side}")
        checked[index(side), as_position(position, n)] = as_item(item, n)
    return checked


def as_lengths(lengths: ArrayLike | None, n: int) -> Floats | None:
    """What limits count: n finite numbers, none negative."""
    if lengths is None:
        return None
    try:
        counted = np.asarray(lengths, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"lengths must be numbers, one per item; got {lengths!r}") from error
    if counted.shape != (n,):
        raise InputError(f"lengths must hold one number per item, {n} in all; got shape {counted.shape}")
    wrong = np.flatnonzero(~(np.isfinite(counted) & (counted >= 0)))
    if len(wrong):
        raise ConflictError(
            "lengths must be finite and not negative; got {length0} for {}",
            [int(wrong[0])],
            ["limit"],
            [counted[wrong[0]]],
        )
    return counted


def as_limit(limit: float | None, name: str) -> float | None:
    """A limit above 0, or None."""
    if limit is not None and not limit > 0:
        raise ConflictError(f"a {name.replace('_', ' ')} must be above 0; got {{length0}}", [], [name], [limit])
    return None if limit is None or limit == np.inf else float(limit)


def ordinal(position: int) -> str:
    """A position in words, counted from 1 as people do.

    Examples
    --------
    >>> ordinal(0), ordinal(-1), ordinal(-2)
    ('position 1', 'the last position', 'position 2 from the end')
    """
    if position >= 0:
        return f"position {position + 1}"
    return "the last position" if position == -1 else f"position {-position} from the end"


def _unless_told(error: Exception, message: str) -> InputError:
    return error if isinstance(error, InputError) else InputError(message)


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
            "fixed": read_fixed(fixed or {}, n),
            "forbidden": read_forbidden(forbidden, n),
            "together": as_runs(together, n),
            "before": as_pairs(before, n),
            "apart": as_labels(apart, n),
            "apart_soft": apart_soft,
            "sides": int(sides),
            "ends": as_ends(ends or {}, n, sides),
            "lengths": as_lengths(lengths, n),
            "side_limit": as_limit(side_limit, "side_limit"),
            "limit": as_limit(limit, "limit"),
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
