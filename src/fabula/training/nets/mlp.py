"""Linear layers with an activation between them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from fabula.training.nets.kinds import Settings, TrainableEncoder
from fabula.training.recipes import TrainingConfig


class MlpNet(nn.Module):
    """Linear layers with an activation and dropout between them: (items, f) -> (items, d)."""

    def __init__(self, settings: Settings, item_shape: tuple[int, ...], dimensions: int, dropout: float) -> None:
        super().__init__()
        [features], widths = item_shape, settings["widths"]
        layers = [nn.Linear(before, after) for before, after in pairwise((features, *widths, dimensions))]
        self.depth, self.layernorm = len(widths), settings.get("layernorm", False)
        for number, layer in enumerate(layers):
            self.add_module(str(number), layer)
            if self.layernorm and number < self.depth:
                layer.add_module("norm", nn.LayerNorm(layer.out_features))
        self.has_skip = settings.get("skip", False)
        if self.has_skip:
            self.skip = nn.Linear(features, dimensions, bias=False)
        self.activation, self.dropout = _ACTIVATIONS[settings["activation"]], dropout

    def forward(self, items: Tensor) -> Tensor:
        """Essence of items."""
        hidden = items
        for number in range(self.depth):
            layer = self.get_submodule(str(number))
            hidden = layer(hidden)
            if self.layernorm:
                hidden = layer.get_submodule("norm")(hidden)
            hidden = functional.dropout(self.activation(hidden), self.dropout, self.training)
        essence: Tensor = self.get_submodule(str(self.depth))(hidden)
        return essence + self.skip(items) if self.has_skip else essence


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
    "relu": torch.relu,
    "tanh": torch.tanh,
}


def _settings(config: TrainingConfig) -> dict[str, Any]:
    return {
        "kind": "mlp",
        "widths": list(config.widths),
        "activation": config.activation,
        "layernorm": config.layernorm,
        "skip": config.skip,
    }


def _outputs(settings: Settings) -> tuple[str, ...]:
    last = f"encoder.{len(settings['widths'])}"
    skip = ("encoder.skip.weight",) if settings.get("skip") else ()
    return (f"{last}.weight", f"{last}.bias", *skip)


MLP = TrainableEncoder(MlpNet, _settings, _outputs)


IDENTITY = TrainableEncoder(  # the features as they are
    make=lambda settings, item_shape, dimensions, dropout: nn.Identity(),
    settings=lambda config: {"kind": "identity"},
    outputs=None,
)
