"""Evaluating a step model: what it proposes, its bits, and what it was trained on."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from benchmarks import recover_texts
from fabula.errors import InputError
from fabula.media.extraction import Measuring
from fabula.media.registry import measure_if_held
from fabula.models.model import load_model
from fabula.research import recovery
from fabula.research.evaluate import EvaluationRequest, evaluate_table
from fabula.research.splits import Recipe, read_split
from fabula.research.train import train_recipe
from fabula.session.session import source_session
from fabula.sources.registry import Source


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """A table of eight books in which who is spoken of changes from part to part; half of them to train on."""
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("books") / "books.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["collection_id", "position", "author", "split", "text"])
        for book in range(8):
            for number in range(7):
                people = [f"Name{chr(97 + number + k)}{chr(97 + book)}" for k in range(3)]
                lines = [f"Then {who} saw {rng.choice(people)}, {'far ' * rng.integers(9)}off." for who in 4 * people]
                split = "train" if book < 4 else "validation"
                rows.writerow([f"b{book}", number, f"author {book}", split, " ".join(lines)])
    return path


@pytest.mark.slow
def test_a_step_model_is_evaluated_and_knows_what_it_was_trained_on(books, tmp_path):
    out = tmp_path / "mine.safetensors"
    train_recipe(Recipe(books, changes={"steps": 8, "batch": 8}, kind="steps"), out)
    fresh = evaluate_table(EvaluationRequest(books, model=str(out)))
    assert not [note for note in fresh.notes if "LEAK" in note]
    proposed = next(row for row in fresh.rows if row.method == "proposed order")
    assert proposed.n == 4
    assert fresh.bits["arcs + flow + reach"].collections == 4
    seen = evaluate_table(EvaluationRequest(books, model=str(out), split="train"))
    assert [
        note for note in seen.notes if note.startswith("LEAK: the model") and note.endswith("of these 4 collections")
    ]


def test_only_what_is_measured_on_is_read(books, monkeypatch):
    split = read_split(books)
    read: list[str] = []
    monkeypatch.setattr(recovery, "measure_if_held", lambda c: read.append(c.id) or measure_if_held(c))
    found = recovery.measure_split(split, training=False)
    assert read == [c.id for c in split.held_out]
    assert found.training is split.training
    assert all("words" in c.feature_names for c in found.held_out)
    both = recovery.measure_split(split)
    assert all("words" in c.feature_names for c in (*both.training, *both.held_out))
    alone = recovery.measure_split(read_split(books, side="train"), training=False)  # both sides are the same there
    assert alone.training is alone.held_out


def test_what_cannot_be_looked_at_is_told(tmp_path):
    path = tmp_path / "numbers.csv"
    rows = [f"c{c},{k},{c * k}\n" for c in range(4) for k in range(6)]
    path.write_text("collection_id,position,energy\n" + "".join(rows))
    with pytest.raises(InputError, match="items that can be looked at"):
        evaluate_table(EvaluationRequest(path, model="prose"))


@pytest.mark.slow
def test_evaluate_and_the_benchmark_of_texts_and_an_order_agree(books):
    """One proposal of one shuffle, whoever asks: `evaluate`, `recover_texts` and a session."""
    [proposed] = [
        row for row in evaluate_table(EvaluationRequest(books, model="prose")).rows if row.method == "proposed order"
    ]
    model, held_out = load_model("prose"), read_split(books).held_out
    parts = recover_texts.parts_of(held_out, 0, 0)
    told = dict(recover_texts.measured(parts, recover_texts.WHOLE, model, compare=False))["whole books"]
    for name in ("spearman", "first", "last"):
        one = proposed.metrics[name]
        assert told[name] == {"mean": one.mean, "low": one.low, "high": one.high}
    orders = recovery.step_orderings(model, parts)[recovery.PROPOSED]
    for number, (part, order) in enumerate(zip(held_out, orders, strict=True)):
        [mixed], [shown] = recovery.shuffle_all([part], np.random.default_rng(number))
        source = Source(Path("book"), *measure_if_held(shown))
        session = source_session(source, Measuring(), model="prose")
        assert mixed[session.order(alternatives=1).ordering].tolist() == order.tolist()
    windows = recover_texts.parts_of(held_out, 3, 0)
    assert [len(each) for each in windows] == [3] * 8
