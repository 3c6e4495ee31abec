"""Opening pictures: upright, in RGB, decoded no larger than needed, with one line for whatever is wrong with a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.errors import FileError, import_extra, shown

if TYPE_CHECKING:
    from PIL.Image import Image

PURPOSE = "reading pictures"
MOST_PIXELS = 400_000_000  # a picture that claims more is refused before it is decoded: 20,000 by 20,000
_HEIF = frozenset((".heic", ".heif", ".hif"))
_RAW = """
    .cr2 .cr3 .crw .nef .nrw .arw .dng .orf .rw2 .raf .pef .srw .x3f .iiq .3fr
"""
RAW_ENDINGS = frozenset(_RAW.split())
_PAGE = 2048  # pixels of the first page of a PDF, which stands for it in a folder
_BACKGROUND = 255  # what shows through a transparent picture


def pillow() -> Any:
    """The library that decodes pictures, or one line that says how to install it."""
    module: Any = import_extra("PIL.Image", extra="images", purpose=PURPOSE)
    module.MAX_IMAGE_PIXELS = None  # we count ourselves, and say it in our words
    return module


def open_picture(path: str | os.PathLike[str], size: int) -> Image:
    """A picture as RGB, turned upright, its longer side at most ``size`` pixels.

    Parameters
    ----------
    path
        Any file of pictures; of an animation the first frame, of a camera's raw file the preview inside it.
    size
        In pixels, of the longer side; a smaller picture stays as it is.

    Returns
    -------
    A Pillow image of mode RGB; what is transparent is white.

    Raises
    ------
    FileError
        One line, the path first, when it is no picture, is broken or claims to be huge.
    MissingExtraError
        When the library that reads such files is not installed.
    """
    name = os.fspath(path)
    with _readable(name), _opened(name) as picture:
        _check_size(name, picture.size)
        picture.draft("RGB", (size, size))  # JPEG: decoded at a half, a quarter or an eighth
        if getattr(picture, "n_frames", 1) > 1:
            picture.seek(0)
        upright = _upright(_plain(picture))
        upright.thumbnail((size, size), pillow().Resampling.BOX, reducing_gap=2.0)
        return upright


def size_of(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Width and height as the picture is seen, from its header; nothing is decoded."""
    name = os.fspath(path)
    with _readable(name), _opened(name) as picture:
        _check_size(name, picture.size)
        width, height = picture.size
        return (height, width) if _orientation(picture) >= 5 else (width, height)


@contextmanager
def _opened(name: str) -> Iterator[Image]:
    module = pillow()
    ending = Path(name).suffix.lower()
    if ending in RAW_ENDINGS:
        with module.open(_raw_preview(name)) as preview:
            yield preview
        return
    if ending == ".pdf":
        from fabula.media.images.pages import open_page

        yield open_page(name, 1, _PAGE)
        return
    if ending in _HEIF:
        import_extra("pillow_heif", extra="images", purpose="reading HEIC pictures").register_heif_opener()
    with Path(name).open("rb") as file, module.open(file) as picture:
        yield picture


def _raw_preview(name: str) -> Any:
    """The JPEG inside a camera's raw file, as a file in memory."""
    from io import BytesIO

    rawpy = import_extra("rawpy", extra="raw", purpose="reading the preview in a camera's raw file")
    try:
        with rawpy.imread(name) as raw:
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
    except FileError:
        raise
    except ImportError:
        raise
    except UnidentifiedImageError as error:
        raise FileError(f"{shown(name)}: is no picture that can be read") from error
    except MemoryError as error:
        raise FileError(f"{shown(name)}: is too large to be decoded") from error
    except OSError as error:
        raise FileError(f"{shown(name)}: cannot be read ({error.strerror or shown(str(error))})") from error
    except Exception as error:  # decoders raise SyntaxError, struct.error, ValueError and others for broken files
        raise FileError(f"{shown(name)}: is broken ({shown(str(error)) or type(error).__name__})") from error


def _check_size(name: str, size: tuple[int, int]) -> None:
    width, height = size
    if width * height > MOST_PIXELS:
        raise FileError(f"{shown(name)}: claims {width} x {height} pixels; at most {MOST_PIXELS:,} are decoded")


def _orientation(picture: Image) -> int:
    """EXIF's way of saying how a picture is turned: 1 to 8."""
    try:
        value = picture.getexif().get(0x0112, 1)
    except Exception:  # broken metadata turn nothing
        return 1
    return int(value) if isinstance(value, int) and 1 <= value <= 8 else 1


_TURNS: dict[int, Callable[[Any], Any]] = {
    2: lambda method: method.FLIP_LEFT_RIGHT,
    3: lambda method: method.ROTATE_180,
    4: lambda method: method.FLIP_TOP_BOTTOM,
    5: lambda method: method.TRANSPOSE,
    6: lambda method: method.ROTATE_270,
    7: lambda method: method.TRANSVERSE,
    8: lambda method: method.ROTATE_90,
}


def _upright(picture: Image) -> Image:
    turn = _TURNS.get(picture.info.get("fabula_orientation", 1))
    return picture if turn is None else picture.transpose(turn(pillow().Transpose))


def _plain(picture: Image) -> Image:
    """The picture in RGB; transparent parts are white, 16 bits are brought to 8."""
    orientation = _orientation(picture)
    plain = _rgb(picture)
    plain.info["fabula_orientation"] = orientation
    return plain


def _rgb(picture: Image) -> Image:
    module = pillow()
    if picture.mode.startswith("I") or picture.mode == "F":  # Pillow would cut 16 bits off at 255
        import numpy as np

        values = np.asarray(picture, dtype=np.float64)
        most = 65535.0 if picture.mode.startswith("I") else max(1.0, float(np.nanmax(values, initial=1.0)))
        eight = np.clip(np.nan_to_num(values) * (255.0 / most), 0, 255).astype(np.uint8)
        return module.fromarray(eight).convert("RGB")  # type: ignore[no-any-return]
    if picture.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in picture.info:
        seen = picture.convert("RGBA")
        ground = module.new("RGBA", seen.size, (_BACKGROUND,) * 3 + (255,))
        return module.alpha_composite(ground, seen).convert("RGB")  # type: ignore[no-any-return]
    return picture.convert("RGB")
