"""Titles: the numbers in them, what they leak of the order, what they say, and what two have to do with each other."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Ints
from fabula.core.collection import fold
from fabula.errors import ModelError

_WORDS = json.loads(files("fabula.models").joinpath("title_words.json").read_text(encoding="utf-8"))


def _count_words(languages: Sequence[str]) -> dict[str, int]:
    return {word: value for words in languages for value, word in enumerate(words.split(), start=1)}


# Numbers as titles write them: 7, 07, VII, seven; and what kind of number they are.

_KEPT = 1 << 14  # texts whose reading is remembered: each title is asked for several times in a row
_ROMAN = re.compile(r"x{0,3}(ix|iv|v?i{0,3})")
_VALUES = {"i": 1, "v": 5, "x": 10}
_SPELT = _count_words(_WORDS["spelt"])
_KINDS_OF_WORDS = ("part", "part of a name", "closing")
_PART_WORDS, _PART_NAMES, _CLOSING_WORDS = (frozenset(_WORDS[key].split()) for key in _KINDS_OF_WORDS)
_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Number:
    """A number in a folded title: its value, where it stands, and whether a word such as *part* goes before it."""

    value: int
    start: int
    end: int
    part: bool


def roman(word: str) -> int:
    """The value of a roman numeral up to 39, or 0 where it is none.

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


# What a title leaks: the number of its track, and the numbering of the whole album.

# "01 - x", "1. x", "(3) x", "[04] x", "#5: x", "1-07 x", "07 x": a number nobody would sing
_LEADING = re.compile(
    r"^\s*(?:[(\[#]?\d{1,3}[)\]]?\s*[-–—.:)\]_]+\s*(?=\S)(?![\d%])|\d{1,2}[-.]\d{1,2}\b[-–—.:)_\s]*|0\d\b\s*)"
)
_BEGINS = re.compile(r"^\s*\d{1,3}\s+(?=\S)")  # "10 x", which may be sung, unless most titles begin so
# "A1 x", "B2. x": a side of vinyl and a number
_SIDE = re.compile(r"^\s*[A-Fa-f]\d{1,2}\b[-–—.:)_\s]*")
# "Track 7", "Pista 07": nothing but a word for track and a number
_TRACK = re.compile(
    r"^\s*(?:audio\s*)?(?:track|pista|piste|titel|titre|titulo|título|faixa|traccia|spor|spår|skladba|utwór|トラック)"
    r"\s*(?:no\.?|nr\.?|n[º°])?\s*#?\d{1,3}\b[-–—.:)_\s]*",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"(?:\b(?:no|nr|n|num|numero|nummer|track|pista)\b)?[\s#.(\[º°-]*$", re.IGNORECASE)
_AFTER = re.compile(r"^[-–—.:)_\s\]]+")
_SAYS = re.compile(r"[^\W_]")  # a letter or a digit
_NUMBER = re.compile(r"[\divx]")  # a digit, or a roman numeral
_FEWEST = 3  # titles that a numbering runs through


def clean_titles(titles: Sequence[str]) -> list[str]:
    """The titles of one collection, in any order, without what numbers them; "" where nothing but a number was there.

    >>> clean_titles(["01 - Intro", "Track 02", "7 Rings", "Hope, Part 2"])
    ['Intro', '', '7 Rings', 'Hope, Part 2']
    >>> clean_titles(["I", "II", "III"])
    ['', '', '']
    """
    cleaned = [_LEADING.sub("", _TRACK.sub("", " ".join(title.split()))) for title in titles]
    if _most(sum(bool(_SIDE.match(title)) for title in cleaned), cleaned):
        cleaned = [_SIDE.sub("", title) for title in cleaned]
    if sum(bool(numbers(fold(title))) for title in cleaned) >= _FEWEST:
        # From either end of the titles, for as long as a numbering is found: "Suite 1: I", "Suite 1: II", ...
        for place in (0, -1, 0, -1):
            cleaned = _without_numbering(cleaned, place)
    # What is left is a title where it has letters, or is made of signs on purpose ("...", "?").
    given = zip(cleaned, titles, strict=True)
    return [left if _SAYS.search(left) or not _NUMBER.search(fold(title)) else "" for left, title in given]


def _most(count: int, titles: Sequence[str]) -> bool:
    return count >= max(2, len([title for title in titles if title]) / 2)


