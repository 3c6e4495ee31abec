"""M3U and M3U8 playlists.

Lines that start with ``#`` belong to the entry they precede; those about the whole playlist stay at its head. One
directive is our own: ``#EXTFABULA:energy=0.5,tempo=120`` gives features of the entry that follows.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fabula.errors import FileError
from fabula.sources.playlists.entries import (
    Entry,
    Playlist,
    closed,
    line_end,
    lines_of,
    one_line,
    opened,
    parted,
    seconds,
    seconds_text,
    writable_line,
)
from fabula.sources.playlists.locations import on_disk
from fabula.sources.text_files import read_text

_HEADS = re.compile(
    r"#(EXTM3U|PLAYLIST:|EXTENC:|EXT-X-(VERSION|TARGETDURATION|MEDIA-SEQUENCE|PLAYLIST-TYPE|START|INDEPENDENT-SEGMENTS))",
    re.IGNORECASE,
)
_EXTINF = re.compile(r'#EXTINF:\s*(-?[\d.]+)?((?:\s+[\w-]+="[^"]*")*)\s*,?(.*)', re.IGNORECASE | re.DOTALL)
_DETAILS = {"EXTALB": "album", "EXTGENRE": "genre", "EXTGRP": "group"}


def read_m3u(path: str | os.PathLike[str]) -> Playlist:
    """Read an M3U playlist; .m3u8 must be UTF-8, .m3u may be Windows text."""
    encodings = ["utf-8"] if Path(path).suffix.lower() == ".m3u8" else ["utf-8", "cp1252"]
    text, script = read_text(path, "an M3U playlist", encodings)
    if text.lstrip().lower().startswith(("<", "{", "[playlist]")):
        raise FileError(f"{path}: is not an M3U playlist (it starts with {text.lstrip()[:12]!r})")
    folder = Path(path).parent
    entries: list[Entry] = []
    head, title = "", ""
    pending: list[str] = []
    start = 1
    for number, line in enumerate(lines_of(closed(text)), start=1):
        body = line.rstrip("\r\n")
        if line.upper().startswith("#PLAYLIST:"):
            title = title or body[10:].strip()
        if not body.strip() or body.startswith("#"):
            pending.append(line)
            continue
        if not entries:
            cut = _head_length(pending)
            head, pending, start = "".join(pending[:cut]), pending[cut:], 1 + cut
        entries.append(_entry(pending, body, line[len(body) :], folder, f"{path}: line", start))
        pending, start = [], number + 1
    if not entries:
        raise FileError(f"{path}: the playlist is empty")
    found = tuple(entries)
    return Playlist(found, title, "m3u", folder, head, "".join(pending), text, found, script)


def _head_length(lines: list[str]) -> int:
    """How many of the lines before the first entry are about the playlist: up to the last such line or blank."""
    heads = [i for i, line in enumerate(lines) if not line.strip() or _HEADS.match(line)]
    return heads[-1] + 1 if heads else 0


def _entry(before: list[str], written: str, end: str, folder: Path, where: str, start: int) -> Entry:
    label, duration, artist = "", None, None
    details: dict[str, Any] = {}
    for number, line in enumerate(before, start):
        key, colon, value = line.strip().removeprefix("#").partition(":")
        match = _EXTINF.match(line.rstrip("\r\n"))
        if match:
            duration, label = seconds(match[1] or ""), match[3].strip()
        elif key.upper() == "EXTART" and colon:
            artist = value.strip()
        elif key.upper() == "EXTFABULA":
            details |= _features(value, f"{where} {number}")
        elif key.upper() in _DETAILS and value.strip():
            details[_DETAILS[key.upper()]] = value.strip()
    if artist is None:
        artist, title = parted(label)
    else:
        title = label.removeprefix(f"{artist} - ") if artist else label
    location = on_disk(written.strip(), folder)
    return Entry(location, title, artist, duration, MappingProxyType(details), ("".join(before), written, end))


def _features(text: str, where: str) -> dict[str, float]:
    features = {}
    for part in filter(str.strip, text.split(",")):
        name, _, value = part.partition("=")
        try:
            features[name.strip()] = float(value)
        except ValueError:
            value = "nan"
        if not name.strip() or not math.isfinite(float(value)):
            raise FileError(f"{where}: #EXTFABULA must be name=number,name=number,...; got {part.strip()!r}")
    return features


def write_m3u(playlist: Playlist) -> str:
    """The playlist as M3U text; entries that came from M3U as they were."""
    kept = playlist.format == "m3u"
    if kept and playlist.unchanged:
        return playlist.text
    end = line_end(playlist.text) if kept else "\n"
    head = (
        playlist.head if kept else "#EXTM3U\n" + (f"#PLAYLIST:{one_line(playlist.title)}\n" if playlist.title else "")
    )
    blocks = ["".join(entry.raw) if kept and entry.raw else _block(entry, end) for entry in playlist.entries]
    text = head + "".join(blocks) + (playlist.tail if kept else "")
    return opened(text, playlist.text) if kept else text


def _block(entry: Entry, end: str) -> str:
    lines = []
    if entry.label or entry.duration is not None:
        lines.append(f"#EXTINF:{seconds_text(entry.duration)},{entry.label}")
    if parted(entry.label) != (entry.artist, entry.title):
        lines.append(f"#EXTART:{one_line(entry.artist)}")
    if isinstance(entry.details.get("album"), str):
        lines.append(f"#EXTALB:{one_line(entry.details['album'])}")
    features = [f"{name}={value!r}" for name, value in entry.numbers.items() if not re.search(r"[,=\r\n]", name)]
    if features:
        lines.append("#EXTFABULA:" + ",".join(features))
    return "".join(line + end for line in [*lines, m3u_location(entry.location)])


def m3u_location(location: str) -> str:
    """A location as a line of M3U, where a name that starts with ``#`` would be a comment."""
    return writable_line(f"./{location}" if location.startswith("#") else location, "M3U")
