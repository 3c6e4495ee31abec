"""A document: paragraphs, headings and separators, whatever kind of file they come from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import groupby
from types import MappingProxyType

from fabula.core import files
from fabula.core.files import find_mark, guess_encoding, try_decode
from fabula.errors import FileError, shown
from fabula.media.children import load
from fabula.media.medium import read_words
from fabula.media.text.heads import CHAPTER, TITLE_PAGE, without_heads

# From the bytes of a file to the text of a document: by what it says of itself, or by what it looks like.

MOST = 20_000_000  # bytes of one text: six times War and Peace
MOST_LINES = 1_000_000  # which are fewer than twenty bytes each only where nobody wrote them

_DECLARED = re.compile(rb"<[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_CONTROL_BYTES = bytes(code for code in range(32) if _CONTROLS.match(chr(code)))
_LINE_ENDS = ("\r\n", "\r", "\u2028", "\u0085")
_LOOKED_AT = 65_536  # bytes or characters that tell what a file is


def read_bytes(path: str) -> bytes:
    """All the bytes of a file; a FileError where it cannot be read, or holds too much for one text."""
    data = files.read_bytes(path, most=MOST)
    if data.count(b"\n") > MOST_LINES:
        raise FileError(f"{shown(path)}: has more than {MOST_LINES:,} lines, too many for one text; cut it into parts")
    return data


def decode(data: bytes, where: str, *, declared: bool = False) -> tuple[str, str]:
    """Bytes as text: by a byte order mark, by what a page declares, as UTF-8, by its letters, else by lines as cp1252.

    And the encoding where that was guessed by the letters, else "". ``where`` is the file's name, for the FileError
    when it is no text; ``declared`` says whether the text may name its own encoding, as HTML and XML do.

    >>> decode("Müller\\n".encode("cp1252") + "Müller".encode(), "x.txt")
    ('Müller\\nMüller', '')
    """
    mark, known = find_mark(data)
    text, encoding = data[len(mark) :].decode(known, "replace") if known else None, ""
    start = data[:_LOOKED_AT]
    if text is None and declared and (found := _DECLARED.search(data[:2048])):
        text = try_decode(data, found[1].decode("ascii"))
    if text is None and b"\0" in start:  # UTF-16 without a mark: every other byte of most texts is zero
        halves = (("utf-16-le", start[1::2]), ("utf-16-be", start[::2]))
        other = next((name for name, zeros in halves if 2 * zeros.count(0) > len(zeros)), "")
        text = try_decode(data, other) if other else None
    if text is None:
        text = try_decode(data, "utf-8")
    if text is None and (guessed := guess_encoding(data)) != "cp1252":
        text, encoding = data.decode(guessed, "replace"), guessed
    if text is None:
        lines = data.splitlines(keepends=True)
        text = "".join(try_decode(line, "utf-8") or line.decode("cp1252", "replace") for line in lines)
    if len(data.translate(None, _CONTROL_BYTES)) < len(data):  # else it holds none in any encoding
        head = text[:_LOOKED_AT]
        if 100 * len(_CONTROLS.findall(head)) > len(head):
            raise FileError(f"{shown(where)}: is no text (its bytes are those of another kind of file)")
        text = _CONTROLS.sub("", text)
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    return text, encoding


PARAGRAPH, SEPARATOR = 0, -1  # levels of blocks that are no headings; headings have 1 to 6
NEW_PAGE = -2  # while a file is read
TITLE = 7  # while a file is read: what is called so by its style


@dataclass(frozen=True)
class TextBlock:
    """A paragraph (level 0), a heading (1 to 6) or a separator (-1); ``raw`` is how it is written out again.

    ``at`` is the piece of its file in which it begins: the line, the paragraph of a packed file, the page or slide.
    """

    level: int
    text: str
    raw: str = ""
    at: int = field(default=0, compare=False)
    wall: bool = field(default=False, compare=False)  # of a separator: whether it ends the last part

    @property
    def markup(self) -> str:
        """As Markdown has it, without the marks of a heading: what is plain says the same when it is read as that."""
        rule = self.level == SEPARATOR and _RULE.fullmatch(self.text or "#")
        return "* * *" if rule else self.raw or escape(self.text)


@dataclass(frozen=True)
class Document:
    """What a file says."""

    blocks: tuple[TextBlock, ...]  # in their order
    title: str = ""  # what it calls itself, which wins over its first heading
    name: str = ""  # what its file calls it, where there is no heading either
    author: str = ""  # who wrote it
    encoding: str = ""  # of its file, where nothing but its letters told it
    paged: bool = False  # whether each piece that says something is a part, as a slide is
    lost: tuple[str, ...] = ()  # what else is in its file that blocks do not hold, such as pictures
    # What else its front matter says in single lines, by name in small letters.
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

        >>> Document((TextBlock(1, "Chapter I"), TextBlock(0, "It rained."), TextBlock(0, "- 7 -"))).text
        'It rained.'
        """
        kept = [block.text for block in self.blocks if block.level == PARAGRAPH]
        return "\n\n".join(without_heads(kept))

    @property
    def markup(self) -> str:
        """As Markdown.

        >>> Document((TextBlock(2, "Rain"), TextBlock(0, "It rained."))).markup
        '## Rain\\n\\nIt rained.'
        """
        return "\n\n".join("#" * b.level + " " * (b.level > 0) + b.markup for b in self.blocks)