def _without_numbering(titles: list[str], place: int) -> list[str]:
    """The titles without their first (0) or last (-1) number, where these run through the collection."""
    every = [numbers(fold(title)) for title in titles]
    found = [one[place] if one and not one[place].part else None for one in every]  # those that name no part
    values = [number.value for number in found if number]
    few = len(values) < _FEWEST or len(set(values)) < len(values) or not _most(len(values), titles)
    if few or max(values) - min(values) >= 1.5 * len(values):  # a numbering is distinct, and hardly any is left out
        return titles

    def cut(title: str, number: Number) -> str:
        folded = fold(title)
        text = title if len(title) == len(folded) else folded  # folding may lengthen: then its places hold there only
        before = _BEFORE.sub("", text[: number.start])
        return f"{before} {_AFTER.sub('', text[number.end :])}".strip()

    return [cut(title, number) if number else title for title, number in zip(titles, found, strict=True)]


# What a title says: words and pieces of words, marks, and the part it is of something.

MARKS = tuple(_WORDS["marks"].split())
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_DIGITS = re.compile(r"\d+")
_GUEST = re.compile(r"\b(?:feat|ft|featuring|con|with)\b")
_DASH = re.compile(r"\s[-–—]\s")
_BRACKET = re.compile(r"[(\[{]")
_ASKED = re.compile(r"[?!¿¡]")
_MOST_PARTS = 40
# Words too rare to be learned that say what a common one says: in training albums most of their titles open or close.
_SAME = {word: common for common, words in _WORDS["same"].items() for word in words.split()}
_ALONE = {"salida": "outro"}  # words that say so where they are the whole title


class Title(NamedTuple):
    """One title, taken apart."""

    known: bool  # whether there is anything left of it without numbering
    words: tuple[str, ...]  # folded, digits as ``#``
    marks: tuple[float, ...]  # one number for each of MARKS
    base: str  # what it is a part of
    part: int  # which part it is, 0 where it names none


UNTITLED = Title(known=False, words=(), marks=(0.0,) * len(MARKS), base="", part=0)


def read_titles(titles: Sequence[str], album: str = "", artists: Sequence[str] | None = None) -> list[Title]:
    """The titles of one collection, taken apart; "" where one, or an artist, is not known.

    >>> one, two = read_titles(["Hope (Part 1)", "HOPE (Part 2)"], album="Hope")
    >>> one.words, one.base, one.part, two.part
    (('hope', 'part', '#'), 'hope', 1, 2)
    """
    names = list(artists) if artists is not None else [""] * len(titles)
    album_words = frozenset(words_of(album))
    read = []
    for text, name in zip(clean_titles(titles), names, strict=True):
        words, (base, part) = words_of(text), _part(text, numbers(fold(text)))
        read.append(Title(bool(text), words, _marks(text, words, album_words, name, part), base, part))
    return read


@lru_cache(maxsize=1 << 14)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, folded, numbers as ``#``; rare words for a beginning or an end as common ones.

    >>> words_of("L'Été 42 (Don't Stop)"), words_of("Obertura")
    (("l'ete", '#', "don't", 'stop'), ('overture',))
    """
    folded = fold(text)
    found = _WORD.findall(folded)
    if "’" in folded or _DIGITS.search(folded):
        found = [_DIGITS.sub("#", word.replace("’", "'")) for word in found]
    if len(found) == 1:
        found = [_ALONE.get(found[0], found[0])]
    return tuple([_SAME.get(word, word) for word in found])


def _join(text: str) -> str:
    return " ".join(words_of(text))


def tokens_of(words: Sequence[str]) -> list[str]:
    """What may stand in a vocabulary for a title: its words, its pairs of words, and the whole of it.

    >>> tokens_of(("the", "end"))
    ['the', 'end', 'the end', '=the end']
    """
    pairs = [f"{first} {second}" for first, second in pairwise(words)]
    return [*words, *pairs, *([f"={' '.join(words)}"] if words else [])]


def grams_of(words: Sequence[str]) -> list[str]:
    """The pieces of a title's words, with ``<`` and ``>`` for the ends of a word.

    >>> grams_of(("end",))
    ['<en', 'end', 'nd>', '<end', 'end>']
    """
    found: list[str] = []
    for word in words:
        ended = f"<{word}>"
        for size in (3, 4):
            found.extend(ended[i : i + size] for i in range(len(ended) - size + 1))
    return found


def _part(text: str, found: tuple[Number, ...]) -> tuple[str, int]:
    """What a title is a part of, and which: the number behind a word such as part, else one that ends it."""
    whole = _join(text)
    if not found:
        return whole, 0
    folded = fold(text)
    number = next((n for n in reversed(found) if n.part), found[-1])
    rest = f"{folded[: number.start]} {folded[number.end :]}"
    base = " ".join(word for word in words_of(rest) if word not in _PART_NAMES)
    ends = not _SAYS.search(folded, number.end)
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


# Titles that count: numbers by which titles are a series of one work, and interludes.

_MARKED = frozenset(_WORDS["counted"].split())  # before a number that counts something
_IN_A_ROW = frozenset(_WORDS["in a row"].split())  # marks of what stands in a row: movements of one work
_ORDINALS = _count_words(_WORDS["ordinals"])
_COUNT_WORDS = _NUMBER_WORDS | frozenset(_ORDINALS)
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|eme|e|a|o|\.)(?![^\W\d_])")
_RANGE = re.compile(r"\s*(?:[-–—&+/]|and|und|et|y|e)\s*(?:\d{1,2}|[ivx]+)\b")
_WORK = re.compile(r"[:,–—-]\s*$")  # what stands between a work and the number of its movement
_CLOSING = re.compile(r"closing\s*(?::|$)")
_INTERLUDE = re.compile(
    r"\b(?:skits?|interlude|interludio|interludium|intermezzo|intermission|zwischenspiel|entracte)\b"
)


class Series(NamedTuple):
    """Items whose titles count one thing through, in the order of their numbers."""

    items: tuple[int, ...]
    name: str  # what is counted, folded; "" where the titles are numbers alone
    numbers: tuple[int, ...]  # one an item, rising
    follows: bool  # whether they are movements of one work, which stand in a row

    def follow_up(self, first: int, second: int) -> bool:
        """Whether the second of two items has the number after the first's."""
        known = dict(zip(self.items, self.numbers, strict=True))
        return first in known and known.get(second) == known[first] + 1


