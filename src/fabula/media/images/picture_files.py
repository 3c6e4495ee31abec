"""Opening pictures: upright, in RGB, decoded no larger than needed, with one line for whatever is wrong with a file."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Item
from fabula.core.files import open_file, parse_xml, read_bytes, write_whole
from fabula.errors import FileError, import_extra, shown
from fabula.media.children import call
from fabula.media.facts import side_name
from fabula.media.images.pdf_pages import render_page
from fabula.media.medium import as_moment

if TYPE_CHECKING:
    from PIL.Image import Image

PURPOSE = "reading pictures"
MOST_PIXELS = 400_000_000  # a picture that claims more is refused before it is decoded: 20,000 by 20,000
MOST_DECODED = 120_000_000  # pixels in memory at a time: about 500 MB, twice that where some are transparent
_LARGE = 50_000_000  # pixels from which a picture is made smaller before it is made plain
# What Pillow may take a file for, whatever it is called: never what is handed to another program, as PostScript is.
FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "TIFF", "GIF", "BMP", "DIB", "AVIF", "JPEG2000", "HEIF")
_BY_NAME = {".psd": ("PSD",), ".jxl": ("JXL",)}  # what is taken only for what it is called
_HEIF = frozenset((".heic", ".heif", ".hif"))
_RAW = ".cr2 .cr3 .crw .nef .nrw .arw .dng .orf .rw2 .raf .pef .srw .x3f .iiq .3fr"
RAW_ENDINGS = frozenset(_RAW.split())
_PAGE = 2048  # pixels of the first page of a PDF, which stands for it in a folder
_ROWS = 64  # of a picture of more than 8 bits, made plain at a time


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
    return image_of(call(decode_picture, os.fspath(path), size))


def image_of(pixels: NDArray[np.uint8]) -> Image:
    """Pixels, shape (height, width, 3), as a picture."""
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
        turned = None
        with suppress(Exception):  # broken metadata turn nothing
            turned = picture.getexif().get(0x0112)
        seen, (width, height) = picture, picture.size
        if width * height > _LARGE and picture.mode in ("L", "LA", "RGB", "RGBA", "CMYK"):
            seen = picture.reduce(max(1, max(width, height) // (4 * size)))
        upright = _rgb(seen)
        if isinstance(turned, int) and turned in _TURNS:
            upright = upright.transpose(getattr(pillow().Transpose, _TURNS[turned]))
        upright.thumbnail((size, size), pillow().Resampling.BOX, reducing_gap=2.0)
        return np.asarray(upright)


@contextmanager
def _open_picture(name: str) -> Iterator[Image]:
    module = pillow()
    ending = Path(name).suffix.lower()
    if ending == ".pdf":
        yield image_of(render_page(name, 1, _PAGE))
        return
    if ending == ".svg" or ending in RAW_ENDINGS:
        inside = _draw_svg(name) if ending == ".svg" else _raw_preview(name)
        with module.open(BytesIO(inside), formats=_formats()) as picture:
            yield picture
        return
    if ending == ".jxl":
        import_extra("pillow_jxl", extra="jxl", purpose="reading JPEG XL pictures")
    if ending in _HEIF:
        import_extra("pillow_heif", extra="images", purpose="reading HEIC pictures").register_heif_opener()
    with open_file(name) as file, module.open(file, formats=_BY_NAME.get(ending, _formats())) as picture:
        yield picture


def _draw_svg(name: str) -> bytes:
    """A drawing as a PNG; what it names in other files is left out of it."""
    resvg = import_extra("resvg_py", extra="svg", purpose="reading SVG drawings")
    root = parse_xml(read_bytes(name, most=_MOST_DRAWN), name)
    for element in root.iter():
        for key in [key for key in element.attrib if key.rpartition("}")[2].lower() in ("href", "src")]:
            if not _WITHIN.match(element.attrib[key]):
                del element.attrib[key]
    try:
        inside = ET.tostring(root, encoding="unicode")
        return bytes(resvg.svg_to_bytes(svg_string=inside, width=_PAGE, skip_system_fonts=True))
    except ValueError as error:
        raise FileError(f"{shown(name)}: is no drawing that can be read ({shown(str(error))})") from error


_MOST_DRAWN = 8 << 20  # bytes of a drawing
_WITHIN = re.compile(r"\s*(?:#|data:image/(?:png|jpeg|gif|webp)\b)", re.IGNORECASE)  # what a drawing may refer to


def _formats() -> tuple[str, ...]:
    """Those of the formats that can be read as things are installed."""
    module = pillow()
    module.init()
    return tuple(name for name in FORMATS if name in module.OPEN)


def _raw_preview(name: str) -> bytes:
    """The JPEG inside a camera's raw file, or a PNG of the pixels that are there instead."""
    rawpy = import_extra("rawpy", extra="raw", purpose="reading the preview in a camera's raw file")
    try:
        with open_file(name) as file, rawpy.imread(file) as raw:
            thumb = raw.extract_thumb()
    except rawpy.LibRawError as error:
        raise FileError(f"{shown(name)}: has no preview that can be read ({shown(str(error))})") from error
    if thumb.format == rawpy.ThumbFormat.JPEG:
        return bytes(thumb.data)
    kept = BytesIO()
    pillow().fromarray(thumb.data).save(kept, "PNG")
    return kept.getvalue()


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


