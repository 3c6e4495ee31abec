"""XSPF playlists: XML whose locations are URIs.

The text of each track is kept as it stands in the file and moved as a whole, so that nothing but the order changes.
"""

import math
import os
import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from fabula.core.files import decode, read_bytes
from fabula.errors import FileError
from fabula.sources.playlists import entries
from fabula.sources.playlists.entries import Comments, Entry, Playlist, PlaylistFormat
from fabula.sources.playlists.text_lines import TAG, above_zero, is_break, mask_comments, one_line, writable_text

_TAG = re.compile(rb"<[^>\"']*(?:\"[^\"]*\"[^>\"']*|'[^']*'[^>\"']*)*>")
_DECLARED = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)")
_COMMENT = re.compile(r"(?<!\s)\s*<!--(.*?)-->", re.DOTALL)
_VLC_ID = re.compile(r"<vlc:id>\s*(\d+)\s*</vlc:id>")
_VLC_ITEM = re.compile(r"(<vlc:item\s+tid=[\"'])(\d+)")
_VLC_GROUP = re.compile(r"(</?(?:vlc:node|extension)\b[^>]*>)")
_SPELLED = re.compile("(?! )[ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+(?<! )")
_ELEMENTS_EACH = 20  # that a track may have, on the average of a full playlist


def read_xspf(path: str | os.PathLike[str]) -> Playlist:
    """Read an XSPF playlist; a document type or an entity of its own is refused."""
    content = read_bytes(path, most=entries.MOST_BYTES)
    declared = _DECLARED.match(content.lstrip()[:200])
    text, script = decode(content, path, "an XSPF playlist", [declared[1].decode() if declared else "utf-8"])
    data = text.encode("utf-8", "surrogatepass")
    try:
        head, parts, tail = _cut(path, data)
        root = ET.fromstring(data, ET.XMLParser(encoding="utf-8"))
    except (expat.ExpatError, ET.ParseError) as error:
        raise FileError(f"{path}: is not an XSPF playlist (broken XML: {error})") from error
    if _local(root.tag) != "playlist":
        raise FileError(f"{path}: is not an XSPF playlist (its root must be <playlist>; got <{_local(root.tag)}>)")
    tracks = [track for group in _children(root, "trackList") for track in _children(group, "track")]
    found = [
        _entry(f"{path}: entry {number}", track, raw)
        for number, (track, raw) in enumerate(zip(tracks, parts, strict=True), start=1)
    ]
    about = {"title": _text(root, "title"), "head": head, "tail": tail, "text": text}
    return entries.make_playlist(path, "xspf", found, script=replace(script, errors="xmlcharrefreplace"), **about)


