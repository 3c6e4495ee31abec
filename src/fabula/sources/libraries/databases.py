"""Databases of DJs: Mixxx (``mixxxdb.sqlite``) and Engine DJ (``m.db``), as their programs keep them.

A playlist is read with the tempo, the key, the rating and the cues that the program knows. An order is written as one
playlist more, in one transaction, while the program is closed; before it the database is copied to ``NAME.~1~``, and
nothing that was in it is touched.
"""

import contextlib
import os
import sqlite3
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.core.files import is_guarded, make_part, read_bytes, sweep_folder
from fabula.errors import FileError, InputError, shown
from fabula.media.children import call
from fabula.media.facts import as_clock
from fabula.sources.libraries.library import Address, check_unchanged, open_songs
from fabula.sources.playlists.decks import name_key
from fabula.sources.playlists.entries import Playlist, check_count, find_name, make_entry
from fabula.sources.playlists.text_lines import above_zero
from fabula.sources.registry import Choice, Opening, Reader, Source, choose_collection

_PATIENCE = 2.0  # seconds to wait for a lock
_LONGEST = 4.0  # seconds of computing: a view or a trigger may have been made to go on for ever
_MOST = 256 << 20  # bytes of a database that is read where files are guarded
_MOST_CELL = 64 << 20  # bytes of what a cell holds, and of what is worked out of it
_MOST_CUES = 1 << 20  # bytes that the cues of a track unpack to

_MIXXX_LISTS = """SELECT id, name, name, (SELECT count(*) FROM PlaylistTracks WHERE playlist_id = p.id) FROM Playlists p
    WHERE hidden = 0 ORDER BY position, id"""
_MIXXX_CRATES = """SELECT -id, 'crate ' || name, name, (SELECT count(*) FROM crate_tracks WHERE crate_id = c.id)
    FROM crates c ORDER BY name"""
_MIXXX_SONGS = """SELECT {songs}.track_id AS song, artist, title, album, genre, duration AS length, bpm AS tempo,
    key_id, key, rating, year, track_locations.location AS location FROM {songs}
    LEFT JOIN library ON library.id = track_id LEFT JOIN track_locations ON track_locations.id = library.location
    WHERE {list} = ? ORDER BY {order}"""
_MIXXX_CUES = """SELECT position / (2.0 * samplerate), label FROM cues JOIN library ON library.id = track_id
    WHERE track_id = ? AND type = 1 AND samplerate > 0 ORDER BY position"""
_ENGINE_LISTS = """SELECT id, replace(rtrim(path, ';'), ';', '/'), title, (SELECT count(*) FROM PlaylistEntity
    WHERE listId = p.id) FROM Playlist p JOIN PlaylistPath USING (id) ORDER BY position"""
_ENGINE_SONGS = """SELECT e.id AS entity, nextEntityId AS next, e.trackId AS song, databaseUuid AS database, artist,
    title, album, genre, length, coalesce(bpmAnalyzed, bpm) AS tempo, key, rating, year, path AS location,
    p.quickCues, p.trackData FROM PlaylistEntity e LEFT JOIN Track t ON databaseUuid = (SELECT uuid FROM Information)
    AND t.id = e.trackId OR databaseUuid <> (SELECT uuid FROM Information) AND originTrackId = e.trackId
    AND originDatabaseUuid = databaseUuid LEFT JOIN PerformanceData p ON p.trackId = t.id WHERE listId = ?"""


@contextlib.contextmanager
def _connect(path: str, *, write: bool = False) -> Iterator[sqlite3.Connection]:
    """A database, open to be read; what SQLite says of it is a FileError. Where files are guarded, a copy in memory."""
    broken = any(Path(path + ending).exists() for ending in ("-journal", "-wal"))  # it must be mended to be read
    uri = f"{Path(path).absolute().as_uri()}?mode={'rw' if write or broken else 'ro'}"
    held, until = is_guarded() and not write, time.thread_time() + _LONGEST
    try:
        with contextlib.closing(
            sqlite3.connect(":memory:" if held else uri, timeout=_PATIENCE, isolation_level=None, uri=True)
        ) as database:
            if held:
                data = bytearray(read_bytes(path, most=_MOST))
                data[18:20] = b"\1\1" if data[18:20] == b"\2\2" else data[18:20]  # its log is not read
                database.deserialize(data)
            database.row_factory = sqlite3.Row
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute(f"PRAGMA query_only = {'OFF' if write else 'ON'}")
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_CELL)
            database.set_progress_handler(lambda: time.thread_time() > until, 100_000)
            yield database
    except sqlite3.Error as error:
        used = "is in use: close the program that it belongs to" if "locked" in str(error) else f"fails ({error})"
        raise FileError(f"{shown(path)}: {used}") from None


