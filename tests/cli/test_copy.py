"""Numbered copies and versions: the commands, and the options of ``fabula order`` that they came from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fabula.session.open import demo_folder, open_ordered
from fabula.sources.registry import open_source
from fabula.sources.tables.storage import read_columns


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(shutil.copytree(demo_folder(), tmp_path / "album"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("ending", ["m3u8", "m3u", "pls", "xspf", "jspf", "csv"])
def test_an_order_is_written_and_then_copied_with_its_sides(fabula, folder, tmp_path, ending):
    listed = tmp_path / f"album.{ending}"
    both = fabula("order", folder, "--sides", 2, "-o", listed, "--copy-to", tmp_path / "old")
    assert both.code == 0
    assert both.err == "note: --copy-to has moved: use fabula copy on what -o writes\n"
    done = fabula("copy", listed, "--to", tmp_path / "new")
    assert done.out == f"copied: 9 tracks\nwritten: {tmp_path / 'new'}\n"
    assert names(tmp_path / "old")[0].startswith("A1 ")
    assert names(tmp_path / "new") == names(tmp_path / "old")


def test_a_folder_is_copied_as_it_stands(fabula, folder, tmp_path):
    done = fabula("copy", folder, "--to", tmp_path / "new", "--link")
    assert done.out == f"linked: 9 tracks\nwritten: {tmp_path / 'new'}\n"
    assert names(tmp_path / "new")[:2] == ["01 Embers.ogg", "02 Red Line.ogg"]
    assert all(path.is_symlink() for path in (tmp_path / "new").iterdir())


def test_a_playlist_is_copied_without_measuring_anything(fabula, tmp_path):
    (tmp_path / "a.ogg").write_bytes(b"no sound")
    (tmp_path / "b.ogg").write_bytes(b"none either")
    listed = tmp_path / "mix.m3u8"
    listed.write_text("b.ogg\na.ogg\n")
    assert fabula("copy", listed, "--to", tmp_path / "new").code == 0
    assert [path.read_bytes() for path in sorted((tmp_path / "new").iterdir())] == [b"none either", b"no sound"]


def test_numbers_and_gains_go_into_copies_alone(fabula, folder, tmp_path):
    mutagen = pytest.importorskip("mutagen")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert fabula("copy", folder, "--to", tmp_path / "new", "--tags", "--gain").code == 0
    for number, path in enumerate(sorted((tmp_path / "new").iterdir()), start=1):
        tags = mutagen.File(path).tags
        assert tags["tracknumber"] == [str(number)]
        assert tags["replaygain_track_gain"][0].endswith(" dB")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_numbers_go_into_the_files_themselves(fabula, folder):
    mutagen = pytest.importorskip("mutagen")
    done = fabula("copy", folder, "--in-place")
    assert done.out.startswith("numbered: 9 tracks\nwritten: ")
    files = sorted(folder.glob("*.ogg"))
    assert [mutagen.File(path).tags["tracknumber"] for path in files] == [[str(i)] for i in range(1, 10)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a folder for the copies with --to, or say --in-place"),
        (("--to", ""), "name a folder for the copies with --to, or say --in-place"),
        (("--to", "x", "--in-place"), "name a folder for the copies with --to, or say --in-place"),
        (("--in-place", "--link"), "--link: goes with --to"),
        (("--in-place", "--gain"), "--gain: goes with --to"),
        (("--to", "x", "--link", "--tags"), "--tags: numbers are written into copies, not through links"),
        (("--to", "gone/deep"), "gone/deep: cannot be written (No such file or directory)"),
    ],
)
def test_what_cannot_be_copied_is_said_in_one_line(fabula, folder, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    outcome = fabula("copy", folder, *arguments)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"fabula: {message}\n")
    assert not (tmp_path / "x").exists()


def test_an_address_is_no_file(fabula, tmp_path):
    listed = tmp_path / "mix.m3u8"
    listed.write_text("#EXTINF:1,Radio\nhttp://example.org/radio.ogg\n")
    outcome = fabula("copy", listed, "--to", tmp_path / "new")
    assert (outcome.code, outcome.err) == (2, "fabula: 'Radio' is not a file that could be copied\n")


def test_versions_come_back(fabula, album, tmp_path):
    out = tmp_path / "out.csv"
    texts = []
    for template in ("icarus", "steady-rise", "steady-fall"):
        fabula("order", album, "--by", "energy", "--template", template, "-o", out)
        texts.append(out.read_text())
    listed = fabula("restore", out).out
    assert listed.startswith(f"versions of {out} that were replaced, oldest first:\n  1  ")
    assert listed.endswith("choose one with --version N\n")
    assert fabula("restore", out, "--version", 1).out == f"restored: {out} (version 1)\n"
    assert out.read_text() == texts[0]
    old = fabula("order", "--restore", out, "--version", 2)
    assert old.err == "note: --restore has moved: use fabula restore\n"
    assert out.read_text() == texts[1]
    assert fabula("restore", out, "--version", 99).err.startswith("fabula: --version: ")
    assert fabula("restore", "").err == "fabula: name the file to restore\n"
    assert fabula("restore", tmp_path / "gone").err.endswith(
        "nothing to restore (no version of it was ever replaced)\n"
    )


def test_the_same_from_python(folder, tmp_path):
    ordered = open_ordered(folder)
    assert [path.name for path in ordered.copy(tmp_path / "new")] == names(tmp_path / "new")
    assert ordered.sides == ()


def test_two_orders_do_not_mix_in_one_folder(fabula, folder, tmp_path):
    new = tmp_path / "new"
    new.mkdir()
    (new / "1979.ogg").write_bytes(b"no number of a copy")
    (new / "01 notes.txt").write_text("neither")
    listed = tmp_path / "whole.m3u8"
    assert fabula("copy", folder, "--to", new).code == 0
    before = names(new)
    assert fabula("order", folder, "--sides", 2, "-o", listed).code == 0
    done = fabula("copy", listed, "--to", new)
    assert (done.code, done.err) == (2, f"fabula: {new}: already holds '01 Embers.ogg'; name an empty folder\n")
    assert names(new) == before


@pytest.mark.parametrize("ending", ["csv", "jsonl", "xlsx", "parquet"])
def test_a_table_put_into_another_order_keeps_no_sides_and_begins_of_the_order_before(fabula, folder, tmp_path, ending):
    listed, again, whole = (tmp_path / f"{name}.{ending}" for name in ("one", "again", "whole"))
    assert fabula("order", folder, "--sides", 2, "--gap", 2, "-o", listed).code == 0
    assert fabula("order", listed, "--sides", 3, "-o", again).code == 0
    table = read_columns(again)
    assert sorted(set(table.columns["side"].texts())) == ["A", "B", "C"]
    assert table.columns["begins"].empty
    assert fabula("order", again, "--first", "Clockwork", "-o", whole).code == 0
    assert read_columns(whole).columns["side"].empty
    assert fabula("copy", whole, "--to", tmp_path / "new").code == 0
    assert names(tmp_path / "new")[0] == "01 Clockwork.ogg"


def test_sides_of_a_table_of_ones_own_stand_beside_those_of_an_order(fabula, album, tmp_path):
    rows = album.read_text(encoding="utf-8").splitlines()
    sided = [f"{row},{side}" for row, side in zip(rows, ["side", *"AAABBBB"], strict=True)]
    album.write_text("\n".join(sided), encoding="utf-8")
    new, back = tmp_path / "new.csv", tmp_path / "back.csv"
    assert fabula("order", album, "--sides", 3, "-o", new).code == 0
    assert len(open_source([new]).sides) == 3
    plain = tmp_path / "plain.csv"
    assert fabula("order", album, "--first", "Home", "-o", plain).code == 0
    assert open_source([plain]).sides == ()
    assert fabula("order", new, "--template", "steady-fall", "-o", back).code == 0
    assert open_source([back]).sides == ()
    own = read_columns(back).columns
    assert sorted(own["side"].texts()) == [*"AAABBBB"]
    assert own["fabula side"].empty
