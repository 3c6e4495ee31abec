from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fabula.models.file import tensor_shapes
from fabula.models.model import Model
from fabula.models.transform import Transform


def build(
    d: int = 1,
    *,
    encoder: dict[str, Any] | None = None,
    scorers: tuple[str, ...] = ("bilstm", "arcs"),
    item_shape: tuple[int, ...] = (5,),
    seed: int = 0,
    **bilstm: Any,
) -> Model:
    rng = np.random.default_rng(seed)
    channels = d + 2 if bilstm.get("positions") else d
    known = {
        "bilstm": {"kind": "bilstm", "hidden": 8, "layers": 2, "channels": channels, "readout": "ends"} | bilstm,
        "arcs": {"kind": "arcs", "k": 3, "knots": 5},
    }
    config = {
        "dimensions": d,
        "encoder": encoder or {"kind": "mlp", "widths": [16, 12], "activation": "gelu_tanh"},
        "scorers": [known[kind] for kind in scorers],
    }
    shapes = tensor_shapes(config, item_shape)
    tensors = {name: rng.normal(size=s) * 0.5 for name, s in shapes.items() if not name.startswith("transform.")}
    if "arcs" in scorers:
        tensors["arcs.knots"] = np.linspace(0, 1, 5)
    names = [f"f{i}" for i in range(item_shape[0])]
    transform = Transform(names, names[:1], rng.normal(size=item_shape), rng.random(item_shape) + 0.5)
    return Model(config, tensors, transform, training={"preset": "test"}, card={"bits": 0.25})


@pytest.fixture
def make_model() -> Callable[..., Model]:
    return build


@pytest.fixture
def random_tensors() -> Callable[..., dict[str, np.ndarray]]:
    """Weights for a configuration, small enough for no unit to saturate."""

    def make(config: dict[str, Any], item_shape: tuple[int, ...], seed: int = 0) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(seed)
        shapes = tensor_shapes(config, item_shape)
        return {
            name: (rng.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)
            for name, shape in shapes.items()
            if not name.startswith("transform.")
        }

    return make


@pytest.fixture
def bilstm(random_tensors) -> Callable[..., tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """Settings of a bilstm scorer of d dimensions, and weights for it."""

    def make(d: int, *, positions: bool = False, readout: str = "ends", hidden: int = 32):
        channels = d + 2 if positions else d
        scorer = {"kind": "bilstm", "hidden": hidden, "layers": 2, "channels": channels, "readout": readout}
        scorer |= {"positions": positions}
        return scorer, random_tensors({"dimensions": d, "encoder": {"kind": "identity"}, "scorers": [scorer]}, (d,))

    return make
