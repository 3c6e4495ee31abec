"""Tables by Arrow: from files, folders, frames and datasets, held against the same rows as text."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabula.core.collection import Item
from fabula.errors import FileError, InputError
from fabula.sources.registry import Opening, open_source
from fabula.sources.tables.read_table import open_table, read_table
from fabula.sources.tables.roles import _rows_in_albums
from fabula.sources.tables.storage import is_table
from fabula.sources.tables.write_table import write_rows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = {
    "album_id": ["B", "A", "B", "A", "A"],
    "position": [2, 3, 1, 1, 2],
    "title": ["zwei", "drei", "eins", None, "été"],
    "artist": ["Ana", "Bo", "Ana", "Bo", None],
    "energy": [0.5, None, 0.25, 1.5, -2.0],
    "plays": [3, 1, None, 7, 0],
    "loved": [True, False, None, True, False],
    "mood": ["calm", "", "wild", None, "calm"],
}


def told(collections):
    """All that collections say, for comparison."""
    return [
        (c.id, c.title, c.ordered, c.items, c.feature_names, np.nan_to_num(c.features, nan=-99).tolist())
        for c in collections
    ]


@pytest.fixture
def by_rows(tmp_path):
    """The same table as JSON, which is read cell by cell."""
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]))
    return read_table(path)


def _folder(folder: Path, *parts: pa.Table) -> Path:
    folder.mkdir()
    for number, part in enumerate(parts):
        pq.write_table(part, folder / f"part-{number}.parquet")
    return folder


def test_a_parquet_file_says_what_its_rows_say(tmp_path, by_rows):
    pq.write_table(pa.table(ROWS), tmp_path / "rows.parquet", row_group_size=2)
    assert told(read_table(tmp_path / "rows.parquet")) == told(by_rows)


def test_a_folder_of_parquet_files_is_one_table(tmp_path, by_rows):
    table = pa.table(ROWS)
    folder = _folder(tmp_path / "parts", table[:1], table[1:4], table[4:])
    (folder / "_SUCCESS").touch()
    (folder / ".hidden.parquet").write_text("no part")
    assert told(read_table(folder)) == told(by_rows)
    assert open_table(folder).rows[0].tolist() == [2, 0]


def test_a_folder_names_the_file_of_a_wrong_row(tmp_path):
    table = pa.table(ROWS)
    broken = table[1:].set_column(1, "position", pa.array([3, 1, 1, None]))
    folder = _folder(tmp_path / "parts", table[:1], broken)
    with pytest.raises(FileError, match=r"parts: row 4 of part-1.parquet, column 'position': must be the position"):
        read_table(folder)
    (folder / "part-2.parquet").write_text("none")
    with pytest.raises(FileError, match=r"part-2.parquet: is not a Parquet file that can be read"):
        read_table(folder)


def test_a_folder_of_parquet_files_is_opened_as_a_table(tmp_path):
    folder = _folder(tmp_path / "parts", pa.table(ROWS)[:3], pa.table(ROWS)[3:])
    source = open_source([folder], Opening(collection="A"))
    assert [item.title for item in source.collection.items] == ["", "été", "drei"]
    assert source.rows == (3, 4, 1)
    assert is_table(folder)
    (folder / "song.flac").touch()
    assert not is_table(folder)


def test_columns_that_one_file_lacks_are_empty_there_and_those_at_odds_are_told(tmp_path):
    one, other = pa.table({"title": ["a"], "energy": [1.0]}), pa.table({"title": ["b"], "tempo": [90]})
    (c,) = read_table(_folder(tmp_path / "parts", one, other))
    np.testing.assert_array_equal(c.features, [[1.0, np.nan], [np.nan, 90.0]])
    with pytest.raises(FileError, match="odd: its files do not agree"):
        read_table(_folder(tmp_path / "odd", one, pa.table({"title": [["b"]]})))


SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("dataset", "iterable")]  # slow to import


@pytest.mark.parametrize("kind", ["table", "batch", "reader", "pandas", "polars", "stream", *SLOW])
def test_what_is_in_memory_says_what_its_rows_say(by_rows, kind):
    assert told(read_table(_in_memory(kind))) == told(by_rows)


def _in_memory(kind):
    table = pa.table(ROWS)
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(table.to_pandas(), index=None).set_index(np.arange(5) * 7)
    if kind in ("polars", "stream"):
        frame = pytest.importorskip("polars").DataFrame(ROWS)
        return _Stream(frame) if kind == "stream" else frame
    if kind in ("dataset", "iterable"):
        data = pytest.importorskip("datasets").Dataset.from_dict(ROWS)
        return data.to_iterable_dataset() if kind == "iterable" else data
    batch = table.combine_chunks().to_batches()[0]
    return {"table": table, "batch": batch, "reader": pa.RecordBatchReader.from_batches(table.schema, [batch])}[kind]


class _Stream:
    """Nothing but the protocol."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self.frame.__arrow_c_stream__(requested_schema)


