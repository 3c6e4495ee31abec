"""Documents that are packed in a zip file: .docx, .odt and .epub. Bounded reading; nothing is written or run."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from fabula.core.files import open_file, parse_xml
from fabula.errors import FileError, shown
from fabula.media.text import documents
from fabula.media.text.documents import NEW_PAGE, PARAGRAPH, SEPARATOR, TITLE, Document, TextBlock

_BROKEN = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, RuntimeError, ValueError)
_MOST_FILES, _MOST_BLOCKS = 20_000, 100_000
_STYLE = re.compile(r"(?:heading|titre|berschrift|titulo|título)[ _-]?(\d?)", re.IGNORECASE)
_CREATOR, _TITLE = "{http://purl.org/dc/elements/1.1/}creator", "{http://purl.org/dc/elements/1.1/}title"
_FIRST = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}initial-creator"  # the other is who saved it last
# Notes, comments, what was struck out or moved away, and what stands for a drawing where programs know none.
_UNREAD = frozenset(("note", "annotation", "tracked-changes", "del", "moveFrom", "Fallback"))


class Archive:
    """The files in a zip file, of which at most so much is unpacked."""

    def __init__(self, archive: zipfile.ZipFile, where: str) -> None:
        self.archive, self.where, self.left = archive, where, documents.MOST
        self.names = set(archive.namelist())
        if len(self.names) > _MOST_FILES:
            raise FileError(f"{shown(where)}: holds {len(self.names)} files, too many for one text")

    def read(self, name: str) -> bytes:
        """One of the files; nothing where there is none of that name."""
        if name not in self.names:
            return b""
        with self.archive.open(name) as file:
            data = file.read(self.left + 1)
        self.left -= len(data)
        if self.left < 0:
            raise FileError(
                f"{shown(self.where)}: unpacks to more than {documents.MOST // 10**6} MB, too long for one text"
            )
        return data

    def xml(self, name: str) -> Element | None:
        """One of the files as XML; None where there is none."""
        data = self.read(name)
        return parse_xml(data, self.where, name) if data else None

    def main_xml(self, name: str) -> Element:
        """The same of a file without which there is no text."""
        root = self.xml(name)
        if root is None:
            raise FileError(f"{shown(self.where)}: is no {Path(self.where).suffix.lower()} file (its text is missing)")
        return root


def read_packed(path: str, read: Callable[[Archive], Document] | None = None) -> Document:
    """A document from a .docx, .odt or .epub file, or from another that ``read`` reads.

    A FileError where it is broken, locked, unpacks to more than 20 MB, or is of another kind than its ending says.
    """
    with open_packed(path) as archive:
        document = (read or _READERS[Path(path).suffix.lower()])(archive)
    if len(document.blocks) > _MOST_BLOCKS:
        told = f"has more than {_MOST_BLOCKS:,} paragraphs, too many for one text; cut it into parts"
        raise FileError(f"{shown(path)}: {told}")
    return document


@contextmanager
def open_packed(path: str) -> Iterator[Archive]:
    """The files that are packed in one; a FileError for whatever is wrong with it, also while they are read."""
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            yield Archive(archive, path)
    except OSError as error:
        raise FileError(f"{shown(path)}: cannot be read ({error.strerror or error})") from error
    except _BROKEN as error:
        ending = Path(path).suffix.lower()
        raise FileError(f"{shown(path)}: is broken, locked or no {ending} file ({shown(str(error))})") from error


def _docx(archive: Archive) -> Document:
    root = archive.main_xml("word/document.xml")
    blocks = _paragraphs(find_inside(root, "body"), partial(_word_piece, _style_levels(archive)))
    lost = documents.name_lost(map(local_name, root.iter()))
    return _name(Document(set_heads(blocks), lost=lost), archive.xml("docProps/core.xml"))


def _style_levels(archive: Archive) -> dict[str, int]:
    """The levels of styles of Word by what they are called in every language, or their outline; ids differ."""
    levels: dict[str, int] = {}
    with suppress(FileError):  # then by their ids
        for style in archive.main_xml("word/styles.xml"):
            outline = _value(find_inside(style, "pPr", "outlineLvl"), "val")
            level = min(int(outline) + 1, 6) if re.fullmatch("[0-8]", outline) else PARAGRAPH
            levels[_value(style, "styleId")] = heading_level(_value(find_inside(style, "name"), "val")) or level
    return levels


def set_heads(found: Iterable[TextBlock]) -> tuple[TextBlock, ...]:
    """Blocks where lines that name chapters are headings if nothing is styled so, and pages part what has none.

    A title alone is no heading where there are others: it is that of the whole.
    """
    blocks, styles = list(found), {*range(1, TITLE)}
    if styles.isdisjoint(block.level for block in blocks):
        named = (block.level == PARAGRAPH and documents.is_heading(block.text, first=False) for block in blocks)
        blocks = [replace(block, level=1) if head else block for head, block in zip(named, blocks, strict=True)]
        blocks = documents.head_matter(blocks)
    levels = [block.level for block in blocks]
    headed = not styles.isdisjoint(levels)
    new = {TITLE: PARAGRAPH if headed and levels.count(TITLE) == 1 else 1, NEW_PAGE: SEPARATOR}
    kept = (block for block in blocks if block.level != NEW_PAGE or not headed)
    return tuple(replace(block, level=new.get(block.level, block.level)) for block in kept)


def find_inside(root: Element, *names: str) -> Element:
    """The element that names lead to, one within the other, or the last of them that is there."""
    for name in names:
        root = next((child for child in root if local_name(child) == name), root)
    return root


def _odt(archive: Archive) -> Document:
    root = archive.main_xml("content.xml")
    looks = {}  # of styles: italic (1), bold (2), both (3) or neither; on a new page (4)
    for style in (one for one in root.iter() if local_name(one) == "style"):
        italic = any(_value(one, "font-style") in ("italic", "oblique") for one in style)
        bold = any(_value(one, "font-weight") in ("bold", "700", "800", "900") for one in style)
        paged = any(_value(one, "break-before") == "page" for one in style)
        looks[_value(style, "name")] = italic + 2 * bold + 4 * paged
    blocks = _paragraphs(find_inside(root, "body", "text"), partial(_open_piece, looks), tails=True)
    lost = documents.name_lost(map(local_name, find_inside(root, "body").iter()))
    return _name(Document(set_heads(blocks), lost=lost), archive.xml("meta.xml"))


@dataclass(slots=True, eq=False)
class _Paragraph:
    """A paragraph while it is read."""

    level: int = PARAGRAPH
    parts: list[tuple[int, str]] = field(default_factory=list)  # how they look, what they say
    at: int = 0


_Within = tuple[_Paragraph, int]  # where one is while reading, and how what is read there looks


def _paragraphs(
    root: Element, read: Callable[[Element, str, _Paragraph, int], _Within], *, tails: bool = False
) -> Iterator[TextBlock]:
    """The paragraphs that say something, in one pass; ``read`` gives the one that an element begins, or the same."""
    nowhere = (_Paragraph(), 0)
    found, within = list[_Paragraph](), [(_Paragraph(), 0)]
    opened, inside, at = [root], [iter(root)], 0
    while inside:
        element = next(inside[-1], None)
        if element is not None:
            at += len(inside) == 1  # the elements within the root are its pieces, counted from 1
            tag = element.tag.rpartition("}")[2]
            unread = within[-1] is nowhere or tag in _UNREAD
            mine = nowhere if unread else read(element, tag, *within[-1])
            if not unread and mine[0] is not within[-1][0] and tag in ("p", "h"):
                mine[0].at = at
                found.append(mine[0])
            opened.append(element)
            inside.append(iter(element))
            within.append(mine)
            continue
        inside.pop()
        within.pop()
        tail = opened.pop().tail
        if tails and tail and within:
            within[-1][0].parts.append((within[-1][1], tail))
    for one in found:
        said = "".join(said for _, said in one.parts)
        text, first = said.strip(), said.lstrip(" \n").startswith("\f")
        if first:
            yield TextBlock(NEW_PAGE, "", at=one.at)
        if text:
            marked = "" if one.level else documents.mark_looks(one.parts).strip()
            level = one.level if re.search(r"\w", text) else SEPARATOR
            yield TextBlock(level, text, "" if marked == documents.escape(text) else marked, one.at)
        if "\f" in said and not first:
            yield TextBlock(NEW_PAGE, "", at=one.at + 1)


def _value(element: Element, name: str) -> str:
    """An attribute, whatever its namespace; "" where it is not there."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


