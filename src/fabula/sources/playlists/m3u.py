"""M3U and M3U8 playlists.

Lines that start with ``#`` belong to the entry they precede; those about the whole playlist stay at its head. One
directive is our own: ``#EXTFABULA:energy=0.5,tempo=120`` gives features of the entry that follows.
"""

import codecs
import math
import os
import re
from pathlib import Path
from typing import Any

from fabula.core.files import decode, legible, read_bytes
from fabula.errors import FileError
from fabula.sources.playlists import entries, text_lines
from fabula.sources.playlists.entries import Comments, Entry, Playlist, PlaylistFormat

_HEADS = re.compile(
    r"#(\s*$|EXTM3U|PLAYLIST:|EXTENC:"
    r"|EXT-X-(VERSION|TARGETDURATION|MEDIA-SEQUENCE|PLAYLIST-TYPE|START|INDEPENDENT-SEGMENTS))",
    re.IGNORECASE,
)
_OF_ENTRIES = re.compile(r"#(EXTINF|EXTVLCOPT|EXTGRP|KODIPROP|EXTFABULA|EXTBYT)", re.IGNORECASE)
_EXTINF = re.compile(r'#EXTINF:\s*(-?[\d.]+)?((?:\s+[\w-]+="[^"]*")*)\s*,?(.*)', re.IGNORECASE | re.DOTALL)
_ENCODED = re.compile(rb"^\s*#EXTENC:\s*([A-Za-z0-9._-]+)", re.IGNORECASE | re.MULTILINE)
_LINES_EACH = 10  # that may stand before an entry, on the average of a full playlist
_DETAILS = {"EXTALB": "album", "EXTGENRE": "genre", "EXTGRP": "group"}


def read_m3u(path: str | os.PathLike[str]) -> Playlist:
    """Read an M3U playlist: UTF-8, or Windows text in .m3u; names of files whose bytes are no text keep their bytes."""
    data = read_bytes(path, most=entries.MOST_BYTES)
    text, script = decode(data, path, "an M3U playlist", _encodings(path, data), any_bytes=True)
    if text.lstrip().lower().startswith(("<", "{", "[playlist]")):
        raise FileError(f"{path}: is not an M3U playlist (it starts with {text.lstrip()[:12]!r})")
    folder = Path(path).parent
    found: list[Entry] = []
    head, title = "", ""
    pending: list[str] = []
    start = 1
    for number, line in enumerate(text_lines.each_line(text_lines.terminate(text)), start=1):
        entries.check_count(path, max(len(found), len(pending) // _LINES_EACH))
        body = line.rstrip("\r\n")
        if line.upper().startswith("#PLAYLIST:"):
            title = title or legible(body[10:].strip())
        if not body.strip(" \t\x1a") or body.lstrip().startswith("#"):
            pending.append(line)
            continue
        if not found:
            # What stands before the first entry is about the playlist up to the last line that says so, or is blank.
            of_entry = next((i for i, one in enumerate(pending) if _OF_ENTRIES.match(one)), len(pending))
            heads = [i for i, one in enumerate(pending[:of_entry]) if not one.strip() or _HEADS.match(one)]
            cut = heads[-1] + 1 if heads else 0
            head, pending, start = "".join(pending[:cut]), pending[cut:], 1 + cut
        raw = ("".join(pending), body, line[len(body) :])
        found.append(_entry(raw, entries.on_disk(body.strip(), folder, script.encoding), f"{path}: line", start))
        pending, start = [], number + 1
    about = {"title": title, "head": head, "tail": "".join(pending), "text": text, "script": script}
    return entries.make_playlist(path, "m3u", found, **about)


def _encodings(path: str | os.PathLike[str], data: bytes) -> list[str]:
    """The encodings to try: UTF-8, the one the file names, and in .m3u Windows text."""
    named = _ENCODED.search(data[:2000])
    usual = ["utf-8"] if Path(path).suffix.lower() == ".m3u8" else ["utf-8", "cp1252"]
    try:
        return ["utf-8", codecs.lookup(named[1].decode()).name, *usual] if named else usual
    except LookupError:
        return usual


def _entry(raw: tuple[str, str, str], location: str, where: str, start: int) -> Entry:
    label, duration, artist = "", None, None
    details: dict[str, Any] = {}
    for number, line in enumerate(text_lines.each_line(raw[0]), start):
        key, colon, value = legible(line).strip().removeprefix("#").partition(":")
        match = _EXTINF.match(legible(line).strip())
        if match:
            duration, label = text_lines.above_zero(match[1] or ""), match[3].strip()
        elif key.upper() == "EXTART" and colon:
            artist = value.strip()
        elif key.upper() == "EXTFABULA":
            details |= _features(value, f"{where} {number}")
        elif key.upper() in _DETAILS and value.strip():
            details[_DETAILS[key.upper()]] = value.strip()
    if artist is None:
        artist, title = text_lines.split_label(label)
    else:
        title = label.removeprefix(f"{artist} - ") if artist else label
    return Entry(location, title, artist, duration, details, raw)


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


def write_m3u(playlist: Playlist, comments: Comments | None = None) -> str:
    """The playlist as M3U text; entries that came from M3U as they were."""
    kept = playlist.format == "m3u"
    end = text_lines.line_end(playlist.text) if kept else "\n"
    said = (lambda text: f"# {text_lines.one_line(text)}{end}", text_lines.without_breaks)
    title = f"#PLAYLIST:{text_lines.one_line(playlist.title)}\n" if playlist.title else ""
    around = (f"#EXTM3U\n{title}", "")
    text = entries.write_entries(playlist, "m3u", comments, lambda entry: _block(entry, end), said, around)
    return text_lines.end_like(text, playlist.text) if kept else text


def _block(entry: Entry, end: str) -> str:
    lines = []
    if entry.label or entry.duration is not None:
        lines.append(f"#EXTINF:{text_lines.seconds_text(entry.duration)},{entry.label}")
    if text_lines.split_label(entry.label) != (entry.artist, entry.title):
        lines.append(f"#EXTART:{text_lines.one_line(entry.artist)}")
    if isinstance(entry.details.get("album"), str):
        lines.append(f"#EXTALB:{text_lines.one_line(entry.details['album'])}")
    features = [f"{name}={value!r}" for name, value in entry.numbers.items() if not re.search(r"[,=\r\n]", name)]
    if features:
        lines.append("#EXTFABULA:" + ",".join(features))
    return "".join(line + end for line in [*lines, m3u_location(entry.location)])


def m3u_location(location: str) -> str:
    """A location as a line of M3U, where a name that starts with ``#`` would be a comment."""
    return text_lines.writable_line(f"./{location}" if location.lstrip().startswith("#") else location, "M3U")


FORMAT = PlaylistFormat("m3u", (".m3u", ".m3u8"), read_m3u, write_m3u, m3u_location, unicode_endings=(".m3u8",))
