"""Whole catalogues: each collection as if it were the only one, whatever the pieces."""

import csv

import numpy as np
import pytest

import fabula
from fabula.errors import FileError, InputError
from fabula.session import catalogue as bulk, catalogue as cut
from fabula.session.catalogue import CatalogueRequest, encode_catalogue, order_catalogue, pieces_of

COLUMNS = ("danceability", "energy", "loudness", "speechiness", "acousticness", "instrumentalness", "liveness",
           "valence", "tempo", "key", "mode", "duration_ms")  # fmt: skip
SIZES = (3, 1, 5, 4, 6, 2)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def table(tmp_path, rng):
    """Six collections, their rows one after the other."""
    lines = [["album_id", "track", "title", *COLUMNS]]
    for number, n in enumerate(SIZES):
        for track in range(n):
            values = [*rng.random(6), rng.random(), rng.random(), rng.uniform(60, 180), rng.integers(0, 12), 1, 2e5]
            values[2] = -8 * values[2]
            lines.append([f"a{number}", track + 1, f"Song {rng.integers(1000)} of {number}", *values])
    path = tmp_path / "catalogue.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    return path


@pytest.fixture
def parquet(table):
    pa_csv, pq = pytest.importorskip("pyarrow.csv"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa_csv.read_csv(table), table.with_suffix(".parquet"), row_group_size=4)
    return table.with_suffix(".parquet")


@pytest.mark.parametrize("raw", [False, True])
def test_each_row_has_the_essence_of_its_item(table, tmp_path, raw):
    done = encode_catalogue(CatalogueRequest(table, "albums"), tmp_path / "essence.csv", raw=raw)
    assert (done.collections, done.items) == (len(SIZES), sum(SIZES))
    model = fabula.load_model("albums")
    found = rows_of(done.path)
    expected = np.concatenate([model.encode(c, raw=raw) for c in fabula.read_table(table)])[:, 0]
    np.testing.assert_allclose([float(row["essence"]) for row in found], expected)
    assert [row["row"] for row in found] == [str(i + 1) for i in range(sum(SIZES))]
    assert [row["collection"] for row in found] == [f"a{k}" for k, n in enumerate(SIZES) for _ in range(n)]


def test_arrays_of_several_dimensions(table, tmp_path):
    done = encode_catalogue(CatalogueRequest(table, "music"), tmp_path / "essence.npz")
    with np.load(done.path) as arrays:
        essence = fabula.load_model("music").encode_many(fabula.read_table(table))
        np.testing.assert_allclose(arrays["essence"], essence)
        assert arrays["collection"][0] == "a0"


@pytest.mark.slow
def test_every_collection_is_ordered_as_by_itself(table, tmp_path):
    done = order_catalogue(CatalogueRequest(table), tmp_path / "orders.csv")
    assert done.exact == len(SIZES)
    found = rows_of(done.path)
    for number, n in enumerate(SIZES):
        own = [row for row in found if row["collection"] == f"a{number}"]
        assert [row["position"] for row in own] == [str(i + 1) for i in range(n)]
        if n > 4:
            assert [row["title"] for row in own] == fabula.open(table, collection=f"a{number}").order().titles


@pytest.mark.slow
def test_pieces_are_the_whole(parquet, tmp_path, monkeypatch):
    whole = order_catalogue(CatalogueRequest(parquet), tmp_path / "whole.csv").path.read_text()
    monkeypatch.setattr(cut, "_WHOLE", 5)
    monkeypatch.setattr(cut, "_PIECE", 7)
    monkeypatch.setattr(bulk, "_PART", 1)
    assert len(list(pieces_of(parquet, COLUMNS))) > 2
    told = []
    asked = CatalogueRequest(parquet, report=lambda done, total, name: told.append((done, total)))
    pieces = order_catalogue(asked, tmp_path / "pieces.csv").path.read_text()
    assert _rounded(pieces) == _rounded(whole)
    assert told[-1] == (sum(SIZES), sum(SIZES))
    assert len(told) == len(SIZES)


