"""``bilstm``: the paper's scorer, which reads the sequence from both ends.

::

    {"kind": "bilstm", "hidden": 32, "layers": 2,
     "positions": false,          # true: channels u_j = j / (n - 1) and n / 20 beside the essence
     "channels": d,               # d, or d + 2 with positions
     "readout": "ends"}           # or "mean"

With c = channels, h = hidden, and gates in torch's order (i, f, g, o):

==========================================  ======================================================
``bilstm.start``, ``bilstm.end``            (c,): tokens before the first and after the last item
``bilstm.lstm.*``                           as of a bidirectional torch.nn.LSTM(c, h), from zero states
``bilstm.out.weight``, ``bilstm.out.bias``  (1, 2 h), (1,)
==========================================  ======================================================
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.arrays import positions as even_positions
from fabula.core.energy import multiply
from fabula.errors import ModelError
from fabula.models import config
from fabula.models.config import Array, ScorerKind, Settings, Shape, Tensors

READOUTS = ("ends", "mean")
_ROWS = 256  # sequences at a time
LONGEST = 20.0  # items of a collection the paper trains on: the unit in which a scorer is given lengths
_FEW = 1 << 14  # weights of which a product of a block stays on one thread
_WHAT = "the bilstm scorer"


@dataclass(frozen=True, eq=False)
class BilstmScorer:
    """The scorer with its weights."""

    tensors: Tensors
    settings: Settings

    def score(self, sequences: Array) -> Array:
        """Scores of m sequences of one length, (m, n, d) -> (m,), in the dtype of the tensors."""
        out, tensors = [], self.tensors
        for block in config.blocks(sequences, _ROWS, tensors["bilstm.start"]):
            steps = _with_tokens(tensors, block, positions=bool(self.settings.get("positions")))  # (n + 2, c, m)
            outputs = run_lstm(tensors, "bilstm.lstm", self.settings["layers"], steps)  # (n + 2, 2 h, m)
            read = outputs.mean(axis=0).T if self.settings["readout"] == "mean" else last_states(outputs)
            out.append(config.linear(tensors, "bilstm.out", read)[:, 0])
        return np.concatenate(out)


def _shapes(settings: Settings, d: int) -> dict[str, Shape]:
    h, layers, c = (config.as_whole(settings, key, _WHAT) for key in ("hidden", "layers", "channels"))
    config.check_choice(settings, "readout", READOUTS, _WHAT)
    needed = d + 2 if config.as_flag(settings, "positions", _WHAT) else d
    if c != needed:
        raise ModelError(f'{_WHAT}\'s "channels" must be {needed}; got {c}')
    return lstm_shapes("bilstm.lstm", c, h, layers) | {
        "bilstm.start": (c,),
        "bilstm.end": (c,),
        "bilstm.out.weight": (1, 2 * h),
        "bilstm.out.bias": (1,),
    }


def _with_tokens(tensors: Tensors, sequences: Array, *, positions: bool) -> Array:
    """(m, n, d) -> (n + 2, c, m): the start token, every item, the end token."""
    m, n, d = sequences.shape
    steps = np.empty((n + 2, len(tensors["bilstm.start"]), m), dtype=sequences.dtype)
    steps[0] = tensors["bilstm.start"][:, np.newaxis]
    steps[-1] = tensors["bilstm.end"][:, np.newaxis]
    steps[1:-1, :d] = sequences.transpose(1, 2, 0)
    if positions:
        steps[1:-1, d] = even_positions(n)[:, np.newaxis]
        steps[1:-1, d + 1] = n / LONGEST
    return steps


BILSTM = ScorerKind(_shapes, BilstmScorer, detail=1)


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
    """Outputs of the last layer: (steps, c, m) -> (steps, 2 h, m)."""
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


def _product(weights: Array) -> Callable[..., Any]:
    """How to multiply with weights: where they are few on one thread, since two would wait for each other each step."""
    return multiply if weights.size <= _FEW else np.matmul


def _run(gate_weights: tuple[Array, Array, Array], x: Array, states: Array, out: Array) -> None:
    """One direction of one layer, written to ``out`` (steps, h, m)."""
    inputs, weights, bias = gate_weights
    size = weights.shape[1]
    hidden, cell = states
    gates = np.empty((4 * size, x.shape[2]), dtype=x.dtype)
    recurrent = np.empty_like(gates)
    i, f, o, g = gates.reshape(4, size, -1)
    sigmoids = gates[: 3 * size]
    project = np.multiply if inputs.shape[1] == 1 else _product(inputs)  # the same for one channel, and quicker
    recur = _product(weights)
    for step in range(len(x)):
        project(inputs, x[step], out=gates)
        gates += recur(weights, hidden, out=recurrent)
        gates += bias
        np.tanh(gates, out=gates)
        sigmoids *= 0.5
        sigmoids += 0.5
        cell *= f
        i *= g
        cell += i
        np.tanh(cell, out=g)
        hidden = np.multiply(o, g, out=out[step])
