"""Playlists as a source: the formats there are, each a module beside this one and a line here; read and written."""

import io
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import as_ordering
from fabula.core.collection import Collection, Item
from fabula.core.files import FilePath, Script, check_sparse, open_file, read_text, split_stretch, write_whole
from fabula.errors import FabulaError, FileError, InputError
from fabula.media.medium import Medium
from fabula.media.registry import choose_medium, find_medium, medium_of_file
from fabula.sources.playlists import cue, decks, m3u, tracklists, xml_lists, xspf
from fabula.sources.playlists.entries import (
    Entry,
    Playlist,
    PlaylistFormat,
    is_address,
    is_relative,
    move_location,
    resolve,
)
from fabula.sources.registry import Choice, Opening, Reader, Source, check_stretches, choose_collection, read_tags

FORMATS: tuple[PlaylistFormat, ...] = (
    m3u.M3U, m3u.PLS, xspf.XSPF, xspf.JSPF, xml_lists.WPL, xml_lists.ASX, decks.REKORDBOX, xml_lists.ITUNES,
    decks.TRAKTOR, decks.SERATO, cue.FORMAT,
)  # fmt: skip

PLAYLIST_ENDINGS = tuple(dict.fromkeys(ending for form in FORMATS for ending in form.endings))


def format_of(path: FilePath, playlist: Playlist | None = None) -> PlaylistFormat:
    """The format of a playlist, told by the ending of its name; of some that end alike that of a playlist to write.

    Where there is none to write, the one whose marker the file begins with.
    """
    ending = Path(path).suffix.lower()
    forms = [form for form in FORMATS if ending in form.endings]
    if playlist is not None:
        forms.sort(key=lambda form: (form.name != playlist.format, bool(form.marker)))
    elif len(forms) > 1:
        with open_file(path) if Path(path).is_file() else io.BytesIO() as file:
            start = file.read(4000)
        forms.sort(key=lambda form: (not form.marker or form.marker.encode() not in start, bool(form.marker)))
    if forms:
        return forms[0]
    known = ", ".join(PLAYLIST_ENDINGS)
    raise InputError(f"{path}: a playlist must end in one of {known}; got {ending or 'no ending'}")


def read_playlist(path: FilePath, collection: str | None = None) -> Playlist:
    """Read a playlist, of a file of several the one that is named; the format is told by the ending of the name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "mix.m3u8"
    ...     _ = file.write_text("#EXTM3U\\n#EXTINF:201,Can - Vitamin C\\nvitamin.flac\\nb.mp3\\n")
    ...     playlist = read_playlist(file)
    ...     print(write_playlist(file, playlist, [1, 0]).read_text())
    #EXTM3U
    b.mp3
    #EXTINF:201,Can - Vitamin C
    vitamin.flac
    <BLANKLINE>
    >>> playlist.entries[0].artist, playlist.entries[0].duration
    ('Can', 201.0)
    """
    form = format_of(path)
    if not form.several and collection is not None:
        raise InputError(f"{path}: holds one playlist; got {collection!r}", field="collection")

    def choose(lists: Sequence[tuple[str, int]]) -> int:
        """The one that is named, by its name and size; those that are called alike are told by numbers."""
        often, seen, choices = Counter(name for name, _ in lists), Counter[str](), list[Choice]()
        for name, size in lists:
            seen[name] += 1
            choices.append(Choice(f"{name} ({seen[name]})" if often[name] > 1 else name, name, size))
        return choose_collection(path, choices, collection)

    return form.read(path, choose) if form.several else form.read(path)