def _cut(path: str | os.PathLike[str], data: bytes) -> tuple[str, list[tuple[str, str, str]], str]:
    """The text before the tracks; of each track before, in and after its location; after the tracks."""
    parser = expat.ParserCreate("utf-8", " ")
    stack: list[str] = []
    cuts: list[list[int]] = []  # per track: start and end of its location, end of the track
    first, elements = 0, 0

    def tag_end() -> int:
        match = _TAG.match(data, parser.CurrentByteIndex)
        return match.end() if match else parser.CurrentByteIndex

    def on_start(name: str, _: Any) -> None:
        nonlocal first, elements
        elements += 1
        entries.check_count(path, elements // _ELEMENTS_EACH)
        stack.append(name.rpartition(" ")[2])
        if stack == ["playlist", "trackList"] and not cuts:
            first = tag_end()
        elif stack == ["playlist", "trackList", "track"]:
            entries.check_count(path, len(cuts))
            cuts.append([])
        elif stack == ["playlist", "trackList", "track", "location"] and not cuts[-1]:
            cuts[-1].append(tag_end())

    def on_end(_: str) -> None:
        if stack == ["playlist", "trackList", "track", "location"] and len(cuts[-1]) == 1:
            cuts[-1].append(max(parser.CurrentByteIndex, cuts[-1][0]))
        elif stack == ["playlist", "trackList", "track"]:
            cuts[-1] = [*(cuts[-1] or [tag_end()] * 2), tag_end()]
        stack.pop()

    def on_doctype(*_: Any) -> None:
        raise FileError(f"{path}: is refused: a playlist has no business with a document type (<!DOCTYPE ...>)")

    parser.StartElementHandler, parser.EndElementHandler = on_start, on_end
    parser.StartDoctypeDeclHandler = on_doctype
    parser.Parse(data, True)  # noqa: FBT003 - expat's own signature
    starts = [first, *(cut[2] for cut in cuts)]
    parts = [
        (data[start:a].decode(), data[a:b].decode(), data[b:end].decode())
        for start, (a, b, end) in zip(starts, cuts, strict=False)
    ]
    return data[:first].decode(), parts, data[starts[-1] :].decode()


def _entry(where: str, track: ET.Element, raw: tuple[str, str, str]) -> Entry:
    uri = _text(track, "location") or _text(track, "identifier")
    if not uri and not _text(track, "title"):
        raise FileError(f"{where} has neither a location nor a title")
    details: dict[str, Any] = {name: _text(track, name) for name in entries.DETAILS if _text(track, name)}
    details |= entries.meta_numbers((meta.get("rel", ""), meta.text or "") for meta in _children(track, "meta"))
    title, artist, duration = (_text(track, name) for name in ("title", "creator", "duration"))
    return Entry(entries.from_uri(uri), title, artist, above_zero(duration, per=1000), details, raw)


def write_xspf(playlist: Playlist, comments: Comments | None = None) -> str:
    """The playlist as XSPF text; tracks that came from XSPF as they were."""
    title = f"\n  <title>{escape_text(playlist.title)}</title>" if playlist.title else ""
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<playlist version="1" xmlns="http://xspf.org/ns/0/">'
    around = (f"{head}{title}\n  <trackList>", "\n  </trackList>\n</playlist>\n")
    ordered = replace(playlist, tail=_vlc_order(playlist))
    return entries.write_entries(ordered, "xspf", comments, _track, XML_COMMENTS, around)


def _without_breaks(before: str) -> str:
    """What stands before a location without the comments before its element that start a side."""
    tag = TAG.search(mask_comments(before + ">"))  # of a tag that ends behind the location
    at = before.rfind("<") if tag is None else tag.start()
    at = before.rfind("-->", 0, at) + 3  # what nothing closes is no comment
    return _COMMENT.sub(lambda match: "" if is_break(match[1].strip()) else match[0], before[:at]) + before[at:]


def _comment(text: str) -> str:
    """A comment of XML, in which two hyphens in a row are not allowed."""
    plain = re.sub(r"-(?=-)", "- ", writable_text(one_line(text))).rstrip("-")
    return f"\n    <!-- {plain} -->"


XML_COMMENTS = (_comment, _without_breaks)


def _vlc_order(playlist: Playlist) -> str:
    """The end of the file; VLC plays in the order of a list of ids there, so that list follows the tracks."""
    found = [_VLC_ID.search("".join(entry.raw)) for entry in playlist.entries if entry.raw]
    rank = {match[1]: position for position, match in reversed(list(enumerate(found))) if match}
    parts = _VLC_GROUP.split(playlist.tail)
    for number, part in enumerate(parts):
        ids = [match[2] for match in _VLC_ITEM.finditer(part)]
        if all(one in rank for one in ids):  # a group with an unknown one stays as it is
            ordered = iter(sorted(ids, key=rank.__getitem__))
            parts[number] = _VLC_ITEM.sub(lambda match, ids=ordered: match[1] + next(ids), part)
    return "".join(parts)


def _track(entry: Entry) -> str:
    lines = [f"<location>{xspf_location(entry.location)}</location>"] if entry.location else []
    texts = {"title": entry.title, "creator": entry.artist, "album": entry.details.get("album")}
    lines += [f"<{name}>{escape_text(str(text))}</{name}>" for name, text in texts.items() if text]
    if entry.duration is not None and math.isfinite(entry.duration):
        lines.append(f"<duration>{round(entry.duration * 1000)}</duration>")
    numbers = entry.numbers.items()
    lines += [f"<meta rel={quoteattr(entries.meta_name(name))}>{value!r}</meta>" for name, value in numbers]
    return "\n    <track>" + "".join(f"\n      {line}" for line in lines) + "\n    </track>"


def xspf_location(location: str) -> str:
    """A location as the text of a location element.

    Relative ones are spelled as the file is, but for what would end a URI or be taken for an escape: MPD takes them
    letter by letter, and who unescapes them finds the same file.
    """
    if not location or not entries.is_relative(location) or not _SPELLED.fullmatch(location):
        return escape(entries.to_uri(location))
    path = location.replace("\\", "/")
    bare = re.sub("[%?#]", lambda match: quote(match[0]), path)
    return escape(f"./{bare}" if ":" in bare.partition("/")[0] else bare)


def escape_text(text: str) -> str:
    """Text for XML; a carriage return as a reference, since a bare one becomes a line feed."""
    return escape(writable_text(text), {"\r": "&#13;"})


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _children(element: ET.Element, name: str) -> list[ET.Element]:
    return [child for child in element if _local(child.tag) == name]


def _text(element: ET.Element, name: str) -> str:
    return next(((child.text or "").strip() for child in _children(element, name)), "")


FORMAT = PlaylistFormat("xspf", (".xspf",), read_xspf, write_xspf, xspf_location)
