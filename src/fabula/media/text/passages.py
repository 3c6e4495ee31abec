"""Files of text as items: which endings, what they are called, and what is to be read in them."""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType

from fabula.core.collection import Item
from fabula.errors import FileError, shown
from fabula.media.text.documents import (
    PACKED_ENDINGS,
    Document,
    decode,
    html_document,
    markdown_document,
    plain_document,
    read_bytes,
    read_packed,
)

_MARKDOWN = frozenset((".md", ".markdown"))
_PAGES = frozenset((".html", ".htm", ".xhtml"))
TEXT_ENDINGS = frozenset((".txt", ".text", *_MARKDOWN, *_PAGES, *PACKED_ENDINGS))
_COMPANIONS = """
    .jpg .jpeg .png .gif .webp .svg .bmp .css .js .bib .json .yaml .yml .toml .db .ini
"""
COMPANION_ENDINGS = frozenset(_COMPANIONS.split())

_NUMBERED = re.compile(r"^(?:\d{1,4}\s*[-._)]+\s*|\d{2,3}\s+)(?=\S*[^\W\d_])")
TEXT = "text"  # the detail of an item that holds its text itself
_HELD = (TEXT, "body", "content", "passage", "story", "poem")  # the same, as tables call it


def read_document(path: str) -> Document:
    """What a file says, by its ending: plain text, Markdown, HTML, .docx, .odt or .epub; refused if no text."""
    ending = Path(path).suffix.lower()
    if ending in PACKED_ENDINGS:
        return read_packed(path)
    text = decode(read_bytes(path), path, declared=ending in _PAGES)
    if ending in _PAGES:
        return html_document(text)
    return markdown_document(text) if ending in _MARKDOWN else plain_document(text)


def read_text(path: str) -> str:
    """What is to be read in a file: its paragraphs, without headings, running heads and page numbers."""
    return read_document(path).text


def read_item(path: str) -> Item:
    """The item of a file: its title from front matter, first heading or name, and who wrote it."""
    try:
        document = read_document(path)
    except FileError:  # what is wrong with it is told when it is measured
        return Item(path, title=shown(strip_number(Path(path).stem)), path=path)
    details = {name: shown(value) for name, value in document.fields.items() if name not in _HELD}
    title = document.heading or strip_number(Path(path).stem)
    return Item(path, shown(title), path, shown(document.author), MappingProxyType(details))


def strip_number(name: str) -> str:
    """The name of a file without the number in front of it, which says where it stood and not what it is.

    >>> strip_number("03 - The storm"), strip_number("12_night"), strip_number("1984 again"), strip_number("2 boys")
    ('The storm', 'night', '1984 again', '2 boys')
    """
    return _NUMBERED.sub("", name) or name


def document_of(item: Item) -> Document | None:
    """What an item says: the text it holds, as Markdown, or its file; None where it has neither."""
    held = next((item.details[name] for name in _HELD if isinstance(item.details.get(name), str)), None)
    if held is not None:
        return markdown_document(held)
    if not item.path or Path(item.path).suffix.lower() not in TEXT_ENDINGS:
        return None
    try:
        return read_document(item.path)
    except FileError:
        return None


def text_of(item: Item) -> str:
    """What is to be read in an item; empty where there is nothing.

    >>> text_of(Item("a", details={"text": "It *rained*."})), text_of(Item("b"))
    ('It rained.', '')
    """
    document = document_of(item)
    return "" if document is None else document.text


# Excerpts of texts: how one begins and how it ends, to be read beside each other.

MOST = 420  # characters of an excerpt
_WORD = re.compile(r"\s+")
_STOP = re.compile(r"[.!?…。！？][\"'”’»)\]」』]*(?=\s|$)")


def ends_of(item: Item) -> tuple[str, str] | None:
    """The first lines of a text and its last, each a few sentences; None where there is no text.

    >>> ends_of(Item("a", details={"text": "It rained. Then it stopped."}))
    ('It rained. Then it stopped.', 'It rained. Then it stopped.')
    """
    text = text_of(item).strip()
    return (opening(text), close(text)) if text else None


def opening(text: str, most: int = MOST) -> str:
    """The beginning of a text: whole sentences where that is possible, else whole words.

    >>> opening("It rained. Nobody minded at all.", 20), opening("a b c d", 5)
    ('It rained. …', 'a b …')
    """
    if len(text) <= most:
        return text
    start = text[:most]
    stops = [stop.end() for stop in _STOP.finditer(start)]
    words = max((space.start() for space in _WORD.finditer(start)), default=most)
    cut = stops[-1] if stops and stops[-1] >= most // 3 else words
    return start[:cut].rstrip() + " …"


def close(text: str, most: int = MOST) -> str:
    """The end of a text: whole sentences where that is possible, else whole words.

    >>> close("It rained for a day. Nobody minded.", 20)
    '… Nobody minded.'
    """
    if len(text) <= most:
        return text
    end = text[-most:]
    stops = [stop.end() for stop in _STOP.finditer(end)]
    starts = [stop for stop in stops if most // 3 <= most - stop]
    cut = starts[0] if starts else next((space.end() for space in _WORD.finditer(end)), 0)
    return "… " + end[cut:].lstrip()
