"""Rows written back: every column, heading and cell as it was, ours at the end, names that do not clash."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabula.errors import FileError, InputError
from fabula.sources.tables.read_table import open_table, read_table
from fabula.sources.tables.text_tables import csv_text, records_of, split_cells
from fabula.sources.tables.write_table import write_rows

OURS = {"position": [1, 2], "essence": [0.5, -1.25], "target": [1.0, np.nan], "deviation": [0.0, None]}


def _write(folder: Path, data: str | bytes, name: str) -> Path:
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return folder / name


def _reversed(path: Path, target: Path) -> Path:
    reading = open_table(path)
    assert len(reading.rows) == 1
    return write_rows(target, reading.table, reading.rows[0][::-1], OURS)


def test_every_cell_comes_back_as_it_was(tmp_path):
    source = _write(
        tmp_path,
        '"Track Name", Album Name ,,Duration (ms),"a ""b"""\r\n'
        'Open,"X, Y",0,0211000,"two\r\nlines"\r\n'
        '"Close",Z,1,1.50,5" tape\r\n',
        "a.csv",
    )
    assert _reversed(source, tmp_path / "b.csv").read_bytes().decode() == (
        '"Track Name", Album Name ,,Duration (ms),"a ""b""",position,essence,target,deviation\r\n'
        '"Close",Z,1,1.50,5" tape,1,0.5,1,0\r\n'
        'Open,"X, Y",0,0211000,"two\r\nlines",2,-1.25,,\r\n'
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_encodings_come_back(tmp_path, encoding):
    source = _write(tmp_path, "title\té\nü\t1\nä\t2\n".encode(encoding), "a.tsv")
    data = _reversed(source, tmp_path / "b.tsv").read_bytes()
    wanted = "title\té\tposition\tessence\ttarget\tdeviation\nä\t2\t1\t0.5\t1\t0\nü\t1\t2\t-1.25\t\t\n"
    assert data == wanted.encode(encoding)


def test_a_decimal_comma_where_the_file_has_one(tmp_path):
    source = _write(tmp_path, "title;x\na;0,5\nb;1\n", "a.csv")
    target = _reversed(source, tmp_path / "b.csv")
    assert target.read_text().splitlines()[1:] == ["b;1;1;0,5;1;0", "a;0,5;2;-1,25;;"]
    np.testing.assert_array_equal(read_table(target)[0].column("essence"), [0.5, -1.25])


def test_names_that_are_taken_and_files_written_before(tmp_path):
    source = _write(tmp_path, "title,position,essence\nb,2,x\na,1,y\n", "a.csv")
    first = _reversed(source, tmp_path / "b.csv")
    header = "title,position,essence,fabula position,fabula essence,target,deviation"
    assert first.read_text() == f"{header}\nb,2,x,1,0.5,1,0\na,1,y,2,-1.25,,\n"
    assert [item.title for item in read_table(first)[0].items] == ["b", "a"]  # the new order counts
    second = _reversed(first, tmp_path / "c.csv")
    assert second.read_text() == f"{header}\na,1,y,1,0.5,1,0\nb,2,x,2,-1.25,,\n"


def test_the_table_itself_may_be_replaced(tmp_path):
    source = _write(tmp_path, "title,x\na,1\nb,2\n", "a.csv")
    for _ in range(3):
        _reversed(source, source)
    assert source.read_text().splitlines()[0] == "title,x,position,essence,target,deviation"
    assert [item.title for item in read_table(source)[0].items] == ["b", "a"]


@pytest.mark.parametrize("name", ["a.json", "items.json", "a.jsonl"])
def test_json_values_keep_their_text(tmp_path, name):
    rows = ['{"title": "\\u00e4", "x": 1.50, "tags": [1,2]}', '{"title": "b","y": null}']
    text = {"a.json": f"[{rows[0]}, {rows[1]}]", "items.json": f'{{"n": 2, "items": [{rows[0]},\n{rows[1]}]}}'}.get(
        name, "\n".join(rows) + "\n\n"
    )
    written = _reversed(_write(tmp_path, text, name), tmp_path / f"new{Path(name).suffix}").read_text()
    lines = [line.rstrip(",") for line in written.splitlines() if line.startswith("{")]
    ours = '"position": {}, "essence": {}, "target": {}, "deviation": {}'
    assert lines == [
        '{"title": "b", "y": null, ' + ours.format(1, 0.5, 1, 0) + "}",
        '{"title": "\\u00e4", "x": 1.50, "tags": [1,2], ' + ours.format(2, -1.25, "null", "null") + "}",
    ]
    assert len(read_table(tmp_path / f"new{Path(name).suffix}")[0]) == 2


def test_parquet_keeps_its_columns(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"title": ["a", "b"], "n": pa.array([1, 2], pa.int8()), "tags": [["x"], None]})
    pq.write_table(table, tmp_path / "a.parquet")
    again = pq.read_table(_reversed(tmp_path / "a.parquet", tmp_path / "b.parquet"))
    assert again.schema.names == ["title", "n", "tags", "position", "essence", "target", "deviation"]
    assert again.schema.field("n").type == pa.int8()
    assert again.column("tags").to_pylist() == [None, ["x"]]
    assert again.column("essence").to_pylist() == [0.5, -1.25]
    twice = pq.read_table(_reversed(tmp_path / "b.parquet", tmp_path / "b.parquet"))
    assert twice.schema.names == again.schema.names


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".json", ".jsonl", ".parquet"])
@pytest.mark.parametrize("source", [".csv", ".json"])
def test_other_formats_keep_headings_and_values(tmp_path, source, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    text = "Track Name,x,code\na,1,001x\nb,2.5,\n"
    if source == ".json":
        text = json.dumps([{"Track Name": "a", "x": 1, "code": "001x"}, {"Track Name": "b", "x": 2.5}])
    (c,) = read_table(_reversed(_write(tmp_path, text, f"a{source}"), tmp_path / f"b{ending}"))
    assert [item.title for item in c.items] == ["b", "a"]
    np.testing.assert_array_equal(c.column("x"), [2.5, 1])
    assert c.items[1].details["code"] == "001x"


def test_rows_of_one_collection_of_several(tmp_path):
    source = _write(tmp_path, "album_id,position,title\n1,2,b\n2,1,c\n1,1,a\n", "a.csv")
    reading = open_table(source)
    assert [rows.tolist() for rows in reading.rows] == [[2, 0], [1]]
    written = write_rows(tmp_path / "b.csv", reading.table, reading.rows[0][[1, 0]], {"essence": [1, 2]})
    assert written.read_text() == "album_id,position,title,essence\n1,2,b,1\n1,1,a,2\n"


@pytest.mark.parametrize(
    ("name", "rows", "extra", "message"),
    [
        ("b.xls", [0], {}, "a table is written as .csv, .tsv, .json, .jsonl, .parquet, .xlsx; got .xls"),
        ("b.csv", [0, 2], {}, "rows must be 0 to 1; got 0 to 2"),
        ("b.csv", [], {}, "rows must be a list of whole numbers, one or more; got []"),
        ("b.csv", [0.5], {}, "rows must be a list of whole numbers, one or more; got [0.5]"),
        ("b.csv", [1, 0], {"essence": [1]}, "extra column 'essence' must have 2 values, one per row; got 1"),
        ("b.csv", [0], {"essence": [float("inf")]}, "column 'essence' must be finite numbers; got inf"),
    ],
)
def test_what_cannot_be_written(tmp_path, name, rows, extra, message):
    table = open_table(_write(tmp_path, "title\na\nb\n", "a.csv")).table
    with pytest.raises(InputError) as error:
        write_rows(tmp_path / name, table, rows, extra)
    assert str(error.value).removeprefix(f"{tmp_path / name}: ") == message
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_what_is_no_text_is_told(tmp_path, ending):
    table = open_table(_write(tmp_path, '[{"title": "\\ud800"}]', "a.json")).table
    extra = {"path": ["\ud800.mp3"]}
    with pytest.raises(FileError, match="cannot be written"):
        write_rows(tmp_path / f"b{ending}", table, [0], extra)
    assert not (tmp_path / f"b{ending}").exists()


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@given(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=1, max_size=5), st.sampled_from(",;\t"))
@settings(max_examples=150, deadline=None)
def test_cells_as_written_say_what_csv_reads(rows, separator):
    text = csv_text(["a", "b", "c"], rows, separator)
    records = records_of(text, separator, "x.csv")
    assert [record.cells for record in records[1:]] == rows
    for record in records:
        again = separator.join(split_cells(record.text, separator))
        assert record.text == again + "\n"
