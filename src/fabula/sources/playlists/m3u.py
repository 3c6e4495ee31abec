"""M3U, M3U8 and PLS playlists.

Lines of M3U that start with ``#`` belong to the entry they precede; those about the whole playlist stay at its head.
One directive is our own: ``#EXTFABULA:energy=0.5,tempo=120`` gives features of the entry that follows.
"""

import codecs
import math
import re
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from fabula.core.files import FilePath, decode, legible, read_bytes, read_text
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


def read_m3u(path: FilePath) -> Playlist:
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


def _encodings(path: FilePath, data: bytes) -> list[str]:
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


M3U = PlaylistFormat("m3u", (".m3u", ".m3u8"), read_m3u, write_m3u, m3u_location, unicode_endings=(".m3u8",))


# PLS: ``[playlist]``, then File1, Title1, Length1 and so on, NumberOfEntries, Version.

_NUMBERED = re.compile(r"(\s*([A-Za-z_-]+?))(\d+)(\s*=[ \t]*)(.*)", re.DOTALL)
_COUNT = re.compile(r"(?im)^(\s*NumberOfEntries\s*=\s*)(\d*)")
_TITLE = re.compile(r"(?im)^\s*X-GNOME-Title\s*=([^\r\n]*)")
_pls_location = partial(text_lines.writable_line, what="PLS")
_NUMBER = "\0"  # stands for the number of the entry in its kept lines; no text file holds it


def read_pls(path: FilePath) -> Playlist:
    """Read a PLS playlist; entries come in the order of their numbers."""
    text, script = read_text(path, "a PLS playlist", any_bytes=True, most=entries.MOST_BYTES)
    if not re.match(r"\s*(?:[;#][^\r\n]*\s+)*\[playlist\]", text, re.IGNORECASE):
        raise FileError(f"{path}: is not a PLS playlist (it must start with [playlist])")
    head, blocks, tail = _parts(path, text)
    found = [_pls_entry(path, number, blocks[number], script.encoding) for number in sorted(blocks)]
    match = _TITLE.search(text)
    title = legible(match[1].strip()) if match else ""
    return entries.make_playlist(path, "pls", found, title=title, head=head, tail=tail, text=text, script=script)


def _parts(path: FilePath, text: str) -> tuple[str, dict[int, list[str]], str]:
    """Lines before the entries, lines of each entry by its number, lines after; comments go with what follows."""
    head, tail = "", ""
    blocks: dict[int, list[str]] = {}
    pending = ""
    for line in text_lines.each_line(text_lines.terminate(text)):
        match = _NUMBERED.match(line)
        if match:
            entries.check_count(path, len(blocks))
            if not blocks and not pending.strip():
                head, pending = head + pending, ""
            blocks.setdefault(int(match[3]), []).append(f"{pending}{match[1]}{_NUMBER}{match[4]}{match[5]}")
            pending = ""
        elif not line.strip() or line.lstrip().startswith((";", "#")):
            pending += line
        elif blocks:
            tail, pending = tail + pending + line, ""
        else:
            head, pending = head + pending + line, ""
    return head, blocks, tail + pending


def _pls_entry(path: FilePath, number: int, lines: list[str], encoding: str) -> Entry:
    fields = {}
    for line in lines:
        key, _, value = line.rpartition(_NUMBER)
        fields[list(text_lines.each_line(key))[-1].strip().lower()] = value.partition("=")[2].strip()
    if not fields.get("file"):
        raise FileError(f"{path}: entry {number} has no location (File{number}=...)")
    artist, title = text_lines.split_label(legible(fields.get("title", "")))
    block = "".join(lines)
    match = re.search(rf"(?im)^[ \t]*file{_NUMBER}\s*=[ \t]*([^\r\n]*)", block)
    a, b = match.span(1) if match else (0, 0)
    raw = (block[:a], block[a:b], block[b:])
    location = entries.on_disk(fields["file"], Path(path).parent, encoding)
    return Entry(location, title, artist, text_lines.above_zero(fields.get("length", "")), raw=raw)


def write_pls(playlist: Playlist, comments: Comments | None = None) -> str:
    """The playlist as PLS text, numbered from 1; entries that came from PLS with all their lines."""
    kept = playlist.format == "pls"
    end = text_lines.line_end(playlist.text) if kept else "\n"
    blocks = []
    for position, entry in enumerate(playlist.entries):
        comment = f"; {text_lines.one_line(comments[position])}{end}" if comments and position in comments else ""
        if kept and entry.raw:
            block = text_lines.terminate("".join(entry.raw))
        else:
            lines = [f"File{_NUMBER}={_pls_location(entry.location)}"]
            lines += [f"Title{_NUMBER}={entry.label}"] if entry.label else []
            lines.append(f"Length{_NUMBER}={text_lines.seconds_text(entry.duration)}")
            block = "".join(line + end for line in lines)
        block = block if comments is None else text_lines.without_breaks(block)
        blocks.append(comment + block.replace(_NUMBER, str(position + 1)))
    if not kept:
        title = f"X-GNOME-Title={text_lines.one_line(playlist.title)}\n" if playlist.title else ""
        return f"[playlist]\n{title}{''.join(blocks)}NumberOfEntries={len(playlist)}\nVersion=2\n"
    numbers = [match[3] for match in map(_NUMBERED.match, text_lines.each_line(playlist.text)) if match]
    if len(list(groupby(numbers))) > len(set(numbers)):  # all the files, then all the titles, then all the lengths
        blocks = _by_key(blocks)
    counted = lambda match: match[0] if match[2] == str(len(playlist)) else f"{match[1]}{len(playlist)}"  # noqa: E731
    return text_lines.end_like(_COUNT.sub(counted, playlist.head + "".join(blocks) + playlist.tail), playlist.text)


def _by_key(blocks: list[str]) -> list[str]:
    """The lines of all entries, key by key."""
    lines: dict[str, list[str]] = {}
    for block in blocks:
        before = ""
        for line in text_lines.each_line(block):
            match = _NUMBERED.match(line)
            before += line
            if match:
                lines.setdefault(match[2].strip().lower(), []).append(before)
                before = ""
    return [line for group in lines.values() for line in group]


PLS = PlaylistFormat("pls", (".pls",), read_pls, write_pls, _pls_location)
