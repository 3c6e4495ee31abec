"""What the commands say of splits, leaks, what was seen, and what is too small or was not learned."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from fabula.core.template import TemplateSet
from fabula.models.model import load_model

pytest.importorskip("torch")

TINY = ("--scorers", "arcs", "--epochs", "6", "--batch", "32", "--set", "widths=[8]", "--set", "draws=1")


def write(path, *, count=90, items=6, marks=("train", "validation", "test"), rise=0.0, more="", artist="a{c}"):
    """Albums of noise (or of what rises), a third marked each; ``more`` is one more column of the position j."""
    rng = np.random.default_rng(0)
    lines = [f"album_id,position,artist,title,split,x,y{',more' if more else ''}"]
    for c in range(count):
        for j in range(items):
            x, y = rng.normal() + rise * j, rng.normal()
            row = f"{c},{j + 1},{artist.format(c=c)},song {c} {j},{marks[c % len(marks)]},{x:.5f},{y:.5f}"
            lines.append(row + (f",{eval(more, {'j': j, 'c': c})}" if more else ""))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def albums(tmp_path):
    return write(tmp_path / "albums.csv", rise=0.5)


@pytest.mark.slow
def test_train_and_evaluate_keep_to_the_split_and_know_what_was_seen(fabula, albums, tmp_path):
    out = tmp_path / "m.safetensors"
    done = fabula("train", albums, *TINY, "-o", out)
    assert done.code == 0, done.err
    assert "trained on 30 collections, held out 30 (column 'split'; 30 of test not touched)" in done.out
    assert load_model(out).training["collections"] < 30  # a few of those to train on decided
    assert "known again" in fabula("info", out).out
    told = {}
    for side in ("test", "train"):
        told[side] = fabula("evaluate", albums, "--model", out, "--split", side, "--json").json
        assert told[side]["collections"] == 30
        assert told[side]["bits"]["arcs"]["collections"] == 30
    assert told["test"]["notes"] == []
    assert any(note.startswith("LEAK: the model") for note in told["train"]["notes"])


@pytest.mark.slow
def test_templates_of_the_test_side_are_recognised(fabula, tmp_path):
    """Noise, and as many templates as collections: learned on what is measured they find the order, and it is said."""
    noise = write(tmp_path / "noise.csv")
    learned = {}
    for side in ("train", "test"):
        learned[side] = tmp_path / f"{side}.json"
        done = fabula("templates", "learn", noise, "--by", "x", "-k", "6", "--split", side, "-o", learned[side])
        assert done.code == 0, done.err
    fair = fabula("templates", "learn", noise, "--by", "x", "-k", "2")
    assert "learned from 30 collections (column 'split', train)" in fair.out
    notes = {}
    for side, file in learned.items():
        answer = fabula("evaluate", noise, "--by", "x", "--templates", file, "--split", "test", "--json").json
        notes[side] = answer["notes"]
    assert notes["train"] == []
    assert any("was learned from 30 of these 30 collections" in note for note in notes["test"])


@pytest.mark.slow
def test_templates_by_hand_say_that_nothing_is_recorded(fabula, albums, tmp_path):
    mine = tmp_path / "mine.json"
    text = '{"format": "fabula-templates", "version": 1, "templates": [{"knots": [0, 1], "values": [0, 1]}]}'
    mine.write_text(text)
    assert TemplateSet.load(mine).seen is None
    answer = fabula("evaluate", albums, "--by", "x", "--templates", mine, "--json").json
    assert any("not recorded" in note for note in answer["notes"])


def test_the_letter_of_the_paper(fabula, albums, tmp_path, monkeypatch):
    from fabula.templates import refinement as evolution

    asked = []
    real = evolution.evolve
    monkeypatch.setattr("fabula.templates.learn.evolve", lambda *a, **k: asked.append(k["settings"]) or real(*a, **k))
    arguments = ("templates", "learn", albums, "--by", "x", "-k", "1", "--method", "evolution")
    assert fabula(*arguments, "--paper", "-o", tmp_path / "t.json").code == 0
    assert asked == [evolution.PAPER_EVOLUTION]
    refused = fabula("templates", "learn", albums, "--by", "x", "--paper")
    assert refused.code == 2
    assert "the letter of the paper is that of its evolution" in refused.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "found"),
    [("j + 1", "it follows the order itself"), ("j % 3 + 1", "it follows the order itself")],
)
def test_a_column_that_tells_the_order_is_left_out_or_told(fabula, tmp_path, more, found):
    table = write(tmp_path / "t.csv", more=more)
    out = tmp_path / "m.safetensors"
    left = fabula("train", table, *TINY, "-o", out)
    assert f"column 'more' left out: {found}" in left.out
    assert load_model(out).feature_names == ("x", "y")
    told = fabula("train", table, *TINY, "--features", "x,more", "-o", out)
    assert f"LEAK: column 'more': {found}" in " ".join(told.out.split())
    judged = fabula("evaluate", table, "--by", "more", "--json").json
    assert any(note.startswith("LEAK: column 'more'") for note in judged["notes"])


@pytest.mark.slow
def test_audit_and_compare_tell_of_it_too(fabula, tmp_path):
    table = write(tmp_path / "t.csv", more="j + 1")
    audited = fabula("audit", table, *TINY, "--features", "x,more")
    assert "LEAK: column 'more': it follows the order itself" in audited.out
    clean = fabula("audit", table, *TINY, "--features", "x,y", "--controls-only")
    assert "the controls see no leak in the data" in clean.out
    compared = fabula("compare", table, *TINY, "--features", "x,more", "--seeds", "1", "--json")
    assert "LEAK: column 'more'" in compared.err
    assert json.loads(compared.out)[0]["name"] == "essence"


@pytest.mark.slow
def test_an_audit_of_too_few_refuses_and_says_how_many_it_takes(fabula, tmp_path):
    table = write(tmp_path / "t.csv", count=24, marks=("train", "train", "validation"))
    done = fabula("audit", table, *TINY, "--controls-only")
    assert done.code == 3, done.out
    assert "cannot be judged: too few" in done.out
    assert "see no leak" not in done.out
    assert re.search(r"it takes about [1-9][0-9]+ to measure on", done.out)


@pytest.mark.slow
def test_a_column_called_essence_can_be_compared(fabula, albums):
    albums.write_text(albums.read_text().replace(",x,y", ",essence,y"))
    done = fabula("compare", albums, *TINY, "--features", "essence,y", "--seeds", "1", "--json")
    assert done.code == 0, done.err
    assert [row["name"] for row in done.json].count("essence") == 2


def test_a_stale_checkpoint_says_what_can_be_done(fabula, albums, tmp_path):
    from fabula.training.loop import FORMAT, VERSION
    from fabula.training.recipes import preset

    out = tmp_path / "m.safetensors"
    from safetensors.numpy import save

    state = {"config": preset("default", epochs=99).to_dict(), "data": ""}
    header = {"format": FORMAT, "version": str(VERSION), "state": json.dumps(state)}
    out.with_suffix(".checkpoint").write_bytes(save({"a": np.zeros(1)}, metadata=header))
    done = fabula("train", albums, *TINY, "-o", out)
    assert done.code == 2
    assert "was trained with other settings (" in done.err
    assert done.err.strip().endswith("give those again, or remove the file")


def test_a_logarithm_of_nothing_is_refused(fabula, albums, tmp_path):
    for kind in ("essence", "set"):
        done = fabula("train", albums, "--kind", kind, "--log", "wrods", "-o", tmp_path / "m.safetensors")
        assert done.code == 2
        assert "there is no column 'wrods' to take the logarithm of; there are: x, y" in done.err


def test_training_says_a_plain_line_now_and_then(fabula, albums, tmp_path, monkeypatch):
    monkeypatch.setattr("fabula.cli.printing._SECONDS", 0.0)
    done = fabula("train", albums, *TINY, "-o", tmp_path / "m.safetensors")
    lines = [line for line in done.err.splitlines() if line.startswith("training: epoch ")]
    assert len(lines) == 6
    assert "bits arcs" in lines[0]
    assert "s left" in lines[0]


@pytest.mark.slow
def test_a_model_that_learned_nothing_says_so_when_it_orders(fabula, tmp_path):
    noise, out = write(tmp_path / "noise.csv"), tmp_path / "m.safetensors"
    assert fabula("train", noise, *TINY, "-o", out).code == 0
    told = fabula("order", noise, "--collection", "3", "--model", out, "--json").json
    assert any("knows no more of an order than chance" in note for note in told["notes"])
    assert any("treat this as a guess" in note for note in told["notes"])
    fair = write(tmp_path / "fair.csv", rise=0.8)
    done = fabula("train", fair, *TINY, "--features", "x,y", "--epochs", "25", "--set", "learning_rate=0.03", "-o", out)
    assert done.code == 0, done.err
    sure = fabula("order", fair, "--collection", "3", "--model", out, "--json").json
    assert not any("chance" in note for note in sure["notes"])


def test_reproduce_takes_a_preset(fabula, albums, tmp_path):
    from fabula.research.workspace import make_plan

    assert make_plan(preset="paper").bits_config(("x",)).preset == "paper"
    assert make_plan(quick=True).preset == "arcs"
    done = fabula("reproduce", albums, "-o", tmp_path / "study", "--preset", "best")
    assert done.code == 2
    assert "there is no preset 'best'; there are: default, arcs, paper" in done.err


def test_evaluate_looks_for_leaks_where_there_are_more_collections_than_are_held_out(fabula, tmp_path):
    rng = np.random.default_rng(3)
    lines = ["collection_id,position,split,turn"]
    for c in range(60):
        begin = int(rng.integers(3))
        lines += [f"{c},{j},{'train' if c < 54 else 'validation'},{(begin + j) % 3}" for j in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    notes = fabula("evaluate", tmp_path / "t.csv", "--by", "turn", "--json").json["notes"]
    assert any(note.startswith("LEAK: column 'turn': the items before tell its values") for note in notes)
