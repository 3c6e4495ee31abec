"""JSPF playlists: XSPF as JSON.

The text of each track is kept as it stands in the file and moved as a whole, so that nothing but the order changes.
"""

import json
import math
import os
from typing import Any

from fabula.core.files import read_text
from fabula.errors import FileError
from fabula.sources.playlists import entries
from fabula.sources.playlists.entries import Comments, Entry, Playlist, PlaylistFormat
from fabula.sources.playlists.text_lines import above_zero, member, members, skip_space

_OBJECTS_EACH = 20  # that a track may have, on the average of a full playlist
_SIDE = entries.meta_name("side")


def read_jspf(path: str | os.PathLike[str]) -> Playlist:
    """Read a JSPF playlist."""
    text, script = read_text(path, "a JSPF playlist", ["utf-8"], most=entries.MOST_BYTES)
    entries.check_count(path, (text.count("{") + text.count("[")) // _OBJECTS_EACH)
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
        _entry(f"{path}: entry {number}", track, text[start:end])
        for number, (track, (start, end)) in enumerate(zip(tracks, spans, strict=True), start=1)
    ]
    head, tail = (text[: spans[0][0]], text[spans[-1][1] :]) if spans else ("", "")
    joint = text[spans[0][1] : spans[1][0]] if len(spans) > 1 else ", "
    about = {"head": head, "tail": tail, "text": text, "script": script, "joint": joint}
    return entries.make_playlist(path, "jspf", found, title=_plain(playlist.get("title")), **about)


def _entry(where: str, track: Any, text: str) -> Entry:
    if not isinstance(track, dict):
        raise FileError(f"{where} must be an object; got {type(track).__name__}")
    uri = _first(track.get("location")) or _first(track.get("identifier"))
    title = _plain(track.get("title"))
    if not uri and not title:
        raise FileError(f"{where} has neither a location nor a title")
    details: dict[str, Any] = {name: _first(track.get(name)) for name in entries.DETAILS if _first(track.get(name))}
    metas = track.get("meta")
    for meta in metas if isinstance(metas, list) else [metas]:
        if isinstance(meta, dict):
            numbers = ((name, value) for name, value in meta.items() if not isinstance(value, bool))
            details |= entries.meta_numbers(numbers)
    artist, seconds = _plain(track.get("creator")), above_zero(track.get("duration"), per=1000)
    span = member(text, 0, "location")
    if span and text[span[0]] == "[":
        span = next(((start, end) for _, start, end in members(text, span[0])), None)
    start, end = span if span and text[span[0]] == '"' else (len(text), len(text))
    raw = (text[:start], text[start:end], text[end:])
    return Entry(entries.from_uri(uri), title, artist, seconds, details, raw)


def write_jspf(playlist: Playlist, comments: Comments | None = None) -> str:
    """The playlist as JSPF text; what came from JSPF stays as it was. Comments are meta of the track they precede."""
    if playlist.format == "jspf":
        blocks = []
        for position, entry in enumerate(playlist.entries):
            text = "".join(entry.raw) if entry.raw else json.dumps(_track(entry), ensure_ascii=False)
            if comments is not None and (position in comments or _SIDE in text):
                text = json.dumps(_with_comment(json.loads(text), comments.get(position)), ensure_ascii=False)
            blocks.append(text)
        return playlist.head + playlist.joint.join(blocks) + playlist.tail
    title = {"title": playlist.title} if playlist.title else {}
    said = [(comments or {}).get(position) for position in range(len(playlist))]
    tracks = [_with_comment(_track(entry), text) for entry, text in zip(playlist.entries, said, strict=True)]
    return json.dumps({"playlist": {**title, "track": tracks}}, ensure_ascii=False, indent=2) + "\n"


def _with_comment(track: dict[str, Any], comment: str | None) -> dict[str, Any]:
    """The track with what is said before it, in place of what was said before."""
    given = track.get("meta") or []
    metas = [one for one in (given if isinstance(given, list) else [given]) if one.keys() != {_SIDE}]
    metas += [] if comment is None else [{_SIDE: comment}]
    return {**{key: value for key, value in track.items() if key != "meta"}, **({"meta": metas} if metas else {})}


def _track(entry: Entry) -> dict[str, Any]:
    track: dict[str, Any] = {"location": [entries.to_uri(entry.location)]} if entry.location else {}
    texts = {"title": entry.title, "creator": entry.artist, "album": entry.details.get("album")}
    track |= {name: text for name, text in texts.items() if text}
    if entry.duration is not None and math.isfinite(entry.duration):
        track["duration"] = round(entry.duration * 1000)
    if entry.numbers:
        track["meta"] = [{entries.meta_name(name): repr(value)} for name, value in entry.numbers.items()]
    return track


def _first(value: Any) -> str:
    return _plain(value[0] if isinstance(value, list) and value else value)


def _plain(value: Any) -> str:
    return value.strip() if isinstance(value, str) else str(value) if type(value) in (int, float) else ""


FORMAT = PlaylistFormat(
    "jspf", (".jspf",), read_jspf, write_jspf, lambda location: json.dumps(entries.to_uri(location))
)
