"""Databases of Mixxx, one of them made by Mixxx itself, and of Engine DJ."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from fabula.cli import run
from fabula.core.files import guard_files
from fabula.errors import FileError, InputError
from fabula.session.open import demo_folder
from fabula.session.session import open_session
from fabula.sources.libraries import databases
from fabula.sources.registry import Opening
from tests.hostile.make import exports
from tests.sources.libraries.make_databases import dump, make_engine, make_mixxx

FILES = sorted(demo_folder().glob("*.ogg"))
RISING = ("--by", "duration", "--template", "steady-rise")


@pytest.fixture
def files(tmp_path):
    """Names of files that are not there: what the database says of them is all there is."""
    return [tmp_path / "gone" / file.name for file in FILES]


def songs_of(path, title):
    session = open_session(path, opening=Opening(collection=title), by="duration")
    return session, [item.title for item in session.collection.items]


def test_mixxx_in_and_out_changes_nothing_but_one_playlist_more(tmp_path, files, capsys):
    path = make_mixxx(tmp_path, files)
    before = dump(path)
    assert run(["order", str(path)]) == 2
    assert "holds 3 collection(s): Night, Day, crate Day; choose one" in capsys.readouterr().err
    session, titles = songs_of(path, "Night")
    assert titles == [file.stem for file in [*files, files[-1]]]
    first = session.collection.items[0]
    assert (first.details["cues"], first.details["key"]) == ("1:15 Drop", "C#")
    assert session.collection.column("tempo")[:2].tolist() == [121.0, 122.0]
    assert session.collection.column("rating")[0] == 1.0
    assert run(["order", str(path), "--collection", "Night", *RISING, "-o", str(path)]) == 0
    assert "written: playlist 'Night (fabula)' in" in capsys.readouterr().out
    assert run(["order", str(path), "--collection", "Night", *RISING, "--as", "Rising"]) == 0
    after = dump(path)
    assert dump(tmp_path / "mixxxdb.sqlite.~1~")["Playlists"] == after["Playlists"][:-1]
    for table, rows in before.items():
        assert after[table][: len(rows)] == rows
        assert (len(after[table]) > len(rows)) == (table in ("Playlists", "PlaylistTracks"))
    assert [row[1:4] for row in after["Playlists"][-2:]] == [("Night (fabula)", 8, 0), ("Rising", 9, 0)]
    rising = [row for row in after["PlaylistTracks"] if row[1] == after["Playlists"][-1][0]]
    assert [row[3] for row in rising] == list(range(1, len(files) + 2))
    lengths = {row[0]: row[9] for row in before["library"]}
    assert [lengths[row[2]] for row in rising] == sorted(lengths[row[2]] for row in rising)
    assert run(["order", str(path), "--collection", "Night", "--as", "Rising"]) == 2
    assert "has a playlist 'Rising' already" in capsys.readouterr().err
    assert dump(path) == after


def test_a_crate_of_mixxx_becomes_a_playlist(tmp_path, files):
    path = make_mixxx(tmp_path, files)
    session, titles = songs_of(path, "crate Day")
    assert titles == [file.stem for file in files[:3]]
    session.order(template="steady-rise").write_back()
    assert dump(path)["Playlists"][-1][1] == "Day (fabula)"
    assert songs_of(path, "Day")[1] == [files[1].stem, files[0].stem]


@pytest.mark.slow
def test_files_of_a_database_that_are_there_are_listened_to(tmp_path):
    for path in (make_mixxx(tmp_path, FILES), make_engine(tmp_path, FILES)):
        session = open_session(path, opening=Opening(collection="Night"))
        assert "loudness" in session.collection.feature_names
        assert "tempo" in session.collection.feature_names


def test_engine_in_and_out_changes_nothing_but_one_playlist_more(tmp_path, files, capsys):
    path = make_engine(tmp_path, files)
    before = dump(path)
    session, titles = songs_of(path, "Night")
    assert titles == [file.stem for file in files]
    first = session.collection.items[0]
    assert (first.details["cues"], first.details["key"]) == ("1:15 Drop", "F#m")
    assert session.collection.column("tempo")[0] == 121.5
    assert songs_of(path, "Old/Night")[1] == [files[1].stem, files[0].stem]
    assert run(["order", str(path), "--collection", "Night", *RISING, "--as", "Rising"]) == 0
    assert run(["order", str(path), "--collection", "Night", "--as", "a;b"]) == 2
    assert "no semicolon" in capsys.readouterr().err
    after = dump(path)
    same = {name: rows for name, rows in after.items() if name not in ("Playlist", "PlaylistEntity", "sqlite_sequence")}
    assert all(before[name] == rows for name, rows in same.items())
    chain = {row[0]: row[4] for row in after["Playlist"] if row[2] == 0}
    assert chain == {1: 4, 4: 2, 2: 0}  # behind the one that it was made of
    assert after["PlaylistEntity"][: len(before["PlaylistEntity"])] == before["PlaylistEntity"]
    _, rising = songs_of(path, "Rising")
    lengths = dict(zip(titles, session.collection.column("duration"), strict=True))
    assert sorted(rising) == sorted(titles)
    assert [lengths[title] for title in rising] == sorted(lengths.values())


@pytest.mark.parametrize("make", [make_mixxx, make_engine])
def test_a_database_in_use_changed_or_broken_is_left_alone(tmp_path, files, make, capsys, monkeypatch):
    monkeypatch.setattr("fabula.sources.libraries.databases._PATIENCE", 0.05)
    path = make(tmp_path, files)
    ordered = songs_of(path, "Night")[0].order(template="steady-rise")
    before = dump(path)
    program = "import sys; file = open(sys.argv[1]); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        other.stdout.readline()
        if sys.platform.startswith("linux"):
            with pytest.raises(InputError, match=r"is in use by python"):
                ordered.write_back()
        other.communicate(b"\n", timeout=30)
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(FileError, match="is in use: close the program"):
            ordered.write_back()
    assert dump(path) == before
    table = "PlaylistTracks" if make is make_mixxx else "PlaylistEntity"
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"DELETE FROM {table} WHERE id = (SELECT max(id) - 2 FROM {table})")
        other.commit()
    changed = dump(path)
    with pytest.raises(InputError, match="has changed since it was opened; nothing was written"):
        ordered.write_back()
    assert dump(path) == changed
    path.write_bytes(path.read_bytes()[:5000] + b"?" * 100)
    assert run(["order", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"fabula: {path}: fails (")


def test_other_databases_are_refused_by_name(tmp_path, capsys):
    path = tmp_path / "m.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE ListTrackList (id)")
    assert run(["order", str(path)]) == 2
    assert "is no database of Mixxx" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_mixxx_itself_opens_what_was_written(tmp_path, files):
    if shutil.which("mixxx") is None:
        if os.environ.get("CI") and shutil.which("apt-get") and os.geteuid() == 0:
            pytest.fail("mixxx cannot be found: install mixxx")
        pytest.skip("mixxx cannot be found")
    home = tmp_path / "settings"
    home.mkdir()

    def start():
        """Run it until its database is there and it has begun a history of its own."""
        known = len(dump(home / "mixxxdb.sqlite")["Playlists"]) if (home / "mixxxdb.sqlite").exists() else 0
        command = ["mixxx", "--settingsPath", f"{home}/", "--resourcePath", "/usr/share/mixxx/"]
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": str(tmp_path)}
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as mixxx:
            until = time.monotonic() + 90
            try:
                while time.monotonic() < until:
                    found = dump(home / "mixxxdb.sqlite") if (home / "mixxxdb.sqlite").exists() else {}
                    if len(found.get("Playlists", ())) > max(known, 1):
                        return found
                    time.sleep(0.2)
                pytest.fail("mixxx does not make its database")
            finally:
                mixxx.kill()

    start()
    path = make_mixxx(home, files, schema="")
    songs_of(path, "Night")[0].order(template="steady-rise").write_back()
    before = dump(path)
    after = start()
    assert before["Playlists"] == after["Playlists"][:-1]
    assert before["PlaylistTracks"] == after["PlaylistTracks"]


@pytest.mark.slow
def test_a_database_made_to_go_on_for_ever_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(databases, "_LONGEST", 0.2)
    path = tmp_path / "endless.sqlite"
    path.write_bytes(exports()["endless.sqlite"])
    start = time.process_time()
    with pytest.raises(FileError, match="interrupted"):
        databases.list_playlists(str(path))
    assert time.process_time() - start < 5


def test_a_trigger_that_swells_while_an_order_is_written_is_refused(tmp_path, files):
    """It took 2.3 GB: what is written is written in the program itself."""
    path = make_mixxx(tmp_path, files)
    with closing(sqlite3.connect(path)) as database:
        swell = "SELECT length(hex(zeroblob(450000000)))"
        database.execute(f"CREATE TRIGGER swell AFTER INSERT ON PlaylistTracks BEGIN {swell}; END")
        database.commit()
    before = dump(path)
    with pytest.raises(FileError, match=r"mixxxdb\.sqlite: fails \(string or blob too big\)"):
        songs_of(path, "Night")[0].order(template="steady-rise").write_back()
    assert dump(path) == before


def test_a_playlist_that_is_no_chain_is_told_by_the_name_of_its_file(tmp_path, files):
    path = make_engine(tmp_path, files)
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE PlaylistEntity SET nextEntityId = 1")
        database.commit()
    with pytest.raises(FileError, match=rf"{re.escape(str(path))}: fails \(a playlist is no chain"):
        databases.read_songs(str(path), databases.list_playlists(str(path))[0][1])


def test_where_files_are_guarded_a_database_is_read_by_the_handle_that_the_guard_gives(tmp_path, files):
    path = make_mixxx(tmp_path, files)
    asked = []

    def guard(name):
        asked.append(name)
        return open(path, "rb")  # noqa: PTH123

    with guard_files(guard):
        found = databases.list_playlists(str(path))
    assert [row[2] for row in found] == ["Night", "Day", "crate Day"]
    assert asked == [str(path)]
    path.rename(tmp_path / "elsewhere")
    (tmp_path / "mixxxdb.sqlite").symlink_to(tmp_path / "elsewhere")
    with guard_files(_refuse), pytest.raises(FileError, match="cannot be read"):
        databases.list_playlists(str(path))


def _refuse(name):
    raise PermissionError(13, "may not be read")
