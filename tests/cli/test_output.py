"""What is printed and written where the output, the disk or a name is not as one expects: never a traceback."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fabula.cli import _soften_output, run
from fabula.session.open import demo_folder

ODD = os.fsdecode(b"caf\xe9")  # a name that is no UTF-8


def call(monkeypatch: pytest.MonkeyPatch, encoding: str, *arguments: object) -> tuple[int, str]:
    """Run the command line in this process on an output as Python makes it for PYTHONIOENCODING, as `main` does."""
    out = io.TextIOWrapper(io.BytesIO(), *encoding.split(":"), write_through=True)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        _soften_output()
        code = run([*map(str, arguments)])
    return code, out.buffer.getvalue().decode(out.encoding)  # type: ignore[attr-defined]


@pytest.fixture
def album(tmp_path) -> Path:
    path = tmp_path / "Ложь….csv"
    path.write_text("title,energy\nDawn … “é”,0.1\nМай,0.9\nRest,0.4\n", encoding="utf-8")
    return path


@pytest.fixture
def odd(tmp_path) -> Path:
    folder = tmp_path / "odd"
    folder.mkdir()
    for number, file in enumerate(sorted(demo_folder().glob("*.ogg"))[:3]):
        shutil.copy(file, folder / f"{ODD} {number}.ogg")
    return folder


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii"])
def test_an_output_of_few_characters_shows_others_like_them(album, encoding, monkeypatch, capsys):
    code, shown = call(monkeypatch, encoding, "order", album, "--by", "energy", "--why")
    assert (code, capsys.readouterr().err) == (0, "")
    assert "Rest" in shown
    assert "#####" in shown  # the bars
    assert "???" in shown  # letters that nothing is like
    assert ('Dawn . "e"' if encoding == "ascii" else "é") in shown


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii", "utf-8"])
def test_json_is_whole_in_any_output(album, encoding, monkeypatch):
    code, printed = call(monkeypatch, encoding, "order", album, "--by", "energy", "--json")
    assert code == 0
    told = json.loads(printed)
    assert {item["title"] for item in told["items"]} == {"Dawn … “é”", "Май", "Rest"}


def test_curves_and_columns_as_well():
    """By the command itself: what Python makes its output of, and what softens it, come together there."""
    command = [sys.executable, "-m", "fabula", "templates", "show", "icarus"]
    done = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"****" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "arguments",
    [["--version"], *(pytest.param(one, marks=pytest.mark.slow) for one in (["order"], ["order", "--json"], ["info"]))],
)
def test_a_full_disk_is_one_line(album, arguments):
    where = [album, "--by", "energy"] if "order" in arguments else []
    command = [sys.executable, "-m", "fabula", *map(str, [*arguments[:1], *where, *arguments[1:]])]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 2
    assert done.stderr == b"fabula: what is printed cannot be written (No space left on device)\n"


@pytest.mark.parametrize("ending", ["json", "cue", "txt", "m3u8", "xspf"])
def test_names_that_are_no_text_are_written_as_they_are(odd, fabula, ending):
    target = odd.parent / f"out.{ending}"
    done = fabula("order", odd, "-o", target)
    assert (done.code, done.err) == (0, "")
    content = target.read_bytes()
    if ending == "json":
        paths = [item["path"] for item in json.loads(content)["items"]]
        assert all(Path(path).is_file() for path in paths)
    elif ending != "txt":
        assert b"caf\xe9" in content or b"caf%E9" in content


@pytest.mark.parametrize(
    ("arguments", "ending"),
    [
        (("order", "-o"), "csv"),
        (("extract", "-o"), "csv"),
        (("extract", "-o"), "parquet"),
        (("encode", "-o"), "csv"),
        (("encode", "-o"), "parquet"),
        (("order", "--all", "-o"), "csv"),
    ],
)
def test_a_table_refuses_such_a_name_in_one_line(odd, fabula, arguments, ending):
    target = odd.parent / f"out.{ending}"
    done = fabula(arguments[0], odd, *arguments[1:], target)
    assert done.code == 2
    assert done.err.startswith(f"fabula: {target}: cannot be written (")
    assert done.err.endswith("is no text: rename that file)\n")
    assert not target.exists()


def test_extracted_json_and_json_on_the_way_out_keep_them(odd, fabula, monkeypatch):
    done = fabula("extract", odd, "-o", odd.parent / "out.json")
    assert done.code == 0
    rows = json.loads((odd.parent / "out.json").read_text(encoding="utf-8"))
    assert ODD in rows[0]["path"]
    _, printed = call(monkeypatch, "utf-8:strict", "order", odd, "--json")
    assert ODD in json.loads(printed)["items"][0]["path"]


def test_what_nobody_foresaw_is_one_line_and_debug_shows_where(fabula, monkeypatch):
    def fail(*_, **__):
        raise KeyError("what a plug-in\nraises")

    monkeypatch.setattr("fabula.session.session.open_session", fail)
    done = fabula("order", demo_folder())
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert done.err.startswith("fabula: something unforeseen went wrong (KeyError: ")
    with pytest.raises(KeyError):
        fabula("order", demo_folder(), "--debug")


def test_what_a_file_does_not_carry_is_told_in_a_note_and_in_json(tmp_path, monkeypatch, capsys):
    table = tmp_path / "t.csv"
    table.write_text("title,path,energy,mood\n" + "".join(f"T{k},t{k}.mp3,0.{k},{k}\n" for k in range(1, 5)))
    code, printed = call(monkeypatch, "utf-8", "order", table, "--json", "-o", tmp_path / "x.m3u8")
    told = "x.m3u8 is made anew, without the columns of t.csv: energy, mood"
    assert (code, json.loads(printed)["losses"]) == (0, told)
    assert capsys.readouterr().err.splitlines()[-1] == f"note: {told}"
    code, printed = call(monkeypatch, "utf-8", "order", table, "--json", "-o", tmp_path / "x.csv")
    assert (code, "losses" in json.loads(printed), capsys.readouterr().err) == (0, False, "")