def write_playlist(
    path: FilePath, playlist: Playlist, ordering: ArrayLike | None = None, *, comments: Mapping[int, str] | None = None
) -> Path:
    """Write a playlist, whole or not at all; the format is told by the ending of the name.

    Every entry is written, also those that are no files or whose file is missing. Relative locations are rewritten
    where the folder is another one, so that they still lead to the same files.

    Comments are position, from 0 -> what to say before the entry there: ``{0: "Side A", 5: "Side B"}``. They take the
    place of comments that start a side in the file that was read; None keeps these as they are.
    """
    target = Path(path)
    listed = playlist.format == "tracklist" and target.suffix.lower() in tracklists.FORMAT.endings
    form = tracklists.FORMAT if listed else format_of(path, playlist)
    entries = playlist.entries
    if ordering is not None:
        entries = tuple(entries[i] for i in as_ordering(ordering, len(entries)))
    for position in comments or ():
        if not 0 <= position < len(entries):
            raise InputError(f"a comment must stand at one of positions 0 to {len(entries) - 1}; got {position}")
    if playlist.folder is not None:
        entries = tuple(_move_entry(entry, playlist.folder, target.parent, form) for entry in entries)
    moved = replace(playlist, entries=entries)
    same = form.name == playlist.format and moved.is_unchanged and comments is None and not playlist.gap
    text = playlist.text if same else form.write(moved, comments)
    script = playlist.script if playlist.format == form.name else form.script
    if target.suffix.lower() in form.unicode_endings and not script.encoding.startswith("utf"):
        script = Script()
    try:
        return write_whole(path, script.encode(text))
    except UnicodeEncodeError as error:
        raise FileError(f"{path}: cannot be written ({error.object[error.start]!r} is no text)") from error


def _move_entry(entry: Entry, old: Path, new: Path, form: PlaylistFormat) -> Entry:
    location = move_location(entry.location, old, new) if entry.location else ""
    if form.absolute and location and is_relative(location):
        location = os.path.abspath(resolve(entry.location, old))  # noqa: PTH100 - links stay as they are
    if location == entry.location:
        return entry
    raw = entry.raw and (entry.raw[0], form.location(location) if entry.raw[1] else "", entry.raw[2])
    return replace(entry, location=location, raw=raw)


def collection_of(playlist: Playlist, path: FilePath, folder: Path | None = None) -> Collection:
    """The items of a playlist, called by the name of its file.

    Their ids are their locations (their numbers where there is none), their paths start from the folder of the
    playlist, or another ("" when they are not files); features: ``duration`` in seconds and the numbers that it gives,
    NaN where none.
    """
    folder = folder or Path(path).parent
    numbers = [entry.numbers for entry in playlist.entries]
    items = [
        Item(
            entry.location or str(number),
            entry.title,
            resolve(entry.location, folder) if entry.location else "",
            entry.artist,
            {name: value for name, value in entry.details.items() if name not in numbers[number - 1]},
        )
        for number, entry in enumerate(playlist.entries, start=1)
    ]
    durations = [np.nan if entry.duration is None else entry.duration for entry in playlist.entries]
    rows = [{**given, "duration": seconds} for given, seconds in zip(numbers, durations, strict=True)]
    names = tuple(dict.fromkeys(["duration", *(name for row in rows for name in row)]))
    check_sparse(path, len(rows), len(names), sum(map(len, rows)))
    features = np.array([[row.get(name, np.nan) for name in names] for row in rows])  # (n, f)
    return Collection(Path(path).stem, items, features, names, title=playlist.title)


def playlist_of(collection: Collection) -> Playlist:
    """A new playlist of the items of a collection, in its order.

    Relative paths start from the working folder; the duration of an entry is the length of its item.
    """
    entries = []
    for item in collection.items:
        location = item.path or item.id
        if not item.path and not is_address(item.id):
            raise InputError(f"{item.label!r} has no path: a playlist cannot lead to it; write .csv or .json")
        texts = {name: value for name, value in item.details.items() if isinstance(value, str)}
        entries.append(Entry(location, item.title, item.artist, item.length, texts))
    return Playlist(tuple(entries), collection.title, folder=Path.cwd())


# Playlists as a source, and plain lists: texts of which every line is a file, as ``-o list.txt`` writes them.

_MOST = 1 << 22  # bytes of a list that are looked through


