"""The words, pairs of words, whole titles and pieces of words that a model knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fabula.errors import ModelError
from fabula.models.sets.titles import Title, grams_of, tokens_of

Ids = NDArray[np.int32]
MOST_TOKENS = 24  # of one title; what is beyond is left out
MOST_GRAMS = 48


@dataclass(frozen=True)
class Vocabulary:
    """Tokens and grams in the order of their vectors; number 0 of each stands for none.

    Examples
    --------
    >>> known = Vocabulary(("the", "end", "=the end"), ("<en", "nd>"))
    >>> from fabula.models.sets.titles import read_titles
    >>> tokens, grams = known.numbered(read_titles(["The End"]))
    >>> tokens[0, :4], grams[0, :3]
    (array([1, 2, 3, 0], dtype=int32), array([1, 2, 0], dtype=int32))
    """

    tokens: tuple[str, ...]
    grams: tuple[str, ...]
    _token: dict[str, int] = field(init=False, repr=False, compare=False)
    _gram: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, entries in (("tokens", self.tokens), ("grams", self.grams)):
            if not all(isinstance(entry, str) for entry in entries) or len(set(entries)) != len(entries):
                raise ModelError(f"a vocabulary's {name} must be distinct texts")
        object.__setattr__(self, "_token", {text: i for i, text in enumerate(self.tokens, start=1)})
        object.__setattr__(self, "_gram", {text: i for i, text in enumerate(self.grams, start=1)})

    def numbered(self, titles: Sequence[Title]) -> tuple[Ids, Ids]:
        """Numbers of the tokens (n, MOST_TOKENS) and of the grams (n, MOST_GRAMS) of titles, 0 behind the last."""
        tokens = np.zeros((len(titles), MOST_TOKENS), dtype=np.int32)
        grams = np.zeros((len(titles), MOST_GRAMS), dtype=np.int32)
        for row, title in enumerate(titles):
            _fill(tokens[row], (self._token.get(token, 0) for token in tokens_of(title.words)))
            _fill(grams[row], (self._gram.get(gram, 0) for gram in grams_of(title.words)))
        return tokens, grams


def learn_vocabulary(titles: Iterable[tuple[str, Sequence[Title]]], *, tokens: int, grams: int) -> Vocabulary:
    """The commonest tokens and grams of many collections, counted once per artist.

    Parameters
    ----------
    titles
        Of each collection the artist and its titles.
    tokens, grams
        By how many artists one must be used to be kept, 1 or more; 0 keeps none.
    """
    token_users: Counter[str] = Counter()
    gram_users: Counter[str] = Counter()
    for words in _by_artist(titles):
        if tokens:
            token_users.update({token for title in words for token in tokens_of(title)})
        if grams:
            gram_users.update({gram for title in words for gram in grams_of(title)})
    return Vocabulary(_kept(token_users, tokens), _kept(gram_users, grams))


def _by_artist(titles: Iterable[tuple[str, Sequence[Title]]]) -> Iterable[list[tuple[str, ...]]]:
    words: dict[str, list[tuple[str, ...]]] = {}
    for artist, group in titles:
        words.setdefault(artist, []).extend(title.words for title in group)
    return words.values()


def _kept(users: Counter[str], least: int) -> tuple[str, ...]:
    """Commonest first; equally common ones by the alphabet, so that it does not hang on the order of the data."""
    return tuple(sorted((text for text, count in users.items() if count >= least), key=lambda t: (-users[t], t)))


def _fill(row: Ids, found: Iterable[int]) -> None:
    known = [number for number in found if number][: len(row)]
    row[: len(known)] = known
