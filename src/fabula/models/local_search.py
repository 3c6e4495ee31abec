"""Good orderings under a scorer that can only be asked: local search from several starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from fabula.core.essence import Floats
from fabula.core.fit import Fit, as_fixed, lay
from fabula.core.ordering import Ints
from fabula.core.template import Template, from_arc
from fabula.errors import InputError

_RANDOM_STARTS = 4
_NEIGHBOURS = 768  # tried at a time; all of them up to 23 items
_ITEMS = 400_000  # scored per start, about: a second

Score = Callable[[Floats], Floats]


def search_orderings(
    score: Score,
    essence: Floats,
    *,
    alternatives: int = 4,
    fixed: Mapping[int, int] | None = None,
    seed: int = 0,
) -> list[Fit]:
    """Orderings that no swap and no move of one item makes likelier; likeliest first, distinct.

    Starts from the items sorted up and down by their first dimension and from random orderings. When the starts
    end in fewer different orderings than asked for, the best neighbours of the ends are added.

    Parameters
    ----------
    score
        From sequences (m, n, d) to scores (m,).
    essence
        Shape (n, d), z-scored.
    alternatives, fixed
        As of :meth:`fabula.core.arcs.Arcs.order`.
    seed
        Of the random starts.

    Examples
    --------
    >>> rise = lambda sequences: sequences[:, :, 0] @ np.array([0.0, 1.0, 2.0])
    >>> search_orderings(rise, np.array([[3.0], [1.0], [2.0]]), alternatives=1)[0].ordering
    array([1, 2, 0])
    """
    if alternatives < 1:
        raise InputError(f"alternatives must be at least 1; got {alternatives}")
    rng = np.random.default_rng(seed)
    pinned = as_fixed(fixed or {}, len(essence))
    ends: list[tuple[float, Ints]] = []
    near: list[tuple[float, Ints]] = []
    for start in _starts(essence, pinned, rng):
        end, around = _climb(score, essence, start, np.setdiff1d(np.arange(len(start)), list(pinned)), rng)
        ends.append(end)
        near.extend(around)
    found: dict[bytes, tuple[float, Ints]] = {}
    for candidates in (ends, near):
        for value, ordering in sorted(candidates, key=_by_score):
            if len(found) < alternatives:
                found.setdefault(essence[ordering].tobytes(), (value, ordering))
    return [_as_fit(essence, *pair) for pair in sorted(found.values(), key=_by_score)]


def _climb(
    score: Score, essence: Floats, start: Ints, free_positions: Ints, rng: np.random.Generator
) -> tuple[tuple[float, Ints], list[tuple[float, Ints]]]:
    """The end of one climb, and the orderings next to it with their scores."""
    here = start
    value = float(score(essence[here][np.newaxis])[0])
    around: list[tuple[float, Ints]] = []
    scored = 0
    while scored < _ITEMS:
        orderings = _neighbours(here, free_positions, rng)
        if not len(orderings):
            break
        scored += orderings.size
        scores = score(essence[orderings])
        best = np.argsort(-scores, kind="stable")
        around = [(float(scores[i]), orderings[i]) for i in best[:16]]
        if scores[best[0]] <= value + 1e-6:  # less is rounding
            break
        value, here = around[0]
    return (value, here), around


def _neighbours(ordering: Ints, free_positions: Ints, rng: np.random.Generator) -> Ints:
    """Orderings one swap or one move away, all others kept: shape (m, n)."""
    first, second = np.triu_indices(len(free_positions), 1)
    moves = [(a, b, kind) for a, b in zip(first, second, strict=True) for kind in range(3 if b - a > 1 else 1)]
    if len(moves) > _NEIGHBOURS:
        moves = [moves[i] for i in rng.choice(len(moves), _NEIGHBOURS, replace=False)]
    out = np.tile(ordering, (len(moves), 1))
    free = ordering[free_positions]
    for row, (a, b, kind) in zip(out, moves, strict=True):
        part = free[a : b + 1]
        if kind == 0:
            row[free_positions[a]], row[free_positions[b]] = part[-1], part[0]
        else:  # the first of the part behind its last, or the last before its first
            row[free_positions[a : b + 1]] = np.roll(part, -1 if kind == 1 else 1)
    return out


def _starts(essence: Floats, pinned: dict[int, int], rng: np.random.Generator) -> list[Ints]:
    n = len(essence)
    up = np.argsort(essence[:, 0], kind="stable")
    orders = [up, up[::-1], *(rng.permutation(n) for _ in range(_RANDOM_STARTS))]
    return [_with_pinned(order, pinned) for order in orders]


def _with_pinned(order: Ints, pinned: dict[int, int]) -> Ints:
    """The pinned items in their positions, the others around them in the given order."""
    ordering = np.empty(len(order), dtype=np.intp)
    ordering[list(pinned)] = list(pinned.values())
    ordering[np.setdiff1d(np.arange(len(order)), list(pinned))] = order[~np.isin(order, list(pinned.values()))]
    return ordering


def _as_fit(essence: Floats, score: float, ordering: Ints) -> Fit:
    """The ordering laid on its own arc; a single item has none, and lies on a flat template."""
    flat = Template([0, 1], np.zeros((2, essence.shape[1])))
    template = from_arc(essence[ordering], name="own arc") if len(essence) > 1 else flat
    return replace(lay(essence, ordering, template), score=score)


def _by_score(candidate: tuple[float, Ints]) -> float:
    return -candidate[0]
