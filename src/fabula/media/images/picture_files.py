"""Opening pictures: upright, in RGB, decoded no larger than needed, with one line for whatever is wrong with a file."""

from __future__ import annotations

import os
import re
import stat
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Item
from fabula.core.files import open_file, write_whole
from fabula.errors import FileError, import_extra, shown
from fabula.media.children import call

if TYPE_CHECKING:
    from PIL.Image import Image

PURPOSE = "reading pictures"
MOST_PIXELS = 400_000_000  # a picture that claims more is refused before it is decoded: 20,000 by 20,000
MOST_DECODED = 120_000_000  # pixels in memory at a time: about 500 MB, twice that where some are transparent
_LARGE = 50_000_000  # pixels from which a picture is made smaller before it is made plain
# What Pillow may take a file for, whatever it is called: never what is handed to another program, as PostScript is.
FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "TIFF", "GIF", "BMP", "DIB", "AVIF", "JPEG2000", "HEIF")
_HEIF = frozenset((".heic", ".heif", ".hif"))
_RAW = """
    .cr2 .cr3 .crw .nef .nrw .arw .dng .orf .rw2 .raf .pef .srw .x3f .iiq .3fr
"""
RAW_ENDINGS = frozenset(_RAW.split())
_PAGE = 2048  # pixels of the first page of a PDF, which stands for it in a folder
_ROWS = 64  # of a picture of more than 8 bits, made plain at a time
_BACKGROUND = 255  # what shows through a transparent picture


def pillow() -> Any:
    """The library that decodes pictures, or one line that says how to install it."""
    module: Any = import_extra("PIL.Image", extra="images", purpose=PURPOSE)
    module.MAX_IMAGE_PIXELS = None  # we count ourselves, and say it in our words
    return module


def open_picture(path: str | os.PathLike[str], size: int) -> Image:
    """A picture as RGB, turned upright, its longer side at most ``size`` pixels; what is transparent is white.

    Of an animation the first frame, of a camera's raw file the preview inside it. A FileError, one line, where it is
    no picture, is broken or claims to be huge.
    """
    return _image(call(decode_picture, os.fspath(path), size))


def _image(pixels: NDArray[np.uint8]) -> Image:
    picture: Image = pillow().fromarray(pixels)
    return picture


def decode_picture(name: str, size: int) -> NDArray[np.uint8]:
    """The pixels of :func:`open_picture`, shape (height, width, 3): what a child is asked for."""
    with _readable(name), _open_picture(name) as picture:
        _check_size(name, picture.size)
        picture.draft("RGB", (size, size))  # JPEG: decoded at a half, a quarter or an eighth
        _check_size(name, picture.size, MOST_DECODED)
        if getattr(picture, "n_frames", 1) > 1:
            picture.seek(0)
        upright = _plain(picture, size)
        upright.thumbnail((size, size), pillow().Resampling.BOX, reducing_gap=2.0)
        return np.asarray(upright)


@contextmanager
def _open_picture(name: str) -> Iterator[Image]:
    module = pillow()
    ending = Path(name).suffix.lower()
    if ending in RAW_ENDINGS:
        with module.open(_raw_preview(name), formats=_formats()) as preview:
            yield preview
        return
    if ending == ".pdf":
        yield _image(render_page(name, 1, _PAGE))
        return
    if ending in _HEIF:
        import_extra("pillow_heif", extra="images", purpose="reading HEIC pictures").register_heif_opener()
    with open_file(name) as file, module.open(file, formats=_formats()) as picture:
        yield picture


def _formats() -> tuple[str, ...]:
    """Those of the formats that can be read as things are installed."""
    module = pillow()
    module.init()
    return tuple(name for name in FORMATS if name in module.OPEN)


