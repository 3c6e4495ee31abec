"""XSPF playlists, XML whose locations are URIs, and JSPF: the same as JSON.

The text of each track is kept as it stands in the file and moved as a whole, so that nothing but the order changes.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, unquote
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from fabula.core.files import FilePath, decode, read_bytes, read_text
from fabula.errors import FileError
from fabula.sources.playlists import entries
from fabula.sources.playlists.entries import Comments, Entry, Playlist, PlaylistFormat
from fabula.sources.playlists.text_lines import (
    TAG,
    above_zero,
    is_break,
    mask_comments,
    member,
    members,
    one_line,
    skip_space,
    writable_text,
)

_TAG = re.compile(rb"<[^>\"']*(?:\"[^\"]*\"[^>\"']*|'[^']*'[^>\"']*)*>")
_DECLARED = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)")
_COMMENT = re.compile(r"(?<!\s)\s*<!--(.*?)-->", re.DOTALL)
_VLC_ID = re.compile(r"<vlc:id>\s*(\d+)\s*</vlc:id>")
_VLC_ITEM = re.compile(r"(<vlc:item\s+tid=[\"'])(\d+)")
_VLC_GROUP = re.compile(r"(</?(?:vlc:node|extension)\b[^>]*>)")
_SPELLED = re.compile("(?! )[ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+(?<! )")


# What both say of a track, and numbers in meta elements.

_DETAILS = ("album", "trackNum", "annotation", "identifier", "info", "image")
_PARTS_EACH = 20  # elements or objects that a track may have, on the average of a full playlist


def meta_numbers(pairs: Iterable[tuple[str, Any]]) -> dict[str, float]:
    """The finite numbers among meta values, by the last part of what they are said to be.

    >>> meta_numbers([("https://example.org/ns/energy", "0.5"), ("mood", "calm")])
    {'energy': 0.5}
    """
    numbers = {}
    for rel, value in pairs:
        name = unquote(re.split(r"[/#:]", rel.rstrip("/#:"))[-1])
        try:
            number = float(value)
        except (TypeError, ValueError):
            continue
        if name and math.isfinite(number):
            numbers[name] = number
    return numbers


def meta_name(name: str) -> str:
    """What a feature is called in a meta element."""
    return f"urn:fabula:{quote(name, safe='')}"


def _read_track(
    where: str, said: Mapping[str, str], metas: Iterable[tuple[str, Any]], raw: tuple[str, str, str]
) -> Entry:
    """An entry, by what stands in the elements of a track."""
    uri, title = said.get("location") or said.get("identifier", ""), said.get("title", "")
    if not uri and not title:
        raise FileError(f"{where} has neither a location nor a title")
    details: dict[str, Any] = {name: said[name] for name in _DETAILS if said.get(name)} | meta_numbers(metas)
    seconds = above_zero(said.get("duration"), per=1000)
    return Entry(entries.from_uri(uri), title, said.get("creator", ""), seconds, details, raw)


def _elements_of(entry: Entry) -> dict[str, Any]:
    """What stands in the elements of an entry's track, but for its location and numbers."""
    texts = {"title": entry.title, "creator": entry.artist, "album": entry.details.get("album")}
    said: dict[str, Any] = {name: text for name, text in texts.items() if text}
    if entry.duration is not None and math.isfinite(entry.duration):
        said["duration"] = round(entry.duration * 1000)
    return said


# XSPF.


def read_xspf(path: FilePath) -> Playlist:
    """Read an XSPF playlist; a document type or an entity of its own is refused."""
    content = read_bytes(path, most=entries.MOST_BYTES)
    declared = _DECLARED.match(content.lstrip()[:200])
    text, script = decode(content, path, "an XSPF playlist", [declared[1].decode() if declared else "utf-8"])
    data = text.encode("utf-8", "surrogatepass")
    try:
        read = _XspfReader(path, data)
    except expat.ExpatError as error:
        raise FileError(f"{path}: is not an XSPF playlist (broken XML: {error})") from error
    found, start = [], read.first
    for number, track in enumerate(read.tracks, start=1):
        a, b, end = track.cuts
        raw = (data[start:a].decode(), data[a:b].decode(), data[b:end].decode())
        found.append(_read_track(f"{path}: entry {number}", track.said, track.metas, raw))
        start = end
    about = {"title": read.title, "head": data[: read.first].decode(), "tail": data[start:].decode(), "text": text}
    return entries.make_playlist(path, "xspf", found, script=replace(script, errors="xmlcharrefreplace"), **about)