@pytest.mark.slow
def test_a_dataset_that_was_shuffled_and_cut_is_read_so():
    data = pytest.importorskip("datasets").Dataset.from_dict({"title": list("abcd"), "energy": [1.0, 2.0, 3.0, 4.0]})
    (c,) = read_table(data.select([3, 1]))
    assert [item.title for item in c.items] == ["d", "b"]
    assert c.column("energy").tolist() == [4.0, 2.0]


def test_what_is_no_table_is_told():
    with pytest.raises(InputError, match=r"a table must be a path, .* or a dataset; got builtins.int$"):
        read_table(3)
    with pytest.raises(InputError, match=r"got polars\..*LazyFrame; collect\(\) it first"):
        read_table(pytest.importorskip("polars").LazyFrame(ROWS))
    with pytest.raises(FileError, match="table: the table has no rows"):
        read_table(pa.table({"title": pa.array([], pa.string())}))
    with pytest.raises(FileError, match=r"table: row 2, column 'x': must be a finite number.*; got inf$"):
        read_table(pa.table({"x": [1.0, float("inf")]}))


@pytest.mark.slow
def test_of_a_dataset_of_several_splits_one_is_to_be_chosen():
    datasets = pytest.importorskip("datasets")
    with pytest.raises(InputError, match="choose one of its splits: 'train'"):
        read_table(datasets.DatasetDict({"train": datasets.Dataset.from_dict(ROWS)}))


@pytest.mark.parametrize("ending", [".parquet", ".json"])
@pytest.mark.parametrize("kind", ["list", "large", "fixed"])
def test_lists_of_as_many_numbers_are_features(tmp_path, kind, ending):
    vectors = [[1.0, 2.0, 3.0], None, [4.0, None, 6.0]]
    path = tmp_path / f"v{ending}"
    if ending == ".json":
        path.write_text(json.dumps([{"title": str(i), "embedding": v} for i, v in enumerate(vectors)]))
    else:
        how = {"list": pa.list_(pa.float32()), "large": pa.large_list(pa.float64()), "fixed": pa.list_(pa.int16(), 3)}
        table = pa.table({"title": ["0", "1", "2"], "embedding": pa.array(vectors, how[kind])})
        pq.write_table(table, path, row_group_size=2)
    (c,) = read_table(path)
    assert c.feature_names == ("embedding_0", "embedding_1", "embedding_2")
    np.testing.assert_array_equal(c.features, [[1, 2, 3], [np.nan] * 3, [4, np.nan, 6]])
    assert not c.items[0].details