_OFF = ("0", "false", "off", "none")


def _word_piece(levels: Mapping[str, int], element: Element, tag: str, within: _Paragraph, look: int) -> _Within:
    """What an element of a .docx file says."""
    if tag == "p":
        return _Paragraph(), 0
    if tag == "r":
        set_on = {local_name(one) for one in find_inside(element, "rPr") if _value(one, "val") not in _OFF}
        look = ("i" in set_on) + 2 * ("b" in set_on)
    elif tag == "pStyle":
        within.level = levels.get(style := next(iter(element.attrib.values()), "")) or heading_level(style)
    elif tag == "t":
        within.parts.append((look, element.text or ""))
    elif tag in ("tab", "br", "cr"):
        within.parts.append((0, "\t" if tag == "tab" else "\f" if _value(element, "type") == "page" else "\n"))
    elif tag == "pageBreakBefore" and _value(element, "val") not in _OFF:
        within.parts.append((0, "\f"))
    return within, look


def _open_piece(looks: Mapping[str, int], element: Element, tag: str, within: _Paragraph, look: int) -> _Within:
    """What an element of an .odt file says."""
    if tag in ("p", "h"):
        said = _value(element, "outline-level")
        level = min(max(int(said) if said.isdigit() else 1, 1), 6)
        paged = looks.get(_value(element, "style-name"), 0) & 4
        within, look = _Paragraph(level if tag == "h" else PARAGRAPH, [(0, "\f")] if paged else []), 0
    elif tag == "span":
        look |= looks.get(_value(element, "style-name"), 0) & 3
    within.parts.append((look, {"s": " ", "tab": "\t", "line-break": "\n"}.get(tag, element.text or "")))
    return within, look


