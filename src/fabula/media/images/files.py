"""Files of pictures as items: which endings, what EXIF and XMP say of them. Nothing is decoded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fabula.core.collection import Item
from fabula.errors import FabulaError, shown
from fabula.media.images.opening import RAW_ENDINGS, pillow
from fabula.media.images.sidecars import read_packet, sidecar_of

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
    said: dict[str, Any] = {}
    try:
        with pillow().open(path) as picture:
            said |= _exif(picture)
            packet = picture.info.get("xmp") or picture.info.get("XML:com.adobe.xmp")
            said |= read_packet(packet) if packet else {}
    except FabulaError:  # without Pillow: told when it is measured
        pass
    except Exception:  # broken: told when it is measured
        pass
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
    for tag in (_TAKEN, _DIGITIZED):
        when = _moment(_text(inner.get(tag)))
        if when is not None:
            found["captured"] = when
            break
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
    try:
        return datetime.strptime(text[:19], "%Y:%m:%d %H:%M:%S").timestamp() - _epoch()
    except ValueError:
        return None


def _epoch() -> float:
    """So that a clock on a camera, which knows no zone, reads the same everywhere."""
    return datetime(1970, 1, 1).timestamp()