def test_other_lists_stay_with_the_item(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('[{"t": "a", "marks": [1, 2], "tags": ["p"]}, {"t": "b", "marks": [3], "tags": ["q"]}]')
    (c,) = read_table(path)
    assert [item.details["marks"] for item in c.items] == [[1, 2], [3]]
    assert [item.details["tags"] for item in c.items] == [["p"], ["q"]]
    with pytest.raises(FileError, match=r"column 'marks': must be a number; got \[1, 2\]"):
        read_table(path, features=["marks"])


def test_a_vector_may_be_asked_for_and_must_then_be_whole(tmp_path):
    table = pa.table({"e": [[1.0, 2.0], [3.0, 4.0]], "x": [1, 2]})
    assert read_table(table, features=["e"]).feature_names == ("e_0", "e_1")
    with pytest.raises(FileError, match=r"must have a value in every row; missing: row 2, column 'e'"):
        read_table(pa.table({"e": [[1.0, 2.0], [3.0, None]]}), features=["e"])
    with pytest.raises(FileError, match=r"row 1, column 'e': must hold finite numbers"):
        read_table(pa.table({"e": [[1.0, float("inf")], [3.0, 4.0]]}))


def test_reading_makes_no_item_and_no_text_per_row(monkeypatch):
    made = []
    kept = Item.__init__
    monkeypatch.setattr(Item, "__init__", lambda self, *args, **more: (made.append(1), kept(self, *args, **more))[1])
    rows = 3000
    table = pa.table({
        "collection_id": pa.array(np.arange(rows) // 10), "title": [f"t{i}" for i in range(rows)],
        "artist": ["x"] * rows, "mood": ["calm"] * rows, "energy": np.arange(rows) / 7,
    })  # fmt: skip
    collections = read_table(table)
    assert len(collections) == 300
    assert collections.features.shape == (rows, 1)
    assert not made
    assert [item.title for item in collections[7].items] == [f"t{i}" for i in range(70, 80)]
    assert len(made) == 10
    assert collections.texts("title")[70] == "t70"


def test_what_was_read_travels_in_parts():
    table = pa.table({"collection_id": np.arange(5000) // 5, "id": np.arange(5000), "tags": [["a"]] * 5000})
    part = pickle.loads(pickle.dumps(read_table(table)[3:5]))
    assert [item.id for item in part[0].items] == ["15", "16", "17", "18", "19"]
    assert part[1].items[0].details["tags"] == ["a"]
    assert len(pickle.dumps(part)) < 4000


def test_rows_of_a_frame_are_written_back(tmp_path):
    reading = open_table(pa.table(ROWS))
    written = write_rows(tmp_path / "new.parquet", reading.table, reading.rows[0], {"essence": [1.0, 2.0]})
    assert pq.read_table(written).column("title").to_pylist() == ["eins", "zwei"]


def test_where_and_kinds_of_cells():
    days = [dt.date(2020, 1, 2), None, dt.date(2021, 1, 2)]
    table = pa.table({"title": ["a", "b", "c"], "year": [1999, 2000, 1999], "ok": [True, None, False], "day": days})
    for where, titles in [
        ({"year": "1999"}, "ac"), ({"year": 2000}, "b"), ({"ok": "true"}, "a"), ({"ok": ""}, "b"),
        ({"day": "2021-01-02"}, "c"), ({"title": "b"}, "b"),
    ]:  # fmt: skip
        assert "".join(c.title for c in read_table(table, where=where)[0].items) == titles
    with pytest.raises(FileError, match="no row has year = '1'"):
        read_table(table, where={"year": "1"})


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_rows_are_grouped_and_sorted_as_one_by_one(data):
    n = data.draw(st.integers(1, 12))
    groups = data.draw(st.lists(st.sampled_from(["a", "b", "ç"]), min_size=n, max_size=n))
    positions = data.draw(st.permutations(range(n)))
    found = read_table(pa.table({"collection_id": groups, "position": positions, "x": np.arange(n) * 1.0}))
    expected: dict[str, list[tuple[int, int]]] = {}
    for row, (group, position) in enumerate(zip(groups, positions, strict=True)):
        expected.setdefault(group, []).append((position, row))
    assert found.ids.tolist() == list(expected)
    assert [c.column("x").tolist() for c in found] == [[row for _, row in sorted(v)] for v in expected.values()]


def _reads_as_album(rows, positions):
    """What an album is, said of one: the reference."""
    if positions is None:
        return len(rows) >= 3 and rows[-1] - rows[0] == len(rows) - 1
    found = positions[rows]
    whole = len(np.unique(found)) == len(rows) >= 2 and found.min() <= 1
    return bool(whole and np.median(found % 1000) <= len(rows) + 1)


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_albums_are_counted_as_one_by_one(data):
    n = data.draw(st.integers(1, 14))
    codes = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=np.intp)
    numbers = st.one_of(
        st.none(), st.lists(st.sampled_from([1.0, 2, 3, 4, 9, 1001, 1002, np.nan]), min_size=n, max_size=n)
    )
    given_ = data.draw(numbers)
    positions = None if given_ is None else np.array(given_)
    groups = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    assert _rows_in_albums(codes, positions) == sum(len(g) for g in groups if _reads_as_album(g, positions))
