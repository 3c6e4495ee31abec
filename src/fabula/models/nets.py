"""Forward passes of encoders and scorers in NumPy.

Plain functions over a dict of tensors, named and shaped as :mod:`fabula.models.config` says. They compute in the
dtype of the tensors they are given. Inside the LSTM the batch is the last axis, so that each gate is one contiguous
block and each step one matrix product per direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.ordering import positions as even_positions

Array = NDArray[np.floating[Any]]
Tensors = Mapping[str, Array]

_ROWS = 512  # of an mlp at a time, so that a layer stays in the cache
_TRACKS = 256  # of the bilstm encoder
_SEQUENCES = 256  # of the bilstm scorer
_LONGEST = 20  # items of a collection the paper trains on: the scale of the length channel


def mlp(tensors: Tensors, x: Array, config: Mapping[str, Any]) -> Array:
    """Linear layers with an activation between them: (n, f) -> (n, d)."""
    out = [_mlp_block(tensors, block, config) for block in _blocks(_cast(x, tensors["encoder.0.weight"]), _ROWS)]
    return np.concatenate(out)


def _mlp_block(tensors: Tensors, x: Array, config: Mapping[str, Any]) -> Array:
    last = len(config["widths"])
    activation = _ACTIVATIONS[config["activation"]]
    hidden = x
    for i in range(last):
        hidden = _linear(tensors, f"encoder.{i}", hidden)  # (n, width)
        if config.get("layernorm"):
            hidden = _layernorm(hidden, tensors[f"encoder.{i}.norm.weight"], tensors[f"encoder.{i}.norm.bias"])
        hidden = activation(hidden)
    out = _linear(tensors, f"encoder.{last}", hidden)
    return out + x @ tensors["encoder.skip.weight"].T if config.get("skip") else out


def bilstm_encoder(tensors: Tensors, x: Array, config: Mapping[str, Any]) -> Array:
    """The paper's encoder: (n, f, s) read as f steps of s channels -> (n, d) in (0, 1)."""
    layers, hidden = config["layers"], config["hidden"]
    out = []
    for block in _blocks(_cast(x, tensors["encoder.h0"]), _TRACKS):
        steps = np.ascontiguousarray(block.transpose(1, 2, 0))  # (f, s, n)
        last = _lstm(tensors, "encoder.lstm", layers, steps, (tensors["encoder.h0"], tensors["encoder.c0"]))
        ends = _ends(last, hidden)  # (n, 2 h)
        out.append(_sigmoid(_linear(tensors, "encoder.out", ends)))
    return np.concatenate(out)


def bilstm_score(tensors: Tensors, sequences: Array, config: Mapping[str, Any]) -> Array:
    """Scores of m sequences of one length: (m, n, d) -> (m,)."""
    hidden, mean = config["hidden"], config["readout"] == "mean"
    out = []
    for block in _blocks(_cast(sequences, tensors["bilstm.start"]), _SEQUENCES):
        steps = _with_tokens(tensors, block, positions=bool(config.get("positions")))  # (n + 2, c, m)
        last = _lstm(tensors, "bilstm.lstm", config["layers"], steps, None)  # (n + 2, 2 h, m)
        read = last.mean(axis=0).T if mean else _ends(last, hidden)
        out.append(_linear(tensors, "bilstm.out", read)[:, 0])
    return np.concatenate(out)


def _with_tokens(tensors: Tensors, sequences: Array, *, positions: bool) -> Array:
    """(m, n, d) -> (n + 2, c, m): the start token, every item, the end token."""
    m, n, d = sequences.shape
    steps = np.empty((n + 2, len(tensors["bilstm.start"]), m), dtype=sequences.dtype)
    steps[0] = tensors["bilstm.start"][:, np.newaxis]
    steps[-1] = tensors["bilstm.end"][:, np.newaxis]
    steps[1:-1, :d] = sequences.transpose(1, 2, 0)
    if positions:
        steps[1:-1, d] = even_positions(n)[:, np.newaxis]
        steps[1:-1, d + 1] = n / _LONGEST
    return steps


def _ends(last: Array, hidden: int) -> Array:
    """What each direction has seen when it arrives: (steps, 2 h, m) -> (m, 2 h)."""
    return np.concatenate([last[-1, :hidden], last[0, hidden:]]).T


