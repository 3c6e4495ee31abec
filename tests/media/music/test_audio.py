from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from fabula.errors import FileError
from fabula.media.medium import Stopped
from fabula.media.music.audio import measure
from fabula.session.open import demo_folder

Sounds = Callable[..., Path]
RATE = 22050
needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")


@pytest.mark.parametrize("ending", ["wav", "flac", "ogg", "opus", "mp3", "aiff"])
def test_every_format_of_soundfile(sound: Sounds, ending: str) -> None:
    measured = measure(sound(f"tone.{ending}", seconds=3.217, rate=48000))
    assert measured.duration_ms == pytest.approx(3217, abs=10)
    assert measured.loudness == pytest.approx(-23.0, abs=0.2)


def test_the_content_counts_and_not_the_ending(sound: Sounds) -> None:
    path = sound("tone.flac")
    assert measure(path.rename(path.with_suffix(".mp3"))).duration_ms == pytest.approx(1000)


def cut(name: str, share: float) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        noise = np.random.default_rng(0).normal(size=8 * RATE) * 0.1
        soundfile.write(path, noise, RATE)
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
        return path

    return make


def holding(name: str, content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return make


def written(name: str, samples: object, rate: int = RATE, **form: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        soundfile.write(folder / name, samples, rate, **form)
        return folder / name

    return make


def folder_called(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).mkdir()
        return folder / name

    return make


def dangling(folder: Path) -> Path:
    (folder / "link.ogg").symlink_to(folder / "gone.ogg")
    return folder / "link.ogg"


def fifo(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.wav")
    return folder / "pipe.wav"


NOT_A_NUMBER = np.full(RATE, np.nan, np.float32)
TEXT = b"this is not music\n" * 200
BAD = {
    "empty": (holding("empty.ogg", b""), "is empty"),
    "one byte": (holding("byte.wav", b"R"), "is not audio"),
    "text as mp3": (holding("text.mp3", TEXT), "is not audio"),
    "text as ogg": (holding("text.ogg", TEXT), "is not audio"),
    "text as flac": (holding("text.flac", b"fLaC" + TEXT), "is not audio"),
    "text as wav": (holding("text.wav", b"RIFF" + TEXT), "is not audio"),
    "picture as m4a": (holding("cover.m4a", b"\x89PNG\r\n\x1a\n" + bytes(99)), "is not audio|need ffmpeg"),
    "samples without a header": (holding("sound.raw", bytes(999)), "is not audio"),
    "line end in the name": (holding("a\nb.ogg", b""), r"a\\nb\.ogg: is empty"),
    "undecodable name": (holding("sur\udcff.ogg", b""), r"sur\\udcff\.ogg: is empty"),
    "flac cut off": (cut("cut.flac", 0.5), "is broken or cut off"),
    "flac header alone": (cut("head.flac", 0.0005), "is broken or cut off|is not audio"),
    "ogg header alone": (cut("head.ogg", 0.002), "is not audio"),
    "wav without frames": (written("none.wav", np.zeros(0)), "has no samples in it"),
    "ogg without frames": (written("none.ogg", np.zeros(0)), "has no samples in it"),
    "nan": (written("nan.wav", NOT_A_NUMBER, subtype="FLOAT"), "not finite numbers"),
    "infinite": (written("inf.wav", NOT_A_NUMBER * 0 + np.inf, subtype="FLOAT"), "not finite numbers|no samples"),
    "too many channels": (written("many.wav", np.zeros((9, 200))), "must have 1 to 64 channels; it has 200"),
    "too low a rate": (written("low.wav", np.zeros(900), 900), "at least 4000 Hz; it is 900"),
    "folder": (folder_called("x.mp3"), "is a folder, not an audio file"),
    "missing": (lambda folder: folder / "missing.ogg", "No such file"),
    "dangling link": (dangling, "is a link to a file that does not exist"),
    "pipe": (fifo, "is not a regular file"),
    "name with a zero": (lambda _: Path("a\0b.ogg"), "cannot be read"),
    "name too long": (lambda folder: folder / ("x" * 300 + ".ogg"), "cannot be read"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_get_one_line_with_the_path_first(case: str, tmp_path: Path) -> None:
    make, words = BAD[case]
    path = make(tmp_path)
    with pytest.raises(FileError, match=words) as caught:
        measure(path)
    message = str(caught.value)
    assert message.isprintable()
    assert message.startswith("" if path.parent == Path() else str(path.parent))


def test_a_forbidden_file(sound: Sounds) -> None:
    path = sound()
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(FileError, match="Permission denied"):
        measure(path)


@pytest.mark.parametrize("name", ["cut.wav", "cut.mp3"])
def test_what_is_there_of_a_cut_file_counts_where_nothing_tells(name: str, tmp_path: Path) -> None:
    assert measure(cut(name, 0.5)(tmp_path)).duration_ms == pytest.approx(4000, abs=100)


def test_undecodable_names_are_read(sound: Sounds) -> None:
    path = sound("tone.ogg")
    odd = path.with_name("sur\udcff é 音.ogg")
    assert measure(path.rename(odd)).duration_ms == pytest.approx(1000)


def test_without_ffmpeg_the_message_names_it(sound: Sounds, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sound("tone.wav")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FileError, match=r"tone\.m4a: \.m4a files need ffmpeg, which is not installed$"):
        measure(path.rename(path.with_suffix(".m4a")))


@needs_ffmpeg
@pytest.mark.parametrize("name", ["tone.m4a", "-i; tone.wma"])
def test_the_rest_by_ffmpeg(sound: Sounds, name: str) -> None:
    source = sound("tone.wav", seconds=3, rate=48000)
    target = source.with_name(name)
    subprocess.run(["ffmpeg", "-v", "error", "-i", source, f"file:{target}"], check=True, timeout=60)
    measured = measure(target)
    assert measured.duration_ms == pytest.approx(3000, abs=50)
    assert measured.loudness == pytest.approx(-23.0, abs=0.1)


def ebur128(path: Path) -> float:
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-i", path, "-af", "ebur128=framelog=verbose", "-f", "null", "-"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stderr
    return float(re.findall(r"I:\s+(-?[\d.]+) LUFS", said)[-1])


@pytest.mark.slow
@needs_ffmpeg
@pytest.mark.parametrize(
    ("ending", "channels"), [("wav", 1), ("opus", 2), ("flac", 5), ("ogg", 5), ("wav", 6), ("ogg", 6), ("opus", 6)]
)
def test_loudness_as_ffmpeg_has_it(tmp_path: Path, ending: str, channels: int) -> None:
    rng = np.random.default_rng(channels)
    samples = np.cumsum(rng.normal(size=(3 * 48000, channels)), axis=0)  # deep, so that the high pass matters
    samples = np.diff(samples * 0.02 + rng.normal(size=samples.shape), axis=0) * np.linspace(0.01, 0.1, channels)
    samples[48000:96000] *= 0.05
    source, target = tmp_path / "source.wav", tmp_path / f"sound.{ending}"
    soundfile.write(source, samples, 48000, format="WAVEX", subtype="FLOAT")
    layout = {1: "mono", 2: "stereo", 5: "5.0", 6: "5.1"}[channels]
    rate = ["-b:a", f"{80 * channels}k"] if ending in {"ogg", "opus"} else []
    command = ["ffmpeg", "-v", "error", "-channel_layout", layout, "-i", source, *rate, target]
    subprocess.run(command, check=True, timeout=60)
    assert measure(target).loudness == pytest.approx(ebur128(target), abs=0.1)


def test_stop_gives_up(sound: Sounds) -> None:
    with pytest.raises(Stopped):
        measure(sound(), stop=lambda: True)


@needs_ffmpeg
@pytest.mark.parametrize("name", ["01 Embers.ogg", "03 Small Hours.ogg"])
def test_opus_files_that_soundfile_fails_at_are_heard_by_ffmpeg(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 24 kHz, for example: libsndfile breaks off somewhere in them."""
    source, path = demo_folder() / name, tmp_path / "a.opus"
    command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-i", str(source), "-ar", "24000", "-c:a", "libopus"]
    subprocess.run([*command, str(path)], check=True, timeout=60)
    with pytest.raises((RuntimeError, soundfile.SoundFileError)):
        soundfile.read(path)
    heard, true = measure(path), measure(source)
    assert heard.duration_ms == pytest.approx(true.duration_ms, abs=30)
    assert heard.loudness == pytest.approx(true.loudness, abs=0.7)
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4000] = bytes(4000)
    path.write_bytes(data)
    with pytest.raises(FileError, match="is broken or cut off"):  # ffmpeg passes over what is broken
        measure(path)
    monkeypatch.setattr("fabula.media.music.audio.shutil.which", lambda _: None)
    with pytest.raises(FileError, match="ffmpeg, which decodes some that are whole and odd, is not installed"):
        measure(path)


@needs_ffmpeg
def test_streams_that_follow_each_other_are_heard_to_the_end(sound: Sounds, tmp_path: Path) -> None:
    parts = [sound(f"{k}.ogg", seconds=seconds).read_bytes() for k, seconds in enumerate((1.0, 2.0))]
    path = tmp_path / "both.ogg"
    path.write_bytes(b"".join(parts))
    assert measure(path).duration_ms == pytest.approx(3000, abs=60)
