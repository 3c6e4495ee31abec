"""Every forward pass against torch."""

import numpy as np
import pytest

from fabula.models.encoders.bilstm import encode_bilstm
from fabula.models.encoders.mlp import encode_mlp
from fabula.models.scorers.bilstm import BilstmScorer

torch = pytest.importorskip("torch")
nn = torch.nn

ACTIVATIONS = {"gelu_tanh": nn.GELU(approximate="tanh"), "relu": nn.ReLU(), "tanh": nn.Tanh()}


def doubled(tensors):
    return {name: tensor.astype(np.float64) for name, tensor in tensors.items()}


def as_torch(array):
    return torch.from_numpy(np.array(array, dtype=np.float32))


def torch_lstm(tensors, prefix, channels, hidden, layers):
    lstm = nn.LSTM(channels, hidden, layers, bidirectional=True, batch_first=True)
    cut = len(prefix) + 1
    lstm.load_state_dict({k[cut:]: as_torch(v) for k, v in tensors.items() if k.startswith(prefix + ".")})
    return lstm


def torch_mlp(tensors, x, config):
    hidden = start = as_torch(x)
    last = len(config["widths"])
    for i in range(last + 1):
        weight, bias = as_torch(tensors[f"encoder.{i}.weight"]), as_torch(tensors[f"encoder.{i}.bias"])
        hidden = nn.functional.linear(hidden, weight, bias)
        if i < last and config.get("layernorm"):
            norm = (as_torch(tensors[f"encoder.{i}.norm.{end}"]) for end in ("weight", "bias"))
            hidden = nn.functional.layer_norm(hidden, hidden.shape[1:], *norm)
        if i < last:
            hidden = ACTIVATIONS[config["activation"]](hidden)
    if config.get("skip"):
        hidden = hidden + nn.functional.linear(start, as_torch(tensors["encoder.skip.weight"]))
    return hidden.numpy()


@pytest.mark.parametrize("d", [1, 4, 16])
@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("extra", [{}, {"layernorm": True}, {"skip": True, "layernorm": True}])
def test_mlp_is_torchs(random_tensors, d, activation, extra):
    encoder = {"kind": "mlp", "widths": [32, 24], "activation": activation, **extra}
    tensors = random_tensors({"dimensions": d, "encoder": encoder, "scorers": []}, (12,))
    x = np.random.default_rng(1).normal(size=(1100, 12)) * 2  # more than one block
    ours = encode_mlp(doubled(tensors), x, encoder)
    assert ours.shape == (1100, d)
    assert np.abs(ours - torch_mlp(tensors, x, encoder)).max() < 1e-5


@pytest.mark.parametrize(("d", "layers", "hidden"), [(1, 2, 128), (4, 1, 8), (16, 2, 16)])
def test_bilstm_encoder_is_torchs(random_tensors, d, layers, hidden):
    encoder = {"kind": "bilstm", "hidden": hidden, "layers": layers}
    tensors = random_tensors({"dimensions": d, "encoder": encoder, "scorers": []}, (75, 7))
    x = np.random.default_rng(1).normal(size=(9, 75, 7))
    lstm = torch_lstm(tensors, "encoder.lstm", 7, hidden, layers)
    states = tuple(as_torch(tensors[f"encoder.{s}0"])[:, None].repeat(1, 9, 1) for s in "hc")
    with torch.no_grad():
        out, _ = lstm(as_torch(x), states)
        ends = torch.cat([out[:, -1, :hidden], out[:, 0, hidden:]], dim=1)
        linear = nn.functional.linear(
            ends, as_torch(tensors["encoder.out.weight"]), as_torch(tensors["encoder.out.bias"])
        )
        theirs = torch.sigmoid(linear).numpy()
    assert np.abs(encode_bilstm(doubled(tensors), x, encoder) - theirs).max() < 1e-5


def torch_score(tensors, sequences, config):
    m, n = sequences.shape[:2]
    x = as_torch(sequences)
    if config.get("positions"):
        u = torch.linspace(0, 1, n) if n > 1 else torch.zeros(1)
        x = torch.cat([x, u[None, :, None].expand(m, n, 1), torch.full((m, n, 1), n / 20)], dim=2)
    start, end = (as_torch(tensors[f"bilstm.{token}"]).expand(m, 1, -1) for token in ("start", "end"))
    lstm = torch_lstm(tensors, "bilstm.lstm", x.shape[2], config["hidden"], config["layers"])
    with torch.no_grad():
        out, (last, _) = lstm(torch.cat([start, x, end], dim=1))
        read = out.mean(dim=1) if config["readout"] == "mean" else torch.cat([last[-2], last[-1]], dim=1)
        linear = nn.functional.linear(
            read, as_torch(tensors["bilstm.out.weight"]), as_torch(tensors["bilstm.out.bias"])
        )
    return linear[:, 0].numpy()


@pytest.mark.parametrize("d", [1, 4, 16])
@pytest.mark.parametrize("positions", [False, True])
@pytest.mark.parametrize("readout", ["ends", "mean"])
def test_bilstm_scorer_is_torchs(bilstm, d, positions, readout):
    scorer, tensors = bilstm(d, positions=positions, readout=readout)
    for m, n in ((300, 11), (1, 1), (5, 2)):
        sequences = np.random.default_rng(n).normal(size=(m, n, d))
        ours = BilstmScorer(tensors, scorer).score(sequences)
        assert ours.shape == (m,)
        assert np.abs(ours - torch_score(tensors, sequences, scorer)).max() < 1e-5
