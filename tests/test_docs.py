"""The documents say what is true."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from fabula.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[1]


def test_the_command_reference_is_up_to_date():
    check = [sys.executable, str(ROOT / "docs" / "fill_commands.py"), "--check"]
    assert subprocess.run(check, check=False, timeout=60).returncode == 0, "run: make docs"


def test_every_help_shows_an_example():
    filled = runpy.run_path(str(ROOT / "docs" / "fill_commands.py"))
    from fabula.cli import cli

    for path, command in filled["walk"](cli, ("fabula",)):
        assert "Example" in (command.help or ""), path


@pytest.mark.parametrize("command", COMMANDS)
def test_the_first_line_of_help_is_the_summary(command):
    from fabula.cli import cli

    found = cli.get_command(None, command)  # type: ignore[arg-type]
    assert found is not None
    assert (found.help or "").splitlines()[0] == COMMANDS[command]


def test_every_link_between_documents_leads_somewhere():
    import re

    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
