"""Manuscripts: a file as its parts, written back in another order with everything else as it was, byte for byte.

Whatever its kind, a manuscript is a body of bytes (the file, or one of the files packed in it) that is cut into pieces:
lines, paragraphs, pages of a spine, slides. A part is a run of pieces. What is no part stays where it stands.
"""

from __future__ import annotations

import contextlib
import io
import os
import posixpath
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from urllib.parse import quote, unquote
from xml.parsers import expat

from fabula.core.collection import Collection
from fabula.core.display import name_some
from fabula.core.files import find_mark, guess_encoding, open_file, parse_xml, try_decode, whole_folder, write_whole
from fabula.errors import FileError, InputError, shown
from fabula.media.children import Limits, call, load
from fabula.media.medium import common_detail, read_words
from fabula.media.text.books import ANEW, Joined, write_markdown
from fabula.media.text.documents import SEPARATOR, Document, TextBlock, part_bounds, read_bytes, signs_lost, title_part
from fabula.media.text.heads import TITLE_PAGE
from fabula.media.text.packed import find_book, find_inside, local_name, open_packed, spine_of
from fabula.media.text.passages import MANUSCRIPT, TEXT, WHOLE_ENDINGS, document_of, parse, read_document

_CONTENTS = re.compile(read_words(__package__)["contents"], re.IGNORECASE)  # what a list of the parts is called
_LISTED = 160  # characters of a line in it, at most
_BLANK = b" \t\r\n\x0c\0"
_LINE = re.compile("([^\n\r\u2028\x85]*)(\r\n|[\n\r\u2028\x85]|$)")
_SHARED = "share lines, paragraphs or pages, and cannot be moved in it"
_PAR = b"\\par\n"  # where the last paragraph of an .rtf file, which nothing ends, comes to stand before others
_NAME = 12  # the same where there are no headings, of four parts and more
_MOST = 1 << 29  # bytes of all that is packed in a file that is written
_LIMITS = Limits(seconds=60.0, memory=1 << 31)


@dataclass(frozen=True)
class TextParts:
    """The parts of a document: which blocks each is of, and which of them are items."""

    document: Document
    bounds: tuple[tuple[int, int], ...]  # first block, and the one behind the last
    items: tuple[int, ...]  # parts that are ordered; the others stay where they stand

    def part(self, number: int) -> Document:
        """One of them."""
        a, b = self.bounds[number]
        return Document(self.document.blocks[a:b], name=f"Part {number + 1}", author=self.document.author)


def find_parts(document: Document) -> TextParts:
    """The parts of a document. No items are a list of its parts, headings with nothing to read, and a title page.

    >>> from fabula.media.text.documents import markdown_document
    >>> found = find_parts(markdown_document("# Sea\\n\\nBy Ann\\n\\n## Contents\\n\\nOne\\n\\n## One\\n\\nRain."))
    >>> [found.part(k).heading for k in found.items], len(found.bounds)
    (['One'], 3)
    """
    bounds = tuple(part_bounds(document))
    found = TextParts(document, bounds, ())
    headed = [any(block.level > 0 for block in document.blocks[a:b]) for a, b in bounds]
    few = (-1 if headed[0] else TITLE_PAGE) if any(headed[1:]) else _NAME if len(bounds) > 3 else -1
    items = []
    for number in range(len(bounds)):
        part = found.part(number)
        words = len(part.text.split())
        above = number == 0 and words <= few
        # A table of contents is called so, and of short lines alone.
        listing = _CONTENTS.fullmatch(part.heading.strip(" .:")) and max(map(len, part.text.split("\n"))) <= _LISTED
        if any(map(str.isalnum, part.text)) and not above and not listing:
            items.append(number)
    return replace(found, items=tuple(items))


def tell_held(parts: TextParts) -> list[str]:
    """A line on the parts that are not ordered."""
    others = sorted(set(range(len(parts.bounds))).difference(parts.items))
    last = max((end for _, end in parts.bounds), default=0)
    behind = Document(tuple(block for block in parts.document.blocks[last:] if block.level != SEPARATOR))
    around = [*(parts.part(k) for k in others), behind]
    held = [repr(shown(name)) for name in map(title_part, around) if name]
    why = "a title page, a list of parts as it was, a heading with nothing to read, or what follows the last part"
    return [f"not ordered, and kept where it stands: {name_some(held, 6)} ({why})"] if held else []


