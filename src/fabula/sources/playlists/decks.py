"""What DJs keep: collections of rekordbox (XML) and Traktor (NML), and crates of Serato, with tempo and key of tracks.

The first two hold all tracks once, and playlists that name them. An order is written as a playlist of its own beside
the one it was made of; all else, cues and grids among it, stays as it stands.
"""

import re
import struct
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from xml.sax.saxutils import quoteattr

from fabula.core.files import FilePath, Script, is_file, read_bytes
from fabula.errors import FabulaError, FileError, InputError
from fabula.sources.playlists import entries
from fabula.sources.playlists.entries import Choose, Comments, Entry, Playlist, PlaylistFormat
from fabula.sources.playlists.text_lines import TAG, above_zero, attributes_of, mask_comments, read_clock, read_tags

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
    places: Mapping[str, str]  # what is said of a track -> the element and the attribute that say it

    def key_of(self, said: Mapping[str, str]) -> str:
        """What playlists call a track."""
        if self.format == "rekordbox":
            return said.get("track.trackid", "")
        return "".join(said.get(f"location.{name}", "") for name in ("volume", "dir", "file"))

    def entry(self, said: Mapping[str, str], key: str) -> Entry:
        """A track, as it is told of."""
        text = {name: said.get(place, "") for name, place in self.places.items()}
        if self.format == "rekordbox":
            location = entries.from_uri(said.get("track.location", ""))
        else:
            number, volume = said.get("musical_key.value", ""), said.get("location.volume", "")
            text["key"] = name_key(int(number) if number.isdecimal() else -1) or text["key"]
            folder = said.get("location.dir", "").replace("/:", "/")
            location = (volume if re.fullmatch("[A-Za-z]:", volume) else "") + folder + said.get("location.file", "")
        details = {name: text[name] for name in ("album", "genre", "comments", "key")}
        told = {**details, "tempo": above_zero(text["tempo"])}
        title = text["title"] or Path(location).stem or f"track {key}"
        seconds = said.get("info.playtime_float") or text["length"]
        return entries.make_entry(location, title, text["artist"], seconds, told, (key, "", ""))


_ROLES = ("title", "artist", "album", "genre", "comments", "tempo", "length", "key")
_IN_REKORDBOX = (
    "track.name track.artist track.album track.genre track.comments track.averagebpm track.totaltime track.tonality"
)
_IN_TRAKTOR = "entry.title entry.artist album.title info.genre info.comment tempo.bpm info.playtime info.key"
_REKORDBOX = _Deck(
    "rekordbox", "DJ_PLAYLISTS", "track", ("track", "key"), "node", "a collection of rekordbox",
    dict(zip(_ROLES, _IN_REKORDBOX.split(), strict=True)),
)  # fmt: skip
_TRAKTOR = _Deck(
    "traktor", "NML", "entry", ("primarykey", "key"), "subnodes", "a collection of Traktor",
    dict(zip(_ROLES, _IN_TRAKTOR.split(), strict=True)),
)  # fmt: skip


def name_key(number: int) -> str:
    """A key of Traktor, 0 to 11 for C to B major and 12 to 23 for minor, as people write it; "" for any other number.

    >>> name_key(0), name_key(21), name_key(-1)
    ('C', 'Am', '')
    """
    return f"{_NOTES[number % 12]}{'m' if number > 11 else ''}" if 0 <= number < 24 else ""


def _scan(path: FilePath, text: str, deck: _Deck) -> tuple[dict[str, dict[str, str]], list[_ListNode]]:
    """The tracks by what playlists call them, and the playlists, in one pass over the tags."""
    tracks: dict[str, dict[str, str]] = {}
    lists: list[_ListNode] = []
    opened: list[tuple[str, _ListNode, tuple[int, int]]] = []  # folders, playlists and what counts them
    section = ""
    said: dict[str, str] | None = None
    for match in TAG.finditer(mask_comments(text)):
        if max(len(tracks), len(lists)) > _MOST_HELD:
            raise FileError(f"{path}: has more tracks or playlists than a collection may have ({_MOST_HELD:,})")
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


def _read(deck: _Deck, path: FilePath, choose: Choose = lambda lists: 0) -> Playlist:
    text, script = read_tags(path, deck.what, deck.root, _MOST)
    tracks, lists = _scan(path, text, deck)
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
    lists = _scan(playlist.title, playlist.text, deck)[1]
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


# Crates of Serato (``_Serato_/Subcrates/NAME.crate``): a run of chunks, four letters, a length, and what they hold,
# texts as UTF-16. Tracks are named from the root of the drive that they lie on; what Serato knows of them stands in
# ``_Serato_/database V2``, which is read beside it. The text of such a playlist is the bytes, a character for each.