_ENDS = re.compile(r"(?i)[*_~— -]*(?:the end[.!]?|ende?|fine?|fim|finis|einde)[*_~— -]*")  # nobody says: "Fine."
_SHOWN = 48  # characters of a part that stand for its title where it has none


def title_part(part: Document) -> str:
    """What to call a part: its heading, else a short first line or its first words."""
    if any(block.level > 0 for block in part.blocks):
        return part.heading
    if len(part.blocks) > 1 and is_heading(part.blocks[0].text, first=True):
        return part.blocks[0].text
    start = " ".join(part.text[: 2 * _SHOWN].split())
    return start if len(start) <= _SHOWN else start[:_SHOWN].rsplit(" ", 1)[0] + "…"


def part_bounds(document: Document) -> list[tuple[int, int]]:
    """The first block of each part, and the one behind its last; separators between parts are in none of them.

    Parts begin at the highest headings of which there are several, else at separators. What stands before the first
    heading is one too, but for what the whole is called. What stands behind the last, such as "The End", is in none.
    """
    blocks = document.blocks
    levels = Counter(block.level for block in blocks)
    level = next((k for k in range(1, 7) if levels[k] > 1), SEPARATOR)
    if document.paged:
        starts = [k for k, block in enumerate(blocks) if not k or block.at != blocks[k - 1].at]
    else:
        starts = [k for k, block in enumerate(blocks) if block.level == level]
    stop = 1 + max((k for k, block in enumerate(blocks) if block.level != SEPARATOR), default=-1)
    if level > 0 and not document.paged:
        stop = next((k for k in range(starts[-1], stop) if blocks[k].wall), stop)
        stop -= _ENDS.fullmatch(blocks[stop - 1].text) is not None and blocks[stop - 2].at < blocks[stop - 1].at
    found = []
    for number, (start, end) in enumerate(zip([0, *starts], [*starts, stop], strict=True)):
        called = number == 0 and level > 0  # what stands above the first part: what the whole is called names no part
        while start < end and (blocks[start].level == SEPARATOR or (called and blocks[start].level > 0)):
            start += 1
        while start < end and blocks[end - 1].level == SEPARATOR:
            end -= 1
        if start < end:
            found.append((start, end))
    return found


# Plain text and Markdown as documents: front matter, headings, separators, paragraphs.

