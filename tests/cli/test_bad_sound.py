"""Bad sound and bad wishes: named, and the rest is still ordered; or one line and exit code 2."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf

from fabula.session.open import demo_folder

GOOD = ("02 Red Line.ogg", "05 First Light.ogg", "07 Paper Waltz.ogg", "08 Clockwork.ogg")


def ogg() -> bytes:
    return (demo_folder() / GOOD[0]).read_bytes()


def wav(tmp: Path, samples: np.ndarray, rate: int = 8000, **options: str) -> bytes:
    sf.write(tmp, samples, rate, format="WAV", **options)
    data = tmp.read_bytes()
    tmp.unlink()
    return data


# name of the file: what is in it, given a scratch path
BAD_FILES = {
    "empty.mp3": lambda tmp: b"",
    "empty.ogg": lambda tmp: b"",
    "text.mp3": lambda tmp: b"this is not music\n" * 40,
    "text.flac": lambda tmp: b"this is not music\n" * 40,
    "text.opus": lambda tmp: b"this is not music\n" * 40,
    "html.wav": lambda tmp: b"<html><body>404 not found</body></html>",
    "picture.mp3": lambda tmp: b"\x89PNG\r\n\x1a\n" + bytes(400),
    "zeros.mp3": lambda tmp: bytes(5000),
    "zeros.wav": lambda tmp: bytes(5000),
    "zeros.flac": lambda tmp: bytes(5000),
    "head.ogg": lambda tmp: ogg()[:20],
    "head.flac": lambda tmp: b"fLaC" + bytes(10),
    "head.wav": lambda tmp: b"RIFF\x24\x00\x00\x00WAVE",
    "oggs.opus": lambda tmp: b"OggS" + bytes(200),
    "noise.mp3": lambda tmp: np.random.default_rng(0).bytes(3000),
    "no frames.wav": lambda tmp: wav(tmp, np.zeros((0, 1))),
    "not a number.wav": lambda tmp: wav(tmp, np.full((8000, 1), np.nan), subtype="FLOAT"),
    "infinite.wav": lambda tmp: wav(tmp, np.full((8000, 1), np.inf), subtype="FLOAT"),
    "rate 0.wav": lambda tmp: (
        b"RIFF"
        + struct.pack("<I", 36)
        + b"WAVEfmt "
        + struct.pack("<IHHIIHH", 16, 1, 1, 0, 0, 2, 16)
        + b"data"
        + struct.pack("<I", 0)
    ),
    "program.exe": lambda tmp: b"MZ" + bytes(300),
}

BAD_ARGUMENTS: list[tuple[tuple[str, ...], str]] = [
    (("gone",), "gone: does not exist"),
    (("nothing",), "nothing: has no audio files, text files or pictures in it"),
    (("album/02 Red Line.ogg", "gone.ogg"), "gone.ogg: does not exist"),
    (("notes.xyz",), "notes.xyz: does not have the ending of an audio file, a text file or a picture"),
    (
        ("album", "--model", "gone.safetensors"),
        "gone.safetensors: no such model file, and no model of that name comes with",
    ),
    (("album", "--model", "notes.txt"), "notes.txt: is not a model file, or is cut short (safetensors expected: "),
    (("album", "--model", "albums"), "album: the model needs danceability, energy, loudness, "),
    (("album", "--by", "liveness"), "album: has no column 'liveness'; there are: duration_ms, loudness"),
    (("album", "--by", "loudness", "--model", "audio"), "give either a column (by) or a model, not both"),
    (("album", "--alternatives", "0"), "--alternatives: must be at least 1; got 0"),
    (("album", "--alternatives", "many"), "Invalid value for '--alternatives'"),
    (("album", "--jobs", "0"), "Invalid value for '--jobs'"),
    (("album", "--sides", "0"), "Invalid value for '--sides'"),
    (("album", "--sides", "9"), "9 sides need as many items or runs; got 4"),
    (
        ("album", "--sides", "2", "--side-limit", "0:05"),
        "it does not fit on 2 sides of 0:05, by 0:17: the shortest ",
    ),
    (
        ("album", "--sides", "2", "--side-limit", "soon"),
        "--side-limit: takes a time such as 22:00, 1:02:03, 45m or 90s; got",
    ),
    (("album", "--limit", "0:02"), "every item alone holds more than the limit of 0:02"),
    (("album", "--limit", "60"), "--limit: takes a time such as 22:00, 1:02:03, 45m or 90s; got '60'"),
    (("album", "--smooth", "much"), "Invalid value for '--smooth'"),
    (("album", "--smooth", "nan"), "--smooth: must be a finite number; got nan"),
    (
        ("album", "--apart", "artist"),
        "these cannot all hold: 'Red Line', 'First Light', 'Paper Waltz', 'Clockwork' apart",
    ),
    (("album", "--apart", "mood"), "--apart: no item has 'mood'; there are: album, artist, "),
    (("album", "--together", "Red Line", "Nobody"), "--together: no item is called 'Nobody'; the nearest are "),
    (("album", "--together", "Red Line", "Red Line"), "these cannot all hold: 'Red Line' and 'Red Line' together"),
    (("album", "--before", "Red Line", "Red Line"), "these cannot all hold: 'Red Line' before 'Red Line'"),
    (("album", "--before", "Red Line"), "Option '--before' requires 2 arguments."),
    (("album", "--first", "Clockwork", "--before", "Red Line", "Clockwork"), "these cannot all hold: "),
    (("album", "--last", "Red Line", "--together", "Red Line", "Clockwork"), "these cannot all hold: "),
    (("album", "--copy-to", "album/02 Red Line.ogg"), "album/02 Red Line.ogg: cannot be written (File exists)"),
    (("album", "--copy-to", "gone/deep"), "gone/deep: cannot be written (No such file or directory)"),
    (("album", "--link"), "--link: goes with --copy-to"),
    (("album", "--report", "page.txt"), "page.txt: the ending must be .html"),
    (("album", "--report", "gone/page.html"), "gone/page.html: the folder gone does not exist"),
    (("album", "--plot", "arc.gif"), "arc.gif: the ending must be one of .svg, .png, .pdf"),
    (("--restore", "gone.m3u8"), "gone.m3u8: nothing to restore (no version of it was ever replaced)"),
    (("album", "--restore", "gone.m3u8"), "--restore: stands alone; it orders nothing"),
    (("album", "--collection", "3"), "--collection: goes with a table or a library; album is none"),
    (("album", "--like", "gone"), "gone: does not exist"),
    (
        ("album", "album/02 Red Line.ogg", "list.m3u8"),
        "one playlist at a time, without other files; got 3 paths",
    ),
    (("list.m3u8",), "list.m3u8: none of its 2 files can be measured; the first: gone1.ogg: "),
]


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path.parent / "cache"))
    for folder in ("album", "nothing"):
        (tmp_path / folder).mkdir()
    for name in GOOD:
        shutil.copy(demo_folder() / name, tmp_path / "album")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "notes.xyz").write_text("hello")
    (tmp_path / "list.m3u8").write_text("gone1.ogg\ngone2.ogg\n")
    return tmp_path


def test_there_are_enough_of_them():
    assert len(BAD_FILES) + len(BAD_ARGUMENTS) >= 40


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_named_and_the_rest_is_ordered(name, fabula, place):
    (place / "album" / name).write_bytes(BAD_FILES[name](place / "scratch.bin"))
    done = fabula("order", "album", "--json")
    assert done.code == 0, done.err
    assert len(done.json["items"]) == len(GOOD)
    (note,) = [note for note in done.json["notes"] if name in note]
    assert "\n" not in note
    alone = fabula("order", place / "album" / name)
    assert (alone.code, alone.out) == (2, "")
    assert alone.err.startswith("fabula: ")
    assert name in alone.err
    assert alone.err.count("\n") == 1


@pytest.mark.parametrize(("arguments", "line"), BAD_ARGUMENTS, ids=[" ".join(a) for a, _ in BAD_ARGUMENTS])
def test_one_line_and_exit_code_2(arguments, line, fabula, place):
    before = sorted(str(path) for path in place.rglob("*"))
    done = fabula("order", *arguments)
    assert (done.code, done.out) == (2, ""), done
    assert done.err.startswith(f"fabula: {line}")
    assert done.err.count("\n") == 1
    assert sorted(str(path) for path in place.rglob("*")) == before