def find_book(archive: Archive) -> str:
    """What the file is called that lists the pages of an .epub book; "" where it is not said."""
    container = archive.xml("META-INF/container.xml")
    listed = () if container is None else container.iter()
    return next((e.get("full-path", "") for e in listed if local_name(e) == "rootfile"), "")


def _epub(archive: Archive) -> Document:
    where = find_book(archive)
    book = archive.main_xml(where)
    blocks: list[TextBlock] = []
    lost: set[str] = set()
    named = _read_contents(archive, book, posixpath.dirname(where))
    for at, name in enumerate(spine_of(book, posixpath.dirname(where)), start=1):
        page = (
            documents.html_document(documents.decode(archive.read(name), archive.where, declared=True)[0])
            if name
            else Document(())
        )
        if page.blocks and blocks:
            blocks.append(TextBlock(SEPARATOR, "", at=at))
        levels = [block.level for block in page.blocks]
        if levels and set(levels) <= {PARAGRAPH, SEPARATOR} and page.blocks[0].text == named.get(name):
            levels[0] = 1  # some programs write a heading as a paragraph like any other
        blocks.extend(replace(block, at=at, level=level) for block, level in zip(page.blocks, levels, strict=True))
        lost.update(page.lost)
    found = _name(Document(tuple(blocks), lost=tuple(sorted(lost))), book)
    return replace(found, title=found.name)


def _read_contents(archive: Archive, book: Element, folder: str) -> dict[str, str]:
    """What the contents of a book (NCX) call each of its pages; nothing where they cannot be read."""
    names: dict[str, str] = {}
    for item in book.iter():
        if local_name(item) == "item" and item.get("media-type") == "application/x-dtbncx+xml":
            path, said = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", "")))), ""
            with suppress(FileError):
                contents = archive.xml(path)
                for one in () if contents is None else contents.iter():
                    if local_name(one) == "text":
                        said = " ".join((one.text or "").split())
                    elif local_name(one) == "content":
                        page = posixpath.join(posixpath.dirname(path), one.get("src", "").partition("#")[0])
                        names.setdefault(posixpath.normpath(unquote(page)), said)
    return names


def spine_of(book: Element, folder: str) -> Iterator[str]:
    """The names of a book's pages in their order, "" for what is none; a name that leads out of it leads nowhere."""
    pages = {e.get("id"): e.get("href", "") for e in book.iter() if local_name(e) == "item"}
    for element in find_inside(book, "spine"):
        href = pages.get(element.get("idref")) if local_name(element) == "itemref" else None
        name = posixpath.normpath(posixpath.join(folder, unquote((href or "").partition("#")[0]))) if href else ""
        yield "" if name.startswith(("/", "..")) else name


def _name(document: Document, about: Element | None) -> Document:
    """A document with the title and the author that its file tells."""
    said = {e.tag: (e.text or "").strip() for e in about.iter()} if about is not None else {}
    return replace(document, name=said.get(_TITLE, ""), author=said.get(_FIRST) or said.get(_CREATOR, ""))


def heading_level(style: str) -> int:
    """The level that a style is of by its name: 1 to 6, that of a title, or that of a paragraph."""
    if style.lower() in ("title", "titel", "titre"):
        return TITLE
    found = _STYLE.search(style)
    return min(max(int(found[1] or 1), 1), 6) if found else PARAGRAPH


def local_name(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


_READERS: dict[str, Callable[[Archive], Document]] = {".docx": _docx, ".odt": _odt, ".epub": _epub}
PACKED_ENDINGS = frozenset(_READERS)