# How EXIF says that a picture is turned, and by what it is turned upright.
_TURNS = {
    2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_270", 7: "TRANSVERSE",
    8: "ROTATE_90",
}  # fmt: skip


def _rgb(picture: Image) -> Image:
    """The picture in RGB; transparent parts are white, 16 bits are brought to 8."""
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
        ground = module.new("RGBA", seen.size, "white")
        return module.alpha_composite(ground, seen).convert("RGB")  # type: ignore[no-any-return]
    return picture.convert("RGB")


# XMP: what a sidecar, or a packet in a picture, says of it; and sidecars that say where it stands.

_MOST = 1 << 20  # bytes of a packet that is read
_DC, _XMP = "{http://purl.org/dc/elements/1.1/}", "{http://ns.adobe.com/xap/1.0/}"
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_PHOTOSHOP, _EXIF = "{http://ns.adobe.com/photoshop/1.0/}", "{http://ns.adobe.com/exif/1.0/}"
_IPTC = "{http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/}"
_MOMENTS = (f"{_EXIF}DateTimeOriginal", f"{_PHOTOSHOP}DateCreated", f"{_XMP}CreateDate")
_PLACES = (f"{_IPTC}Location", f"{_PHOTOSHOP}City", f"{_PHOTOSHOP}Country")
_FABULA = "https://fabula.invalid/ns/1.0/"


def read_packet(packet: bytes | str) -> dict[str, Any]:
    """What an XMP packet says: title, artist, rating, label, keywords, place, captured; nothing of one that is broken.

    >>> read_packet('<a xmlns:xmp="http://ns.adobe.com/xap/1.0/"><xmp:Rating>4</xmp:Rating></a>')
    {'rating': 4}
    """
    try:
        root = parse_xml(_decode(packet)[: _MOST + 1].strip().strip("\0\ufeff"), "")
    except FileError:
        return {}
    found: dict[str, Any] = {}
    for name, tag in (("title", f"{_DC}title"), ("artist", f"{_DC}creator"), ("keywords", f"{_DC}subject")):
        first = next(root.iter(tag), None)  # one look: they may stand within each other
        words = [] if first is None else [" ".join((node.text or "").split()) for node in first.iter(f"{_RDF}li")]
        words = [word for word in words if word][: None if name == "keywords" else 1]
        found |= {name: "; ".join(words)} if words else {}
    stars = [int(text) for text in _values(root, f"{_XMP}Rating") if re.fullmatch(r"[0-5]", text)]
    moments = [as_moment(text) for tag in _MOMENTS for text in _values(root, tag)]
    said = {
        "rating": next(iter(stars), None),
        "label": next(iter(_values(root, f"{_XMP}Label")), None),
        "place": ", ".join(dict.fromkeys(text for tag in _PLACES for text in _values(root, tag)[:1])) or None,
        "captured": next((moment for moment in moments if moment is not None), None),
    }
    return found | {name: value for name, value in said.items() if value is not None}


