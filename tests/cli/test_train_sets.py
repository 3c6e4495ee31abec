"""Training, auditing and comparing set models from the command line, on small data in which something is planted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from fabula.models.model import load_model

pytest.importorskip("torch")

WORDS = ("Sun", "Rain", "Moon", "Tide", "Wind", "Stone")
SMALL = ("--set", "width=16", "--set", "layers=1", "--set", "heads=2", "--set", "inner=24", "--set", "token_size=8")
QUICK = (*SMALL, "--dimensions", 6, "--epochs", 6, "--batch", 16, "--negatives", 32, "--set", "learning_rate=0.01",
         "--set", "averaging=0.9", "--set", "title_dropout=0.1", "--set", "word_dropout=0.1", "--set", "dropout=0",
         "--device", "cpu")  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    """120 collections of 5: they begin with Intro, end with Outro, and grow heavier."""
    rng = np.random.default_rng(0)
    lines = ["set,nr,name,by,weight,noise"]
    for number in range(120):
        weight = np.sort(rng.normal(size=5)) + 0.3 * rng.normal(size=5)
        names = ["Intro", *rng.choice(WORDS, 3), "Outro"]
        lines += [f"{number},{j + 1},{names[j]},b{number},{weight[j]:.3f},{rng.normal():.3f}" for j in range(5)]
    path = tmp_path_factory.mktemp("data") / "things.csv"
    path.write_text("\n".join(lines).replace("set,nr", "collection_id,position") + "\n")
    return path


@pytest.fixture(scope="module")
def shelf(tmp_path_factory) -> Path:
    """Eight numbered folders of four short files, a playlist of one of them, and a folder without numbers."""
    root = tmp_path_factory.mktemp("shelf")
    rng = np.random.default_rng(1)
    for album in range(8):
        folder = root / f"album {album}"
        folder.mkdir()
        for number, title in enumerate(("Intro", "Sun", "Rain", "Outro"), start=1):
            sound = (0.02 * number * rng.standard_normal(4000 + 500 * number)).astype(np.float32)
            soundfile.write(folder / f"{number:02d} - {title}.wav", sound, 8000)
    names = sorted(path.name for path in (root / "album 0").iterdir())
    (root / "album 0" / "list.m3u8").write_text("\n".join(names) + "\n")
    (root / "loose").mkdir()
    for title in ("Sun", "Rain", "Moon"):
        soundfile.write(root / "loose" / f"{title}.wav", np.zeros(4000, np.float32), 8000)
    return root


@pytest.mark.slow
def test_titles_make_a_set_model(fabula, table, tmp_path):
    out = tmp_path / "mine.safetensors"
    done = fabula("train", table, "--titles", "name", "--features", "weight,noise", *QUICK, "-o", out)
    assert done.code == 0, done.err
    assert "arcs + flow: " in done.out
    model = load_model(out)
    assert not model.by_item
    assert model.feature_names == ("weight", "noise")
    assert "titles" in model.reads
    assert model.card["bits"]["bits"] > 1
    assert model.card["data"] == "things.csv"
    assert "sees the whole collection" in fabula("info", out).out
    best = model.order(None, 1, titles=["Outro", "Sun", "Intro"])[0].ordering
    assert best.tolist() == [2, 1, 0]


def test_a_set_model_can_do_without_titles(fabula, table, tmp_path):
    out = tmp_path / "mine.safetensors"
    done = fabula("train", table, "--kind", "set", "--features", "weight", *QUICK, "-o", out)
    assert done.code == 0, done.err
    assert "titles" not in load_model(out).reads


@pytest.mark.slow
def test_audit_covers_titles_and_flow(fabula, table):
    done = fabula(
        "audit",
        table,
        "--titles",
        "name",
        "--features",
        "weight,noise",
        *QUICK,
        "--epochs",
        2,
        "--set",
        "learning_rate=0.001",
        "--json",
    )
    rows = json.loads(done.out)["rows"]
    controls = {"noise features", "shuffled orders", "shuffled titles"}
    assert {row["data"] for row in rows} == {"real", *controls}
    assert {row["scorer"] for row in rows} == {"arcs + flow", "arcs", "flow"}
    assert all(abs(row["bits"]) < 0.05 for row in rows if row["data"] in controls)


def test_compare_covers_titles_and_flow(fabula, table):
    done = fabula("compare", table, "--titles", "name", "--features", "weight,noise", *QUICK, "--seeds", 1, "--json")
    assert done.code == 0, done.err
    rows = {row["name"]: row["bits"] for row in json.loads(done.out)}
    assert set(rows) == {"all inputs", "all inputs, arcs alone", "all inputs, flow alone", "without titles",
                         "titles alone", "weight", "noise"}  # fmt: skip
    assert rows["all inputs"] > 1
    assert rows["titles alone"] > 0.5
    assert rows["noise"] < rows["weight"]


def test_a_folder_goes_on_from_music_and_says_what_it_gained(fabula, shelf, tmp_path):
    out = tmp_path / "label.safetensors"
    done = fabula("train", shelf, "--from", "music", "--epochs", 1, "--device", "cpu", "-o", out)
    assert done.code == 0, done.err
    assert "trained on 4 collections, held out 4 (4 of 8 held out)" in done.out
    assert "its files are not numbered" in done.out
    assert "over music" in done.out
    model = load_model(out)
    assert model.config == load_model("music").config
    assert model.card["from"] == "music"
    assert model.card["gained"]["collections"] == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--titles", "nothing"), "nothing"),
        (
            ("--titles", "name", "--features", "weight,noise", "--scorers", "arcs"),
            "always has the scorers arcs and flow",
        ),
        (
            ("--titles", "name", "--features", "weight,noise", "--preset", "paper"),
            "has one preset, default; got 'paper'",
        ),
        (
            ("--titles", "name", "--features", "weight,noise", "--kind", "essence"),
            "--kind essence reads one table, without --titles",
        ),
        (("--titles", "name", "--features", "weight,noise", "--onnx", "x.onnx"), "leave --checkpoint and --onnx out"),
        (
            ("--titles", "name", "--features", "weight,noise", "--set", "depth=3"),
            "training has no setting 'depth'",
        ),
        (
            ("--titles", "name", "--features", "weight,noise", "--features", "height"),
            "has no feature 'height'; it has: weight",
        ),
        (("--from", "audio"), "only a set model can be gone on from, such as music"),
        (("--from", "music", "--features", "weight"), "are those of the model it goes on from"),
    ],
)
def test_mistakes_are_told_in_one_line(fabula, table, tmp_path, arguments, told):
    done = fabula("train", table, *arguments, "-o", tmp_path / "m.safetensors")
    assert done.code == 2
    assert told in done.err
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "m.safetensors").exists()


def test_a_folder_needs_something_ordered(fabula, tmp_path):
    (tmp_path / "empty").mkdir()
    done = fabula("train", tmp_path / "empty", "--from", "music", "-o", tmp_path / "m.safetensors")
    assert done.code == 2
    assert "holds no numbered folder and no playlist of 3 files" in done.err
