"""PLS playlists: ``[playlist]``, then File1, Title1, Length1 and so on, NumberOfEntries, Version."""

import os
import re
from functools import partial
from itertools import groupby
from pathlib import Path

from fabula.core.files import legible, read_text
from fabula.errors import FileError
from fabula.sources.playlists import entries, text_lines
from fabula.sources.playlists.entries import Comments, Entry, Playlist, PlaylistFormat

_NUMBERED = re.compile(r"(\s*([A-Za-z_-]+?))(\d+)(\s*=[ \t]*)(.*)", re.DOTALL)
_COUNT = re.compile(r"(?im)^(\s*NumberOfEntries\s*=\s*)(\d*)")
_TITLE = re.compile(r"(?im)^\s*X-GNOME-Title\s*=([^\r\n]*)")
_pls_location = partial(text_lines.writable_line, what="PLS")
_NUMBER = "\0"  # stands for the number of the entry in its kept lines; no text file holds it


def read_pls(path: str | os.PathLike[str]) -> Playlist:
    """Read a PLS playlist; entries come in the order of their numbers."""
    text, script = read_text(path, "a PLS playlist", any_bytes=True, most=entries.MOST_BYTES)
    if not re.match(r"\s*(?:[;#][^\r\n]*\s+)*\[playlist\]", text, re.IGNORECASE):
        raise FileError(f"{path}: is not a PLS playlist (it must start with [playlist])")
    head, blocks, tail = _parts(path, text)
    found = [_entry(path, number, blocks[number], script.encoding) for number in sorted(blocks)]
    match = _TITLE.search(text)
    title = legible(match[1].strip()) if match else ""
    return entries.make_playlist(path, "pls", found, title=title, head=head, tail=tail, text=text, script=script)


def _parts(path: str | os.PathLike[str], text: str) -> tuple[str, dict[int, list[str]], str]:
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


def _entry(path: str | os.PathLike[str], number: int, lines: list[str], encoding: str) -> Entry:
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


FORMAT = PlaylistFormat("pls", (".pls",), read_pls, write_pls, _pls_location)
