"""The words, pairs of words, whole titles and pieces of words that a model knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from fabula.errors import ModelError
from fabula.models.sets.titles import Title, grams_of, tokens_of

Ids = NDArray[np.int32]
MOST_TOKENS = 24  # of one title; what is beyond is left out
MOST_GRAMS = 48
_MOST_WORDS = 100_000  # whose grams are remembered


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
    _known_words: dict[str, tuple[int, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, entries in (("tokens", self.tokens), ("grams", self.grams)):
            if not all(isinstance(entry, str) for entry in entries) or len(set(entries)) != len(entries):
                raise ModelError(f"a vocabulary's {name} must be distinct texts")
        object.__setattr__(self, "_token", {text: i for i, text in enumerate(self.tokens, start=1)})
        object.__setattr__(self, "_gram", {text: i for i, text in enumerate(self.grams, start=1)})
        object.__setattr__(self, "_known_words", {})

    def numbered(self, titles: Sequence[Title]) -> tuple[Ids, Ids]:
        """Numbers of the tokens (n, MOST_TOKENS) and of the grams (n, MOST_GRAMS) of titles, 0 behind the last."""
        both = [self.ids_of(title.words) for title in titles]
        return _padded([ids[0] for ids in both], MOST_TOKENS), _padded([ids[1] for ids in both], MOST_GRAMS)

    def ids_of(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Numbers of the known tokens and of the known grams of a title's words, as many as are read of one."""
        token, found = self._token.get, tokens_of(words)
        tokens = [number for number in map(token, found) if number]
        grams = [number for word in words for number in self._word_grams(word)]
        return tokens[:MOST_TOKENS], grams[:MOST_GRAMS]

    def _word_grams(self, word: str) -> tuple[int, ...]:
        """Numbers of the known grams of one word; remembered, since most words come again."""
        known = self._known_words.get(word)
        if known is None:
            known = tuple(number for number in map(self._gram.get, grams_of((word,))) if number)
            if len(self._known_words) < _MOST_WORDS:
                self._known_words[word] = known
        return known


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


def _padded(ids: Sequence[Sequence[int]], width: int) -> Ids:
    """Lists of numbers as rows (n, width), zeros behind the last."""
    lengths = np.fromiter(map(len, ids), dtype=np.intp, count=len(ids))
    rows = np.zeros((len(ids), width), dtype=np.int32)
    rows[np.arange(width) < lengths[:, np.newaxis]] = np.fromiter(chain.from_iterable(ids), dtype=np.int32)
    return rows