_FRONT = re.compile(r"\A\s*(---|\+\+\+)[ \t]*\n(.*?)\n\1[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([^\W\d][\w-]{0,40})[ \t]*[:=][ \t]*(\S.{0,400}?)[ \t]*$", re.MULTILINE)
_ATX, _CLOSING = re.compile(r"(#{1,6})[ \t]+"), re.compile(r"(?<!\S)#+$")
_RULE = re.compile(r"(?:[*_~#=•·⁂❦-][ \t]*){3,}|\*|⁂|❦|#")  # of a line without spaces around it
_SENTENCE_END = tuple(".,;:!?…。，")
_EMPTY = re.compile(r"\n[ \t]*\n")
_GAP = re.compile(r"(\n[ \t]*){4,}")  # three empty lines part scenes


def markdown_document(text: str) -> Document:
    """A document from Markdown.

    >>> found = markdown_document("---\\ntitle: Rain\\n---\\n# One\\n\\nIt *rained*.\\n\\n* * *\\n\\nStill.")
    >>> found.heading, [block.level for block in found.blocks], found.text
    ('Rain', [1, 0, -1, 0], 'It rained.\\n\\nStill.')
    """
    about, body, first = _front(text)
    parts, at = [], 0  # without what stands in <!-- -->; a zero stands for each of its lines
    while (start := body.find("<!--", at)) >= 0 and (end := body.find("-->", start + 4)) >= 0:
        parts.append(body[at:start] + "\0" * body.count("\n", start, end))
        at = end + 3
    return replace(about, blocks=tuple(_markdown_blocks("".join([*parts, body[at:]]), first)))


def plain_document(text: str) -> Document:
    """A document from plain text: a heading is a line of its own that names a chapter, or a short first line."""
    about, body, line = _front(text)
    blocks: list[TextBlock] = []
    at = 0
    may_gap = any(lines in body for lines in ("\n\n\n\n", "\n ", "\n\t"))  # quick to say no
    for scene in _GAP.split(body) if may_gap else [body]:
        if not scene.strip():
            continue
        parts = [part.strip("\n") for part in _EMPTY.split(scene) if part.strip()]
        parted = blocks and not is_heading(parts[0], first=False) and blocks[-1].level == PARAGRAPH
        for number, part in enumerate(parts):
            start = body.index(part, at)
            line, at = line + body.count("\n", at, start), start
            if parted and number == 0:
                blocks.append(TextBlock(SEPARATOR, "", at=line - 1))
            said = part.strip()
            rule, head = _RULE.fullmatch(said), is_heading(said, first=not blocks)
            blocks.append(TextBlock(SEPARATOR if rule else int(head), "" if rule else said, at=line))
    if len(blocks) == 1:  # a file of one paragraph has no title
        blocks = [replace(blocks[0], level=PARAGRAPH)]
    return replace(about, blocks=tuple(head_matter(blocks)))


def head_matter(blocks: Sequence[TextBlock]) -> list[TextBlock]:
    """Blocks of a text without styles: titles of front and back matter around several chapters are headings, too."""
    chapters = [k for k, block in enumerate(blocks) if block.level > 0 and is_heading(block.text, first=False)]
    if len(chapters) < 2:
        return list(blocks)
    heads, first, last = set(chapters), chapters[0], chapters[-1]
    lines = [(k, block.text) for k, block in enumerate(blocks) if block.level >= PARAGRAPH and block.text[:1].isupper()]
    alone = [(k, line) for k, line in lines if line[:-1].isalpha() or is_heading(line, first=True)]
    named = [(k, load("fabula.media.text.passages:matter_rank")(line)) for k, line in alone]
    often = Counter(rank for _, rank in named)  # what several chapters have is their own
    heads.update(k for k, rank in named if rank and often[rank] == 1 and (k > last if rank[0] > 0 else k < first))
    above = blocks[: min(heads)]  # its first line is what the whole is called
    titled = bool(above) and above[0].level == 1 and sum(len(block.text.split()) for block in above) <= TITLE_PAGE
    return [replace(block, level=1 + titled) if k in heads else block for k, block in enumerate(blocks)]


