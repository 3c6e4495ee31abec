"""Training, auditing and comparing from Python and from recipes; logs of every epoch."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import fabula
from fabula.cli import run
from fabula.errors import InputError, MissingExtraError

CONFIG = {"epochs": 3, "learning_rate": 0.03}


def rising(count, n=5, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, n, 2)) + np.stack([np.linspace(0, 3, n), np.zeros(n)], axis=1)
    items = [fabula.Item(str(j), title=f"song {j}") for j in range(n)]
    return [fabula.Collection(f"c{i}", items, row, ["a", "b"]) for i, row in enumerate(rows)]


@pytest.fixture
def table(tmp_path):
    rows = ["collection,position,a,b"]
    for collection in rising(40):
        rows += [f"{collection.id},{j + 1},{a:.5f},{b:.5f}" for j, (a, b) in enumerate(collection.features)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_train_on_lists_a_list_and_a_table(table, tmp_path):
    config = fabula.training.preset("arcs", **CONFIG)
    seen = []
    parts = fabula.train((rising(30), rising(10, seed=1)), config, callback=seen.append)
    assert [each.epoch for each in seen] == [1, 2, 3]
    assert seen == parts.history
    assert parts.split.rule == "as given"
    whole = fabula.train(rising(40), config)
    assert len(whole.split.training) + len(whole.split.held_out) == 40
    read = fabula.train(table, config, output=tmp_path / "m.safetensors")
    model = fabula.load_model(tmp_path / "m.safetensors")
    assert model.training["history"]["loss"] == [round(each.loss, 4) for each in read.history]
    assert model.training["history"]["bits"] == {"arcs": [round(each.bits["arcs"], 4) for each in read.history]}
    assert not list(tmp_path.glob("*.checkpoint"))
    assert "held out" in repr(read)


def test_audit_and_compare_are_the_commands(table):
    config = fabula.training.preset("arcs", **CONFIG)
    names = []
    report = fabula.audit(table, config, controls_only=True, callback=lambda name, epoch: names.append(name))
    assert {row.data for row in report.rows} == {"noise features", "shuffled orders"}
    assert set(names) == {"noise features", "shuffled orders"}
    rows = fabula.compare(rising(40), config, seeds=1)
    assert rows[0].name == "essence"
    assert {row.name for row in rows} == {"essence", "a", "b"}


@pytest.mark.parametrize(
    ("data", "config", "words"),
    [
        ([1, 2, 3], None, "must be a table or a list of collections; it holds int"),
        (rising(4), 3, "must be what fabula.training.preset gives, or its name; got int"),
        (rising(4), "nonsense", "there is no preset 'nonsense'; there are: default, arcs, paper"),
        ([], None, "holds no collection of two items or more"),
        ((rising(4), []), None, "both sides need at least one"),
    ],
)
def test_what_is_no_data_is_one_line(data, config, words):
    with pytest.raises(InputError, match=words):
        fabula.train(data, config)


def test_without_torch_there_is_one_clear_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    calls = (lambda: fabula.training.preset("arcs"), lambda: fabula.train(rising(4)), lambda: fabula.audit(rising(4)))
    for call in calls:
        with pytest.raises(MissingExtraError, match=r"^training needs torch, .*: pip install 'fabula\[train\]'$"):
            call()


def test_a_run_writes_its_log_and_its_recipe_and_takes_it_again(table, tmp_path, capsys):
    first, again, log = tmp_path / "a.safetensors", tmp_path / "b.safetensors", tmp_path / "run.jsonl"
    recipe = tmp_path / "r.toml"
    options = ["--preset", "arcs", "--epochs", "2", "--write-recipe", str(recipe), "--history", str(log)]
    assert run(["train", str(table), *options, "-o", str(first)]) == 0
    assert run(["train", "--recipe", str(recipe), "-o", str(again)]) == 0
    assert first.read_bytes() == again.read_bytes()
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["epoch"] for row in rows] == [1, 2]
    assert set(rows[0]) == {"epoch", "epochs", "loss", "bits"}
    assert run(["train", "--recipe", str(recipe), "--seed", "1", "-o", str(again)]) == 0
    assert first.read_bytes() != again.read_bytes()  # an option counts before the recipe
    both = ["--scorers", "arcs,bilstm", "--epochs", "1", "--set", "scorer_hidden=2"]
    assert run(["train", "--recipe", str(recipe), *both, "-o", str(again)]) == 0
    assert fabula.load_model(again).scorers == ("arcs", "bilstm")
    assert run(["train", "--recipe", str(recipe), "--preset", "paper", "-o", str(again)]) == 2
    assert "leave --preset out" in capsys.readouterr().err


def test_a_log_is_added_to_where_a_run_goes_on(tmp_path):
    from fabula.training.loop import Progress

    path = tmp_path / "run.jsonl"
    for epochs in ((1, 2), (3,)):
        log = fabula.training.EpochLog(path)
        for epoch in epochs:
            log(Progress(epoch, 3, 1.0, {"arcs": 0.5}, 0.0))
        log.close()
    assert [json.loads(line)["epoch"] for line in path.read_text().splitlines()] == [1, 2, 3]
    log = fabula.training.EpochLog(path)
    log(Progress(1, 3, 1.0, {"arcs": 0.5}, 0.0))
    log.close()
    assert len(path.read_text().splitlines()) == 1


def test_without_tensorboard_there_is_one_clear_line(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(MissingExtraError, match=r"a log for TensorBoard needs tensorboard.*fabula\[tensorboard\]"):
        fabula.training.TensorBoardLog(tmp_path / "runs")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_tensorboard_reads_what_was_written(tmp_path):
    pytest.importorskip("tensorboard")
    from fabula.training.loop import Progress

    log = fabula.training.TensorBoardLog(tmp_path / "runs")
    for epoch in (1, 2):
        log(Progress(epoch, 2, 1.0 / epoch, {"arcs": 0.25 * epoch}, 0.0))
    log.close()
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / "runs")).Reload()
    assert [(e.step, e.value) for e in events.Scalars("bits/arcs")] == [(1, 0.25), (2, 0.5)]
    assert [(e.step, e.value) for e in events.Scalars("loss")] == [(1, 1.0), (2, 0.5)]


@pytest.mark.slow
def test_a_set_model_comes_again_from_its_recipe(table, tmp_path):
    first, again, recipe = tmp_path / "a.safetensors", tmp_path / "b.safetensors", tmp_path / "r.toml"
    sizes = [f"--set={size}" for size in ("width=16", "heads=2", "layers=1")]
    options = ["--kind", "set", "--epochs", "1", "--negatives", "8", *sizes, "--history", str(tmp_path / "h.jsonl")]
    assert run(["train", str(table), *options, "-o", str(first), "--write-recipe", str(recipe)]) == 0
    assert run(["train", "--recipe", str(recipe), "-o", str(again)]) == 0
    assert first.read_bytes() == again.read_bytes()
    [row] = [json.loads(line) for line in (tmp_path / "h.jsonl").read_text().splitlines()]
    assert fabula.load_model(first).training["history"]["bits"] == [round(row["bits"]["arcs + flow"], 4)]
