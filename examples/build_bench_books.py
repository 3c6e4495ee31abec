"""A table of public-domain novels by chapter, for `fabula bench-order books.parquet --texts`.

    python examples/build_bench_books.py FOLDER --fetch         # Project Gutenberg's texts into FOLDER, once
    python examples/build_bench_books.py FOLDER -o books.parquet

Each text is taken from its START to its END line and cut at its chapters; headings go, so that nothing counts. Books of
fewer than five chapters are left out, and so is what stands before the first. The columns are those that every command
reads. Authors are told apart by a digest of their names: a third to order, the others to learn from. `bench-order`
prints a digest of the test: who has the same one has the same books, cut in the same way.
"""

from __future__ import annotations

import argparse
import re
import time
import urllib.request
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from fabula.evaluation.controls import share_of
from fabula.media.text.documents import Document, part_bounds, plain_document
from fabula.media.text.heads import without_common_heads

ADDRESS = "https://www.gutenberg.org/cache/epub/{number}/pg{number}.txt"
BOOKS = {  # number at Project Gutenberg: author; all in the public domain in the United States
    158: "Jane Austen", 161: "Jane Austen", 1342: "Jane Austen", 768: "Emily Brontë", 1260: "Charlotte Brontë",
    98: "Charles Dickens", 1400: "Charles Dickens", 145: "George Eliot", 84: "Mary Shelley", 345: "Bram Stoker",
    155: "Wilkie Collins", 583: "Wilkie Collins", 174: "Oscar Wilde", 35: "H. G. Wells", 36: "H. G. Wells",
    120: "Robert Louis Stevenson", 74: "Mark Twain", 76: "Mark Twain", 2701: "Herman Melville",
    514: "Louisa May Alcott", 113: "Frances Hodgson Burnett", 55: "L. Frank Baum", 16: "J. M. Barrie",
    11: "Lewis Carroll", 209: "Henry James", 203: "Harriet Beecher Stowe",
}  # fmt: skip
FEWEST, SHORTEST = 5, 200  # chapters of a book; words of a chapter, below which it is a heading's leftover
_MARKS = re.compile(r"\*\*\* ?START OF.*?\*\*\*(.*?)\*\*\* ?END OF", re.DOTALL)


def fetch(folder: Path) -> None:
    """Get the texts that are not there yet, one every two seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in BOOKS:
        target = folder / f"pg{number}.txt"
        if not target.exists():
            with urllib.request.urlopen(ADDRESS.format(number=number), timeout=60) as answer:
                target.write_bytes(answer.read())
            time.sleep(2)


def chapters(text: str) -> list[str]:
    """The chapters of a book without their headings, in order.

    >>> said = "It rained, and then it stopped. " * 40
    >>> book = "".join(f"\\n\\nCHAPTER {k}\\n\\n{said}" for k in (1, 2, 3))
    >>> len(chapters(f"*** START OF X ***{book}*** END OF X"))
    3
    """
    found = _MARKS.search(text)
    document = plain_document((found[1] if found else text).replace("\r\n", "\n"))
    parts = [Document(document.blocks[a:b]).text for a, b in part_bounds(document) if document.blocks[a].level > 0]
    return without_common_heads([part for part in parts if len(part.split()) >= SHORTEST])


def main() -> None:
    """Fetch, or build and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=Path("books.parquet"))
    asked = parser.parse_args()
    if asked.fetch:
        fetch(asked.folder)
        return
    rows = []
    for number, author in BOOKS.items():
        path = asked.folder / f"pg{number}.txt"
        if not path.exists():
            print(f"{path}: not there")
            continue
        parts = chapters(path.read_text(encoding="utf-8-sig"))
        split = "validation" if share_of(author) < 1 / 3 else "train"
        print(f"{number}: {author}, {len(parts)} chapters" + (f", {split}" if len(parts) >= FEWEST else ", left out"))
        if len(parts) >= FEWEST:
            about = {"collection_id": f"pg{number}", "author": author, "split": split}
            rows += [{**about, "position": k, "text": text} for k, text in enumerate(parts)]
    if not rows:
        raise SystemExit(f"{asked.folder}: holds none of the books; get them with --fetch")
    pq.write_table(pa.Table.from_pylist(rows), asked.output)


if __name__ == "__main__":
    main()
