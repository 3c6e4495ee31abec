"""Measuring texts beside splitting them into words, the inner arc of a long book, and ordering 2,000 passages.

``python -m benchmarks.bench_text 1000`` measures a thousand chapters in place of two hundred.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.timing import best_of, report
from fabula.core.collection import Item
from fabula.media.extraction import Measuring, extract
from fabula.media.text.language import words_of
from fabula.media.text.passages import read_document
from fabula.media.text.text_measures import SPEC, measure_text, pieces_of
from fabula.session.open import demo_folder
from fabula.session.session import open_session

CHAPTERS, WORDS = 200, 4000  # a thousand take five times as long, and so does splitting them
PASSAGES, SHORT = 2000, 150  # passages to order, and their words


def main() -> None:
    """Measure chapters and order passages."""
    measure_chapters(int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdigit() else CHAPTERS)
    order_passages()


def measure_chapters(count: int) -> None:
    """Print how long measuring takes beside splitting."""
    texts = _chapters(count)

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

        words, measured, read = best_of(split, measure, from_files, repeats=max(2, 1600 // count))
    what = f"{count:,} chapters of {WORDS:,} words"
    report(f"measuring {what} / splitting them into words", measured / words, 5)
    report(f"reading and measuring the files of {what} / splitting", read / words, 5)
    book = Item("book", details={"text": "\n\n".join(texts[:25])})
    once, pieces = best_of(lambda: measure_text(book.details["text"]), lambda: pieces_of(book, 500), repeats=3)
    report("a book of 100,000 words in 500 pieces / measured as one", pieces / once, 5)


def order_passages() -> None:
    """Print how long it takes to open, measure and order many short files, as `fabula order FOLDER` does."""
    words = " ".join(_chapters(PASSAGES * SHORT // WORDS + 1)).split(" ")
    with tempfile.TemporaryDirectory() as name:
        for number in range(PASSAGES):
            part = " ".join(words[number * SHORT : (number + 1) * SHORT])
            (Path(name) / f"{number:04d}.txt").write_text(part, encoding="utf-8")
        start = time.perf_counter(), time.process_time()
        session = open_session(name, measuring=Measuring(jobs=1, cache=False))
        session.order(alternatives=1)
        wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{PASSAGES:,} passages ordered: {wall:.1f} s, {cpu:.1f} s of CPU, {memory:.2f} GB (target <= 10 s)")


def _chapters(count: int) -> list[str]:
    """Chapters made of the paragraphs of the tale that comes with the package, in random orders."""
    paragraphs = [
        part for file in demo_folder("text").iterdir() for part in read_document(str(file)).text.split("\n\n")
    ]
    rng = random.Random(0)
    texts = []
    for _ in range(count):
        parts: list[str] = []
        while sum(map(str.__len__, parts)) < 5.5 * WORDS:
            parts.append(rng.choice(paragraphs))
        texts.append("\n\n".join(parts))
    return texts


if __name__ == "__main__":
    main()
