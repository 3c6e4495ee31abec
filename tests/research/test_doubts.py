"""Bits of every model alike, and of which input too many of them come."""

import json
from dataclasses import replace

import numpy as np
import pytest

import fabula
from fabula import Collection, Item
from fabula.errors import InputError
from fabula.evaluation.controls import divide
from fabula.evaluation.information import info_nce_bits, makers
from fabula.media.medium import find_evidence
from fabula.media.registry import measure_if_held
from fabula.models.model import load_model
from fabula.research.recovery import doubt_bits, mutual_information
from fabula.research.splits import split_collections

torch = pytest.importorskip("torch")
WORDS = ("river", "house", "storm", "Anna", "letter", "bread", "night", "garden", "Paul", "harbour", "winter", "song",
         "door", "road", "fire")  # fmt: skip


def book(number: int, n: int = 6) -> Collection:
    """Chapters whose words drift."""
    rng = np.random.default_rng(number)
    texts = [" ".join(rng.choice(WORDS[k : k + 9], 60)) + f". {WORDS[k]} came." for k in range(n)]
    return Collection(f"b{number}", [Item(f"{number}-{k}", details={"text": text}) for k, text in enumerate(texts)])


def albums(count: int, *, leak: bool, seed: int = 0) -> list[Collection]:
    """Two columns of noise, of which one may hold the position."""
    rng = np.random.default_rng(seed)
    items = [Item(str(j)) for j in range(8)]
    rows = [rng.normal(size=(8, 2)) + [[0.0, 3.0 * leak * j] for j in range(8)] for _ in range(count)]
    return [Collection(f"{seed}-{i}", items, row, ("energy", "clock")) for i, row in enumerate(rows)]


@pytest.mark.slow
def test_a_model_of_texts_is_measured_as_by_hand():
    model, books = load_model("prose"), [book(number) for number in range(3)]
    found = mutual_information(model, books, negatives=7, draws=200)
    by_hand = []
    for one in books:
        measured, medium = measure_if_held(one)
        energy = model.energy(measured, evidence=find_evidence(measured, medium))
        others = np.stack([np.random.default_rng(k).permutation(6) for k in range(1400)])
        truth, scores = np.asarray(energy.score(np.arange(6)[np.newaxis])), np.asarray(energy.score(others))
        by_hand.append(info_nce_bits(truth, scores.reshape(1, 200, 7)).mean())
    assert found.bits == pytest.approx(np.mean(by_hand), abs=0.05)
    assert fabula.mutual_information is mutual_information
    with pytest.raises(InputError, match="all it sees at once"):
        mutual_information(model, books, scorer="arcs")


@pytest.mark.slow
def test_too_many_bits_are_doubted_and_their_input_is_named():
    known, others = albums(60, leak=True), albums(40, leak=True, seed=1)
    done = fabula.train((known, others), fabula.training.preset("arcs", epochs=10, features=("energy", "clock")))
    [note] = [note for note in done.notes if note.startswith("SUSPICIOUS")]
    assert "without clock" in note.partition(";")[2].partition(",")[0]
    few = done.information["arcs"]
    assert doubt_bits(done.model, others, {"arcs": replace(few, bits=few.ceiling / 2)}) == ()
    below = "it knows less than nothing of the order here (-0.31 bits): do not order by it"
    assert doubt_bits(done.model, others, {"arcs": replace(few, bits=-0.31)}) == (below,)


@pytest.mark.slow
def test_few_collections_learn_what_a_line_can():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(130, 6, 2)) + np.stack([np.linspace(0, 3, 6), np.zeros(6)], axis=1)
    items = [Item(str(j)) for j in range(6)]
    made = [Collection(f"c{i}", items, row, ["energy", "tempo"]) for i, row in enumerate(rows)]
    done = fabula.train((made[:30], made[30:]), "arcs")
    assert (done.settings["batch"], done.settings["widths"]) == (16, [])
    assert done.information["arcs"].bits > 1.0  # 0.55 by batches of 256
    assert fabula.train((made[:30], made[30:]), "arcs", batch=8, epochs=1).settings["batch"] == 8


def test_makers_are_one_however_spelt_and_stay_on_one_side():
    spelt = ["The Jay-Z Band", "JAY Z band", "Björk", "bjork", *(f"Artist {k}" for k in range(30))]
    some = [Collection(str(i), [Item("a", artist=name), Item("b", artist=name)]) for i, name in enumerate(spelt)]
    assert len(set(makers(some))) == 32
    for share in (0.1, 0.3, 0.5):
        sides = [{c.maker for c in side} for side in divide(some, share)]
        split = split_collections(some, held_out=share)
        assert not sides[0] & sides[1]
        assert not {c.maker for c in split.training} & {c.maker for c in split.held_out}


@pytest.mark.parametrize(("count", "held"), [(2, 1), (4, 2), (10, 5), (30, 5)])
def test_of_few_collections_some_are_held_out(count, held):
    some = [Collection(f"c{i}", [Item("a"), Item("b")]) for i in range(count)]
    assert len(split_collections(some).held_out) >= held


def test_an_owner_is_a_maker(tmp_path):
    path = tmp_path / "pictures.csv"
    path.write_text("collection_id,position,owner,brightness\na,1,Ann,0.1\na,2,Ann,0.2\nb,1,ann,0.3\nb,2,ann,0.1\n")
    assert set(makers(fabula.read_table(path))) == {"ann"}


@pytest.mark.slow
def test_what_training_told_is_plain_values():
    done = fabula.train((albums(30, leak=False), albums(20, leak=False, seed=1)), "arcs", epochs=2)
    told = json.loads(json.dumps(done.to_dict()))
    assert (told["trained_on"], told["held_out"]) == (30, 20)
    assert told["bits"]["arcs"]["bits"] == done.information["arcs"].bits
