"""Constraints on an ordering: what the user insists on, checked and in one form."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arrays import Floats, Ints
from fabula.core.solver.kinds import KINDS, OF_WORD, SLACK, Kind, Laid, Phrase
from fabula.errors import ConflictError, InputError


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
        given: dict[str, Any] = {
            "fixed": fixed,
            "forbidden": forbidden,
            "together": together,
            "before": before,
            "apart": apart,
        }
        given |= {"ends": ends, "side_limit": side_limit, "limit": limit}
        values: dict[str, Any] = {kind.word: kind.read(given[kind.word], n, sides) for kind in KINDS}
        values |= {"n": n, "apart_soft": apart_soft, "sides": int(sides), "lengths": _read_lengths(lengths, n)}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def positions_only(self) -> bool:
        """Whether an item can be judged by its position alone, all items kept on one side."""
        return self.one_side and not any(self._asks(kind) for kind in KINDS if kind.single and not kind.positions)

    @property
    def wishes(self) -> bool:
        """Whether anything is asked of single items."""
        return any(self._asks(kind) for kind in KINDS if kind.single)

    def _asks(self, kind: Kind) -> bool:
        return kind.asks(getattr(self, kind.word))

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

    def barred(self) -> NDArray[np.bool_] | None:
        """Which item must not stand right after which: shape (n, n); None where any may. Runs are kept as units."""
        return None if self.apart_soft else self._same_label()

    def alike(self) -> NDArray[np.bool_] | None:
        """Which neighbours are to be avoided before anything else, though they may be: shape (n, n)."""
        return self._same_label() if self.apart_soft else None

    def _same_label(self) -> NDArray[np.bool_] | None:
        labels = self.apart
        return None if labels is None else (labels[:, np.newaxis] == labels) & (labels >= 0)

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

    def renumber(self, items: Ints) -> Constraints | None:
        """The constraints on some items, of which ``items[k]`` becomes item k; None where that cannot be.

        What is left out takes its part of the limit with it, so that none is left.
        """
        new = {int(item): number for number, item in enumerate(items)}
        try:
            values = {kind.word: kind.renumber(getattr(self, kind.word), new, len(new)) for kind in KINDS}
        except ValueError:
            return None
        lengths = self.lengths
        if len(new) < self.n:
            lengths, values["limit"] = self.weights, None
        return Constraints(
            len(new),
            **values,
            apart_soft=self.apart_soft,
            sides=self.sides,
            lengths=None if lengths is None else lengths[items],
        )

    def bare(self) -> Constraints:
        """The constraints without wishes on single items."""
        return replace(self, **{kind.word: kind.without(getattr(self, kind.word)) for kind in KINDS if kind.single})

    def without(self, word: str, single: Any = None) -> Constraints:
        """The constraints without a single one of a word, or without all of that word."""
        changes: dict[str, Any] = {word: OF_WORD[word].without(getattr(self, word), single)}
        return replace(self, **changes)

    def singles(self, word: str) -> list[Any]:
        """What names each single constraint of a word."""
        return OF_WORD[word].singles(getattr(self, word))

    def phrases(self) -> list[Phrase]:
        """Each constraint in words.

        Examples
        --------
        >>> [phrase.text for phrase in Constraints(3, fixed={0: 2}, before=[(0, 1)]).phrases()]
        ['{} fixed at position 1', '{} before {}']
        """
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
        raise ConflictError(
            "lengths must be finite and not negative; got {length0} for {}",
            [int(wrong[0])],
            ["limit"],
            [counted[wrong[0]]],
        )
    return counted
