"""Databases of Mixxx and Engine DJ, made after the schemas that their programs write (Mixxx 2.5, Engine DJ 4.5)."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from contextlib import closing
from pathlib import Path

MIXXX = """
CREATE TABLE settings (name TEXT UNIQUE NOT NULL, value TEXT, locked INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0);
CREATE TABLE track_locations (id INTEGER PRIMARY KEY AUTOINCREMENT, location varchar(512) UNIQUE, filename varchar(512),
  directory varchar(512), filesize INTEGER, fs_deleted INTEGER, needs_verification INTEGER);
CREATE TABLE library (id INTEGER PRIMARY KEY AUTOINCREMENT, artist varchar(64), title varchar(64), album varchar(64),
  year varchar(16), genre varchar(64), tracknumber varchar(3), location INTEGER REFERENCES track_locations(location),
  comment varchar(256), duration FLOAT, samplerate INTEGER, bpm FLOAT, timesplayed INTEGER DEFAULT 0,
  rating INTEGER DEFAULT 0, key varchar(8) DEFAULT '', key_id INTEGER DEFAULT 0, mixxx_deleted INTEGER);
CREATE TABLE Playlists (id INTEGER PRIMARY KEY, name varchar(48), position INTEGER, hidden INTEGER DEFAULT 0 NOT NULL,
  date_created datetime, date_modified datetime, locked INTEGER DEFAULT 0);
CREATE TABLE PlaylistTracks (id INTEGER PRIMARY KEY, playlist_id INTEGER REFERENCES Playlists(id),
  track_id INTEGER REFERENCES library(id), position INTEGER, pl_datetime_added);
CREATE TABLE cues (id INTEGER PRIMARY KEY AUTOINCREMENT, track_id INTEGER NOT NULL REFERENCES library(id),
  type INTEGER DEFAULT 0 NOT NULL, position INTEGER DEFAULT -1 NOT NULL, length INTEGER DEFAULT 0 NOT NULL,
  hotcue INTEGER DEFAULT -1 NOT NULL, label TEXT DEFAULT '' NOT NULL, color INTEGER DEFAULT 4294901760 NOT NULL);
CREATE TABLE crates (id INTEGER PRIMARY KEY AUTOINCREMENT, name varchar(48) UNIQUE NOT NULL, count INTEGER DEFAULT 0,
  show INTEGER DEFAULT 1, locked INTEGER DEFAULT 0, autodj_source INTEGER DEFAULT 0);
CREATE TABLE crate_tracks (crate_id INTEGER NOT NULL REFERENCES crates(id),
  track_id INTEGER NOT NULL REFERENCES library(id), UNIQUE (crate_id, track_id));
INSERT INTO Playlists (name, position, hidden) VALUES ('Auto DJ', 1, 1);
"""
ENGINE = """
CREATE TABLE Information (id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT, schemaVersionMajor INTEGER,
  schemaVersionMinor INTEGER, schemaVersionPatch INTEGER, currentPlayedIndiciator INTEGER);
INSERT INTO Information VALUES (1, 'here', 3, 0, 1, 0);
CREATE TABLE Track (id INTEGER PRIMARY KEY AUTOINCREMENT, playOrder INTEGER, length INTEGER, bpm INTEGER, year INTEGER,
  path TEXT UNIQUE, filename TEXT, bpmAnalyzed REAL, title TEXT, artist TEXT, album TEXT, genre TEXT, comment TEXT,
  key INTEGER, rating INTEGER, isPlayed BOOLEAN, originDatabaseUuid TEXT, originTrackId INTEGER, lastEditTime DATETIME,
  CONSTRAINT C_originDatabaseUuid_originTrackId UNIQUE (originDatabaseUuid, originTrackId));
