"""Heads: lines that name or number a part, which tell where it stands and nothing else, found and cut."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from itertools import takewhile

_KINDS = (
    "chapter|chapitre|kapitel|capítulo|capitulo|capitolo|hoofdstuk|kapitola|глава|book|livre|buch|libro|part|partie|teil|"
    "parte|canto|act|scene|letter|volume"
)
_ORDINALS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|second|third|last|un|une|deux|trois|premier|"
    "première|erstes|zweites|drittes|eins|zwei|drei|uno|dos|tres|primero|primera|segundo|tercero|primo|secondo|unico|único"
)
_ROMAN = r"(?-i:[IVXLCDM]{1,9})"
CHAPTER = re.compile(
    rf"(?:{_KINDS})\s+(?:the\s+)?(?:\d{{1,4}}|[ivxlcdm]{{1,9}}|{_ORDINALS})(?:[\s.:,)–—-].{{0,80}})?"
    r"|[^\W\d_]{2,22}te[rs]\s+(?:kapitel|buch|teil)(?:[\s.:–—-].{0,80})?"
    r"|第.{1,8}[章回話节節].{0,40}"
    rf"|(?:\d{{1,3}}[.:)]|{_ROMAN}[.:)]?)(?:(?<=[.:)])\s+\S.{{0,60}})?",
    re.IGNORECASE,
)
_NUMERALS = """
    one first un une premier première uno primero primera eins erstes / two second deux deuxième dos segundo segunda
    zwei zweites / three third trois troisième tres tercero tercera drei drittes / four fourth quatre cuatro cuarto
    vier viertes / five fifth cinq cinco quinto fünf fünftes / six sixth seis sexto sechs sechstes / seven seventh sept
    siete séptimo sieben siebtes / eight eighth huit ocho octavo acht achtes / nine ninth neuf nueve noveno neun neuntes
    / ten tenth dix diez décimo zehn zehntes / eleven eleventh onze once elf elftes / twelve twelfth douze doce zwölf
    zwölftes / thirteen thirteenth treize trece / fourteen fourteenth quatorze catorce / fifteen fifteenth quinze quince
    / sixteen sixteenth seize dieciséis / seventeen seventeenth diecisiete / eighteen eighteenth dieciocho / nineteen
    nineteenth diecinueve / twenty twentieth vingt veinte / veintiuno / veintidós / veintitrés / veinticuatro /
    veinticinco / veintiséis / veintisiete / veintiocho / veintinueve / thirty thirtieth trente treinta
