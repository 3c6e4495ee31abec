"""What a title says: words and pieces of words, marks, and the part it is of something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from fabula.models.sets.cleaning import clean_titles
from fabula.models.sets.numbers import Number, fold, numbers

MARKS = (
    "brackets",
    "dash",
    "guest",
    "number",
    "question",
    "stops",
    "capitals",
    "small",
    "words",
    "letters",
    "album words",
    "album title",
    "artist",
    "part",
    "first part",
    "part number",
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_DIGITS = re.compile(r"\d+")
_GUEST = re.compile(r"\b(?:feat|ft|featuring|con|with)\b")
_DASH = re.compile(r"\s[-–—]\s")
_BRACKET = re.compile(r"[(\[{]")
_ASKED = re.compile(r"[?!¿¡]")
_LETTER = re.compile(r"[^\W_]")  # or a digit
_MOST_PARTS = 40
# Words too rare to be learned that say what a common one says: in training albums most of their titles open or close.
_SAME = {
    word: common
    for common, words in {
        "introduction": "introducao introduzione einleitung",
        "overture": "obertura ouverture overtura",
        "prologue": "prologo prolog",
        "prelude": "preludium vorspiel",
        "opening": "apertura entrada",
        "intro": "イントロ",
        "epilogue": "epilogo epilog postlude postludio nachspiel cierre outroduction",
        "outro": "アウトロ",
    }.items()
    for word in words.split()
}


class Title(NamedTuple):
    """One title, taken apart.

    Attributes
    ----------
    known
        Whether there is anything left of it without numbering.
    words
        Its words, folded, digits as ``#``.
    marks
        One number for each of MARKS.
    base, part
        What it is a part of, and which; part 0 where it names none.
    """

    known: bool
    words: tuple[str, ...]
    marks: tuple[float, ...]
    base: str
    part: int


def read_titles(titles: Sequence[str], album: str = "", artists: Sequence[str] | None = None) -> list[Title]:
    """The titles of one collection, taken apart.

    Parameters
    ----------
    titles
        n titles; empty where there is none.
    album
        The title of the collection.
    artists
        n names, empty where not known; None for not known at all.

    Examples
    --------
    >>> one, two = read_titles(["Hope (Part 1)", "HOPE (Part 2)"], album="Hope")
    >>> one.words, one.base, one.part, two.part
    (('hope', 'part', '#'), 'hope', 1, 2)
    """
    names = list(artists) if artists is not None else [""] * len(titles)
    album_words = frozenset(words_of(album))
    return [_read(text, album_words, name) for text, name in zip(clean_titles(titles), names, strict=True)]


@lru_cache(maxsize=1 << 14)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, folded, numbers as ``#``; rare words for a beginning or an end as common ones.

    Examples
    --------
    >>> words_of("L'Été 42 (Don't Stop)"), words_of("Obertura")
    (("l'ete", '#', "don't", 'stop'), ('overture',))
    """
    folded = fold(text)
    found = _WORD.findall(folded)
    if "’" in folded or _DIGITS.search(folded):
        found = [_DIGITS.sub("#", word.replace("’", "'")) for word in found]
    return tuple([_SAME.get(word, word) for word in found])


def tokens_of(words: Sequence[str]) -> list[str]:
    """What may stand in a vocabulary for a title: its words, its pairs of words, and the whole of it.

    Examples
    --------
    >>> tokens_of(("the", "end"))
    ['the', 'end', 'the end', '=the end']
    """
    pairs = [f"{first} {second}" for first, second in pairwise(words)]
    return [*words, *pairs, *([f"={' '.join(words)}"] if words else [])]


def grams_of(words: Sequence[str], sizes: Sequence[int] = (3, 4)) -> list[str]:
    """The pieces of a title's words, with ``<`` and ``>`` for the ends of a word.

    Examples
    --------
    >>> grams_of(("end",))
    ['<en', 'end', 'nd>', '<end', 'end>']
    """
    found: list[str] = []
    for word in words:
        ended = f"<{word}>"
        for size in sizes:
            found.extend(ended[i : i + size] for i in range(len(ended) - size + 1))
    return found


def _read(text: str, album_words: frozenset[str], artist: str) -> Title:
    words = words_of(text)
    found = numbers(fold(text))
    base, part = _part(text, found)
    return Title(bool(text), words, _marks(text, words, album_words, artist, part), base, part)


def _part(text: str, found: tuple[Number, ...]) -> tuple[str, int]:
    """What a title is a part of, and which: the number behind a word such as part, else one that ends it."""
    whole = " ".join(words_of(text))
    if not found:
        return whole, 0
    folded = fold(text)
    number = next((n for n in reversed(found) if n.part), found[-1])
    rest = f"{folded[: number.start]} {folded[number.end :]}"
    base = " ".join(word for word in words_of(rest) if word not in ("part", "pt", "parte", "pte", "partie", "teil"))
    ends = not _LETTER.search(folded, number.end)
    if not 0 < number.value <= _MOST_PARTS or not (number.part or (ends and base)):
        return whole, 0
    return base, number.value


def _marks(text: str, words: tuple[str, ...], album_words: frozenset[str], artist: str, part: int) -> tuple[float, ...]:
    """One number for each of MARKS, each about 0 to 1."""
    folded, own = fold(text), frozenset(words)
    capitals, small = _cases(text)
    artist_words = words_of(artist)
    return (
        _BRACKET.search(text) is not None,
        _DASH.search(text) is not None,
        _GUEST.search(folded) is not None,
        _DIGITS.search(text) is not None,
        _ASKED.search(text) is not None,
        ".." in text or "…" in text,
        capitals,
        small,
        min(len(words), 12) / 6,
        min(len(folded), 60) / 30,
        len(own & album_words) / len(own) if own else 0.0,
        bool(album_words) and album_words <= own,
        bool(artist_words) and own.issuperset(artist_words),
        part > 0,
        part == 1,
        min(part, 8) / 8,
    )


def _cases(text: str) -> tuple[bool, bool]:
    """Whether two letters or more are all capitals, and whether some are all small; letters without case are either."""
    if text.isascii():
        return text.isupper() and sum(map(str.isalpha, text)) > 1, text.islower()
    letters = [c for c in text if c.isalpha()]
    capitals = len(letters) > 1 and all(c.isupper() for c in letters if c.lower() != c.upper())
    return capitals, bool(letters) and not any(c.isupper() for c in letters)
