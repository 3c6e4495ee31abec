"""Lists of Windows and of Apple: WPL and ZPL, ASX and WAX, and libraries of iTunes and Apple Music (XML).

Those of Windows are seldom well-formed and are looked through tag by tag; nothing in them is expanded but the usual
references. Every entry is kept as it stands and moved as a whole, so that nothing but the order changes.
"""

import html
import os
import plistlib
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from fabula.core.files import FilePath, decode, open_file, read_bytes
from fabula.errors import FileError, InputError
from fabula.media.children import Limits, call
from fabula.media.facts import as_clock
from fabula.sources.playlists import entries, text_lines
from fabula.sources.playlists.entries import Choose, Comments, Entry, Playlist, PlaylistFormat
from fabula.sources.playlists.xspf import XML_COMMENTS, escape_text

_TITLE = re.compile(r"<title\s*>([^<]*)</title\s*>", re.IGNORECASE)
_LONGEST = 1 << 20  # characters of an entry
_SRC = re.compile(r"\ssrc\s*=\s*([\"'])(.*?)\1", re.IGNORECASE | re.DOTALL)
_HREF = re.compile(r"\shref\s*=\s*([\"'])(.*?)\1", re.IGNORECASE | re.DOTALL)


def _spans(path: FilePath, text: str, name: str) -> Iterator[tuple[int, int]]:
    """Where each element of a name starts and ends, but for those in comments."""
    start, found = -1, 0
    for match in text_lines.TAG.finditer(text_lines.mask_comments(text)):
        if match[2].lower() != name:
            continue
        closes = bool(match[1])
        if start < 0 and not closes:
            start = match.start()
        if start >= 0 and (closes or match[4]):
            if match.end() - start > _LONGEST:
                long = f"an entry has {match.end() - start:,} characters"
                raise FileError(f"{path}: is not a playlist that can be read ({long})")
            found += 1
            entries.check_count(path, found)
            yield start, match.end()
            start = -1


def _read_blocks(
    path: FilePath, what: str, root: str, name: str, entry_of: Callable[[str], tuple[Entry, tuple[int, int]]]
) -> Playlist:
    """A playlist whose entries are elements of one name; ``entry_of`` reads one, and finds its location in it."""
    text, script = text_lines.read_tags(path, what, root, entries.MOST_BYTES)
    found: list[Entry] = []
    end = None
    head = ""
    for start, stop in _spans(path, text, name):
        if end is None:
            end = len(text_lines.mask_comments(text[:start]).rstrip())  # comments go with what follows
            head = text[:end]
        entry, (a, b) = entry_of(text[start:stop])
        raw = (text[end : start + a], text[start + a : start + b], text[start + b : stop])
        location = entries.from_uri(entry.location) if entry.location.lower().startswith("file:") else entry.location
        location = entries.on_disk(location, Path(path).parent) if location else ""
        found.append(Entry(location, entry.title, entry.artist, entry.duration, entry.details, raw))
        end = stop
    titled = _TITLE.search(head)
    title = html.unescape(titled[1]).strip() if titled else ""
    return entries.make_playlist(path, root, found, title=title, head=head, tail=text[end:], text=text, script=script)


def _value_span(attribute: re.Pattern[str], text: str) -> tuple[int, int]:
    """Where the value of an attribute stands in an element; at its end where it has none."""
    found = attribute.search(text)
    return found.span(2) if found else (len(text), len(text))


# WPL and ZPL: <media src="..\a.mp3" trackTitle="..." trackArtist="..." duration="201000"/>


def _wpl_entry(text: str) -> tuple[Entry, tuple[int, int]]:
    said = text_lines.attributes_of(text)
    details = {"album": said["albumtitle"]} if said.get("albumtitle") else {}
    artist = said.get("trackartist") or said.get("albumartist", "")
    seconds = text_lines.above_zero(said.get("duration"), 1000)
    return Entry(said.get("src", ""), said.get("tracktitle", ""), artist, seconds, details), _value_span(_SRC, text)


# Windows Media Player, Zune and Groove
read_wpl = partial(_read_blocks, what="a WPL playlist", root="smil", name="media", entry_of=_wpl_entry)