@dataclass(frozen=True)
class Body:
    """What is cut into pieces."""

    pieces: tuple[bytes, ...]  # one after the other all of it; blocks of the document know theirs
    ends: tuple[bytes, ...] = ()  # of lines, what ends each: behind a part it stays where it is
    codec: str = "utf-8"  # of what is added
    mark: bytes = b""  # the byte order mark that stands before all of it
    idle: frozenset[int] = frozenset()  # pieces that say nothing: behind a part they stay where they are
    member: str = ""  # the packed file that it is; "" for the file itself
    whole: frozenset[int] = frozenset()  # pieces that hold what ends them
    before: Mapping[int, bytes] = field(default_factory=dict)  # what a piece needs before it where another was
    close: Callable[[bytes, bytes], bytes] = bytes.__add__  # a piece, and what ends it
    mend: Callable[[bytes], Mapping[str, bytes]] = lambda content: {}  # packed files that change with it


def rejoin(path: str, order: Sequence[int], sums: Sequence[int], sides: Sequence[int]) -> bytes:
    """The bytes of a file with its items in another order; check sums of their texts tell whether it has changed."""
    parts = find_parts(parse(path))
    known = [_sum(parts.part(k).markup) for k in parts.items]
    if any(k >= len(known) or known[k] != one for k, one in zip(order, sums, strict=True)):
        raise FileError(f"{shown(path)}: has changed since it was opened; order it again")
    ending = Path(path).suffix.lower()
    cut = load("fabula.media.text.formats:cut_other") if ending in WHOLE_ENDINGS else _BODIES.get(ending, cut_lines)
    body = cut(path)
    spans = [_find_span(parts, number, body, _ABOVE.get(ending)) for number in parts.items]
    if any(a[1] > b[0] for a, b in pairwise(spans)) or not all(a < b for a, b in spans):
        raise FileError(f"{shown(path)}: its parts {_SHARED}; write .md or .docx")
    starts = {start: number for number, start in enumerate(accumulate(sides[:-1], initial=0), 1)} if sides else {}
    marks = {at: _SIDES[ending].format(number).encode(body.codec) for at, number in starts.items() if ending in _SIDES}
    content = body.mark + b"".join(_move(body, spans, order, marks))
    if not body.member:
        return content
    changed, out = {body.member: content, **body.mend(content)}, io.BytesIO()
    with open_file(path) as file, zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w") as new:
        if sum(info.file_size for info in old.infolist()) > _MOST:
            raise FileError(f"{shown(path)}: unpacks to more than {_MOST >> 20} MB, too much to be written again")
        for info in old.infolist():
            new.writestr(info, changed[info.filename] if info.filename in changed else old.read(info))
    return out.getvalue()


# Lines right above a heading that are its own: comments, but for those that speak to programs, and anchors.
_NOTE = r"<!--(?!\s*(?:markdownlint|prettier|vim|toc|-\*-))(?:(?!-->).)*-->"
_ABOVE = {
    **dict.fromkeys((".md", ".markdown"), re.compile(rf"\s*(?:(?:{_NOTE}|<a\s[^<>]*>(?:</a>)?)\s*)+", re.IGNORECASE)),
    ".tex": re.compile(r"\s*%(?!\s*!).*"),
    ".rst": re.compile(r"\.\. _.+:\s*"),
}


def _climb(block: TextBlock, body: Body, above: re.Pattern[str] | None) -> int:
    """The first line that belongs to a heading; of all else where it begins."""
    at = block.at
    while at and block.level > 0 and above is not None:
        lines = [piece.decode(body.codec, "replace") for piece in body.pieces[max(at - 2, 0) : at]]
        apart = not lines[-1].strip() and any(sign in lines[0] for sign in ("<a ", ".. _"))  # of an anchor, perhaps
        if not above.fullmatch(lines[0 if apart else -1]):
            break
        at -= 1 + apart
    return at


