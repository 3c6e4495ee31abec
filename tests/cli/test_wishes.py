"""Wishes, versions and copies on the command line, each mistake with its line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from fabula.cli import OPTIONS
from fabula.cli.order import command as order
from fabula.session.open import demo_folder
from fabula.session.request import Request

BY = ("--by", "energy")


@pytest.fixture
def folder(tmp_path) -> Path:
    """The demo album under a name with a space and an accent."""
    path = tmp_path / "mon été"
    shutil.copytree(demo_folder(), path)
    return path


def titles(outcome) -> list[str]:
    return [row["title"] for row in outcome.json["items"]]


def test_the_nth_proposal_can_be_taken_and_written(fabula, folder, tmp_path):
    first = fabula("order", folder, "--json").json
    second = fabula("order", folder, "--choose", 2, "-o", tmp_path / "second.json", "--json").json
    assert second["ordering"] == first["alternatives"][0]["ordering"]
    assert json.loads((tmp_path / "second.json").read_text(encoding="utf-8"))["ordering"] == second["ordering"]


def test_runs_of_three(fabula, album):
    found = titles(fabula("order", album, *BY, "--together", "Run", "Walk", "--together", "Walk", "Dawn", "--json"))
    start = found.index("Run")
    assert found[start : start + 3] == ["Run", "Walk", "Dawn"]


def test_apart_hard_and_soft(fabula, album):
    hard = fabula("order", album, *BY, "--apart", "artist", "--json").json
    creators = [row["artist"] for row in hard["items"]]
    assert all(a != b for a, b in pairwise(creators))
    pinned = ("--first", "Dawn", "--at", "2=Walk")  # both by Ana
    assert fabula("order", album, *BY, "--apart", "artist", *pinned).err.startswith("fabula: these cannot all hold: ")
    soft = fabula("order", album, *BY, "--apart", "artist", "--apart", "soft", *pinned, "--json")
    creators = [row["artist"] for row in soft.json["items"]]
    assert sum(a == b for a, b in pairwise(creators)) == 1


def test_openers_by_side(fabula, album):
    done = fabula(
        "order", album, *BY, "--sides", 2, "--first", "A=Run", "--first", "B=Home", "--last", "A=Dawn", "--json"
    )
    told = done.json
    start = told["sides"][0]
    assert [titles(done)[i] for i in (0, start - 1, start)] == ["Run", "Dawn", "Home"]
    assert [row["side"] for row in told["items"]] == ["A"] * start + ["B"] * (7 - start)


def test_one_side_is_side_a(fabula, album):
    assert titles(fabula("order", album, *BY, "--first", "A=Run", "--json"))[0] == "Run"


def test_the_arc_of_one_collection_of_several(fabula, album, tmp_path):
    several = tmp_path / "several.csv"
    several.write_text("album_id,title,energy\n1,a,1\n1,b,2\n1,c,3\n2,d,3\n2,e,2\n2,f,1\n")
    rising = fabula("order", album, *BY, "--like", f"{several}#1", "--json").json["ordering"]
    falling = fabula("order", album, *BY, "--like", f"{several}#2", "--json").json["ordering"]
    assert rising == falling[::-1]
    wrong = fabula("order", album, *BY, "--like", several)
    assert wrong.err == f"fabula: --like: {several} holds 2 collection(s): 1, 2; choose one, as '{several}#1'\n"


def test_versions_are_listed_and_chosen(fabula, folder, tmp_path):
    out = tmp_path / "list.m3u8"
    out.write_text("#EXTM3U\nby hand.ogg\n")
    fabula("order", folder, "-o", out)
    out.write_text("#EXTM3U\nby hand, later.ogg\n")
    fabula("order", folder, "--template", "wave", "-o", out)
    listed = fabula("order", "--restore", out).out
    assert "oldest first" in listed
    assert "choose one with --version N" in listed
    assert "by hand" not in out.read_text()
    assert fabula("order", "--restore", out, "--version", 1).out == f"restored: {out} (version 1)\n"
    assert out.read_text() == "#EXTM3U\nby hand.ogg\n"
    assert fabula("order", "--restore", out, "--version", 99).err.startswith("fabula: --version: ")


def test_copies_by_side_with_their_numbers(fabula, folder, tmp_path):
    mutagen = pytest.importorskip("mutagen")
    done = fabula("order", folder, "--sides", 2, "--copy-to", tmp_path / "out", "--tags")
    assert done.code == 0, done.err
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names[0].startswith("A1 ")
    assert mutagen.File(tmp_path / "out" / names[0], easy=True)["discnumber"] == ["1"]


def test_numbers_in_place_keep_what_was(fabula, folder):
    mutagen = pytest.importorskip("mutagen")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = fabula("order", folder, "--template", "steady-rise", "--tags", "--in-place")
    assert done.code == 0, done.err
    for name, content in before.items():
        assert (folder / f"{name}.~1~").read_bytes() == content
        assert mutagen.File(folder / name, easy=True)["tracknumber"][0].isdigit()


def test_a_stream_and_a_missing_file_keep_their_positions(fabula, folder, tmp_path):
    names = sorted(path.name for path in folder.iterdir())
    lines = [
        "#EXTM3U",
        "http://radio.example/live",
        *(f"mon été/{n}" for n in names[:3]),
        "gone.ogg",
        f"mon été/{names[3]}",
    ]
    source = tmp_path / "mix.m3u8"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = fabula("order", source, "-o", tmp_path / "new.m3u8")
    assert done.code == 0, done.err
    assert "4 of 6 opened; kept where they stand, not measured: http://radio.example/live: is not a file" in done.out
    written = [line for line in (tmp_path / "new.m3u8").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    assert sorted(written) == sorted(lines[1:])
    assert (written[0], written[4]) == ("http://radio.example/live", "gone.ogg")


def test_a_circle_of_links_is_no_trouble(fabula, folder):
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "self.ogg").symlink_to(folder / "self.ogg")
    done = fabula("order", folder, "--json")
    assert done.code == 0, done.err
    assert len(done.json["items"]) == 9


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("",), "a path must not be empty; for the current folder say '.'"),
        (("ALBUM", *BY, "--seconds", "0"), "--seconds: must be above 0; got 0"),
        (("--restore", ""), "--restore: name the file to restore"),
        (("ALBUM", *BY, "--copy-to", ""), "--copy-to: name a folder for the copies"),
        (("ALBUM", *BY, "--tags"), "--tags: goes with either --copy-to or --in-place"),
        (("ALBUM", *BY, "--in-place"), "--in-place: goes with --tags"),
        (("ALBUM", *BY, "--version", "1"), "--version: goes with a file to restore"),
        (("ALBUM", *BY, "--choose", "9"), "--choose: there are 1 proposals; got 9"),
        (("ALBUM", *BY, "--choose", "0"), "--choose: must be at least 1; got 0"),
        (("ALBUM", *BY, "--first", "Runn"), "--first: no item is called 'Runn'; did you mean 'Run'?"),
        (("ALBUM", *BY, "--first", "Dawn No. 3"), "--first: no item is called 'Dawn No. 3'; the nearest are "),
        (("ALBUM", *BY, "--sides", "2", "--first", "C=Run"), "--first: there are 2 sides; got side C"),
        (
            ("ALBUM", *BY, "--first", "Run", "--first", "Dawn"),
            "--first: one title, or one for each side as A=TITLE; got 2",
        ),
        (("ALBUM", *BY, "--apart", "soft"), "--apart: name a column besides soft"),
        (("ALBUM", *BY, "--apart", "artist", "--apart", "mood"), "--apart: one column; got artist, mood"),
        (("ALBUM", *BY, "--apart", "colour"), "--apart: no item has 'colour'; there are: artist, energy, mood, tempo"),
        (("ALBUM", *BY, "--columns", "title"), "--columns: takes ROLE=NAME, such as title=Titel; got 'title'"),
        (("ALBUM", *BY, "--columns", "title=Nope"), "ALBUM: has no column 'Nope'"),
        (("ALBUM", *BY, "--together", "Run", "Walk", "--together", "Run", "Dawn"), "these cannot all hold: "),
        (("ALBUM", *BY, "--limit", "20:00"), "--limit: the length of 'Dawn' in seconds is not known"),
        (("ALBUM", *BY, "--smooth", "inf"), "--smooth: must be a finite number; got inf"),
        (("box://1,2",), "box://1,2: nothing here opens box:// addresses"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_each_mistake_has_its_line(fabula, album, arguments, line):
    outcome = fabula("order", *(str(album) if a == "ALBUM" else a for a in arguments))
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith(f"fabula: {line.replace('ALBUM', str(album))}"), outcome.err
    assert outcome.err.count("\n") == 1


def test_a_long_title_leaves_the_columns_where_they_are(fabula, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(f"title,artist,energy,duration\n{'Very ' * 60}long,{'Name ' * 30},0.1,3:20\nB,C,0.9,2:05\n")
    lines = fabula("order", path, *BY).out.splitlines()
    row = next(line for line in lines if "Very" in line)
    assert "…" in row
    assert "3:20" in row
    assert all(len(line) <= 100 for line in lines[1:4])


def test_nobody_but_python_writes_on_stderr():
    script = (
        "import os, sys; from fabula.cli import _silence_libraries; _silence_libraries(); "
        "os.write(2, b'[mpg123] noise'); print('what matters', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "what matters\n")


@pytest.mark.parametrize(
    ("wished", "told"),
    [
        (["--all", "--json", "-o", "new.csv"], "--json: goes with one collection, not with --all"),
        (["--all", "--tempo-range", "88-176", "-o", "new.csv"], "--tempo-range: goes with one collection"),
        (["--gap", "nan"], "--gap: must be a finite number; got nan"),
        (["--smooth-by", "tempo"], "--smooth-by: goes with --smooth, such as --smooth 0.5"),
        (["--fill", "45:00", "--limit", "40:00"], "--fill: goes without a limit"),
    ],
)
def test_what_is_wrong_is_called_as_it_was_typed(fabula, album, wished, told):
    done = fabula("order", album, *wished)
    assert (done.code, done.err.startswith(f"fabula: {told}"), done.err.count("\n")) == (2, True, 1)


def test_every_wish_is_called_by_its_option():
    for option in order.params:
        if option.name in Request.__dataclass_fields__:
            assert f"--{OPTIONS.get(option.name, option.name).replace('_', '-')}" in option.opts
