"""The plug-in of beets, in a library of its own, by beets itself."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys

import pytest

import fabula
from fabula.session.open import demo_folder

pytest.importorskip("beets", reason="beets is not installed")
pytestmark = [pytest.mark.timeout(180), pytest.mark.slow]
CONF = """
directory: {folder}/music
library: {folder}/library.db
plugins: fabula
import: {{copy: no, write: no, autotag: no}}
"""


@pytest.fixture(scope="module")
def beet(tmp_path_factory):
    """A library of the demo, and how to ask it."""
    folder = tmp_path_factory.mktemp("beets")
    shutil.copytree(demo_folder(), folder / "music", ignore=shutil.ignore_patterns("*.txt", "*.json", "*.py"))
    (folder / "config.yaml").write_text(CONF.format(folder=folder), encoding="utf-8")

    def ask(*said: str, ends: int = 0) -> str:
        environment = {**os.environ, "BEETSDIR": str(folder), "FABULA_CACHE_DIR": str(folder / "cache")}
        command = [sys.executable, "-m", "beets", *said]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
        assert done.returncode == ends, done.stderr
        return done.stdout + done.stderr

    ask("import", "-q", str(folder / "music"))
    ask.folder = folder
    return ask


def hashes(folder):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.ogg")}


def test_a_query_is_ordered_and_kept_in_the_library(beet):
    before = hashes(beet.folder / "music")
    fields = "$id $title $artist $added $mtime"
    known = beet("ls", "-f", fields, "title+")
    said = beet("fabula", "--template", "icarus", "-o", str(beet.folder / "out.m3u8"))
    assert "measured 9 of 9" in said
    expected = fabula.open(beet.folder / "music").order(template="icarus").titles
    assert beet("ls", "-f", "$title", "fabula_order+").splitlines() == list(expected)
    lines = (beet.folder / "out.m3u8").read_text(encoding="utf-8").splitlines()
    assert [line.rpartition(" - ")[2] for line in lines if line.startswith("#EXTINF")] == list(expected)
    assert beet("ls", "-f", fields, "title+") == known
    assert hashes(beet.folder / "music") == before


def test_nothing_is_measured_twice_but_what_has_changed(beet):
    beet("fabula")
    shutil.rmtree(beet.folder / "cache", ignore_errors=True)
    assert "measured" not in beet("fabula", "-p")
    one = beet.folder / "music" / "01 Embers.ogg"
    os.utime(one, ns=(1, 1))
    assert "measured 1 of 1: 01 Embers.ogg" in beet("fabula", "-p")


def test_a_query_that_finds_nothing_is_one_line(beet):
    assert beet("fabula", "title:nothing of the kind", ends=1).strip() == "error: fabula: the query finds nothing"
    assert "first: " in beet("fabula", "--first", "No such title", ends=1)