def _values(root: ET.Element, tag: str) -> list[str]:
    """What a property says, as an attribute or as an element."""
    values = [node.get(tag) for node in root.iter(f"{_RDF}Description")]
    values += [node.text for node in root.iter(tag)]
    return [" ".join(value.split()) for value in values if value and value.strip()]


def write_numbers(path: Path, number: tuple[int, int], side: tuple[int, int] | None) -> None:
    """Write the number of a position, and of a side where there are several, into the sidecar beside a picture.

    It stands beside all that the sidecar, or the picture itself, says: as a keyword under *sequence*, as digiKam and
    darktable (``digiKam:TagsList``), Lightroom (``lr:hierarchicalSubject``) and all others (``dc:subject``) list it;
    one of an earlier order is taken away.
    """
    target = sidecar_path(path)
    old = _read_sidecar(target)
    said: Mapping[str, Any] = {} if old else read_item(str(path)).details
    for prefix, place in (*re.findall(r"""xmlns:([\w.-]+)\s*=\s*["']([^"']+)["']""", old), *_OWN.items()):
        with suppress(ValueError):  # a prefix such as ns0 is made anew
            ET.register_namespace(prefix, place)
    head, root, tail = _parse_packet(old or _EMPTY)
    found = next(root.iter(f"{_RDF}Description"))
    named = dict(zip(("position", "of"), number, strict=True)) | dict(zip(("side", "sides"), side or (), strict=False))
    for name in ("position", "of", "side", "sides"):
        found.attrib.pop(f"{{{_FABULA}}}{name}", None)
    found.attrib |= {f"{{{_FABULA}}}{name}": str(value) for name, value in named.items()}
    for name in ("rating", "label"):
        if name in said and not _values(root, f"{_XMP}{name.title()}"):
            found.set(f"{_XMP}{name.title()}", str(said[name]))
    leaf = f"sequence {'' if side is None else side_name(side[0] - 1)}{number[0]:0{len(str(number[1]))}d}"
    words = [word for word in str(said.get("keywords", "")).split("; ") if word]
    paths = _find_paths(root if old else _parse_packet(call(_packet_of, str(path)) or _EMPTY)[1], words)
    _list_under(root, found, f"{_DC}subject", leaf, words)
    _list_under(root, found, f"{_LIGHTROOM}hierarchicalSubject", f"sequence|{leaf}", map("|".join, paths))
    _list_under(root, found, f"{_DIGIKAM}TagsList", f"sequence/{leaf}", map("/".join, paths))
    write_whole(target, f"{head}{ET.tostring(root, encoding='unicode')}{tail}")


def _parse_packet(text: str) -> tuple[str, ET.Element, str]:
    """What stands before the one element of a packet, it, and what stands behind it; a ValueError for anything else."""
    first = re.search(r"<[^?!]", text)
    if first is None or len(text) > _MOST or "<!DOCTYPE" in text:
        raise ValueError("it is no sidecar of a photo program")
    end = text.find(">", text.rfind("</")) + 1 or len(text)
    try:
        root = parse_xml(text[first.start() : end], "it")
    except FileError as error:
        raise ValueError(str(error)) from error
    if root.find(f".//{_RDF}Description") is None:
        raise ValueError("it describes nothing")
    return text[: first.start()], root, text[end:]


