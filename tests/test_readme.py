"""The README's commands and programs run as they stand."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fabula.session.demo import demo_folder

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")) if kind == language]


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """The files that the README speaks of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path / "cache"))
    shutil.copytree(demo_folder(), "new-album")
    names = sorted(path.name for path in Path("new-album").iterdir() if path.suffix == ".ogg")
    lines = [f"#EXTINF:-1,{name[3:-4]}\nnew-album/{name}\n" for name in names]
    Path("mix.m3u8").write_text("#EXTM3U\n" + "".join(lines), encoding="utf-8")
    for name, values in (("album.csv", (0.2, 0.9, 0.5, 0.7)), ("other.csv", (3, 1, 2))):
        Path(name).write_text("title,energy\n" + "".join(f"t{i},{v}\n" for i, v in enumerate(values)))
    return tmp_path


def test_the_readme_is_one_screen_or_two():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 90


@pytest.mark.parametrize("command", [line for block in blocks("README.md", "sh") for line in block.splitlines()])
def test_commands(command, place):
    program, *arguments = shlex.split(command)
    assert program == "fabula"
    executable = str(Path(sys.executable).with_name("fabula"))
    done = subprocess.run([executable, *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    for name in re.findall(r"(?:-o|--report) (\S+)", command):
        assert (place / name).stat().st_size > 100


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_programs(page, place):
    for program in blocks(page, "python"):
        command = [sys.executable, "-W", "error", "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