CREATE TABLE PerformanceData (trackId INTEGER PRIMARY KEY, trackData BLOB, overviewWaveFormData BLOB, beatData BLOB,
  quickCues BLOB, loops BLOB, FOREIGN KEY(trackId) REFERENCES Track(id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE Playlist (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, parentListId INTEGER, isPersisted BOOLEAN,
  nextListId INTEGER, lastEditTime DATETIME, isExplicitlyExported BOOLEAN,
  CONSTRAINT C_NAME_UNIQUE_FOR_PARENT UNIQUE (title, parentListId),
  CONSTRAINT C_NEXT_LIST_ID_UNIQUE_FOR_PARENT UNIQUE (parentListId, nextListId));
CREATE TABLE PlaylistEntity (id INTEGER PRIMARY KEY AUTOINCREMENT, listId INTEGER, trackId INTEGER, databaseUuid TEXT,
  nextEntityId INTEGER, membershipReference INTEGER,
  CONSTRAINT C_NAME_UNIQUE_FOR_LIST UNIQUE (listId, databaseUuid, trackId),
  FOREIGN KEY (listId) REFERENCES Playlist (id) ON DELETE CASCADE);
CREATE VIEW PlaylistPath AS WITH RECURSIVE Above (id, parent, path) AS (SELECT id, parentListId, title || ';'
  FROM Playlist UNION ALL SELECT a.id, p.parentListId, p.title || ';' || a.path FROM Above a JOIN Playlist p
  ON p.id = a.parent) SELECT id, path, id AS position FROM Above WHERE parent = 0;
CREATE TRIGGER trigger_before_insert_List BEFORE INSERT ON Playlist FOR EACH ROW BEGIN UPDATE Playlist
  SET nextListId = -(1 + nextListId) WHERE nextListId = NEW.nextListId AND parentListId = NEW.parentListId; END;
CREATE TRIGGER trigger_after_insert_List AFTER INSERT ON Playlist FOR EACH ROW BEGIN UPDATE Playlist
  SET nextListId = NEW.id WHERE nextListId = -(1 + NEW.nextListId) AND parentListId = NEW.parentListId; END;
"""
FIFTHS = 7  # F# minor as Engine DJ counts


def make_mixxx(folder: Path, files: list[Path], schema: str = MIXXX) -> Path:
    """A database with the playlists Night (all files, the last one twice) and Day (two), and a crate."""
    path = folder / "mixxxdb.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(schema)
        ask = database.execute
        for number, file in enumerate(files, start=1):
            where = ask("INSERT INTO track_locations (location, filename, directory) VALUES (?, ?, ?)",
                        (str(file), file.name, str(file.parent))).lastrowid  # fmt: skip
            told = (
                "Ann",
                file.stem,
                where,
                100.0 + 7 * number % 40,
                44100,
                120.0 + number,
                number % 6,
                1 + number % 24,
            )
            ask("INSERT INTO library (artist, title, location, duration, samplerate, bpm, rating, key_id, timesplayed)"
                f" VALUES (?, ?, ?, ?, ?, ?, ?, ?, {number})", told)  # fmt: skip
        ask("INSERT INTO cues (track_id, type, position, hotcue, label) VALUES (1, 1, ?, 0, 'Drop')", [2 * 44100 * 75])
        ask("INSERT INTO cues (track_id, type, position) VALUES (1, 2, 0)")
        for name, songs in (("Night", [*range(1, len(files) + 1), len(files)]), ("Day", [2, 1])):
            made = ask("INSERT INTO Playlists (name, position) VALUES (?, 7)", [name]).lastrowid
            rows = [(made, song, position, "then") for position, song in enumerate(songs, start=1)]
            database.executemany("INSERT INTO PlaylistTracks (playlist_id, track_id, position, pl_datetime_added)"
                                 " VALUES (?, ?, ?, ?)", rows)  # fmt: skip
        ask("INSERT INTO crates (name) VALUES ('Day')")
        database.executemany("INSERT INTO crate_tracks VALUES (1, ?)", [[song] for song in (1, 2, 3)])
        database.commit()
    return path


def pack(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + zlib.compress(data)


def make_engine(folder: Path, files: list[Path]) -> Path:
    """A database with the playlists Night (all files) and, in the folder Old, Night (two)."""
    (folder / "Database2").mkdir(parents=True)
    path = folder / "Database2" / "m.db"
    cue = (
        bytes([4])
        + b"Drop"
        + struct.pack(">d", 48000.0 * 75)
        + bytes(4)
        + bytes([0])
        + struct.pack(">d", -1.0)
        + bytes(4)
    )
    cues, track = pack(struct.pack(">q", 2) + cue + bytes(17)), pack(struct.pack(">d", 48000.0) + bytes(36))
    with closing(sqlite3.connect(path)) as database:
        database.executescript(ENGINE)
        ask = database.execute
        for number, file in enumerate(files, start=1):
            relative = "../" * 40 + str(file)[1:]
            told = (
                100 + 7 * number % 40,
                120.5 + number,
                relative,
                file.stem,
                "Ann",
                FIFTHS,
                20 * (number % 6),
                number,
            )
            ask("INSERT INTO Track (length, bpmAnalyzed, path, title, artist, key, rating, originTrackId,"
                " originDatabaseUuid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'here')", told)  # fmt: skip
            ask("INSERT INTO PerformanceData (trackId, trackData, quickCues) VALUES (?, ?, ?)", (number, track, cues))
        ask("UPDATE Track SET originDatabaseUuid = 'there', originTrackId = 900 WHERE id = 2")
        for name, parent, songs in (("Night", 0, range(1, len(files) + 1)), ("Old", 0, []), ("Night", 2, [2, 1])):
            made = ask("INSERT INTO Playlist (title, parentListId, isPersisted, nextListId) VALUES (?, ?, 1, 0)",
                       (name, parent)).lastrowid  # fmt: skip
            after, insert = (
                0,
                "(listId, trackId, databaseUuid, nextEntityId, membershipReference) VALUES (?, ?, ?, ?, 0)",
            )
            for song in reversed(songs):
                named = (900, "there") if song == 2 else (song, "here")
                after = ask(f"INSERT INTO PlaylistEntity {insert}", (made, *named, after)).lastrowid
        database.commit()
    return path


def dump(path: Path, *, without: tuple[str, ...] = ()) -> dict[str, list[tuple]]:
    """All rows of all tables."""
    with closing(sqlite3.connect(path)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in names if name not in without}
