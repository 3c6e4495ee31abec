"""Encoding 10,000 tracks with the shipped ``albums`` model against its matrix products alone, and scoring."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from fabula.models.file import tensor_shapes
from fabula.models.model import Model, load_model, shipped_models
from fabula.models.transform import Transform

TRACKS = 10_000


def best_of(run: Callable[[], object], times: int = 7) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def stand_in() -> Model:
    """A random model of the shape of the shipped one, for a checkout without it."""
    rng = np.random.default_rng(0)
    config = {
        "dimensions": 1,
        "encoder": {"kind": "mlp", "widths": [128, 128], "activation": "gelu_tanh"},
        "scorers": [{"kind": "bilstm", "hidden": 32, "layers": 2, "channels": 1, "readout": "ends"}],
    }
    shapes = tensor_shapes(config, (12,))
    tensors = {name: rng.normal(size=s) * 0.1 for name, s in shapes.items() if not name.startswith("transform.")}
    return Model(config, tensors, Transform([f"f{i}" for i in range(12)], ["f0"], np.zeros(12), np.ones(12)))


def products(model: Model, x: np.ndarray) -> None:
    """The encoder's matrix products and nothing else, in the dtype it computes in."""
    layers = len(model.config["encoder"]["widths"]) + 1
    for i in range(layers):
        x = x @ model.tensors[f"encoder.{i}.weight"].T.astype(x.dtype)


def main() -> None:
    name = "albums" if "albums" in shipped_models() else "a random model of its shape"
    model = load_model("albums") if name == "albums" else stand_in()
    rng = np.random.default_rng(1)
    features = np.exp(rng.normal(size=(TRACKS, *model.transform.item_shape)))
    whole = best_of(lambda: model.encode(features))
    print(f"encode {TRACKS:,} tracks with {name}: {whole * 1e3:.1f} ms")
    if model.config["encoder"]["kind"] == "mlp":
        alone = best_of(lambda: products(model, features))
        print(f"its matrix products alone: {alone * 1e3:.1f} ms; ratio {whole / alone:.2f} (target: at most 5)")
    sequences = rng.normal(size=(4096, 11, model.dimensions))
    for scorer in model.scorers:
        seconds = best_of(lambda scorer=scorer: model.score(sequences, scorer), times=3)
        print(f"score 4,096 sequences of 11 items with {scorer}: {seconds * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
