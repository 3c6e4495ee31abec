"""The paper's encoder, for features that are arrays."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from fabula.training.config import TrainingConfig
from fabula.training.nets.bilstm import Bilstm
from fabula.training.nets.encoders.kind import Settings, TrainableEncoder


class BilstmEncoder(nn.Module):
    """Reads the features of an item one after the other, (items, steps, s) -> (items, d)."""

    def __init__(self, settings: Settings, item_shape: tuple[int, ...], dimensions: int, dropout: float) -> None:
        super().__init__()
        hidden, layers = settings["hidden"], settings["layers"]
        self.lstm = Bilstm(item_shape[1], hidden, layers, dropout=dropout)
        self.h0 = nn.Parameter(torch.zeros(2 * layers, hidden))
        self.c0 = nn.Parameter(torch.zeros(2 * layers, hidden))
        self.out = nn.Linear(2 * hidden, dimensions)

    def forward(self, items: Tensor) -> Tensor:
        """Essence of items, in (0, 1)."""
        m = items.shape[0]  # not len(): ONNX must see that it varies
        start = [state.unsqueeze(1).expand(-1, m, -1).contiguous() for state in (self.h0, self.c0)]
        _, ends = self.lstm.read(items, (start[0], start[1]))
        return torch.sigmoid(self.out(ends))


def _settings(config: TrainingConfig) -> dict[str, Any]:
    return {"kind": "bilstm", "hidden": config.encoder_hidden, "layers": config.encoder_layers}


def _outputs(settings: Settings) -> tuple[str, ...]:
    """The sigmoid becomes one minus itself, which z-scoring makes a change of sign."""
    return ("encoder.out.weight", "encoder.out.bias")


BILSTM = TrainableEncoder(BilstmEncoder, _settings, _outputs)
