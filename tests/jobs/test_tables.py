"""Encode, order and learn templates in shards: what the same calls give on the whole table."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import fabula
from fabula.core.template import TemplateSet
from fabula.errors import FileError, InputError, ModelError
from fabula.jobs.job import gather, open_job, plan_job
from fabula.jobs.tasks.by_model import read_shard
from fabula.jobs.worker import Owner, attempt, work
from fabula.models.model import load_model
from fabula.session.catalogue import CatalogueRequest, order_catalogue
from fabula.templates import learn, refinement
from fabula.templates.refinement import EvolutionSettings


def albums(count=40, seed=0, names=None):
    """Collections of 1 to 9 items with the features of a model: a table, and the essence of none."""
    rng = np.random.default_rng(seed)
    names = names or load_model("albums").feature_names
    lengths = rng.integers(1, 10, count)
    ids = np.repeat([f"c{i}" for i in rng.permutation(count)], lengths)
    positions = np.concatenate([np.arange(1, n + 1) for n in lengths])
    features = {name: rng.random(len(ids)) for name in names}
    return pa.table({"album_id": ids, "track_number": positions, **features})


@pytest.fixture(params=["parquet", "csv"])
def table(request, tmp_path):
    rows = albums()
    path = tmp_path / f"albums.{request.param}"
    if request.param == "csv":
        pyarrow.csv.write_csv(rows, path)
    else:
        pq.write_table(rows, path, row_group_size=37)
    return str(path)


def run(tmp_path, task, table, name="job", output="out.parquet", **how):
    address = str(tmp_path / name)
    plan_job(address, task, [table], **how)
    done = work(address)
    assert done.complete, done.failed
    return gather(address, tmp_path / output)


def test_encode_gives_what_the_model_gives(table, tmp_path):
    found = run(tmp_path, "encode", table, model="albums", shards=7)
    rows = pq.read_table(tmp_path / "out.parquet").to_pandas()
    assert found["rows"] == len(rows)
    assert rows["row"].tolist() == list(range(1, len(rows) + 1))
    model = load_model("albums")
    for collection in fabula.read_table(table):
        mine = rows[rows["collection"] == collection.id]["essence"].to_numpy()
        np.testing.assert_allclose(mine, model.encode(collection)[:, 0], rtol=0, atol=1e-12)


def test_the_number_of_shards_changes_no_row(table, tmp_path):
    run(tmp_path, "encode", table, model="albums", shards=1, name="one", output="one.parquet")
    run(tmp_path, "encode", table, model="albums", shards=9, name="nine", output="nine.parquet")
    one, nine = (pq.read_table(tmp_path / f"{name}.parquet").to_pandas() for name in ("one", "nine"))
    assert one["collection"].tolist() == nine["collection"].tolist()
    np.testing.assert_allclose(one["essence"], nine["essence"], rtol=0, atol=1e-12)


def test_order_gives_what_the_whole_catalogue_gives(table, tmp_path):
    run(tmp_path, "order", table, model="albums", shards=3)
    order_catalogue(CatalogueRequest(table, "albums"), tmp_path / "whole.parquet")
    mine, whole = (pq.read_table(tmp_path / name) for name in ("out.parquet", "whole.parquet"))
    same = ["collection", "position", "row", "id"]
    assert mine.select(same).equals(whole.select(same))
    np.testing.assert_allclose(mine["score"].to_numpy(), whole["score"].to_numpy(), atol=1e-9)


@pytest.mark.slow
def test_a_set_model_orders_in_shards_what_it_orders_whole(table, tmp_path):
    run(tmp_path, "order", table, model="music", shards=4)
    order_catalogue(CatalogueRequest(table, "music"), tmp_path / "whole.parquet")
    mine, whole = (pq.read_table(tmp_path / name).to_pandas() for name in ("out.parquet", "whole.parquet"))
    assert mine["row"].tolist() == whole["row"].tolist()
    np.testing.assert_allclose(mine["score"], whole["score"], atol=1e-4)


def test_a_collection_that_cannot_be_encoded_is_a_failure_and_the_rest_goes_on(tmp_path):
    rows = albums(6)
    energy = rows.column("energy").to_numpy().copy()
    energy[2] = np.inf
    rows = rows.set_column(rows.column_names.index("energy"), "energy", pa.array(energy))
    pq.write_table(rows, tmp_path / "t.parquet")
    found = run(tmp_path, "encode", str(tmp_path / "t.parquet"), model="albums", shards=2)
    table = pq.read_table(tmp_path / "out.parquet").to_pandas()
    hit = table["collection"] == rows.column("album_id").to_pylist()[2]
    assert found["failures"] == hit.sum() == 1
    assert table[hit]["essence"].isna().all()
    assert table[hit]["failure"].tolist() == ["holds a number that is infinite"]
    assert table[~hit]["essence"].notna().all()
    ordered = run(tmp_path, "order", str(tmp_path / "t.parquet"), model="albums", shards=2, name="order")
    assert ordered["failures"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(("method", "sample"), [("refined", 8192), ("refined", 64), ("evolution", 64)])
def test_templates_are_those_learned_from_all_at_once(tmp_path, monkeypatch, method, sample):
    monkeypatch.setattr(learn, "EvolutionSettings", lambda **how: EvolutionSettings(**{"generations": 12, **how}))
    monkeypatch.setattr(refinement, "_SAMPLE", sample)  # with 64, the starts race on some of the collections
    rows = albums(400, seed=3, names=("energy",))
    pq.write_table(rows, tmp_path / "t.parquet", row_group_size=300)
    found = run(
        tmp_path, "templates-learn", str(tmp_path / "t.parquet"), shards=5, output="t.json",
        options={"by": "energy", "k": 3, "seed": 7, "method": method},
    )  # fmt: skip
    table = fabula.read_table(tmp_path / "t.parquet")
    essences = [fabula.normalise(c.column("energy")) for c in table if len(c) > 1]
    few = {"generations": 12} if method == "evolution" else {}
    whole = fabula.learn_templates(essences, 3, seed=7, method=method, **few)
    mine = TemplateSet.load(tmp_path / "t.json")
    np.testing.assert_allclose(mine.values, whole.values, rtol=0, atol=1e-7)  # sums in another order, then a search
    assert [t.name for t in mine] == [t.name for t in whole]
    assert found["collections"] == len(essences)
    assert found["cost"] == pytest.approx(whole.cost(essences), abs=1e-12)


@pytest.mark.parametrize("method", ["refined", "evolution"])
def test_a_shard_of_which_nothing_is_learned_adds_nothing(tmp_path, monkeypatch, method):
    monkeypatch.setattr(learn, "EvolutionSettings", lambda **how: EvolutionSettings(**{"generations": 3, **how}))
    rows = albums(40, seed=4, names=("energy",))
    side = np.where(np.arange(rows.num_rows) < rows.num_rows // 2, "train", "test")
    pq.write_table(rows.append_column("split", pa.array(side)), tmp_path / "t.parquet")
    found = run(
        tmp_path, "templates-learn", str(tmp_path / "t.parquet"), shards=4, output="t.json",
        options={"by": "energy", "k": 2, "method": method},
    )  # fmt: skip
    train = [c for c in fabula.read_table(tmp_path / "t.parquet", where={"split": "train"}) if len(c) > 1]
    few = {"generations": 3} if method == "evolution" else {}
    whole = fabula.learn_templates([fabula.normalise(c.column("energy")) for c in train], 2, method=method, **few)
    np.testing.assert_allclose(TemplateSet.load(tmp_path / "t.json").values, whole.values, rtol=0, atol=1e-9)
    assert found["collections"] == len(train)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_templates_by_a_model_learn_from_the_side_to_train_on(tmp_path, ending):
    rows = albums(60, seed=1)
    ids = rows.column("album_id").to_pylist()
    rows = rows.append_column("split", pa.array(["train" if hash_of(i) % 3 else "test" for i in ids]))
    path = tmp_path / f"t.{ending}"
    write = {"parquet": pq.write_table, "csv": pyarrow.csv.write_csv}[ending]
    write(rows, path)
    run(tmp_path, "templates-learn", str(path), shards=3, output="t.json", model="albums",
        options={"k": 2})  # fmt: skip
    model = load_model("albums")
    train = [c for c in fabula.read_table(path, where={"split": "train"}) if len(c) > 1]
    whole = fabula.learn_templates([model.encode(c)[:, 0] for c in train], 2)
    np.testing.assert_allclose(TemplateSet.load(tmp_path / "t.json").values, whole.values, rtol=0, atol=1e-9)


def hash_of(text):
    return sum(map(ord, text))


def test_what_is_wrong_with_a_table_is_told_when_it_is_planned(tmp_path):
    apart = pa.table({"album_id": [1, 2, 1], "energy": [0.1, 0.2, 0.3]})
    pq.write_table(apart, tmp_path / "apart.parquet")
    with pytest.raises(FileError, match="the rows of collection 1 do not stand together; sort the table by"):
        plan_job(str(tmp_path / "a"), "encode", [str(tmp_path / "apart.parquet")], model="albums")
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "none.parquet")
    with pytest.raises(InputError, match=r"no column is known to name the collection"):
        plan_job(str(tmp_path / "b"), "encode", [str(tmp_path / "none.parquet")], model="albums")
    with pytest.raises(InputError, match="say where the essence comes from"):
        plan_job(str(tmp_path / "c"), "templates-learn", [str(tmp_path / "apart.parquet")])
    good = pa.table({"album_id": [1, 1, 2], "energy": [0.1, 0.2, 0.3]})
    pq.write_table(good, tmp_path / "good.parquet")
    with pytest.raises(ModelError, match="11 of the 12 features this model needs: danceability"):
        plan_job(str(tmp_path / "d"), "encode", [str(tmp_path / "good.parquet")], model="albums", shards=2)


def test_rows_are_laid_out_by_position_and_kept_by_a_condition(tmp_path):
    rows = albums(10, seed=2, names=("energy",))
    rows = rows.take(np.concatenate([np.flatnonzero(np.array(rows.column("album_id").to_pylist()) == i)[::-1]
                                     for i in dict.fromkeys(rows.column("album_id").to_pylist())]))  # fmt: skip
    rows = rows.append_column("kind", pa.array(["live" if i % 2 else None for i in range(rows.num_rows)]))
    path = str(tmp_path / "t.parquet")
    pq.write_table(rows, path)
    columns = {"collection": "album_id", "position": "track_number"}
    piece = read_shard(path, {"columns": columns, "where": {"kind": ""}}, [0, rows.num_rows, 10], ["energy"]).piece
    whole = fabula.read_table(path, where={"kind": ""})
    assert piece.collections.ids.tolist() == [c.id for c in whole]
    np.testing.assert_array_equal(piece.collections.column("energy"), whole.column("energy"))
    np.testing.assert_array_equal(whole.column("energy"), rows.column("energy").to_numpy()[piece.rows - 1])


def test_templates_of_a_job_that_version_0_4_began_are_learned_and_gathered(tmp_path):
    pq.write_table(albums(50, names=("energy",)), tmp_path / "t.parquet")
    table, options = str(tmp_path / "t.parquet"), {"by": "energy", "k": 2}
    run(tmp_path, "templates-learn", table, shards=2, output="whole.json", name="whole", options=options)
    for name, shards, state in (
        ("begun", 2, {"values": [[0.0] * 7] * 2}),
        ("done", 0, {"best": [[0.0] * 7, [1.0] * 7], "followers": [3, 40], "history": [2.0, 1.0]}),
    ):
        plan_job(str(tmp_path / name), "templates-learn", [table], options=options, shards=2)
        job = open_job(str(tmp_path / name))
        for shard in range(2):
            attempt(job, job.round_of(0), shard, Owner())
        job.store.create("rounds/001.json", json.dumps({"shards": shards, "state": state}).encode())
        assert work(str(tmp_path / name)).complete
        gather(str(tmp_path / name), tmp_path / f"{name}.json")
    begun, whole, done = (TemplateSet.load(tmp_path / f"{name}.json").values for name in ("begun", "whole", "done"))
    np.testing.assert_array_equal(begun, whole)
    np.testing.assert_array_equal(done, [[1.0] * 7, [0.0] * 7])