def _front(text: str) -> tuple[Document, str, int]:
    """A document of which its front matter alone is known, the rest, and the line at which that begins."""
    front = _FRONT.match(text)
    if front is None:
        return Document(()), text, 0
    fields = {name.lower(): value.strip("\"'") for name, value in _FIELD.findall(front[2])}
    title, author = fields.pop("title", ""), fields.pop("author", "")
    about = Document((), title, author=author, fields=MappingProxyType(fields))
    return about, text[front.end() :], front[0].count("\n")


def is_heading(part: str, *, first: bool) -> bool:
    """Whether a paragraph of plain text is a heading: it names a chapter, or is a short first line."""
    line = part.strip()
    head, _, rest = line.partition("\n")
    if len(line) > 160 or "\n" in rest:
        return False
    if CHAPTER.fullmatch(head.strip()) and not line[0].islower():
        return True
    return first and not rest and len(line) <= 70 and not line.endswith(_SENTENCE_END)


def _markdown_blocks(body: str, at: int) -> Iterator[TextBlock]:
    """The blocks of Markdown, whose first line is the line ``at`` of its file."""
    lines: list[str] = []
    start, fenced = at, False  # of the paragraph that is being read; whether it is code, which has no headings
    for full in [*body.split("\n"), ""]:
        line = full.replace("\0", "")
        under = line.strip()
        fenced ^= under.startswith(("```", "~~~"))
        heading = _ATX.match(under) if line.startswith("#") and not fenced else None
        if len(lines) == 1 and not fenced and len(under) > 1 and set(under) in ({"="}, {"-"}):
            yield TextBlock(1 if "=" in under else 2, bare(lines.pop()), at=start)
        elif heading or not under or (_RULE.fullmatch(under) and not fenced):
            if lines:
                yield TextBlock(PARAGRAPH, bare("\n".join(lines)), "\n".join(lines), start)
                lines = []
            if heading:
                yield TextBlock(len(heading[1]), bare(_CLOSING.sub("", under[heading.end() :])), at=at)
            elif under:
                yield TextBlock(SEPARATOR, "", at=at)
        else:
            start = start if lines else at
            lines.append(line)
        at += 1 + len(full) - len(line)


# What no mark can close is not looked for to the end of a text: patterns stop at the next bracket, or after a while.
_TARGET = r"\((?:[^()]|\([^()]*\))*\)"
_IMAGE, _LINK = re.compile(r"!\[[^\[\]]*\]" + _TARGET), re.compile(r"\[([^\[\]]+)\]" + _TARGET)
_MARKS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|`{1,3}|~~)(?=\S)(.{1,4000}?)(?<=\S)\1(?!\w)", re.DOTALL)
_MANY_MARKS = 1000  # in one paragraph: then they are no emphasis, and all of them go
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")

# Where no mark is looked for (code, links that stand alone, behind a backslash); what plain text has that would be one.
_KEPT, _MARK, _MARKED_LINE = (re.compile(str(one), re.MULTILINE) for one in read_words("fabula.media.text")["marks"])
_HIDE = {ord(sign): 0xDC00 + k for k, sign in enumerate("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~•·⁂❦")}
_SHOW = {hidden: code for code, hidden in _HIDE.items()}  # no text has halves of a pair


def bare(markdown: str) -> str:
    r"""Markdown without its marks.

    >>> bare("> A **big** [house](http://x), snake_case, \\*so*")
    'A big house, snake_case, *so*'
    """
    return show(hide(markdown)).strip()


def hide(markdown: str) -> str:
    """Markdown without quotes and links, and with other characters in place of those that are no marks."""
    kept = _KEPT.sub(lambda found: found[found.lastgroup or 0].translate(_HIDE), _QUOTE.sub("", markdown))
    return _LINK.sub(r"\1", _IMAGE.sub("", kept))


def show(text: str) -> str:
    """What is hidden so, without marks."""
    if sum(map(text.count, "*_`~")) > _MANY_MARKS:
        text = re.sub(r"[*_`~]+", "", text)
    return _TAG.sub("", _MARKS.sub(r"\2", _MARKS.sub(r"\2", text))).translate(_SHOW)


