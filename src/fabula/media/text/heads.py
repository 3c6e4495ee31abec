"""Heads: lines that name or number a part, which tell where it stands and nothing else, found and cut."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from importlib.resources import files
from itertools import takewhile

from fabula.core.collection import fold

_NUMBERS = json.loads(files("fabula.media.text").joinpath("numbers.json").read_text(encoding="utf-8"))
_KINDS, _BETWEEN = _NUMBERS["kinds"], _NUMBERS["between"]
_ROMAN = r"(?-i:[IVXLCDM]{1,9})"
_VALUES: dict[str, int] = {}
for _value, _words in _NUMBERS["numerals"].items():
    _VALUES.update(dict.fromkeys(_words.split(), int(_value)))
_NUMERAL = "|".join(_VALUES)
_VALUES.update(dict.fromkeys(_BETWEEN.split("|"), 0))
# Twenty-One; words that are common in other languages too, such as once, are numbers where no words follow.
_IN_WORDS = rf"(?:(?:[\s-]+(?:{_BETWEEN}))?[\s-]+(?!(?:{_NUMBERS['doubtful']})[\s,]+\w)(?:{_NUMERAL})){{1,4}}"
CHAPTER = re.compile(
    rf"(?:{_KINDS})(?:\s+(?:the\s+)?(?:\d{{1,4}}|[ivxlcdm]{{1,9}})|{_IN_WORDS})(?:[\s.:,)–—-].{{0,80}})?"
    r"|[^\W\d_]{2,22}te[rs]\s+(?:kapitel|buch|teil)(?:[\s.:–—-].{0,80})?"
    r"|第.{1,8}[章回話节節].{0,40}"
    rf"|(?:\d{{1,3}}[.:)]|{_ROMAN}[.:)]?)(?:(?<=[.:)])\s+\S.{{0,60}})?",
    re.IGNORECASE,
)
_SPELLED = re.compile(rf"(?:{_KINDS}){_IN_WORDS}[.:]?", re.IGNORECASE)  # Chapter Twenty-One
_NUMBER = r"(?:\d{1,4}|[ivxlcdm]{1,9})"
_NUMBERED = re.compile(rf"[\W_]*(?:page|p\.|seite|página)?\s*{_NUMBER}[\W_]*", re.IGNORECASE)
_THE_END = re.compile(
    r"[\W_]*(?:the )?(?:end|ende|fin|fine|fim|finis|einde)(?:\s+(?:of|des|der|du|de|del|da|van)\b.{0,60})?[\W_]*",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\d+|\b[IVXLCDM]{2,9}\b|^[IVXLCDM]\b")
_GAPS = re.compile(r"\n\s*\n\s*")
_RUNNING = 3  # times that a line of capitals or with a number stands alone before it is a running head
TITLE_PAGE = 120  # words before the first heading up to which they are a title page, a motto, a name: no part
_SHORT = 80  # characters of a line that may be a head


def names_part(line: str) -> bool:
    """Whether a line of its own names or numbers a part.

    >>> [names_part(line) for line in ("Chapter Twenty-One", "VII.", "Drittes Kapitel", "第三章", "Part of me")]
    [True, True, True, True, False]
    """
    line = line.strip()
    if not line or len(line) > _SHORT or "\n" in line or line[0].islower():
        return False
    return CHAPTER.fullmatch(line) is not None


def without_heads(paragraphs: Sequence[str]) -> list[str]:
    """Paragraphs without those that name or number a part, running heads, page numbers, and what says that it ends.

    >>> without_heads(["Chapter 7", "VII.\\nIt rained.", "- 12 -", "It stopped.", "The End"])
    ['It rained.', 'It stopped.']
    """
    shapes = []  # of what may be running heads: short lines in capitals or with a number; "" of all else
    for part in paragraphs:
        may_run = len(part) <= _SHORT and "\n" not in part and (part.isupper() or any(map(str.isdigit, part)))
        shapes.append(re.sub(r"\d+", "#", part) if may_run else "")
    often, kept = Counter(filter(None, shapes)), []
    for shape, part in zip(shapes, paragraphs, strict=True):
        number = len(part) <= 2 * _SHORT and _NUMBERED.fullmatch(part)  # of a page or a part, and nothing else
        short = len(part) <= _SHORT and "\n" not in part and part[:1].isupper()
        if often[shape] < _RUNNING and not number and not (short and _SPELLED.fullmatch(part)):
            kept.append(part)
    if kept:
        kept = kept[_count_heads(kept) :]
        lines = kept[0].rstrip().split("\n")
        kept[0] = kept[0] if not (heads := _count_heads(lines)) else "\n".join(lines[heads:]).lstrip()
    while len(kept) > 1 and len(kept[-1]) <= 2 * _SHORT and _THE_END.fullmatch(kept[-1]):
        kept.pop()
    return kept


def without_common_heads(texts: Sequence[str]) -> list[str]:
    """Texts without the short lines that several have alike but for the number in them: heads in any language."""

    def shape_of(line: str) -> str:  # without its numbers; nothing where it has none, or is a sentence
        line = line.strip()
        short = 0 < len(line) <= _SHORT and _COUNTED.search(line) and len(line.split()) <= 8
        return _COUNTED.sub("#", line) if short else ""

    found: defaultdict[str, set[str]] = defaultdict(set)
    lines = [[(line, shape_of(line)) for line in text.split("\n")] for text in texts]
    for own in lines:
        for line, shape in own:
            if shape:
                found[shape].add(" ".join(_COUNTED.findall(line.strip())))
    running = {shape for shape, numbers in found.items() if len(numbers) >= _RUNNING}
    if not running:
        return list(texts)
    bare = ["\n".join(line for line, shape in own if shape not in running) for own in lines]
    pairs = zip(bare, texts, strict=True)
    return [_GAPS.sub("\n\n", cut).strip() or text if cut != text else text for cut, text in pairs]


def _count_heads(lines: Sequence[str]) -> int:
    """How many lines at the start do nothing but name a part, blank ones between them among these; not all."""
    at = 0
    while at < len(lines) - 1 and (names_part(lines[at].lstrip()) or (at and not lines[at].strip())):
        at += 1
    return at


# What headings and names say of their parts: numbers, dates and whose point of view it is.

_MONTH: dict[str, int] = {}
for _value, _words in _NUMBERS["months"].items():
    _MONTH.update(dict.fromkeys(_words.split(), int(_value)))
_DATES = (
    re.compile(r"(?<!\d)(?P<year>[12]\d{3})([-._]?)(?P<month>\d\d)\2(?P<day>\d\d)(?!\d)"),
    re.compile(r"(?<!\d)(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+|de\s+)?(?P<name>[^\W\d_]{3,10})\.?,?\s+(?:de\s+)?"
               r"(?P<year>[12]\d{3})(?!\d)"),
    re.compile(r"(?P<name>[^\W\d_]{3,10})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>[12]\d{3})(?!\d)"),
)  # fmt: skip
_KIND = re.compile(rf"\W*(?:(?:{_KINDS})\b[\s.]*|第)", re.IGNORECASE)
_COUNTS = re.compile("(?=.)C?(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")  # a numeral below 200
_HAN = dict(zip("一二三四五六七八九十", range(1, 11), strict=True))
_NAMED = re.compile(r"[^\W\d_][\w'’.-]*(?:\s+[^\W\d_][\w'’.-]*){0,2}")  # a name of up to three words


def date_of(text: str) -> str:
    """The first full date that a text says, as 2024-05-17; "" where it says none.

    >>> date_of("20240517 rain"), date_of("Friday, May 17th, 2024"), date_of("17 mai 2024"), date_of("99 red 2024")
    ('2024-05-17', '2024-05-17', '2024-05-17', '')
    """
    for pattern in _DATES:
        for found in pattern.finditer(fold(text)):
            said = found.groupdict()
            month = int(said["month"]) if "month" in said else _MONTH.get(said["name"], 0)
            with suppress(ValueError):
                return date(int(said["year"]), month, int(said["day"])).isoformat()
    return ""


def number_of(title: str) -> int | None:
    """The number that a heading gives its part, None where it gives none.

    >>> [number_of(t) for t in ("Chapter Twenty-One: A", "XIV.", "第二十三章", "Drittes Kapitel", "07 - A", "7 Boys")]
    [21, 14, 23, 3, 7, None]
    """
    kind = _KIND.match(title)
    rest = title[kind.end() :] if kind else title.lstrip()
    first = re.match(r"[\W_]*(?:the\s+)?([^\W_]+)(.*)", rest, re.IGNORECASE | re.DOTALL)
    if first is None:
        return None
    word, behind = first[1], first[2].lstrip(" ")
    if word.isdecimal() and word.isascii() and len(word) <= 4:
        alone = kind or not behind or behind[0] in ".:)-–—_" or word[0] == "0"
        return int(word) if alone and not re.match(r"[-._]\d", behind) else None
    if _COUNTS.fullmatch(word.upper() if kind else word) and (kind or not behind or behind[0] in ".:)"):
        values = ["IVXLCDM".index(letter) for letter in word.upper()]
        worth = [int(10 ** ((value + 1) // 2)) // (2 if value % 2 else 1) for value in values]
        return sum(-a if a < b else a for a, b in zip(worth, [*worth[1:], 0], strict=True))
    if kind and word[0] in _HAN:
        tens, ten, ones = "".join(takewhile(_HAN.__contains__, word)).rpartition("十")
        return 10 * (_HAN.get(tens, 1) if ten else 0) + _HAN.get(ones, 0) or None
    words = re.findall(r"[^\W\d_]+", rest.casefold())
    if kind or (words[1:2] and words[1] in ("kapitel", "buch", "teil")):
        counted = [_VALUES[one] for one in takewhile(_VALUES.__contains__, words)]
        return sum(counted) or None
    return None


def viewpoints(titles: Sequence[str]) -> list[str]:
    """Who tells each part by its heading, where at least half are headed by names and some by the same; else "".

    >>> viewpoints(["Ann", "2. Tom", "Chapter 3: Ann", "Tom", "The End of It"])
    ['Ann', 'Tom', 'Ann', 'Tom', '']
    """
    names = []
    for title in titles:
        bare = title if number_of(title) is None else re.sub(r"^[^:.)–—-]*[:.)–—-]+\s*", "", title)
        named = _NAMED.fullmatch(bare.strip()) and all(word[0].isupper() for word in bare.split())
        names.append(" ".join(bare.split()).title() if named else "")
    often = {name for name, count in Counter(filter(None, names)).items() if count > 1}
    told = [name if name in often else "" for name in names]
    return told if len(often) > 1 and 2 * sum(map(bool, told)) >= len(titles) else [""] * len(titles)
