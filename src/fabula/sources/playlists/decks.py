"""What DJs keep: collections of rekordbox (XML) and Traktor (NML), with the tempo and the key of each track.

Both hold all tracks once, and playlists that name them. An order is written as a playlist of its own beside the one it
was made of; all else, cues and grids among it, stays as it stands.
"""

import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from fabula.errors import FileError, InputError
from fabula.sources.playlists import entries
from fabula.sources.playlists.entries import Choose, Comments, Entry, Playlist, PlaylistFormat
from fabula.sources.playlists.text_lines import TAG, above_zero, attributes_of, mask_comments, read_tags

_MOST = 256 << 20  # bytes of a collection
_MOST_HELD = 1_000_000  # tracks, or playlists, of a collection
_TOLD = {"track", "entry", "location", "album", "info", "tempo", "musical_key"}  # the elements that say something
_NOTES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


@dataclass
class _ListNode:
    """A folder of playlists, or one of them, as it stands in the text."""

    name: str
    start: int
    count: tuple[int, int] | None  # the tag that counts what this one stands among
    end: int = 0
    keys: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Deck:
    """How a program writes its collection."""

    format: str
    root: str
    track: str  # the element of a track
    key: tuple[str, str]  # the element of a playlist that names one, and the attribute that does
    counter: str  # the element that counts the playlists in it
    what: str

    def key_of(self, said: Mapping[str, str]) -> str:
        """What playlists call a track."""
        if self.format == "rekordbox":
            return said.get("track.trackid", "")
        return "".join(said.get(f"location.{name}", "") for name in ("volume", "dir", "file"))

    def entry(self, said: Mapping[str, str], key: str) -> Entry:
        """A track, as it is told of."""
        if self.format == "rekordbox":
            text = {name: said.get(f"track.{name}", "") for name in ("name", "artist", "album", "genre", "comments")}
            tempo, seconds, tone = (said.get(f"track.{name}", "") for name in ("averagebpm", "totaltime", "tonality"))
            location = entries.from_uri(said.get("track.location", ""))
        else:
            places = {"name": "entry.title", "artist": "entry.artist", "album": "album.title"}
            places |= {"genre": "info.genre", "comments": "info.comment"}
            text = {name: said.get(place, "") for name, place in places.items()}
            tempo, seconds = said.get("tempo.bpm", ""), said.get("info.playtime_float") or said.get("info.playtime", "")
            number = said.get("musical_key.value", "")
            tone = name_key(int(number) if number.isdecimal() else -1) or said.get("info.key", "")
            volume, folder = said.get("location.volume", ""), said.get("location.dir", "").replace("/:", "/")
            location = (volume if re.fullmatch("[A-Za-z]:", volume) else "") + folder + said.get("location.file", "")
        details: dict[str, Any] = {name: text[name] for name in ("album", "genre", "comments") if text.get(name)}
        details |= {"key": tone} if tone else {}
        details |= {"tempo": beats} if (beats := above_zero(tempo)) else {}
        title = text["name"] or Path(location).stem or f"track {key}"
        return Entry(location, title, text["artist"], above_zero(seconds), details, (key, "", ""))


_REKORDBOX = _Deck("rekordbox", "DJ_PLAYLISTS", "track", ("track", "key"), "node", "a collection of rekordbox")
_TRAKTOR = _Deck("traktor", "NML", "entry", ("primarykey", "key"), "subnodes", "a collection of Traktor")


def name_key(number: int) -> str:
    """A key of Traktor, 0 to 11 for C to B major and 12 to 23 for minor, as people write it; "" for any other number.

    >>> name_key(0), name_key(21), name_key(-1)
    ('C', 'Am', '')
    """
    return f"{_NOTES[number % 12]}{'m' if number > 11 else ''}" if 0 <= number < 24 else ""


