"""A third kind of scorer that is trained: one entry in each of the two registries."""

import numpy as np
import pytest
import torch

from fabula.errors import InputError
from fabula.evaluation.controls import Parts
from fabula.models.config import ScorerKind
from fabula.models.model import load_model, save_model
from fabula.models.order import search_orderings
from fabula.models.scorers import SCORERS as MODEL_SCORERS
from fabula.training.item_models import EssenceTraining
from fabula.training.nets.essence_net import SCORERS, EssenceNet, ScorerNet, TrainableScorer
from fabula.training.recipes import TrainingConfig, resolve


class Slope:
    def __init__(self, tensors, settings):
        self.weight = tensors["slope.weight"].astype(np.float64)

    def score(self, sequences):
        return np.linspace(-1, 1, sequences.shape[1]) @ (sequences @ self.weight).T

    def order(self, essence, *, alternatives=4, fixed=None):
        return search_orderings(self.score, essence, alternatives=alternatives, fixed=fixed)


class SlopeNet(ScorerNet):
    def __init__(self, config):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(config.dimensions))

    def forward(self, sequences):
        u = torch.linspace(-1, 1, sequences.shape[2], dtype=sequences.dtype)
        return torch.einsum("bNnd,n,d->bN", sequences, u, self.weight)

    def certainty(self):
        return [self.weight]


def flip(weights, signs):
    weights["slope.weight"] = weights["slope.weight"] * signs


KIND = ScorerKind(lambda settings, d: {"slope.weight": (d,)}, Slope)


@pytest.mark.slow
def test_it_is_trained_written_and_read(monkeypatch, tmp_path, make):
    monkeypatch.setitem(MODEL_SCORERS, "slope", KIND)
    monkeypatch.setitem(SCORERS, "slope", TrainableScorer(SlopeNet, lambda config: {"kind": "slope"}, flip))
    collections = make(60)
    config = TrainingConfig(scorers=("slope", "bilstm"), scorer_hidden=4, widths=(8,), epochs=15, learning_rate=0.03)
    assert config.scorer_weights == (0.5, 1.0)
    done = EssenceTraining(Parts(collections[:40], collections[40:]), config, "cpu").train()
    assert done.information["slope"].low > 0.5
    model = load_model(save_model(tmp_path / "m.safetensors", done.model))
    assert model.scorers == ("slope", "bilstm")
    essence = model.encode(collections[50])
    assert model.score(essence, "slope") > model.score(essence[::-1], "slope")


def test_one_that_is_not_trainable_is_named(monkeypatch):
    monkeypatch.setitem(MODEL_SCORERS, "slope", KIND)
    config = resolve(TrainingConfig(scorers=("slope",)), (3,))
    with pytest.raises(InputError, match="no scorer of kind 'slope' can be trained; there are: arcs, bilstm"):
        EssenceNet(config, (3,))