def _find_span(parts: TextParts, number: int, body: Body, above: re.Pattern[str] | None) -> tuple[int, int]:
    """The first piece of a part, and the one behind the last that says something."""
    blocks, (a, b) = parts.document.blocks, parts.bounds[number]
    start = _climb(blocks[a], body, above)
    end = _climb(blocks[b], body, above) if b < len(blocks) else len(body.pieces)
    if a and blocks[a - 1].level == SEPARATOR:  # a picture, perhaps, stands before its first words
        start = min(start, blocks[a - 1].at + 1)
    while start < blocks[a].at and (start in body.idle or not body.pieces[start].strip(_BLANK)):
        start += 1
    while end > start and (end - 1 in body.idle or not body.pieces[end - 1].strip(_BLANK)):
        end -= 1
    return start, end


def _move(
    body: Body, spans: Sequence[tuple[int, int]], order: Sequence[int], marks: Mapping[int, bytes]
) -> Iterator[bytes]:
    """The pieces with each span holding another; those of spans that hold none any more are left out."""
    last = -1

    def take(a: int, b: int, end: int) -> Iterator[bytes]:
        nonlocal last
        for k in range(a, b):
            own = k < b - 1 or not body.whole.isdisjoint((k, end))
            piece = (b"" if last == k - 1 else body.before.get(k, b"")) + body.pieces[k]
            ended = body.ends[k if own else end] if body.ends else b""
            yield body.close(
                piece, ended or (_PAR if own and k == b - 1 and k not in body.whole and body.ends else b"")
            )
            last = k

    at = 0
    for slot, (start, end) in enumerate(spans):
        yield from take(at, start, start - 1)
        yield marks.get(slot, b"")
        if slot < len(order):
            yield from take(*spans[order[slot]], end - 1)
        at = end
    yield from take(at, len(body.pieces), -1)


# Bodies, by the kind of file.


def cut_lines(path: str) -> Body:
    """A file of plain lines, whatever they are in; all of it one piece where its encoding is not known for sure."""
    data = read_bytes(path)
    mark, encoding = find_mark(data)
    for codec in [encoding] if encoding else ["utf-8", guess_encoding(data)]:
        text = try_decode(data[len(mark) :], codec)
        if text is not None and text.encode(codec) == data[len(mark) :]:
            lines = [(line.encode(codec), end.encode(codec)) for line, end in _LINE.findall(text)]
            pieces, ends = zip(*lines, strict=True)
            return Body(pieces, ends, codec, mark)
    return Body((data,))


def cut_elements(data: bytes, name: str, which: int = 0) -> tuple[bytes, ...]:
    """XML as what stands before the elements within one, each of these, and what follows.

    The one is the ``which``-th of a name, whatever its prefix.

    >>> cut_elements(b"<x><p:a><b/> <c>d</c></p:a></x>", "a")
    (b'<x><p:a>', b'<b/> ', b'<c>d</c>', b'</p:a></x>')
    """
    parser, starts, depth, seen, inside = expat.ParserCreate(), [0], 0, -1, 0

    def start(tag: str, _: object) -> None:
        nonlocal depth, seen, inside
        depth += 1
        seen += tag.rpartition(":")[2] == name
        if inside and depth == inside + 1:
            starts.append(parser.CurrentByteIndex)
        if not inside and seen == which and tag.rpartition(":")[2] == name:
            inside = depth

    def end(_: str) -> None:
        nonlocal depth, inside
        if depth == inside:
            starts.append(parser.CurrentByteIndex)
            inside = -1
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(data, True)  # noqa: FBT003 - all of it
    return tuple(data[a:b] for a, b in zip(starts, [*starts[1:], len(data)], strict=True))


# What stands for something to see, in the XML of Word and of Open Document, beside letters.
_SEEN = re.compile(
    "t|drawing|pict|object|tbl|footnoteReference|endnoteReference|sym|instrText|oMath|frame|image|table|note|list|"
    "custom-shape|section"
)