def escape(text: str) -> str:
    """Plain text as Markdown: a backslash before what would be a mark."""
    told = _MARK.sub(lambda found: "".join(f"\\{sign}" for sign in found[0]), text)
    if sum(map(text.count, "*_~")) > _MANY_MARKS:  # then those go that are no marks where they stand
        told = re.sub(r"(?<!\\)([*_~])", r"\\\1", told)
    return _MARKED_LINE.sub(r"\1\\", told)


# HTML as a document: paragraphs, headings and rules; what is not to be read is left out.

_SILENT = frozenset(("script", "style", "nav", "template", "svg", "math", "noscript", "iframe", "button", "select"))
_PARTS = """
    p div li ul ol dl dd dt section article main header footer aside blockquote pre table tr td th figure figcaption
    body html head title h1 h2 h3 h4 h5 h6 hr
"""
_BLOCKS = frozenset(_PARTS.split())
_LOOKS = {"i": 1, "em": 1, "b": 2, "strong": 2}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def html_document(text: str) -> Document:
    """A document from HTML or XHTML, however broken."""
    reader = _Reader()
    for kind, *found in _html_tokens(text):
        getattr(reader, kind)(*found)
    reader.flush()
    return Document(tuple(reader.blocks), name=reader.title, author=reader.author, lost=name_lost(reader.seen))


_NAME = re.compile(r"/?([a-zA-Z][^\s/>\x00]*)")
_UNREAD = {name: re.compile(rf"</{name}\b", re.IGNORECASE) for name in ("script", "style")}  # tags are no tags in these
_QUOTED = re.compile("=([\"'])")
_META = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")


def _html_tokens(text: str) -> Iterator[tuple[str, ...]]:
    """Pieces of HTML, data or a tag that starts or ends, in one pass: what is looked for in vain ends the reading."""
    at = 0
    while (start := text.find("<", at)) >= 0:
        name = _NAME.match(text, start + 1)
        comment = text.startswith("<!--", start)
        if name is None and not comment and text[start + 1 : start + 2] not in ("!", "?", "/"):  # a < of its own
            yield "data", text[at : start + 1]
            at = start + 1
            continue
        end = text.find("-->", start + 4) + 2 if comment else _tag_end(text, name.end() if name else start)
        if end < 2:
            break
        yield "data", text[at:start]
        at = end + 1
        if name is not None:
            tag = name[1].lower()
            if text[start + 1] == "/":
                yield "end", tag
                continue
            yield "start", tag, text[start + 1 : end]
            if tag in _UNREAD:
                closing = _UNREAD[tag].search(text, at)
                at = len(text) if closing is None else closing.start()
    yield "data", text[at:]


def _tag_end(text: str, at: int) -> int:
    """Where a tag ends, a > in quotes aside; -1 where it does not."""
    end = text.find(">", at)
    while end >= 0:
        quote = _QUOTED.search(text, at, end)
        if quote is None:
            return end
        closing = text.find(quote[1], quote.end())
        if closing < 0:  # a quote that nothing closes is none
            return end
        at = closing + 1
        end = end if end >= at else text.find(">", at)
    return -1


