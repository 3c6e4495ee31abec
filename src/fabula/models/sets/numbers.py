"""Numbers as titles write them: 7, 07, VII, seven; and what kind of number they are."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_KEPT = 1 << 14  # texts whose reading is remembered: each title is asked for several times in a row
_ROMAN = re.compile(r"x{0,3}(ix|iv|v?i{0,3})")
_VALUES = {"i": 1, "v": 5, "x": 10}
_SPELT = {
    word: value
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "primera segunda tercera cuarta quinta sexta septima octava novena decima",
        "un deux trois quatre cinq six sept huit neuf dix onze douze",
        "eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf",
    )
    for value, word in enumerate(words.split(), start=1)
}
_PART_WORDS = frozenset(("part", "parts", "pt", "pts", "parte", "partes", "pte", "partie", "parties", "teil"))
_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Number:
    """A number in a folded title: its value, where it stands, and whether a word such as *part* goes before it."""

    value: int
    start: int
    end: int
    part: bool


@lru_cache(maxsize=_KEPT)
def fold(text: str) -> str:
    """A text in lower case, without accents, in plain forms of its characters.

    Examples
    --------
    >>> fold("Canción  Ⅳ")
    'cancion iv'
    """
    if text.isascii():
        return " ".join(text.lower().split())
    decomposed = unicodedata.normalize("NFKD", text)
    return " ".join("".join(c for c in decomposed if not unicodedata.combining(c)).lower().split())


def roman(word: str) -> int:
    """The value of a roman numeral up to 39, or 0 where it is none.

    Examples
    --------
    >>> roman("xiv"), roman("mix"), roman("")
    (14, 0, 0)
    """
    if not word or not _ROMAN.fullmatch(word):
        return 0
    values = [_VALUES[letter] for letter in word]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))


@lru_cache(maxsize=_KEPT)
def numbers(folded: str) -> tuple[Number, ...]:
    """The numbers of a folded title, from left to right.

    A number spelt out, and a roman numeral of one letter, count only where they can hardly be a word: behind a word
    such as *part*, at the end, or before a mark.

    Examples
    --------
    >>> [n.value for n in numbers("part two: 4 songs, i love you, xii")]
    [2, 4, 12]
    """
    if not _DIGIT.search(folded) and _NUMBER_WORDS.isdisjoint(_TOKEN.findall(folded)):
        return ()
    found: list[Number] = []
    before = ""
    for match in _TOKEN.finditer(folded):
        word, rest = match[0], folded[match.end() :]
        part = before in _PART_WORDS
        value = int(word) if word.isdecimal() and len(word) < 7 else 0
        if not value and (part or len(word) > 1 or _closes(rest)):
            value = roman(word)
        if not value and (part or (_closes(rest) and not before)):
            value = _SPELT.get(word, 0)
        if value:
            found.append(Number(value, match.start(), match.end(), part))
        before = word
    return tuple(found)


def _closes(rest: str) -> bool:
    """Whether nothing, or a mark, follows."""
    return not rest.strip() or rest[0] in ".):]-/," or rest[:2] == " -"


_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_ROMANS = (f"{tens}{ones}" for tens in ("", "x", "xx", "xxx") for ones in _ONES)
_NUMBER_WORDS = frozenset((*_SPELT, *_ROMANS))  # a title without any of them, and without digits, has no number
