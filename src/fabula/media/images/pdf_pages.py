"""Pages of a PDF as pictures: a deck of slides or a book cut into its pages, and written again in another order.

A few bytes of a PDF may stand for very many, and it says so nowhere: what it unpacks to is counted first.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from io import SEEK_END, BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Item
from fabula.core.files import open_file
from fabula.errors import FileError, import_extra, shown

if TYPE_CHECKING:
    from PIL.Image import Image

PDF, PAGE = "pdf", "page"  # details of an item that is a page: the file, and which page, counted from 1


def render_pages(path: str, size: int, most: int) -> Iterator[tuple[int, Image]]:
    """How many pages a PDF has, refused beyond ``most``, and each as a picture of at most ``size`` pixels a side.

    Where it is asked for in a child.
    """
    with _document(path) as document:
        if len(document) > most:
            raise FileError(f"{shown(path)}: has {len(document)} pages; at most {most} can be ordered")
        yield from ((len(document), _render_page(document[k], size)) for k in range(len(document)))


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
        made = _pdfium().PdfDocument.new()
        try:
            made.import_pages(document, [page - 1 for page in pages])
            content = BytesIO()
            made.save(content)
        finally:
            made.close()
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


# What a PDF unpacks to: counted as PDFium writes all that it has found in it anew, without passwords and detours.

# Bytes that it may unpack to: so many, and more for each of its pages, and for each of its bytes.
_MOST, _PER_PAGE, _PER_BYTE = 400_000_000, 30_000_000, 100
_BLOCK = 1 << 15  # bytes unpacked at a time
_TIMES = {  # how many bytes one stands for at most, where that is not counted
    **dict.fromkeys((b"DCTDecode", b"JPXDecode", b"CCITTFaxDecode", b"JBIG2Decode"), 1),  # their size is said
    b"RunLengthDecode": 64,
}
_UNKNOWN = 1000  # of other ways
_STREAM = b">>stream\r\n"
_INNER = re.compile(rb"<<[^<>()]*>>|\((?:\\.|[^\\()])*\)|<[0-9A-Fa-f]*>", re.DOTALL)
_ENTRY = re.compile(rb"/([^\s/\[\]<>]+)\s*(\[[^\]]*\]|/[^\s/\[\]<>]+|[^\s/\[\]<>]+(?: 0 R)?)")
_NAMED = re.compile(rb"(\d+) 0 R")


def check_unpacked(path: str) -> None:
    """Refuse a PDF that unpacks to far more than its pages need, or than it has bytes: what a child is asked for."""
    with _document(path) as document, open_file(path) as file:
        most = _MOST + _PER_PAGE * len(document) + _PER_BYTE * file.seek(0, SEEK_END)
        meter, raw = _Meter(most), _pdfium().raw
        with suppress(_pdfium().PdfiumError):  # what cannot be written is not counted
            document.save(meter, flags=raw.FPDF_NO_INCREMENTAL | raw.FPDF_REMOVE_SECURITY)
        if meter.total() > most:
            told = f"unpacks to more than {most // 10**6:,} MB, too much for {len(document):,} pages"
            raise FileError(f"{shown(path)}: {told}")


class _Meter:
    """A file that PDFium writes to, of which nothing is kept but what each stream unpacks to."""

    def __init__(self, most: int) -> None:
        self._left, self._sizes, self._named = most, dict[bytes, int](), Counter[bytes]()
        self._came, self._due, self._seen = bytearray(), 0, 0  # how much must come before the next look, and where from

    def write(self, data: bytes) -> None:
        """Take some more bytes."""
        self._came += data
        while len(self._came) >= self._due:
            start = self._came.find(_STREAM, self._seen)
            self._seen = start if start >= 0 else max(0, len(self._came) - len(_STREAM))
            if start < 0:
                break
            text, begin = bytes(self._came[:start]), start + len(_STREAM)
            number, _, head = text[text.rfind(b"\n", 0, text.rfind(b" 0 obj\r\n")) + 1 :].partition(b" 0 obj")
            while (outer := _INNER.sub(b" 0 ", head)) != head:
                head = outer
            said = dict(_ENTRY.findall(head))
            self._due = begin + _number(said, b"Length")
            if len(self._came) >= self._due:
                self._sizes[number] = _unpacked_size(said, bytes(self._came[begin : self._due]), self._left)
                self._left = max(0, self._left - self._sizes[number])
                self._named.update(_NAMED.findall(text))
                del self._came[: self._due]
                self._due = self._seen = 0

    def total(self) -> int:
        """The bytes of all streams, each as often as it is named: every page may draw it."""
        self._named.update(_NAMED.findall(self._came))
        return sum(size * max(1, self._named[number]) for number, size in self._sizes.items())


def _number(said: Mapping[bytes, bytes], name: bytes) -> int:
    value = said.get(name, b"")
    return int(value) if value.isdigit() else 0


def _unpacked_size(said: Mapping[bytes, bytes], data: bytes, most: int) -> int:
    """The bytes that a stream unpacks to, counted as far as ``most``; of a picture the pixels that it says it has."""
    ways, pieces = said.get(b"Filter", b""), iter((data,))
    times = _UNKNOWN if _NAMED.search(ways) else 1
    for number, way in enumerate(re.findall(rb"/(\w+)", ways)):
        if way in _UNPACK and (number == 0 or way not in _LETTERS):
            pieces = _UNPACK[way](pieces)
        else:
            times *= _TIMES.get(way, _UNKNOWN)
    size = 0
    for piece in pieces:
        size += times * len(piece)
        if size > most:
            break
    pixels = _number(said, b"Width") * _number(said, b"Height")
    return max(size, pixels * (_number(said, b"BitsPerComponent") or 1) // 8)


def _inflate(pieces: Iterable[bytes]) -> Iterator[bytes]:
    found = zlib.decompressobj()
    with suppress(zlib.error):  # the rest is nothing
        for piece in pieces:
            yield from (found.decompress(piece[at : at + _BLOCK]) for at in range(0, len(piece), _BLOCK))


def _expand(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """What LZW stands for, as TIFF has it."""
    start = [*(bytes((code,)) for code in range(256)), b"", b""]
    table, last, held, bits = start[:], b"", 0, 0
    for byte in chain.from_iterable(pieces):
        held, bits = held << 8 | byte, bits + 8
        width = min(12, (len(table) + 1).bit_length())
        if bits < width:
            continue
        bits -= width
        code, held = held >> bits, held & (1 << bits) - 1
        if code == 257:
            return
        said = table[code] if code < len(table) else last + last[:1]
        if code == 256:
            table = start[:]
        elif last and len(table) < 4096:
            table.append(last + said[:1])
        last = said
        yield said


def _from_85(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        letters = re.sub(rb"[^!-u]", b"", piece.replace(b"z", b"!!!!!"))
        digits = np.frombuffer(letters[: len(letters) // 5 * 5], np.uint8).reshape(-1, 5).astype(np.int64) - 33
        yield (digits @ 85 ** np.arange(4, -1, -1)).astype(">u4").tobytes()


def _from_hex(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        digits = re.sub(rb"[^0-9A-Fa-f]", b"", piece)
        yield bytes.fromhex(digits[: len(digits) // 2 * 2].decode())


_LETTERS = (b"ASCII85Decode", b"ASCIIHexDecode")
_UNPACK: Mapping[bytes, Callable[[Iterable[bytes]], Iterator[bytes]]] = {
    b"FlateDecode": _inflate,
    b"LZWDecode": _expand,
    b"ASCII85Decode": _from_85,
    b"ASCIIHexDecode": _from_hex,
}
