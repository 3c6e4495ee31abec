"""Files of music: their endings, and what their tags say of them."""

from __future__ import annotations

import os
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fabula.core.collection import Item
from fabula.errors import shown

_ENDINGS = """
    .wav .wave .flac .ogg .oga .opus .mp3 .mp2 .aif .aiff .aifc .au .caf .w64
    .m4a .m4b .aac .mp4 .wma .ape .wv .mpc .tta .ac3 .mka .webm
"""
_COMPANIONS = """
    .jpg .jpeg .png .gif .webp .bmp .m3u .m3u8 .pls .xspf .jspf .cue .log .txt .nfo .md .pdf .sfv .md5
    .json .xml .html .url .ini .db .lrc .accurip .csv
"""
AUDIO_ENDINGS = frozenset(_ENDINGS.split())
COMPANION_ENDINGS = frozenset(_COMPANIONS.split())  # of what lies beside the music and is not worth a word


def read_item(file: str) -> Item:
    """The item of a file, from its tags where it has any."""
    tags = _tags(file)
    artist, title = tags.pop("artist", ""), tags.pop("title", "") or shown(Path(file).stem)
    return Item(id=file, title=title, path=file, artist=artist, details=MappingProxyType(tags))


def _tags(file: str) -> dict[str, Any]:
    """Title, artist, album, track, disc and duration_ms, as far as the file says them."""
    import tinytag

    try:
        tag = tinytag.TinyTag.get(os.fsencode(file) if os.name != "nt" else file)
    except Exception:  # whatever a broken file does to the reader of tags, it only means that there are none
        return {}
    duration = 1000 * tag.duration if tag.duration else None
    known = {"album": tag.album, "track": tag.track, "disc": tag.disc, "duration_ms": duration}
    texts = {"title": tag.title, "artist": tag.artist or tag.albumartist}
    return {name: _clean(value) for name, value in {**texts, **known}.items() if value}


def _clean(value: Any) -> Any:
    """Text from tags without the zeros and line ends some writers leave in it."""
    return shown(" ".join(value.replace("\0", " ").split())) if isinstance(value, str) else value