def find_series(titles: Sequence[str]) -> list[Series]:
    """The series that the titles of one collection make, the longest first; numbers of tracks make none.

    A series counts one thing through (*Prelude No. 1*, *No. 2*; *Suite: I. Allegro*, *Suite: II. Air*; *Hope*, *Hope,
    Pt. 2*), each number once and hardly any left out. Titles that are all one name and a bare number make none.

    >>> [found.items for found in find_series(["Hope II", "Love", "Walk #2 (x)", "Hope", "Walk #1 (y)"])]
    [(3, 0), (4, 2)]
    >>> find_series(["03 Air", "01 Sea", "Track 2", "Song for 7", "1984"])
    []
    """
    # without the numbers of tracks; "2. Satz" has none, "10 page" where most are numbered so
    begun = [_BEGINS.match(title) for title in titles]
    cut = _BEGINS if _most(sum(map(bool, begun)), titles) else _LEADING
    left = [cut.sub("", _LEADING.sub("", _TRACK.sub("", title))) for title in titles]
    kept = [(words_of(text) or ("",))[0] in _MARKED for text in left]
    texts = [fold(title if keep else text) for title, text, keep in zip(titles, left, kept, strict=True)]
    groups: dict[tuple[str, str], dict[int, list[int]]] = {}
    for item, text in enumerate(texts):
        for name, mark, value in _counts(text):
            groups.setdefault((name, mark), {}).setdefault(value, []).append(item)
    if not groups:
        return []
    whole = {_join(text): item for item, text in enumerate(texts)}
    series = []
    for (name, mark), held in groups.items():
        if name in whole and min(held) == 2:  # "Hope" before "Hope II"
            held.setdefault(1, []).append(whole[name])
        numbered = sorted(held)
        items = [held[number][0] for number in numbered]
        if _counts_through(name, mark, [held[number] for number in numbered], numbered, len(titles)):
            follows = mark in _IN_A_ROW and len(items) > 2
            series.append(Series(tuple(items), name, tuple(numbered), follows))
    return sorted(series, key=lambda one: (-len(one.items), one.items))


def _counts_through(name: str, mark: str, items: list[list[int]], numbered: list[int], n: int) -> bool:
    """Whether numbered items are a series: each number once, hardly any left out, no numbering of all tracks."""
    once = all(len(some) == 1 for some in items) and len({some[0] for some in items}) == len(items)
    if len(items) < 2 or not once or numbered[-1] - numbered[0] >= 1.5 * len(items):
        return False
    bare = not name.strip("# ") and mark in ("roman.", "roman", "end", "arabic.", "word")
    return len(items) >= _FEWEST if bare else mark != "end" or len(items) < max(3, n / 2)


