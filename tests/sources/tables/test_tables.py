"""Tables: what is recognised, what is refused and in which words, and that writing reads back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabula.core.collection import Collection, Item
from fabula.errors import FabulaError, FileError, InputError
from fabula.sources.tables.read_table import read_table
from fabula.sources.tables.write_table import write_table

ALBUMS = Path(__file__).parents[4] / "shared" / "data" / "albums.parquet"

SONGS = """collection_id,album,position,track_name,artist,energy,live,genre
7,Up,2,Close,Can,0.9,true,rock
3,Down,1,Only,Neu!,,false,
7,Up,1,Open,Can,0.25,False,kraut
"""


def _file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _write(tmp_path: Path, content: str | bytes, name: str = "songs.csv") -> Path:
    return _file(tmp_path, name, content)


def _titles(collection: Collection) -> list[str]:
    return [item.title for item in collection.items]


def test_a_table_becomes_collections_in_true_order(tmp_path):
    up, down = read_table(_write(tmp_path, SONGS))
    assert (up.id, up.title, up.ordered, _titles(up)) == ("7", "Up", True, ["Open", "Close"])
    assert (down.id, down.title, _titles(down)) == ("3", "Down", ["Only"])
    assert up.feature_names == ("energy", "live")
    np.testing.assert_array_equal(up.features, [[0.25, 0], [0.9, 1]])
    assert up.features.dtype == np.float64
    assert np.isnan(down.column("energy")[0])
    assert dict(up.items[0].details) == {"genre": "kraut"}
    assert dict(down.items[0].details) == {}
    assert up.items[0].artist == "Can"
    assert [item.id for item in up.items] == ["3", "1"]  # the rows they came from


def test_the_documented_call(tmp_path):
    path = _write(tmp_path, SONGS)
    named = read_table(path, collection="collection_id", position="position", title="track_name")
    assert [_titles(c) for c in named] == [_titles(c) for c in read_table(path)]


@pytest.mark.parametrize(
    "header",
    [
        "album_id,Track Number,Name,File Path,Track-ID,ARTIST_NAME",
        "Playlist ID,#,song,location,id,Performer",
        "Album,order,TITLE,uri,Item Id,artist",
        "collection,index,track,filename,track_id,creator",
    ],
)
def test_usual_names_are_recognised(tmp_path, header):
    (c,) = read_table(_write(tmp_path, f"{header}\nx,2,B,b.mp3,22,Q\nx,1,A,a.mp3,11,P\n"))
    assert c.id == "x"
    assert c.items == (Item("11", "A", "a.mp3", "P"), Item("22", "B", "b.mp3", "Q"))
    assert c.feature_names == ()


def test_without_collection_and_position_the_file_is_one_collection_in_row_order(tmp_path):
    (c,) = read_table(_write(tmp_path, "title,x\nB,1\nA,2\n", "my mix.csv"))
    assert (c.id, c.ordered, _titles(c)) == ("my mix", True, ["B", "A"])


def test_an_empty_name_takes_a_role_away(tmp_path):
    (c,) = read_table(_write(tmp_path, "album,track,title\nX,5,B\nY,5,A\n"), collection="", position="")
    assert _titles(c) == ["B", "A"]
    assert [item.details["album"] for item in c.items] == ["X", "Y"]
    assert c.feature_names == ("track",)


def test_a_text_column_called_track_is_the_title(tmp_path):
    (c,) = read_table(_write(tmp_path, "track,energy\nB,1\nA,2\n"))
    assert _titles(c) == ["B", "A"]


def test_an_album_that_differs_within_a_playlist_stays_with_the_item(tmp_path):
    (c,) = read_table(_write(tmp_path, "playlist_id,title,album\n1,a,X\n1,b,Y\n"))
    assert c.title == ""
    assert c.items[1].details["album"] == "Y"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_separators_and_encodings(tmp_path, separator, encoding):
    text = separator.join(["title", '"a, b; c"', "x"]) + "\n" + separator.join(["Café", '"two\nlines"', "0.5"]) + "\n"
    (c,) = read_table(_write(tmp_path, text.encode(encoding)))
    assert c.items[0].title == "Café"
    assert dict(c.items[0].details) == {"a, b; c": "two\nlines"}
    np.testing.assert_array_equal(c.features, [[0.5]])


def test_a_decimal_comma_between_semicolons(tmp_path):
    (c,) = read_table(_write(tmp_path, "title;x\na;0,5\nb;1\n"))
    np.testing.assert_array_equal(c.column("x"), [0.5, 1])


def test_tsv_lines_windows_ends_and_unnamed_columns(tmp_path):
    (c,) = read_table(_write(tmp_path, "\ttitle\tx\r\n0\ta,b\t1\r\n\r\n1\tc\t2\r\n", "s.tsv"))
    assert (_titles(c), c.feature_names) == (["a,b", "c"], ("x",))


def test_text_that_float_would_take_stays_text(tmp_path):
    (c,) = read_table(_write(tmp_path, "title,code,word\na,1_000,nan\nb,2_000,inf\n"))
    assert c.feature_names == ()
    assert dict(c.items[0].details) == {"code": "1_000", "word": "nan"}


@pytest.mark.parametrize("ids", ["12\n7\n", "12.0\n7.0\n"])
def test_whole_ids_have_no_point(tmp_path, ids):
    (c,) = read_table(_write(tmp_path, "id\n" + ids))
    assert [item.id for item in c.items] == ["12", "7"]


def test_json_rows_lines_and_items(tmp_path):
    rows = [{"id": 2**60 + 1, "title": "B", "x": 1, "tags": ["q"]}, {"title": "A", "x": None, "live": True}]
    texts = {
        "a.json": json.dumps(rows),
        "b.json": json.dumps({"template": "arch", "items": rows}),
        "c.jsonl": "\n".join(map(json.dumps, rows)) + "\n\n",
    }
    for name, text in texts.items():
        (c,) = read_table(_write(tmp_path, text, name))
        assert [item.id for item in c.items] == ["1152921504606846977", "2"]
        assert c.feature_names == ("x", "live")
        np.testing.assert_array_equal(c.features, [[1, np.nan], [np.nan, 1]])
        assert c.items[0].details["tags"] == ["q"]


def test_features_by_name_are_exactly_those(tmp_path):
    c = read_table(_write(tmp_path, SONGS), features=["live", "position"], where={"album": "Up"})[0]
    assert c.feature_names == ("live", "position")
    assert _titles(c) == ["Close", "Open"]  # a feature is no position unless it is said so


@pytest.mark.parametrize(
    ("where", "titles"),
    [
        ({"live": False}, ["Only", "Open"]),
        ({"live": "TRUE"}, ["Close"]),
        ({"genre": ""}, ["Only"]),
        ({"genre": None}, ["Only"]),
        ({"energy": 0.9}, ["Close"]),
        ({"collection_id": 7, "genre": "rock"}, ["Close"]),
        ({"collection_id": "7"}, ["Open", "Close"]),
    ],
)
def test_where_keeps_rows(tmp_path, where, titles):
    assert [t for c in read_table(_write(tmp_path, SONGS), where=where) for t in _titles(c)] == titles


def test_where_does_not_change_the_features(tmp_path):
    (c,) = read_table(_write(tmp_path, SONGS), where={"album": "Down"})
    assert c.feature_names == ("energy", "live")


MISTAKES = {
    "unknown role": (SONGS, {"collection": "colection_id"}, "has no column 'colection_id' (did you mean "
        "'collection_id'?); it has: collection_id, album, position, track_name, artist, energy, live, genre"),
    "unknown feature": (SONGS, {"features": ["zzz"]}, "has no column 'zzz'; it has: collection_id, album, position, "
        "track_name, artist, energy, live, genre"),
    "unknown where": (SONGS, {"where": {"Energy ": 1}}, "has no column 'Energy ' (did you mean 'energy'?); it has: "
        "collection_id, album, position, track_name, artist, energy, live, genre"),
    "nothing left": (SONGS, {"where": {"genre": "pop", "live": True}}, "no row has genre = 'pop', live = 'true'"),
    "text as feature": (SONGS, {"features": ["genre"]}, "line 2, column 'genre': must be a number; got 'rock'"),
    "missing features": ("a,b\n1,\n,\n,2\n", {"features": ["a", "b"]}, "features must have a value in every row; "
        "missing: line 2, column 'b'; line 3, column 'a'; line 3, column 'b' and 1 more"),
    "same position": ("title,position\na,1\nb,2\nc,1\n", {}, "line 2 and line 4 have the same position 1 "
        "(column 'position') in one collection"),
    "missing position": ('title,position\n"a\nb",1\nc,\nd,\n', {}, "line 4, column 'position': must be the position "
        "of the item; it is empty (and 1 more rows)"),
    "text as position": ("title,side\na,1\nb,B1\n", {"position": "side"}, "line 3, column 'side': must be a number, "
        "the position of the item; got 'B1'"),
    "missing collection": ("album,title\nx,a\n,b\n", {}, "line 3, column 'album': must name the collection; "
        "it is empty"),
    "twice": ("a,b,a\n1,2,3\n", {}, "column 'a' is named twice"),
    "ragged": ("a,b\n1,2\n1\n1,2,3\n", {}, "line 3 has 1 cells, the header has 2 (and 1 more such rows)"),
    "open quote": ('a,b\n1,"2\n', {}, "line 2: is not CSV (unexpected end of data)"),
    "empty": ("", {}, "the file is empty"),
    "no rows": ("a,b\n", {}, "the table has no rows"),
    "nothing in words": ("title,x\na,1\nb,NA\n", {"features": ["x"]}, "features must have a value in every row; "
        "missing: line 3, column 'x'"),
    "position in words": ("title,position\na,1\nb,n/a\n", {}, "line 3, column 'position': must be the position of the "
        "item; it is empty"),
    "unknown column for a role": ("a,b\n1,2\n", {"columns": {"path": "c"}}, "has no column 'c'; it has: a, b"),
    "other name": ("a,b\n1,2\n", {"columns": {"energy": "c"}}, "has no column 'c'; it has: a, b"),
    "inf": ("title,x\na,-inf\nb,1\n", {}, "line 2, column 'x': must be a finite number, or empty where there is none; "
        "got '-inf'"),
    "too large": ("title,x\na,1e999\nb,1\n", {}, "line 2, column 'x': must be a finite number, or empty where there "
        "is none; got '1e999'"),
    "binary": (b"\x89PNG\r\n\0\0", {}, "is not a table (it holds binary data)"),
    "no text": (b"title\ncaf\x81\n", {}, "is not a table (line 2 is not utf-8 or cp1252 text)"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_csv_mistakes(tmp_path, case):
    content, options, message = MISTAKES[case]
    path = _write(tmp_path, content)
    with pytest.raises(FileError) as error:
        read_table(path, **options)
    assert str(error.value) == f"{path}: {message}"


JSON_MISTAKES = {
    "broken": ("x.json", '[{"a": 1},\n{"a" 2}]', "line 2: is not JSON (Expecting ':' delimiter)"),
    "broken line": ("x.jsonl", '{"a": 1}\n{"a" 2}\n', "line 2: is not JSON (Expecting ':' delimiter)"),
    "not a table": ("x.json", '{"a": 1}',
        'is not a table (a list of objects, or an object with such a list as "items")'),
    "not a row": ("x.json", '[{"a": 1}, 2]', "row 2: must be an object with one value per column; got int"),
    "no rows": ("x.json", "[]", "the table has no rows"),
    "no columns": ("x.json", "[{}]", "the table has no columns"),
    "empty": ("x.json", " \n", "the file is empty"),
    "empty lines": ("x.jsonl", "\n\n", "the file is empty"),
    "twice": ("x.json", '[{"a": 1, "a": 2}]', "column 'a' is named twice in one row"),
    "nan": ("x.json", '[{"a": NaN}]', "is not JSON (NaN is no JSON number; write null where there is none)"),
    "huge": ("x.json", '[{"a": 1e999}, {"a": 1}]', "row 1, column 'a': must be a finite number, or empty where there "
        "is none; got inf"),
    "nested": ("x.json", '[{"a": 1}, {"a": [2, 3]}]', "row 2, column 'a': must be a number like other cells of this "
        "column; got [2, 3]"),
    "nested title": ("x.json", '[{"title": {"en": "a"}}]', "row 1, column 'title': must be text, the title of the "
        "item; got {'en': 'a'}"),
    "deep": ("x.json", "[" * 200_000, None),
    "not utf-8": ("x.json", b'[{"a": "\xe9"}]', "is not a table (line 1 is not utf-8 text)"),
    "parquet": ("x.parquet", "nothing of the kind", None),
    "empty parquet": ("x.parquet", "", "the file is empty"),
}  # fmt: skip


@pytest.mark.parametrize("case", JSON_MISTAKES)
def test_json_and_parquet_mistakes(tmp_path, case):
    name, content, message = JSON_MISTAKES[case]
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    path = _write(tmp_path, content, name)
    with pytest.raises(FileError) as error:
        read_table(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)
    assert message is None or str(error.value) == f"{path}: {message}"


def test_files_that_are_none(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    for name, message in {
        "absent.csv": "does not exist",
        "absent.xyz": "does not exist",
        "folder.csv": "is a folder; give the name of a file",
        "pipe.csv": "is not a file",
    }.items():
        with pytest.raises(FileError) as error:
            read_table(tmp_path / name)
        assert str(error.value) == f"{tmp_path / name}: {message}"
    with pytest.raises(InputError, match=r"a table must end in one of \.csv, .*; got \.xls$"):
        read_table(_write(tmp_path, "x", "a.xls"))


def test_parquet_columns_of_every_kind(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    import datetime as dt

    table = pa.table(
        {
            "album_id": pa.array([2**60 + 1, 2**60 + 1], pa.int64()),
            "position": pa.array([2.0, 1.0]),
            "title": ["b", "a"],
            "whole": pa.array([1, None], pa.int8()),
            "real": pa.array([0.5, float("nan")], pa.float32()),
            "flag": pa.array([True, None]),
            "kind": pa.array(["x", None]).dictionary_encode(),
            "day": pa.array([dt.date(2020, 1, 2), None]),
            "tags": pa.array([["p", "q"], None]),
            "nothing": pa.array([None, None], pa.null()),
        }
    )
    pq.write_table(table, tmp_path / "x=1.parquet")
    (c,) = read_table(tmp_path / "x=1.parquet")
    assert (c.id, _titles(c), c.feature_names) == (str(2**60 + 1), ["a", "b"], ("whole", "real", "flag"))
    np.testing.assert_array_equal(c.features, [[np.nan] * 3, [1, 0.5, 1]])
    assert dict(c.items[1].details) == {"kind": "x", "day": "2020-01-02", "tags": ["p", "q"]}


def test_parquet_infinity_is_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"x": [1.0, float("inf")]}), tmp_path / "x.parquet")
    with pytest.raises(FileError, match=r"row 2, column 'x': must be a finite number.*; got inf$"):
        read_table(tmp_path / "x.parquet")


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not ALBUMS.exists(), reason="the real albums are absent")
def test_the_real_albums():
    collections = read_table(ALBUMS, collection="collection_id", position="position", title="track_name")
    assert (len(collections), sum(map(len, collections))) == (16626, 169030)
    (thriller,) = [c for c in collections if c.title == "Thriller" and c.items[0].artist == "Michael Jackson"]
    assert _titles(thriller)[0] == "Wanna Be Startin' Somethin'"
    assert thriller.column("duration_ms").min() > 60_000


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
number = st.one_of(st.floats(allow_nan=True, allow_infinity=False), st.integers(-(10**6), 10**6).map(float))


@st.composite
def collections(draw: st.DrawFn) -> Collection:
    n = draw(st.integers(1, 6))
    ids = st.integers(0, 999).map("item {}".format)
    details = st.dictionaries(st.sampled_from(["note", "größe", 'a "b", c;d']), text.map("x{}".format), max_size=3)
    items = [Item(draw(ids), draw(text), draw(text), draw(text), draw(details)) for _ in range(n)]
    features = np.array(draw(st.lists(st.lists(number, min_size=2, max_size=2), min_size=n, max_size=n)))
    features[0] = np.nan_to_num(features[0])  # a column without any value is left out
    return Collection("new", items, features, ("energy", "ü, tempo"))


@pytest.mark.slow
@given(collections(), st.sampled_from([".csv", ".json"]))
@settings(max_examples=100, deadline=None)
def test_what_is_written_reads_back(tmp_path_factory, collection, ending):
    path = write_table(tmp_path_factory.mktemp("t") / f"new{ending}", collection)
    (again,) = read_table(path)
    assert (again.id, again.items) == (collection.id, collection.items)
    assert again.feature_names == collection.feature_names
    np.testing.assert_array_equal(again.features, collection.features)


def test_written_columns(tmp_path):
    items = [Item("a", "A", details={"mood": "calm", "target": "old"}), Item("b", details={"mood": "wild"})]
    c = Collection("c", items, [[1.0, 0.1], [2.0, np.nan]], ("position", "energy"))
    extra = {"essence": np.array([0.5, -1.0]), "target": [True, None]}
    assert write_table(tmp_path / "x.csv", c, extra).read_text() == (
        "position,id,title,position_2,energy,mood,essence,target\n1,a,A,1,0.1,calm,0.5,true\n2,b,,2,,wild,-1,\n"
    )
    rows = json.loads(write_table(tmp_path / "x.json", c, extra).read_text())
    assert rows[1] == {"position": 2, "id": "b", "title": "", "position_2": 2, "energy": None, "mood": "wild",
        "essence": -1, "target": None}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "extra", "message"),
    [
        ("x.xls", {}, "{}: a table is written as .csv, .tsv, .json, .parquet, .xlsx; got .xls"),
        ("x.csv", {"id": [1]}, "extra column 'id' has the name of a column every table has"),
        ("x.csv", {"e": [1, 2]}, "extra column 'e' must have 1 values, one per item; got 2"),
        ("x.csv", {"e": [float("inf")]}, "column 'e' must be finite numbers; got inf"),
    ],
)
def test_what_cannot_be_written(tmp_path, name, extra, message):
    with pytest.raises(FabulaError) as error:
        write_table(tmp_path / name, Collection("c", [Item("a")]), extra)
    assert str(error.value) == message.format(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_a_name_that_is_no_text_is_told(tmp_path):
    with pytest.raises(FileError, match="cannot be written"):
        write_table(tmp_path / "x.csv", Collection("c", [Item("\udcff")]))
