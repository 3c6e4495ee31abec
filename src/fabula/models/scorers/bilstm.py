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

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.arrays import Floats
from fabula.core.arrays import positions as even_positions
from fabula.errors import ModelError
from fabula.models.config import (
    Array,
    ScorerKind,
    Settings,
    Shape,
    Tensors,
    as_flag,
    as_whole,
    blocks,
    cast,
    check_choice,
    last_states,
    linear,
    lstm_shapes,
    run_lstm,
)

READOUTS = ("ends", "mean")
_ROWS = 256  # sequences at a time
_LONGEST = 20  # items of a collection the paper trains on: the scale of the length channel
_WHAT = "the bilstm scorer"


@dataclass(frozen=True, eq=False)
class BilstmScorer:
    """The scorer with its weights."""

    tensors: Tensors
    settings: Settings

    def score(self, sequences: Floats) -> Floats:
        """Scores of m sequences of one length, (m, n, d) -> (m,)."""
        return score_bilstm(self.tensors, sequences, self.settings).astype(np.float64)


def _shapes(settings: Settings, d: int) -> dict[str, Shape]:
    h, layers, c = (as_whole(settings, key, _WHAT) for key in ("hidden", "layers", "channels"))
    check_choice(settings, "readout", READOUTS, _WHAT)
    needed = d + 2 if as_flag(settings, "positions", _WHAT) else d
    if c != needed:
        raise ModelError(f'{_WHAT}\'s "channels" must be {needed}; got {c}')
    return lstm_shapes("bilstm.lstm", c, h, layers) | {
        "bilstm.start": (c,),
        "bilstm.end": (c,),
        "bilstm.out.weight": (1, 2 * h),
        "bilstm.out.bias": (1,),
    }


def score_bilstm(tensors: Tensors, sequences: Array, settings: Settings) -> Array:
    """Scores of m sequences of one length, (m, n, d) -> (m,), in the dtype of the tensors."""
    out = []
    for block in blocks(cast(sequences, tensors["bilstm.start"]), _ROWS):
        steps = _with_tokens(tensors, block, positions=bool(settings.get("positions")))  # (n + 2, c, m)
        outputs = run_lstm(tensors, "bilstm.lstm", settings["layers"], steps)  # (n + 2, 2 h, m)
        read = outputs.mean(axis=0).T if settings["readout"] == "mean" else last_states(outputs)
        out.append(linear(tensors, "bilstm.out", read)[:, 0])
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


BILSTM = ScorerKind(_shapes, BilstmScorer, detail=1)
