"""How often which word stands in which text, where it stands first and last, and how it is introduced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.media.text.comparing.articles import DETERMINERS
from fabula.media.text.measuring.form import form_of
from fabula.media.text.measuring.languages import LANGUAGES, language_of
from fabula.media.text.measuring.words import without_spaces, words_of

_TOKEN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")  # an apostrophe parts words: l'homme, Tom's
_STEM = 5  # letters with which words begin that are taken for one
_FACTS = ("first", "last", "inside", "capital", "capital_inside", "determined", "indefinite", "full", "comma")

Facts = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Counted:
    """The words of n texts, w different ones.

    Attributes
    ----------
    words
        In small letters.
    counts
        Shape (n, w), sparse.
    facts
        Name -> shape (entries of ``counts``,): where a word stands first and last in its text, counted in words; how
        often it stands inside a sentence, with a capital, both, behind an article or the like, behind an indefinite
        one (a word may stand between), beside another capital, and before a comma.
    totals
        Shape (n,): the words of each text.
    language
        Of most of them, as :mod:`fabula.media.text.measuring.languages` has it; empty where it is not known.
    stems
        Shape (w,): the same number for words that begin with the same five letters.
    forms
        Shape (n, 10): the form of each text.
    """

    words: tuple[str, ...]
    counts: sparse.csr_array
    facts: dict[str, Facts]
    totals: Ints
    language: str
    stems: Ints
    forms: Floats

    def only(self, rows: Sequence[int]) -> Counted:
        """Those of some of the texts."""
        chosen, starts = np.asarray(rows, dtype=np.intp), self.counts.indptr
        entries = np.concatenate([np.arange(starts[row], starts[row + 1]) for row in chosen])
        facts = {name: values[entries] for name, values in self.facts.items()}
        totals, forms = self.totals[chosen], self.forms[chosen]
        return Counted(self.words, self.counts[chosen], facts, totals, self.language, self.stems, forms)

    @cached_property
    def row(self) -> Ints:
        """The text of each entry of ``counts``."""
        return np.repeat(np.arange(len(self.totals)), np.diff(self.counts.indptr))

    def table(self, values: NDArray[np.floating]) -> sparse.csr_array:
        """A sparse table with these values, one an entry of ``counts``."""
        return sparse.csr_array((values, self.counts.indices, self.counts.indptr), shape=self.counts.shape)

    def summed(self, fact: str) -> NDArray[np.float64]:
        """A fact of each word over all texts: shape (w,)."""
        return np.bincount(self.counts.indices, self.facts[fact], len(self.words)).astype(np.float64)


def counted(texts: Sequence[str]) -> Counted:
    """Count the words of texts.

    Examples
    --------
    >>> found = counted(["A stranger came to the inn. Old Tom saw the stranger.", "The stranger ate."])
    >>> stranger = found.words.index("stranger")
    >>> found.counts.toarray()[:, stranger].tolist(), float(found.facts["indefinite"][stranger])
    ([2.0, 1.0], 1.0)
    """
    tokens = [_tokens(text) for text in texts]
    low = [[word.casefold() for word in words] for words, _, _ in tokens]
    spoken = [language_of(words) for words in low]
    language = max(sorted(set(spoken)), key=spoken.count)
    known: dict[str, int] = {}
    found = []
    for text, (words, starts, ends), small in zip(texts, tokens, low, strict=True):
        numbers = np.array([known.setdefault(word, len(known)) for word in small], dtype=np.int64)
        capitals = np.array([word[:1].isupper() for word in words], dtype=bool)
        comma = np.array([text[end : end + 1] == "," for end in ends], dtype=bool)
        joined = np.zeros(len(words), dtype=bool)  # with the word before it, by one character
        joined[1:] = starts[1:] - ends[:-1] <= 1
        found.append(_counted(numbers, small, capitals, joined, comma, language))
    columns = np.concatenate([one["column"] for one in found])
    indptr = np.cumsum([0, *(len(one["column"]) for one in found)])
    counts = np.concatenate([one["count"] for one in found]).astype(np.float64)
    table = sparse.csr_array((counts, columns, indptr), shape=(len(texts), len(known)))
    facts = {name: np.concatenate([one[name] for one in found]).astype(np.float32) for name in _FACTS}
    totals, forms = np.array([len(words) for words in low]), np.stack([form_of(text) for text in texts])
    return Counted(tuple(known), table, facts, totals, language, _stems(known), forms)


def _stems(words: Iterable[str]) -> Ints:
    known: dict[str, int] = {}
    return np.array([known.setdefault(word[:_STEM], len(known)) for word in words], dtype=np.intp)


def _tokens(text: str) -> tuple[list[str], Ints, Ints]:
    """The words of a text, and where each begins and ends."""
    if without_spaces(text):
        words = words_of(text)
        place = np.cumsum([0, *map(len, words)])
        return words, place[:-1], place[1:]
    found = list(_TOKEN.finditer(text))
    starts, ends = (np.array([getattr(one, end)() for one in found], dtype=np.intp) for end in ("start", "end"))
    return [one.group() for one in found], starts, ends


def _counted(
    numbers: NDArray[np.int64],
    small: list[str],
    capital: NDArray[np.bool_],
    joined: NDArray[np.bool_],
    comma: NDArray[np.bool_],
    language: str,
) -> dict[str, NDArray[np.float64]]:
    """The facts of one text, one value a different word."""
    known = LANGUAGES.get(language)
    new = known.indefinite if known is not None else frozenset[str]()
    determiners = DETERMINERS.get(language, frozenset[str]()) | new
    indefinite, determined = (np.array([word in held for word in small], dtype=bool) for held in (new, determiners))
    near = _behind(indefinite, joined)
    adjective = _behind(near & ~determined, joined)  # "a tall stranger"
    pair = np.zeros(len(small), dtype=bool)
    pair[1:] = joined[1:] & capital[1:] & capital[:-1]
    full = pair | np.append(pair[1:], False)[: len(pair)]
    words, inverse, count = np.unique(numbers, return_inverse=True, return_counts=True)
    first, last = np.full(len(words), len(numbers)), np.zeros(len(words), dtype=np.intp)
    np.minimum.at(first, inverse, np.arange(len(numbers)))
    np.maximum.at(last, inverse, np.arange(len(numbers)))
    marks = {
        "inside": joined,
        "capital": capital,
        "capital_inside": capital & joined,
        "determined": _behind(determined, joined),
        "indefinite": near | adjective,
        "full": full & capital,
        "comma": comma,
    }
    sums = {name: np.bincount(inverse, mark, len(words)) for name, mark in marks.items()}
    return {"column": words, "count": count, "first": first, "last": last, **sums}


def _behind(mark: NDArray[np.bool_], joined: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which words stand right behind a marked one."""
    found = np.zeros(len(mark), dtype=bool)
    found[1:] = mark[:-1] & joined[1:]
    return found
