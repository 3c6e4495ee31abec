"""A user's mistake: one line on stderr that names the thing, exit code 2, no traceback, nothing written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FILES = {
    "good.csv": "title,energy\nOne,0.1\nTwo,0.9\nThree,0.5\n",
    "twins.csv": "title,energy\nSong,0.1\nSong,0.9\nSong two,0.5\n",
    "empty.csv": "",
    "header.csv": "title,energy\n",
    "ragged.csv": "title,energy\nOne,0.1\nTwo,0.9,7\n",
    "double.csv": "title,energy,energy\nOne,0.1,0.2\n",
    "missing.csv": "title,energy\nOne,0.1\nTwo,\nThree,0.5\n",
    "words.csv": "title,energy\nOne,0.1\nTwo,loud\nThree,0.5\n",
    "nan.csv": "title,energy\nOne,0.1\nTwo,nan\n",
    "inf.csv": "title,energy\nOne,0.1\nTwo,inf\n",
    "quoted.csv": 'title,energy\n"One,0.1\n',
    "several.csv": "album_id,title,energy\n1,a,0.5\n2,b,0.1\n3,c,0.1\n4,d,0.1\n5,e,0.1\n",
    "places.csv": "position,title,energy\n1,a,0.5\n1,b,0.1\n",
    "noplace.csv": "position,title,energy\n1,a,0.5\n,b,0.1\n",
    "binary.csv": b"\x00\x01\x02\xff\xfe" * 40,
    "broken.json": '[{"title": "One", "energy": 0.1}',
    "number.json": "3",
    "rows.json": "[1, 2]",
    "none.json": "[]",
    "nested.json": '[{"title": "One", "energy": {"a": 1}}, {"title": "Two", "energy": 2}]',
    "broken.jsonl": '{"energy": 1}\n{"energy": \n',
    "broken.parquet": b"PAR1 this is not one",
    "empty.m3u8": "#EXTM3U\n",
    "nothing.m3u8": "",
    "good.m3u8": "#EXTM3U\n#EXTINF:10,One\na.flac\n#EXTINF:20,Two\nb.flac\n",
    "untimed.m3u8": "#EXTM3U\n#EXTINF:10,One\na.flac\nb.flac\n",
    "broken.pls": "File1=a.flac\n",
    "broken.xspf": "<playlist><trackList>",
    "other.xspf": "<html></html>",
    "bomb.xspf": '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><playlist><trackList/></playlist>',
    "broken.jspf": "{",
    "other.jspf": '{"a": 1}',
    "list.xyz": "hello",
    "templates.json": '{"format": "fabula-templates", "version": 1, "templates": [{"knots": [0, 1], "values": [0, 1]},'
    '{"knots": [0, 1], "values": [1, 0]}]}',
    "newer.json": '{"format": "fabula-templates", "version": 9, "templates": []}',
    "foreign.json": '{"a": 1}',
    "bent.json": '{"format": "fabula-templates", "version": 1, "templates": [{"knots": [0, 0.5], "values": [0, 1]}]}',
}

BY = ("--by", "energy")
ORDER = ("order", "good.csv", *BY)

CASES: list[tuple[tuple[str, ...], str]] = [
    # The command and its options.
    (("ordr",), "there is no command 'ordr'; did you mean 'order'?"),
    (("order",), "Missing argument 'PATH...'."),
    (("order", "good.csv", "--nope"), "No such option '--nope'."),
    (("order", "good.csv", "--by"), "Option '--by' requires an argument."),
    (("templates", "shw"), "No such command 'shw'. Did you mean 'show'?"),
    (("templates", "show"), "Missing argument 'TEMPLATE'."),
    (("order", "good.csv", "good.csv", *BY), "one table at a time, without other files; got 2 paths"),
    # Files that are not there or not what they seem.
    (("order", "none.csv", *BY), "none.csv: does not exist"),
    (("order", "list.xyz", *BY), "list.xyz: does not have the ending of an audio file, a text file or a picture"),
    (("order", "folder.csv", *BY), "folder.csv: has no audio files, text files or pictures in it"),
    (("order", "empty.csv", *BY), "empty.csv: the file is empty"),
    (("order", "header.csv", *BY), "header.csv: the table has no rows"),
    (("order", "ragged.csv", *BY), "ragged.csv: line 3 has 3 cells, the header has 2"),
    (("order", "double.csv", *BY), "double.csv: column 'energy' is named twice"),
    (("order", "binary.csv", *BY), "binary.csv: is not a table (it holds binary data)"),
    (("order", "quoted.csv", *BY), "quoted.csv: line 2: is not CSV (unexpected end of data)"),
    (("order", "broken.json", *BY), "broken.json: line 1: is not JSON (Expecting ',' delimiter)"),
    (
        ("order", "number.json", *BY),
        'number.json: is not a table (a list of objects, or an object with such a list as "items")',
    ),
    (("order", "rows.json", *BY), "rows.json: row 1: must be an object with one value per column; got int"),
    (("order", "none.json", *BY), "none.json: the table has no rows"),
    (
        ("order", "nested.json", *BY),
        "nested.json: row 1, column 'energy': must be a number like other cells of this column; got {",
    ),
    (("order", "broken.jsonl", *BY), "broken.jsonl: line 2: is not JSON (Expecting value)"),
    (
        ("order", "broken.parquet", *BY),
        "broken.parquet: is not a Parquet file that can be read (Parquet magic bytes not found in foo",
    ),
    (
        ("order", "places.csv", *BY),
        "places.csv: line 2 and line 3 have the same position 1 (column 'position') in one collection",
    ),
    (
        ("order", "noplace.csv", *BY),
        "noplace.csv: line 3, column 'position': must be the position of the item; it is empty",
    ),
    (("order", "empty.m3u8", "--by", "duration"), "empty.m3u8: the playlist is empty"),
    (("order", "nothing.m3u8", "--by", "duration"), "nothing.m3u8: the playlist is empty"),
    (("order", "broken.pls", "--by", "duration"), "broken.pls: is not a PLS playlist (it must start with [playlist])"),
    (
        ("order", "broken.xspf", "--by", "duration"),
        "broken.xspf: is not an XSPF playlist (broken XML: no element found: line 1, column 21)",
    ),
    (
        ("order", "other.xspf", "--by", "duration"),
        "other.xspf: is not an XSPF playlist (its root must be <playlist>; got <html>)",
    ),
    (
        ("order", "bomb.xspf", "--by", "duration"),
        "bomb.xspf: is refused: a playlist has no business with a document type (<!DOCTYPE ...>)",
    ),
    (
        ("order", "broken.jspf", "--by", "duration"),
        "broken.jspf: is not a JSPF playlist (broken JSON: Expecting property name enclosed in double",
    ),
    (
        ("order", "other.jspf", "--by", "duration"),
        'other.jspf: is not a JSPF playlist (it must be {"playlist": {"track": [...]}})',
    ),
    # Columns and values.
    (
        ("order", "good.csv", "--by", "energi"),
        "good.csv: has no column 'energi' (did you mean 'energy'?); it has: title, energy",
    ),
    (("order", "good.csv", "--by", "title"), "good.csv: line 2, column 'title': must be a number; got 'One'"),
    (
        ("order", "missing.csv", *BY),
        "missing.csv: features must have a value in every row; missing: line 3, column 'energy'",
    ),
    (("order", "words.csv", *BY), "words.csv: line 3, column 'energy': must be a number; got 'loud'"),
    (
        ("order", "nan.csv", *BY),
        "nan.csv: features must have a value in every row; missing: line 3, column 'energy'",
    ),
    (
        ("order", "inf.csv", *BY),
        "inf.csv: line 3, column 'energy': must be a finite number, or empty where there is none; got",
    ),
    (("order", "untimed.m3u8", "--by", "duration"), "untimed.m3u8: 'b.flac' (item 2) has no 'duration'"),
    (
        ("order", "good.m3u8", "--by", "valence"),
        "good.m3u8: has no column 'valence'; there are: duration, duration_ms, loudness",
    ),
    (
        ("order", "several.csv", *BY),
        "--collection: several.csv holds 5 collection(s): 1, 2, 3, 4, ...; choose one",
    ),
    (
        ("order", "several.csv", *BY, "--collection", "9"),
        "several.csv: no collection is called '9'; it holds 5 collection(s): 1, 2, 3, 4, ...",
    ),
    # Templates.
    (
        (*ORDER, "--template", "ikarus"),
        "--template: no built-in template is called 'ikarus'; did you mean icarus? (a template file or points suc",
    ),
    (
        (*ORDER, "--template", "xyzzy"),
        "--template: no built-in template is called 'xyzzy'; there are: rags-to-riches, tragedy, man-in-a-hole, i",
    ),
    (
        (*ORDER, "--template", ""),
        "--template: no built-in template is called ''; there are: rags-to-riches, tragedy, man-in-a-hole, icarus",
    ),
    ((*ORDER, "--template", "0:1"), "--template: a template needs at least 2 knots in one list; got shape (1,)"),
    ((*ORDER, "--template", "0:1,0.5:0"), "--template: template knots must rise from 0 to 1; got [0. , 0.5]"),
    (
        (*ORDER, "--template", "0:1,0.5:0,0.5:1,1:0"),
        "--template: template knots must rise from 0 to 1; got [0. , 0.5, 0.5, 1. ] (knot 3)",
    ),
    (
        (*ORDER, "--template", "0:1,0.5:x,1:0"),
        "--template: a drawn template is a list of position:height, such as '0:0.2,0.5:1,1:0'; got '0:1,0.5:x,1:0",
    ),
    ((*ORDER, "--template", "0:1e999,1:0"), "--template: template values must be finite; got inf for item 0"),
    (
        (*ORDER, "--template", "templates.json"),
        "--template: templates.json holds 2 templates: say which, as 'templates.json#1' to '#2'",
    ),
    ((*ORDER, "--template", "templates.json#3"), "--template: templates.json holds 2 template(s); there is no #3"),
    ((*ORDER, "--template", "newer.json"), "newer.json: template file version 9; this fabula reads version 1"),
    (
        (*ORDER, "--template", "foreign.json"),
        'foreign.json: is not a template file (it must say "format": "fabula-templates")',
    ),
    (
        (*ORDER, "--template", "bent.json"),
        "bent.json: template 1: template knots must rise from 0 to 1; got [0. , 0.5]",
    ),
    ((*ORDER, "--template", "gone.json"), "gone.json: cannot be read (No such file or directory)"),
    ((*ORDER, "--template", "icarus", "--like", "good.csv"), "give either a template or like, not both"),
    ((*ORDER, "--like", "none.csv"), "none.csv: does not exist"),
    (
        (*ORDER, "--like", "good.m3u8"),
        "good.m3u8: none of its 2 files can be measured",
    ),
    (
        ("templates", "show", "nope"),
        "no built-in template is called 'nope'; there are: rags-to-riches, tragedy, man-in-a-hole, ic",
    ),
    # Places.
    ((*ORDER, "--first", "Ninety"), "--first: no item is called 'Ninety'; the nearest are 'One', 'Two', 'Three'"),
    ((*ORDER, "--first", ""), "--first: no item is called ''; the nearest are 'One', 'Two', 'Three'"),
    ((*ORDER, "--first", "One", "--last", "One"), "--last: 'One' is already at position 1"),
    ((*ORDER, "--first", "One", "--at", "1=Two"), "--at: position 1 is already taken by 'One'"),
    ((*ORDER, "--at", "4=One"), "--at: positions go from 1 to 3 (or -1 from the end); got 4"),
    ((*ORDER, "--at", "0=One"), "--at: positions count from 1 (or -1 from the end); got 0"),
    ((*ORDER, "--at", "One"), "--at: takes POSITION=TITLE, such as 3=Intro or -1=Outro; got 'One'"),
    ((*ORDER, "--at", "2="), "--at: takes POSITION=TITLE, such as 3=Intro or -1=Outro; got '2='"),
    ((*ORDER, "--at", "two=One"), "--at: takes POSITION=TITLE, such as 3=Intro or -1=Outro; got 'two=One'"),
    ((*ORDER, "--at", "2=One", "--at", "2=Two"), "--at: 2 is given twice: for 'One' and 'Two'"),
    (
        ("order", "twins.csv", *BY, "--first", "Song"),
        "--first: 'Song' fits 2 items: 'Song' (item 1), 'Song' (item 2); give the whole title or the ",
    ),
    # Where to write.
    ((*ORDER, "-o", "out.doc"), "out.doc: the ending must be one of .m3u, .m3u8, .pls, .xspf, .jspf, .wpl"),
    ((*ORDER, "-o", "out"), "out: the ending must be one of .m3u, .m3u8, .pls, .xspf, .jspf, .wpl"),
    ((*ORDER, "-o", "none/out.csv"), "none/out.csv: the folder none does not exist"),
    ((*ORDER, "-o", "folder.csv"), "folder.csv: is a folder; give the name of a file"),
    ((*ORDER, "-o", "out.m3u8"), "'Three' has no path: a playlist cannot lead to it; write .csv or .json"),
]


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_enough_of_them():
    assert len(CASES) >= 60


@pytest.mark.parametrize(("arguments", "line"), CASES, ids=[" ".join(a) for a, _ in CASES])
def test_one_line_and_exit_code_2(arguments, line, fabula, files):
    before = sorted(os.listdir(files))  # noqa: PTH208 - names alone
    result = fabula(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith(f"fabula: {line}")
    assert result.err.count("\n") == 1
    assert sorted(os.listdir(files)) == before  # noqa: PTH208


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_a_file_without_permission(fabula, files):
    (files / "good.csv").chmod(0)
    assert fabula(*ORDER).err == "fabula: good.csv: cannot be read (Permission denied)\n"


def test_an_existing_output_survives_a_failure(fabula, files):
    (files / "out.m3u8").write_text("precious")
    assert fabula(*ORDER, "-o", "out.m3u8").code == 2
    assert (files / "out.m3u8").read_text() == "precious"
