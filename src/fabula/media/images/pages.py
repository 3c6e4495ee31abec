"""Pages of a PDF as pictures: a deck of slides or a book cut into its pages, and written again in another order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.collection import Item
from fabula.core.files.atomic import write_whole
from fabula.errors import FileError, import_extra, shown

if TYPE_CHECKING:
    from PIL.Image import Image

PDF, PAGE = "pdf", "page"  # details of an item that is a page: the file, and which page, counted from 1


def rendered(path: str, size: int, most: int) -> Iterator[Image]:
    """Each page of a PDF as a picture, one at a time, the longer side of ``size`` pixels.

    Raises
    ------
    FileError
        When it cannot be read, or has more than ``most`` pages.
    """
    with _document(path) as document:
        if len(document) > most:
            raise FileError(f"{shown(path)}: has {len(document)} pages; at most {most} can be ordered")
        yield from (_rendered(document[k], size) for k in range(len(document)))


def open_page(path: str, page: int, size: int) -> Image:
    """One page as a picture, its longer side of ``size`` pixels; pages count from 1."""
    with _document(path) as document:
        return _rendered(document[page - 1], size)


def source_of(items: Sequence[Item]) -> str | None:
    """The PDF that all items are pages of; None where they are not."""
    files = {str(item.details.get(PDF, "")) for item in items}
    return files.pop() if len(files) == 1 and files != {""} else None


def write_pages(items: Sequence[Item], target: Path) -> Path:
    """Write the pages of a PDF in a new order; the PDF they come from stays as it is."""
    source = source_of(items)
    if source is None:
        raise FileError(f"{shown(target)}: the items are not pages of one PDF")
    pdfium = _pdfium()
    with _document(source) as document:
        made = pdfium.PdfDocument.new()
        try:
            made.import_pages(document, [int(item.details[PAGE]) - 1 for item in items])
            content = BytesIO()
            made.save(content)
        finally:
            made.close()
    return write_whole(target, content.getvalue())


def _pdfium() -> Any:
    return import_extra("pypdfium2", extra="pdf", purpose="reading pages of a PDF")


@contextmanager
def _document(path: str) -> Iterator[Any]:
    pdfium = _pdfium()
    try:
        document = pdfium.PdfDocument(Path(path))
    except (pdfium.PdfiumError, OSError) as error:
        raise FileError(f"{shown(path)}: is no PDF that can be read ({shown(str(error))})") from error
    try:
        yield document
    except pdfium.PdfiumError as error:
        raise FileError(f"{shown(path)}: a page cannot be read ({shown(str(error))})") from error
    finally:
        document.close()


def _rendered(page: Any, size: int) -> Image:
    """A page as a picture, never larger than asked for, whatever size the page claims."""
    width, height = page.get_size()
    scale = size / max(width, height, 1.0)
    picture: Image = page.render(scale=scale).to_pil().convert("RGB")
    picture.thumbnail((size, size))
    return picture
