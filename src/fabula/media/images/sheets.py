"""Contact sheets: every picture of a collection in its order, numbered, as PNG or as PDF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.collection import Collection, Item
from fabula.core.files.atomic import write_whole
from fabula.errors import FileError, shown
from fabula.media.images.opening import open_picture, pillow
from fabula.media.images.pages import PAGE, PDF, open_page, source_of, write_pages

if TYPE_CHECKING:
    from PIL.Image import Image

_CELL, _GAP, _CAPTION = 260, 24, 34  # pixels of a PNG: a picture's box, between boxes, under each
_A4 = (1240, 1754)  # at 150 dots an inch
_ACROSS, _DOWN = 4, 5  # pictures on a page of the PDF
_PAPER, _INK, _SOFT = (250, 249, 247), (34, 34, 34), (120, 120, 120)
_MOST_HIGH = 60000  # pixels: what PNG readers take


def picture_of(item: Item, size: int) -> Image:
    """The picture of an item, its longer side at most ``size`` pixels: of its file, or the page that it is."""
    if PDF in item.details:
        return open_page(str(item.details[PDF]), int(item.details[PAGE]), size)
    if not item.path:
        raise FileError(f"{item.label!r} has no picture that could be shown")
    return open_picture(item.path, size)


def write_sheet(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write a contact sheet as one PNG, with a heading for each side.

    Parameters
    ----------
    collection
        In the order to be shown.
    target
        A file that ends in .png.
    sides
        How many pictures each side has; empty for one.

    Raises
    ------
    FileError
        When there are so many that no viewer would show it.
    """
    groups = _groups(collection, sides)
    across = _columns(max(len(group) for _, group in groups))
    high = sum(_heading(name) + -(-len(group) // across) * (_CELL + _CAPTION + _GAP) for name, group in groups) + _GAP
    if high > _MOST_HIGH:
        raise FileError(f"{shown(target)}: too many pictures for one PNG; write a .pdf, which has pages")
    sheet = pillow().new("RGB", (_GAP + across * (_CELL + _GAP), high), _PAPER)
    top = _GAP
    for name, group in groups:
        if name:
            _write(sheet, (_GAP, top), name, 24, _INK)
            top += _heading(name)
        for index, (number, item) in enumerate(group):
            row, column = divmod(index, across)
            at = (_GAP + column * (_CELL + _GAP), top + row * (_CELL + _CAPTION + _GAP))
            _place(sheet, item, number, at, _CELL)
        top += -(-len(group) // across) * (_CELL + _CAPTION + _GAP)
    return write_whole(target, _bytes(sheet, "PNG"))


def write_pdf(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write the pages of one PDF in their new order, where the pictures are such; else a contact sheet with pages."""
    if source_of(collection.items) is not None:
        return write_pages(collection.items, target)
    pages = list(_pages(collection, sides))
    content = BytesIO()
    pages[0].save(content, "PDF", save_all=True, append_images=pages[1:], resolution=150.0)
    return write_whole(target, content.getvalue())


def _pages(collection: Collection, sides: Sequence[int]) -> Iterator[Image]:
    cell = (_A4[0] - 2 * 70 - (_ACROSS - 1) * _GAP) // _ACROSS
    for name, group in _groups(collection, sides):
        for start in range(0, len(group), _ACROSS * _DOWN):
            page = pillow().new("RGB", _A4, _PAPER)
            _write(page, (70, 48), " ".join(filter(None, (collection.title, name))), 24, _INK)
            for index, (number, item) in enumerate(group[start : start + _ACROSS * _DOWN]):
                row, column = divmod(index, _ACROSS)
                _place(page, item, number, (70 + column * (cell + _GAP), 110 + row * (cell + _CAPTION + _GAP)), cell)
            yield page


def _groups(collection: Collection, sides: Sequence[int]) -> list[tuple[str, list[tuple[str, Item]]]]:
    """Each side's name, and its pictures with their numbers."""
    if not sides:
        return [("", [(str(k), item) for k, item in enumerate(collection.items, start=1)])]
    starts = list(accumulate(sides, initial=0))
    return [
        (f"{letter}", [(f"{letter}{k}", item) for k, item in enumerate(collection.items[start:end], start=1)])
        for letter, start, end in zip(_letters(len(sides)), starts, starts[1:], strict=False)
    ]


def _letters(count: int) -> list[str]:
    return [
        chr(ord("A") + k) if k < 26 else f"{chr(ord('A') + k // 26 - 1)}{chr(ord('A') + k % 26)}" for k in range(count)
    ]


def _columns(count: int) -> int:
    return min(max(1, count), 4 if count <= 16 else 6 if count <= 60 else 8)


def _heading(name: str) -> int:
    return 52 if name else 0


def _place(sheet: Any, item: Item, number: str, at: tuple[int, int], cell: int) -> None:
    """A picture in the middle of its box, with its number and title under it."""
    picture = picture_of(item, cell)
    left, top = at
    sheet.paste(picture, (left + (cell - picture.width) // 2, top + (cell - picture.height) // 2))
    _write(sheet, (left, top + cell + 8), number, 18, _INK)
    _write(sheet, (left + 14 + 11 * len(number), top + cell + 10), _cut(item.label, (cell - 60) // 8), 15, _SOFT)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(1, most - 1)]}…"


def _write(sheet: Any, at: tuple[int, int], text: str, size: int, ink: tuple[int, int, int]) -> None:
    from PIL import ImageDraw, ImageFont

    ImageDraw.Draw(sheet).text(at, text, fill=ink, font=ImageFont.load_default(size))


def _bytes(picture: Image, kind: str) -> bytes:
    content = BytesIO()
    picture.save(content, kind, optimize=False)
    return content.getvalue()
