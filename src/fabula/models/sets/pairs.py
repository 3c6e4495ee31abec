"""What the titles of two items have to do with each other: shared words, one inside the other, parts in sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from fabula.models.sets.titles import Title

TITLE_PAIRS = ("shared", "inside", "around", "next part", "part before", "later part")


def title_pairs(titles: Sequence[Title]) -> NDArray[np.float32]:
    """For each item (row) and another that may follow it (column), what relates their titles.

    Returns
    -------
    Shape (n, n, len(TITLE_PAIRS)): the share of words in common; whether the row's words are all in the column's,
    and the other way round; whether the column is the next part of the same thing, the part before, any later part.
    Zero on the diagonal and where a title is not known.

    Examples
    --------
    >>> from fabula.models.sets.titles import read_titles
    >>> table = title_pairs(read_titles(["Hope", "Hope II", "Rain"]))
    >>> table[0, 1, TITLE_PAIRS.index("next part")], table[0, 2].any()
    (np.float32(1.0), np.False_)
    """
    return np.asarray(all_title_pairs([titles])[0])


def all_title_pairs(titles: Sequence[Sequence[Title]]) -> NDArray[np.float32]:
    """The same for B collections of n items each: shape (B, n, n, len(TITLE_PAIRS))."""
    n = len(titles[0])
    table = np.zeros((len(titles), n, n, len(TITLE_PAIRS)), dtype=np.float32)
    cells = [(b, i, k, related) for b, own in enumerate(titles) for i, k, related in _relations(own)]
    if cells:
        which = np.array([cell[:3] for cell in cells])
        table[which[:, 0], which[:, 1], which[:, 2]] = [cell[3] for cell in cells]
    return table


def _relations(titles: Sequence[Title]) -> Iterator[tuple[int, int, tuple[float, ...]]]:
    """Every two items whose titles have a word in common, and what relates them."""
    words = [frozenset(title.words) for title in titles]
    shared = _sharing(words)
    parts = _parts(titles) if shared else []
    for i, k in shared:
        yield i, k, _related(words[i], words[k], *_steps(titles, parts, i, k))


def _sharing(words: Sequence[frozenset[str]]) -> set[tuple[int, int]]:
    """Every two items that have a word in common, both ways round."""
    having: dict[str, list[int]] = {}
    for item, own in enumerate(words):
        for word in own:
            having.setdefault(word, []).append(item)
    return {pair for items in having.values() if len(items) > 1 for pair in permutations(items, 2)}


def _parts(titles: Sequence[Title]) -> list[int]:
    """Parts, where a title that names none is the first of those that have its words and a number of 2 or more."""
    continued = {title.base for title in titles if title.part > 1}
    return [title.part or int(title.base in continued) for title in titles]


def _steps(titles: Sequence[Title], parts: list[int], i: int, k: int) -> tuple[bool, bool, bool]:
    """Whether k is the next part of what i is a part of, the part before, any later one."""
    if not parts[i] or not parts[k] or titles[i].base != titles[k].base:
        return False, False, False
    step = parts[k] - parts[i]
    return step == 1, step == -1, step > 0


def _related(first: frozenset[str], second: frozenset[str], *steps: bool) -> tuple[float, ...]:
    common = len(first & second)
    return (common / len(first | second), first <= second, second <= first, *steps)