def _lstm(tensors: Tensors, prefix: str, layers: int, x: Array, start: tuple[Array, Array] | None) -> Array:
    """A bidirectional LSTM: (steps, c, m) -> (steps, 2 h, m); states (layers * 2, h) at the start, or zero."""
    hidden = tensors[f"{prefix}.weight_hh_l0"].shape[1]
    for layer in range(layers):
        out = np.empty((len(x), 2 * hidden, x.shape[2]), dtype=x.dtype)
        for direction, end in enumerate((f"l{layer}", f"l{layer}_reverse")):
            states = np.zeros((2, hidden, x.shape[2]), dtype=x.dtype)
            if start is not None:
                states[:] = np.stack(start)[:, 2 * layer + direction, :, np.newaxis]
            gates = _gates(tensors, prefix, end, hidden)
            way = slice(None, None, -1 if direction else 1)
            _run(*gates, x[way], states, out[way, direction * hidden : (direction + 1) * hidden])
        x = out
    return x


def _gates(tensors: Tensors, prefix: str, end: str, hidden: int) -> tuple[Array, Array, Array]:
    """Weights with the gates in the order i, f, o, g, the first three halved: sigmoid(x) = (1 + tanh(x / 2)) / 2."""
    order = np.r_[0 : 2 * hidden, 3 * hidden : 4 * hidden, 2 * hidden : 3 * hidden]
    inputs = tensors[f"{prefix}.weight_ih_{end}"][order]
    states = tensors[f"{prefix}.weight_hh_{end}"][order]
    bias = (tensors[f"{prefix}.bias_ih_{end}"] + tensors[f"{prefix}.bias_hh_{end}"])[order, np.newaxis]
    for weights in (inputs, states, bias):
        weights[: 3 * hidden] *= 0.5
    return inputs, states, bias


def _run(inputs: Array, weights: Array, bias: Array, x: Array, states: Array, out: Array) -> None:
    """One direction of one layer, written to ``out`` (steps, h, m)."""
    size = weights.shape[1]
    hidden, cell = states
    gates = np.empty((4 * size, x.shape[2]), dtype=x.dtype)
    recurrent = np.empty_like(gates)
    i, f, o, g = gates.reshape(4, size, -1)
    sigmoids = gates[: 3 * size]
    project = np.multiply if inputs.shape[1] == 1 else np.matmul  # the same for one channel, and quicker
    for step in range(len(x)):
        project(inputs, x[step], out=gates)
        gates += np.matmul(weights, hidden, out=recurrent)
        gates += bias
        np.tanh(gates, out=gates)
        sigmoids *= 0.5
        sigmoids += 0.5
        cell *= f
        i *= g
        cell += i
        np.tanh(cell, out=g)
        hidden = np.multiply(o, g, out=out[step])


def _linear(tensors: Tensors, name: str, x: Array) -> Array:
    out = x @ tensors[f"{name}.weight"].T
    out += tensors[f"{name}.bias"]
    return out


def _layernorm(x: Array, weight: Array, bias: Array) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    return np.asarray(centred / scale * weight + bias)


def _gelu_tanh(x: Array) -> Array:
    """GELU with the tanh approximation, as torch's ``gelu(x, approximate="tanh")``."""
    inner = x * x
    inner *= 0.044715 * np.sqrt(2 / np.pi).item()
    inner += np.sqrt(2 / np.pi).item()
    inner *= x
    np.tanh(inner, out=inner)
    inner += 1.0
    inner *= x
    inner *= 0.5
    return inner


def _sigmoid(x: Array) -> Array:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def _relu(x: Array) -> Array:
    return np.maximum(x, 0.0, out=x)


def _tanh(x: Array) -> Array:
    return np.tanh(x, out=x)


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"gelu_tanh": _gelu_tanh, "relu": _relu, "tanh": _tanh}


def _cast(x: Array, like: Array) -> Array:
    return x.astype(like.dtype, copy=False)


def _blocks(x: Array, rows: int) -> Iterator[Array]:
    return (x[start : start + rows] for start in range(0, len(x), rows))
