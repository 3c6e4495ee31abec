"""What the titles of two items have to do with each other: shared words, one inside the other, parts in sequence."""

from __future__ import annotations

from collections.abc import Sequence

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
    n = len(titles)
    table = np.zeros((n, n, len(TITLE_PAIRS)), dtype=np.float32)
    words = [frozenset(title.words) for title in titles]
    parts = _parts(titles)
    for i in range(n):
        for k in range(n):
            if i != k and words[i] & words[k]:
                table[i, k] = _related(words[i], words[k], *_steps(titles, parts, i, k))
    return table


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