_ONE_EACH = Script("latin-1")  # a character for each byte
_MOST_CHUNKS = 1_000_000  # in one: tracks of a file, fields of a track
_FIRST = 5  # files that are looked for, to find the drive
_ROOT = re.compile(r"(?:/Volumes/[^/]+|/run/media/[^/]+/[^/]+|/media/[^/]+/[^/]+|[A-Za-z]:)?[\\/]+")
_TEXTS = {"talb": "album", "tgen": "genre", "tkey": "key", "tcom": "comments", "ttyr": "year"}


def _chunks(path: FilePath, data: bytes) -> Iterator[tuple[str, bytes, int]]:
    """The name of each chunk, what it holds, and where it ends."""
    at = 0
    for _ in range(_MOST_CHUNKS):
        if at == len(data):
            return
        name, size = struct.unpack_from(">4sI", data, at) if at + 8 <= len(data) else (b"", len(data))
        at += 8 + size
        if at > len(data):
            raise FileError(f"{path}: is cut off, or no file of Serato")
        yield name.decode("latin-1"), data[at - size : at], at
    raise FileError(f"{path}: has more than {_MOST_CHUNKS:,} chunks")


def _read_chunks(path: FilePath, most: int) -> bytes:
    data = read_bytes(path, most=most)
    if not data.startswith(b"vrsn"):
        raise FileError(f"{path}: is no file of Serato (it must begin with vrsn)")
    return data


def read_crate(path: FilePath) -> Playlist:
    """Read a crate, and what Serato knows of its tracks."""
    data = _read_chunks(path, entries.MOST_BYTES)
    names: list[str] = []
    raw: list[str] = []
    head = last = 0
    for name, held, end in _chunks(path, data):
        if name == "otrk":
            entries.check_count(path, len(names))
            inner = {kind: text for kind, text, _ in _chunks(path, held)}
            names.append(inner.get("ptrk", b"").decode("utf-16-be", "replace"))
            head = head or end - len(held) - 8
            raw.append(data[last or head : end].decode("latin-1"))
            last = end
    if not names:
        raise FileError(f"{path}: holds no tracks")
    above = [*reversed(Path(path).absolute().parents)]  # the drive is the highest that has one of the first files
    base = next((one for one in above if any(is_file(one / name) for name in names[:_FIRST])), above[0])
    known, found = _read_known(path, set(names)), []
    for name, text in zip(names, raw, strict=True):
        said = known.get(name, {})
        details = {role: said.get(kind) for kind, role in _TEXTS.items()} | {"tempo": above_zero(said.get("tbpm"))}
        title, length = said.get("tsng") or Path(name).stem, read_clock(said.get("tlen", ""))
        found.append(entries.make_entry(base / name, title, said.get("tart"), length, details, (text, "", "")))
    text = data.decode("latin-1")
    title = Path(path).stem.rpartition("%%")[2]  # crates in crates are told by two percent signs
    about = {"head": text[:head], "tail": text[last:], "text": text, "script": _ONE_EACH}
    return entries.make_playlist(path, "serato", found, title=title, **about)


def _read_known(path: FilePath, names: set[str]) -> dict[str, dict[str, str]]:
    """What Serato knows of tracks, by their names; nothing where its database is not there or not whole."""
    file = Path(path).absolute().parent.parent / "database V2"
    try:
        data = _read_chunks(file, _MOST) if file.is_file() else b""
        known = {}
        for name, held, _ in _chunks(file, data):
            told = {kind: text for kind, text, _ in _chunks(file, held)} if name == "otrk" else {}
            track = told.get("pfil", b"").decode("utf-16-be", "replace")
            if track in names:
                known[track] = {kind: text.decode("utf-16-be", "replace") for kind, text in told.items()}
        return known
    except (FabulaError, OSError):
        return {}


def _chunk(name: str, held: bytes) -> bytes:
    return struct.pack(">4sI", name.encode("latin-1"), len(held)) + held


def crate_location(location: str) -> str:
    """A location as crates have it: from the root of its drive.

    >>> crate_location("/Volumes/USB/Music/a.mp3"), crate_location(r"C:\\Music\\a.mp3"), crate_location("/m/a.mp3")
    ('Music/a.mp3', 'Music/a.mp3', 'm/a.mp3')
    """
    return _ROOT.sub("", location, count=1).replace("\\", "/")


def write_crate(playlist: Playlist, _: Comments | None = None) -> str:
    """The crate, a character for each of its bytes; one that was read keeps all it holds."""
    if playlist.format == "serato":
        return playlist.head + "".join((entry.raw or ("",))[0] for entry in playlist.entries) + playlist.tail
    version = _chunk("vrsn", "1.0/Serato ScratchLive Crate".encode("utf-16-be"))
    names = [crate_location(entry.location).encode("utf-16-be", "surrogatepass") for entry in playlist.entries]
    return (version + b"".join(_chunk("otrk", _chunk("ptrk", name)) for name in names)).decode("latin-1")


SERATO = PlaylistFormat("serato", (".crate",), read_crate, write_crate, crate_location, absolute=True,
                        script=_ONE_EACH)  # fmt: skip
