"""Small pictures of pictures, for lists."""

from __future__ import annotations

from io import BytesIO

from fabula.errors import FabulaError
from fabula.media.images.opening import open_picture
from fabula.media.medium import Cover

_QUALITY = 80  # as JPEG counts


def thumbnail(path: str, size: int) -> Cover | None:
    """A picture of at most so many pixels, upright, as JPEG; None where it cannot be read."""
    try:
        picture = open_picture(path, size)
    except FabulaError:
        return None
    content = BytesIO()
    picture.save(content, "JPEG", quality=_QUALITY)
    return Cover(content.getvalue(), "image/jpeg")
