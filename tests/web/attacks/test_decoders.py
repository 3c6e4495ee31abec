"""Files that make a decoder read something else, or never end."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from fabula.errors import FabulaError
from fabula.media import children
from fabula.media.medium import Stopped
from fabula.media.music import audio as ffmpeg
from fabula.media.music.audio import DEMUXERS, demuxer_of, measure
from tests.web.conftest import serving

needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
LISTS = {
    "hls": "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:10,\nfile://{}\n#EXT-X-ENDLIST\n",
    "endless hls": "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://{}\n",
    "concat": "ffconcat version 1.0\nfile '{}'\n",
    "dash": '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>file://{}</BaseURL></MPD>',
    "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 9 RTP/AVP 0\n",
    "image list": "%d.png",
}


@pytest.fixture(scope="module")
def secret(tmp_path_factory, sound) -> Path:
    """A file elsewhere, as a list may name it."""
    tmp_path = tmp_path_factory.mktemp("secret")
    (tmp_path / "s.ogg").write_bytes(sound("01 Embers.ogg"))
    if shutil.which("ffmpeg"):
        command = ["ffmpeg", "-v", "error", "-i", tmp_path / "s.ogg", "-f", "mpegts", tmp_path / "secret.ts"]
        subprocess.run(command, check=True, timeout=60)
        return tmp_path / "secret.ts"
    return tmp_path / "s.ogg"


@needs_ffmpeg
@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
def test_a_list_under_the_name_of_a_sound_gives_one_line(server, secret, text):
    for ending in (".aac", ".m4a", ".mp3", ".ogg"):
        job = server.finish(server.upload((f"x{ending}", text.format(secret).encode())))
        assert (job["state"], job["error"]) == ("failed", f"x{ending}: is not audio that can be read")


@needs_ffmpeg
@pytest.mark.slow
def test_so_does_the_command_line(secret, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.aac").write_text(LISTS["endless hls"].format(secret))
    code = "from fabula.cli import main; main()"
    command = [sys.executable, "-c", code, "order", str(tmp_path / "in")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.strip().endswith("x.aac: is not audio that can be read")
    assert len(done.stderr.splitlines()) == 1


def test_no_demuxer_opens_other_files():
    assert not DEMUXERS & {
        "hls",
        "concat",
        "dash",
        "image2",
        "sdp",
        "rtsp",
        "applehttp",
        "imf",
        "lavfi",
        "tty",
        "webm_dash",
    }


@pytest.mark.parametrize("size", [0, 1, 3, 7, 64, 500])
def test_any_bytes_are_probed(rng, tmp_path, size):
    path = tmp_path / "x"
    for head in (b"", b"ID3\x04\0\0\x7f\x7f\x7f\x7f", b"ID3\4\0\0\0\0\0\0" * 50, b"\xff\xf1", b"\x0b\x77"):
        path.write_bytes((head + rng.bytes(size))[:size])
        with path.open("rb") as file:
            assert demuxer_of(file) in {None, *DEMUXERS}
            assert file.tell() == 0


STUCK = """\
    #!/bin/sh
    ''':'
    exec "{python}" "$0" "$@"
    '''
    import os, struct, sys, time
    os.symlink(str(os.getpid()), {pid!r})  # who is started by a child can write no file
    sys.stdout.buffer.write(b".snd" + struct.pack(">5I", 24, 0xFFFFFFFF, 6, 8000, 1))
    sys.stdout.flush()
    time.sleep(100)
"""


@pytest.fixture
def stuck(tmp_path, monkeypatch) -> Iterator[Path]:
    """An ffmpeg from which nothing comes any more; it leaves its number in a link."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "ffmpeg"
    program.write_text(textwrap.dedent(STUCK.format(python=sys.executable, pid=str(tmp_path / "pid"))))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    children._pool.close()  # new ones find it
    yield tmp_path / "pid"
    children._pool.close()


def gone(pid: Path, seconds: float = 30) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(ValueError, FileNotFoundError):
            number = int(pid.readlink().name)
            try:
                os.kill(number, 0)
            except ProcessLookupError:
                return True
        time.sleep(0.02)
    return False


def began(pid: Path) -> None:
    until = time.monotonic() + 60
    while not pid.is_symlink():
        assert time.monotonic() < until
        time.sleep(0.02)


AAC = b"\xff\xf1\x50\x80\x02\x1f\xfc" + bytes(500)


