"""A third kind of scorer is one entry in the registry: loading, scoring, ordering and measuring take it from there."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.errors import ModelError
from fabula.evaluation.information import mutual_information
from fabula.models.config import ScorerKind, as_whole
from fabula.models.file import load_model, save_model
from fabula.models.model import Model
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
