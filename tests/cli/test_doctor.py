"""What ``fabula`` alone says, what ``fabula doctor`` finds, and what shells complete."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata

import pytest

from fabula.cli import COMMANDS, doctor, run


def test_alone_it_greets_in_few_lines_with_the_next_step(capsys):
    assert run([]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 6
    assert "Next: fabula demo" in out
    assert not err


def test_it_finds_all_well_and_says_where_things_are(fabula, tmp_path):
    done = fabula("doctor")
    assert done.code == 0
    assert done.out.splitlines()[-1] == "all is well"
    assert str(os.environ["FABULA_CACHE_DIR"]) in done.out
    found = fabula("doctor", "--json").json
    assert found["ok"]
    assert found["base"]["numpy"] == metadata.version("numpy")
    assert set(found["checks"].values()) == {""}


def test_every_extra_is_told_by_what_it_is_for():
    there = set(metadata.metadata("fabula").get_all("Provides-Extra") or [])
    assert set(doctor.EXTRAS) == there - {"all"}


def test_what_is_missing_is_named_with_the_command_that_brings_it(fabula, monkeypatch):
    gone = {"pyarrow", "matplotlib"}
    version = metadata.version

    def without(name: str) -> str:
        if name in gone:
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(metadata, "version", without)
    done = fabula("doctor")
    assert done.code == 0  # extras are no fault
    assert "missing matplotlib: pip install 'fabula[plot]'" in done.out
    assert "missing pyarrow: pip install 'fabula[remote]'" in done.out  # by an extra that it takes in


@pytest.mark.parametrize("check", doctor.CHECKS)
def test_what_does_not_work_is_told_and_exits_with_1(fabula, monkeypatch, check):
    def fail() -> None:
        raise OSError("no space left")

    monkeypatch.setitem(doctor.CHECKS, check, fail)
    done = fabula("doctor")
    assert done.code == 1
    assert f"{check}: OSError: no space left" in done.out


def test_a_missing_base_package_is_a_fault(fabula, monkeypatch):
    version = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: version(name if name != "tinytag" else "no-such-package"))
    done = fabula("doctor")
    assert done.code == 1
    assert "tinytag MISSING" in done.out


@pytest.mark.parametrize(("words", "expected"), [("fabula re", "review"), ("fabula order --templ", "--template")])
def test_shells_complete_commands_and_options(words, expected):
    asked = {"_FABULA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    command = [sys.executable, "-m", "fabula"]
    done = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True, timeout=60, check=False)
    assert f"plain,{expected}" in done.stdout
    assert expected in COMMANDS or expected.startswith("--")
