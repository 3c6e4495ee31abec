"""Waves, covers and sheets of tracks."""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise

import numpy as np
import pytest
import soundfile

from fabula.core.collection import Collection, Item
from fabula.errors import FileError, InputError
from fabula.media.medium import Stopped
from fabula.media.music.previews import MOST_BYTES, PARTS, Bounded, cover_of, wave_of
from fabula.media.music.tags import write_cue, write_timing

RATE = 8000


def png(size: int = 0) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0\0")) + b"\0" * size


def flac_with(path, picture: bytes):
    """A FLAC file with a picture block put in behind the first one."""
    soundfile.write(path, np.full((800, 1), 0.25), RATE)
    data = path.read_bytes()
    body = struct.pack(">I", 3)
    body += struct.pack(">I", 9) + b"image/png" + struct.pack(">I", 0)
    body += struct.pack(">5I", 1, 1, 24, 0, len(picture)) + picture
    end = 4 + 4 + int.from_bytes(data[5:8], "big")
    path.write_bytes(data[:end] + bytes([6]) + len(body).to_bytes(3, "big") + body + data[end:])


@pytest.mark.parametrize("seconds", [0.02, 3.7, 61.0])
def test_a_wave_holds_the_extremes_and_the_edges(tmp_path, rng, seconds):
    n = int(seconds * RATE)
    sound = rng.uniform(-0.8, 0.8, size=(n, 2))
    sound[: n // 8] = 0
    sound[n - n // 4 :] = 0.0005  # below what counts as sound
    path = tmp_path / "a.wav"
    soundfile.write(path, sound, RATE, subtype="FLOAT")
    wave = wave_of(str(path))
    assert wave.low.shape == wave.high.shape == (PARTS,)
    assert (wave.low.min(), wave.high.max()) == (pytest.approx(sound.min()), pytest.approx(sound.max()))
    loud = np.flatnonzero(np.abs(sound).max(axis=1) > 0.001)
    assert (wave.begins, wave.ends, wave.length) == pytest.approx((loud[0] / RATE, (loud[-1] + 1) / RATE, n / RATE))
    if seconds > 60:  # each part against the samples it stands for, give or take the steps at its ends
        edges = np.linspace(0, n, PARTS + 1)
        inner = [sound[int(a) + 1024 : int(b) - 1024].max(initial=-1) for a, b in pairwise(edges)]
        outer = [sound[max(0, int(a) - 1024) : int(b) + 1024].max() for a, b in pairwise(edges)]
        assert (wave.high >= np.array(inner) - 1e-6).all()
        assert (wave.high <= np.array(outer) + 1e-6).all()
    assert np.array_equal(wave_of(str(path)).low, wave.low)  # from the cache


def test_a_wave_of_silence_and_of_no_sound(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.zeros(900), RATE)
    wave = wave_of(str(tmp_path / "a.wav"))
    assert (wave.begins, wave.ends, wave.length) == (0, 0, pytest.approx(900 / RATE))
    (tmp_path / "b.wav").write_bytes(b"no sound")
    with pytest.raises(FileError, match=r"b\.wav"):
        wave_of(str(tmp_path / "b.wav"))
    with pytest.raises(Stopped):
        wave_of(str(tmp_path / "a.wav"), lambda: True)


def test_a_cover_is_in_the_file_or_beside_it(tmp_path):
    flac_with(tmp_path / "a.flac", png())
    assert cover_of(str(tmp_path / "a.flac")).data == png()
    soundfile.write(tmp_path / "b.flac", np.zeros(800), RATE)
    assert cover_of(str(tmp_path / "b.flac")) is None
    (tmp_path / "Folder.JPG").write_bytes(b"\xff\xd8\xff\xe0 jpeg")
    assert cover_of(str(tmp_path / "b.flac")).type == "image/jpeg"


@pytest.mark.parametrize("data", [b"<svg onload=x/>", b"<html>", b"", png(MOST_BYTES)], ids=["svg", "html", "", "big"])
def test_no_picture_is_no_cover(tmp_path, data):
    flac_with(tmp_path / "a.flac", data)
    (tmp_path / "cover.png").write_bytes(data)
    assert cover_of(str(tmp_path / "a.flac")) is None


def test_no_more_is_read_at_a_time_than_a_tag_holds(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abc" + bytes(2 * MOST_BYTES))
    with Bounded(path.open("rb", buffering=0)) as file:
        assert (file.read(2), file.tell(), file.seek(-1, 2)) == (b"ab", 2, 2 * MOST_BYTES + 2)
        for size in (-1, None, 1 << 40):
            file.seek(0)
            with pytest.raises(ValueError, match="more is asked for"):
                file.read(size)
        file.seek(3)
        assert file.read() == bytes(2 * MOST_BYTES)


def test_a_cover_that_is_a_link_is_not_followed(tmp_path):
    soundfile.write(tmp_path / "b.flac", np.zeros(800), RATE)
    (tmp_path / "secret.png").write_bytes(png())
    (tmp_path / "cover.png").symlink_to(tmp_path / "secret.png")
    assert cover_of(str(tmp_path / "b.flac")) is None


THREE = Collection(
    "c", (Item("1", 'A "b"', "x/a.mp3", "Z", length=60.0), Item("2", "B\nb", "b.flac", length=90.5),
          Item("3", "C", "c.wav", length=30.0)), title="T",
)  # fmt: skip


def test_a_cue_sheet_has_the_gaps_and_the_sides(tmp_path):
    text = write_cue(THREE, tmp_path / "a.cue", (2, 1), 2.5).read_text()
    assert text.split("\n") == [
        'TITLE "T"', "REM SIDE A", 'FILE "x/a.mp3" MP3', "  TRACK 01 AUDIO", "    TITLE \"A 'b'\"", '    PERFORMER "Z"',
        "    INDEX 01 00:00:00", 'FILE "b.flac" WAVE', "  TRACK 02 AUDIO", '    TITLE "B b"', "    PREGAP 00:02:38",
        "    INDEX 01 00:00:00", "REM SIDE B", 'FILE "c.wav" WAVE', "  TRACK 03 AUDIO", '    TITLE "C"',
        "    INDEX 01 00:00:00", "",
    ]  # fmt: skip
    assert "PREGAP" not in write_cue(THREE, tmp_path / "a.cue", (), 0.0).read_text()


def test_a_timing_sheet_adds_up(tmp_path):
    text = write_timing(THREE, tmp_path / "a.txt", (2, 1), 2.0).read_text()
    assert "Side A, 2:32.5" in text  # 60 + 2 + 90.5
    assert "  A2     1:02.0    1:30.5  B b" in text
    assert "  B1     0:00.0    0:30.0  C" in text
    assert "in all 3:03" in write_timing(THREE, tmp_path / "a.txt", (), 1.25).read_text()
    unknown = Collection("c", (Item("1", "A"),))
    with pytest.raises(InputError, match="length of 'A' is not known"):
        write_timing(unknown, tmp_path / "b.txt", (), 0.0)
    assert not (tmp_path / "b.txt").exists()
