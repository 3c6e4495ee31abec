"""The mixture of arcs."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fabula.core.arrays import positions
from fabula.core.template import basis
from fabula.training.nets.kinds import ScorerNet, TrainableScorer, Weights
from fabula.training.recipes import TrainingConfig


class ArcsNet(ScorerNet):
    """Logsumexp over templates of (sum_j <t(u_j), s_j> + weight); (b, N, n, d) -> (b, N)."""

    def __init__(self, config: TrainingConfig) -> None:
        super().__init__()
        self.knots = config.knots
        self.values = nn.Parameter(0.1 * torch.randn(config.arcs, len(config.knots), config.dimensions))
        self.weights = nn.Parameter(torch.zeros(config.arcs))
        self._bases: dict[int, Tensor] = {}

    def forward(self, sequences: Tensor) -> Tensor:
        """Scores of sequences."""
        targets = torch.einsum("nq,kqd->ndk", self._basis(sequences.shape[2]), self.values)
        logits = sequences.flatten(2) @ targets.flatten(0, 1) + self.weights  # (b, N, k)
        return torch.logsumexp(logits, dim=2)

    def certainty(self) -> list[Tensor]:
        """All of it."""
        return list(self.parameters())

    def _basis(self, n: int) -> Tensor:
        """From knot values to the template at n positions, (n, knots); made once for each length."""
        if n not in self._bases or self._bases[n].device != self.values.device:
            self._bases[n] = torch.as_tensor(basis(self.knots, positions(n))).to(self.values)
        return self._bases[n]


def _flip(weights: Weights, signs: NDArray[np.float32]) -> None:
    weights["arcs.values"] = weights["arcs.values"] * signs


ARCS = TrainableScorer(
    make=ArcsNet,
    settings=lambda config: {"kind": "arcs", "k": config.arcs, "knots": len(config.knots)},
    flip=_flip,
    constants=lambda config: {"arcs.knots": np.array(config.knots)},
)