def _find_paths(root: ET.Element, words: Iterable[str]) -> list[list[str]]:
    """The keywords of a packet and others, under what they lie: where paths are listed, programs look at no others."""
    marks = {f"{_LIGHTROOM}hierarchicalSubject": "|", f"{_DIGIKAM}TagsList": "/", f"{_DC}subject": "\0"}
    lines = [
        ((line.text or "").strip(), mark)
        for tag, mark in marks.items()
        for held in root.iter(tag)
        for line in held.iter(f"{_RDF}li")
    ]
    paths: list[list[str]] = []
    for text, mark in (*lines, *((word, "\0") for word in words)):
        path = text.split(mark)
        known = path in paths or (len(path) == 1 and any(text in other for other in paths))
        if text and not known and not _SEQUENCE.fullmatch(text):
            paths.append(path)
    return paths


def _list_under(root: ET.Element, found: ET.Element, tag: str, word: str, more: Iterable[str]) -> None:
    """Put a word into a list of words, in place of one of an earlier order; others where it holds nothing else yet."""
    held = next(root.iter(tag), None)
    if held is None:
        held = ET.SubElement(found, tag)
    held = held[0] if len(held) else ET.SubElement(held, f"{_RDF}Bag")
    for line in [one for one in held if _SEQUENCE.fullmatch(one.text or "")]:
        held.remove(line)
    for one in [*([] if len(held) else more), word]:
        ET.SubElement(held, f"{_RDF}li").text = one


_LIGHTROOM, _DIGIKAM = "{http://ns.adobe.com/lightroom/1.0/}", "{http://www.digikam.org/ns/1.0/}"
_SEQUENCE = re.compile(r"(?:sequence[|/])?sequence (?:[A-Z]+|\d+-)?\d+")
_OWN = {
    "x": "adobe:ns:meta/", "rdf": _RDF[1:-1], "xmp": _XMP[1:-1], "dc": _DC[1:-1], "lr": _LIGHTROOM[1:-1],
    "digiKam": _DIGIKAM[1:-1], "fabula": _FABULA,
}  # fmt: skip
_EMPTY = (
    f'<x:xmpmeta xmlns:x="adobe:ns:meta/" xmlns:r="{_RDF[1:-1]}"><r:RDF><r:Description r:about=""/></r:RDF></x:xmpmeta>'
)


def sidecar_path(path: Path) -> Path:
    """The sidecar of a picture: the one that is there, ``a.xmp`` or ``a.jpg.xmp``; a new one of a raw file ``a.xmp``.

    ``a.xmp`` is not a JPEG's where a raw file of that name lies beside it. A FileError where one is there that cannot
    be read, and so not be added to. The picture itself is never written.
    """
    beside, own = path.with_suffix(".xmp"), path.with_name(path.name + ".xmp")
    taken = (path.with_suffix(case).exists() for ending in RAW_ENDINGS for case in (ending, ending.upper()))
    alone = path.suffix.lower() not in RAW_ENDINGS and (not beside.exists() or any(taken))
    target = own if alone or own.exists() else beside
    _read_sidecar(target)
    return target


def _read_sidecar(target: Path) -> str:
    """What a sidecar says, "" where there is none; a FileError where it cannot be read."""
    try:
        text = read_bytes(target, most=_MOST_DRAWN).decode("utf-8-sig") if target.exists() else ""
        _parse_packet(text or _EMPTY)
    except (ValueError, OSError) as error:
        raise FileError(f"{shown(target)}: cannot be read ({shown(str(error))}), and is left as it is") from error
    return text


# Files of pictures as items: which endings, what EXIF and XMP say of them. Nothing is decoded.

_ENDINGS = ".jpg .jpeg .jpe .jfif .png .webp .tif .tiff .gif .bmp .avif .jp2 .heic .heif .hif .psd .jxl .svg"
PICTURE_ENDINGS = frozenset(_ENDINGS.split()) | RAW_ENDINGS
_BESIDE = ".xmp .thm .pp3 .dop .on1 .cos .txt .md .csv .json .xml .html .ini .db .mov .mp4 .aae .lrcat .url"
COMPANION_ENDINGS = frozenset(_BESIDE.split())

