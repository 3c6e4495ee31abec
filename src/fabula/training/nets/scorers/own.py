"""The net of a scorer of one's own, wrapped so that the loop can turn, scale and silence it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fabula.errors import InputError
from fabula.models.own import Scorer, tensor_sizes
from fabula.training.nets.encoders.own import as_module
from fabula.training.nets.scorers.kind import ScorerNet, TrainableScorer, Weights


class OwnScorerNet(ScorerNet):
    """A scorer's net between signs of the dimensions and a scale, which are no parameters."""

    signs: Tensor
    scale: Tensor

    def __init__(self, part: Scorer, dimensions: int) -> None:
        super().__init__()
        self.net = as_module(part.net(dimensions), f"scorer {part.kind!r}")
        self.register_buffer("signs", torch.ones(dimensions))
        self.register_buffer("scale", torch.ones(1))
        self.kind = part.kind

    def forward(self, sequences: Tensor) -> Tensor:
        """Scores (b, N) of sequences (b, N, n, d)."""
        b, N = sequences.shape[:2]
        scores: Tensor = self.net(sequences.flatten(0, 1) * self.signs)
        if scores.shape != (b * N,):
            raise InputError(
                f"the net of scorer {self.kind!r} must give one score per sequence, (m,); got {tuple(scores.shape)}"
            )
        return scores.view(b, N) * self.scale

    def certainty(self) -> list[Tensor]:
        """Its scale."""
        return [self.scale]


def own_scorer(part: Scorer) -> TrainableScorer:
    """A scorer of one's own as the training takes it."""

    def flip(weights: Weights, signs: NDArray[np.float32]) -> None:
        weights[f"{part.kind}.signs"] = weights[f"{part.kind}.signs"] * signs

    def described(settings: dict[str, Any], weights: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        return {**settings, "tensors": tensor_sizes(part.kind, weights)}

    return TrainableScorer(
        make=lambda config: OwnScorerNet(part, config.dimensions),
        settings=lambda config: {"kind": part.kind},
        flip=flip,
        described=described,
    )
