"""Texts joined into one, in their order: as Markdown or as a .docx file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from fabula.core.collection import Collection
from fabula.core.files.atomic import write_whole
from fabula.errors import FileError
from fabula.media.text.reading.document import Block, Document
from fabula.media.text.reading.files import TEXT, document_of
from fabula.media.text.writing.docx import docx_bytes

BREAK = "\n\n* * *\n\n"  # between parts that have no headings


@dataclass(frozen=True)
class Joined:
    """Texts to be written one after the other.

    Attributes
    ----------
    parts
        Each with its heading, where it has one.
    breaks
        Whether a mark stands between them: none of them has a heading.
    title, author
        Of the whole, where one is known.
    """

    parts: tuple[Document, ...]
    breaks: bool
    title: str = ""
    author: str = ""


def joined(collection: Collection, sides: Sequence[int]) -> Joined:
    """The texts of a collection in its order; each side begins with a heading of its own.

    Raises
    ------
    FileError
        When the text of an item is not there.
    """
    starts = {start: number for number, start in enumerate(accumulate(sides[:-1], initial=0), start=1)} if sides else {}
    parts, bare = [], not starts
    for position, item in enumerate(collection.items):
        document = document_of(item)
        if document is None:
            raise FileError(f"{item.label!r} has no text that could be written")
        headed = any(block.level > 0 for block in document.blocks)
        bare = bare and not headed and TEXT in item.details
        blocks = document.blocks if headed or TEXT in item.details else (Block(1, item.label), *document.blocks)
        if position in starts:
            blocks = (Block(1, f"Part {starts[position]}"), *blocks)
        parts.append(Document(blocks))
    authors = {item.creator for item in collection.items}
    return Joined(tuple(parts), bare, collection.title, authors.pop() if len(authors) == 1 else "")


def write_markdown(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write the texts of a collection as one Markdown file, in its order."""
    found = joined(collection, sides)
    between = BREAK if found.breaks else "\n\n"
    return write_whole(target, between.join(part.written for part in found.parts) + "\n")


def write_docx(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write the texts of a collection as one .docx file, in its order."""
    found = joined(collection, sides)
    blocks: list[Block] = []
    for part in found.parts:
        if found.breaks and blocks:
            blocks.append(Block(-1, ""))
        blocks.extend(part.blocks)
    return write_whole(target, docx_bytes(blocks, title=found.title, author=found.author))
