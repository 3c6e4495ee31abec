"""Cue sheets: a file for every track, or one long file of which every track is a stretch.

What stands of a track (titles, CD-Text, ISRC, flags, remarks) is moved with it; its number, and where it begins in a
long file, are written anew: the new sheet is that of the long file that is to be made, and says of every track which
stretch of the old one it is (``REM STRETCH``), by which it opens again.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from fabula.core.collection import Item
from fabula.core.files import FilePath, is_file, join_stretch, legible, read_text, split_stretch
from fabula.errors import FileError, InputError
from fabula.media.music.tags import CD_TEXTS, FRAMES, clock_frames, quote_text, track_lines
from fabula.sources.playlists import entries
from fabula.sources.playlists.entries import Comments, Entry, Playlist, PlaylistFormat
from fabula.sources.playlists.text_lines import each_line, is_break, line_end, one_line, terminate, without_breaks

_FILE = re.compile(r"(?:\"([^\"]*)\"|(\S+))(?:\s+(\w+))?")
_INDEX = re.compile(r"(\d{1,2})\s+(\d{1,4}:\d{1,2}:\d{1,2})")
_STRETCH = re.compile(r"STRETCH\s+\"([^\"]*)\"\s+(\d+:\d\d:\d\d)(?:\s+(\d+:\d\d:\d\d))?", re.IGNORECASE)


@dataclass
class _Track:
    """A track as it is read: the line at which it begins, its file, its lines, and what they say."""

    line: int
    file: str
    lines: list[str] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    indices: dict[int, int] = field(default_factory=dict)  # number -> frames from the beginning of the file
    stretch: tuple[str, int, int | None] | None = None  # of another file, in frames

    @property
    def begins(self) -> int:
        """Where it and the silence before it begin, in frames."""
        return min(self.indices.values())

    @property
    def sounds(self) -> int:
        """Where it begins itself; some programs write another index alone."""
        return self.indices.get(1, self.begins)


def read_cue(path: FilePath) -> Playlist:
    """Read a cue sheet; a track of a file that has several is a stretch of it, ``image.flac#t=12.5,200``."""
    text, script = read_text(path, "a cue sheet", any_bytes=True, most=entries.MOST_BYTES)
    head, tracks, tail = _parts(path, text)
    if not tracks:
        raise FileError(f"{path}: is not a cue sheet (no TRACK with an INDEX stands in it)")
    shared = {track.file for track, after in pairwise(tracks) if track.file == after.file}
    title, artist = (_value(head, name) for name in ("TITLE", "PERFORMER"))
    found = []
    for track, after in zip(tracks, [*tracks[1:], None], strict=True):
        ends = None  # of the stretch, where the next track is one of the same file
        if after is not None and after.file == track.file and not any(_word(line) == "FILE" for line in after.lines):
            ends = after.begins
            if ends < track.sounds:
                raise FileError(f"{path}: line {after.line}: the track begins before the one before it")
        found.append(_entry(track, ends, Path(path).parent, artist, single=track.file not in shared))
    return entries.make_playlist(path, "cue", found, title=title, head=head, tail=tail, text=text, script=script)


def _parts(path: FilePath, text: str) -> tuple[str, list[_Track], str]:
    """The lines before the first file, the tracks, and what stands behind them."""
    head: list[str] = []
    pending: list[str] = []  # from a FILE on to the first track of it
    tracks: list[_Track] = []
    file = ""
    for number, line in enumerate(each_line(terminate(text)), start=1):
        word, rest = (*legible(line).strip().split(None, 1), "", "")[:2]
        word = word.upper()
        if word == "FILE" and (named := _FILE.match(line.strip()[4:].strip())):
            file = named[2] if named[1] is None else named[1]
            pending.append(line)
        elif is_break(line):  # of a side that begins
            pending.append(line)
        elif word == "TRACK" and file:
            entries.check_count(path, len(tracks))
            tracks.append(_Track(number, file, [*pending, line]))
            pending = []
        elif not tracks:
            head.append(line)
        else:
            if pending and word == "INDEX":  # of a file just named: the silence before lies in the file before
                tracks[-1].lines = [*pending, *(one for one in tracks[-1].lines if _word(one) != "INDEX")]
                tracks[-1].file, pending = file, []
                tracks[-1].indices.clear()
            tracks[-1].lines.append(line)
            _note(path, number, tracks[-1], word, rest)
    for track in tracks:
        if not track.indices:
            raise FileError(f"{path}: line {track.line}: the track has no INDEX")
    return "".join(head), tracks, "".join(pending)


def _note(path: FilePath, number: int, track: _Track, word: str, rest: str) -> None:
    """Keep what a line says of a track."""
    if word == "INDEX":
        found = _INDEX.fullmatch(rest)
        _, seconds, frames = found[2].split(":") if found else ("", 60, FRAMES)
        if not found or int(seconds) > 59 or int(frames) >= FRAMES:
            raise FileError(f"{path}: line {number}: INDEX must be NN MM:SS:FF, with 75 frames a second; got {rest!r}")
        track.indices[int(found[1])] = _frames(found[2])
    elif word == "REM" and (found := _STRETCH.fullmatch(rest)):
        track.stretch = found[1], _frames(found[2]), _frames(found[3]) if found[3] else None
    elif word.lower() in ("title", "performer", *CD_TEXTS):
        track.said.setdefault(word.lower(), _bare(rest))


def _word(line: str) -> str:
    """What a line is about: its first word."""
    return (line.split(None, 1) or [""])[0].upper()