def write_wpl(playlist: Playlist, comments: Comments | None = None) -> str:
    """The playlist as WPL; entries that came from WPL as they were."""

    def block(entry: Entry) -> str:
        said = {"src": wpl_location(entry.location, quoted=False), "trackTitle": entry.title}
        said |= {"trackArtist": entry.artist, "albumTitle": entry.details.get("album", "")}
        said["duration"] = "" if entry.duration is None else str(round(1000 * entry.duration))
        told = " ".join(f"{name}={quoteattr(text_lines.writable_text(value))}" for name, value in said.items() if value)
        return f"\n      <media {told}/>"

    title = f"\n    <title>{escape_text(playlist.title)}</title>" if playlist.title else ""
    head = f'<?wpl version="1.0"?>\n<smil>\n  <head>{title}\n  </head>\n  <body>\n    <seq>'
    around = (head, "\n    </seq>\n  </body>\n</smil>\n")
    return entries.write_entries(playlist, "smil", comments, block, XML_COMMENTS, around)


def wpl_location(location: str, *, quoted: bool = True) -> str:
    """A location as the value of an attribute: as it is. A name that is no text cannot stand there."""
    if text_lines.writable_text(location) != location:
        raise InputError(f"WPL and ASX cannot hold the location {location!r}; write .m3u8")
    return quoteattr(location)[1:-1] if quoted else location


# ASX and WAX: <entry><title>...</title><author>...</author><duration value="00:03:21"/><ref href="a.wma"/></entry>


def _asx_entry(text: str) -> tuple[Entry, tuple[int, int]]:
    said: dict[str, str] = {}
    span = (len(text), len(text))
    for match in text_lines.TAG.finditer(text):
        name = match[2].lower()
        if match[1] or name in said:
            continue
        given = text_lines.attributes_of(match[3])
        if name == "ref" and "href" in given:
            a, b = _value_span(_HREF, match[0])
            said[name], span = given["href"], (match.start() + a, match.start() + b)
        elif name == "duration":
            said[name] = given.get("value", "")
        else:
            said[name] = html.unescape(text[match.end() : text.find("<", match.end())]).strip()
    details = {"annotation": said["abstract"]} if said.get("abstract") else {}
    location, title, author = (said.get(name, "") for name in ("ref", "title", "author"))
    return Entry(location, title, author, text_lines.read_clock(said.get("duration", "")), details), span


# Windows Media in its older form
read_asx = partial(_read_blocks, what="an ASX playlist", root="asx", name="entry", entry_of=_asx_entry)


def write_asx(playlist: Playlist, comments: Comments | None = None) -> str:
    """The playlist as ASX; entries that came from ASX as they were."""

    def block(entry: Entry) -> str:
        lines = [f"<title>{escape_text(entry.title)}</title>"] if entry.title else []
        lines += [f"<author>{escape_text(entry.artist)}</author>"] if entry.artist else []
        lines += [f'<duration value="{as_clock(entry.duration, digits=3)}"/>'] if entry.duration is not None else []
        lines.append(f'<ref href="{wpl_location(entry.location)}"/>')
        return "\n  <entry>" + "".join(f"\n    {line}" for line in lines) + "\n  </entry>"

    title = f"\n  <title>{escape_text(playlist.title)}</title>" if playlist.title else ""
    around = (f'<asx version="3.0">{title}', "\n</asx>\n")
    return entries.write_entries(playlist, "asx", comments, block, XML_COMMENTS, around)


# Libraries of iTunes and Apple Music: tracks by number, and playlists that name numbers.

_ITEMS = re.compile(r"<key>Playlist Items</key>\s*<array>(.*?)</array", re.DOTALL)
_ITEM = re.compile(r"\s*<dict>\s*<key>Track ID</key>\s*<integer>(\d+)</integer>\s*</dict>")
_MOST_LIBRARY = 256 << 20
_APPLE = ("Name", "Artist", "Album", "Genre", "Total Time", "BPM", "Location", "Comments")


def read_library(path: str) -> dict[str, Any]:
    """The playlists of a library by name with the numbers of their tracks, and what is said of these: for a child."""
    with open_file(path) as file:
        try:
            document = plistlib.load(file, fmt=plistlib.FMT_XML)
        except (ValueError, expat.ExpatError, TypeError, AttributeError, LookupError, OverflowError) as error:
            raise FileError(f"{path}: is not a library of iTunes or Apple Music ({error})") from error
    tracks = document.get("Tracks") if isinstance(document, dict) else None
    lists = document.get("Playlists") if isinstance(document, dict) else None
    if not isinstance(tracks, dict) or not isinstance(lists, list):
        raise FileError(f"{path}: is not a library of iTunes or Apple Music (it has no Tracks and Playlists)")
    found: list[tuple[str, list[str], bool]] = []
    for one in lists:
        items = one.get("Playlist Items") if isinstance(one, dict) else None
        if isinstance(items, list):
            ids = [str(item.get("Track ID", "")) for item in items if isinstance(item, dict)]
            found.append((str(one.get("Name", "")), ids, bool(one.get("Master"))))
    wanted = {key for _, ids, _ in found for key in ids}
    said = {
        key: {name: track[name] for name in _APPLE if isinstance(track.get(name), (str, int))}
        for key, track in tracks.items()
        if key in wanted and isinstance(track, dict)
    }
    return {"lists": found, "tracks": said}