def _raw_preview(name: str) -> Any:
    """The JPEG inside a camera's raw file, as a file in memory."""
    rawpy = import_extra("rawpy", extra="raw", purpose="reading the preview in a camera's raw file")
    try:
        with open_file(name) as file, rawpy.imread(file) as raw:
            thumb = raw.extract_thumb()
    except rawpy.LibRawError as error:
        raise FileError(f"{shown(name)}: has no preview that can be read ({shown(str(error))})") from error
    if thumb.format == rawpy.ThumbFormat.JPEG:
        return BytesIO(thumb.data)
    kept = BytesIO()
    pillow().fromarray(thumb.data).save(kept, "PNG")
    kept.seek(0)
    return kept


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """One line for whatever a broken picture does to the library that decodes it."""
    pillow()
    from PIL import UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd metadata, which nobody asked for
            yield
    except (FileError, ImportError):
        raise
    except UnidentifiedImageError as error:
        raise FileError(f"{shown(name)}: is no picture that can be read") from error
    except MemoryError as error:
        raise FileError(f"{shown(name)}: is too large to be decoded") from error
    except OSError as error:
        raise FileError(f"{shown(name)}: cannot be read ({error.strerror or shown(str(error))})") from error
    except Exception as error:  # decoders raise SyntaxError, struct.error, ValueError and others for broken files
        raise FileError(f"{shown(name)}: is broken ({shown(str(error)) or type(error).__name__})") from error


def _check_size(name: str, size: tuple[int, int], most: int = MOST_PIXELS) -> None:
    width, height = size
    if width * height > most:
        raise FileError(f"{shown(name)}: claims {width} x {height} pixels; at most {most:,} are decoded")


def _orientation(picture: Image) -> int:
    """EXIF's way of saying how a picture is turned: 1 to 8."""
    try:
        value = picture.getexif().get(0x0112, 1)
    except Exception:  # broken metadata turn nothing
        return 1
    return int(value) if isinstance(value, int) and 1 <= value <= 8 else 1


# By what a picture is turned upright, from EXIF's 2 on.
_TURNS = ("FLIP_LEFT_RIGHT", "ROTATE_180", "FLIP_TOP_BOTTOM", "TRANSPOSE", "ROTATE_270", "TRANSVERSE", "ROTATE_90")


