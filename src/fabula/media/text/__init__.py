"""Text: what a chapter, story or poem is, how its files are read and measured, and the words for what was found."""

from __future__ import annotations

from fabula.errors import InputError
from fabula.media.facts import Telling, Unit, as_number
from fabula.media.medium import Medium, Preview, Words, column, lazy, load
from fabula.media.text import passages

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
    "names": "use of names",
    "join": "beginning",
    "cast": "people and places",
    "everyday": "everyday words",
    "common": "common words",
    "company": "likeness to others",
    "passage": "first pages",
    "rare": "rare words",
    "cast_full": "short names",
    "leaning": "words of beginnings and ends",
    "middle": "words of middles",
    "opening": "words of openings",
    "closing": "words of closes",
    **dict.fromkeys(("wording", "stems"), "choice of words"),
    **dict.fromkeys(("carried", "met"), "people and places"),
    **dict.fromkeys(("cast_weight", "cast_comma"), "people known by then"),
    **dict.fromkeys(("cast_start", "cast_end"), "people from before"),
    **dict.fromkeys(("words_start", "words_end"), "words taken up"),
    **dict.fromkeys(("rare_start", "rare_end"), "rare words taken up"),
    **dict.fromkeys(("new_words", "owned", "words_weight", "rare_weight"), "things known by then"),
}
_UNKNOWN = {
    **dict.fromkeys(("valence", "intensity"), "no table of feeling for its language (English, German, French, Dutch)"),
    **dict.fromkeys(("time_words", "past"), "its language is not one that is known"),
    **dict.fromkeys(("number", "date"), "neither its heading nor its name says it"),
    "places": "its language is not one that is known, or is German, where every noun has a capital",
}
_SHOWN = (".md", ".markdown", ".txt", ".text", ".html", ".htm", ".xhtml")  # as they are written: nothing in them runs
_WRITTEN = (".md", ".docx", ".epub", ".odt", ".pptx", ".rtf", ".fountain", ".tex", ".rst", ".txt", ".scriv")
_COLUMNS = (
    "words", "dialogue", "exclamations", "questions", "sentence_length", "paragraph_length", "word_length", "variety",
    "reading_ease", "first_person", "second_person", "indefinite", "commas", "semicolons", "dashes",
)  # fmt: skip


def as_words(*lengths: float) -> list[str]:
    """Numbers of words as text.

    >>> as_words(80000, 1)
    ['80,000 words', '1 word']
    """
    return [f"{length:,.0f} word{'' if round(length) == 1 else 's'}" for length in lengths]


def words_read(text: str) -> float:
    """A number of words, from what a person types.

    >>> words_read("80,000"), words_read("500 words")
    (80000.0, 500.0)
    """
    try:
        return as_number(text.lower().removesuffix("words").replace(",", "").strip())
    except InputError:
        raise InputError(f"takes a number of words, such as 80000; got {text!r}") from None


MEDIUM = Medium(
    "text",
    Words("text", "texts", "book", "author", _TRAITS, _NAMES, "a text file", "text files", "part"),
    (
        "fabula order manuscript.docx -o reordered.docx",
        'fabula order my-stories --first "The Boat" -o book.epub',
        "fabula order diary --by date --together-by pov -o diary.md",
        "fabula order novel.scriv --by valence --template man-in-a-hole -o other-order.scriv",
        "fabula order poems.parquet --all -o orders.csv",
    ),
    endings=passages.TEXT_ENDINGS,
    bundles=frozenset((".scriv",)),
    whole=lazy("fabula.media.text.formats:find_main"),
    companions=passages.COMPANION_ENDINGS,
    read_item=passages.read_item,
    called=passages.strip_number,
    parsed=passages.is_packed,
    telling=Telling(passages.text_facts, doubts=passages.text_doubts),
    complete=passages.add_viewpoints,
    parts=lazy("fabula.media.text.text_measures:cut_file"),
    held=lazy("fabula.media.text.text_measures:measure_texts"),
    inner=lazy("fabula.media.text.text_measures:pieces_of"),
    tone="valence",
    content=passages.text_of,
    specs={"text": lambda: load("fabula.media.text.text_measures:SPEC")},
    unit=Unit("words", as_words, words_read, "80000"),
    lengths=lambda collection: column(collection, "words"),
    unknown=_UNKNOWN,
    steps=lazy("fabula.media.text.pairs:text_steps"),
    threads=lazy("fabula.media.text.pairs:names_along"),
    look=lazy("fabula.media.text.pairs:text_look"),
    proposer="prose",
    special=lazy("fabula.media.text.text_measures:choose_model"),
    varied=("variety", "like apart from like, long and short in turn"),
    columns=_COLUMNS,
    matter=passages.matter_of,
    preview=Preview("text", dict.fromkeys(_SHOWN, "text/plain"), ends=passages.ends_of),
    outputs=dict.fromkeys(_WRITTEN, lazy("fabula.media.text.manuscripts:write_text")),
    write_numbers=lazy("fabula.media.text.manuscripts:write_position"),
    relink=lazy("fabula.media.text.manuscripts:relink"),
    losses=lazy("fabula.media.text.manuscripts:tell_losses"),
    places=frozenset((passages.MANUSCRIPT,)),
)

__all__ = ["MEDIUM"]
