"""What a title leaks: the number of its track, and the numbering of the whole album.

A number put before the title by a program ("01 - ", "1. ", "A1 ") or made into one ("Track 07") is the order itself. So
is a number that runs through the titles of a collection. Both are cut before a model sees the titles. Numbers
of parts ("Part 2") belong to the song and stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabula.models.sets.numbers import Number, fold, numbers, roman

# "01 - x", "1. x", "(3) x", "[04] x", "#5: x", "1-07 x", "07 x": a number nobody would sing
_LEADING = re.compile(
    r"^\s*(?:[(\[#]?\d{1,3}[)\]]?\s*[-–—.:)\]_]+\s*(?=\S)(?![\d%])|\d{1,2}[-.]\d{1,2}\b[-–—.:)_\s]*|0\d\b\s*)"
)
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
_FEWEST = 3  # titles that a numbering runs through


def clean_titles(titles: Sequence[str]) -> list[str]:
    """The titles of one collection without what numbers them.

    Parameters
    ----------
    titles
        n titles in any order; empty where there is none.

    Returns
    -------
    n titles; empty where nothing but a number was there.

    Examples
    --------
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
    return [left if _says(left, given) else "" for left, given in zip(cleaned, titles, strict=True)]


def _most(count: int, titles: Sequence[str]) -> bool:
    return count >= max(2, len([title for title in titles if title]) / 2)


def _without_numbering(titles: list[str], place: int) -> list[str]:
    """The titles without their first (0) or last (-1) number, where these run through the collection."""
    found = [_number(title, place) for title in titles]
    values = [number.value for number in found if number]
    if not _runs(values) or not _most(len(values), titles):
        return titles
    return [_cut(title, number) if number else title for title, number in zip(titles, found, strict=True)]


def _number(title: str, place: int) -> Number | None:
    """A number of a title that does not name a part."""
    found = numbers(fold(title))
    return found[place] if found and not found[place].part else None


def _runs(values: list[int]) -> bool:
    """Whether values, in whatever order, are a numbering: distinct, and hardly any left out."""
    return len(values) >= _FEWEST and len(set(values)) == len(values) and max(values) - min(values) < 1.5 * len(values)


def _cut(title: str, number: Number) -> str:
    """A title without a number and the marks about it."""
    folded = fold(title)
    text = title if len(title) == len(folded) else folded  # folding may lengthen: then its places hold there only
    before = _BEFORE.sub("", text[: number.start])
    return f"{before} {_AFTER.sub('', text[number.end :])}".strip()


def _says(left: str, given: str) -> bool:
    """Whether what is left of a title is a title: it has letters, or is made of signs on purpose ("...", "?")."""
    return bool(_SAYS.search(left)) or not any(c.isdecimal() or roman(c) for c in fold(given))
