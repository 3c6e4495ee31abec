"""A new kind of scorer is one entry in the registry: loading, scoring, ordering and measuring take it from there.

One that reads sequences of essence serves the models that encode each item by itself; one that gives tables serves
every kind of model, music, text and pictures alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from fabula.core.collection import Collection, Evidence, Item
from fabula.core.collections import Collections
from fabula.core.energy import Energy
from fabula.errors import ModelError
from fabula.evaluation.information import mutual_information
from fabula.models.config import ScorerKind, as_whole
from fabula.models.model import Model, load_model, save_model
from fabula.models.order import search_orderings
from fabula.models.scorers import SCORERS, most_detailed
from fabula.models.transform import Transform


@dataclass
class Steps:
    """How much the first dimension rises from item to item, by a weight for each of the first steps."""

    weights: np.ndarray

    def score(self, sequences):
        steps = np.diff(sequences[:, :, 0], axis=1)[:, : len(self.weights)]
        return np.tanh(steps) @ self.weights[: steps.shape[1]].astype(np.float64)

    def order(self, essence, *, alternatives=4, fixed: Mapping[int, int] | None = None):
        return search_orderings(self.score, essence, alternatives=alternatives, fixed=fixed)


STEPS = ScorerKind(
    shapes=lambda settings, d: {"steps.weights": (as_whole(settings, "count", "the steps scorer"),)},
    load=lambda tensors, settings: Steps(tensors["steps.weights"]),
    detail=2,
)
CONFIG = {
    "dimensions": 1,
    "encoder": {"kind": "identity"},
    "scorers": [{"kind": "steps", "count": 3}, {"kind": "arcs", "k": 1, "knots": 2}],
}
TENSORS = {"steps.weights": [1.0, 1.0, 1.0], "arcs.values": [[[-1], [1]]], "arcs.weights": [0], "arcs.knots": [0, 1]}
TRANSFORM = Transform(("energy",), (), [0.0], [1.0])


@pytest.fixture
def steps(monkeypatch):
    monkeypatch.setitem(SCORERS, "steps", STEPS)


def test_it_loads_scores_orders_and_measures(steps, tmp_path):
    path = save_model(tmp_path / "m.safetensors", Model(CONFIG, TENSORS, TRANSFORM))
    model = load_model(path)
    assert model.scorers == ("steps", "arcs")
    assert model.score([[0.0], [1.0]], "steps") == pytest.approx(np.tanh(1.0))
    assert model.score([[0.0], [1.0]]) == model.score([[0.0], [1.0]], "arcs")  # the exact one orders
    assert model.most_detailed == "steps"
    rising = Collection("c", [Item("a"), Item("b"), Item("c")], [[1.0], [2.0], [3.0]], ["energy"])
    asked = []
    model._scorers["steps"].score = lambda sequences: asked.append(len(sequences)) or sequences[:, -1, 0]
    mutual_information(model, [rising] * 3, negatives=3, draws=1)
    assert asked


def test_alone_it_orders_by_a_search(steps):
    config = CONFIG | {"scorers": CONFIG["scorers"][:1]}
    model = Model(config, {"steps.weights": TENSORS["steps.weights"]}, TRANSFORM)
    [fit] = model.order([[3.0], [1.0], [2.0], [4.0]], alternatives=1)
    assert fit.ordering.tolist() == [1, 2, 0, 3]
    assert not fit.exact


def test_where_it_is_not_known_the_error_names_those_that_are():
    with pytest.raises(ModelError, match="kind must be one of 'arcs', 'bilstm', 'flow', 'reach'; got 'steps'"):
        Model(CONFIG, TENSORS, TRANSFORM)


def test_the_most_detailed():
    assert most_detailed(("arcs", "bilstm")) == "bilstm"
    assert most_detailed(("arcs",)) == "arcs"
    assert most_detailed(()) is None


class Ends:
    """How much an item likes to stand at either end, by a weight for each dimension of its essence."""

    def __init__(self, weights):
        self.weights = weights

    def energy(self, x):
        def of_count(m):
            ends = np.zeros(m)
            ends[[0, -1]] = 1.0
            return np.asarray((x.essence @ self.weights)[..., np.newaxis] * ends, dtype=np.float64)

        return Energy(of_count(x.essence.shape[1]), of_count=of_count)


ENDS = ScorerKind(
    shapes=lambda settings, d: {"ends.weights": (d,)},
    load=lambda tensors, settings: Ends(tensors["ends.weights"]),
    tables=True,
)


@pytest.mark.parametrize("name", ["music", "prose", "poems", "pictures", "albums"])
def test_one_file_and_one_line_serve_music_text_and_pictures_at_once(name, monkeypatch, tmp_path, rng):
    monkeypatch.setitem(SCORERS, "ends", ENDS)
    plain = load_model(name)
    config = plain.config | {"scorers": [*plain.config["scorers"], {"kind": "ends"}]}
    weights = rng.normal(size=plain.dimensions)
    inputs = plain.transform if plain.by_item else getattr(plain.encoder, "vocabulary", None)
    path = Model(config, {**plain.tensors, "ends.weights": weights}, inputs).save(tmp_path / "m.safetensors")
    model = load_model(path)
    assert model.scorers == (*plain.scorers, "ends")
    n = 6
    names = model.feature_names
    items = [Item(str(i), f"Song {i}") for i in range(n)]
    collection = Collection("c", items, np.exp(rng.normal(size=(n, len(names)))), names)
    pairs = getattr(model.encoder, "pair_names", ())
    evidence = Evidence({pair: rng.normal(size=(n, n)) for pair in pairs}) if pairs else None
    orders = np.stack([rng.permutation(n) for _ in range(4)])
    both, old, own = (
        np.asarray(one.score(collection, orders, evidence=evidence, **how))
        for one, how in ((model, {}), (plain, {}), (model, {"scorer": "ends"}))
    )
    np.testing.assert_allclose(both, old + own, rtol=1e-5, atol=1e-5)
    assert sorted(model.order(collection, 1, evidence=evidence)[0].ordering) == list(range(n))
    if not model.by_item:
        x = next(model.encoder.encode(Collections.of([collection], names), [evidence] if pairs else None))[1]
        liked = (x.essence[0] @ model.tensors["ends.weights"]).astype(np.float64)
        np.testing.assert_allclose(own, liked[orders[:, 0]] + liked[orders[:, -1]], rtol=1e-4, atol=1e-5)
