"""Constraints in words, one by one, for the errors that name them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.reading import ordinal
from fabula.errors import ConflictError

WORDS = ("forbidden", "apart", "limit", "side_limit", "before", "ends", "together", "fixed")  # the first go first


@dataclass(frozen=True)
class Phrase:
    """A constraint in words, with ``{}`` for each item and ``{length}`` for each length."""

    word: str
    text: str
    items: tuple[int, ...] = ()
    lengths: tuple[float, ...] = ()


def phrases(constraints: Constraints) -> list[Phrase]:
    """Each constraint in words.

    Examples
    --------
    >>> [phrase.text for phrase in phrases(Constraints(3, fixed={0: 2}, before=[(0, 1)]))]
    ['{} fixed at position 1', '{} before {}']
    """
    c = constraints
    out = [Phrase("fixed", f"{{}} fixed at {ordinal(place)}", (item,)) for place, item in c.fixed.items()]
    out += [Phrase("forbidden", f"{{}} forbidden at {ordinal(place)}", (item,)) for item, place in c.forbidden]
    out += [Phrase("together", " and ".join(["{}"] * len(run)) + " together", run) for run in c.together]
    out += [Phrase("before", "{} before {}", pair) for pair in c.before]
    for label in label_range(c) if not c.apart_soft else ():
        group = tuple(np.flatnonzero(c.apart == label).tolist())
        more = f" and {len(group) - 8} more" if group[8:] else ""
        if len(group) > 1:
            out.append(Phrase("apart", ", ".join(["{}"] * len(group[:8])) + more + " apart", group[:8]))
    for (side, place), item in c.ends.items():
        out.append(Phrase("ends", f"{{}} fixed at {ordinal(place)} of side {side + 1}", (item,)))
    if c.side_limit is not None:
        out.append(Phrase("side_limit", "{length} a side at most", (), (c.side_limit,)))
    if c.limit is not None:
        out.append(Phrase("limit", "{length} in all at most", (), (c.limit,)))
    return out


def told(constraints: Constraints, start: str, lengths: tuple[float, ...] = ()) -> ConflictError:
    """An error that lists the constraints, the first three of each word where they are many."""
    every = phrases(constraints)
    most = 8 if len(every) <= 8 else 3
    shown = [p for word in dict.fromkeys(p.word for p in every) for p in [q for q in every if q.word == word][:most]]
    more = f"; and {len(every) - len(shown)} more" if len(every) > len(shown) else ""
    return listed(start + (": " if shown else ""), shown, more, lengths, constraints)


def listed(
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


def label_range(constraints: Constraints) -> range:
    """The numbers of the labels."""
    return range(0 if constraints.apart is None else int(constraints.apart.max()) + 1)


def singles(constraints: Constraints) -> Iterator[tuple[str, object]]:
    """Each single constraint, with its word."""
    yield from (("forbidden", pair) for pair in constraints.forbidden)
    yield from (("apart", label) for label in reversed(label_range(constraints)))
    yield from (("before", pair) for pair in constraints.before)
    yield from (("ends", where) for where in constraints.ends)
    yield from (("together", run) for run in constraints.together)
    yield from (("fixed", place) for place in constraints.fixed)


def without(c: Constraints, name: str, single: object = None) -> Constraints:
    """The constraints without a single one of a word, or without all of that word."""
    if name in ("fixed", "ends"):
        held = getattr(c, name)
        return _replaced(c, name, {key: held[key] for key in held if single is not None and key != single})
    if name in ("limit", "side_limit"):
        return _replaced(c, name, None)
    if name == "apart":
        labels = None if c.apart is None or single is None else np.where(c.apart == single, -1, c.apart)
        return replace(c, apart=labels)
    return _replaced(c, name, tuple(x for x in getattr(c, name) if single is not None and x != single))


def _replaced(constraints: Constraints, name: str, value: object) -> Constraints:
    changes: dict[str, Any] = {name: value}
    return replace(constraints, **changes)
