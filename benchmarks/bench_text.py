"""Measuring texts beside splitting them into words, and the inner arc of a long book."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from benchmarks.timing import best_of, report
from fabula.core.collection import Item
from fabula.media.extraction import Measuring, extract
from fabula.media.text.measuring.inner import pieces_of
from fabula.media.text.measuring.measures import SPEC, measure_text
from fabula.media.text.measuring.words import words_of
from fabula.media.text.reading.files import read_text
from fabula.session.demo import demo_folder

CHAPTERS, WORDS = 200, 4000  # a thousand take five times as long, and so does splitting them


def main() -> None:
    texts = _chapters()

    def split() -> None:
        for text in texts:
            words_of(text)

    def measure() -> None:
        for text in texts:
            measure_text(text)

    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name) / f"{number:04d}.txt" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")

        def from_files() -> None:
            extract(paths, SPEC, Measuring(jobs=1, cache=False))

        words, measured, read = best_of(split, measure, from_files, repeats=8)
    what = f"{CHAPTERS:,} chapters of {WORDS:,} words"
    report(f"measuring {what} / splitting them into words", measured / words, 5)
    report(f"reading and measuring the files of {what} / splitting", read / words, 5)
    book = Item("book", details={"text": "\n\n".join(texts[:25])})
    once, pieces = best_of(lambda: measure_text(book.details["text"]), lambda: pieces_of(book, 500), repeats=3)
    report("a book of 100,000 words in 500 pieces / measured as one", pieces / once, 5)


def _chapters() -> list[str]:
    """Chapters made of the paragraphs of the tale that comes with the package, in random orders."""
    paragraphs = [part for file in demo_folder("text").iterdir() for part in read_text(str(file)).split("\n\n")]
    rng = random.Random(0)
    texts = []
    for _ in range(CHAPTERS):
        parts: list[str] = []
        while sum(map(str.__len__, parts)) < 5.5 * WORDS:
            parts.append(rng.choice(paragraphs))
        texts.append("\n\n".join(parts))
    return texts


if __name__ == "__main__":
    main()
