"""What words feel like: tables of valence for languages that have a freely licensed one (lexicons/NOTICE.md)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

# Endings that a table leaves out: German and Dutch bend adjectives, and the tables hold them bare.
_ENDINGS = {"de": ("e", "en", "er", "es", "em", "n", "s"), "nl": ("e",)}
_BENT = 4  # letters from which a word takes endings
FELT = frozenset(("en", "de", "fr", "nl"))


@cache
def lexicon(language: str) -> Mapping[str, float] | None:
    """Word in small letters -> valence in [-1, 1]; None where there is no table for the language.

    Examples
    --------
    >>> lexicon("en")["love"] > 0 > lexicon("de")["schlechtes"], lexicon("xx")
    (True, None)
    """
    if language not in FELT:
        return None
    told: dict[str, float] = {}
    table = files("fabula.media.text").joinpath("lexicons", f"{language}.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        value, *words = line.split(" ")
        told.update(dict.fromkeys(words, int(value) / 100))
    bent = {
        word + ending: value
        for word, value in told.items()
        for ending in _ENDINGS.get(language, ())
        if len(word) >= _BENT
    }
    return {**bent, **told}


def feeling(counts: Mapping[str, int], language: str) -> tuple[float, float]:
    """Valence and intensity of a text: the mean valence of its charged words, and how charged 1,000 of its words are.

    Not known (NaN) where the language has no table; a text without a charged word has 0 of both.

    Parameters
    ----------
    counts
        How often each word stands in the text, in small letters.
    language
        Of the text.

    Examples
    --------
    >>> feeling({"love": 1, "the": 3}, "en")[0] > 0, feeling({"amor": 1}, "es")
    (True, (nan, nan))
    """
    table = lexicon(language)
    if table is None:
        return float("nan"), float("nan")
    felt = [(table[word], count) for word, count in counts.items() if word in table]
    charged = sum(count for _, count in felt)
    valence = sum(value * count for value, count in felt) / max(1, charged)
    return valence, 1000 * sum(abs(value) * count for value, count in felt) / max(1, sum(counts.values()))