@dataclass
class _XspfTrack:
    """A track while it is read: what its elements say, and where its location starts and ends, and it itself."""

    said: dict[str, str] = field(default_factory=dict)
    metas: list[tuple[str, str]] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)


_TRACK = ["playlist", "trackList", "track"]


class _XspfReader:
    """The title, the tracks, and where the first of them begins, in one pass."""

    def __init__(self, path: FilePath, data: bytes) -> None:
        self.title, self.first = "", 0
        self.tracks: list[_XspfTrack] = []
        self._path, self._data = path, data
        self._open: list[str] = []  # the elements that are open,
        self._texts: list[list[str]] = []  # and what each says before others in it
        self._rel, self._elements, self._ended = "", 0, False
        self._parser = expat.ParserCreate("utf-8", " ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._start, self._end
        self._parser.CharacterDataHandler, self._parser.StartDoctypeDeclHandler = self._say, self._refuse
        self._parser.Parse(data, True)  # noqa: FBT003 - expat's own signature

    def _tag_end(self) -> int:
        match = _TAG.match(self._data, self._parser.CurrentByteIndex)
        return match.end() if match else self._parser.CurrentByteIndex

    def _start(self, name: str, given: dict[str, str]) -> None:
        self._elements, self._ended = self._elements + 1, False
        entries.check_count(self._path, self._elements // _PARTS_EACH)
        self._open.append(name.rpartition(" ")[2])
        self._texts.append([])
        if self._open[0] != "playlist":
            got = f"its root must be <playlist>; got <{self._open[0]}>"
            raise FileError(f"{self._path}: is not an XSPF playlist ({got})")
        if self._open == _TRACK[:2] and not self.tracks:
            self.first = self._tag_end()
        elif self._open == _TRACK:
            entries.check_count(self._path, len(self.tracks))
            self.tracks.append(_XspfTrack())
        elif self._open[:-1] == _TRACK:
            self._rel = given.get("rel", "")
            if self._open[-1] == "location" and not self.tracks[-1].cuts:
                self.tracks[-1].cuts.append(self._tag_end())

    def _say(self, text: str) -> None:
        if not self._ended:
            self._texts[-1].append(text)

    def _end(self, _: str) -> None:
        said, self._ended = "".join(self._texts.pop()).strip(), True
        if self._open == _TRACK:
            self.tracks[-1].cuts = [*(self.tracks[-1].cuts or [self._tag_end()] * 2), self._tag_end()]
        elif self._open[:-1] == _TRACK:
            track = self.tracks[-1]
            if self._open[-1] == "location" and len(track.cuts) == 1:
                track.cuts.append(max(self._parser.CurrentByteIndex, track.cuts[0]))
            if self._open[-1] == "meta":
                track.metas.append((self._rel, said))
            track.said.setdefault(self._open[-1], said)
        elif self._open == ["playlist", "title"]:
            self.title = self.title or said
        self._open.pop()

    def _refuse(self, *_: Any) -> None:
        told = "a playlist has no business with a document type (<!DOCTYPE ...>)"
        raise FileError(f"{self._path}: is refused: {told}")


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
    lines += [f"<{name}>{escape_text(str(value))}</{name}>" for name, value in _elements_of(entry).items()]
    numbers = entry.numbers.items()
    lines += [f"<meta rel={quoteattr(meta_name(name))}>{value!r}</meta>" for name, value in numbers]
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


# JSPF.

_SIDE = "urn:fabula:side"  # as `meta_name` would call it


def read_jspf(path: FilePath) -> Playlist:
    """Read a JSPF playlist."""
    text, script = read_text(path, "a JSPF playlist", ["utf-8"], most=entries.MOST_BYTES)
    entries.check_count(path, (text.count("{") + text.count("[")) // _PARTS_EACH)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: is not a JSPF playlist (broken JSON: {error})") from error
    playlist = document.get("playlist") if isinstance(document, dict) else None
    tracks = playlist.get("track") if isinstance(playlist, dict) else None
    if not isinstance(playlist, dict) or not isinstance(tracks, list):
        raise FileError(f'{path}: is not a JSPF playlist (it must be {{"playlist": {{"track": [...]}}}})')
    entries.check_count(path, len(tracks))
    at = skip_space(text)
    for name in ("playlist", "track"):
        span = member(text, at, name)
        at = span[0] if span else at
    spans = [(start, end) for _, start, end in members(text, at)]
    found = [
        _read_object(f"{path}: entry {number}", track, text[start:end])
        for number, (track, (start, end)) in enumerate(zip(tracks, spans, strict=True), start=1)
    ]
    head, tail = (text[: spans[0][0]], text[spans[-1][1] :]) if spans else ("", "")
    joint = text[spans[0][1] : spans[1][0]] if len(spans) > 1 else ", "
    about = {"head": head, "tail": tail, "text": text, "script": script, "joint": joint}
    return entries.make_playlist(path, "jspf", found, title=_first(playlist.get("title")), **about)


def _read_object(where: str, track: Any, text: str) -> Entry:
    if not isinstance(track, dict):
        raise FileError(f"{where} must be an object; got {type(track).__name__}")
    given = track.get("meta")
    metas = [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, dict)]
    numbers = ((name, value) for one in metas for name, value in one.items() if not isinstance(value, bool))
    span = member(text, 0, "location")
    if span and text[span[0]] == "[":
        span = next(((start, end) for _, start, end in members(text, span[0])), None)
    start, end = span if span and text[span[0]] == '"' else (len(text), len(text))
    said = {name: _first(value) for name, value in track.items()}
    return _read_track(where, said, numbers, (text[:start], text[start:end], text[end:]))


def write_jspf(playlist: Playlist, comments: Comments | None = None) -> str:
    """The playlist as JSPF text; what came from JSPF stays as it was. Comments are meta of the track they precede."""
    if playlist.format == "jspf":
        blocks = []
        for position, entry in enumerate(playlist.entries):
            text = "".join(entry.raw) if entry.raw else json.dumps(_track_of(entry), ensure_ascii=False)
            if comments is not None and (position in comments or _SIDE in text):
                text = json.dumps(_with_comment(json.loads(text), comments.get(position)), ensure_ascii=False)
            blocks.append(text)
        return playlist.head + playlist.joint.join(blocks) + playlist.tail
    title = {"title": playlist.title} if playlist.title else {}
    said = [(comments or {}).get(position) for position in range(len(playlist))]
    tracks = [_with_comment(_track_of(entry), text) for entry, text in zip(playlist.entries, said, strict=True)]
    return json.dumps({"playlist": {**title, "track": tracks}}, ensure_ascii=False, indent=2) + "\n"


def _with_comment(track: dict[str, Any], comment: str | None) -> dict[str, Any]:
    """The track with what is said before it, in place of what was said before."""
    given = track.get("meta") or []
    metas = [one for one in (given if isinstance(given, list) else [given]) if one.keys() != {_SIDE}]
    metas += [] if comment is None else [{_SIDE: comment}]
    return {**{key: value for key, value in track.items() if key != "meta"}, **({"meta": metas} if metas else {})}


def _track_of(entry: Entry) -> dict[str, Any]:
    track: dict[str, Any] = {"location": [entries.to_uri(entry.location)]} if entry.location else {}
    track |= _elements_of(entry)
    if entry.numbers:
        track["meta"] = [{meta_name(name): repr(value)} for name, value in entry.numbers.items()]
    return track


def _first(value: Any) -> str:
    """The text that a value is, or the first of several."""
    value = value[0] if isinstance(value, list) and value else value
    return value.strip() if isinstance(value, str) else str(value) if type(value) in (int, float) else ""


XSPF = PlaylistFormat("xspf", (".xspf",), read_xspf, write_xspf, xspf_location)
JSPF = PlaylistFormat("jspf", (".jspf",), read_jspf, write_jspf, lambda location: json.dumps(entries.to_uri(location)))
