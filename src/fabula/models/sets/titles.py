"""What a title says: words and pieces of words, marks, and the part it is of something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class Title:
    """One title, taken apart.

    Attributes
    ----------
    known
        Whether there is anything left of it without numbering.
    words
        Its words, folded, digits as ``#``.
    marks
        Shape (len(MARKS),).
    base, part
        What it is a part of, and which; part 0 where it names none.
    """

    known: bool
    words: tuple[str, ...]
    marks: NDArray[np.float32]
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


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, folded, numbers as ``#``; rare words for a beginning or an end as common ones.

    Examples
    --------
    >>> words_of("L'Été 42 (Don't Stop)"), words_of("Obertura")
    (("l'ete", '#', "don't", 'stop'), ('overture',))
    """
    found = (_DIGITS.sub("#", word.replace("’", "'")) for word in _WORD.findall(fold(text)))
    return tuple(_SAME.get(word, word) for word in found)


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


def _part(text: str, found: list[Number]) -> tuple[str, int]:
    """What a title is a part of, and which: the number behind a word such as part, else one that ends it."""
    folded = fold(text)
    number = next((n for n in reversed(found) if n.part), found[-1] if found else None)
    rest = folded if number is None else f"{folded[: number.start]} {folded[number.end :]}"
    base = " ".join(word for word in words_of(rest) if word not in ("part", "pt", "parte", "pte", "partie", "teil"))
    if number is None or not 0 < number.value <= _MOST_PARTS:
        return " ".join(words_of(text)), 0
    ends = not any(c.isalnum() for c in folded[number.end :])
    if not number.part and not (ends and base):
        return " ".join(words_of(text)), 0
    return base, number.value


def _marks(
    text: str, words: tuple[str, ...], album_words: frozenset[str], artist: str, part: int
) -> NDArray[np.float32]:
    """Shape (len(MARKS),), each about 0 to 1."""
    folded, own = fold(text), frozenset(words)
    letters = [c for c in text if c.isalpha()]
    shared = len(own & album_words)
    artist_words = frozenset(words_of(artist))
    values = (
        any(c in text for c in "([{"),
        bool(_DASH.search(text)),
        bool(_GUEST.search(folded)),
        any(c.isdecimal() for c in text),
        any(c in text for c in "?!¿¡"),
        ".." in text or "…" in text,
        len(letters) > 1 and all(c.isupper() for c in letters if c.lower() != c.upper()),
        bool(letters) and not any(c.isupper() for c in letters),
        min(len(words), 12) / 6,
        min(len(folded), 60) / 30,
        shared / len(own) if own else 0.0,
        bool(album_words) and album_words <= own,
        bool(artist_words) and artist_words <= own,
        part > 0,
        part == 1,
        min(part, 8) / 8,
    )
    return np.array(values, dtype=np.float32)
