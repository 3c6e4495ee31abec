"""The README's commands and programs run as they stand."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fabula.session.open import demo_folder

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)
PROGRAM = ".venv/bin/fabula"  # in a clone; here the one beside the interpreter stands in for it


def blocks(page: str, language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")) if kind == language]


@pytest.fixture
def clone(tmp_path, monkeypatch) -> Path:
    """What a clone has after `make demo`, as far as the README needs it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path / "cache"))
    shutil.copytree(demo_folder(), "src/fabula/demo")
    Path("out").mkdir()
    return tmp_path


def test_the_readme_is_one_screen_or_two():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 90


def test_the_demo_lies_where_the_readme_says():
    assert sorted(path.name for path in (ROOT / "src/fabula/demo").iterdir()) == sorted(
        path.name for path in demo_folder().iterdir()
    )
    assert "fabula demo --to out" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_commands_run_one_after_the_other_as_pasted(clone):
    commands = [line for block in blocks("README.md", "sh") for line in block.splitlines()]
    assert len(commands) == 4
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == PROGRAM
        executable = str(Path(sys.executable).with_name("fabula"))
        done = subprocess.run([executable, *arguments], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        for name in re.findall(r"(?:-o|--report) (\S+)", command):
            assert (clone / name).stat().st_size > 100
        if "--json" in arguments:
            assert json.loads(done.stdout)["template"] == "man-in-a-hole"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/research.md"])
def test_the_programs_run(page, clone):
    programs = blocks(page, "python")
    assert programs
    each = "import sys\nfor program in sys.argv[1:]: exec(program, {'__name__': '__main__'})"
    command = [
        sys.executable,
        "-W",
        "error",
        "-c",
        each,
        *programs,
    ]  # starting takes longest
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)
    assert done.returncode == 0, done.stderr
