"""Contact sheets: every picture of a collection in its order, numbered, as PNG or as PDF."""

from __future__ import annotations

import csv
from base64 import b64encode
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from html import escape
from importlib.resources import files
from io import BytesIO, StringIO
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.files import whole_folder, write_whole
from fabula.errors import FabulaError, FileError, shown
from fabula.media.children import call
from fabula.media.facts import side_name
from fabula.media.images.pdf_pages import PDF, arrange_pages, page_of, render_page
from fabula.media.images.picture_files import image_of, open_picture, pillow
from fabula.media.images.picture_measures import WIDE
from fabula.media.medium import Cover, Layout, column, common_detail

if TYPE_CHECKING:
    from PIL.Image import Image

_CELL, _GAP, _CAPTION = 260, 24, 34  # pixels of a PNG: a picture's box, between boxes, under each
_HEADING = 52  # and of the name of a side
_A4 = (1240, 1754)  # at 150 dots an inch
_ACROSS = 4  # pictures in a row on a page of the PDF
_SMALLEST = 60  # pixels of a picture there
_PAPER, _INK, _SOFT = (250, 249, 247), (34, 34, 34), (120, 120, 120)
_MOST_HIGH = 60000  # pixels: what PNG readers take


def picture_of(item: Item, size: int) -> Image:
    """The picture of an item, its longer side at most ``size`` pixels: of its file, or the page that it is."""
    if PDF in item.details:
        return image_of(call(render_page, str(item.details[PDF]), page_of(item), size))
    if not item.path:
        raise FileError(f"{item.label!r} has no picture that could be shown")
    return open_picture(item.path, size)


