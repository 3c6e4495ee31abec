"""What a track looks like over its length: peaks, and where it begins and ceases to sound."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.files import open_file, read_bytes, split_stretch
from fabula.errors import FileError, shown
from fabula.media.children import shield
from fabula.media.extraction import extract_one
from fabula.media.medium import Cover, Spec, Stop, Wave
from fabula.media.music.audio import Sound, play
from fabula.media.music.loudness import Samples

PARTS = 400  # of a wave
SILENCE = 10 ** (-60 / 20)  # of full scale: what is below counts as silence

_STEP = 1024  # frames, of which the extremes are kept until the length is known


def wave_of(path: str, stop: Stop = lambda: False) -> Wave:
    """The wave of an audio file, in `PARTS` parts, from the cache where it is known."""
    row = extract_one(path, SPEC, stop)
    low, high = row[: 2 * PARTS].reshape(2, PARTS)
    begins, ends, length = row[2 * PARTS :].tolist()
    return Wave(low, high, begins, ends, length)


def _row(path: str, stop: Stop) -> NDArray[np.float64]:
    """Lows, highs, and begin, end and length in seconds: shape (2 PARTS + 3,)."""

    def draw(sound: Sound) -> NDArray[np.float64]:
        lows, highs, frames, first, last = list[Samples](), list[Samples](), 0, -1, -1
        for chunk in sound.chunks:
            starts = np.arange(0, len(chunk), _STEP)
            lows.append(np.minimum.reduceat(chunk.min(axis=1), starts))
            highs.append(np.maximum.reduceat(chunk.max(axis=1), starts))
            loud = np.flatnonzero(np.abs(chunk).max(axis=1) > SILENCE)
            if len(loud):
                first, last = frames + int(loud[0]) if first < 0 else first, frames + int(loud[-1])
            frames += len(chunk)
        if not frames:
            raise FileError(f"{shown(path)}: has no samples in it")
        low, high = np.concatenate(lows), np.concatenate(highs)
        starts = np.linspace(0, len(low), PARTS, endpoint=False).astype(np.intp)  # few values are spread
        parts = np.concatenate([np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)])
        edges = np.array([max(0, first), last + 1, frames]) / sound.rate
        return np.concatenate([np.clip(parts, -1, 1).astype(np.float64), edges])

    return play(path, draw, stop=stop)


_NAMES = tuple(f"{name}{k}" for name in ("low", "high") for k in range(PARTS))
SPEC = Spec("wave", 1, (*_NAMES, "begins", "ends", "length"), _row, (2 * PARTS + 3,))


# Pictures that stand for a track: in its tags, else beside it in its folder. Only plain pictures of sane size.

MOST_BYTES = 8 << 20
_BESIDE = ("cover", "folder", "front", "album", "albumart")
_MAGIC = ((b"\xff\xd8\xff", "image/jpeg"), (b"\x89PNG\r\n\x1a\n", "image/png"), (b"GIF8", "image/gif"))
_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".gif")


def cover_of(path: str, size: int = 0) -> Cover | None:
    """The cover of an audio file, as large as it is; None where there is none, or none that a page should show.

    What says it is a picture is believed by its first bytes alone: JPEG, PNG, GIF or WebP. Links beside the file are
    not followed.
    """
    found: Cover | None = shield(_find_cover, split_stretch(path)[0])
    return found


def _find_cover(path: str) -> Cover | None:
    """The picture in the tags, else that in the folder which is called as covers are."""
    import tinytag

    with contextlib.suppress(Exception), open_file(path) as opened:  # of a broken file there is none
        bounded: Any = Bounded(io.FileIO(opened.fileno(), closefd=False))
        found: Any = tinytag.TinyTag.get(file_obj=bounded, filename=path, duration=False, image=True).images.any
        cover = None if found is None else _check_cover(bytes(found.data or b""))
        if cover is not None:
            return cover
    folder = Path(path).parent
    with contextlib.suppress(OSError, FileError):
        names = {name.lower(): name for name in os.listdir(folder)}  # noqa: PTH208 - names, nothing else
        wanted = (f"{stem}{ending}" for stem in _BESIDE for ending in _ENDINGS)
        file = next((folder / names[name] for name in wanted if name in names), None)
        if file is not None and not file.is_symlink():
            return _check_cover(read_bytes(file, most=MOST_BYTES))
    return None


def _check_cover(data: bytes) -> Cover | None:
    """A picture by its first bytes; None for a large one and anything else, such as SVG, which can hold scripts."""
    webp = data[:4] == b"RIFF" and data[8:12] == b"WEBP"
    kind = "image/webp" if webp else next((kind for magic, kind in _MAGIC if data.startswith(magic)), "")
    return Cover(data, kind) if kind and len(data) <= MOST_BYTES else None


class Bounded(io.BufferedReader):
    """A file of which no more than some MB are read at a time, whatever its header promises."""

    def read(self, size: int | None = -1) -> bytes:
        """At most `size` bytes; a ValueError where that is too much."""
        most = 2 * MOST_BYTES
        data = super().read(size if size is not None and 0 <= size <= most else most + 1)
        if len(data) > most:
            raise ValueError("more is asked for than a tag holds")
        return data
