"""The form of a text: its length, lines, stanzas, and which lines end alike. It needs no language."""

from __future__ import annotations

import re

import numpy as np

from fabula.core.essence import Floats

_LAST = re.compile(r"([^\W\d_]+)[\W\d_]*$")
_STANZA = re.compile(r"\n\s*\n")
_ALIKE = 2  # last letters that two lines which rhyme share
FORM = 10


def form_of(text: str) -> Floats:
    """The form of a text: shape (10,), logarithms and shares.

    Its characters and lines; the mean and the spread of the length of its lines; the same of its stanzas or
    paragraphs, counted in lines, and how many there are; how many lines end as the next one does, as the one after
    it, and as the third.

    Examples
    --------
    >>> form_of("The sea is wide\\nThe day is fair\\nI see the tide\\nAnd smell the air")[-3:].round(2).tolist()
    [0.0, 1.0, 0.0]
    """
    stanzas = [[line for line in stanza.split("\n") if line.strip()] for stanza in _STANZA.split(text)]
    sizes = np.array([len(stanza) for stanza in stanzas if stanza], dtype=np.float64)
    lines = [line.strip() for stanza in stanzas for line in stanza]
    if not lines:
        return np.zeros(FORM)
    lengths = np.array([len(line) for line in lines], dtype=np.float64)
    ends = [_end(line) for line in lines]
    rhymes = [_share(ends, ends[k:]) for k in (1, 2, 3)]
    shape = [lengths.mean(), 1 + lengths.std(), sizes.mean(), 1 + sizes.std(), len(sizes)]
    return np.array([*np.log([1 + len(text), len(lines), *shape]), *rhymes])


def _end(line: str) -> str:
    found = _LAST.search(line[-40:])
    return found[1][-_ALIKE:].casefold() if found else ""


def _share(ones: list[str], others: list[str]) -> float:
    """How many ends are alike."""
    alike = [one == other and one != "" for one, other in zip(ones, others, strict=False)]
    return sum(alike) / max(1, len(alike))