@dataclass(frozen=True)
class _Program:
    """A program that keeps a database: what tells it, and how its playlists are read and made."""

    format: str
    tables: frozenset[str]  # that it has, by their names in lower case
    lists: tuple[str, ...]  # queries for the key, the id, the title and the size of each playlist
    songs: Callable[[sqlite3.Connection, int], list[dict[str, Any]]]
    insert: Callable[[sqlite3.Connection, int, str, Sequence[Sequence[Any]]], None]


def _find_program(path: str, database: sqlite3.Connection) -> _Program:
    known = {str(name).lower() for (name,) in database.execute("SELECT name FROM sqlite_master")}
    found = next((one for one in _PROGRAMS if one.tables <= known), None)
    if found is None:
        old = "; Engine Prime's is read after Engine DJ has taken it over" if "listtracklist" in known else ""
        raise FileError(f"{shown(path)}: is no database of Mixxx (mixxxdb.sqlite) or Engine DJ (Database2/m.db){old}")
    return found


def list_playlists(path: str) -> list[list[Any]]:
    """Program, key, id, title and size of every playlist of a database: what a child is asked for."""
    with _connect(path) as database:
        program = _find_program(path, database)
        rows = [row for query in program.lists for row in database.execute(query) if row[-1]]
        return [[program.format, int(key), str(one), str(title), int(size)] for key, one, title, size in rows]


def read_songs(path: str, key: int) -> list[dict[str, Any]]:
    """What a database says of the songs of a playlist, in its order: what a child is asked for."""
    with _connect(path) as database:
        return _find_program(path, database).songs(database, key)


# Mixxx. Crates have no order: they are read by negative keys, and an order of theirs becomes a playlist.


def _mixxx_songs(database: sqlite3.Connection, key: int) -> list[dict[str, Any]]:
    parts = ("PlaylistTracks", "playlist_id", "position") if key > 0 else ("crate_tracks", "crate_id", "track_id")
    query = _MIXXX_SONGS.format(songs=parts[0], list=parts[1], order=parts[2])
    rows = []
    for row in database.execute(query, [abs(key)]):
        number = int(row["key_id"] or 0)
        cues = database.execute(_MIXXX_CUES, [row["song"]]).fetchall()
        told = {"song": [row["song"]], "key": name_key(number - 1) or row["key"], "cues": _tell_cues(cues)}
        rows.append({**dict(row), **told})
    return rows


def _mixxx_insert(database: sqlite3.Connection, key: int, name: str, songs: Sequence[Sequence[Any]]) -> None:
    made = database.execute(
        "INSERT INTO Playlists (name, position, hidden, date_created, date_modified) SELECT ?,"
        " coalesce(max(position), 0) + 1, 0, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP FROM Playlists", [name]
    ).lastrowid  # fmt: skip
    database.executemany(
        "INSERT INTO PlaylistTracks (playlist_id, track_id, position, pl_datetime_added)"
        " VALUES (?, ?, ?, CURRENT_TIMESTAMP)",
        [(made, *song, number) for number, song in enumerate(songs, start=1)],
    )


# Engine DJ. Playlists and their songs are chains: each row names the next one, the last one 0.


