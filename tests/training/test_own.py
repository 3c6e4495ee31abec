"""An encoder and a scorer of one's own: trained, saved, loaded, ordered with; net and twin say the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import fabula
from fabula.core.collection import Collection, Item
from fabula.errors import InputError, ModelError
from fabula.evaluation.controls import Parts
from fabula.models.encoders import ENCODERS
from fabula.models.model import save_model
from fabula.models.own import OWN_ENCODERS, OWN_SCORERS, Encoder, Scorer, register
from fabula.models.scorers import SCORERS
from fabula.training.item_models import EssenceTraining, export_onnx
from fabula.training.recipes import preset


class Gated(nn.Module):
    def __init__(self, item_shape, d):
        super().__init__()
        self.value, self.gate = nn.Linear(item_shape[0], d), nn.Linear(item_shape[0], d)

    def forward(self, items):
        return torch.tanh(self.value(items)) * torch.sigmoid(self.gate(items))


def gated(weights, items):
    value = items @ weights["value.weight"].T + weights["value.bias"]
    gate = items @ weights["gate.weight"].T + weights["gate.bias"]
    return np.tanh(value) / (1 + np.exp(-gate))


class Climb(nn.Module):
    """How much it rises from neighbour to neighbour, steps bounded, by a weight per dimension."""

    def __init__(self, d):
        super().__init__()
        self.slope = nn.Parameter(torch.zeros(d))

    def forward(self, sequences):
        return torch.tanh(sequences.diff(dim=1)).sum(1) @ self.slope


def climb(weights, sequences):
    return np.tanh(np.diff(sequences, axis=1)).sum(1) @ weights["slope"]


GATED = Encoder("gated", net=Gated, encode=gated)
CLIMB = Scorer("climb", net=Climb, score=climb)


@pytest.fixture(autouse=True)
def _forgotten():
    """What a test registers is gone after it."""
    kept = [dict(each) for each in (ENCODERS, SCORERS, OWN_ENCODERS, OWN_SCORERS)]
    yield
    for each, before in zip((ENCODERS, SCORERS, OWN_ENCODERS, OWN_SCORERS), kept, strict=True):
        each.clear()
        each.update(before)


def falling(rng, count=60, n=6):
    """Collections whose loudness falls: the essence will be turned so that it rises with loudness."""
    names = ["loudness", "noise"]
    made = []
    for i in range(count):
        rows = np.column_stack([np.sort(rng.normal(size=n))[::-1], rng.normal(size=n)])
        made.append(Collection(str(i), [Item(str(j)) for j in range(n)], rows, names))
    return made


def trained(rng, **changes):
    register(GATED, CLIMB)
    data = falling(rng)
    config = preset("arcs", encoder="gated", scorers=("climb",), epochs=30, learning_rate=0.05, **changes)
    return EssenceTraining(Parts(data[:48], data[48:]), config, "cpu").train(), data[48:]


@pytest.mark.parametrize("dimensions", [1, 2])
def test_end_to_end(rng, tmp_path, dimensions):
    done, others = trained(rng, dimensions=dimensions)
    assert done.information["climb"].bits > 1
    model = fabula.load_model(save_model(tmp_path / "own.safetensors", done.model))
    assert model.scorers == ("climb",)
    info = fabula.mutual_information(model, others)
    assert info.bits == pytest.approx(done.information["climb"].bits, abs=1e-5)  # torch there, the twin here
    mixed = others[0].reordered([3, 1, 5, 0, 2, 4])
    ordering = model.order(mixed, alternatives=1)[0].ordering
    assert fabula.evaluate([np.array([3, 1, 5, 0, 2, 4])[ordering]]).spearman > 0.8
    loudness = others[0].column("loudness")
    if dimensions == 1:
        assert np.corrcoef(model.encode(others[0])[:, 0], loudness)[0, 1] > 0  # oriented, and the scores stay


def test_the_twin_equals_the_net_within_1e_5(rng):
    """The weights of the file, put back into PyTorch by hand, give what the model gives."""
    done, others = trained(rng)
    model, tensors = done.model, done.model.tensors
    net, judge = Gated((2,), 1), Climb(1)
    for module, prefix in ((net, "encoder.net."), (judge, "climb.net.")):
        module.load_state_dict(
            {n.removeprefix(prefix): torch.tensor(t) for n, t in tensors.items() if n.startswith(prefix)}
        )
    rows = torch.tensor(model.transform.apply(others[0].columns(model.feature_names)), dtype=torch.float32)
    with torch.no_grad():
        raw = net(rows) * torch.tensor(tensors["encoder.signs"])
        essence = (raw - raw.mean(0)) / raw.std(0, unbiased=False)
        score = judge((essence * torch.tensor(tensors["climb.signs"]))[None]) * torch.tensor(tensors["climb.scale"])
    np.testing.assert_allclose(model.encode(others[0]), essence.numpy(), atol=1e-5)
    assert model.score(model.encode(others[0])) == pytest.approx(score.item(), abs=1e-5)


def test_its_onnx_form_says_the_same(rng, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    done, others = trained(rng)
    session = onnxruntime.InferenceSession(export_onnx(done.model, tmp_path / "own.onnx"))
    features = others[0].columns(done.model.feature_names).astype(np.float32)
    [essence] = session.run(None, {"features": features})
    np.testing.assert_allclose(essence, done.model.encode(features), atol=1e-5)


def test_a_twin_that_differs_is_refused_before_training(rng):
    register(GATED, Scorer("climb", net=Climb, score=lambda weights, s: climb(weights, s) + 0.1))
    data = falling(rng, 8)
    config = preset("arcs", encoder="gated", scorers=("climb",), epochs=10**6)
    with pytest.raises(InputError, match=r"scorer 'climb', 2 items: its net and its twin differ by 0\.1"):
        EssenceTraining(Parts(data[:6], data[6:]), config).train()


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Encoder("bad", net=lambda shape, d: nn.Linear(shape[0], d + 1), encode=gated), r"must give shape \(7, 1\)"),
        (Encoder("bad", net=lambda shape, d: 3, encode=gated), "must be a torch.nn.Module; got int"),
    ],
)
def test_a_net_of_another_shape_is_refused(rng, part, words):
    register(part)
    data = falling(rng, 8)
    with pytest.raises(InputError, match=words):
        EssenceTraining(Parts(data[:6], data[6:]), preset("arcs", encoder="bad", epochs=1)).train()


def test_where_it_is_not_registered_the_error_names_it(rng, tmp_path):
    done, _ = trained(rng)
    path = save_model(tmp_path / "own.safetensors", done.model)
    for each in (ENCODERS, OWN_ENCODERS):
        del each["gated"]
    with pytest.raises(ModelError, match=r"got 'gated'.*register"):
        fabula.load_model(path)


def test_names_of_its_own_kind_are_refused():
    for name in ("mlp", "auto", "Bad Name", ""):
        with pytest.raises(InputError, match="the name of an encoder"):
            Encoder(name, net=Gated, encode=gated)