class _Reader:
    """Gathers blocks; a tag that is never closed ends with the block."""

    def __init__(self) -> None:
        self.blocks: list[TextBlock] = []
        self.title = self.author = ""
        self.seen: set[str] = set()  # tags of what is no text
        self._parts: list[tuple[int, str]] = []  # how it looks, and what it says
        self._looks = Counter[int]()  # how many tags of each look are open
        self._silent: list[str] = []
        self._level = PARAGRAPH
        self._pre = self._in_title = False

    def start(self, tag: str, content: str) -> None:
        """A tag that opens, or opens and closes; of XHTML some of these open nothing."""
        closed = content.endswith("/")
        self.seen.update({tag} & _LOST.keys() if not self._silent else ())
        if tag in _LOOKS and not closed:
            self._looks[_LOOKS[tag]] += 1
        if tag in _SILENT:
            if not closed:
                self._silent.append(tag)
        elif tag == "br":
            self._parts.append((0, "\n"))
        elif tag == "meta":
            said = {key.lower(): unescape("".join(values)) for key, *values in _META.findall(content[:4000])}
            if said.get("name", "").lower() == "author":
                self.author = said.get("content", "")
        elif tag in _BLOCKS and not (closed and tag == "title"):
            self.flush()
            self._level, self._in_title = _HEADINGS.get(tag, PARAGRAPH), tag == "title"
            self._pre = tag == "pre"
            if tag == "hr":
                self.blocks.append(TextBlock(SEPARATOR, ""))

    def end(self, tag: str) -> None:
        """A tag that closes."""
        if self._looks[_LOOKS.get(tag, 0)]:
            self._looks[_LOOKS[tag]] -= 1
        if self._silent and tag == self._silent[-1]:
            self._silent.pop()
        elif tag in _BLOCKS:
            self.flush()
            self._level, self._in_title, self._pre = PARAGRAPH, False, False

    def data(self, text: str) -> None:
        """What stands between tags."""
        if text and not self._silent:
            plain = unescape(text)
            look = 0 if self._pre else sum(look for look, count in self._looks.items() if count)
            self._parts.append((look, plain if self._pre else re.sub(r"[ \t\n\r\f]+", " ", plain)))

    def flush(self) -> None:
        """End the block that is being read."""
        text, raw = (
            "\n".join(line.strip(" ") for line in one.split("\n")).strip()
            for one in ("".join(said for _, said in self._parts), mark_looks(self._parts))
        )
        self._parts = []
        self._looks.clear()
        if text and self._in_title:
            self.title = self.title or text
        elif text:
            self.blocks.append(TextBlock(self._level, text, "" if self._level or raw == escape(text) else raw))


def mark_looks(parts: Sequence[tuple[int, str]]) -> str:
    """Text in italic (1), bold (2) or both (3) as Markdown; spaces and pieces of words stay without the marks.

    >>> mark_looks([(0, "It"), (1, " rai"), (1, "ned "), (2, "here"), (0, ".")])
    'It *rained* **here**.'
    """
    found, star = [], chr(_HIDE[ord("*")])
    groups = [(look, "".join(text for _, text in units)) for look, units in groupby(parts, key=lambda part: part[0])]
    around = ["", *(text for _, text in groups), ""]
    for (look, text), before, after in zip(groups, around[:-2], around[2:], strict=True):
        said = text.strip()
        lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        inside = re.search(r"\w$", before[-1:] + lead) or re.match(r"\w", trail + after[:1])  # of a word
        plain = not look or not any(map(str.isalnum, said)) or "\n" in said or inside
        found.append(text if plain else f"{lead}{star * look}{said}{star * look}{trail}")
    return escape("".join(found)).translate(_SHOW)


# What is in a file beside text, by the tags of HTML, Word, Open Document and slides; and by patterns of plain text.
_LOST, _SIGNS = map(read_words("fabula.media.text").__getitem__, ("lost", "signs"))


def name_lost(tags: Iterable[str]) -> tuple[str, ...]:
    """What tags of a file say is in it beside text."""
    return tuple(sorted({_LOST[tag] for tag in tags if tag in _LOST}))


def signs_lost(path: str, kind: str) -> tuple[str, set[str]]:
    """The text of a plain file, "" of others, and what its signs say is in it besides."""
    text = decode(read_bytes(path), path)[0] if kind in _SIGNS else ""
    found = re.finditer(_SIGNS.get(kind, "$."), text, re.MULTILINE)
    return text, {str(sign.lastgroup).replace("_", " ") for sign in found}