def _plain(picture: Image, size: int) -> Image:
    """The picture upright in RGB; transparent parts are white, 16 bits are brought to 8."""
    turned = _orientation(picture)
    width, height = picture.size
    if width * height > _LARGE and picture.mode in ("L", "LA", "RGB", "RGBA", "CMYK"):
        picture = picture.reduce(max(1, max(width, height) // (4 * size)))
    plain = _rgb(picture)
    return plain if turned == 1 else plain.transpose(getattr(pillow().Transpose, _TURNS[turned - 2]))


def _rgb(picture: Image) -> Image:
    module = pillow()
    if picture.mode.startswith("I") or picture.mode == "F":  # Pillow would cut 16 bits off at 255
        width, height = picture.size
        rows = [(0, top, width, min(top + _ROWS, height)) for top in range(0, height, _ROWS)]
        most = 65535.0
        if picture.mode == "F":
            most = max(1.0, *(float(np.nanmax(np.asarray(picture.crop(part)), initial=1.0)) for part in rows))
        eight = np.empty((height, width), dtype=np.uint8)
        for part in rows:  # some rows at a time: numbers of 8 bytes are large
            values = np.asarray(picture.crop(part), dtype=np.float64)
            eight[part[1] : part[3]] = np.clip(np.nan_to_num(values) * (255.0 / most), 0, 255)
        return module.fromarray(eight).convert("RGB")  # type: ignore[no-any-return]
    if picture.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in picture.info:
        seen = picture.convert("RGBA")
        ground = module.new("RGBA", seen.size, (_BACKGROUND,) * 3 + (255,))
        return module.alpha_composite(ground, seen).convert("RGB")  # type: ignore[no-any-return]
    return picture.convert("RGB")


# XMP: what a sidecar, or a packet in a picture, says of it; and sidecars that say where it stands.

_MOST = 1 << 20  # bytes of a packet that is read
_DC, _XMP = "{http://purl.org/dc/elements/1.1/}", "{http://ns.adobe.com/xap/1.0/}"
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_FABULA = "https://fabula.invalid/ns/1.0/"
_OURS = "fabula:position"


def sidecar_of(path: str | Path) -> bytes | None:
    """What lies in the sidecar of a picture (``a.xmp`` or ``a.jpg.xmp``); None where there is none, or too much."""
    file = Path(path)
    for beside in (file.with_suffix(".xmp"), file.with_name(file.name + ".xmp")):
        with suppress(OSError, ValueError), open_file(beside) as opened:
            status = os.fstat(opened.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size <= _MOST:
                return opened.read(_MOST)
    return None


def read_packet(packet: bytes | str) -> dict[str, Any]:
    """Title, artist and rating of an XMP packet, as far as it says them; nothing of one that is broken.

    >>> read_packet(sidecar_text((3, 12), None, rating=4))
    {'rating': 4}
    """
    text = packet.decode("utf-8", "replace") if isinstance(packet, bytes) else packet
    if len(text) > _MOST or re.search(r"<!(DOCTYPE|ENTITY)", text):  # nothing honest needs them here
        return {}
    try:
        root = ET.fromstring(text.strip().strip("\0\ufeff"))
    except (ET.ParseError, ValueError):
        return {}
    found: dict[str, Any] = {}
    for name, tag in (("title", f"{_DC}title"), ("artist", f"{_DC}creator")):
        first = next(root.iter(tag), None)  # one look: they may stand within each other
        node = None if first is None else next(first.iter(f"{_RDF}li"), None)
        if node is not None and (node.text or "").strip():
            found[name] = " ".join(str(node.text).split())
    rating = _rating(root)
    return found | ({} if rating is None else {"rating": rating})


def _rating(root: ET.Element) -> int | None:
    values = [node.get(f"{_XMP}Rating") for node in root.iter(f"{_RDF}Description")]
    values += [node.text for node in root.iter(f"{_XMP}Rating")]
    numbers = [int(value) for value in values if value and re.fullmatch(r"\s*[0-5]\s*", value)]
    return numbers[0] if numbers else None


def sidecar_text(number: tuple[int, int], side: tuple[int, int] | None, *, rating: int | None = None) -> str:
    """An XMP packet that says where a picture stands."""
    parts = [f'{_OURS}="{number[0]}"', f'fabula:of="{number[1]}"']
    parts += [] if side is None else [f'fabula:side="{side[0]}"', f'fabula:sides="{side[1]}"']
    parts += [] if rating is None else [f'xmp:Rating="{rating}"']
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:fabula="{escape(_FABULA)}" '
        f"{' '.join(parts)}/></rdf:RDF></x:xmpmeta>\n"
    )


def sidecar_path(path: Path) -> Path:
    """The sidecar that says where a picture stands; a FileError where one that says something else is there already.

    The picture itself is never written.
    """
    target = path.with_name(path.name + ".xmp")
    if target.exists() and _OURS not in target.read_text(encoding="utf-8", errors="replace"):
        raise FileError(f"{shown(target)}: is there already, and is not ours to replace")
    return target


def write_numbers(path: Path, number: tuple[int, int], side: tuple[int, int] | None) -> None:
    """Write the number of a position, and of a side where there are several, into a sidecar beside a picture."""
    write_whole(sidecar_path(path), sidecar_text(number, side))


# Files of pictures as items: which endings, what EXIF and XMP say of them. Nothing is decoded.

_ENDINGS = """
    .jpg .jpeg .jpe .jfif .png .webp .tif .tiff .gif .bmp .avif .jp2 .heic .heif .hif
"""
PICTURE_ENDINGS = frozenset(_ENDINGS.split()) | RAW_ENDINGS
_COMPANIONS = """
    .xmp .thm .pp3 .dop .on1 .cos .txt .md .csv .json .xml .html .ini .db .mov .mp4 .aae .lrcat .url
"""
COMPANION_ENDINGS = frozenset(_COMPANIONS.split())

_DESCRIPTION, _ARTIST, _TAKEN, _DIGITIZED, _DETAILS, _RATING = 0x010E, 0x013B, 0x9003, 0x9004, 0x8769, 0x4746
_CAMERA = re.compile(r"^(OLYMPUS|SONY|MINOLTA|KONICA|DCIM|DSC|IMG|Screenshot|ASCII)\b.*", re.IGNORECASE)


def read_item(path: str) -> Item:
    """The item of a picture: its title, who made it, when it was taken and how it is rated, as far as the file says.

    ``details`` has ``captured`` (seconds since 1970, local time) and ``rating`` (0 to 5). What a sidecar beside the
    file says wins over what is in the file.
    """
    try:
        item: Item = call(_item_of, path)
    except FileError:  # told when it is measured
        return Item(path, title=shown(Path(path).stem), path=path)
    return item


def _item_of(path: str) -> Item:
    said: dict[str, Any] = {}
    with suppress(Exception), open_file(path) as file, pillow().open(file, formats=_formats()) as picture:
        said |= _exif(picture)
        packet = picture.info.get("xmp") or picture.info.get("XML:com.adobe.xmp")
        said |= read_packet(packet) if packet else {}
    beside = sidecar_of(path)
    said |= read_packet(beside) if beside else {}
    title, artist = (shown(str(said.pop(name, ""))) for name in ("title", "artist"))
    return Item(path, title=title or shown(Path(path).stem), path=path, artist=artist, details=MappingProxyType(said))


def _exif(picture: Any) -> dict[str, Any]:
    """What EXIF says: title, artist, captured, rating."""
    exif = picture.getexif()
    inner: Mapping[int, Any] = exif.get_ifd(_DETAILS)
    found: dict[str, Any] = {}
    title, artist = _text(exif.get(_DESCRIPTION)), _text(exif.get(_ARTIST))
    if title and not _CAMERA.match(title):
        found["title"] = title
    if artist:
        found["artist"] = artist
    moments = (_moment(_text(inner.get(tag))) for tag in (_TAKEN, _DIGITIZED))
    when = next((one for one in moments if one is not None), None)
    if when is not None:
        found["captured"] = when
    rating = exif.get(_RATING)
    if isinstance(rating, int) and 0 < rating <= 5:
        found["rating"] = rating
    return found


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return " ".join(str(value).replace("\0", " ").split()) if isinstance(value, str) else ""


def _moment(text: str) -> float | None:
    """Seconds since 1970 of ``2024:05:17 18:30:00``; None where it is no moment."""
    try:  # less the local epoch: a clock on a camera, which knows no zone, reads the same everywhere
        return datetime.strptime(text[:19], "%Y:%m:%d %H:%M:%S").timestamp() - datetime(1970, 1, 1).timestamp()
    except ValueError:
        return None


# Pages of a PDF as pictures: a deck of slides or a book cut into its pages, and written again in another order.

PDF, PAGE = "pdf", "page"  # details of an item that is a page: the file, and which page, counted from 1


def render_pages(path: str, size: int, most: int) -> Iterator[tuple[int, Image]]:
    """How many pages a PDF has, refused beyond ``most``, and each as a picture of at most ``size`` pixels a side.

    Where it is asked for in a child.
    """
    with _document(path) as document:
        if len(document) > most:
            raise FileError(f"{shown(path)}: has {len(document)} pages; at most {most} can be ordered")
        yield from ((len(document), _render_page(document[k], size)) for k in range(len(document)))


def open_page(path: str, page: int, size: int) -> Image:
    """One page as a picture, its longer side of ``size`` pixels; pages count from 1."""
    return _image(call(render_page, path, page, size))


def render_page(path: str, page: int, size: int) -> NDArray[np.uint8]:
    """The pixels of :func:`open_page`, shape (height, width, 3): what a child is asked for."""
    with _document(path) as document:
        if not 1 <= page <= len(document):
            raise FileError(f"{shown(path)}: has {len(document)} pages; there is no page {page}")
        return np.asarray(_render_page(document[page - 1], size))


def source_of(items: Sequence[Item]) -> str | None:
    """The PDF that all items are pages of; None where they are not."""
    files = {str(item.details.get(PDF, "")) for item in items}
    return files.pop() if len(files) == 1 and files != {""} else None


def write_pages(items: Sequence[Item], target: Path) -> Path:
    """Write the pages of a PDF in a new order; the PDF they come from stays as it is."""
    source = source_of(items)
    if source is None:
        raise FileError(f"{shown(target)}: the items are not pages of one PDF")
    return write_whole(target, call(arrange_pages, source, [page_of(item) for item in items]))


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