def _counts(text: str) -> Iterator[tuple[str, str, int]]:
    """The numbers of a folded title that may count something: of what, by which mark, and which."""
    if not _DIGIT.search(text) and _COUNT_WORDS.isdisjoint(_TOKEN.findall(text)):
        return
    tokens = list(_TOKEN.finditer(text))
    for at, token in enumerate(tokens):
        word, rest, start = token[0], text[token.end() :], token.start()
        before = tokens[at - 1] if at else None
        ordinal = word.isdecimal() and _ORDINAL.match(rest)  # 1st, 2nd, 3.
        later = [one[0] for one in tokens[at + 1 :] if not ordinal or one.start() >= token.end() + ordinal.end()]
        after = later[0] if later else ""
        digits = int(word) if word.isdecimal() and len(word) < 3 else 0
        spelt = _ORDINALS.get(word) or _SPELT.get(word, 0)
        marked = before is not None and before[0] in _MARKED and not _BRACKET.search(text[before.end() : start])
        through = _RANGE.match(rest)  # 1 & 2, I-V
        last = not _SAYS.search(rest, through.end() if through else 0)
        if before is not None and _RANGE.fullmatch(text[before.end() :][: token.end() - before.end()]):
            continue
        if marked and before is not None and (digits or roman(word) or spelt):
            own = "part" if before[0] in _PART_WORDS else before[0]
            value = digits or roman(word) or spelt
            yield _join(text[: before.start()]), own, value
        elif text[:start].rstrip().endswith("#") and digits:
            yield _join(text[:start]), "#", digits
        elif after in _MARKED and (word in _ORDINALS or (digits and ordinal)):
            yield _join(text[:start]), after, digits or spelt
        elif roman(word) and (rest[:1] in (".", ":", ")") or (last and (at or len(word) > 1 or text == word))):
            yield _join(text[:start]), "roman." if rest[:1] in (".", ":") else "roman", roman(word)
        elif digits and at and rest[:1] == "." and not last and _WORK.search(text[:start]):
            yield _join(text[:start]), "arabic.", digits
        elif last and at and (digits or (spelt and len(word) > 2)):
            yield _join(text[:start]), "end" if digits else "word", digits or spelt


def find_interludes(titles: Sequence[str]) -> list[int]:
    """Which titles say that they are skits or interludes.

    >>> find_interludes(["Skit #2", "Home", "Interlude: The Glory", "Skittles"])
    [0, 2]
    """
    return [item for item, title in enumerate(titles) if _INTERLUDE.search(fold(title))]


def find_closers(titles: Sequence[str]) -> list[int]:
    """Which titles begin with a word that closes: of 800 such albums 1 in 100 opens with one.

    >>> find_closers(["Outro", "Finale: Allegro", "Salida", "Grand Finale", "Codas"])
    [0, 1, 2]
    """
    closing = [not _CLOSING_WORDS.isdisjoint(words_of(title)[:1]) for title in titles]
    return [item for item, title in enumerate(titles) if closing[item] or _CLOSING.match(fold(title))]


# What the titles of two items have to do with each other: shared words, one inside the other, parts in sequence.

TITLE_PAIRS = ("shared", "inside", "around", "next part", "part before", "later part")


