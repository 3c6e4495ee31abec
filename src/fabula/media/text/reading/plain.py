"""Plain text and Markdown as documents: front matter, headings, separators, paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType

from fabula.media.text.reading.document import PARAGRAPH, SEPARATOR, Block, Document
from fabula.media.text.reading.heads import CHAPTER

_FRONT = re.compile(r"\A\s*(---|\+\+\+)[ \t]*\n(.*?)\n\1[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([^\W\d][\w-]{0,40})[ \t]*[:=][ \t]*(\S.{0,400}?)[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ATX = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*")
_RULE = re.compile(r"[ \t]*(?:(?:[*_~#=•·⁂❦-][ \t]*){3,}|\*|⁂|❦|#)[ \t]*")
_SENTENCE_END = tuple(".,;:!?…。，")
_EMPTY = re.compile(r"\n[ \t]*\n")
_GAP = re.compile(r"(\n[ \t]*){4,}")  # three empty lines part scenes


def markdown_document(text: str) -> Document:
    """A document from Markdown.

    Examples
    --------
    >>> found = markdown_document("---\\ntitle: Rain\\n---\\n# One\\n\\nIt *rained*.\\n\\n* * *\\n\\nStill.")
    >>> found.heading, [block.level for block in found.blocks], found.text
    ('Rain', [1, 0, -1, 0], 'It rained.\\n\\nStill.')
    """
    fields, body = _front(text)
    blocks = tuple(_markdown_blocks(_COMMENT.sub("", body)))
    return _about(blocks, fields)


def plain_document(text: str) -> Document:
    """A document from plain text: a heading is a line of its own that names a chapter, or a short first line.

    Examples
    --------
    >>> found = plain_document("CHAPTER I\\n\\nIt rained.\\n\\nCHAPTER II\\n\\nIt stopped.")
    >>> [(block.level, block.text) for block in found.blocks][:2]
    [(1, 'CHAPTER I'), (0, 'It rained.')]
    """
    fields, body = _front(text)
    blocks: list[Block] = []
    for scene in _GAP.split(body) if _may_gap(body) else [body]:
        if not scene.strip():
            continue
        parts = [part.strip("\n") for part in _EMPTY.split(scene) if part.strip()]
        if blocks and not _is_heading(parts[0], first=False) and blocks[-1].level == PARAGRAPH:
            blocks.append(Block(SEPARATOR, ""))
        blocks.extend(_plain_block(part, first=not blocks and number == 0) for number, part in enumerate(parts))
    if len(blocks) == 1:  # a file of one paragraph has no title
        blocks = [Block(PARAGRAPH, blocks[0].text)]
    return _about(tuple(blocks), fields)


def _may_gap(body: str) -> bool:
    """Whether there may be three empty lines, some of them with spaces: quick to say no."""
    return any(lines in body for lines in ("\n\n\n\n", "\n ", "\n\t"))


def _about(blocks: tuple[Block, ...], fields: dict[str, str]) -> Document:
    """A document with what its front matter says."""
    others = MappingProxyType({name: value for name, value in fields.items() if name not in ("title", "author")})
    return Document(blocks, title=fields.get("title", ""), author=fields.get("author", ""), fields=others)


def _front(text: str) -> tuple[dict[str, str], str]:
    """What the front matter says in single lines, and the rest."""
    front = _FRONT.match(text)
    if front is None:
        return {}, text
    fields = {name.lower(): value.strip("\"'") for name, value in _FIELD.findall(front[2])}
    return fields, text[front.end() :]


def _plain_block(part: str, *, first: bool) -> Block:
    line = part.strip()
    if _RULE.fullmatch(line):
        return Block(SEPARATOR, "")
    return Block(1 if _is_heading(line, first=first) else PARAGRAPH, line)


def _is_heading(part: str, *, first: bool) -> bool:
    line = part.strip()
    head, _, rest = line.partition("\n")
    if len(line) > 160 or "\n" in rest:
        return False
    if CHAPTER.fullmatch(head.strip()) and not line[0].islower():
        return True
    return first and not rest and len(line) <= 70 and not line.endswith(_SENTENCE_END)


def _markdown_blocks(body: str) -> Iterator[Block]:
    lines: list[str] = []
    for line in [*body.split("\n"), ""]:
        heading = _ATX.fullmatch(line.strip()) if line.startswith("#") else None
        under = line.strip()
        if lines and len(lines) == 1 and len(under) > 1 and set(under) in ({"="}, {"-"}):
            yield Block(1 if "=" in under else 2, bare(lines.pop()))
        elif heading or not under or _RULE.fullmatch(line):
            if lines:
                yield Block(PARAGRAPH, bare("\n".join(lines)), "\n".join(lines))
                lines = []
            if heading:
                yield Block(len(heading[1]), bare(heading[2]))
            elif under:
                yield Block(SEPARATOR, "")
        else:
            lines.append(line)


_IMAGE, _LINK = re.compile(r"!\[[^\]]*\]\([^)]*\)"), re.compile(r"\[([^\]]+)\]\([^)]*\)")
_MARKS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|`+|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)", re.DOTALL)
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


def bare(markdown: str) -> str:
    """Markdown without its marks.

    Examples
    --------
    >>> bare("> A **big** [house](http://x), snake_case")
    'A big house, snake_case'
    """
    text = _LINK.sub(r"\1", _IMAGE.sub("", _QUOTE.sub("", markdown)))
    return _TAG.sub("", _MARKS.sub(r"\2", _MARKS.sub(r"\2", text))).strip()
