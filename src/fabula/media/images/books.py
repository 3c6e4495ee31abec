"""Flip books: the pictures of a collection as one HTML file or as a PDF, two facing pages at a time."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.core.collection import Collection, Item
from fabula.core.files.atomic import write_whole
from fabula.media.images.opening import pillow
from fabula.media.images.sheets import picture_of
from fabula.media.images.spreads import WIDE

if TYPE_CHECKING:
    from PIL.Image import Image

_SIZE, _QUALITY = 1200, 82  # of a page's picture in the HTML file, in pixels and as JPEG counts
_SPREAD = (2100, 1050)  # pixels of two facing pages of the PDF
_MARGIN = 60
_PAPER = (250, 249, 247)


def spreads_of(items: Sequence[Item], wide: Sequence[bool], sides: Sequence[int] = ()) -> list[tuple[int | None, ...]]:
    """What faces what: the cover alone on the right, then two and two; what is wide has both pages for itself.

    Parameters
    ----------
    items
        In their order.
    wide
        Which of them take both pages.
    sides
        How many items each part has; a part begins on a new right-hand page. Empty for one.

    Returns
    -------
    For each spread (left, right), an index or None for an empty page; (index,) for one over both pages.

    Examples
    --------
    >>> spreads_of("abcde", [False, False, False, True, False])
    [(None, 0), (1, 2), (3,), (4, None)]
    """
    starts = {sum(sides[:k]) for k in range(len(sides))} if sides else {0}
    found: list[tuple[int | None, ...]] = []
    left: int | None = None
    for index in range(len(items)):
        if left is not None and (wide[index] or index in starts):
            found.append((left, None))
            left = None
        if wide[index]:
            found.append((index,))
        elif index in starts:
            found.append((None, index))
        elif left is None:
            left = index
        else:
            found.append((left, index))
            left = None
    return found if left is None else [*found, (left, None)]


def write_flip_book(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write a flip book as one HTML file that needs nothing else: arrow keys and taps turn its pages.

    Parameters
    ----------
    collection
        In the order to be shown.
    target
        A file that ends in .html.
    sides
        How many pictures each part has; empty for one.
    """
    figures = [_figure(item, number) for number, item in enumerate(collection.items, start=1)]
    pages = []
    for spread in spreads_of(collection.items, _wide(collection), sides):
        cells = "".join(
            '<div class="page"></div>' if k is None else f'<div class="page">{figures[k]}</div>' for k in spread
        )
        pages.append(f'<section class="{"both" if len(spread) == 1 else "two"}">{cells}</section>')
    title = escape(collection.title or collection.id)
    page = (files("fabula.media.images") / "book.html").read_text(encoding="utf-8")
    return write_whole(target, page.replace("{title}", title).replace("{pages}", "\n".join(pages)))


def write_book_pdf(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write the facing pages of a book as a PDF, one spread a page."""
    sheets = [_sheet(collection, spread) for spread in spreads_of(collection.items, _wide(collection), sides)]
    content = BytesIO()
    sheets[0].save(content, "PDF", save_all=True, append_images=sheets[1:], resolution=150.0)
    return write_whole(target, content.getvalue())


def _wide(collection: Collection) -> list[bool]:
    if "aspect" not in collection.feature_names or collection.features.ndim != 2:
        return [False] * len(collection)
    return [bool(aspect >= WIDE) for aspect in collection.column("aspect")]


def _figure(item: Item, number: int) -> str:
    content = BytesIO()
    picture_of(item, _SIZE).save(content, "JPEG", quality=_QUALITY)
    data, label = b64encode(content.getvalue()).decode(), escape(item.label)
    return (
        f'<figure><img loading="lazy" alt="{label}" src="data:image/jpeg;base64,{data}">'
        f'<figcaption dir="auto">{number} <span>{label}</span></figcaption></figure>'
    )


def _sheet(collection: Collection, spread: Sequence[int | None]) -> Image:
    sheet: Image = pillow().new("RGB", _SPREAD, _PAPER)
    width, height = _SPREAD[0] // len(spread), _SPREAD[1]
    for side, index in enumerate(spread):
        if index is None:
            continue
        picture = picture_of(collection.items[index], max(_SPREAD))
        picture.thumbnail((width - 2 * _MARGIN, height - 2 * _MARGIN))
        at = (side * width + (width - picture.width) // 2, (height - picture.height) // 2)
        sheet.paste(picture, at)
    return sheet
