"""The paper's scorer."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from fabula.training.config import TrainingConfig
from fabula.training.nets.bilstm import Bilstm
from fabula.training.nets.scorers.kind import ScorerNet, TrainableScorer, Weights

LONGEST = 20.0  # the paper's longest collection: lengths are given to the scorer in this unit


class BilstmScorer(ScorerNet):
    """Reads start token, sequence, end token; (b, N, n, d) -> (b, N)."""

    def __init__(self, config: TrainingConfig) -> None:
        super().__init__()
        channels = config.dimensions + 2 * config.scorer_positions
        hidden = config.scorer_hidden
        self.positions, self.readout, self.dropout = config.scorer_positions, config.readout, config.readout_dropout
        self.start = nn.Parameter(torch.randn(channels))
        self.end = nn.Parameter(torch.randn(channels))
        self.lstm = Bilstm(channels, hidden, config.scorer_layers)
        self.out = nn.Linear(2 * hidden, 1)
        nn.init.zeros_(self.out.weight)  # it starts from no opinion
        nn.init.zeros_(self.out.bias)

    def forward(self, sequences: Tensor) -> Tensor:
        """Scores of sequences."""
        b, N = sequences.shape[:2]
        return self.read(self.framed(sequences.flatten(0, 1))).view(b, N)

    def framed(self, rows: Tensor) -> Tensor:
        """Sequences (m, n, d) between the tokens: (m, n + 2, c)."""
        m, n, _ = rows.shape
        if self.positions:
            u = torch.linspace(0.0, 1.0, n, device=rows.device, dtype=rows.dtype)
            channels = torch.stack([u, torch.full_like(u, n / LONGEST)], dim=1)  # (n, 2)
            rows = torch.cat([rows, channels.expand(m, n, 2)], dim=2)
        return torch.cat([self.start.expand(m, 1, -1), rows, self.end.expand(m, 1, -1)], dim=1)

    def read(self, framed: Tensor) -> Tensor:
        """Framed sequences (m, n + 2, c) to scores (m,)."""
        outputs, ends = self.lstm.read(framed)
        summary = outputs.mean(1) if self.readout == "mean" else ends
        score: Tensor = self.out(functional.dropout(summary, self.dropout, self.training)).squeeze(1)
        return score

    def certainty(self) -> list[Tensor]:
        """Its last layer."""
        return list(self.out.parameters())


def _settings(config: TrainingConfig) -> dict[str, Any]:
    return {
        "kind": "bilstm",
        "hidden": config.scorer_hidden,
        "layers": config.scorer_layers,
        "positions": config.scorer_positions,
        "channels": config.dimensions + 2 * config.scorer_positions,
        "readout": config.readout,
    }


def _flip(weights: Weights, signs: NDArray[np.float32]) -> None:
    for name in ("start", "end", "lstm.weight_ih_l0", "lstm.weight_ih_l0_reverse"):
        weights[f"bilstm.{name}"][..., : len(signs)] *= signs  # (..., c): the channels of the essence come first


BILSTM = TrainableScorer(BilstmScorer, _settings, _flip)