@pytest.mark.slow
def test_a_decoder_that_is_stuck_ends_with_the_job(stuck):
    with serving() as served:
        job = served.upload(("x.aac", AAC)).json()
        began(stuck)
        served.client.delete(f"/api/jobs/{job['id']}")
        assert gone(stuck)
        until = time.monotonic() + 30
        while served.client.get(f"/api/jobs/{job['id']}").json()["state"] == "running":
            assert time.monotonic() < until
            time.sleep(0.02)
        assert served.client.get(f"/api/jobs/{job['id']}").json()["state"] == "cancelled"


def test_a_decoder_that_is_stuck_is_given_up(stuck, monkeypatch, tmp_path):
    monkeypatch.setattr(ffmpeg, "PATIENCE", 0.2)
    (tmp_path / "x.aac").write_bytes(AAC)
    with pytest.raises(Exception, match=r"x\.aac: takes too long to decode"):
        measure(tmp_path / "x.aac")
    assert gone(stuck)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell what others compute")
def test_a_decoder_that_computes_and_gives_nothing_is_given_up(stuck, monkeypatch, tmp_path):
    program = tmp_path / "bin" / "ffmpeg"
    program.write_text(program.read_text().replace("time.sleep(100)", "while True: pass"))
    monkeypatch.setattr(ffmpeg, "COMPUTED", 0.5)
    (tmp_path / "x.aac").write_bytes(AAC)
    with pytest.raises(FabulaError, match=r"takes too long to decode: .* [12] s of them computing"):
        measure(tmp_path / "x.aac")
    assert gone(stuck)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("files", [1, 2])
def test_a_decoder_ends_with_the_command_line(stuck, tmp_path, files, ending):
    folder = tmp_path / "in"
    folder.mkdir()
    for k in range(files):
        (folder / f"{k}.aac").write_bytes(AAC)
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from fabula.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "order", str(folder), "--no-cache"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        began(stuck)
        time.sleep(0.1)
        process.send_signal(ending)
        _, errors = process.communicate(timeout=60)
    if ending == signal.SIGINT:
        assert (process.returncode, errors.strip().splitlines()[-1]) == (130, "fabula: interrupted")
    assert gone(stuck)


@pytest.mark.slow
def test_a_decoder_ends_with_the_server(stuck, start):
    running = start()
    with running.client() as client:
        client.post("api/uploads", files={"files": ("x.aac", AAC)})
        began(stuck)
        running.process.send_signal(signal.SIGINT)
        running.process.communicate(timeout=60)
    assert gone(stuck)


@pytest.mark.slow
def test_a_long_silence_ends_with_the_job(tmp_path):
    """A few hundred kB that hold hours: measured in one go before, whatever was cancelled."""
    path = tmp_path / "x.flac"
    with soundfile.SoundFile(path, "w", 44100, 1) as file:
        for _ in range(10):
            file.write(np.zeros(44100 * 60, np.int16))
    assert path.stat().st_size < 1 << 19
    calls = 0

    def stop() -> bool:
        nonlocal calls
        calls += 1
        return calls > 3

    with pytest.raises(Stopped):
        measure(path, stop=stop)
    with serving() as served:
        job = served.upload(("x.flac", path.read_bytes())).json()
        served.client.delete(f"/api/jobs/{job['id']}")
        until = time.monotonic() + 30
        while (now := served.client.get(f"/api/jobs/{job['id']}").json())["state"] == "running":
            assert time.monotonic() < until
            time.sleep(0.01)
        assert now["state"] == "cancelled"


def test_more_hours_than_anybody_hears_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("fabula.media.music.audio.MOST_HOURS", 0.001)
    soundfile.write(tmp_path / "x.wav", np.zeros(8000 * 10), 8000)
    with pytest.raises(Exception, match=r"x\.wav: is longer than"):
        measure(tmp_path / "x.wav")


def test_a_sound_longer_than_its_bytes_can_say_is_refused(tmp_path, monkeypatch):
    """A megabyte of FLAC may hold a day of silence: listening to it took nine minutes."""
    soundfile.write(tmp_path / "x.flac", np.zeros(8000 * 60), 8000)
    measure(tmp_path / "x.flac")
    monkeypatch.setattr("fabula.media.music.audio._FREE", 5.0)
    with pytest.raises(Exception, match=r"x\.flac: is longer than a file of its size may be: it is all but empty"):
        measure(tmp_path / "x.flac")
    noise = np.random.default_rng(3).normal(size=8000 * 60) * 0.1
    soundfile.write(tmp_path / "y.flac", noise, 8000)
    measure(tmp_path / "y.flac")
