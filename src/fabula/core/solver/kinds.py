"""Kinds of constraints: each says everything about itself.

How it is read, how it reads on items in another order, whether an ordering keeps it, what it is in words, and how to
leave a single one of it out. What a kind means for single positions the solvers learn from
:mod:`fabula.core.solver.domains`, what it means for neighbours from ``barred`` and ``alike`` of
:class:`fabula.core.solver.constraints.Constraints`; they know nothing else of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import index
from typing import Any

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.fit import as_item
from fabula.errors import ConflictError, InputError

SLACK = 1 + 1e-12  # so that sums of lengths in another order do not break a limit
_SHOWN = 8  # items of one label that are named in an error


@dataclass(frozen=True, eq=False)
class Laid:
    """An ordering of what is kept, as constraints look at it.

    ``order``, ``side``: shape (m,): the item at each position, and the side it is on. ``place``: shape (n,): the
    position of each item, -1 where it is left out. ``loads``: shape (sides,): what each side holds.
    """

    order: Ints
    side: Ints
    place: Ints
    loads: Floats

    def at(self, position: int, side: int | None = None) -> int:
        """The item at a position of the whole, or of a side; -1 where there is no such position."""
        order = self.order if side is None else self.order[self.side == side]
        return int(order[position]) if -len(order) <= position < len(order) else -1


@dataclass(frozen=True)
class Phrase:
    """A constraint in words, with ``{}`` for each item and ``{length}`` for each length."""

    word: str
    text: str
    items: tuple[int, ...] = ()
    lengths: tuple[float, ...] = ()


class Kind:
    """One kind of constraint, whose value is one field of :class:`Constraints`. As it stands, a limit on lengths."""

    word = ""
    single = False  # whether it asks something of single items: a wish
    positions = False  # whether it is about positions of the whole alone

    def read(self, value: Any, n: int, sides: int) -> Any:
        """The value in its one form, checked."""
        if value is not None and not value > 0:
            raise ConflictError(
                f"a {self.word.replace('_', ' ')} must be above 0; got {{length0}}", [], [self.word], [value]
            )
        return None if value is None or value == np.inf else float(value)

    def asks(self, value: Any) -> bool:
        """Whether anything is asked."""
        return bool(value)

    def items(self, value: Any) -> Iterable[int]:
        """The items that are named, and so never left out for a limit."""
        return ()

    def renumber(self, value: Any, new: Mapping[int, int], m: int) -> Any:
        """The value for m items, which are numbered anew; a ValueError where it asks for a position there is not."""
        return value

    def keeps(self, value: Any, laid: Laid) -> bool:
        """Whether an ordering keeps it."""
        raise NotImplementedError

    def singles(self, value: Any) -> list[Any]:
        """Each single constraint of the kind, or what names it."""
        return []

    def without(self, value: Any, single: Any = None) -> Any:
        """The value without a single constraint, or without any."""
        return None

    def phrase(self, value: Any, single: Any) -> Phrase:
        """A single constraint in words."""
        raise NotImplementedError

    def phrases(self, value: Any) -> list[Phrase]:
        """All of it in words."""
        return [self.phrase(value, single) for single in self.singles(value)]


class _Tuples(Kind):
    """Constraints that are tuples of items or positions."""

    def singles(self, value: Any) -> list[Any]:
        return list(value)

    def without(self, value: Any, single: Any = None) -> Any:
        return tuple(one for one in value if single is not None and one != single)


class _Places(Kind):
    """Constraints that map positions to items."""

    single = True

    def items(self, value: Any) -> Iterable[int]:
        return list(value.values())

    def singles(self, value: Any) -> list[Any]:
        return list(value)

    def without(self, value: Any, single: Any = None) -> Any:
        return {key: item for key, item in value.items() if single is not None and key != single}


class _Fixed(_Places):
    """position -> item, in the whole."""

    word, positions = "fixed", True

    def read(self, value: Any, n: int, sides: int) -> Any:
        checked = {as_position(position, n): as_item(item, n) for position, item in (value or {}).items()}
        first: dict[int, int] = {}
        for position, item in checked.items():
            if item in first and first[item] % n != position % n:
                raise ConflictError(
                    f"{{}} is fixed twice: at {ordinal(first[item])} and {ordinal(position)}", [item], ["fixed"]
                )
            first[item] = position
        return checked

    def renumber(self, value: Any, new: Mapping[int, int], m: int) -> Any:
        return {_within(place, m): new[item] for place, item in value.items()}

    def keeps(self, value: Any, laid: Laid) -> bool:
        return all(laid.at(position) == item for position, item in value.items())

    def phrase(self, value: Any, single: Any) -> Phrase:
        return Phrase("fixed", f"{{}} fixed at {ordinal(single)}", (value[single],))


class _Forbidden(_Tuples):
    """Pairs (item, position)."""

    word, single, positions = "forbidden", True, True

    def read(self, value: Any, n: int, sides: int) -> Any:
        try:
            return tuple(sorted({(as_item(item, n), as_position(position, n)) for item, position in value}))
        except (TypeError, ValueError) as error:
            raise _unless_told(error, f"forbidden must be pairs (item, position); got {value!r}") from error

    def renumber(self, value: Any, new: Mapping[int, int], m: int) -> Any:
        return [(new[item], place) for item, place in value if item in new and -m <= place < m]

    def keeps(self, value: Any, laid: Laid) -> bool:
        return all(laid.at(position) != item for item, position in value)

    def phrase(self, value: Any, single: Any) -> Phrase:
        return Phrase("forbidden", f"{{}} forbidden at {ordinal(single[1])}", (single[0],))


class _Together(_Tuples):
    """Runs of items."""

    word, single = "together", True

    def read(self, value: Any, n: int, sides: int) -> Any:
        return read_runs(value, n)

    def items(self, value: Any) -> Iterable[int]:
        return chain(*value)

    def renumber(self, value: Any, new: Mapping[int, int], m: int) -> Any:
        return [[new[item] for item in run] for run in value]

    def keeps(self, value: Any, laid: Laid) -> bool:
        return all(_in_a_row(laid.place[list(run)], laid.side) for run in value)

    def phrase(self, value: Any, single: Any) -> Phrase:
        return Phrase("together", " and ".join(["{}"] * len(single)) + " together", single)


class _Before(_Tuples):
    """Pairs (item, later item)."""

    word, single = "before", True

    def read(self, value: Any, n: int, sides: int) -> Any:
        try:
            return tuple(dict.fromkeys((as_item(a, n), as_item(b, n)) for a, b in value))
        except (TypeError, ValueError) as error:
            raise _unless_told(error, f"before must be pairs (item, later item); got {value!r}") from error

    def items(self, value: Any) -> Iterable[int]:
        return chain(*value)

    def renumber(self, value: Any, new: Mapping[int, int], m: int) -> Any:
        return [(new[a], new[b]) for a, b in value]

    def keeps(self, value: Any, laid: Laid) -> bool:
        return all(0 <= laid.place[a] < laid.place[b] for a, b in value)

    def phrase(self, value: Any, single: Any) -> Phrase:
        return Phrase("before", "{} before {}", single)


class _Apart(Kind):
    """A label per item, no two neighbours alike; None where no label is carried twice."""

    word, single = "apart", True

    def read(self, value: Any, n: int, sides: int) -> Any:
        if value is None:
            return None
        given = value.tolist() if isinstance(value, np.ndarray) else list(value)
        if len(given) != n:
            raise InputError(f"apart must hold one label per item, {n} in all; got {len(given)}")
        try:
            numbers = {label: k for k, label in enumerate(dict.fromkeys(x for x in given if x is not None and x != -1))}
            labels = np.array([-1 if x is None else numbers.get(x, -1) for x in given], dtype=np.intp)
        except TypeError as error:
            raise InputError(f"apart must hold plain labels; got {given!r}") from error
        return labels if (np.bincount(labels[labels >= 0]) > 1).any() else None

    def asks(self, value: Any) -> bool:
        return value is not None

    def renumber(self, value: Any, new: Mapping[int, int], m: int) -> Any:
        return None if value is None else value[sorted(new, key=new.__getitem__)]

    def keeps(self, value: Any, laid: Laid) -> bool:
        return value is None or not count_alike(value[laid.order], laid.side)

    def singles(self, value: Any) -> list[Any]:
        return [] if value is None else list(range(int(value.max()), -1, -1))

    def without(self, value: Any, single: Any = None) -> Any:
        return None if value is None or single is None else np.where(value == single, -1, value)

    def phrase(self, value: Any, single: Any) -> Phrase:
        group = tuple(np.flatnonzero(value == single).tolist())
        more = f" and {len(group) - _SHOWN} more" if group[_SHOWN:] else ""
        return Phrase("apart", ", ".join(["{}"] * len(group[:_SHOWN])) + more + " apart", group[:_SHOWN])

    def phrases(self, value: Any) -> list[Phrase]:
        return [self.phrase(value, one) for one in self.singles(value)[::-1] if (value == one).sum() > 1]


class _Ends(_Places):
    """(side, position on it) -> item."""

    word = "ends"

    def read(self, value: Any, n: int, sides: int) -> Any:
        checked: dict[tuple[int, int], int] = {}
        for key, item in (value or {}).items():
            try:
                side, position = key
            except (TypeError, ValueError):
                raise InputError(f"ends must map (side, position) to an item; got {key!r}") from None
            if not 0 <= index(side) < sides:
                raise InputError(f"a side must lie in 0..{sides - 1}; got {side}")
            checked[index(side), as_position(position, n)] = as_item(item, n)
        return checked

    def renumber(self, value: Any, new: Mapping[int, int], m: int) -> Any:
        return {(side, _within(place, m)): new[item] for (side, place), item in value.items()}

    def keeps(self, value: Any, laid: Laid) -> bool:
        return all(laid.at(position, side) == item for (side, position), item in value.items())

    def phrase(self, value: Any, single: Any) -> Phrase:
        return Phrase("ends", f"{{}} fixed at {ordinal(single[1])} of side {single[0] + 1}", (value[single],))


class _SideLimit(Kind):
    """The most one side may hold."""

    word = "side_limit"

    def keeps(self, value: Any, laid: Laid) -> bool:
        return value is None or bool(laid.loads.max() <= value * SLACK)

    def phrases(self, value: Any) -> list[Phrase]:
        return [] if value is None else [Phrase(self.word, "{length} a side at most", (), (value,))]


class _Limit(Kind):
    """The most all may hold."""

    word = "limit"

    def keeps(self, value: Any, laid: Laid) -> bool:
        return value is None or bool(laid.loads.sum() <= value * SLACK)

    def phrases(self, value: Any) -> list[Phrase]:
        return [] if value is None else [Phrase(self.word, "{length} in all at most", (), (value,))]


KINDS: tuple[Kind, ...] = (
    _Fixed(), _Forbidden(), _Together(), _Before(), _Apart(), _Ends(), _SideLimit(), _Limit()
)  # fmt: skip
LIGHTEST_FIRST = ("forbidden", "apart", "limit", "side_limit", "before", "ends", "together", "fixed")  # to do without
OF_WORD = {kind.word: kind for kind in KINDS}


def count_alike(labels: Ints, side: Ints) -> int:
    """How many neighbours on one side carry the same label."""
    return int(((labels[1:] == labels[:-1]) & (labels[1:] >= 0) & (side[1:] == side[:-1])).sum())


def _in_a_row(place: Ints, side: Ints) -> bool:
    return bool(place.min() >= 0 and (np.diff(place) == 1).all() and side[place[0]] == side[place[-1]])


def as_position(position: int, n: int) -> int:
    """Check a position: from 0, or negative from the end."""
    try:
        place = index(position)
    except TypeError:
        raise InputError(f"a position must be a whole number; got {position!r}") from None
    if not -n <= place < n:
        raise InputError(f"a position must lie in 0..{n - 1}, or -{n}..-1 from the end; got {place}")
    return place


def _within(position: int, m: int) -> int:
    """A position that there is among m."""
    if not -m <= position < m:
        raise ValueError(f"there is no position {position} among {m}")
    return position


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


def read_runs(together: Iterable[Sequence[int]], n: int) -> tuple[tuple[int, ...], ...]:
    """Runs of two items or more; those that overlap are joined.

    Examples
    --------
    >>> read_runs([(0, 1), (3, 2), (1, 4)], 5)
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
    runs = [_run_from(item, following) for item in dict.fromkeys(a for a, _ in pairs) if item not in leading]
    missing = sorted(set(following) - {item for run in runs for item in run})
    if missing:
        circle = _run_from(missing[0], following)
        raise ConflictError(
            "these cannot all hold: " + " and ".join(["{}"] * len(circle)) + " together", circle, ["together"]
        )
    return tuple(runs)


def _run_from(item: int, following: Mapping[int, int]) -> tuple[int, ...]:
    """The run that begins with an item; a circle ends where it began."""
    run = [item]
    while run[-1] in following and (len(run) == 1 or run[-1] != item):
        run.append(following[run[-1]])
    return tuple(run)


def _two_runs(one: tuple[int, int], other: tuple[int, int]) -> ConflictError:
    return ConflictError("these cannot all hold: {} and {} together; {} and {} together", [*other, *one], ["together"])


def _unless_told(error: Exception, message: str) -> InputError:
    return error if isinstance(error, InputError) else InputError(message)
