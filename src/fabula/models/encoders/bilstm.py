"""``{"kind": "bilstm", "hidden": 128, "layers": 2}``: the paper's encoder, over features that are arrays.

Features (n, f, s) are read as f steps of s channels; with h = hidden:

=============================================  ===============================================
``encoder.lstm.*``                             names and shapes of a bidirectional torch.nn.LSTM(s, h)
``encoder.h0``, ``encoder.c0``                 (layers * 2, h), in torch's order of layers and directions
``encoder.out.weight``, ``encoder.out.bias``   (d, 2 h), (d,); a sigmoid follows
=============================================  ===============================================
"""

import numpy as np

from fabula.core.arrays import one_thread
from fabula.models.config import Array, EncoderKind, Settings, Shape, Tensors, as_whole, blocks, linear
from fabula.models.scorers.bilstm import last_states, lstm_shapes, run_lstm

_ROWS = 256  # items at a time


def _shapes(settings: Settings, item_shape: Shape, d: int) -> dict[str, Shape]:
    h, layers = (as_whole(settings, key, "the encoder") for key in ("hidden", "layers"))
    return lstm_shapes("encoder.lstm", item_shape[1], h, layers) | {
        "encoder.h0": (layers * 2, h),
        "encoder.c0": (layers * 2, h),
        "encoder.out.weight": (d, 2 * h),
        "encoder.out.bias": (d,),
    }


@one_thread()
def encode_bilstm(tensors: Tensors, x: Array, settings: Settings) -> Array:
    """Items (n, f, s) to essence (n, d) in (0, 1)."""
    start = (tensors["encoder.h0"], tensors["encoder.c0"])
    out = []
    for block in blocks(x, _ROWS, tensors["encoder.h0"]):
        steps = np.ascontiguousarray(block.transpose(1, 2, 0))  # (f, s, n)
        outputs = run_lstm(tensors, "encoder.lstm", settings["layers"], steps, start)  # (f, 2 h, n)
        read = linear(tensors, "encoder.out", last_states(outputs))
        out.append(np.asarray(0.5 * (1.0 + np.tanh(0.5 * read))))  # a sigmoid
    return np.concatenate(out)


BILSTM = EncoderKind(2, _shapes, encode_bilstm)
