"""Playlists of a Subsonic server: Supysonic itself, on loopback."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fabula.cli import run
from fabula.errors import FileError, InputError
from fabula.session.open import demo_folder
from fabula.session.session import open_session
from fabula.sources.libraries.library import IN_ENVIRONMENT, read_address
from fabula.sources.libraries.subsonic import _Subsonic

pytest.importorskip("supysonic", reason="supysonic is not installed")
pytestmark = [pytest.mark.timeout(120), pytest.mark.slow]
SECRET = "p & w"
NAME = "Späte Stunden #2"


class Supysonic:
    """A server that runs, with a playlist of ann's, which bob may see."""

    def __init__(self, folder: Path, music: Path, status: int = 0) -> None:
        self.folder = folder
        self.music = music
        program = Path(__file__).with_name("supysonic_server.py")
        command = [sys.executable, str(program), str(folder), str(music), str(status)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(self.process.stdout.readline())

    def address(self, name: str = NAME, user: str = "ann", more: str = "") -> str:
        from urllib.parse import quote

        return f"subsonic://{user}@127.0.0.1:{self.port}/playlist/{quote(name)}{more}"

    def server(self, user: str = "ann") -> _Subsonic:
        return _Subsonic(read_address(f"subsonic://{user}@127.0.0.1:{self.port}"), SECRET)

    def playlists(self) -> dict[str, dict]:
        """All playlists by their names, with their songs."""
        ask = self.server().call
        found = ask("getPlaylists")["playlists"].get("playlist", [])
        return {one["name"]: ask("getPlaylist", id=one["id"])["playlist"] for one in found}

    def restart(self, status: int) -> None:
        self.stop()
        self.__init__(self.folder, self.music, status)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """The data of a server, made once."""
    music = tmp_path_factory.mktemp("songs")
    for file in demo_folder().glob("*.ogg"):
        shutil.copy(file, music)
    folder = tmp_path_factory.mktemp("data")
    served = Supysonic(folder, music)
    ask = served.server().call
    songs = [song["id"] for song in ask("getRandomSongs", size="50")["randomSongs"]["song"]]
    ask("createPlaylist", ("name", NAME), *(("songId", song) for song in songs))
    which = ask("getPlaylists")["playlists"]["playlist"][0]["id"]
    ask("updatePlaylist", playlistId=which, comment="für später", public="true")
    served.stop()
    return folder, music


@pytest.fixture
def served(template, tmp_path, monkeypatch):
    monkeypatch.setenv(IN_ENVIRONMENT, SECRET)
    folder = shutil.copytree(template[0], tmp_path / "data")
    served = Supysonic(folder, template[1])
    yield served
    served.stop()


def ids(playlist: dict) -> list[str]:
    return [song["id"] for song in playlist["entry"]]


def test_the_order_is_written_in_its_place_and_all_else_stays(served, capsys):
    before = served.playlists()[NAME]
    assert (
        run(["order", served.address(), "--by", "duration", "--template", "steady-rise", "-o", served.address()]) == 0
    )
    assert f"written: playlist {NAME!r}" in capsys.readouterr().out
    found = served.playlists()
    (kept,) = (name for name in found if name != NAME)
    assert kept.startswith(f"{NAME} (before ")
    assert ids(found[kept]) == ids(before)
    after = found[NAME]
    lengths = [song["duration"] for song in after["entry"]]
    assert lengths == sorted(lengths)
    assert sorted(ids(after)) == sorted(ids(before))
    assert ids(after) != ids(before)
    same = ("id", "name", "comment", "public", "owner", "created", "songCount")
    assert {key: after[key] for key in same} == {key: before[key] for key in same}
    assert (found[kept]["comment"], found[kept]["public"]) == (before["comment"], before["public"])


def test_as_another_name_it_is_a_new_playlist(served, capsys):
    before = served.playlists()[NAME]
    assert run(["order", served.address(), "--by", "duration", "--template", "steady-rise", "--as", "Rising"]) == 0
    found = served.playlists()
    assert found[NAME] == before
    assert set(found) == {NAME, "Rising"}
    assert found["Rising"]["comment"] == before["comment"]
    assert run(["order", served.address(), "--by", "duration", "--as", "Rising"]) == 2
    assert "has a playlist 'Rising' already" in capsys.readouterr().err
    assert set(served.playlists()) == {NAME, "Rising"}


def test_another_persons_playlist_is_not_replaced(served):
    session = open_session(served.address(f"[ann] {NAME}", user="bob"), by="duration")
    with pytest.raises(InputError, match="belongs to ann"):
        session.order().write_back()
    assert set(served.playlists()) == {NAME}


def test_songs_are_measured_on_disk_or_fetched_to_the_same_numbers(served):
    local = open_session(served.address(more=f"?music={served.music}")).collection
    fetched = open_session(served.address(more="?listen=yes")).collection
    assert "loudness" in local.feature_names
    for name in ("loudness", "heard_tempo", "heard_energy"):
        assert fetched.column(name) == pytest.approx(local.column(name), nan_ok=True)
    folder = open_session(served.music).collection
    by_title = dict(zip((item.title for item in folder.items), folder.column("loudness"), strict=True))
    assert [by_title[item.title] for item in fetched.items] == pytest.approx(fetched.column("loudness"))


def test_a_wrong_password_and_a_wrong_name_are_one_line(served, capsys, monkeypatch):
    assert run(["order", served.address("No such")]) == 2
    assert f"no collection is called 'No such'; it holds 1 collection(s): {NAME}" in capsys.readouterr().err
    served.server().call("createPlaylist", name="Other")
    assert run(["order", f"subsonic://ann@127.0.0.1:{served.port}"]) == 2
    assert capsys.readouterr().err.endswith("; choose one\n")
    monkeypatch.setenv(IN_ENVIRONMENT, "other secret")
    assert run(["order", served.address()]) == 2
    said = capsys.readouterr().err
    assert "does not know the user 'ann'" in said
    assert "other secret" not in said


def test_a_playlist_that_has_changed_meanwhile_is_left_alone(served):
    ordered = open_session(served.address(), by="duration").order(template="steady-rise")
    told = served.playlists()[NAME]
    served.server().call("updatePlaylist", playlistId=told["id"], songIndexToRemove="0")
    with pytest.raises(InputError, match="has changed since it was opened"):
        ordered.write_back()
    assert set(served.playlists()) == {NAME}
    assert ids(served.playlists()[NAME]) == ids(told)[1:]


@pytest.mark.parametrize(("status", "new"), [(502, True), (-500, False)], ids=["answer lost", "not carried out"])
def test_a_server_that_breaks_off_leaves_the_old_or_the_new(served, status, new):
    before = ids(served.playlists()[NAME])
    served.restart(status)
    ordered = open_session(served.address(), by="duration").order(template="steady-rise")
    if new:
        ordered.write_back()
        assert ids(served.playlists()[NAME]) != before
    else:
        with pytest.raises(FileError, match="it is as it was"):
            ordered.write_back()
        assert ids(served.playlists()[NAME]) == before


def test_many_songs_some_of_them_twice_go_and_come(served):
    songs = ids(served.playlists()[NAME])
    many = [songs[k % len(songs)] for k in range(150)]
    ask = served.server().call
    ask("createPlaylist", ("name", "many"), *(("songId", song) for song in many))
    home = open_session(served.address("many"), by="duration").source.home
    home.write(list(reversed(range(150))))
    assert ids(served.playlists()["many"]) == many[::-1]


def test_a_server_that_is_gone_is_one_line(served, capsys):
    served.stop()
    assert run(["order", served.address()]) == 2
    assert "cannot be reached" in capsys.readouterr().err


def test_an_address_with_a_password_is_refused_and_not_repeated(capsys):
    assert run(["order", "subsonic://ann:hunter2@host/playlist/x"]) == 2
    said = capsys.readouterr().err
    assert "does not belong into an address" in said
    assert "hunter2" not in said
