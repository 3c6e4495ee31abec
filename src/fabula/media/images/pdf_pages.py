"""Pages of a PDF as pictures: a deck of slides or a book cut into its pages, and written again in another order."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from io import SEEK_END, BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Item
from fabula.core.files import open_file
from fabula.errors import FileError, import_extra, shown

if TYPE_CHECKING:
    from PIL.Image import Image

PDF, PAGE = "pdf", "page"  # details of an item that is a page: the file, and which page, counted from 1
# A few bytes may stand for very many: seconds of computing for all pages, and more for each, and for each byte.
_SECONDS, _PER_PAGE, _PER_BYTE = 6.0, 0.1, 1e-6


def render_pages(path: str, size: int, most: int) -> Iterator[tuple[int, Image]]:
    """How many pages a PDF has, refused beyond ``most``, and each as a picture of at most ``size`` pixels a side.

    What a child is asked for. A PDF whose pages take far longer than its size lets expect is refused.
    """
    with _document(path) as document, open_file(path) as file:
        count = len(document)
        if count > most:
            raise FileError(f"{shown(path)}: has {count} pages; at most {most} can be ordered")
        given = _SECONDS + _PER_PAGE * count + _PER_BYTE * file.seek(0, SEEK_END)
        end = time.thread_time() + given
        for number in range(count):
            if time.thread_time() > end:
                raise FileError(f"{shown(path)}: takes more than {given:.0f} s to be drawn ({count} pages)")
            yield count, _render_page(document[number], size)


def render_page(path: str, page: int, size: int) -> NDArray[np.uint8]:
    """One page, counted from 1, its longer side of ``size`` pixels: shape (height, width, 3). For a child to do."""
    with _document(path) as document:
        if not 1 <= page <= len(document):
            raise FileError(f"{shown(path)}: has {len(document)} pages; there is no page {page}")
        return np.asarray(_render_page(document[page - 1], size))


def page_of(item: Item) -> int:
    """Which page of its PDF an item is; a FileError where it does not say."""
    try:
        return int(item.details[PAGE])
    except (KeyError, TypeError, ValueError):
        raise FileError(f"{item.label!r} does not say which page of a PDF it is") from None


def arrange_pages(path: str, pages: list[int]) -> bytes:
    """The bytes of a PDF with the pages of another, counted from 1, in this order: what a child is asked for."""
    with _document(path) as document:
        if not all(1 <= page <= len(document) for page in pages):
            raise FileError(f"{shown(path)}: has {len(document)} pages; others were asked for")
        with closing(_pdfium().PdfDocument.new()) as made:
            made.import_pages(document, [page - 1 for page in pages])
            content = BytesIO()
            made.save(content)
    return content.getvalue()


def _pdfium() -> Any:
    return import_extra("pypdfium2", extra="pdf", purpose="reading pages of a PDF")


@contextmanager
def _document(path: str) -> Iterator[Any]:
    pdfium = _pdfium()
    with ExitStack() as stack:
        try:
            document = pdfium.PdfDocument(stack.enter_context(open_file(path)))
        except (pdfium.PdfiumError, OSError) as error:
            raise FileError(f"{shown(path)}: is no PDF that can be read ({shown(str(error))})") from error
        stack.callback(document.close)
        try:
            yield document
        except pdfium.PdfiumError as error:
            raise FileError(f"{shown(path)}: a page cannot be read ({shown(str(error))})") from error


def _render_page(page: Any, size: int) -> Image:
    """A page as a picture, never larger than asked for, whatever size the page claims."""
    width, height = page.get_size()
    scale = size / max(width, height, 1.0)
    picture: Image = page.render(scale=scale).to_pil().convert("RGB")
    picture.thumbnail((size, size))
    return picture