def open_playlist(paths: Sequence[str], opening: Opening) -> Source:
    """Open a playlist; its medium is that of its first file, music where no file says.

    Where it does not say what each entry is called and who made it, the files are asked.
    """
    return _source(Path(paths[0]), read_playlist(paths[0], opening.collection), opening)


def open_list(paths: Sequence[str], opening: Opening) -> Source:
    """Open a list of files: a playlist without anything but their names; what a file says of itself is read."""
    return _source(Path(paths[0]), m3u.read_m3u(paths[0]), opening)


def open_tracklist(paths: Sequence[str], opening: Opening) -> Source:
    """Open a list of tracks as people write them: titles, who made them and lengths, as far as it says them."""
    which = None
    for role, name in opening.columns:
        if role not in ("artist", "title") or name not in ("first", "second"):
            raise InputError(f"of a list of tracks: artist=first or artist=second; got {role}={name}", field="columns")
        which = name if role == "artist" else "second" if name == "first" else "first"
    playlist = tracklists.read_tracklist(paths[0], which)
    told = tracklists.describe_reading(playlist) if which is None else ""
    source = _source(Path(paths[0]), playlist, opening)
    return replace(source, notes=(told,) if told else ())


def is_list(path: str) -> bool:
    """Whether every line of a text, empty ones and comments aside, is called like a file that is an item.

    Texts themselves do not count: a list of .txt files would be a text like any other. No file is looked for.
    """
    try:
        text, _ = read_text(path, "a list of files", most=_MOST)
    except FabulaError:
        return False
    lines = [line.strip() for line in text.splitlines()]
    named = [line for line in lines if line and not line.startswith("#")]
    media = (medium_of_file(Path(line).suffix) for line in named)  # until one is none
    return bool(named) and all(medium is not None and ".txt" not in medium.endings for medium in media)


def _source(path: Path, playlist: Playlist, opening: Opening) -> Source:
    collection = collection_of(playlist, path, opening.folder)
    check_stretches(path, collection.items)
    playlist = replace(playlist, folder=opening.folder or playlist.folder)
    known, notes = choose_medium((item.path for item in collection.items if item.path), opening.medium)
    medium = known or find_medium("music")
    if playlist.format == "cue" and (ended := _with_ends(playlist, collection, medium, opening)) is not None:
        playlist, collection = ended, collection_of(ended, path, opening.folder)
    if not all(item.title and item.artist for item in collection.items):
        collection = read_tags(collection, medium, opening)
    named = [item.path for item in collection.items if item.path]
    # One of titles alone names no files, or is a library of another machine.
    elsewhere = playlist.format in ("itunes", "rekordbox", "traktor", "serato", "cue", "smil")
    files = any(map(opening.may_read, named)) if elsewhere else bool(named)
    files = files or not all(item.title for item in collection.items)
    if named and not files:
        notes = (*notes, "none of its files is here: it is ordered by what the list says of them")
        collection = replace(collection, items=tuple(replace(item, path="") for item in collection.items))
    rows = tuple(range(len(collection)))
    return Source(path, collection, medium, files=files, playlist=playlist, rows=rows, notes=notes)


def _with_ends(playlist: Playlist, collection: Collection, medium: Medium, opening: Opening) -> Playlist | None:
    """A cue sheet with the lengths of stretches that go to the end of their file, as the file says; None without."""
    entries, found = list(playlist.entries), 0
    for number, (entry, item) in enumerate(zip(entries, collection.items, strict=True)):
        file, begins, ends = split_stretch(item.path)
        if begins is None or ends is not None or not opening.may_read(item.path):
            continue
        whole = medium.read_item(file).details.get("duration_ms")
        if whole is not None and whole / 1000 > begins:
            entries[number] = replace(entry, duration=whole / 1000 - begins)
            found += 1
    return replace(playlist, entries=tuple(entries), read=tuple(entries)) if found else None


READER = Reader("playlist", open_playlist, PLAYLIST_ENDINGS, several=True)
LISTS = Reader("list", open_list, takes=is_list)
TRACKLISTS = Reader("list of tracks", open_tracklist, takes=tracklists.is_tracklist)