def _engine_songs(database: sqlite3.Connection, key: int) -> list[dict[str, Any]]:
    found = {row["entity"]: dict(row) for row in database.execute(_ENGINE_SONGS, [key])}
    heads = set(found) - {row["next"] for row in found.values()}
    rows, at = [], min(heads, default=0)
    while at in found:
        row = found.pop(at)
        at = row.pop("next")
        number = row["key"] if isinstance(row["key"], int) else -1  # pairs of major and minor, by fifths
        tonic = (9 * (number % 2) + 7 * (number // 2)) % 12
        row |= {"song": [row["song"], row.pop("database")], "rating": (row["rating"] or 0) / 20}
        row |= {"key": name_key(12 * (number % 2) + tonic) if 0 <= number < 24 else ""}
        row["cues"] = _engine_cues(row.pop("quickCues"), row.pop("trackData"))
        rows.append(row)
    if found:
        raise sqlite3.DataError("a playlist is no chain: check the library in Engine DJ")
    return rows


def _engine_cues(cues: bytes | None, track: bytes | None) -> str:
    """The hot cues of a track; none where its data are not as they should be."""
    try:
        (rate,) = struct.unpack_from(">d", _unpack(track))
        data, found = _unpack(cues), []
        at = 8
        for _ in range(min(64, *struct.unpack_from(">q", data))):
            label = data[at + 1 : at + 1 + data[at]].decode()
            (sample,) = struct.unpack_from(">d", data, at + 1 + data[at])
            at += 13 + data[at]
            found += [(sample / rate, label)] if sample >= 0 else []
        return _tell_cues(found)
    except (TypeError, ValueError, struct.error, IndexError, ZeroDivisionError, zlib.error):
        return ""


def _unpack(data: bytes | None) -> bytes:
    return zlib.decompressobj().decompress((data or b"")[4:], _MOST_CUES)


def _engine_insert(database: sqlite3.Connection, key: int, name: str, songs: Sequence[Sequence[Any]]) -> None:
    if ";" in name:
        raise InputError(f"Engine DJ takes no semicolon in the name of a playlist; got {name!r}")
    made = database.execute(  # its triggers put it behind the playlist that it was made of
        "INSERT INTO Playlist (title, parentListId, isPersisted, nextListId, lastEditTime, isExplicitlyExported) SELECT"
        " ?, parentListId, isPersisted, nextListId, datetime('now'), isExplicitlyExported FROM Playlist WHERE id = ?",
        [name, key],
    ).lastrowid
    after = 0
    for song, uuid in reversed(songs):
        row = (made, song, uuid, after)
        after = database.execute(
            "INSERT INTO PlaylistEntity (listId, trackId, databaseUuid, nextEntityId, membershipReference)"
            " VALUES (?, ?, ?, ?, 0)", row
        ).lastrowid or 0  # fmt: skip


_PROGRAMS = (
    _Program("mixxx", frozenset({"library", "track_locations", "playlists", "playlisttracks"}),
             (_MIXXX_LISTS, _MIXXX_CRATES), _mixxx_songs, _mixxx_insert),
    _Program("engine", frozenset({"track", "playlist", "playlistentity", "performancedata", "playlistpath"}),
             (_ENGINE_LISTS,), _engine_songs, _engine_insert),
)  # fmt: skip


def _tell_cues(cues: Sequence[Sequence[Any]]) -> str:
    return ", ".join(f"{as_clock(float(at))} {label or ''}".strip() for at, label in cues)


# Opening and writing.


@dataclass(frozen=True)
class DeckPlaylist:
    """A playlist of a database, as it was opened."""

    path: str
    key: int
    name: str
    songs: tuple[tuple[Any, ...], ...]  # what names each, in the order opened

    def write(self, entries: Sequence[int], name: str | None = None) -> str:
        """Add a playlist with entries, by their numbers, in one transaction; nothing where anything fails."""
        _refuse_used(self.path)
        with _connect(self.path, write=True) as database:
            database.execute("BEGIN IMMEDIATE")  # from here nobody else writes
            kept = _back_up(Path(self.path))
            program = _find_program(self.path, database)
            check_unchanged(self.name, (tuple(row["song"]) for row in program.songs(database, self.key)), self.songs)
            taken = {row[2] for query in program.lists[:1] for row in database.execute(query)}
            if name in taken:
                raise InputError(f"{shown(self.path)} has a playlist {name!r} already; choose another name")
            name = name or find_name(self.name, taken)
            program.insert(database, self.key, name, [self.songs[i] for i in entries])
            database.execute("COMMIT")
        return f"playlist {name!r} in {shown(self.path)}; the database as it was: {shown(kept)}"


def _back_up(path: Path) -> Path:
    """Copy a database to the file that keeps how it was; whole, or not at all."""
    kept, start = path.with_name(f"{path.name}.~1~"), f".{path.name}."
    sweep_folder(path.parent, start)
    handle, part = make_part(start, path.parent)
    try:
        # as one that writes, which reads the file itself and its log, where files are guarded too
        with _connect(str(path), write=True) as database, contextlib.closing(sqlite3.connect(part)) as copy:
            database.backup(copy)
        part.chmod(path.stat().st_mode & 0o777)
        part.replace(kept)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)
    return kept


def _refuse_used(path: str) -> None:
    """Refuse a database that another process has open, where the system tells: it would not see what is written."""
    if not sys.platform.startswith("linux"):
        return
    real = os.path.realpath(path)
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.name != str(os.getpid()) and any(
                os.path.realpath(one) == real for one in (process / "fd").iterdir()
            ):
                program = (process / "comm").read_text().strip()
                raise InputError(f"{shown(path)}: is in use by {program}; close it, and order again")


def open_database(paths: Sequence[str], opening: Opening) -> Source:
    """Open a playlist of a database of Mixxx or Engine DJ."""
    path = paths[0]
    if not opening.may_read(path):
        raise FileError(f"{shown(path)}: is no file that may be read here")
    lists = call(list_playlists, path)
    choices = [Choice(one, title, size) for _, _, one, title, size in lists]
    form, key, _, title, size = lists[choose_collection(path, choices, opening.collection)]
    check_count(path, size)
    rows = call(read_songs, path, key)
    folder = Path(path).absolute().parent.parent if form == "engine" else None
    found = []
    for row in rows:
        said = {name: str(row[name] or "") for name in ("album", "genre", "key", "cues", "year")}
        numbers = {name: above_zero(row[name]) for name in ("tempo", "rating")}
        name = row["title"] or Path(str(row["location"] or "")).stem or f"track {row['song'][0]}"
        found.append(make_entry(row["location"], name, row["artist"], row["length"], {**said, **numbers}))
    playlist = Playlist(tuple(found), title, form, folder)
    home = DeckPlaylist(path, key, title, tuple(tuple(row["song"]) for row in rows))
    return open_songs(path, Address("", Path(path).name, kind="playlist"), playlist, home, opening, None)


READER = Reader("library", open_database, several=True)
