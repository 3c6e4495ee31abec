"""Reading constraints: each kind checked and put into one form, with errors that name what is wrong."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats
from fabula.core.fit import as_item
from fabula.core.ordering import Ints
from fabula.errors import ConflictError, InputError


def as_position(position: int, n: int) -> int:
    """Check a position: from 0, or negative from the end."""
    try:
        place = index(position)
    except TypeError:
        raise InputError(f"a position must be a whole number; got {position!r}") from None
    if not -n <= place < n:
        raise InputError(f"a position must lie in 0..{n - 1}, or -{n}..-1 from the end; got {place}")
    return place


def as_fixed(fixed: Mapping[int, int], n: int) -> dict[int, int]:
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


def as_forbidden(forbidden: Iterable[tuple[int, int]], n: int) -> tuple[tuple[int, int], ...]:
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
