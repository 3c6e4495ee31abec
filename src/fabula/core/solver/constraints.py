"""Constraints on an ordering: what the user insists on, checked and in one form."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Bools, Floats, Ints, as_item, as_position
from fabula.errors import ConflictError, InputError

# Kinds of constraints: each says everything about itself.

SLACK = 1 + 1e-12  # so that sums of lengths in another order do not break a limit
_SHOWN = 8  # items of one label that are named in an error


@dataclass(frozen=True, eq=False)
class Laid:
    """An ordering of what is kept, as constraints look at it."""

    order: Ints  # (m,) the item at each position
    side: Ints  # (m,) the side each position is on
    place: Ints  # (n,) the position of each item, -1 where it is left out
    loads: Floats  # (sides,) what each side holds

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


class Kind(ABC):
    """One kind of constraint, whose value is one field of :class:`Constraints`."""

    word = ""
    single = False  # whether it asks something of single items: a wish

    @abstractmethod
    def read(self, value: Any, n: int, sides: int) -> Any:
        """The value in its one form, checked."""

    def items(self, value: Any) -> Iterable[int]:
        """The items that are named, and so never left out for a limit."""
        return ()

    def renumber(self, value: Any, new: Mapping[int, int], m: int) -> Any:
        """The value for m items, which are numbered anew; a ValueError where it asks for a position there is not."""
        return value

    @abstractmethod
    def keeps(self, value: Any, laid: Laid) -> bool:
        """Whether an ordering keeps it."""

    def singles(self, value: Any) -> list[Any]:
        """Each single constraint of the kind, or what names it."""
        return list(value)

    def without(self, value: Any, single: Any = None) -> Any:
        """The value without a single constraint, or without any."""
        kept = [one for one in value if single is not None and one != single]
        return {one: value[one] for one in kept} if isinstance(value, dict) else tuple(kept)

    @abstractmethod
    def phrase(self, value: Any, single: Any) -> Phrase:
        """A single constraint in words."""

    def phrases(self, value: Any) -> list[Phrase]:
        """All of it in words."""
        return [self.phrase(value, single) for single in self.singles(value)]


class _Fixed(Kind):
    """position -> item, in the whole."""

    word, single = "fixed", True

    def read(self, value: Any, n: int, sides: int) -> Any:
        checked = {as_position(position, n): as_item(item, n) for position, item in (value or {}).items()}
        first: dict[int, int] = {}
        for position, item in checked.items():
            if item in first and first[item] % n != position % n:
                places = f"{ordinal(first[item])} and {ordinal(position)}"
                raise ConflictError(f"{{}} is fixed twice: at {places}", [item], ["fixed"])
            first[item] = position
        return checked

    def items(self, value: Any) -> Iterable[int]:
        return list(value.values())

    def renumber(self, value: Any, new: Mapping[int, int], m: int) -> Any:
        return {_within(place, m): new[item] for place, item in value.items()}

    def keeps(self, value: Any, laid: Laid) -> bool:
        return all(laid.at(position) == item for position, item in value.items())

    def phrase(self, value: Any, single: Any) -> Phrase:
        return Phrase("fixed", f"{{}} fixed at {ordinal(single)}", (value[single],))


class _Forbidden(Kind):
    """Pairs (item, position)."""

    word, single = "forbidden", True

    def read(self, value: Any, n: int, sides: int) -> Any:
        return tuple(sorted(set(_read_pairs(value, n, as_position, "forbidden must be pairs (item, position)"))))

    def renumber(self, value: Any, new: Mapping[int, int], m: int) -> Any:
        return [(new[item], place) for item, place in value if item in new and -m <= place < m]

    def keeps(self, value: Any, laid: Laid) -> bool:
        return all(laid.at(position) != item for item, position in value)

    def phrase(self, value: Any, single: Any) -> Phrase:
        return Phrase("forbidden", f"{{}} forbidden at {ordinal(single[1])}", (single[0],))


class _Together(Kind):
    """Runs of items."""

    word, single = "together", True

    def read(self, value: Any, n: int, sides: int) -> Any:
        """Runs of two items or more; those that overlap are joined: (0, 1) and (1, 4) are (0, 1, 4)."""
        try:
            pairs = [pair for run in value for pair in pairwise([as_item(item, n) for item in run])]
        except TypeError as error:
            raise InputError(f"together must be runs of items; got {value!r}") from error
        following, leading = dict[int, int](), dict[int, int]()
        for a, b in dict.fromkeys(pairs):
            if a in following or b in leading:
                other = (a, following[a]) if a in following else (leading[b], b)
                told = "these cannot all hold: {} and {} together; {} and {} together"
                raise ConflictError(told, [*other, a, b], ["together"])
            following[a], leading[b] = b, a
        runs = [_run_from(item, following) for item in dict.fromkeys(a for a, _ in pairs) if item not in leading]
        missing = sorted(set(following) - {item for run in runs for item in run})
        if missing:
            circle = _run_from(missing[0], following)
            named = " and ".join(["{}"] * len(circle))
            raise ConflictError(f"these cannot all hold: {named} together", circle, ["together"])
        return tuple(runs)

    def items(self, value: Any) -> Iterable[int]:
        return chain(*value)

    def renumber(self, value: Any, new: Mapping[int, int], m: int) -> Any:
        return [[new[item] for item in run] for run in value]

    def keeps(self, value: Any, laid: Laid) -> bool:
        places = [laid.place[list(run)] for run in value]
        return all(p.min() >= 0 and (np.diff(p) == 1).all() and laid.side[p[0]] == laid.side[p[-1]] for p in places)

    def phrase(self, value: Any, single: Any) -> Phrase:
        return Phrase("together", " and ".join(["{}"] * len(single)) + " together", single)


class _Before(Kind):
    """Pairs (item, later item)."""

    word, single = "before", True

    def read(self, value: Any, n: int, sides: int) -> Any:
        return tuple(dict.fromkeys(_read_pairs(value, n, as_item, "before must be pairs (item, later item)")))

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


class _Ends(_Fixed):
    """(side, position on it) -> item: fixed on a side."""

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


class _Limit(Kind):
    """The most that is held: by the fullest side, or by all of them."""

    def __init__(self, word: str, held: Callable[[Floats], float], text: str) -> None:
        self.word, self.held, self.text = word, held, text

    def read(self, value: Any, n: int, sides: int) -> Any:
        if value is not None and not value > 0:
            what = self.word.replace("_", " ")
            raise ConflictError(f"a {what} must be above 0; got {{length0}}", [], [self.word], [value])
        return None if value is None or value == np.inf else float(value)

    def keeps(self, value: Any, laid: Laid) -> bool:
        return value is None or bool(self.held(laid.loads) <= value * SLACK)

    def singles(self, value: Any) -> list[Any]:
        return []

    def without(self, value: Any, single: Any = None) -> Any:
        return None

    def phrase(self, value: Any, single: Any) -> Phrase:
        return Phrase(self.word, self.text, (), (value,))

    def phrases(self, value: Any) -> list[Phrase]:
        return [] if value is None else [self.phrase(value, None)]


KINDS: tuple[Kind, ...] = (
    _Fixed(), _Forbidden(), _Together(), _Before(), _Apart(), _Ends(),
    _Limit("side_limit", np.max, "{length} a side at most"), _Limit("limit", np.sum, "{length} in all at most")
)  # fmt: skip
LIGHTEST_FIRST = ("forbidden", "apart", "limit", "side_limit", "before", "ends", "together", "fixed")  # to do without
OF_WORD = {kind.word: kind for kind in KINDS}


def count_alike(labels: Ints, side: Ints) -> int:
    """How many neighbours on one side carry the same label."""
    return int(((labels[1:] == labels[:-1]) & (labels[1:] >= 0) & (side[1:] == side[:-1])).sum())


def _within(position: int, m: int) -> int:
    """A position that there is among m."""
    if not -m <= position < m:
        raise ValueError(f"there is no position {position} among {m}")
    return position


def ordinal(position: int) -> str:
    """A position in words, counted from 1 as people do.

    >>> ordinal(0), ordinal(-1), ordinal(-2)
    ('position 1', 'the last position', 'position 2 from the end')
    """
    if position >= 0:
        return f"position {position + 1}"
    return "the last position" if position == -1 else f"position {-position} from the end"


def _run_from(item: int, following: Mapping[int, int]) -> tuple[int, ...]:
    """The run that begins with an item; a circle ends where it began."""
    run = [item]
    while run[-1] in following and (len(run) == 1 or run[-1] != item):
        run.append(following[run[-1]])
    return tuple(run)


def _read_pairs(value: Any, n: int, read: Callable[[int, int], int], rule: str) -> list[tuple[int, int]]:
    """Pairs of an item and what is read of the second, checked."""
    try:
        return [(as_item(item, n), read(other, n)) for item, other in value]
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{rule}; got {value!r}") from error


@dataclass(frozen=True, eq=False)
class Constraints:
    """What an ordering of n items must keep; what ``fixed``, ``together``, ``before``, ``ends`` name is never left out.

    >>> kept = Constraints(4, fixed={-1: 0}, together=[(2, 1)], apart=["x", None, None, "x"])
    >>> kept.apart.tolist(), kept.broken([3, 2, 1, 0])
    ([0, -1, -1, 0], [])
    >>> kept.broken([1, 2, 3, 0])
    ['together', 'apart']
    """

    n: int
    fixed: dict[int, int]  # position -> item in the whole; negative positions count from the end of what is kept
    forbidden: tuple[tuple[int, int], ...]  # pairs (item, position) that must not occur
    # runs of items that stand next to each other, in exactly that order, on one side; those that overlap are joined
    together: tuple[tuple[int, ...], ...]
    before: tuple[tuple[int, int], ...]  # pairs (a, b): item a stands somewhere before item b
    apart: Ints | None  # a label per item, -1 (given as None) for none: no two neighbours on a side carry the same
    apart_soft: bool  # only as few such neighbours as possible, which then comes before every other criterion
    sides: int  # each of which follows the template from its beginning to its end; none is empty
    ends: dict[tuple[int, int], int]  # (side, position on it) -> item; negative positions count from the side's end
    lengths: Floats | None  # (n,): what limits count; 1 each by default
    # The most a side may hold. Without one, no side of several is longer than 1.15 times the mean, or, where the
    # constraints do not permit that, than the smallest longest side that they permit.
    side_limit: float | None
    limit: float | None  # the most all may hold; what fits worst is left out, as few items as possible

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
        given = (fixed, forbidden, together, before, apart, ends, side_limit, limit)
        values: dict[str, Any] = {k.word: k.read(value, n, sides) for k, value in zip(KINDS, given, strict=True)}
        values |= {"n": n, "apart_soft": apart_soft, "sides": int(sides), "lengths": _read_lengths(lengths, n)}
        self.__dict__.update(values)

    @property
    def positions_only(self) -> bool:
        """Whether an item can be judged by its position alone, all items kept on one side."""
        return self.one_side and not self._binds

    @property
    def wishes(self) -> bool:
        """Whether anything is asked of single items."""
        return bool(self.fixed or self.forbidden or self._binds)

    @property
    def _binds(self) -> bool:
        """Whether items are bound to each other, or to a side."""
        return bool(self.together or self.before or self.ends or self.apart is not None)

    @cached_property
    def one_side(self) -> bool:
        """Whether all items stand on one side, and no length is counted that matters."""
        total = float(self.weights.sum())
        return self.sides == 1 and all(cap is None or total <= cap * SLACK for cap in (self.limit, self.side_limit))

    @cached_property
    def must_keep(self) -> set[int]:
        """The items that are never left out: those that are fixed, in a run, in a pair or at the end of a side."""
        return {item for kind in KINDS for item in kind.items(getattr(self, kind.word))}

    @cached_property
    def weights(self) -> Floats:
        """Shape (n,): the lengths, 1 each where none are known."""
        return np.ones(self.n) if self.lengths is None else self.lengths

    def same_label(self) -> Bools | None:
        """Which items must not stand right after which, or had better not: shape (n, n); None where any may."""
        labels = self.apart
        return None if labels is None else (labels[:, np.newaxis] == labels) & (labels >= 0)

    def broken(self, ordering: Sequence[int] | Ints, sides: Sequence[int] = ()) -> list[str]:
        """The words of the constraints that an ordering (m,) breaks; ``sides`` are empty for one side."""
        order = np.asarray(ordering, dtype=np.intp)
        sizes = list(sides) or [len(order)]
        side = np.repeat(np.arange(len(sizes)), sizes)
        words = [] if len(sizes) == self.sides and min(sizes) > 0 and sum(sizes) == len(order) else ["sides"]
        place = np.full(self.n, -1)
        place[order] = np.arange(len(order))
        laid = Laid(order, side, place, np.bincount(side, self.weights[order], len(sizes)).astype(np.float64))
        for kind in KINDS:
            soft = kind.word == "apart" and self.apart_soft
            if not soft and not kind.keeps(getattr(self, kind.word), laid):
                words.append(kind.word)
        return words

    def renumber(self, items: Ints) -> "Constraints | None":
        """The constraints on some items, of which ``items[k]`` becomes item k; None where that cannot be."""
        new = {int(item): number for number, item in enumerate(items)}
        try:
            values = {kind.word: kind.renumber(getattr(self, kind.word), new, len(new)) for kind in KINDS}
        except ValueError:
            return None
        lengths = self.lengths
        if len(new) < self.n:
            lengths, values["limit"] = self.weights, None
        return replace(self, n=len(new), lengths=None if lengths is None else lengths[items], **values)

    def bare(self) -> "Constraints":
        """The constraints without wishes on single items."""
        return replace(self, **{kind.word: kind.without(getattr(self, kind.word)) for kind in KINDS if kind.single})

    def without(self, word: str, single: Any = None) -> "Constraints":
        """The constraints without a single one of a word, or without all of that word."""
        changes: dict[str, Any] = {word: OF_WORD[word].without(getattr(self, word), single)}
        return replace(self, **changes)

    def singles(self) -> list[tuple[str, Any]]:
        """The word of each single constraint, and what names it there, the lightest first."""
        return [(word, single) for word in LIGHTEST_FIRST for single in OF_WORD[word].singles(getattr(self, word))]

    def phrases(self) -> list[Phrase]:
        """Each constraint in words."""
        hard = [kind for kind in KINDS if kind.word != "apart" or not self.apart_soft]
        return [phrase for kind in hard for phrase in kind.phrases(getattr(self, kind.word))]


def _read_lengths(lengths: ArrayLike | None, n: int) -> Floats | None:
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
        told = "lengths must be finite and not negative; got {length0} for {}"
        raise ConflictError(told, [int(wrong[0])], ["limit"], [counted[wrong[0]]])
    return counted
