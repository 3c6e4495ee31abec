"""Files of text as items: which endings, what they are called, and what is to be read in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fabula.core.collection import Collection, Item, fold
from fabula.core.display import name_some
from fabula.errors import FileError, shown
from fabula.media.children import call, load, shield
from fabula.media.facts import Fact
from fabula.media.medium import read_words
from fabula.media.text.documents import Document, decode, html_document, markdown_document, plain_document, read_bytes
from fabula.media.text.heads import date_of, number_of, viewpoints
from fabula.media.text.packed import PACKED_ENDINGS, read_packed

_MARKDOWN = frozenset((".md", ".markdown"))
_PAGES = frozenset((".html", ".htm", ".xhtml"))
_MOST_TAGS = 500_000  # of one page
WHOLE_ENDINGS = frozenset((".pptx", ".rtf", ".scriv"))  # of files that are no lines
_OTHER = frozenset((".fountain", ".rst", ".srt", ".tex", *WHOLE_ENDINGS))
TEXT_ENDINGS = frozenset((".txt", ".text", *_MARKDOWN, *_PAGES, *PACKED_ENDINGS, *_OTHER))
_COMPANIONS = ".jpg .jpeg .png .gif .webp .svg .bmp .css .js .bib .json .yaml .yml .toml .db .ini"
COMPANION_ENDINGS = frozenset(_COMPANIONS.split())

_NUMBERED = re.compile(r"^(?:\d{1,4}\s*[-._)]+\s*|\d{2,3}\s+)(?=\S*[^\W\d_])")
ENCODING = "encoding"  # the detail that says which encoding a file was taken to be in, where only its letters did
TEXT = "text"  # the detail of an item that holds its text itself
MANUSCRIPT = "manuscript"  # the detail of an item that names the file it is a part of
POV = "pov"  # the detail that says who tells
_DATE_LINE = 80  # characters of a first line that may be a date
_HELD = (TEXT, "body", "content", "passage", "story", "poem")  # the same, as tables call it


def read_document(path: str) -> Document:
    """What a file says, by its ending; refused if it is no text."""
    document: Document = _apart(path)(parse, path)
    return document


def is_packed(path: str) -> bool:
    """Whether a file is one that holds others, which are unpacked and parsed: in a child."""
    return Path(path).suffix.lower() in PACKED_ENDINGS | WHOLE_ENDINGS


def _apart(path: str) -> Callable[..., Any]:
    return call if is_packed(path) else shield


def parse(path: str) -> Document:
    """The same, in this process."""
    ending = Path(path).suffix.lower()
    if ending in PACKED_ENDINGS:
        return read_packed(path)
    if ending in _OTHER:
        document: Document = load("fabula.media.text.formats:read_other")(path)
        return document
    data = read_bytes(path)
    if ending in _PAGES and data.count(b"<") > _MOST_TAGS:
        raise FileError(f"{shown(path)}: has more than {_MOST_TAGS:,} tags, too many for one text; cut it into parts")
    text, encoding = decode(data, path, declared=ending in _PAGES)
    if ending in _PAGES:
        return replace(html_document(text), encoding=encoding)
    return replace((markdown_document if ending in _MARKDOWN else plain_document)(text), encoding=encoding)


def read_item(path: str) -> Item:
    """The item of a file: its title from front matter, first heading or name, and who wrote it."""
    try:
        item: Item = _apart(path)(_item_of, path)
    except FileError:  # what is wrong with it is told when it is measured
        return Item(path, title=shown(strip_number(Path(path).stem)), path=path)
    return item


def _item_of(path: str) -> Item:
    document = parse(path)
    said = say_heads(document.heading, document, Path(path).stem)
    details = said | {name: shown(value) for name, value in document.fields.items() if name not in _HELD}
    details |= {ENCODING: document.encoding} if document.encoding else {}
    title = document.heading or strip_number(Path(path).stem)
    return Item(path, shown(title), path, shown(document.author), MappingProxyType(details))


def say_heads(title: str, document: Document, name: str = "") -> dict[str, str]:
    """The number and the date that a text is given by its title, the name of its file or its first line, as details.

    >>> say_heads("Chapter 7", markdown_document("17 May 2024\\n\\nIt rained."))
    {'number': '7', 'date': '2024-05-17'}
    """
    number = next((one for one in map(number_of, (title, name)) if one is not None), None)
    first = next((block.text for block in document.blocks if not block.level), "")
    dated = next(filter(None, map(date_of, (name, title, first if len(first) <= _DATE_LINE else ""))), "")
    return ({"number": str(number)} if number is not None else {}) | ({"date": dated} if dated else {})


def add_viewpoints(collection: Collection) -> Collection:
    """The collection with the detail ``pov``, where its titles say from whose point of view its texts are told."""
    if not any(item.path or MANUSCRIPT in item.details for item in collection.items):  # rows say what they say
        return collection
    names = viewpoints([item.title for item in collection.items])
    if not any(names) or any(POV in item.details for item in collection.items):
        return collection
    pairs = zip(collection.items, names, strict=True)
    items = (replace(item, details={**item.details, POV: name}) if name else item for item, name in pairs)
    return replace(collection, items=tuple(items))


def text_facts(collection: Collection) -> tuple[Fact, ...]:
    """What headings, names and front matter say of each text."""
    hidden = {*_HELD, MANUSCRIPT, ENCODING}
    names = [name for name in collection.detail_names if name not in hidden]
    said = [(name, tuple(str(item.details.get(name, "")) for item in collection.items)) for name in names]
    return tuple(Fact(name, texts) for name, texts in said if max(map(len, texts)) <= _DATE_LINE)


def text_doubts(collection: Collection) -> tuple[str, ...]:
    """Which texts were taken to be in encodings that only their letters told, and what their heads say."""
    found: dict[str, list[str]] = {}
    for item in collection.items:
        if ENCODING in item.details:
            found.setdefault(str(item.details[ENCODING]), []).append(item.label)
    return (*(tell_encoding(encoding, labels) for encoding, labels in found.items()), *tell_heads(collection))


def tell_heads(collection: Collection) -> list[str]:
    """A line on the columns that headings, names and front matter give; nothing goes by them unless it is asked to."""
    told = []
    for name, key in (("number", float), ("date", str), (POV, str)):
        known = {str(item.details[name]) for item in add_viewpoints(collection).items if name in item.details}
        if len(known) > 1:
            with suppress(ValueError):
                some = sorted(known, key=key)
                told.append(f"{name} ({name_some(some) if name == POV else f'{some[0]} to {some[-1]}'})")
    return [f"headings and names say {', '.join(told)}: used only where you ask for it"] if told else []


def tell_encoding(encoding: str, labels: Sequence[str]) -> str:
    """A line on texts that were taken to be in an encoding.

    >>> tell_encoding("koi8-r", ["Rain", "Snow"])
    'read as KOI8-R text, by its letters: Rain, Snow'
    """
    return f"read as {encoding.upper()} text, by its letters: {name_some(labels)}"


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


# Front and back matter: what is known by its title to stand before or behind the text, in the languages that are read.

_OF_VERSE = {
    "half title", "title page", "copyright", "contents", "list of figures", "bibliography", "about the author", "index",
    "colophon",
}  # fmt: skip


@cache
def _ranks() -> dict[str, tuple[int, int, bool]]:
    """Of each title its side, -1 or 1, its rank there, and whether it counts where all is verse."""
    told = read_words("fabula.media.text")["matter"]
    found = dict[str, tuple[int, int, bool]]()
    for side, key in ((-1, "front"), (1, "back")):
        for rank, row in enumerate(told[key]):
            names = row.split("; ")
            found |= dict.fromkeys(names, (side, rank, not _OF_VERSE.isdisjoint(names)))
    return found


def matter_rank(title: str) -> tuple[int, int, bool] | None:
    """The same of a title that is one of the names, alone or before a mark ("Epilogue: At Sea"); else None."""
    start = re.split(r"\s*(?:[.:;,–—(\[]|--|\s-\s)\s*", fold(title), maxsplit=1)[0]
    return _ranks().get(" ".join(re.sub(r"[^\w\s]", " ", start).split()))


def matter_of(collection: Collection) -> tuple[list[int], list[int]]:
    """Items that by their titles belong to the front and to the back of a book, each in the order of books.

    A title counts where it is one of the names, alone or before a mark ("Epilogue: At Sea"), and no other item has
    one of the same kind: books in parts have several prologues, which may stand anywhere. Of verse title page,
    contents, index and their like count alone: a poem may be called Epilogue.

    >>> titles = ["One", "Epilogue", "Contents", "Title Page", "Two", "Index."]
    >>> matter_of(Collection("c", [Item(str(k), title) for k, title in enumerate(titles)]))
    ([3, 2], [1, 5])
    """
    found: dict[tuple[int, int, bool], list[int]] = {}
    for number, item in enumerate(collection.items):
        title = strip_number(item.label.rpartition(".")[0] if item.label == Path(item.path).name else item.label)
        if (rank := matter_rank(title)) is not None:
            found.setdefault(rank, []).append(number)
    alone = sorted((kind, numbers[0]) for kind, numbers in found.items() if len(numbers) == 1)
    short = []  # whether items, of those that say something, are written in short lines
    for item in collection.items[:: max(1, len(collection) // 12)] if alone else ():
        words = sorted(len(line.split()) for line in text_of(item).splitlines() if line.strip())
        if len(words) >= 4:
            short.append(words[len(words) * 9 // 10] <= 14)
    verse = sum(short) * 2 > len(short)
    front, back = (
        [number for (at, _, counts), number in alone if at == side and (counts or not verse)] for side in (-1, 1)
    )
    return front, back