def title_pairs(titles: Sequence[Sequence[Title]]) -> NDArray[np.float32]:
    """For each item (row) and another that may follow it (column), what relates their titles.

    Of B collections of n items each: shape (B, n, n, len(TITLE_PAIRS)). The share of words in common; whether the row's
    words are all in the column's, and the other way round; whether the column is the next part of the same thing, the
    part before, any later part. Zero on the diagonal and where a title is not known.
    """
    count, n = len(titles), len(titles[0])
    table = np.zeros((count, n, n, len(TITLE_PAIRS)), dtype=np.float32)
    first, second, related = TitleRelations(titles).cells(slice(None), slice(None))
    table[first // n, first % n, second % n] = related
    return table


class TitleRelations:
    """What relates the titles of B collections of n items each, for some of them at a time; items count through all."""

    def __init__(self, titles: Sequence[Sequence[Title]]) -> None:
        from scipy.sparse import csr_array

        numbers: dict[tuple[int, str], int] = {}  # of the words of each collection
        words = [{(b, word) for word in title.words} for b, own in enumerate(titles) for title in own]
        ids = [numbers.setdefault(word, len(numbers)) for own in words for word in own]
        self._sizes = np.array([len(own) for own in words], dtype=np.intp)
        starts = np.concatenate([[0], np.cumsum(self._sizes)])
        self._words = csr_array((np.ones(len(ids)), ids, starts), shape=(len(words), max(len(numbers), 1)))
        bases: dict[tuple[int, str], int] = {}
        named = [(b, title.base) for b, own in enumerate(titles) for title in own]
        self._bases = np.array([bases.setdefault(base, len(bases)) for base in named], dtype=np.intp)
        self._parts = np.array([part for own in titles for part in _parts(own)], dtype=np.intp)

    def cells(self, rows: slice | Ints, columns: slice | Ints) -> tuple[Ints, Ints, NDArray[np.float32]]:
        """Every two items of some rows and some columns whose titles have a word in common, and what relates them."""
        shared = (self._words[rows] @ self._words[columns].T).tocoo()
        every = np.arange(len(self._sizes))
        first, second = every[rows][shared.row], every[columns][shared.col]
        other = first != second
        common, first, second = shared.data[other], first[other], second[other]
        sizes = self._sizes[first], self._sizes[second]
        step = self._parts[second] - self._parts[first]
        parts = (self._parts[first] > 0) & (self._parts[second] > 0) & (self._bases[first] == self._bases[second])
        related = np.empty((len(common), len(TITLE_PAIRS)), dtype=np.float32)
        related[:, 0] = common / (sizes[0] + sizes[1] - common)
        related[:, 1], related[:, 2] = common == sizes[0], common == sizes[1]
        related[:, 3], related[:, 4], related[:, 5] = parts & (step == 1), parts & (step == -1), parts & (step > 0)
        return shared.row[other], shared.col[other], related


def _parts(titles: Sequence[Title]) -> list[int]:
    """Parts, where a title that names none is the first of those that have its words and a number of 2 or more."""
    continued = {title.base for title in titles if title.part > 1}
    return [title.part or int(title.base in continued) for title in titles]


# The words, pairs of words, whole titles and pieces of words that a model knows.

Ids = NDArray[np.int32]
MOST_TOKENS = 24  # of one title; what is beyond is left out
MOST_GRAMS = 48
_MOST_WORDS = 100_000  # whose grams are remembered


@dataclass(frozen=True)
class Vocabulary:
    """Tokens and grams in the order of their vectors; number 0 of each stands for none.

    >>> known = Vocabulary(("the", "end", "=the end"), ("<en", "nd>"))
    >>> tokens, grams = known.number(read_titles(["The End"]))
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
        token, gram = ({text: i for i, text in enumerate(own, start=1)} for own in (self.tokens, self.grams))
        self.__dict__.update(_token=token, _gram=gram, _known_words={})

    def number(self, titles: Sequence[Title]) -> tuple[Ids, Ids]:
        """Numbers of the tokens (n, MOST_TOKENS) and of the grams (n, MOST_GRAMS) of titles, 0 behind the last."""
        token, grams_in = self._token.get, self._word_grams
        tokens = [[number for number in map(token, tokens_of(title.words)) if number] for title in titles]
        grams = [[number for word in title.words for number in grams_in(word)] for title in titles]
        return _pad(tokens, MOST_TOKENS), _pad(grams, MOST_GRAMS)

    def _word_grams(self, word: str) -> tuple[int, ...]:
        """Numbers of the known grams of one word; remembered, since most words come again."""
        known = self._known_words.get(word)
        if known is None:
            known = tuple(number for number in map(self._gram.get, grams_of((word,))) if number)
            if len(self._known_words) < _MOST_WORDS:
                self._known_words[word] = known
        return known


def learn_vocabulary(titles: Iterable[tuple[str, Sequence[Title]]], *, tokens: int, grams: int) -> Vocabulary:
    """The commonest tokens and grams of many collections, (artist, titles) each, counted once per artist."""
    token_users: Counter[str] = Counter()
    gram_users: Counter[str] = Counter()
    by_artist: dict[str, list[tuple[str, ...]]] = {}
    for artist, group in titles:
        by_artist.setdefault(artist, []).extend(title.words for title in group)
    for words in by_artist.values():
        if tokens:
            token_users.update({token for title in words for token in tokens_of(title)})
        if grams:
            gram_users.update({gram for title in words for gram in grams_of(title)})
    return Vocabulary(_keep(token_users, tokens), _keep(gram_users, grams))


def _keep(users: Counter[str], least: int) -> tuple[str, ...]:
    """Commonest first; equally common ones by the alphabet, so that it does not hang on the order of the data."""
    return tuple(sorted((text for text, count in users.items() if count >= least), key=lambda t: (-users[t], t)))


def _pad(ids: Sequence[Sequence[int]], width: int) -> Ids:
    """The first of some numbers as rows (n, width), zeros behind the last."""
    ids = [row[:width] for row in ids]
    lengths = np.fromiter(map(len, ids), dtype=np.intp, count=len(ids))
    rows = np.zeros((len(ids), width), dtype=np.int32)
    rows[np.arange(width) < lengths[:, np.newaxis]] = np.fromiter(chain.from_iterable(ids), dtype=np.int32)
    return rows