def _scan(text: str, deck: _Deck) -> tuple[dict[str, dict[str, str]], list[_ListNode]]:
    """The tracks by what playlists call them, and the playlists, in one pass over the tags."""
    tracks: dict[str, dict[str, str]] = {}
    lists: list[_ListNode] = []
    opened: list[tuple[str, _ListNode, tuple[int, int]]] = []  # folders, playlists and what counts them
    section = ""
    said: dict[str, str] | None = None
    for match in TAG.finditer(mask_comments(text)):
        if max(len(tracks), len(lists)) > _MOST_HELD:
            raise FileError(f"has more tracks or playlists than a collection may have ({_MOST_HELD:,})")
        closes, name, ended = bool(match[1]), match[2].lower(), bool(match[4])
        if name in ("collection", "playlists"):
            section = "" if closes or ended else name
        elif section == "collection":
            said = {} if name == deck.track and not closes else said
            if said is not None and not closes and name in _TOLD:
                for attribute, value in attributes_of(match[3]).items():
                    said.setdefault(f"{name}.{attribute}", value)
            if said is not None and name == deck.track and (closes or ended):
                tracks[deck.key_of(said)] = said
                said = None
        elif section == "playlists" and closes:
            if opened and opened[-1][0] == name:
                opened.pop()[1].end = match.end()
        elif section == "playlists":
            told = attributes_of(match[3])
            if name in ("node", "subnodes") and not ended:
                count = None
                if opened:
                    count = opened[-1][2] if opened[-1][0] == deck.counter else opened[-1][1].count
                opened.append((name, _ListNode(told.get("name", ""), match.start(), count), match.span()))
                lists += [opened[-1][1]] if told.get("type", "").upper() in ("1", "PLAYLIST") else []
            elif name == deck.key[0] and opened:
                opened[-1][1].keys.append(told.get(deck.key[1], ""))
    return tracks, [one for one in lists if one.end]


def _read(deck: _Deck, path: str | os.PathLike[str], choose: Choose = lambda lists: 0) -> Playlist:
    text, script = read_tags(path, deck.what, deck.root, _MOST)
    try:
        tracks, lists = _scan(text, deck)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    full = [one for one in lists if one.keys]
    if not full:
        raise FileError(f"{path}: has no playlist with tracks; make one in the program and export it again")
    node = full[choose([(one.name, len(one.keys)) for one in full])]
    entries.check_count(path, len(node.keys))
    found = [deck.entry(tracks.get(key, {}), key) for key in node.keys]
    about = {"head": text[: node.end], "tail": text[node.end :], "text": text, "script": script}
    return entries.make_playlist(path, deck.format, found, title=node.name, **about)


def _write(deck: _Deck, playlist: Playlist, _: Comments | None = None) -> str:
    """The collection with one more playlist, beside the one that was read; as it was where nothing has moved."""
    if playlist.format != deck.format:  # whose tracks the collection does not hold
        raise InputError(f"{deck.what} is written where one was read: it takes playlists of others as .m3u8")
    if playlist.is_unchanged:
        return playlist.text
    lists = _scan(playlist.text, deck)[1]
    node = next(one for one in lists if one.end == len(playlist.head))
    taken = {one.name for one in lists}
    name = quoteattr(entries.find_name(node.name, taken))
    indent = playlist.text[: node.start].rpartition("\n")[2]
    indent = "\n" + (indent if not indent.strip() else "")
    keys = [quoteattr((entry.raw or ("", "", ""))[0]) for entry in playlist.entries]
    if deck.format == "rekordbox":
        rows = "".join(f"{indent}  <TRACK Key={key}/>" for key in keys)
        made = f'{indent}<NODE Name={name} Type="1" KeyType="0" Entries="{len(keys)}">{rows}{indent}</NODE>'
    else:
        row = indent + '<ENTRY><PRIMARYKEY TYPE="TRACK" KEY={}></PRIMARYKEY>' + indent + "</ENTRY>"
        rows = "".join(map(row.format, keys))
        opened = f'<PLAYLIST ENTRIES="{len(keys)}" TYPE="LIST" UUID="{uuid.uuid4().hex}">'
        made = f'{indent}<NODE TYPE="PLAYLIST" NAME={name}>{opened}{rows}{indent}</PLAYLIST>{indent}</NODE>'
    head = playlist.head
    if node.count is not None:
        start, end = node.count
        more = lambda match: f"{match[1]}{int(match[2]) + 1}"  # noqa: E731
        counted = re.sub(r'(\scount\s*=\s*["\'])(\d+)', more, head[start:end], flags=re.IGNORECASE)
        head = head[:start] + counted + head[end:]
    return head + made + playlist.tail


REKORDBOX = PlaylistFormat(
    "rekordbox", (".xml",), partial(_read, _REKORDBOX), partial(_write, _REKORDBOX), entries.to_uri,
    several=True, absolute=True, marker="<DJ_PLAYLISTS",
)  # fmt: skip
TRAKTOR = PlaylistFormat(
    "traktor", (".nml",), partial(_read, _TRAKTOR), partial(_write, _TRAKTOR), entries.to_uri,
    several=True, absolute=True,
)  # fmt: skip
