"""Contradictions among constraints: found before the search, told by name.

What is found here is proven. The search can still meet constraints that cannot all hold and that no simple rule
gives away; it then says so itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.units import Bools, Units, allowed_starts, units
from fabula.core.ordering import Ints
from fabula.errors import ConflictError


def check(constraints: Constraints) -> None:
    """Say which constraints contradict each other, where a simple rule shows it.

    Raises
    ------
    ConflictError
        With a smallest set of constraints that cannot all hold, each told.

    Examples
    --------
    >>> check(Constraints(3, fixed={0: 2}, before=[(0, 1), (1, 2)]))
    Traceback (most recent call last):
    fabula.errors.ConflictError: these cannot all hold: item 2 fixed at position 0; item 1 before item 2
    """
    if contradictory(constraints):
        raise conflict(constraints, contradictory)


def contradictory(constraints: Constraints) -> bool:
    """Whether a simple rule shows that no ordering keeps the constraints."""
    if constraints.places_only and not constraints.forbidden:
        return False  # fixed alone is checked as it is read
    parts = units(constraints)
    if _tangled(constraints, parts):
        return True
    starts = allowed_starts(constraints, parts)
    if not starts.any(axis=1).all() or _crowded(item_places(parts, starts)):
        return True
    return constraints.apart is not None and _too_alike(constraints, constraints.apart, parts)


def item_places(parts: Units, starts: Bools) -> Bools:
    """Where each item may stand (n, n), from where its unit may start (m, n)."""
    n = len(parts.of)
    place = np.arange(n) - parts.offset[:, np.newaxis]
    return np.asarray((place >= 0) & starts[parts.of[:, np.newaxis], np.maximum(place, 0)])


def conflict(constraints: Constraints, infeasible: Callable[[Constraints], bool], *, most: int = 500) -> ConflictError:
    """Name a smallest set of constraints that cannot all hold: one less, and they might.

    Beyond ``most`` single constraints only whole words are tried.
    """
    for name in ("forbidden", "apart", "before", "together", "fixed"):
        lighter = _without(constraints, name)
        constraints = lighter if infeasible(lighter) else constraints
    kept = constraints
    singles = list(_singles(constraints))
    for name, single in singles if len(singles) <= most else []:
        lighter = _without(kept, name, single)
        kept = lighter if infeasible(lighter) else kept
    return told(kept, "these cannot all hold")


def told(constraints: Constraints, start: str) -> ConflictError:
    """An error that lists the constraints, the first three of each word where they are many."""
    phrases = _phrases(constraints)
    most = 8 if sum(map(len, phrases.values())) <= 8 else 3
    shown = [phrase for group in phrases.values() for phrase in group[:most]]
    more = sum(map(len, phrases.values())) - len(shown)
    text = "; ".join(text for text, _ in shown) + (f"; and {more} more" if more else "")
    return ConflictError(f"{start}: {text}", [item for _, items in shown for item in items], list(phrases))


def _phrases(constraints: Constraints) -> dict[str, list[tuple[str, list[int]]]]:
    """Each constraint in words, with its items, under its word."""
    groups = [np.flatnonzero(constraints.apart == k).tolist() for k in _labels(constraints)]
    phrases: dict[str, list[tuple[str, list[int]]]] = {
        "fixed": [(f"{{}} fixed at position {place}", [item]) for place, item in constraints.fixed.items()],
        "forbidden": [(f"{{}} forbidden at position {place}", [item]) for item, place in constraints.forbidden],
        "together": [(" and ".join(["{}"] * len(run)) + " together", list(run)) for run in constraints.together],
        "before": [("{} before {}", [a, b]) for a, b in constraints.before],
        "apart": [(_listed(group) + " apart", group[:8]) for group in groups if len(group) > 1],
    }
    return {word: group for word, group in phrases.items() if group}


def _listed(group: list[int]) -> str:
    return ", ".join(["{}"] * len(group[:8])) + (f" and {len(group) - 8} more" if group[8:] else "")


def _labels(constraints: Constraints) -> range:
    return range(0 if constraints.apart is None else int(constraints.apart.max()) + 1)


def _singles(constraints: Constraints) -> Iterator[tuple[str, object]]:
    """Each single constraint, with its word."""
    yield from (("forbidden", pair) for pair in constraints.forbidden)
    yield from (("apart", label) for label in reversed(_labels(constraints)))
    yield from (("before", pair) for pair in constraints.before)
    yield from (("together", run) for run in constraints.together)
    yield from (("fixed", place) for place in constraints.fixed)


def _without(c: Constraints, name: str, single: object = None) -> Constraints:
    """The constraints without a single one of a word, or without all of that word."""
    if name == "fixed":
        return replace(c, fixed={p: item for p, item in c.fixed.items() if single is not None and p != single})
    if name == "apart":
        labels = None if c.apart is None or single is None else np.where(c.apart == single, -1, c.apart)
        return replace(c, apart=labels)
    left = tuple(x for x in getattr(c, name) if single is not None and x != single)
    changes: dict[str, Any] = {name: left}
    return replace(c, **changes)


def _tangled(constraints: Constraints, parts: Units) -> bool:
    """Whether ``before`` runs in a circle, among units or against the order within a run."""
    against = any(parts.of[a] == parts.of[b] and parts.offset[a] >= parts.offset[b] for a, b in constraints.before)
    return against or bool(parts.earlier.diagonal().any())


def _crowded(places: Bools) -> bool:
    """Whether some items share too few places (Hall's condition)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    return bool((maximum_bipartite_matching(csr_array(places), perm_type="column") < 0).any())


def _too_alike(constraints: Constraints, labels: Ints, parts: Units) -> bool:
    """Whether equal labels must meet: within a run, at fixed neighbours, or because they are too many.

    Units with the label at both ends need a unit without it at either end between any two of them, and items with
    the label can take every other free place at most.
    """
    neighbours = [pair for run in parts.members for pair in pairwise(run)]
    pinned = constraints.fixed
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
        room = sum((width + 1) // 2 for width in closed if width > 0)  # every other free place between fixed ones
        if (labels == label).sum() - sum(held == label for held in at.values()) > room:
            return True
    return False