def _cut_xml(path: str, member: str, *names: str) -> Body:
    """The elements of a packed XML file within the one that names lead to."""
    with open_packed(path) as archive:
        data = archive.read(member)
        if not data:
            raise FileError(f"{shown(path)}: its text is missing")
        root = parse_xml(data, path, member)
    within = find_inside(root, *names)
    same = [one for one in root.iter() if local_name(one) == names[-1]]
    seen = [any(_SEEN.fullmatch(local_name(e)) or (e.text or "").strip() for e in one.iter()) for one in within]
    idle = frozenset((len(within) + 1, *(at for at, told in enumerate(seen, start=1) if not told)))
    pieces, ends = cut_elements(data, names[-1], same.index(within)), []
    for piece in pieces:  # a section of Word ends within a paragraph, and stays where it ends
        found = _SECTION.search(piece) if _PARAGRAPH.match(piece) else None
        ends.append(found[0] if found else b"")
    pairs = ((piece, end, b"<w:pPr>%b</w:pPr>" % end) for piece, end in zip(pieces, ends, strict=True))
    bare = tuple(
        piece.replace(alone if alone in piece else end, b"", 1) if end else piece for piece, end, alone in pairs
    )
    return Body(bare, tuple(ends), idle=idle, member=member, close=_end_section)


_PARAGRAPH = re.compile(rb"\s*<w:p(?: [^<>]*)?(?<!/)>(\s*<w:pPr>)?")
_SECTION = re.compile(rb"<w:sectPr\b(?:[^<>]*/>|.*?</w:sectPr>)", re.DOTALL)


def _end_section(piece: bytes, end: bytes) -> bytes:
    """A paragraph of Word that ends a section; another one behind what is none."""
    found = _PARAGRAPH.match(piece) if end else None
    if found is None:
        return piece + (b"<w:p><w:pPr>%b</w:pPr></w:p>" % end if end else b"")
    at = piece.index(b"</w:pPr>") if found[1] else found.end()
    return piece[:at] + (end if found[1] else b"<w:pPr>%b</w:pPr>" % end) + piece[at:]


def _cut_epub(path: str) -> Body:
    with open_packed(path) as archive:
        where = find_book(archive)
        book = archive.xml(where)
        if book is None:
            raise FileError(f"{shown(path)}: its spine is missing")
        folder = posixpath.dirname(where)
        listed = (e for e in book.iter() if e.get("properties") == "nav" or "dtbncx" in e.get("media-type", ""))
        names = [posixpath.normpath(posixpath.join(folder, unquote(e.get("href", "")))) for e in listed]
        lists = {name: archive.read(name) for name in names if name in archive.names}
        pieces = cut_elements(archive.read(where), "spine")
    idle = frozenset((len(pieces) - 1,))
    return Body(pieces, idle=idle, member=where, mend=partial(_sort_lists, lists, folder))


def _sort_lists(lists: Mapping[str, bytes], folder: str, book: bytes) -> dict[str, bytes]:
    """The tables of contents of a book in the order of its pages; one that cannot be read stays as it is."""
    page = {name: at for at, name in enumerate(spine_of(parse_xml(book, "the book"), folder))}
    found = {}
    for name, data in lists.items():
        with contextlib.suppress(expat.ExpatError):
            head, *entries, tail = cut_elements(data, "navMap" if name.lower().endswith(".ncx") else "ol")
            at, places = -1, []
            for entry in entries:
                link = re.search(rb"(?:src|href)=[\"']([^\"'#]+)", entry)
                target = unquote(link[1].decode("utf-8", "replace")) if link else ""
                at = page.get(posixpath.normpath(posixpath.join(posixpath.dirname(name), target)), at)
                places.append(at)
            order = sorted(range(len(entries)), key=lambda k: places[k])
            found[name] = b"".join([head, *(entries[k] for k in order), tail])
    return found