def read_itunes(path: FilePath, choose: Choose = lambda lists: 0) -> Playlist:
    """Read a playlist of a library of iTunes or Apple Music: the first, or which is chosen by names and sizes."""
    data = read_bytes(path, most=_MOST_LIBRARY)
    text, script = decode(data, path, "a library of iTunes or Apple Music", ["utf-8"])
    if "<plist" not in text[:2000]:
        raise FileError(f"{path}: is not a library of iTunes or Apple Music (it must be a property list, <plist>)")
    if "<!--" in text or "<![" in text:
        raise FileError(f"{path}: is refused: a library of iTunes or Apple Music has no comments and no sections")
    library = call(read_library, os.fspath(path), limits=Limits(10 + len(data) / (4 << 20)))
    lists = library["lists"]
    spans = [match.span(1) for match in _ITEMS.finditer(text)]
    whole = [one for one in lists if not one[2]] or lists  # the library itself is a playlist, too
    if not lists:
        raise FileError(f"{path}: holds no playlist")
    number = lists.index(whole[choose([(name, len(ids)) for name, ids, _ in whole])])
    title, ids, _ = lists[number]
    entries.check_count(path, len(ids))
    start, end = spans[number] if number < len(spans) else (0, 0)
    cuts: list[tuple[int, int, str]] = []
    while (item := _ITEM.match(text, start, end)) is not None:
        cuts.append((item.start(), item.end(), item[1]))
        start = item.end()
    if [key for _, _, key in cuts] != ids or not ids:
        raise FileError(f"{path}: the playlist {title!r} {'is not one that can be moved' if ids else 'is empty'}")
    found = []
    for a, b, key in cuts:
        said = library["tracks"].get(key, {})
        details = {name.lower(): str(said.get(name) or "") for name in ("Album", "Genre", "Comments")}
        told = {**details, "tempo": text_lines.above_zero(said.get("BPM"))}
        seconds = text_lines.above_zero(said.get("Total Time"), per=1000)
        location = entries.from_uri(str(said.get("Location", "")))
        name = said.get("Name") or Path(location).stem or f"track {key}"
        found.append(entries.make_entry(location, name, said.get("Artist"), seconds, told, (text[a:b], "", "")))
    about = {"head": text[: cuts[0][0]], "tail": text[cuts[-1][1] :], "text": text, "script": script}
    return entries.make_playlist(path, "itunes", found, title=title, **about)


def write_itunes(playlist: Playlist, comments: Comments | None = None) -> str:
    """The library with its playlist in another order; or a new one with these tracks, which Apple Music imports.

    A library has no comments: sides are not marked in it.
    """
    if playlist.format == "itunes":
        return playlist.head + "".join("".join(entry.raw or ()) for entry in playlist.entries) + playlist.tail
    tracks = {}
    for number, entry in enumerate(playlist.entries, start=1):
        said: dict[str, Any] = {"Track ID": number, "Name": entry.title, "Artist": entry.artist}
        said |= {name: entry.details.get(name.lower()) for name in ("Album", "Genre", "Comments")}
        said |= {"BPM": round(entry.numbers["tempo"])} if "tempo" in entry.numbers else {}
        said |= {"Total Time": round(1000 * entry.duration)} if entry.duration is not None else {}
        said |= {
            "Track Type": "URL" if entries.is_address(entry.location) else "File",
            "Location": entries.to_uri(entry.location),
        }
        tracks[str(number)] = {name: value for name, value in said.items() if value or value == 0}
    items = [{"Track ID": number} for number in range(1, len(playlist) + 1)]
    named = {"Name": playlist.title or "fabula", "Playlist ID": 1, "All Items": True, "Playlist Items": items}
    whole = {"Major Version": 1, "Minor Version": 1, "Date": datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)}
    return plistlib.dumps({**whole, "Tracks": tracks, "Playlists": [named]}, sort_keys=False).decode()


WPL = PlaylistFormat("smil", (".wpl", ".zpl"), read_wpl, write_wpl, wpl_location)
ASX = PlaylistFormat("asx", (".asx", ".wax", ".wvx"), read_asx, write_asx, wpl_location)
ITUNES = PlaylistFormat("itunes", (".xml",), read_itunes, write_itunes, entries.to_uri, several=True, absolute=True)
