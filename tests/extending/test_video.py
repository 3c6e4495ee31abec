"""The example of a medium as a package of its own: as its page has it, installed, and at work from clips to a film."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE, PAGE = ROOT / "examples" / "fabula-video", ROOT / "docs" / "extending" / "medium.md"
needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
CLIPS = {  # name: what ffmpeg draws, most motion first
    "noise": "color=gray,noise=alls=100:allf=t",
    "bars": "smptebars",
    "blue": "color=navy",
    "red": "color=red",
}


def blocks(kind: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return [block.strip() for block in re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]


def test_the_page_has_the_example_whole_and_in_its_order():
    module = (EXAMPLE / "fabula_video" / "__init__.py").read_text(encoding="utf-8")
    assert re.sub(r"\s+", " ", " ".join(blocks("python"))).strip() == re.sub(r"\s+", " ", module).strip()
    assert blocks("toml") == [(EXAMPLE / "pyproject.toml").read_text(encoding="utf-8").strip()]


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Where the example is installed, as pip does it, and nothing is fetched."""
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    copy = shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("package") / "fabula-video")
    subprocess.run([*command, "--target", str(target), str(copy)], check=True, timeout=100)
    return target


@pytest.fixture(scope="module")
def clips(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("film") / "clips"
    folder.mkdir()
    for name, drawn in CLIPS.items():
        made = ["-f", "lavfi", "-i", drawn, "-t", "1.2", "-vf", "scale=65:48", "-pix_fmt", "yuv444p"]
        command = ["ffmpeg", "-v", "error", *made, "-preset", "ultrafast", str(folder / f"{name}.mp4")]
        subprocess.run(command, check=True, timeout=60)
    return folder


@pytest.fixture
def fabula(installed, clips, tmp_path):
    def call(*arguments: object, program: str = "-m fabula") -> subprocess.CompletedProcess[str]:
        paths = [str(installed), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "FABULA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, *program.split(" ", 1), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment, cwd=clips.parent)

    return call


def seconds(film: Path) -> float:
    command = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(film)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout)


@pytest.mark.slow
@needs_ffmpeg
def test_clips_become_a_film_and_the_film_is_cut_into_its_shots(fabula, clips):
    film = clips.parent / "film.mp4"
    done = fabula("order", "clips", "--template", "steady-fall", "-o", film)
    assert done.returncode == 0, done.stderr
    assert "note: opened as video, though music knows such files, too: say medium music for that" in done.stdout
    assert "ordered by motion" in done.stdout
    assert seconds(film) == pytest.approx(4.8, abs=0.3)
    recut = fabula("order", film, "--by", "warmth", "--template", "steady-rise", "--json", "-o", "recut.mp4")
    assert recut.returncode == 0, recut.stderr
    shots = json.loads(recut.stdout)["items"]
    assert len(shots) == 4
    assert sorted(shot["title"] for shot in shots) == ["shot 1", "shot 2", "shot 3", "shot 4"]
    assert seconds(clips.parent / "recut.mp4") == pytest.approx(4.8, abs=0.4)


@pytest.mark.slow
@needs_ffmpeg
def test_steps_limits_and_help_are_its_own(fabula):
    done = fabula("order", "clips", "--smooth", "1", "--limit", "0:04", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["unit"], len(told["items"])) == ("seconds", 3)
    assert [change["name"] for change in told["changes"]] == ["cut", "pace"]
    assert "of clips .mp4" in " ".join(fabula("order", "--help").stdout.split())
    assert "folders and files of video (.avi .m4v .mkv .mov .mp4 .webm): in" in fabula("sources").stdout


@pytest.mark.slow
@needs_ffmpeg
def test_what_is_broken_is_told_and_what_is_no_video_opens_nothing(fabula, clips, tmp_path):
    folder = shutil.copytree(clips, tmp_path / "clips")
    (folder / "half.mp4").write_bytes((folder / "bars.mp4").read_bytes()[:900])
    (folder / "list.mp4").write_text(f"#EXTM3U\n#EXTINF:1,\nfile://{folder / 'red.mp4'}\n")
    done = fabula("order", folder)
    assert done.returncode == 0, done.stderr
    assert "note: 4 of 6 opened; left out: half.mp4: ffmpeg fails (" in done.stdout
    assert "; list.mp4: ffmpeg fails (" in done.stdout


@pytest.mark.slow
@needs_ffmpeg
def test_its_own_tests_pass(fabula):
    done = fabula("-q", "-p", "no:cacheprovider", EXAMPLE / "tests", program="-m pytest")
    assert done.returncode == 0, done.stdout
