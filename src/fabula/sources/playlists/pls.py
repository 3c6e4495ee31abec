"""PLS playlists: ``[playlist]``, then File1, Title1, Length1 and so on, NumberOfEntries, Version."""

import os
import re
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from fabula.core.files import legible, read_text
from fabula.errors import FileError
from fabula.sources.playlists import text_lines
from fabula.sources.playlists.entries import MOST_BYTES, Comments, Entry, Playlist, PlaylistFormat, check_count, on_disk

_NUMBERED = re.compile(r"(\s*([A-Za-z_-]+?))(\d+)(\s*=[ \t]*)(.*)", re.DOTALL)
_COUNT = re.compile(r"(?im)^(\s*NumberOfEntries\s*=\s*)(\d*)")
_TITLE = re.compile(r"(?im)^\s*X-GNOME-Title\s*=([^\r\n]*)")
_NUMBER = "\0"  # stands for the number of the entry in its kept lines; no text file holds it


def read_pls(path: str | os.PathLike[str]) -> Playlist:
    """Read a PLS playlist; entries come in the order of their numbers."""
    text, script = read_text(path, "a PLS playlist", any_bytes=True, most=MOST_BYTES)
    if not re.match(r"\s*(?:[;#][^\r\n]*\s+)*\[playlist\]", text, re.IGNORECASE):
        raise FileError(f"{path}: is not a PLS playlist (it must start with [playlist])")
    head, blocks, tail = _parts(path, text)
    if not blocks:
        raise FileError(f"{path}: the playlist is empty")
    folder = Path(path).parent
    entries = tuple(_entry(path, number, blocks[number], script.encoding) for number in sorted(blocks))
    match = _TITLE.search(text)
    title = legible(match[1].strip()) if match else ""
    return Playlist(entries, title, "pls", folder, head, tail, text, entries, script)


def _parts(path: str | os.PathLike[str], text: str) -> tuple[str, dict[int, list[str]], str]:
    """Lines before the entries, lines of each entry by its number, lines after; comments go with what follows."""
    head, tail = "", ""
    blocks: dict[int, list[str]] = {}
    pending = ""
    for line in text_lines.each_line(text_lines.terminate(text)):
        match = _NUMBERED.match(line)
        if match:
            check_count(path, len(blocks))
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


def _entry(path: str | os.PathLike[str], number: int, lines: list[str], encoding: str) -> Entry:
    fields = {}
    for line in lines:
        key, _, value = line.rpartition(_NUMBER)
        fields[text_lines.lines_of(key)[-1].strip().lower()] = value.partition("=")[2].strip()
    if not fields.get("file"):
        raise FileError(f"{path}: entry {number} has no location (File{number}=...)")
    artist, title = text_lines.split_label(legible(fields.get("title", "")))
    block = "".join(lines)
    match = re.search(rf"(?im)^[ \t]*file{_NUMBER}\s*=[ \t]*([^\r\n]*)", block)
    cut = match.span(1) if match else (0, 0)
    raw = (block[: cut[0]], block[slice(*cut)], block[cut[1] :])
    location = on_disk(fields["file"], Path(path).parent, encoding)
    return Entry(location, title, artist, text_lines.above_zero(fields.get("length", "")), MappingProxyType({}), raw)


def write_pls(playlist: Playlist, comments: Comments | None = None) -> str:
    """The playlist as PLS text, numbered from 1; entries that came from PLS with all their lines."""
    kept = playlist.format == "pls"
    end = text_lines.line_end(playlist.text) if kept else "\n"
    blocks = []
    for position, entry in enumerate(playlist.entries):
        comment = f"; {text_lines.one_line(comments[position])}{end}" if comments and position in comments else ""
        block = text_lines.terminate("".join(entry.raw)) if kept and entry.raw else _block(entry, end)
        block = block if comments is None else text_lines.without_breaks(block)
        blocks.append(comment + block.replace(_NUMBER, str(position + 1)))
    if not kept:
        title = f"X-GNOME-Title={text_lines.one_line(playlist.title)}\n" if playlist.title else ""
        return f"[playlist]\n{title}{''.join(blocks)}NumberOfEntries={len(playlist)}\nVersion=2\n"
    numbers = [match[3] for match in map(_NUMBERED.match, text_lines.lines_of(playlist.text)) if match]
    if len(list(groupby(numbers))) > len(set(numbers)):  # all the files, then all the titles, then all the lengths
        blocks = _by_key(blocks)
    counted = lambda match: match[0] if match[2] == str(len(playlist)) else f"{match[1]}{len(playlist)}"  # noqa: E731
    return text_lines.end_like(_COUNT.sub(counted, playlist.head + "".join(blocks) + playlist.tail), playlist.text)


def _block(entry: Entry, end: str) -> str:
    lines = [f"File{_NUMBER}={pls_location(entry.location)}"]
    if entry.label:
        lines.append(f"Title{_NUMBER}={entry.label}")
    lines.append(f"Length{_NUMBER}={text_lines.seconds_text(entry.duration)}")
    return "".join(line + end for line in lines)


def pls_location(location: str) -> str:
    """A location as the value of File1."""
    return text_lines.writable_line(location, "PLS")


def _by_key(blocks: list[str]) -> list[str]:
    """The lines of all entries, key by key."""
    lines: dict[str, list[str]] = {}
    for block in blocks:
        before = ""
        for line in text_lines.lines_of(block):
            match = _NUMBERED.match(line)
            before += line
            if match:
                lines.setdefault(match[2].strip().lower(), []).append(before)
                before = ""
    return [line for group in lines.values() for line in group]


FORMAT = PlaylistFormat("pls", (".pls",), read_pls, write_pls, pls_location)