_DESCRIPTION, _ARTIST, _TAKEN, _DIGITIZED, _DETAILS, _RATING = 0x010E, 0x013B, 0x9003, 0x9004, 0x8769, 0x4746
_GPS = 0x8825
_CAMERA = re.compile(r"^(OLYMPUS|SONY|MINOLTA|KONICA|DCIM|DSC|IMG|Screenshot|ASCII)\b.*", re.IGNORECASE)


def read_item(path: str) -> Item:
    """The item of a picture: its title, who made it, when it was taken and how it is rated, as far as the file says.

    ``details`` has ``captured`` (seconds since 1970, local time), ``rating`` (0 to 5), ``label``, ``keywords`` (between
    semicolons), ``place``, ``latitude`` and ``longitude``. What a sidecar says wins over what is in the file.
    """
    with suppress(FileError):  # told when it is measured
        item: Item = call(_item_of, path)
        return item
    return Item(path, title=shown(Path(path).stem), path=path)


def _packet_of(path: str) -> str:
    """The XMP packet in a picture; "" where there is none that can be read."""
    with suppress(Exception), open_file(path) as file, pillow().open(file, formats=_formats()) as picture:
        text = _decode(_packet_in(picture)).strip().strip("\0\ufeff")
        _parse_packet(text)
        return text
    return ""


def _packet_in(picture: Image) -> str | bytes:
    return picture.info.get("xmp") or picture.info.get("XML:com.adobe.xmp") or ""


def _item_of(path: str) -> Item:
    said: dict[str, Any] = {}
    with suppress(Exception), open_file(path) as file, pillow().open(file, formats=_formats()) as picture:
        said |= _exif(picture) | _iptc(picture)
        said |= read_packet(_packet_in(picture))
    for beside in (Path(path).with_suffix(".xmp"), Path(path + ".xmp")):  # what is too large says nothing
        with suppress(FileError):
            said |= read_packet(read_bytes(beside, most=_MOST))
            break
    title, artist = (shown(str(said.pop(name, ""))) for name in ("title", "artist"))
    return Item(path, title=title or shown(Path(path).stem), path=path, artist=artist, details=MappingProxyType(said))


def _exif(picture: Any) -> dict[str, Any]:
    """What EXIF says: title, artist, captured, rating; latitude and longitude in degrees, south and west below 0."""
    exif = picture.getexif()
    inner: Mapping[int, Any] = exif.get_ifd(_DETAILS)
    place: Mapping[int, Any] = exif.get_ifd(_GPS)
    title, rating = _text(exif.get(_DESCRIPTION)), exif.get(_RATING)
    moments = (as_moment(_text(inner.get(tag))) for tag in (_TAKEN, _DIGITIZED))
    said = {
        "title": None if _CAMERA.match(title) else title or None,
        "artist": _text(exif.get(_ARTIST)) or None,
        "captured": next((one for one in moments if one is not None), None),
        "rating": rating if isinstance(rating, int) and 0 < rating <= 5 else None,
    }
    found = {name: value for name, value in said.items() if value is not None}
    for name, mark in (("latitude", 1), ("longitude", 3)):  # nothing where they are not whole
        with suppress(TypeError, ValueError, ZeroDivisionError):
            degrees, minutes, seconds = map(float, place.get(mark + 1) or ())
            value = (degrees + minutes / 60 + seconds / 3600) * (-1 if _text(place.get(mark)) in ("S", "W") else 1)
            found |= {name: round(value, 6)} if abs(value) <= 180 else {}
    return found


def _iptc(picture: Any) -> dict[str, str]:
    """The keywords that agencies' programs write (IPTC-IIM, 2:25)."""
    from PIL import IptcImagePlugin

    found = (IptcImagePlugin.getiptcinfo(picture) or {}).get((2, 25), [])
    words = [_text(word) for word in (found if isinstance(found, list) else [found])]
    return {"keywords": "; ".join(filter(None, words))} if any(words) else {}


def _decode(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _text(value: Any) -> str:
    value = _decode(value)
    return " ".join(str(value).replace("\0", " ").split()) if isinstance(value, str) else ""