"""
_TENS = "forty fortieth quarante cuarenta / fifty fiftieth cinquante cincuenta / sixty soixante sesenta / seventy"
_TENS += " / eighty / ninety"
_VALUES = dict.fromkeys("and et y the le la el last dernier último".split(), 0)  # noqa: SIM905 - word: value
for _start, _step, _rows in ((1, 1, _NUMERALS), (40, 10, _TENS), (100, 0, "hundred cent")):
    for _at, _row in enumerate(_rows.split("/")):
        _VALUES.update(dict.fromkeys(_row.split(), _start + _step * _at))
_NUMERAL = "|".join(_VALUES)
_SPELLED = re.compile(rf"(?:{_KINDS})(?:[\s-]+(?:{_NUMERAL})){{1,5}}[.:]?", re.IGNORECASE)  # Chapter Twenty-One
_NUMBER = r"(?:\d{1,4}|[ivxlcdm]{1,9})"
_NUMBERED = re.compile(rf"[\W_]*(?:page|p\.|seite|página)?\s*{_NUMBER}[\W_]*", re.IGNORECASE)
_THE_END = re.compile(
    r"[\W_]*(?:the )?(?:end|ende|fin|fine|fim|finis|einde)(?:\s+(?:of|des|der|du|de|del|da|van)\b.{0,60})?[\W_]*",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\d+|\b[IVXLCDM]{2,9}\b|^[IVXLCDM]\b")
_GAPS = re.compile(r"\n\s*\n\s*")
_RUNNING = 3  # times that a line of capitals or with a number stands alone before it is a running head
_SHORT = 80  # characters of a line that may be a head


def names_part(line: str) -> bool:
    """Whether a line of its own names or numbers a part.

    >>> [names_part(line) for line in ("Chapter Twenty-One", "VII.", "Drittes Kapitel", "第三章", "Part of me")]
    [True, True, True, True, False]
    """
    line = line.strip()
    if not line or len(line) > _SHORT or "\n" in line or line[0].islower():
        return False
    return bool(CHAPTER.fullmatch(line) or _SPELLED.fullmatch(line))


def without_heads(paragraphs: Sequence[str]) -> list[str]:
    """Paragraphs without those that name or number a part, running heads, page numbers, and what says that it ends.

    >>> without_heads(["Chapter 7", "VII.\\nIt rained.", "- 12 -", "It stopped.", "The End"])
    ['It rained.', 'It stopped.']
    """
    shapes = [re.sub(r"\d+", "#", part) if _may_run(part) else "" for part in paragraphs]
    often = Counter(filter(None, shapes))
    kept = [
        part
        for shape, part in zip(shapes, paragraphs, strict=True)
        if often[shape] < _RUNNING and not _is_number(part) and not _is_spelled_part(part)
    ]
    while len(kept) > 1 and names_part(kept[0]):
        kept = kept[1:]
    if kept:
        kept[0] = _without_first_line(kept[0])
    while len(kept) > 1 and len(kept[-1]) <= 2 * _SHORT and _THE_END.fullmatch(kept[-1]):
        kept.pop()
    return kept


def without_common_heads(texts: Sequence[str]) -> list[str]:
    """Texts without the short lines that several have alike but for the number in them: heads in any language."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    lines = [[(line, _shape(line)) for line in text.split("\n")] for text in texts]
    for own in lines:
        for line, shape in own:
            if shape:
                found[shape].add(" ".join(_COUNTED.findall(line.strip())))
    running = {shape for shape, numbers in found.items() if len(numbers) >= _RUNNING}
    if not running:
        return list(texts)
    bare = ["\n".join(line for line, shape in own if shape not in running) for own in lines]
    return [
        _GAPS.sub("\n\n", cut).strip() or text if cut != text else text for cut, text in zip(bare, texts, strict=True)
    ]


def _shape(line: str) -> str:
    """A short line with its numbers taken out; empty where it has none, or is a sentence."""
    line = line.strip()
    if not line or len(line) > _SHORT or not _COUNTED.search(line) or len(line.split()) > 8:
        return ""
    return _COUNTED.sub("#", line)


def _may_run(part: str) -> bool:
    """Whether a paragraph may be a running head: one short line, in capitals or with a number."""
    return len(part) <= _SHORT and "\n" not in part and (part.isupper() or any(map(str.isdigit, part)))


def _is_number(part: str) -> bool:
    """Whether a paragraph is the number of a page or a part, and nothing else."""
    return len(part) <= 2 * _SHORT and bool(_NUMBERED.fullmatch(part))


def _is_spelled_part(part: str) -> bool:
    """Whether a paragraph is a line that names a part by its kind and number."""
    return len(part) <= _SHORT and "\n" not in part and part[:1].isupper() and bool(_SPELLED.fullmatch(part))


def _without_first_line(part: str) -> str:
    first, _, rest = part.partition("\n")
    return _without_first_line(rest.lstrip()) if rest.strip() and names_part(first) else part


# What headings and names say of their parts: numbers, dates and whose point of view it is.

_MONTHS = """
    january jan januar janvier enero gennaio / february feb februar fevrier febrero febbraio / march mar marz maerz mars
    marzo / april apr avril abril aprile / may mai mayo maggio / june jun juni juin junio giugno / july jul juli juillet
    julio luglio / august aug aout agosto / september sept sep septembre septiembre settembre / october oct oktober okt
    octobre octubre ottobre / november nov novembre noviembre / december dec dezember dez decembre diciembre dicembre
"""
_MONTH: dict[str, int] = {}
for _at, _row in enumerate(_MONTHS.split("/"), start=1):
    _MONTH.update(dict.fromkeys(_row.split(), _at))
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
    from fabula.core.collection import fold

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
