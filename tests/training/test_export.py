import numpy as np
import pytest
import torch

from fabula.core.arrays import normalise
from fabula.models.model import load_model, save_model
from fabula.models.transform import Transform
from fabula.training.item_models import build_model, essence_signs, export_onnx
from fabula.training.nets.essence_net import EssenceNet
from fabula.training.recipes import TrainingConfig, resolve

KINDS = [
    ({}, (3,)),
    ({"dimensions": 4, "widths": (), "scorers": ("arcs",)}, (3,)),
    ({"dimensions": 2, "layernorm": True, "skip": True, "activation": "relu"}, (3,)),
    ({"encoder": "identity"}, (3,)),
    ({"dimensions": 2, "encoder_hidden": 6}, (3, 4)),
    ({"scorer_positions": True, "readout": "mean", "scorers": ("bilstm",)}, (3,)),
]
NAMES = ("duration_ms", "loudness", "tempo")


def trained(changes, shape) -> tuple[EssenceNet, TrainingConfig, Transform]:
    torch.manual_seed(1)
    config = resolve(TrainingConfig(**{"widths": (8, 5), "scorer_hidden": 6, **changes}), shape)
    net = EssenceNet(config, shape)
    for parameter in net.parameters():  # output layers start from zero
        parameter.data.copy_(torch.randn_like(parameter) * 0.4)
    rng = np.random.default_rng(0)
    transform = Transform(NAMES, ("duration_ms",), rng.normal(size=shape), rng.uniform(0.5, 2, size=shape))
    return net.double().eval(), config, transform  # doubles, as the model encodes


def essence_by_torch(net: EssenceNet, transform: Transform, features: np.ndarray) -> torch.Tensor:
    with torch.no_grad():
        return net.encode(torch.tensor(transform.apply(features)).unsqueeze(0))[0]


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize(("changes", "shape"), KINDS)
def test_the_model_says_what_the_net_says(changes, shape, flipped, tmp_path):
    """Through the file, and with the essence turned upside down: then it is negated and every score stays."""
    net, config, transform = trained(changes, shape)
    signs = np.where(np.arange(config.dimensions) % 2 == 0, -1.0, 1.0) if flipped else np.ones(config.dimensions)
    model = build_model(net.state_dict(), config, transform, signs=signs.astype(np.float32))
    model = load_model(save_model(tmp_path / "m.safetensors", model))
    kept = np.ones(config.dimensions) if config.encoder == "identity" else signs
    for n in (2, 9):
        features = np.exp(np.random.default_rng(n).normal(size=(n, *shape)))
        essence = essence_by_torch(net, transform, features)
        assert model.encode(features) == pytest.approx(essence.numpy() * kept, abs=1e-5)
        with torch.no_grad():
            scores = net.score(essence.unsqueeze(0), torch.arange(n).view(1, 1, n))
        for name in config.scorers:
            assert model.score(essence.numpy() * kept, name) == pytest.approx(scores[name].item(), abs=1e-5)


def test_equal_items_have_no_essence_in_both(tmp_path):
    net, config, transform = trained({}, (3,))
    features = np.full((5, 3), 2.0)
    assert (build_model(net.state_dict(), config, transform).encode(features) == 0).all()
    assert (essence_by_torch(net, transform, features) == 0).all()


def test_the_essence_is_oriented_by_loudness(make):
    collections = make(30)
    falling = [normalise(np.stack([-c.column("loudness"), c.column("loudness")], axis=1)) for c in collections]
    assert essence_signs(falling, collections).tolist() == [-1, 1]
    collections[0].features[0, 1] = np.nan
    assert essence_signs(falling, collections).tolist() == [-1, 1]
    silent = make(30, names=("energy", "tempo"))
    assert essence_signs(falling, silent).tolist() == [1, 1]


@pytest.mark.parametrize(("changes", "shape"), [KINDS[i] for i in (0, 2, 3, 4)])
def test_onnx_encodes_as_the_model_does(changes, shape, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    net, config, transform = trained(changes, shape)
    model = build_model(net.state_dict(), config, transform)
    path = export_onnx(model, tmp_path / "encoder.onnx")
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for n in (2, 9):
        features = np.exp(np.random.default_rng(n).normal(size=(n, *shape))).astype(np.float32)
        features[0, 1] = np.nan
        (essence,) = session.run(["essence"], {"features": features})
        assert essence == pytest.approx(model.encode(features), abs=1e-4)
