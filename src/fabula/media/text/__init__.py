"""Text: what a chapter, story or poem is, how its files are read and measured, and the words for what was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.essence import Floats
from fabula.errors import InputError
from fabula.media.facts import Unit, as_number
from fabula.media.medium import Look, Medium, Preview, Spec, Threads, Words
from fabula.media.steps import Steps
from fabula.media.text.passages import COMPANION_ENDINGS, TEXT_ENDINGS, read_item, strip_number, text_of

_TRAITS = {  # feature: (much, little)
    "words": ("long", "short"),
    "exclamations": ("lively", "calm"),
    "dialogue": ("full of talk", "told"),
    "questions": ("asking", "sure"),
    "sentence_length": ("in long sentences", "in short sentences"),
    "variety": ("rich in words", "plain in words"),
    "names": ("full of names", "with few names"),
    "first_person": ("told by an I", "told from outside"),
    "reading_ease": ("easy to read", "hard to read"),
    "valence": ("bright", "dark"),
    "intensity": ("full of feeling", "cool"),
    "past": ("told in the past", "told in the present"),
    "time_words": ("full of times", "with few times"),
    "places": ("full of places", "with few places"),
}
_NAMES = {
    "words": "length",
    "word_length": "length of words",
    "sentence_length": "length of sentences",
    "paragraph_length": "length of paragraphs",
    "variety": "variety of words",
    "first_person": "use of I and we",
    "second_person": "use of you",
    "indefinite": "use of a and an",
    "reading_ease": "readability",
    "time_words": "words of time",
    "past": "past tense",
    "wording": "choice of words",
    "names": "use of names",
    "join": "beginning",
    "cast": "people and places",
    "everyday": "everyday words",
    "common": "common words",
    "company": "likeness to others",
    "passage": "first pages",
    "carried": "people and places taken over",
    "stems": "choice of words",
    "rare": "rare words",
    "form": "form",
    "manner": "manner",
    "met": "people and places taken over",
    "cast_weight": "people, who are known by then",
    "cast_end": "people, who came in before",
    "cast_full": "short names",
    "cast_comma": "people, who are known by then",
    "words_end": "words taken up",
    "words_start": "words taken up",
    "rare_end": "rare words taken up",
    "rare_start": "rare words taken up",
    "new_words": "things that are known by then",
    "owned": "things that are known by then",
    "words_weight": "things that are known by then",
    "rare_weight": "things that are known by then",
    "cast_start": "people, who came in before",
    "leaning": "words of beginnings and ends",
    "middle": "words of middles",
    "opening": "words of openings",
    "closing": "words of closes",
}
_UNKNOWN = {
    **dict.fromkeys(("valence", "intensity"), "no table of feeling for its language (English, German, French, Dutch)"),
    **dict.fromkeys(("time_words", "past"), "its language is not one that is known"),
    "places": "its language is not one that is known, or is German, where every noun has a capital",
}
_SHOWN = (".md", ".markdown", ".txt", ".text", ".html", ".htm", ".xhtml")  # as they are written: nothing in them runs
_COLUMNS = (
    "words", "dialogue", "exclamations", "questions", "sentence_length", "paragraph_length", "word_length", "variety",
    "reading_ease", "first_person", "second_person", "indefinite", "commas", "semicolons", "dashes",
)  # fmt: skip


def text_lengths(collection: Collection) -> Floats:
    """Words of each text, shape (n,), NaN where they are not known."""
    if "words" in collection.feature_names and collection.features.ndim == 2:
        return collection.column("words")
    return np.full(len(collection), np.nan)


def as_words(*lengths: float) -> list[str]:
    """Numbers of words as text.

    Examples
    --------
    >>> as_words(80000, 1)
    ['80,000 words', '1 word']
    """
    return [f"{length:,.0f} word{'' if round(length) == 1 else 's'}" for length in lengths]


def words_read(text: str) -> float:
    """A number of words, from what a person types.

    Examples
    --------
    >>> words_read("80,000"), words_read("500 words")
    (80000.0, 500.0)
    """
    try:
        return as_number(text.lower().removesuffix("words").replace(",", "").strip())
    except InputError:
        raise InputError(f"takes a number of words, such as 80000; got {text!r}") from None


def _text() -> Spec:
    from fabula.media.text.text_measures import SPEC

    return SPEC


def _parts(path: str) -> Collection | None:
    from fabula.media.text.text_measures import cut_file

    return cut_file(path)


def _hold(collection: Collection) -> Collection | None:
    from fabula.media.text.text_measures import measure_texts

    return measure_texts(collection)


def _inner(item: Item, count: int) -> Collection | None:
    from fabula.media.text.text_measures import pieces_of

    return pieces_of(item, count)


def _ends(item: Item) -> tuple[str, str] | None:
    from fabula.media.text.passages import ends_of

    return ends_of(item)


def _write_joined(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    from fabula.media.text.manuscripts import write_docx, write_markdown

    return (write_docx if target.suffix.lower() == ".docx" else write_markdown)(collection, target, sides)


def _threads(collection: Collection) -> Threads | None:
    from fabula.media.text.links import names_along

    return names_along(collection)


def _steps(collection: Collection, essence: Floats) -> Steps:
    from fabula.media.text.links import text_steps

    return text_steps(collection, essence)


def _look(collection: Collection) -> Look:
    from fabula.media.text.links import text_look

    return text_look(collection)


MEDIUM = Medium(
    "text",
    Words("text", "texts", "book", "author", _TRAITS, _NAMES, "a text file", "text files"),
    endings=TEXT_ENDINGS,
    companions=COMPANION_ENDINGS,
    read_item=read_item,
    called=strip_number,
    parts=_parts,
    held=_hold,
    inner=_inner,
    tone="valence",
    content=text_of,
    specs={"text": _text},
    unit=Unit("words", as_words, words_read, "80000"),
    lengths=text_lengths,
    unknown=_UNKNOWN,
    steps=_steps,
    threads=_threads,
    look=_look,
    proposer="prose",
    columns=_COLUMNS,
    preview=Preview("text", dict.fromkeys(_SHOWN, "text/plain"), ends=_ends),
    outputs={".md": _write_joined, ".docx": _write_joined},
)

__all__ = ["MEDIUM", "text_lengths"]
