"""What encoders and scorers compute with in NumPy, in the dtype of the tensors they are given.

The bidirectional LSTM has the tensors of torch.nn.LSTM. Its batch is the last axis, so that each gate is one contiguous
block and each step one matrix product per direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.energy import multiply

Array = NDArray[np.floating[Any]]
Tensors = Mapping[str, Array]
Shape = tuple[int, ...]


def linear(tensors: Tensors, name: str, x: Array) -> Array:
    """A linear layer, (..., in) -> (..., out), with the tensors ``name.weight`` and ``name.bias``."""
    weight = tensors[f"{name}.weight"]
    out = multiply(x.reshape(-1, x.shape[-1]), weight.T)  # one product, however many axes there are
    out += tensors[f"{name}.bias"]
    return np.asarray(out.reshape(*x.shape[:-1], len(weight)))


def sigmoid(x: Array) -> Array:
    """The logistic function."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def cast(x: Array, like: Array) -> Array:
    """``x`` in the dtype of another array; not a copy where it has it."""
    return x.astype(like.dtype, copy=False)


def blocks(x: Array, rows: int) -> Iterator[Array]:
    """An array some rows at a time, so that what is computed of them stays in the cache."""
    return (x[start : start + rows] for start in range(0, len(x), rows))


def lstm_shapes(prefix: str, channels: int, hidden: int, layers: int) -> dict[str, Shape]:
    """Tensors of a bidirectional torch.nn.LSTM by name."""
    shapes: dict[str, Shape] = {}
    for layer in range(layers):
        for direction in ("", "_reverse"):
            end = f"l{layer}{direction}"
            shapes[f"{prefix}.weight_ih_{end}"] = (4 * hidden, 2 * hidden if layer else channels)
            shapes[f"{prefix}.weight_hh_{end}"] = (4 * hidden, hidden)
            shapes[f"{prefix}.bias_ih_{end}"] = shapes[f"{prefix}.bias_hh_{end}"] = (4 * hidden,)
    return shapes


def run_lstm(tensors: Tensors, prefix: str, layers: int, x: Array, start: tuple[Array, Array] | None = None) -> Array:
    """Outputs of the last layer: (steps, c, m) -> (steps, 2 h, m).

    ``start`` holds the hidden and the cell states to start from, (layers * 2, h) each; zeros where there is none.
    """
    hidden = tensors[f"{prefix}.weight_hh_l0"].shape[1]
    for layer in range(layers):
        out = np.empty((len(x), 2 * hidden, x.shape[2]), dtype=x.dtype)
        for direction, end in enumerate((f"l{layer}", f"l{layer}_reverse")):
            states = np.zeros((2, hidden, x.shape[2]), dtype=x.dtype)
            if start is not None:
                states[:] = np.stack(start)[:, 2 * layer + direction, :, np.newaxis]
            gates = _gates(tensors, prefix, end, hidden)
            way = slice(None, None, -1 if direction else 1)
            _run(gates, x[way], states, out[way, direction * hidden : (direction + 1) * hidden])
        x = out
    return x


def last_states(outputs: Array) -> Array:
    """What each direction has seen when it arrives: outputs (steps, 2 h, m) -> (m, 2 h)."""
    hidden = outputs.shape[1] // 2
    return np.concatenate([outputs[-1, :hidden], outputs[0, hidden:]]).T


def _gates(tensors: Tensors, prefix: str, end: str, hidden: int) -> tuple[Array, Array, Array]:
    """Weights with the gates in the order i, f, o, g, the first three halved: sigmoid(x) = (1 + tanh(x / 2)) / 2."""
    order = np.r_[0 : 2 * hidden, 3 * hidden : 4 * hidden, 2 * hidden : 3 * hidden]
    inputs = tensors[f"{prefix}.weight_ih_{end}"][order]
    states = tensors[f"{prefix}.weight_hh_{end}"][order]
    bias = (tensors[f"{prefix}.bias_ih_{end}"] + tensors[f"{prefix}.bias_hh_{end}"])[order, np.newaxis]
    for weights in (inputs, states, bias):
        weights[: 3 * hidden] *= 0.5
    return inputs, states, bias


def _run(gate_weights: tuple[Array, Array, Array], x: Array, states: Array, out: Array) -> None:
    """One direction of one layer, written to ``out`` (steps, h, m)."""
    inputs, weights, bias = gate_weights
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
