"""The `text` features: plain measures of a text, most of which know no language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from fabula.errors import FileError, shown
from fabula.media.spec import Spec, Stop, Stopped
from fabula.media.text.measuring.feeling import feeling
from fabula.media.text.measuring.grammar import GRAMMARS, TIMES
from fabula.media.text.measuring.languages import LANGUAGES, language_by
from fabula.media.text.measuring.words import named_after, paragraphs_of, sentences_of, words_of
from fabula.media.text.reading.files import read_text

MEASURES = (
    "words", "word_length", "variety", "commas", "semicolons", "dashes", "questions", "exclamations", "dialogue",
    "sentence_length", "paragraph_length", "names", "digits", "first_person", "second_person", "indefinite",
    "reading_ease", "valence", "intensity", "time_words", "past", "places",
)  # fmt: skip

_FIRST = 500  # words whose variety is measured: it falls with the length of a text
_LONG = 6  # letters beyond which a word is long
_QUOTED = re.compile(
    r"“[^“”]{1,2000}”|„[^„“”]{1,2000}[“”]|«[^«»]{1,2000}»|»[^«»]{1,2000}«|「[^「」]{1,2000}」|\"[^\"]{1,2000}\""
)
_SPOKEN = re.compile(r"^\s*[—–-]\s*(?=\w|¡|¿)")
_UNKNOWN = float("nan")


def measure_text(text: str, *, language: str | None = None) -> NDArray[np.float64]:
    """Measure a text: its :data:`MEASURES`, shape (22,).

    ``words``; ``word_length`` in letters; ``variety``, the share of different words among the first 500; ``commas``,
    ``semicolons`` (and colons), ``dashes``, ``names`` (capitalised words inside sentences), ``digits``,
    ``first_person``, ``second_person`` and ``indefinite`` (articles) per 1,000 words, the last three 0 where the
    language is not known; ``questions`` and ``exclamations``, shares of the sentences; ``dialogue``, the share of the
    text that is spoken; ``sentence_length`` and ``paragraph_length`` in words; ``reading_ease``, 100 less the index
    LIX; ``valence`` in [-1, 1] and ``intensity``, what its charged words feel like and how charged 1,000 words are;
    ``time_words`` and ``places`` (names after a preposition of place) per 1,000 words; ``past``, the share of common
    verbs that are in the past. The last five are NaN where the language is not known well enough to tell.

    Parameters
    ----------
    text
        Any, with at least one word.
    language
        Of the text, ``"en"`` or the like; by default as its commonest words tell.

    Examples
    --------
    >>> measured = measure_text("Is it so? Yes, it is.")
    >>> float(measured[MEASURES.index("questions")])
    0.5
    """
    words = words_of(text)
    spelled, n = Counter(words), max(1, len(words))
    counts: Counter[str] = Counter()
    for word, count in spelled.items():  # a third of the words differ: fold and count letters once
        counts[word.casefold()] += count
    language = language_by(counts) if language is None else language
    sentences, paragraphs = sentences_of(text), paragraphs_of(text)
    per_sentence = n / max(1, len(sentences))
    endings = Counter(sentence.rstrip("\"'”’»)]」』 \n")[-1:] for sentence in sentences)
    names, places = _named(text, language)
    values = [
        len(words),
        sum(len(word) * count for word, count in spelled.items()) / n,
        len({word.casefold() for word in words[:_FIRST]}) / max(1, min(len(words), _FIRST)),
        *(1000 / n * value for value in _marks(text)),
        _sum(endings, "?？؟") / max(1, len(sentences)),
        _sum(endings, "!！") / max(1, len(sentences)),
        _dialogue(text, paragraphs),
        per_sentence,
        n / max(1, len(paragraphs)),
        1000 / n * names,
        1000 / n * sum(map(text.count, "0123456789")),
        *(1000 / n * value for value in _people(counts, language)),
        100 - per_sentence - 100 / n * sum(count for word, count in spelled.items() if len(word) > _LONG),
        *feeling(counts, language),
        *_told(counts, language, n),
        1000 / n * places,
    ]
    return np.array(values, dtype=np.float64)


def _marks(text: str) -> tuple[int, int, int]:
    """How many commas, semicolons with colons, and dashes."""
    commas, halves, dashes = (sum(map(text.count, marks)) for marks in (",،、，", ";:；：؛", "—–"))
    return commas, halves, dashes + text.count(" - ") + text.count("--")


def _sum(counts: Mapping[str, int], keys: Iterable[str]) -> int:
    return sum(counts.get(key, 0) for key in keys)


def _people(counts: Counter[str], language: str) -> tuple[int, int, int]:
    """Words of the first person, of the second, and indefinite articles."""
    known = LANGUAGES.get(language)
    if known is None:
        return 0, 0, 0
    return _sum(counts, known.first), _sum(counts, known.second), _sum(counts, known.indefinite)


def _told(counts: Counter[str], language: str, n: int) -> tuple[float, float]:
    """Words of time per 1,000, and the share of common verbs that are in the past."""
    known = GRAMMARS.get(language)
    if known is None:
        return _UNKNOWN, _UNKNOWN
    past, present = _sum(counts, known.past), _sum(counts, known.present)
    return 1000 / n * _sum(counts, known.times), past / (past + present) if past + present else 0.5


def _named(text: str, language: str) -> tuple[int, float]:
    """How many names, and how many of them stand after a preposition of place."""
    found = named_after(text)
    prepositions = GRAMMARS[language].places if language in GRAMMARS else frozenset()
    if not prepositions:
        return len(found), _UNKNOWN
    return len(found), sum(before in prepositions and name not in TIMES for before, name in found)


def _dialogue(text: str, paragraphs: list[str]) -> float:
    """The share of a text that stands in quotation marks, or in paragraphs that a dash opens."""
    quoted = sum(map(len, _QUOTED.findall(text)))
    dashed = sum(len(part) for part in paragraphs if _SPOKEN.match(part))
    return min(1.0, max(quoted, dashed) / max(1, len(text)))


def _row(path: str, stop: Stop) -> NDArray[np.float64]:
    if stop():
        raise Stopped
    measured = measure_text(read_text(path))
    if not measured[0]:
        raise FileError(f"{shown(path)}: has no words in it")
    return measured


SPEC = Spec("text", version=3, feature_names=MEASURES, measure=_row, shape=(len(MEASURES),))
