"""Documents that are packed in a zip file: .docx, .odt and .epub. Bounded reading; nothing is written or run."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from fabula.errors import FileError, shown
from fabula.media.text.reading.decoding import MOST, decode
from fabula.media.text.reading.document import PARAGRAPH, SEPARATOR, Block, Document
from fabula.media.text.reading.markup import html_document

_BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
_MOST_FILES = 20_000
_STYLE = re.compile(r"(?:heading|titre|berschrift|titulo|título)[ _-]?(\d?)", re.IGNORECASE)
_CREATOR, _TITLE = "{http://purl.org/dc/elements/1.1/}creator", "{http://purl.org/dc/elements/1.1/}title"


class _Archive:
    """The files in a zip file, of which at most so much is unpacked."""

    def __init__(self, archive: zipfile.ZipFile, where: str) -> None:
        self.archive, self.where, self.left = archive, where, MOST
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
            raise FileError(f"{shown(self.where)}: unpacks to more than {MOST // 10**6} MB, too long for one text")
        return data

    def xml(self, name: str) -> ET.Element | None:
        """One of the files as XML; None where there is none."""
        data = self.read(name)
        if not data:
            return None
        if re.search(rb"<!(?:DOCTYPE|ENTITY)[^>]*(?:\[|ENTITY)", data):  # what an entity may become has no bound
            raise FileError(f"{shown(self.where)}: defines entities of its own, which are not read")
        try:
            return ET.fromstring(data)
        except (ET.ParseError, LookupError) as error:
            raise FileError(f"{shown(self.where)}: is broken ({name}: {error})") from error


def packed_document(path: str) -> Document:
    """A document from a .docx, .odt or .epub file.

    Raises
    ------
    FileError
        When it is broken, is locked, unpacks to more than 20 MB, or is of another kind than its ending says.
    """
    ending = Path(path).suffix.lower()
    try:
        with zipfile.ZipFile(path) as archive:
            document = _READERS[ending](_Archive(archive, path))
    except OSError as error:
        raise FileError(f"{shown(path)}: cannot be read ({error.strerror or error})") from error
    except _BROKEN as error:
        raise FileError(f"{shown(path)}: is broken, locked or no {ending} file ({shown(str(error))})") from error
    if document is None:
        raise FileError(f"{shown(path)}: is no {ending} file (its text is missing)")
    return document


def _docx(archive: _Archive) -> Document | None:
    root = archive.xml("word/document.xml")
    if root is None:
        return None
    blocks = [_word_paragraph(element) for element in root.iter() if _tag(element) == "p"]
    return _named(Document(tuple(block for block in blocks if block.text)), archive.xml("docProps/core.xml"))


def _word_paragraph(paragraph: ET.Element) -> Block:
    level, parts = PARAGRAPH, []
    for element in paragraph.iter():
        tag = _tag(element)
        if tag == "pStyle":
            level = _level(next(iter(element.attrib.values()), ""))
        elif tag == "t":
            parts.append(element.text or "")
        elif tag in ("tab", "br", "cr"):
            parts.append("\t" if tag == "tab" else "\n")
    return _block(level, "".join(parts))


def _odt(archive: _Archive) -> Document | None:
    root = archive.xml("content.xml")
    if root is None:
        return None
    blocks = []
    for element in root.iter():
        if _tag(element) in ("p", "h"):
            level = next((int(v) for k, v in element.attrib.items() if k.endswith("outline-level") and v.isdigit()), 1)
            blocks.append(_block(min(max(level, 1), 6) if _tag(element) == "h" else PARAGRAPH, _flat(element)))
    return _named(Document(tuple(block for block in blocks if block.text)), archive.xml("meta.xml"))


def _flat(element: ET.Element) -> str:
    """The text of a paragraph, what stands for spaces and line ends included; notes are not."""
    parts = [element.text or ""]
    for inner in element:
        tag = _tag(inner)
        if tag in ("s", "tab", "line-break"):
            parts.append({"s": " ", "tab": "\t"}.get(tag, "\n"))
        elif tag not in ("note", "annotation"):
            parts.append(_flat(inner))
        parts.append(inner.tail or "")
    return "".join(parts)


def _epub(archive: _Archive) -> Document | None:
    container = archive.xml("META-INF/container.xml")
    if container is None:
        return None
    where = next((e.get("full-path", "") for e in container.iter() if _tag(e) == "rootfile"), "")
    book = archive.xml(where)
    if book is None:
        return None
    blocks: list[Block] = []
    for name in _spine(book, posixpath.dirname(where)):
        page = html_document(decode(archive.read(name), archive.where, declared=True))
        if page.blocks and blocks:
            blocks.append(Block(SEPARATOR, ""))
        blocks.extend(page.blocks)
    found = _named(Document(tuple(blocks)), book)
    return replace(found, title=found.name)


def _spine(book: ET.Element, folder: str) -> Iterator[str]:
    """The names of a book's pages in their order; a name that leads out of the book leads nowhere."""
    pages = {e.get("id"): e.get("href", "") for e in book.iter() if _tag(e) == "item"}
    for element in book.iter():
        href = pages.get(element.get("idref")) if _tag(element) == "itemref" else None
        if href:
            name = posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))
            if not name.startswith(("/", "..")):
                yield name


def _named(document: Document, about: ET.Element | None) -> Document:
    """A document with the title and the author that its file tells."""
    said = {e.tag: (e.text or "").strip() for e in about.iter()} if about is not None else {}
    return replace(document, name=said.get(_TITLE, ""), author=said.get(_CREATOR, ""))


def _block(level: int, text: str) -> Block:
    bare = text.strip()
    return Block(level, bare) if re.search(r"\w", bare) else Block(SEPARATOR, bare)


def _level(style: str) -> int:
    if style.lower() in ("title", "titel", "titre"):
        return 1
    found = _STYLE.search(style)
    return min(max(int(found[1] or 1), 1), 6) if found else PARAGRAPH


def _tag(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]


_READERS: dict[str, Callable[[_Archive], Document | None]] = {".docx": _docx, ".odt": _odt, ".epub": _epub}
PACKED_ENDINGS = frozenset(_READERS)
