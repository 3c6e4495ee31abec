"""What a playlist does not say of its files, the files say themselves."""

from __future__ import annotations

import shutil
import subprocess
import time

import pytest

from fabula.session.open import demo_folder
from fabula.sources.playlists.entries import Entry, Playlist
from fabula.sources.playlists.playlist import read_playlist, write_playlist
from fabula.sources.registry import Opening, open_source

FILES = sorted(file.name for file in demo_folder().glob("*.ogg"))[:3]


def test_a_plain_m3u_reads_the_tags_of_its_files(tmp_path):
    for name in FILES:
        shutil.copy(demo_folder() / name, tmp_path / name)
    (tmp_path / "a.m3u").write_text("\n".join([*FILES, "gone.ogg"]) + "\n")
    items = open_source([tmp_path / "a.m3u"]).collection.items
    assert [item.title for item in items] == ["Embers", "Red Line", "Small Hours", ""]
    assert all(item.artist for item in items[:3])
    assert items[0].details["album"]


def test_what_the_playlist_says_goes_first(tmp_path):
    shutil.copy(demo_folder() / FILES[0], tmp_path / FILES[0])
    (tmp_path / "a.m3u").write_text(f"#EXTINF:7,My own name\n{FILES[0]}\n")
    (item,) = open_source([tmp_path / "a.m3u"]).collection.items
    assert item.title == "My own name"
    assert item.artist


def test_files_that_may_not_be_read_are_not(tmp_path):
    (tmp_path / "a.m3u").write_text(f"{demo_folder() / FILES[0]}\n")
    (item,) = open_source([tmp_path / "a.m3u"], Opening(within=(tmp_path,))).collection.items
    assert (item.title, item.artist) == ("", "")


ODD = ("01 Embers.ogg", "sub/ü & 100.ogg", "a?b#c%20.ogg", "x: y.ogg", " lead.ogg")


def test_relative_locations_of_xspf_are_spelled_as_the_files_are(tmp_path):
    written = write_playlist(tmp_path / "a.xspf", Playlist(tuple(Entry(name, "T") for name in ODD)))
    text = written.read_text()
    assert "<location>01 Embers.ogg</location>" in text
    assert "<location>sub/ü &amp; 100.ogg</location>" in text
    assert [entry.location.removeprefix("./") for entry in read_playlist(written).entries] == list(ODD)


@pytest.mark.skipif(not shutil.which("mpd") or not shutil.which("mpc"), reason="needs mpd and mpc")
def test_mpd_finds_the_entries_of_a_relative_xspf(tmp_path):
    music = tmp_path / "music" / "sub"
    music.mkdir(parents=True)
    for name in FILES:
        shutil.copy(demo_folder() / name, music / name)
    write_playlist(music / "a.xspf", Playlist(tuple(Entry(name, "T") for name in FILES)))
    (tmp_path / "playlists").mkdir()
    socket = tmp_path / "s"
    settings = {"music_directory": music.parent, "playlist_directory": tmp_path / "playlists"}
    settings |= {"db_file": tmp_path / "db", "bind_to_address": socket, "log_file": tmp_path / "log"}
    told = "".join(f'{name} "{value}"\n' for name, value in settings.items())
    (tmp_path / "conf").write_text(told + 'audio_output {\ntype "null"\nname "none"\n}\n')

    def ask(*words: str) -> str:
        asked = ["mpc", "--host", str(socket), *words]
        return subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout

    mpd = subprocess.Popen(["mpd", "--no-daemon", str(tmp_path / "conf")], stderr=subprocess.DEVNULL)
    try:
        asked = ["mpc", "--host", str(socket), "status"]
        for _ in range(200):  # the socket is there before it is listened to
            if subprocess.run(asked, capture_output=True, timeout=30).returncode == 0:
                break
            time.sleep(0.05)
        ask("update", "--wait")
        ask("load", "sub/a.xspf")
        assert ask("playlist", "-f", "%file%").split("\n")[:-1] == [f"sub/{name}" for name in FILES]
    finally:
        mpd.kill()
        mpd.wait(timeout=10)
