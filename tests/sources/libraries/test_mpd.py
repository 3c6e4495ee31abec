"""The queue and the stored playlists of MPD itself, on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time

import pytest

from fabula.cli import run
from fabula.errors import FileError, InputError
from fabula.session.open import demo_folder
from fabula.session.session import open_session
from fabula.sources.libraries.library import IN_ENVIRONMENT

mpd = pytest.importorskip("mpd", reason="python-mpd2 is not installed")
pytestmark = [pytest.mark.timeout(120), pytest.mark.slow]
CONF = """
music_directory "{folder}/music"
playlist_directory "{folder}/lists"
db_file "{folder}/db"
state_file "{folder}/state"
pid_file "{folder}/pid"
bind_to_address "127.0.0.1"
port "{port}"
password "s3cret@read,add,control,admin"
default_permissions ""
max_output_buffer_size "32768"
audio_output {{
    type "null"
    name "nothing"
}}
"""


class Player:
    """An MPD that runs, and a client of it."""

    def __init__(self, folder) -> None:
        self.folder = folder
        (folder / "lists").mkdir()
        (folder / "music" / "Ein Album").mkdir(parents=True)
        for file in demo_folder().glob("*.ogg"):
            shutil.copy(file, folder / "music" / "Ein Album")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        conf = folder / "mpd.conf"
        conf.write_text(CONF.format(folder=folder, port=self.port), encoding="utf-8")
        self.process = subprocess.Popen(
            ["mpd", "--no-daemon", str(conf)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.client = mpd.MPDClient()
        self.connect()
        self.client.update()
        while "updating_db" in self.client.status():
            time.sleep(0.05)
        self.client.add("Ein Album")
        self.client.save("späte Lieder")

    def connect(self) -> None:
        until = time.monotonic() + 60
        while True:
            try:
                self.client.connect("127.0.0.1", self.port)
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.05)
        self.client.password("s3cret")

    def address(self, what: str, more: str = "") -> str:
        return f"mpd://127.0.0.1:{self.port}/{what}{more}"

    def lists(self) -> dict[str, list[str]]:
        return {one["playlist"]: self.client.listplaylist(one["playlist"]) for one in self.client.listplaylists()}

    def queue(self) -> list[dict]:
        return self.client.playlistinfo()


def find_mpd() -> None:
    if shutil.which("mpd") is None:
        if os.environ.get("CI"):
            pytest.fail("mpd cannot be found: install mpd")
        pytest.skip("mpd cannot be found")


@pytest.fixture
def player(tmp_path, monkeypatch):
    find_mpd()
    monkeypatch.setenv(IN_ENVIRONMENT, "s3cret")
    player = Player(tmp_path)
    yield player
    player.client.disconnect()
    player.process.kill()
    player.process.wait()


def test_the_queue_is_put_in_order_and_the_song_plays_on(player, capsys):
    player.client.play(4)
    before = player.queue()
    playing = player.client.currentsong()["id"]
    address = player.address("queue")
    assert run(["order", address, "--by", "duration", "--template", "steady-rise", "-o", address]) == 0
    assert "written: the queue" in capsys.readouterr().out
    after, status = player.queue(), player.client.status()
    lengths = [float(song["duration"]) for song in after]
    assert lengths == sorted(lengths)
    assert {song["id"]: song["file"] for song in after} == {song["id"]: song["file"] for song in before}
    assert (status["state"], status["songid"]) == ("play", playing)
    (kept,) = (songs for name, songs in player.lists().items() if name.startswith("queue (before "))
    assert kept == [song["file"] for song in before]


def test_a_stored_playlist_is_replaced_and_the_old_one_kept(player):
    before = player.lists()["späte Lieder"]
    ordered = open_session(player.address("playlist/sp%C3%A4te%20Lieder"), by="duration").order(template="steady-rise")
    ordered.write_back()
    found = player.lists()
    assert sorted(found["späte Lieder"]) == sorted(before)
    assert found["späte Lieder"] != before
    (kept,) = (songs for name, songs in found.items() if name != "späte Lieder")
    assert kept == before
    ordered.write_back()  # what is there is what was written
    assert player.lists()["späte Lieder"] == found["späte Lieder"]
    player.client.playlistdelete("späte Lieder", 0)
    with pytest.raises(InputError, match="has changed since it was opened"):
        ordered.write_back()
    open_session(player.address("queue"), by="duration").order(template="steady-rise").write_back("Rising")
    assert player.lists()["Rising"] == found["späte Lieder"]
    with pytest.raises(InputError, match="there is a playlist 'Rising' already"):
        open_session(player.address("queue"), by="duration").order().write_back("Rising")


def test_files_are_measured_below_the_folder_named(player):
    session = open_session(player.address("queue", f"?music={player.folder}/music"))
    assert "loudness" in session.collection.feature_names
    assert session.collection.items[0].title == "Embers"
    with pytest.raises(InputError, match="holds none of the songs"):
        open_session(player.address("queue", "?music=/nowhere"))


@pytest.mark.parametrize("ending", [".xspf", ".m3u8", ".pls"])
def test_the_player_finds_the_entries_of_what_is_written_beside_its_music(player, ending, monkeypatch):
    """From the folder of the music, so that files are named relative to it."""
    folder = player.folder / "music" / "Ein Album"
    (folder / "01 Embers.ogg").rename(folder / "01 Ä & b [c].ogg")
    player.client.update()
    while "updating_db" in player.client.status():
        time.sleep(0.05)
    monkeypatch.chdir(player.folder / "music")
    ordered = open_session("Ein Album").order(template="icarus")
    ordered.save(f"Ein Album/list{ending}")
    player.client.clear()
    player.client.load(f"Ein Album/list{ending}")
    assert [song["file"] for song in player.queue()] == [row.item.path for row in ordered.rows]


def test_a_song_that_is_gone_meanwhile_leaves_the_old_order(player):
    ordered = open_session(player.address("queue"), by="duration").order(template="steady-rise")
    player.client.delete(0)
    before = player.queue()
    with pytest.raises(InputError, match="has changed"):
        ordered.write_back()
    assert player.queue() == before


def test_a_run_that_was_killed_leaves_the_old_list_and_the_next_one_cleans_up(player):
    """What a killed run leaves is a hidden list; the next run takes it away."""
    player.client.playlistadd(".späte Lieder (fabula)", player.queue()[0]["file"])
    open_session(player.address("playlist/späte Lieder"), by="duration").order(template="steady-rise").write_back()
    assert not [name for name in player.lists() if name.startswith(".")]


def test_a_wrong_password_and_no_player_are_one_line(player, capsys, monkeypatch):
    monkeypatch.setenv(IN_ENVIRONMENT, "hunter2")
    assert run(["order", player.address("queue")]) == 2
    said = capsys.readouterr().err
    assert "incorrect password" in said
    assert "hunter2" not in said
    monkeypatch.delenv(IN_ENVIRONMENT)
    assert run(["order", player.address("queue")]) == 2
    assert f"set {IN_ENVIRONMENT}" in capsys.readouterr().err
    player.process.kill()
    player.process.wait()
    with pytest.raises(FileError, match="cannot be reached"):
        open_session(player.address("queue"))
