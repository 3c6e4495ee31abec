"""The pages on extending fabula: every program in them runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "docs" / "extending"
WHAT = ("medium", "source", "playlist-format", "scorer", "constraint")


def programs() -> list[tuple[str, str]]:
    """Page and program: its ``python`` blocks, one after the other."""
    found = []
    for page in sorted(PAGES.glob("*.md")):
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        found.append((page.stem, "\n".join(blocks)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("page", "program"), programs(), ids=[page for page, _ in programs()])
def test_the_program_runs(page, program, tmp_path, monkeypatch):
    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path / "cache"))
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() or page == "medium", f"{page}: prints nothing"  # what that does is in test_video.py


def test_there_is_a_page_with_a_program_for_each():
    assert sorted(page for page, _ in programs()) == sorted(WHAT)
