"""JSPF playlists: XSPF as JSON."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fabula.errors import FileError
from fabula.sources.playlists.entries import Entry, Playlist
from fabula.sources.playlists.locations import from_uri, to_uri
from fabula.sources.playlists.xspf import meta_name, meta_numbers, milliseconds
from fabula.sources.text_files import read_text

_DETAILS = ("album", "trackNum", "annotation", "identifier", "info", "image")


def read_jspf(path: str | os.PathLike[str]) -> Playlist:
    """Read a JSPF playlist."""
    text, script = read_text(path, "a JSPF playlist", ["utf-8"])
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: is not a JSPF playlist (broken JSON: {error})") from error
    playlist = document.get("playlist") if isinstance(document, dict) else None
    tracks = playlist.get("track") if isinstance(playlist, dict) else None
    if not isinstance(playlist, dict) or not isinstance(tracks, list):
        raise FileError(f'{path}: is not a JSPF playlist (it must be {{"playlist": {{"track": [...]}}}})')
    if not tracks:
        raise FileError(f"{path}: the playlist is empty")
    entries = tuple(_entry(f"{path}: entry {number}", track) for number, track in enumerate(tracks, start=1))
    return Playlist(
        entries, _plain(playlist.get("title")), "jspf", Path(path).parent, text=text, read=entries, script=script
    )


def _entry(where: str, track: Any) -> Entry:
    if not isinstance(track, dict):
        raise FileError(f"{where} must be an object; got {type(track).__name__}")
    written = _first(track.get("location"))
    uri = written or _first(track.get("identifier"))
    if not uri:
        raise FileError(f"{where} has no location")
    details: dict[str, Any] = {name: _first(track.get(name)) for name in _DETAILS if _first(track.get(name))}
    metas = track.get("meta")
    for meta in metas if isinstance(metas, list) else [metas]:
        if isinstance(meta, dict):
            details |= meta_numbers((name, value) for name, value in meta.items() if not isinstance(value, bool))
    return Entry(
        from_uri(uri),
        _plain(track.get("title")),
        _plain(track.get("creator")),
        milliseconds(track.get("duration")),
        MappingProxyType(details),
        (json.dumps(track), written, ""),
    )


def write_jspf(playlist: Playlist) -> str:
    """The playlist as JSPF text; tracks and everything around them that came from JSPF as they were."""
    kept = playlist.format == "jspf"
    if kept and playlist.unchanged:
        return playlist.text
    tracks = [_kept(entry.raw) if kept and entry.raw else _track(entry) for entry in playlist.entries]
    fresh: dict[str, Any] = {"playlist": {"title": playlist.title} if playlist.title else {}}
    document = json.loads(playlist.text) if kept else fresh
    document["playlist"]["track"] = tracks
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _kept(raw: tuple[str, str, str]) -> Any:
    """A track as it was, with its location as it is written now."""
    track = json.loads(raw[0])
    if raw[1] and isinstance(track["location"], list):
        track["location"][0] = raw[1]
    elif raw[1]:
        track["location"] = raw[1]
    return track


def _track(entry: Entry) -> dict[str, Any]:
    track: dict[str, Any] = {"location": [to_uri(entry.location)]}
    texts = {"title": entry.title, "creator": entry.artist, "album": entry.details.get("album")}
    track |= {name: text for name, text in texts.items() if text}
    if entry.duration is not None and math.isfinite(entry.duration):
        track["duration"] = round(entry.duration * 1000)
    if entry.numbers:
        track["meta"] = [{meta_name(name): repr(value)} for name, value in entry.numbers.items()]
    return track


def _first(value: Any) -> str:
    return _plain(value[0] if isinstance(value, list) and value else value)


def _plain(value: Any) -> str:
    return value.strip() if isinstance(value, str) else str(value) if type(value) in (int, float) else ""
