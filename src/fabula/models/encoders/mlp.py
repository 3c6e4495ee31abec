"""``mlp``: linear layers with an activation between them, over features that are numbers.

::

    {"kind": "mlp",
     "widths": [128, 128],         # of the hidden layers; the last layer, to d, is not listed
     "activation": "gelu_tanh",    # or "relu", "tanh"
     "layernorm": false,           # optional: after each hidden linear layer, before the activation
     "skip": false}                # optional: adds a linear map from the input to the essence

=============================================  ===============================================
``encoder.{i}.weight``, ``encoder.{i}.bias``   layer i from 0: (out, in), (out,); the last has out = d
``encoder.{i}.norm.weight``, ``.norm.bias``    with layernorm, hidden layers: (out,); epsilon 1e-5
``encoder.skip.weight``                        with skip: (d, f)
=============================================  ===============================================
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from fabula.core.arrays import one_thread
from fabula.errors import ModelError
from fabula.models import config
from fabula.models.config import Array, EncoderKind, Settings, Shape, Tensors

_ROWS = 512  # items at a time, so that a layer stays in the cache
_WHAT = "the encoder"


def _shapes(settings: Settings, item_shape: Shape, d: int) -> dict[str, Shape]:
    widths, features = settings.get("widths"), item_shape[0]
    if not isinstance(widths, list) or any(type(width) is not int or width < 1 for width in widths):
        raise ModelError(f'the encoder\'s "widths" must be a list of whole numbers from 1; got {widths!r}')
    config.check_choice(settings, "activation", tuple(_ACTIVATIONS), _WHAT)
    shapes: dict[str, Shape] = {}
    for i, (before, after) in enumerate(pairwise([features, *widths, d])):
        shapes |= {f"encoder.{i}.weight": (after, before), f"encoder.{i}.bias": (after,)}
        if config.as_flag(settings, "layernorm", _WHAT) and i < len(widths):
            shapes |= {f"encoder.{i}.norm.weight": (after,), f"encoder.{i}.norm.bias": (after,)}
    if config.as_flag(settings, "skip", _WHAT):
        shapes["encoder.skip.weight"] = (d, features)
    return shapes


@one_thread()
def encode_mlp(tensors: Tensors, x: Array, settings: Settings) -> Array:
    """Items (n, f) to essence (n, d)."""
    last, activation, out = len(settings["widths"]), _ACTIVATIONS[settings["activation"]], list[Array]()
    for block in config.blocks(x, _ROWS, tensors["encoder.0.weight"]):
        hidden = block
        for i in range(last):
            hidden = config.linear(tensors, f"encoder.{i}", hidden)  # (n, width)
            if settings.get("layernorm"):
                hidden = config.layer_norm(tensors, f"encoder.{i}.norm", hidden)
            hidden = activation(hidden)
        essence = config.linear(tensors, f"encoder.{last}", hidden)
        out.append(essence + block @ tensors["encoder.skip.weight"].T if settings.get("skip") else essence)
    return np.concatenate(out)


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


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "gelu_tanh": _gelu_tanh,
    "relu": lambda x: np.maximum(x, 0.0, out=x),
    "tanh": lambda x: np.tanh(x, out=x),
}

MLP = EncoderKind(1, _shapes, encode_mlp)