def _rounded(text):
    """The rows, with scores to a few digits."""
    return [{**row, "score": f"{float(row['score']):.3f}"} for row in csv.DictReader(text.splitlines())]


def test_rows_that_do_not_stand_together_are_refused_in_pieces(parquet, tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    content = pq.read_table(parquet)
    pq.write_table(content.take([*range(1, content.num_rows), 0]), parquet)
    encode_catalogue(CatalogueRequest(parquet, "albums"), tmp_path / "fine.csv")  # small: read whole
    monkeypatch.setattr(cut, "_WHOLE", 5)
    monkeypatch.setattr(cut, "_PIECE", 7)
    with pytest.raises(FileError, match="collection 'a0' do not stand together"):
        encode_catalogue(CatalogueRequest(parquet, "albums"), tmp_path / "none.csv")
    assert [p.name for p in tmp_path.glob("*none*")] == []


def test_a_row_that_names_no_collection_is_told_in_pieces(parquet, tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = pq.read_table(parquet)
    ids = content.column("album_id").to_pylist()
    pq.write_table(content.set_column(0, "album_id", pa.array([*ids[:-2], None, ids[-1]])), parquet)
    monkeypatch.setattr(cut, "_WHOLE", 5)
    with pytest.raises(FileError, match=rf"row {len(ids) - 1}, column 'album_id': must name the collection"):
        encode_catalogue(CatalogueRequest(parquet, "albums"), tmp_path / "none.csv")


def test_what_is_interrupted_leaves_what_was_there(table, tmp_path):
    target = tmp_path / "essence.csv"
    target.write_text("before")

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_catalogue(CatalogueRequest(table, "albums", report=stop), target)
    assert target.read_text() == "before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["catalogue.csv", "essence.csv"]


def test_what_cannot_be_done_is_refused_before_anything_is_read(tmp_path):
    nowhere = tmp_path / "missing.csv"
    with pytest.raises(InputError, match="ending must be one of"):
        encode_catalogue(CatalogueRequest(nowhere), tmp_path / "essence.txt")
    with pytest.raises(InputError, match="looks into the items"):
        encode_catalogue(CatalogueRequest(nowhere, "poems"), tmp_path / "essence.csv")
    with pytest.raises(FileError):
        order_catalogue(CatalogueRequest(nowhere), tmp_path / "orders.csv")
    assert not list(tmp_path.iterdir())


def test_texts_and_columns_are_ordered_as_each_alone(tmp_path):
    from fabula.session.request import Request

    words = "it was a long way to the town and Ann went on through the rain until the lights came up".split()  # noqa: SIM905
    rng = np.random.default_rng(3)
    rows = [
        {"book": book, "title": f"{book}{k}", "text": " ".join(rng.choice(words, 30 + 9 * k)) + "."}
        for book in "ABC"
        for k in rng.permutation(5).tolist()
    ]
    with (tmp_path / "books.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["book", "title", "text"])
        writer.writeheader()
        writer.writerows(rows)
    asked = CatalogueRequest(tmp_path / "books.csv")
    ways = {"model": {}, "column": {"by": "words", "request": Request(template="steady-rise")}}
    for name, way in ways.items():
        done = order_catalogue(asked, tmp_path / f"{name}.csv", **way)
        assert (done.collections, done.items) == (3, 15)
        found = rows_of(tmp_path / f"{name}.csv")
        for book in "ABC":
            alone = {"by": "words", "template": "steady-rise"} if way else {}
            expected = fabula.order(tmp_path / "books.csv", collection=book, **alone).titles
            assert [row["title"] for row in found if row["collection"] == book] == expected
    with pytest.raises(InputError, match=r"collection 'A': .*has no column 'colour'"):
        order_catalogue(asked, tmp_path / "no.csv", by="colour")
    assert not (tmp_path / "no.csv").exists()
