"""Tags of audio files: what they say of an item, tempo and key in every notation, and what is no tag at all."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from fabula.core.collection import Item
from fabula.media.medium import common_detail
from fabula.media.music.tags import (
    AUDIO_ENDINGS,
    COMPANION_ENDINGS,
    key_and_mode,
    read_item,
    track_number,
    write_numbers,
)


def _id3(path: Path, **frames: str) -> Path:
    """A file that begins with an ID3v2.3 tag, and has nothing else worth reading."""
    body = b""
    for name, text in frames.items():
        data = b"\x01" + text.encode("utf-16")
        body += name.encode() + len(data).to_bytes(4, "big") + b"\0\0" + data
    size = bytes((len(body) >> shift) & 0x7F for shift in (21, 14, 7, 0))
    path.write_bytes(b"ID3\x03\0\0" + size + body + bytes(200))
    return path


def test_tempo_and_key_are_read(tmp_path):
    item = read_item(_id3(tmp_path / "a.mp3", TIT2="Ünder", TPE1="Can", TALB="X", TRCK="3/9", TBPM="128,5", TKEY="F#m"))
    assert (item.title, item.artist, item.path) == ("Ünder", "Can", str(tmp_path / "a.mp3"))
    assert {name: item.details[name] for name in ("album", "track", "tempo", "key", "mode")} == {
        "album": "X", "track": 3, "tempo": 128.5, "key": 6, "mode": 0,
    }  # fmt: skip
    assert track_number(item) == (1, 3)


@pytest.mark.parametrize("frames", [{"TBPM": "0"}, {"TBPM": "fast"}, {"TBPM": "12800"}, {"TKEY": "o"}, {"TKEY": "?"}])
def test_tags_that_say_nothing_are_left_out(tmp_path, frames):
    item = read_item(_id3(tmp_path / "a.mp3", TIT2="x", **frames))
    assert item.title == "x"
    assert not {"tempo", "key", "mode"} & set(item.details)


MINOR = ["Abm", "Ebm", "Bbm", "Fm", "Cm", "Gm", "Dm", "Am", "Em", "Bm", "F#m", "Dbm"]
MAJOR = ["B", "F#", "Db", "Ab", "Eb", "Bb", "F", "C", "G", "D", "A", "E"]


@pytest.mark.parametrize("hour", range(1, 13))
def test_camelot_and_open_key_are_the_notes_of_their_wheel(hour):
    assert key_and_mode(f"{hour}A") == key_and_mode(f"{hour:02}a") == key_and_mode(MINOR[hour - 1])
    assert key_and_mode(f"{hour}B") == key_and_mode(MAJOR[hour - 1])
    open_key = (hour - 8) % 12 + 1
    assert key_and_mode(f"{open_key}m") == key_and_mode(f"{hour}A")
    assert key_and_mode(f"{open_key}d") == key_and_mode(f"{hour}B")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("C", (0, 1)), ("c minor", (0, 0)), ("C# Major", (1, 1)), ("D♭", (1, 1)), ("Cb", (11, 1)), ("B#m", (0, 0)),
        ("A min", (9, 0)), ("A-moll", (9, 0)), ("a moll", (9, 0)), ("8A - Am", (9, 0)), ("Am/8A", (9, 0)),
        ("E flat major", (3, 1)), ("13A", None), ("0A", None), ("", None), ("H", None), ("Ambient", None),
    ],
)  # fmt: skip
def test_notations(text, key):
    assert key_and_mode(text) == key


def test_endings_and_titles():
    assert ".mp3" in AUDIO_ENDINGS
    assert not AUDIO_ENDINGS & COMPANION_ENDINGS
    items = [Item("a", details={"album": "X"}), Item("b", details={"album": "X"})]
    assert common_detail(items, "album") == "X"
    assert common_detail([*items, Item("c")], "album") == ""
    assert track_number(items[0]) is None


@pytest.mark.parametrize("ending", [".flac", ".ogg"])
def test_vorbis_comments_hold_totals_in_fields_of_their_own(tmp_path, ending):
    mutagen, soundfile = pytest.importorskip("mutagen"), pytest.importorskip("soundfile")
    path = tmp_path / f"a{ending}"
    soundfile.write(path, np.zeros(8000), 8000)
    write_numbers(path, (3, 12), (1, 2))
    wanted = {"tracknumber": "3", "tracktotal": "12", "discnumber": "1", "disctotal": "2"}
    assert {name: mutagen.File(path).tags[name] for name in wanted} == {name: [text] for name, text in wanted.items()}
    assert track_number(read_item(path)) == (1, 3)


@pytest.mark.parametrize(
    ("ending", "coder", "wanted"),
    [
        (".wma", "wmav2", {"WM/TrackNumber": "3", "WM/PartOfSet": "1/2"}),
        (".wv", "wavpack", {"Track": "3/12", "Disc": "1/2"}),
    ],
)
def test_numbers_stand_where_players_look_for_them(tmp_path, ending, coder, wanted):
    mutagen, ffmpeg = pytest.importorskip("mutagen"), shutil.which("ffmpeg")
    if ffmpeg is None:
        pytest.skip("ffmpeg is not installed")
    path = tmp_path / f"a{ending}"
    sine = ("-f", "lavfi", "-i", "sine=duration=1")
    subprocess.run([ffmpeg, "-loglevel", "error", *sine, "-c:a", coder, path], check=True, stdin=subprocess.DEVNULL)
    write_numbers(path, (3, 12), (1, 2))
    assert {name: str(mutagen.File(path).tags[name][0]) for name in wanted} == wanted
