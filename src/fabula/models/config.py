"""What a model's configuration may say, and the tensors it then must have.

::

    {"dimensions": d,                          # of the essence
     "encoder": {"kind": "mlp",                # features (n, f)
                 "widths": [128, 128],         # of the hidden layers; the last layer, to d, is not listed
                 "activation": "gelu_tanh",    # or "relu", "tanh"
                 "layernorm": false,           # optional: after each hidden linear layer, before the activation
                 "skip": false},               # optional: adds a linear map from the input to the essence
     "scorers": [{"kind": "bilstm", "hidden": 32, "layers": 2,
                  "positions": false,          # true: channels u_j = j / (n - 1) and n / 20 beside the essence
                  "channels": d,               # d, or d + 2 with positions
                  "readout": "ends"},          # or "mean"
                 {"kind": "arcs", "k": 4, "knots": 7}]}

Other encoders: ``{"kind": "bilstm", "hidden": 128, "layers": 2}`` over features (n, f, s) read as f steps of s
channels (the paper's), and ``{"kind": "identity"}`` for one to d features taken as they are. Tensors, float32 if
not said otherwise, with c = channels, h = hidden, and LSTM gates in torch's order (i, f, g, o):

==================================================  =================================================================
``transform.mean``, ``transform.deviation``         float64, the shape of one item's features: (f,) or (f, s)
``encoder.{i}.weight``, ``encoder.{i}.bias``        mlp, layer i from 0: (out, in), (out,); the last has out = d
``encoder.{i}.norm.weight``, ``.norm.bias``         mlp with layernorm, hidden layers: (out,); epsilon 1e-5
``encoder.skip.weight``                             mlp with skip: (d, f)
``encoder.lstm.*``                                  bilstm: names and shapes of a bidirectional torch.nn.LSTM(s, h)
``encoder.h0``, ``encoder.c0``                      bilstm: (layers * 2, h), in torch's order of layers and directions
``encoder.out.weight``, ``encoder.out.bias``        bilstm: (d, 2 h), (d,); a sigmoid follows
``bilstm.start``, ``bilstm.end``                    (c,): tokens before the first and after the last item
``bilstm.lstm.*``                                   as of a bidirectional torch.nn.LSTM(c, h), from zero states
``bilstm.out.weight``, ``bilstm.out.bias``          (1, 2 h), (1,)
``arcs.values``, ``arcs.weights``                   (k, knots, d), (k,)
``arcs.knots``                                      float64, (knots,)
==================================================  =================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from fabula.errors import ModelError

Shape = tuple[int, ...]
ACTIVATIONS = ("gelu_tanh", "relu", "tanh")
READOUTS = ("ends", "mean")
_DOUBLE = ("transform.mean", "transform.deviation", "arcs.knots")


def dtype_of(name: str) -> str:
    """The dtype a tensor is stored in: float64 for what was measured exactly, float32 for weights."""
    return "float64" if name in _DOUBLE else "float32"


def tensor_shapes(config: Mapping[str, Any], item_shape: Shape) -> dict[str, Shape]:
    """Name and shape of every tensor that a model with this configuration has.

    Parameters
    ----------
    config
        As the module says.
    item_shape
        Shape of one item's features, (f,) or (f, s).

    Raises
    ------
    ModelError
        When the configuration breaks a rule.

    Examples
    --------
    >>> tensor_shapes({"dimensions": 2, "encoder": {"kind": "identity"}, "scorers": []}, (2,))
    {'transform.mean': (2,), 'transform.deviation': (2,)}
    """
    d = _whole(config, "dimensions", "the configuration")
    shapes: dict[str, Shape] = {"transform.mean": item_shape, "transform.deviation": item_shape}
    shapes |= _encoder_shapes(_mapping(config.get("encoder"), "encoder"), item_shape, d)
    scorers = config.get("scorers")
    if not isinstance(scorers, list):
        raise ModelError(f'the configuration\'s "scorers" must be a list; got {scorers!r}')
    seen: set[str] = set()
    for scorer in scorers:
        kind = str(_mapping(scorer, "scorers").get("kind"))
        if kind in seen or kind not in _SCORERS:
            known = ", ".join(map(repr, _SCORERS))
            raise ModelError(f"a scorer's kind must be one of {known}, each at most once; got {kind!r}")
        seen.add(kind)
        shapes |= _SCORERS[kind](scorer, d)
    return shapes


def _encoder_shapes(config: Mapping[str, Any], item_shape: Shape, d: int) -> dict[str, Shape]:
    kind = config.get("kind")
    axes = {"mlp": 1, "identity": 1, "bilstm": 2}.get(str(kind))
    if axes is None:
        raise ModelError(f"an encoder's kind must be 'mlp', 'bilstm' or 'identity'; got {kind!r}")
    if len(item_shape) != axes or min(item_shape, default=0) < 1:
        raise ModelError(f"{kind} encoder needs features with {axes} axes per item; got shape {item_shape}")
    if kind == "mlp":
        return _mlp_shapes(config, item_shape[0], d)
    if kind == "bilstm":
        h, layers = (_whole(config, key, "the encoder") for key in ("hidden", "layers"))
        states: dict[str, Shape] = {"encoder.h0": (layers * 2, h), "encoder.c0": (layers * 2, h)}
        out: dict[str, Shape] = {"encoder.out.weight": (d, 2 * h), "encoder.out.bias": (d,)}
        return lstm_shapes("encoder.lstm", item_shape[1], h, layers) | states | out
    if item_shape != (d,):
        raise ModelError(f"identity encoder: as many dimensions as features; got {d} and {item_shape[0]}")
    return {}


def _mlp_shapes(config: Mapping[str, Any], features: int, d: int) -> dict[str, Shape]:
    widths = config.get("widths")
    if not isinstance(widths, list) or any(type(width) is not int or width < 1 for width in widths):
        raise ModelError(f'the encoder\'s "widths" must be a list of whole numbers from 1; got {widths!r}')
    _choice(config, "activation", ACTIVATIONS, "the encoder")
    sizes = [features, *widths, d]
    shapes: dict[str, Shape] = {}
    for i, (before, after) in enumerate(pairwise(sizes)):
        shapes |= {f"encoder.{i}.weight": (after, before), f"encoder.{i}.bias": (after,)}
        if _flag(config, "layernorm", "the encoder") and i < len(widths):
            shapes |= {f"encoder.{i}.norm.weight": (after,), f"encoder.{i}.norm.bias": (after,)}
    if _flag(config, "skip", "the encoder"):
        shapes["encoder.skip.weight"] = (d, features)
    return shapes


def lstm_shapes(prefix: str, channels: int, hidden: int, layers: int) -> dict[str, Shape]:
    """Tensors of a bidirectional torch.nn.LSTM by name.

    Examples
    --------
    >>> lstm_shapes("x", 3, 8, 1)["x.weight_ih_l0_reverse"]
    (32, 3)
    """
    shapes: dict[str, Shape] = {}
    for layer in range(layers):
        for direction in ("", "_reverse"):
            end = f"l{layer}{direction}"
            shapes[f"{prefix}.weight_ih_{end}"] = (4 * hidden, 2 * hidden if layer else channels)
            shapes[f"{prefix}.weight_hh_{end}"] = (4 * hidden, hidden)
            shapes[f"{prefix}.bias_ih_{end}"] = shapes[f"{prefix}.bias_hh_{end}"] = (4 * hidden,)
    return shapes


def _bilstm_shapes(config: Mapping[str, Any], d: int) -> dict[str, Shape]:
    what = "the bilstm scorer"
    h, layers, c = (_whole(config, key, what) for key in ("hidden", "layers", "channels"))
    _choice(config, "readout", READOUTS, what)
    needed = d + 2 if _flag(config, "positions", what) else d
    if c != needed:
        raise ModelError(f'{what}\'s "channels" must be {needed}; got {c}')
    shapes = lstm_shapes("bilstm.lstm", c, h, layers)
    return shapes | {
        "bilstm.start": (c,),
        "bilstm.end": (c,),
        "bilstm.out.weight": (1, 2 * h),
        "bilstm.out.bias": (1,),
    }


def _arcs_shapes(config: Mapping[str, Any], d: int) -> dict[str, Shape]:
    k, knots = (_whole(config, key, "the arcs scorer") for key in ("k", "knots"))
    return {"arcs.values": (k, knots, d), "arcs.weights": (k,), "arcs.knots": (knots,)}


_SCORERS = {"bilstm": _bilstm_shapes, "arcs": _arcs_shapes}


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ModelError(f'the configuration\'s "{what}" must say what it is by name; got {value!r}')
    return value


def _whole(config: Mapping[str, Any], key: str, what: str) -> int:
    value = config.get(key)
    if type(value) is not int or not 1 <= value <= 1_000_000:
        raise ModelError(f'{what}\'s "{key}" must be a whole number from 1; got {value!r}')
    return value


def _flag(config: Mapping[str, Any], key: str, what: str) -> bool:
    value = config.get(key, False)
    if not isinstance(value, bool):
        raise ModelError(f'{what}\'s "{key}" must be true or false; got {value!r}')
    return value


def _choice(config: Mapping[str, Any], key: str, choices: tuple[str, ...], what: str) -> None:
    if config.get(key) not in choices:
        raise ModelError(f'{what}\'s "{key}" must be one of {", ".join(choices)}; got {config.get(key)!r}')