def write_sheet(collection: Collection, target: Path, sides: Layout) -> Path:
    """Write a contact sheet as one PNG, with a heading for each side; refused where no viewer would show so many."""
    groups = _groups(collection, sides)
    count = max(1, *(len(group) for _, group in groups))
    across = sides.across or min(count, 4 if count <= 16 else 6 if count <= 60 else 8)
    heights = [-(-len(group) // across) * (_CELL + _CAPTION + _GAP) for _, group in groups]
    high = sum(heights) + _HEADING * len(sides) + _GAP
    if high > _MOST_HIGH:
        raise FileError(f"{shown(target)}: too many pictures for one PNG; write a .pdf, which has pages")
    sheet = pillow().new("RGB", (_GAP + across * (_CELL + _GAP), high), _PAPER)
    top = _GAP
    for (name, group), height in zip(groups, heights, strict=True):
        if name:
            _write(sheet, (_GAP, top), name, 24, _INK)
            top += _HEADING
        _place(sheet, group, (_GAP, top), _CELL, across)
        top += height
    return write_whole(target, _bytes(sheet, "PNG", optimize=False))


def write_pdf(collection: Collection, target: Path, sides: Layout) -> Path:
    """Write the pages of one PDF in their new order, where the pictures are such; else a contact sheet with pages."""
    source = common_detail(collection.items, PDF)
    if source:
        return write_whole(target, call(arrange_pages, source, [page_of(item) for item in collection.items]))
    across = sides.across or _ACROSS
    cell = (_A4[0] - 2 * 70 - (across - 1) * _GAP) // across
    if cell < _SMALLEST:
        raise FileError(f"{across} in a row are too many for a page")
    page_holds, pages = across * max(1, (_A4[1] - 160) // (cell + _CAPTION + _GAP)), []
    for name, group in _groups(collection, sides):
        for start in range(0, len(group), page_holds):
            page = pillow().new("RGB", _A4, _PAPER)
            _write(page, (70, 48), " ".join(filter(None, (collection.title, name))), 24, _INK)
            _place(page, group[start : start + page_holds], (70, 110), cell, across)
            pages.append(page)
    return write_whole(target, _pdf_bytes(pages))


def _groups(collection: Collection, sides: Sequence[int]) -> list[tuple[str, list[tuple[str, Item]]]]:
    """Each side's name, and its pictures with their numbers."""
    letters = [*map(side_name, range(len(sides)))] or [""]
    starts = accumulate(sides or (len(collection),), initial=0)
    return [
        (letter, [(f"{letter}{k}", item) for k, item in enumerate(collection.items[start:end], start=1)])
        for letter, (start, end) in zip(letters, pairwise(starts), strict=True)
    ]


def _place(sheet: Any, group: Sequence[tuple[str, Item]], corner: tuple[int, int], cell: int, across: int) -> None:
    """Pictures in rows, each in the middle of its box, with its number and title under it."""
    most = (cell - 60) // 8  # letters of a title
    for index, (number, item) in enumerate(group):
        row, column = divmod(index, across)
        left, top = corner[0] + column * (cell + _GAP), corner[1] + row * (cell + _CAPTION + _GAP)
        picture = picture_of(item, cell)
        sheet.paste(picture, (left + (cell - picture.width) // 2, top + (cell - picture.height) // 2))
        _write(sheet, (left, top + cell + 8), number, 18, _INK)
        label = item.label if len(item.label) <= most else f"{item.label[: max(1, most - 1)]}…"
        _write(sheet, (left + 14 + 11 * len(number), top + cell + 10), label, 15, _SOFT)


# Fonts of systems, for letters that Pillow's own has not: it has those of English.
_FONTS = ("DejaVuSans.ttf", "Arial.ttf", "Arial Unicode.ttf", "NotoSansCJK-Regular.ttc", "msyh.ttc", "PingFang.ttc")


@cache
def _font(size: int, letters: str) -> tuple[Any, str]:
    """The first font that has most of some letters, and those it lacks."""
    from PIL import ImageFont

    fonts: list[Any] = [ImageFont.load_default(size)]
    for name in _FONTS if letters else ():
        with suppress(OSError):
            fonts.append(ImageFont.truetype(name, size))
    lacks = ["".join(c for c in letters if bytes(one.getmask(c)) == bytes(one.getmask("\U000f1234"))) for one in fonts]
    return min(zip(fonts, lacks, strict=True), key=lambda pair: len(pair[1]))


def _write(sheet: Any, at: tuple[int, int], text: str, size: int, ink: tuple[int, int, int]) -> None:
    from PIL import ImageDraw

    font, lacks = _font(size, "".join(sorted({letter for letter in text if not letter.isascii()})))
    bare = {ord(letter): normalize("NFKD", letter).encode("ascii", "ignore").decode() for letter in lacks}
    ImageDraw.Draw(sheet).text(at, text.translate(bare), fill=ink, font=font)


def _bytes(picture: Image, kind: str, **options: Any) -> bytes:
    content = BytesIO()
    picture.save(content, kind, **options)
    return content.getvalue()


def _pdf_bytes(pages: list[Image]) -> bytes:
    return _bytes(pages[0], "PDF", save_all=True, append_images=pages[1:], resolution=150.0)


# Flip books: the pictures of a collection as one HTML file or as a PDF, two facing pages at a time.

_SIZE = 1200  # pixels of a page's picture in the HTML file
_SPREAD = (2100, 1050)  # pixels of two facing pages of the PDF
_MARGIN = 60


def spreads_of(wide: Iterable[bool | np.bool], sides: Sequence[int] = ()) -> list[tuple[int | None, ...]]:
    """What faces what: the cover alone on the right, then two and two; what is ``wide`` has both pages for itself.

    For each spread (left, right), an index or None for an empty page; (index,) for one over both pages. Each of the
    ``sides``, given by how many items they have, begins on a new right-hand page.

    >>> spreads_of([False, False, False, True, False])
    [(None, 0), (1, 2), (3,), (4, None)]
    """
    starts = set(accumulate(sides[:-1], initial=0))
    found: list[tuple[int | None, ...]] = []
    for index, both in enumerate(wide):
        if both:
            found.append((index,))
        elif index in starts:
            found.append((None, index))
        elif found and found[-1][1:] == (None,):
            found[-1] = (found[-1][0], index)
        else:
            found.append((index, None))
    return found


def write_flip_book(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write a flip book as one HTML file that needs nothing else: arrow keys and taps turn its pages."""
    figures, pages = [], []
    for number, item in enumerate(collection.items, start=1):
        data = b64encode(_bytes(picture_of(item, _SIZE), "JPEG", quality=82)).decode()
        label = escape(item.label)
        figures.append(
            f'<figure><img loading="lazy" alt="{label}" src="data:image/jpeg;base64,{data}">'
            f'<figcaption dir="auto">{number} <span>{label}</span></figcaption></figure>'
        )
    for spread in spreads_of(column(collection, "aspect") >= WIDE, sides):
        cells = "".join(f'<div class="page">{"" if k is None else figures[k]}</div>' for k in spread)
        pages.append(f'<section class="{"both" if len(spread) == 1 else "two"}">{cells}</section>')
    title = escape(collection.title or collection.id)
    page = (files("fabula.media.images") / "book.html").read_text(encoding="utf-8")
    return write_whole(target, page.replace("{title}", title).replace("{pages}", "\n".join(pages)))


def write_book_pdf(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write the facing pages of a book as a PDF, one spread a page."""
    sheets: list[Image] = []
    for spread in spreads_of(column(collection, "aspect") >= WIDE, sides):
        sheets.append(pillow().new("RGB", _SPREAD, _PAPER))
        width, height = _SPREAD[0] // len(spread), _SPREAD[1]
        for side, index in enumerate(spread):
            if index is None:
                continue
            picture = picture_of(collection.items[index], max(_SPREAD))
            scale = min((width - 2 * _MARGIN) / picture.width, (height - 2 * _MARGIN) / picture.height)
            picture = picture.resize((int(picture.width * scale), int(picture.height * scale)))  # small ones grow
            sheets[-1].paste(picture, (side * width + (width - picture.width) // 2, (height - picture.height) // 2))
    return write_whole(target, _pdf_bytes(sheets))


# Galleries: a folder that any web server shows as it is; and lists that layout programs merge.

_SMALL, _LARGE = 560, 1920  # pixels of the height of a row in a gallery, and of the longer side beyond it
_ROW = 12  # rem that a row is high at least, where it has room


def write_gallery(collection: Collection, target: Path, sides: Layout) -> Path:
    """Write a gallery: a folder with one page and the pictures in two sizes, which asks for nothing from elsewhere."""
    across, parts = sides.across, []
    grid = ' class="grid"' if across else ""
    subjects = zip(column(collection, "subject_x"), column(collection, "subject_y"), strict=True)
    focus = dict(zip((item.id for item in collection.items), subjects, strict=True))
    with whole_folder(target) as folder:
        for name, group in _groups(collection, sides):
            figures = [_gallery_figure(folder, number, item, focus[item.id]) for number, item in group]
            parts.append(f"{f'<h2>{escape(name)}</h2>' if name else ''}<div{grid}>\n{chr(10).join(figures)}\n</div>")
        page = (files("fabula.media.images") / "gallery.html").read_text(encoding="utf-8")
        page = page.replace("{across}", str(across or 1))
        page = page.replace("{title}", escape(collection.title or collection.id))
        write_whole(folder / "index.html", page.replace("{pictures}", "\n".join(parts)))
    return target


def _gallery_figure(folder: Path, number: str, item: Item, focus: tuple[float, float]) -> str:
    """Write the two sizes of a picture; what the page shows of it: its subject, where it is cut square."""
    picture, label = picture_of(item, _LARGE), escape(item.label)
    write_whole(folder / f"{number}.jpg", _bytes(picture, "JPEG", quality=86))
    picture.thumbnail((_LARGE, _SMALL))
    write_whole(folder / f"{number}-small.jpg", _bytes(picture, "JPEG", quality=82))
    size = f'width="{picture.width}" height="{picture.height}"'
    at = " ".join(f"{np.clip(0.5 if np.isnan(part) else part, 0, 1):.0%}" for part in focus)
    wide = picture.width / picture.height  # pictures of a row are as high as each other
    return (
        f'<figure style="flex: {100 * wide:.0f} 1 {_ROW * wide:.1f}rem"><a href="{number}.jpg">'
        f'<img loading="lazy" alt="{label}" src="{number}-small.jpg" {size} style="object-position: {at}"></a>'
        f'<figcaption dir="auto">{number} · {label}</figcaption></figure>'
    )


def write_merge(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write a list for the data merge of InDesign: UTF-16 with commas, the file of each picture under ``@image``."""
    text = StringIO()
    rows = csv.writer(text)
    rows.writerow(("number", "title", "photographer", "@image"))
    for _, group in _groups(collection, sides):
        for number, item in group:
            rows.writerow((number, item.label, item.creator, str(Path(item.path).resolve()) if item.path else ""))
    return write_whole(target, b"\xff\xfe" + text.getvalue().encode("utf-16-le", "surrogatepass"))


# Small pictures of pictures, for lists.


def thumbnail(path: str, size: int) -> Cover | None:
    """A picture of at most so many pixels, upright, as JPEG; None where it cannot be read."""
    with suppress(FabulaError):
        return Cover(_bytes(open_picture(path, size), "JPEG", quality=80), "image/jpeg")
    return None
