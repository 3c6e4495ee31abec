"""Constraints on an ordering: what the user insists on, checked and in one form."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from fabula.core.fit import as_fixed, as_forbidden, as_item
from fabula.core.ordering import Ints, inverse
from fabula.errors import InputError


@dataclass(frozen=True, eq=False)
class Constraints:
    """What an ordering of n items must keep.

    Parameters
    ----------
    n
        How many items there are.
    fixed
        position -> item; negative positions count from the end.
    forbidden
        Pairs (item, position) that must not occur; negative positions count from the end.
    together
        Runs of items that must stand next to each other, in exactly that order. An item is in one run at most.
    before
        Pairs (a, b): item a stands somewhere before item b.
    apart
        A label per item, or None: no two neighbours carry the same label. -1 and None are no label.

    Raises
    ------
    InputError
        When one of them is malformed. Whether they can all hold is told by
        :func:`fabula.core.arranging.conflicts.check`.

    Examples
    --------
    >>> kept = Constraints(4, fixed={-1: 0}, together=[(2, 1)], apart=["x", None, None, "x"])
    >>> kept.fixed, kept.apart.tolist(), kept.broken([3, 2, 1, 0])
    ({3: 0}, [0, -1, -1, 0], [])
    >>> kept.broken([1, 2, 3, 0])
    ['together', 'apart']
    """

    n: int
    fixed: dict[int, int]
    forbidden: tuple[tuple[int, int], ...]
    together: tuple[tuple[int, ...], ...]
    before: tuple[tuple[int, int], ...]
    apart: Ints | None

    def __init__(
        self,
        n: int,
        fixed: Mapping[int, int] | None = None,
        forbidden: Iterable[tuple[int, int]] = (),
        together: Iterable[Sequence[int]] = (),
        before: Iterable[tuple[int, int]] = (),
        apart: Iterable[Hashable] | Ints | None = None,
    ) -> None:
        checked = {
            "n": n,
            "fixed": as_fixed(fixed or {}, n),
            "forbidden": tuple(sorted(as_forbidden(forbidden, n))),
            "together": _as_runs(together, n),
            "before": _as_pairs(before, n),
            "apart": _as_labels(apart, n),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def places_only(self) -> bool:
        """Whether each item can be judged by its place alone, as :func:`fabula.core.fit.fit` does."""
        return not self.together and not self.before and self.apart is None

    @property
    def named(self) -> set[int]:
        """The items with a fixed place, in a run or in a pair."""
        return {*self.fixed.values(), *chain.from_iterable(self.together), *chain.from_iterable(self.before)}

    def broken(self, ordering: Sequence[int] | Ints) -> list[str]:
        """The words of the constraints that an ordering does not keep."""
        place = inverse(ordering)
        tests = {
            "fixed": all(place[item] == position for position, item in self.fixed.items()),
            "forbidden": all(place[item] != position for item, position in self.forbidden),
            "together": all((np.diff(place[list(run)]) == 1).all() for run in self.together),
            "before": all(place[a] < place[b] for a, b in self.before),
            "apart": self.apart is None or not _neighbours_alike(self.apart[np.asarray(ordering)]),
        }
        return [name for name, kept in tests.items() if not kept]


def _neighbours_alike(labels: Ints) -> bool:
    return bool(((labels[1:] == labels[:-1]) & (labels[1:] >= 0)).any())


def _as_runs(together: Iterable[Sequence[int]], n: int) -> tuple[tuple[int, ...], ...]:
    """Runs of two items or more; no item twice."""
    try:
        runs = tuple(tuple(as_item(item, n) for item in run) for run in together)
    except TypeError as error:
        raise InputError(f"together must be runs of items; got {together!r}") from error
    seen: set[int] = set()
    for item in (item for run in runs for item in run):
        if item in seen:
            raise InputError(f"an item may stand in one run only; got item {item} twice in together")
        seen.add(item)
    return tuple(run for run in runs if len(run) > 1)


def _as_pairs(before: Iterable[tuple[int, int]], n: int) -> tuple[tuple[int, int], ...]:
    try:
        return tuple(dict.fromkeys((as_item(a, n), as_item(b, n)) for a, b in before))
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"before must be pairs (item, later item); got {before!r}") from error


def _as_labels(apart: Iterable[Hashable] | Ints | None, n: int) -> Ints | None:
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