def _entry(track: _Track, ends: int | None, folder: Path, artist: str, *, single: bool) -> Entry:
    begins = track.sounds
    file = track.file if entries.is_address(track.file) else entries.on_disk(track.file, folder)
    if track.stretch is not None and not is_file(entries.resolve(file, folder)):
        (file, begins, ends), single = track.stretch, False
    location = file
    if begins or not single:
        location = join_stretch(file, begins / FRAMES, None if ends is None else ends / FRAMES)
    details: dict[str, Any] = {name: track.said[name] for name in CD_TEXTS if track.said.get(name)}
    duration = None if ends is None else (ends - begins) / FRAMES
    title = track.said.get("title", "")
    made_by = track.said.get("performer", "") or artist
    block = "".join(track.lines)
    named = re.search(r"(?im)^[ \t]*FILE[ \t]+(?:\"([^\"]*)\"|(\S+))", block)
    a, b = named.span(1 if named[1] is not None else 2) if named else (len(block), len(block))
    return Entry(location, title, made_by, duration, details, (block[:a], block[a:b], block[b:]))


def write_cue_sheet(playlist: Playlist, comments: Comments | None = None) -> str:
    """The playlist as a cue sheet, numbered from 1; what stands of tracks that came from one is kept."""
    kept = playlist.format == "cue"
    end = line_end(playlist.text) if kept else "\r\n"
    whole = kept and any(split_stretch(entry.location)[1] is not None for entry in playlist.entries)
    title = f"TITLE {quote_text(playlist.title)}{end}" if playlist.title else ""
    lines = [playlist.head if kept else title]
    if whole:  # the long file that is to be made of the old one
        old = split_stretch(playlist.entries[0].location)[0]
        lines.append(f'FILE "{Path(old.replace(chr(92), "/")).stem} (new order).wav" WAVE{end}')
    begins = 0
    for position, entry in enumerate(playlist.entries):
        if comments and position in comments:
            lines.append(f"REM {one_line(comments[position])}{end}")
        if not kept or entry.raw is None:
            file, start, _ = split_stretch(entry.location)
            item = Item(file, entry.title or Path(file).stem, cue_location(file), entry.artist, entry.details)
            lines += [line + end for line in track_lines(item, position % 99 + 1, begins=start or 0.0)]
            continue
        block = "".join(entry.raw) if comments is None else without_breaks("".join(entry.raw))
        if whole:
            length = _whole_length(entry, last=position + 1 == len(playlist))
            block = _shift(block, begins, entry, end)
            begins += length + round(playlist.gap * FRAMES)
        elif playlist.gap and position and not re.search(r"(?im)^[ \t]*(?:PREGAP|INDEX[ \t]+00)\b", block):
            pause = f"    PREGAP {clock_frames(playlist.gap)}{end}"
            block = re.sub(r"(?im)^(?=[ \t]*INDEX[ \t]+01)", pause, block, count=1)
        number = f"{position % 99 + 1:02d}"  # a CD has 99 at most, and then they begin again
        lines.append(re.sub(r"(?im)^([ \t]*TRACK[ \t]+)\d+", rf"\g<1>{number}", terminate(block), count=1))
    return "".join(lines) + (playlist.tail if kept else "")


def _whole_length(entry: Entry, *, last: bool) -> int:
    """Frames that a track takes in the long file, with the silence before it; 0 where that is of no matter."""
    if entry.duration is None:
        if last:
            return 0
        told = f"the length of {entry.title or entry.location!r} is not known"
        raise InputError(f"{told}, since its file is not here: a cue sheet cannot say when the next one begins")
    found = {int(m[1]): _frames(m[2]) for m in _INDEX.finditer("".join(entry.raw or ()))}
    silence = found[1] - min(found.values()) if 1 in found else 0
    return silence + round(entry.duration * FRAMES)


def _shift(block: str, begins: int, entry: Entry, end: str) -> str:
    """The lines of a track without its file, its indices counted from another place, and where it comes from."""
    file, start, stop = split_stretch(entry.location)
    later = begins - min(_frames(m[2]) for m in _INDEX.finditer(block))
    lines = []
    for line in each_line(terminate(block)):
        if _word(line) == "INDEX":
            line = _INDEX.sub(lambda m: f"{m[1]} {clock_frames((_frames(m[2]) + later) / FRAMES)}", line)
        if _word(line) != "FILE":
            lines.append(line)
    if "REM STRETCH" not in block.upper() and start is not None:
        stops = "" if stop is None else f" {clock_frames(stop)}"
        lines.append(f'    REM STRETCH "{file}" {clock_frames(start)}{stops}{end}')
    return "".join(lines)


def cue_location(location: str) -> str:
    """The file of a location, which can stand in quotes."""
    location = split_stretch(location)[0]
    if not location.strip() or '"' in location or "\n" in location or "\r" in location:
        raise InputError(f"a cue sheet cannot hold the location {location!r}; write .xspf or .jspf")
    return location


def _frames(clock: str) -> int:
    minutes, seconds, frames = map(int, clock.split(":"))
    return (60 * minutes + seconds) * FRAMES + frames


def _bare(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _value(text: str, word: str) -> str:
    """What the first line of a word says, without quotes."""
    match = re.search(rf"(?im)^[ \t]*{word}[ \t]+([^\r\n]*)", text)
    return _bare(legible(match[1]).strip()) if match else ""


FORMAT = PlaylistFormat("cue", (".cue",), read_cue, write_cue_sheet, cue_location)
