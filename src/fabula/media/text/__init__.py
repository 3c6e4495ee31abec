"""Text: what a chapter, story or poem is, how its files are read and measured, and the words for what was found."""

from __future__ import annotations

from fabula.errors import InputError
from fabula.media.facts import Telling, Unit, as_number
from fabula.media.medium import Medium, Preview, Words, column, lazy, load, read_words
from fabula.media.text import passages

_SAID = read_words(__name__)
_SHOWN = (".md", ".markdown", ".txt", ".text", ".html", ".htm", ".xhtml")  # as they are written: nothing in them runs
_WRITTEN = (".md", ".docx", ".epub", ".odt", ".pptx", ".rtf", ".fountain", ".tex", ".rst", ".txt", ".scriv")


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
    Words("text", "texts", "book", "author", _SAID["traits"], _SAID["names"], "a text file", "text files", "part"),
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
    unknown=_SAID["unknown"],
    steps=lazy("fabula.media.text.pairs:text_steps"),
    threads=lazy("fabula.media.text.pairs:names_along"),
    look=lazy("fabula.media.text.pairs:text_look"),
    proposer="prose",
    special=lazy("fabula.media.text.text_measures:choose_model"),
    varied=("variety", "like apart from like, long and short in turn"),
    columns=tuple(_SAID["columns"]),
    matter=passages.matter_of,
    preview=Preview("text", dict.fromkeys(_SHOWN, "text/plain"), ends=passages.ends_of),
    outputs=dict.fromkeys(_WRITTEN, lazy("fabula.media.text.manuscripts:write_text")),
    write_numbers=lazy("fabula.media.text.manuscripts:write_position"),
    relink=lazy("fabula.media.text.manuscripts:relink"),
    losses=lazy("fabula.media.text.manuscripts:tell_losses"),
    places=frozenset((passages.MANUSCRIPT,)),
)

__all__ = ["MEDIUM"]
