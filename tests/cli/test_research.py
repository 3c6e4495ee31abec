"""The commands for research, on a small table whose order can be learned."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fabula.core.template import TemplateSet
from fabula.models.model import load_model

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def albums(tmp_path_factory) -> Path:
    """200 albums of 6 tracks: `rise` rises through each, `loudness` a little, `noise` does not."""
    rng = np.random.default_rng(0)
    lines = ["album_id,position,title,kind,rise,loudness,noise"]
    for album in range(200):
        rise = np.sort(rng.normal(size=6)) + 0.2 * rng.normal(size=6)
        for j in range(6):
            kind = "live" if album % 10 == 9 else ""
            lines.append(
                f"{album},{j + 1},t{j},{kind},{rise[j]:.4f},{0.5 * rise[j] + rng.normal():.4f},{rng.normal():.4f}"
            )
    path = tmp_path_factory.mktemp("data") / "albums.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


QUICK = (
    "--where",
    "kind=",
    "--features",
    "rise,loudness,noise",
    "--scorers",
    "arcs",
    "--epochs",
    "15",
    "--batch",
    "32",
)


@pytest.mark.slow
def test_train_info_and_use(fabula, albums, tmp_path):
    out = tmp_path / "mine.safetensors"
    done = fabula("train", albums, *QUICK, "-o", out)
    assert done.code == 0, done.err
    assert "bits [" in done.out
    assert not out.with_suffix(".checkpoint").exists()
    model = load_model(out)
    assert model.feature_names == ("rise", "loudness", "noise")
    assert model.card["bits"]["arcs"]["bits"] > 1
    assert "rise, loudness, noise" in fabula("info", out).out
    assert fabula("info", out, "--json").json["card"]["data"] == "albums.csv"
    told = fabula("order", albums, "--collection", "3", "--model", out, "--json").json
    assert np.corrcoef(told["ordering"], range(6))[0, 1] > 0.5


@pytest.mark.slow
def test_training_goes_on_where_it_stopped(fabula, albums, tmp_path, monkeypatch):
    """Interrupted after some epochs, the same command ends with the model of one go."""
    whole, parts = tmp_path / "whole.safetensors", tmp_path / "parts.safetensors"
    fabula("train", albums, *QUICK, "-o", whole)
    from fabula.training import loop

    real, epochs = loop.run_epoch, 0

    def interrupted(*arguments, **options):
        nonlocal epochs
        epochs += 1
        if epochs == 6:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(loop, "run_epoch", interrupted)
    stopped = fabula("train", albums, *QUICK, "-o", parts)
    assert (stopped.code, stopped.err.strip()) == (130, "fabula: interrupted")
    assert not parts.exists()
    assert parts.with_suffix(".checkpoint").exists()
    monkeypatch.setattr(loop, "run_epoch", real)
    assert fabula("train", albums, *QUICK, "-o", parts).code == 0
    a, b = load_model(whole), load_model(parts)
    assert all(np.array_equal(a.tensors[name], b.tensors[name]) for name in a.tensors)


@pytest.mark.slow
def test_audit_is_clean_and_exits_0(fabula, albums):
    done = fabula("audit", albums, *QUICK, "--json")
    assert done.code == 0, done.err
    bits = {row["data"]: row["bits"] for row in done.json["rows"]}
    assert bits["real"] > 0.7
    assert max(bits["noise features"], bits["shuffled orders"]) < 0.05  # of few; their intervals judge, below
    assert {row["verdict"] for row in done.json["rows"]} <= {None, "zero", "below zero"}


@pytest.mark.slow
def test_audit_catches_the_published_bug_and_exits_1(fabula, tmp_path):
    """Albums of several lengths: the longest of a batch leak nothing, here as there."""
    rng = np.random.default_rng(0)
    lengths = [(4, 5, 6, 12)[album % 4] for album in range(520)]
    lines = [f"{album},{j + 1},,{rng.normal():.4f}" for album, n in enumerate(lengths) for j in range(n)]
    albums = tmp_path / "albums.csv"
    albums.write_text("album_id,position,kind,noise\n" + "\n".join(lines) + "\n")
    arguments = (
        "--where",
        "kind=",
        "--features",
        "noise",
        "--scorers",
        "bilstm",
        "--epochs",
        "10",
        "--held-out",
        "0.5",
        "--batch",
        "16",
        "--set",
        "learning_rate=0.021",
        "--set",
        "widths=[32]",
        "--set",
        "ema=0",
        "--set",
        "subsequences=0",
        "--set",
        "feature_noise=0",
    )
    done = fabula("audit", albums, *arguments, "--published-bug", "--controls-only", "--json")
    assert done.code == 1, done.err
    assert not done.json["ok"]
    assert max(row["bits"] for row in done.json["rows"]) > 0.1


@pytest.mark.slow
def test_compare_writes_table_json_and_figure(fabula, albums, tmp_path):
    for ending, effort in (("svg", ("1", "--epochs", "1")), ("json", ("2",)), ("csv", ("1", "--epochs", "1"))):
        out = tmp_path / f"compare.{ending}"
        done = fabula("compare", albums, *QUICK, "--seeds", *effort, "-o", out)
        assert done.code == 0, done.err
        assert out.stat().st_size > 50
    rows = json.loads((tmp_path / "compare.json").read_text())
    assert rows[0]["name"] == "essence"
    assert rows[1]["name"] == "rise"
    assert rows[1]["correlation"] > 0.9
    assert abs(next(row for row in rows if row["name"] == "noise")["bits"]) < 0.1
    assert len(rows[0]["seeds"]) == 2


@pytest.mark.slow
def test_sweep_over_dimensions(fabula, albums):
    rows = fabula("compare", albums, *QUICK, "--seeds", "1", "--sweep", "1,2", "--json").json
    assert [row["dimensions"] for row in rows] == [1, 2]


@pytest.mark.slow
def test_templates_learn_compare_count_genealogy(fabula, albums, tmp_path):
    files = {}
    for method in ("refined", "contrastive", "evolution"):
        files[method] = tmp_path / f"{method}.json"
        done = fabula("templates", "learn", albums, "--by", "rise", "-k", "2", "--method", method, "-o", files[method])
        assert done.code == 0, done.err
        assert len(TemplateSet.load(files[method])) == 2
    assert "correlation" in fabula("templates", "compare", files["refined"], files["evolution"]).out
    counted = fabula("templates", "count", albums, "--by", "rise", "-k", "2", "--json").json
    assert counted["suggested"] == 1
    assert fabula("templates", "count", albums, "--by", "noise", "-k", "2", "--json").json["suggested"] is None
    picture = tmp_path / "gen.svg"
    assert fabula("templates", "genealogy", albums, "--by", "rise", "-k", "3", "-o", picture).code == 0
    assert picture.read_text().startswith("<svg")
    assert len(json.loads(picture.with_suffix(".json").read_text())["generations"]) == 3
    used = fabula("order", albums, "--collection", "1", "--by", "rise", "--template", f"{files['refined']}#2", "--json")
    assert used.code == 0, used.err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("train", "none.csv", "-o", "x.safetensors"), "none.csv: does not exist"),
        (("train", "ALBUMS"), "where does the model go? give -o FILE.safetensors"),
        (("train", "ALBUMS", "-o", "none/x.safetensors"), "none/x.safetensors: the folder none does not exist"),
        (("train", "ALBUMS", "-o", "x", "--preset", "best"), "there is no preset 'best'; there are: default, "),
        (
            ("train", "ALBUMS", "-o", "x", "--where", "kind"),
            "--where takes COLUMN=VALUE, such as split=train or kind=; got",
        ),
        (("train", "ALBUMS", "-o", "x", "--features", "bass"), "collection '0' has no feature 'bass'; it has: rise"),
        (
            ("train", "ALBUMS", "-o", "x", "--scorers", "best"),
            "scorers must be one or more of arcs, bilstm, each once; got ['best']",
        ),
        (
            ("train", "ALBUMS", "-o", "x", "--dimensions", "0"),
            "training setting 'dimensions' must be a whole number from 1",
        ),
        (("train", "ALBUMS", "-o", "x", "--device", "tpu"), "device must be "),
        (
            ("audit", "ALBUMS", "--published-bug", "--features", "noise", "--scorers", "arcs"),
            "the published errors are those of the bilstm: ",
        ),
        (("compare", "ALBUMS", "-o", "x.png"), "x.png: the ending must be one of .json, .csv, .svg"),
        (("compare", "ALBUMS", "--sweep", "one"), "--sweep takes whole numbers, such as 1,2,4; got 'one'"),
        (("info", "nothing"), "nothing: no such model file, and no model of that name comes with fabula"),
        (("info", "ALBUMS"), "ALBUMS: is not a model file, or is cut short (safetensors expected: "),
        (
            ("order", "ALBUMS", "--collection", "1", "--model", "audio"),
            "ALBUMS: the model needs duration_ms, loudness; missing: duration_ms",
        ),
        (
            ("order", "ALBUMS", "--collection", "1", "--model", "audio", "--by", "rise"),
            "give either a column (by) or a model, not both",
        ),
        (("templates", "learn", "ALBUMS"), "say where the essence comes from: one of --by COLUMN and --model MODEL"),
        (("templates", "learn", "ALBUMS", "--by", "rise", "-k", "9999"), "Invalid value for '-k'"),
        (("templates", "learn", "ALBUMS", "--by", "bass"), "collection '0' has no feature 'bass'"),
        (("templates", "compare", "none.json", "none.json"), "none.json: cannot be read (No such file or directory)"),
        (("extract", "ALBUMS", "-o", "x.csv"), "ALBUMS: is a table; features are extracted from folders"),
        (("extract", "none", "-o", "x.csv"), "none: does not exist"),
        (("extract", "none", "-o", "x.doc"), "x.doc: the ending must be one of .csv, .json, .parquet"),
        (("fetch", "fma", "--to", "none"), "none: the folder does not exist"),
    ],
)
def test_mistakes(fabula, albums, arguments, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = fabula(*(str(albums) if a == "ALBUMS" else a for a in arguments))
    assert done.code == 2, done
    assert done.err.startswith(f"fabula: {line.replace('ALBUMS', str(albums))}")
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())
