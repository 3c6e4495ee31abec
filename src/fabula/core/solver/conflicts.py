"""Contradictions among constraints, told by name.

What :func:`check` finds is proven by simple rules before anything is solved. What no simple rule gives away is met by
the solver: it is proven for few items, and said to be not found for many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from fabula.core.arrays import Ints
from fabula.core.solver import domains
from fabula.core.solver.constraints import LIGHTEST_FIRST, SLACK, Constraints, Phrase
from fabula.core.solver.domains import Bools, Units
from fabula.core.solver.partition import MOST_UNITS, feasible, shortest_side
from fabula.core.solver.problem import Budget
from fabula.errors import ConflictError

PATIENCE = 3.0  # seconds' worth of looking for the constraints that take part


def list_all(constraints: Constraints, start: str) -> ConflictError:
    """An error that lists the constraints, the first three of each word where they are many."""
    every = constraints.phrases()
    most = 8 if len(every) <= 8 else 3
    shown = [p for word in dict.fromkeys(p.word for p in every) for p in [q for q in every if q.word == word][:most]]
    more = f"; and {len(every) - len(shown)} more" if len(every) > len(shown) else ""
    return list_phrases(start + (": " if shown else ""), shown, more, (), constraints)


def list_phrases(
    start: str, shown: list[Phrase], end: str, lengths: tuple[float, ...], constraints: Constraints
) -> ConflictError:
    """An error of a beginning, which has its own lengths, phrases and an end."""
    texts, numbers = list[str](), list(lengths)
    for phrase in shown:
        text = phrase.text
        for length in phrase.lengths:
            text = text.replace("{length}", f"{{length{len(numbers)}}}", 1)
            numbers.append(length)
        texts.append(text)
    words = list(dict.fromkeys(p.word for p in shown)) + (["sides"] if constraints.sides > 1 else [])
    return ConflictError(start + "; ".join(texts) + end, [i for p in shown for i in p.items], words, numbers)


def check(constraints: Constraints) -> None:
    """Raise a ConflictError with a smallest set of constraints that cannot all hold, where a simple rule shows it.

    >>> check(Constraints(3, fixed={0: 2}, before=[(0, 1), (1, 2)]))
    Traceback (most recent call last):
    fabula.errors.ConflictError: these cannot all hold: item 2 fixed at position 1; item 1 before item 2
    """
    if contradictory(constraints):
        raise conflict(constraints, contradictory)
    _check_room(constraints)


def contradictory(constraints: Constraints) -> bool:
    """Whether a simple rule shows that no ordering keeps the constraints."""
    complete = list(domains.possible_counts(constraints)) == [constraints.n]
    if not (constraints.together or constraints.before or constraints.forbidden or constraints.apart is not None):
        return complete and len({place % constraints.n for place in constraints.fixed}) < len(constraints.fixed)
    parts = domains.units(constraints)
    against = any(parts.of[a] == parts.of[b] and parts.offset[a] >= parts.offset[b] for a, b in constraints.before)
    if against or parts.earlier.diagonal().any():  # ``before`` against the order within a run, or in a circle
        return True
    if not complete:
        return False
    allowed = domains.positions_allowed(constraints, constraints.n)
    if allowed is None:
        return True
    starts = domains.starts_allowed(allowed, parts)
    if not starts.any(axis=1).all() or _is_crowded(domains.item_positions(parts, starts)):
        return True
    hard = constraints.apart is not None and not constraints.apart_soft and constraints.sides == 1
    return hard and constraints.apart is not None and _too_alike(constraints, constraints.apart, parts)


def conflict(constraints: Constraints, infeasible: Callable[[Constraints], bool], *, most: int = 500) -> ConflictError:
    """Name a smallest set of constraints that cannot all hold: one less, and they might.

    Beyond ``most`` single constraints, or when it takes too long, only whole words are tried.
    """
    budget, kept = Budget.of_seconds(PATIENCE), constraints
    for name in LIGHTEST_FIRST:
        lighter = kept.without(name)
        kept = lighter if not budget.over and infeasible(lighter) else kept
        budget.spend(_cost(lighter))
    every = _singles(kept)
    for name, single in every if len(every) <= most else []:
        lighter = kept.without(name, single)
        kept = lighter if not budget.over and infeasible(lighter) else kept
        budget.spend(_cost(lighter))
    return list_all(kept, "these cannot all hold" + (f" on {kept.sides} sides" if kept.sides > 1 else ""))


def _singles(constraints: Constraints) -> list[tuple[str, Any]]:
    """Each single constraint, with its word."""
    return [(word, single) for word in LIGHTEST_FIRST for single in constraints.singles(word)]


def _cost(constraints: Constraints) -> float:
    """About how much work it is to see whether constraints can be kept."""
    count = constraints.n - sum(len(run) - 1 for run in constraints.together)
    return (
        1000.0 + 0.5 * constraints.n**2 + (2.0**count * count / 10 * constraints.sides if count <= MOST_UNITS else 0.0)
    )


def unsolvable(constraints: Constraints) -> ConflictError:
    """What to say when few items were proven to have no ordering."""
    if constraints.side_limit is not None:
        shortest = shortest_side(replace(constraints, side_limit=None))
        if shortest is not None:
            return _too_short(constraints, shortest, "the shortest side limit that works is")
    n = constraints.n
    return conflict(constraints, lambda c: contradictory(c) or not feasible(c), most=200 if n <= 12 else 30)


def not_found(constraints: Constraints, shortest: float | None = None) -> ConflictError:
    """What to say when no ordering of many items was found; ``shortest`` is a side limit that works."""
    if constraints.side_limit is not None and shortest is not None:
        return _too_short(constraints, shortest, "a side limit that was found to work is")
    return list_all(constraints, "no ordering was found that keeps all of these")


def _too_short(constraints: Constraints, shortest: float, verb: str) -> ConflictError:
    """The side limit cannot be kept; and which constraints stand against it, where one less would do."""
    against: list[Phrase] = []
    if len(domains.units(constraints).members) <= MOST_UNITS:
        budget, known = Budget.of_seconds(PATIENCE), constraints.phrases()
        for name, single in _singles(constraints):
            lighter = constraints.without(name, single)
            budget.spend(_cost(lighter))
            if not budget.over and feasible(lighter):
                kept = {(p.word, p.text, p.items) for p in lighter.phrases()}
                against += [p for p in known if (p.word, p.text, p.items) not in kept]
    start = f"{constraints.sides} side(s) of at most {{length0}} cannot be made: {verb} {{length1}}"
    limit = constraints.side_limit or 0.0
    start += "; it would work without any one of: " if against else ""
    error = list_phrases(start, against, "", (limit, shortest), constraints)
    words = list(dict.fromkeys([*error.options, "side_limit"]))
    return ConflictError(error.pattern, error.items, words, error.lengths)


def _check_room(constraints: Constraints) -> None:
    """Say what can never fit."""
    c = constraints
    if not len(domains.possible_counts(c)):
        held, limit = float(c.weights[list(c.must_keep)].sum()), c.limit or 0.0
        if held <= limit * SLACK:
            raise ConflictError("every item alone holds more than the limit of {length0}", [], ["limit"], [limit])
        who = [p for p in c.phrases() if p.word in ("fixed", "together", "before", "ends")]
        raise list_phrases("what must be kept holds {length0}, the limit is {length1}: ", who, "", (held, limit), c)
    count = c.n - sum(len(run) - 1 for run in c.together)
    if count < c.sides:
        raise ConflictError(f"{c.sides} sides need as many items or runs; got {count}", [], ["sides"])


def _is_crowded(positions: Bools) -> bool:
    """Whether some items share too few positions (Hall's condition)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    single = positions.sum(axis=1) == 1  # those take their position, if no two want the same
    taken = positions[single].sum(axis=0)
    open_ = positions[np.ix_(~single, taken == 0)]
    choosy = open_[~open_.all(axis=1)]  # whoever can stand anywhere finds what is left
    lost = maximum_bipartite_matching(csr_array(choosy), perm_type="column") < 0 if len(choosy) else np.zeros(0)
    return bool((taken > 1).any() or lost.any())


def _too_alike(constraints: Constraints, labels: Ints, parts: Units) -> bool:
    """Whether equal labels must meet: within a run, at fixed neighbours, or because they are too many."""
    pinned = {place % constraints.n: item for place, item in constraints.fixed.items()}
    neighbours = [pair for run in parts.members for pair in pairwise(run)]
    neighbours += [(item, pinned[place + 1]) for place, item in pinned.items() if place + 1 in pinned]
    if any(labels[a] == labels[b] >= 0 for a, b in neighbours):
        return True
    head = labels[[run[0] for run in parts.members]]
    tail = labels[[run[-1] for run in parts.members]]
    at = {place: int(labels[item]) for place, item in pinned.items()}
    edges = [-1, *sorted(pinned), constraints.n]
    for label in np.flatnonzero(np.bincount(labels[labels >= 0]) > 1):
        both, none = (head == label) & (tail == label), (head != label) & (tail != label)
        if both.sum() > none.sum() + 1:
            return True
        closed = [(b - a - 1) - (at.get(a) == label) - (at.get(b) == label) for a, b in pairwise(edges)]
        room = sum((width + 1) // 2 for width in closed if width > 0)  # every other free position between fixed ones
        if (labels == label).sum() - sum(held == label for held in at.values()) > room:
            return True
    return False
