"""A document: paragraphs, headings and separators, whatever kind of file they come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from fabula.media.text.reading.heads import without_heads

PARAGRAPH, SEPARATOR = 0, -1  # levels of blocks that are no headings; headings have 1 to 6


@dataclass(frozen=True)
class Block:
    """A paragraph (level 0), a heading (1 to 6) or a separator (-1); ``raw`` is how it is written out again."""

    level: int
    text: str
    raw: str = ""

    @property
    def written(self) -> str:
        """As Markdown has it, without the marks of a heading."""
        return self.raw or self.text


@dataclass(frozen=True)
class Document:
    """What a file says.

    Attributes
    ----------
    blocks
        In their order.
    title
        What it calls itself, which wins over its first heading.
    name
        What its file calls it, where there is no heading either.
    author
        Who wrote it.
    fields
        What else its front matter says in single lines, by name in small letters.
    """

    blocks: tuple[Block, ...]
    title: str = ""
    name: str = ""
    author: str = ""
    fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def heading(self) -> str:
        """What to call it; empty where it does not say. The first of several headings of a level names a part of it."""
        headings = [block for block in self.blocks if block.level > 0]
        alone = [block.text for block in headings[:1] if sum(b.level == block.level for b in headings) == 1]
        first = alone[0] if alone else ""
        return " ".join((self.title or first or self.name).split())[:200]

    @property
    def text(self) -> str:
        """What is to be read: without headings, running heads, page numbers and what says that it ends.

        Examples
        --------
        >>> Document((Block(1, "Chapter I"), Block(0, "It rained."), Block(0, "- 7 -"))).text
        'It rained.'
        """
        kept = [block.text for block in self.blocks if block.level == PARAGRAPH]
        return "\n\n".join(without_heads(kept))

    @property
    def written(self) -> str:
        """As Markdown.

        Examples
        --------
        >>> Document((Block(2, "Rain"), Block(0, "It rained."))).written
        '## Rain\\n\\nIt rained.'
        """
        marks = {PARAGRAPH: "", SEPARATOR: "* * *"}
        return "\n\n".join(marks.get(b.level, "#" * b.level + " ") + b.written for b in self.blocks)


def cut(document: Document) -> list[Document]:
    """A document as its parts: by the highest headings of which there are several, else by its separators.

    What stands before the first heading is a part where it has any text.

    Examples
    --------
    >>> book = Document((Block(1, "Book"), Block(2, "One"), Block(0, "a"), Block(2, "Two"), Block(0, "b")))
    >>> [part.heading for part in cut(book)]
    ['One', 'Two']
    """
    levels = Counter(block.level for block in document.blocks)
    level = next((k for k in range(1, 7) if levels[k] > 1), SEPARATOR)
    parts: list[list[Block]] = [[]]
    for block in document.blocks:
        if block.level == level:
            parts.append([])
        if block.level != SEPARATOR or (level != SEPARATOR and parts[-1]):
            parts[-1].append(block)
    if level != SEPARATOR:
        parts[0] = [block for block in parts[0] if block.level == PARAGRAPH]
    found = [Document(tuple(_without_last_break(blocks)), author=document.author) for blocks in parts]
    return [replace(part, name=f"Part {number}") for number, part in enumerate((p for p in found if p.text), start=1)]


def _without_last_break(blocks: list[Block]) -> list[Block]:
    """Blocks without the separators at their end: what follows a part is a part of its own."""
    end = len(blocks)
    while end and blocks[end - 1].level == SEPARATOR:
        end -= 1
    return blocks[:end]