_BODIES: dict[str, Callable[[str], Body]] = {
    ".docx": lambda path: _cut_xml(path, "word/document.xml", "body"),
    ".odt": lambda path: _cut_xml(path, "content.xml", "body", "text"),
    ".epub": _cut_epub,
}
_SIDES = {
    **dict.fromkeys((".md", ".markdown", ".fountain"), "# Part {}\n\n"),
    **dict.fromkeys((".txt", ".text"), "Part {}\n\n"),
    ".docx": '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Part {}</w:t></w:r></w:p>',
    ".odt": '<text:h text:outline-level="1">Part {}</text:h>',
    ".tex": "\\part{{Part {}}}\n",
}


# From a collection in its new order to a file: the one it came from with its parts moved, or one that is made anew.


def write_text(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write the texts of a collection as one file, in its order.

    Where they are parts of a file of that kind it is this file with its parts moved and all else as it was; else a
    Markdown, .docx or .epub file is made anew.
    """
    path, ending = common_detail(collection.items, MANUSCRIPT), target.suffix.lower()
    anew = ANEW.get(ending)
    if Path(path).suffix.lower() == ending:
        order = [int(item.id) - 1 for item in collection.items]
        sums = [_sum(str(item.details[TEXT])) for item in collection.items]
        try:
            content = call(rejoin, path, order, sums, list(sides), limits=_LIMITS)
            apart = target.resolve().parent != Path(path).resolve().parent
            if ending == ".tex" and apart and b"\\in" in content:
                raise InputError(f"{target}: what {shown(path)} includes is named from its own folder; write it there")
            if ending != ".scriv":
                return write_whole(target, content)
            with whole_folder(target) as copy:
                shutil.copytree(path, copy, symlinks=True, dirs_exist_ok=True)
                (copy / load("fabula.media.text.formats:find_binder")(path)).write_bytes(content)  # another binder
            return target
        except FileError as error:
            if anew is not write_markdown or _SHARED not in str(error):
                raise
    if anew is None:
        alone = [Path(item.path).suffix.lower() for item in collection.items] == [ending]
        why = "its source has one part alone" if alone else f"is written of one {ending} file with its parts moved"
        raise InputError(f"{target}: {why}; write .md, .docx or .epub")
    return anew(join(collection, sides), target)


_CARRIED = (".docx", ".odt", ".epub", ".html", ".htm", ".xhtml", ".md", ".markdown")  # bold and italic come along
_PLAIN = (".md", ".markdown", ".txt", ".text", ".srt", ".rst", ".fountain")  # no look of their own


def tell_losses(collection: Collection, target: Path) -> str:
    """What does not come along when texts are written anew, in words; "" where their file is written with parts moved.

    Files are read again for it.
    """
    path, ending = common_detail(collection.items, MANUSCRIPT), target.suffix.lower()
    if ending not in ANEW or Path(path).suffix.lower() == ending:
        return ""
    lost: set[str] = set()
    waiting = [path] if path else sorted({item.path for item in collection.items if item.path})
    for file in waiting:
        kind = Path(file).suffix.lower().replace(".markdown", ".md")
        lost.update(["layout"] * (kind not in _PLAIN), ["bold and italic"] * (kind not in (*_CARRIED, *_PLAIN[2:5])))
        with contextlib.suppress(FileError):
            document = read_document(file)
            lost.update(document.lost, ["front matter"] * bool(document.fields))
            if kind != ".md" or ending in (".docx", ".epub"):
                text, signs = signs_lost(file, kind)
                lost.update(signs)
                waiting += load("fabula.media.text.formats:included_files")(text, file) if kind == ".tex" else ()
    told = name_some(sorted(lost), len(lost))
    return f"{target.name} is made anew, without the {told} of the sources" if lost else ""


def _sum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))


def join(collection: Collection, sides: Sequence[int]) -> Joined:
    """The texts of a collection in its order; each side begins with a heading of its own.

    What stands around them in the file they were cut from, such as its title page, stays where it stands.
    """
    starts = {start: number for number, start in enumerate(accumulate(sides[:-1], initial=0), start=1)} if sides else {}
    source = common_detail(collection.items, MANUSCRIPT)
    held = list[Document]()  # what stands before each item, and behind the last
    with contextlib.suppress(FileError):  # where it can be read again
        found = find_parts(read_document(source)) if source else None
        if found is not None:
            around, bounds = found.document.blocks, [found.bounds[number] for number in found.items]
            gaps = zip([0, *(b for _, b in bounds)], [*(a for a, _ in bounds), len(around)], strict=True)
            held = [Document(tuple(block for block in around[a:b] if block.level != SEPARATOR)) for a, b in gaps]
    parts, bare = held[:1], not starts
    for position, item in enumerate(collection.items):
        document = document_of(item)
        if document is None:
            raise FileError(f"{item.label!r} has no text that could be written")
        headed = any(block.level > 0 for block in document.blocks)
        bare = bare and not headed and TEXT in item.details
        blocks = document.blocks if headed or TEXT in item.details else (TextBlock(1, item.label), *document.blocks)
        if position in starts:
            blocks = (TextBlock(1, f"Part {starts[position]}"), *blocks)
        parts += [Document(blocks), *held[position + 1 : position + 2]]
    authors = {item.creator for item in collection.items}
    kept = tuple(part for part in parts if part.blocks)
    return Joined(kept, bare, collection.title, authors.pop() if len(authors) == 1 else "")


# Notes in Markdown: a position in their front matter, and links that lead to copies by their new names.

_LINK = re.compile(r"(?P<wiki>!?\[\[)(?P<name>[^\[\]|#\n]{1,300})|(?P<link>\]\(<?)(?P<to>[^()<>#\n]{1,600})(?=[#>)])")
_FRONT = re.compile(r"\A(---[ \t]*\n)(.*?\n)?(---[ \t]*(?:\n|\Z))", re.DOTALL)


def relink(copies: Mapping[Path, Path]) -> None:
    """Mend links in copies of Markdown files, by originals: to the copy of the nearest so named, or what lay beside."""
    named: dict[str, list[Path]] = {}
    for source in copies:
        named.setdefault(source.name, []).append(source)

    def find(source: Path, link: str) -> str:
        near, wanted = Path(os.path.normpath(source.parent / link)), Path(link).parts
        alike = named.get(Path(link).name, [])
        fits = [near] * (near in copies) or [one for one in alike if one.parts[-len(wanted) :] == wanted]
        found = min(fits, key=lambda one: len(one.parts)) if fits else alike[0] if len(alike) == 1 else None
        return copies[found].name if found else ""

    def mend(source: Path, copy: Path, found: re.Match[str]) -> str:
        wiki, link = found["wiki"] is not None, (found["name"] or unquote(found["to"])).strip()
        new = find(source, link) or (find(source, f"{link}.md").removesuffix(".md") if wiki else "")
        if not new and not wiki and os.path.isfile(source.parent / link):  # noqa: PTH113 - a name may be none
            new = Path(os.path.relpath(source.parent / link, copy.parent)).as_posix()
        if not new or "://" in found[0]:
            return found[0]
        return (found["wiki"] or found["link"]) + (new if wiki or found["link"].endswith("<") else quote(new))

    for source, copy in copies.items():
        text = try_decode(copy.read_bytes(), "utf-8") if copy.suffix.lower() in (".md", ".markdown") else None
        if text is not None:
            write_whole(copy, _LINK.sub(partial(mend, source, copy), text).encode())


def write_position(path: Path, position: tuple[int, int], side: tuple[int, int] | None) -> None:
    """Write the position of a Markdown file, and its part where there are several, into its front matter."""
    if path.suffix.lower() not in (".md", ".markdown"):
        raise InputError(f"{shown(path)}: numbers are written into Markdown files alone, into their front matter")
    text = try_decode(path.read_bytes(), "utf-8")
    if text is None:
        raise FileError(f"{shown(path)}: is not UTF-8; no number can be written into it")
    front = _FRONT.match(text)
    kept = re.sub(r"(?m)^(?:position|part):.*\n", "", front[2] or "") if front else ""
    said = f"position: {position[0]}\n" + (f"part: {side[0]}\n" if side else "")
    rest = text[front.end() :] if front else text
    write_whole(path, f"---\n{kept}{said}---\n{rest}".encode())
