"""The `text` features: plain measures of a text, most of which know no language."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from fabula.errors import FileError, shown
from fabula.media.spec import Spec, Stop, Stopped
from fabula.media.text.files import read_text
from fabula.media.text.languages import LANGUAGES, language_of
from fabula.media.text.words import names_of, paragraphs_of, sentences_of, words_of

MEASURES = (
    "words", "word_length", "variety", "commas", "semicolons", "dashes", "questions", "exclamations", "dialogue",
    "sentence_length", "paragraph_length", "names", "digits", "first_person", "second_person", "indefinite",
    "reading_ease",
)  # fmt: skip

_FIRST = 500  # words whose variety is measured: it falls with the length of a text
_LONG = 6  # letters beyond which a word is long
_QUOTED = re.compile(
    r"“[^“”]{1,2000}”|„[^„“”]{1,2000}[“”]|«[^«»]{1,2000}»|»[^«»]{1,2000}«|「[^「」]{1,2000}」|\"[^\"]{1,2000}\""
)
_SPOKEN = re.compile(r"^\s*[—–-]\s*(?=\w|¡|¿)")


def measure_text(text: str) -> NDArray[np.float64]:
    """Measure a text: its :data:`MEASURES`, shape (17,).

    ``words``; ``word_length`` in letters; ``variety``, the share of different words among the first 500; ``commas``,
    ``semicolons`` (and colons), ``dashes``, ``names`` (capitalised words inside sentences), ``digits``,
    ``first_person``, ``second_person`` and ``indefinite`` (articles) per 1,000 words, the last three 0 where the
    language is not known; ``questions`` and ``exclamations``, shares of the sentences; ``dialogue``, the share of the
    text that is spoken; ``sentence_length`` and ``paragraph_length`` in words; ``reading_ease``, 100 less the index
    LIX.

    Parameters
    ----------
    text
        Any, with at least one word.

    Examples
    --------
    >>> measured = measure_text("Is it so? Yes, it is.")
    >>> float(measured[MEASURES.index("questions")])
    0.5
    """
    words = words_of(text)
    low = [word.casefold() for word in words]
    counts, n = Counter(low), max(1, len(words))
    sentences, paragraphs = sentences_of(text), paragraphs_of(text)
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    per_sentence = n / max(1, len(sentences))
    endings = [sentence.rstrip("\"'”’»)]」』 \n")[-1:] for sentence in sentences]
    values = [
        len(words),
        float(lengths.mean()) if words else 0.0,
        len(set(low[:_FIRST])) / max(1, min(len(low), _FIRST)),
        *(1000 / n * value for value in _marks(text)),
        sum(end in "?？؟" for end in endings if end) / max(1, len(sentences)),
        sum(end in "!！" for end in endings if end) / max(1, len(sentences)),
        _dialogue(text, paragraphs),
        per_sentence,
        n / max(1, len(paragraphs)),
        1000 / n * len(names_of(text)),
        1000 / n * sum(map(text.count, "0123456789")),
        *(1000 / n * value for value in _people(low, counts)),
        100 - per_sentence - 100 * float((lengths > _LONG).mean() if words else 0.0),
    ]
    return np.array(values, dtype=np.float64)


def _marks(text: str) -> tuple[int, int, int]:
    """How many commas, semicolons with colons, and dashes."""
    commas, halves, dashes = (sum(map(text.count, marks)) for marks in (",،、，", ";:；：؛", "—–"))
    return commas, halves, dashes + text.count(" - ") + text.count("--")


def _people(low: list[str], counts: Counter[str]) -> tuple[int, int, int]:
    """How many words of the first person, of the second, and indefinite articles, where the language is known."""
    language = LANGUAGES.get(language_of(low))
    if language is None:
        return 0, 0, 0
    first, second, new = (
        sum(counts[word] for word in words) for words in (language.first, language.second, language.indefinite)
    )
    return first, second, new


def _dialogue(text: str, paragraphs: list[str]) -> float:
    """The share of a text that stands in quotation marks, or in paragraphs that a dash opens."""
    quoted = sum(map(len, _QUOTED.findall(text)))
    dashed = sum(len(part) for part in paragraphs if _SPOKEN.match(part))
    return min(1.0, max(quoted, dashed) / max(1, len(text)))


def _row(path: str, stop: Stop) -> NDArray[np.float64]:
    if stop():
        raise Stopped
    text = read_text(path)
    if not words_of(text[:100_000]) and not words_of(text):
        raise FileError(f"{shown(path)}: has no words in it")
    return measure_text(text)


SPEC = Spec("text", version=1, feature_names=MEASURES, measure=_row, shape=(len(MEASURES),))
