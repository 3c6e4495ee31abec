import pytest

from fabula.errors import ModelError
from fabula.models.file import tensor_shapes
from fabula.models.scorers import dtype_of
from fabula.models.scorers.bilstm import lstm_shapes

MLP = {"kind": "mlp", "widths": [8], "activation": "relu"}
BILSTM = {"kind": "bilstm", "hidden": 4, "layers": 1, "channels": 2, "readout": "mean"}
ARCS = {"kind": "arcs", "k": 2, "knots": 7}


def config(encoder=MLP, scorers=(), dimensions=2):
    return {"dimensions": dimensions, "encoder": encoder, "scorers": list(scorers)}


def test_lstm_shapes_are_torchs():
    torch = pytest.importorskip("torch")
    lstm = torch.nn.LSTM(3, 8, 2, bidirectional=True)
    theirs = {f"x.{name}": tuple(tensor.shape) for name, tensor in lstm.state_dict().items()}
    assert lstm_shapes("x", 3, 8, 2) == theirs


def test_shapes_of_an_mlp_with_scorers():
    shapes = tensor_shapes(config(MLP | {"layernorm": True, "skip": True}, [BILSTM, ARCS]), (5,))
    assert shapes["transform.mean"] == (5,)
    assert shapes["encoder.0.weight"] == (8, 5)
    assert shapes["encoder.1.weight"] == (2, 8)
    assert shapes["encoder.0.norm.bias"] == (8,)
    assert "encoder.1.norm.bias" not in shapes
    assert shapes["encoder.skip.weight"] == (2, 5)
    assert shapes["bilstm.out.weight"] == (1, 8)
    assert shapes["arcs.values"] == (2, 7, 2)


def test_dtypes():
    assert dtype_of("encoder.0.weight") == "float32"
    assert dtype_of("transform.mean") == "float64"
    assert dtype_of("arcs.knots") == "float64"
    assert dtype_of("arcs.values") == "float32"


@pytest.mark.parametrize(
    ("broken", "item_shape", "message"),
    [
        (config(dimensions=0), (5,), '"dimensions" must be a whole number'),
        (config(dimensions=True), (5,), '"dimensions" must be a whole number'),
        (
            config({"kind": "cnn"}),
            (5,),
            "kind must be one of 'mlp', 'bilstm', 'identity', 'set', 'measures'; got 'cnn'",
        ),
        (config({"kind": ["mlp"]}), (5,), r"an encoder's kind must be one of .*; got \['mlp'\]"),
        (config("mlp"), (5,), '"encoder" must say'),
        (config(MLP | {"widths": [0]}), (5,), '"widths"'),
        (config(MLP | {"widths": None}), (5,), '"widths"'),
        (config(MLP | {"activation": "gelu"}), (5,), "\"activation\" must be one of gelu_tanh, relu, tanh; got 'gelu'"),
        (config(MLP | {"skip": 1}), (5,), '"skip" must be true or false'),
        (config(), (5, 7), "needs features with 1 axes"),
        (config({"kind": "bilstm", "hidden": 4, "layers": 1}), (5,), "needs features with 2 axes"),
        (config({"kind": "bilstm", "hidden": 4}), (5, 7), '"layers"'),
        (config({"kind": "identity"}), (5,), "as many dimensions as features; got 2 and 5"),
        (config() | {"scorers": {}}, (5,), '"scorers" must be a list'),
        (config(scorers=["arcs"]), (5,), '"scorers" must say'),
        (config(scorers=[{"kind": "gru"}]), (5,), "kind must be one of 'arcs', 'bilstm', 'flow', 'reach'; got 'gru'"),
        (config(scorers=[ARCS, ARCS]), (5,), "each kind at most once; got 'arcs' twice"),
        (config(scorers=[BILSTM | {"channels": 3}]), (5,), '"channels" must be 2; got 3'),
        (config(scorers=[BILSTM | {"positions": True}]), (5,), '"channels" must be 4; got 2'),
        (config(scorers=[BILSTM | {"readout": "max"}]), (5,), '"readout"'),
        (config(scorers=[ARCS | {"k": 1.5}]), (5,), '"k" must be a whole number'),
    ],
)
def test_refuses(broken, item_shape, message):
    with pytest.raises(ModelError, match=message):
        tensor_shapes(broken, item_shape)
