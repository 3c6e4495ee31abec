"""Heads: lines that name or number a part, which tell where it stands and nothing else, found and cut."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

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
    and et y the le la el one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred first second
    third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth
    seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth last un une deux trois quatre cinq sept
    huit neuf dix onze douze treize quatorze quinze seize vingt trente quarante cinquante soixante cent premier
    première deuxième troisième dernier uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce
    quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco
    veintiséis veintisiete veintiocho veintinueve treinta cuarenta cincuenta sesenta primero primera segundo segunda
    tercero tercera cuarto quinto sexto séptimo octavo noveno décimo último eins zwei drei vier fünf sechs sieben
    acht neun zehn elf zwölf
"""
_NUMERAL = "|".join(_NUMERALS.split())
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
