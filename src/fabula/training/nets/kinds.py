"""What every kind of encoder and of scorer that is trained says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from fabula.training.recipes import TrainingConfig

Settings = Mapping[str, Any]  # the encoder's part of a model's configuration


@dataclass(frozen=True)
class TrainableEncoder:
    """One kind of encoder, with the tensors of the kind of the same name in :mod:`fabula.models.encoders`."""

    # From settings, item shape, dimensions and dropout to a net from items (m, f[, s]) to essence (m, d).
    make: Callable[[Settings, tuple[int, ...], int, float], nn.Module]
    settings: Callable[[TrainingConfig], dict[str, Any]]  # what the model file will say of it
    # The tensors whose first axis is the essence's dimensions: all change sign where one is turned upside down.
    outputs: Callable[[Settings], tuple[str, ...]] | None
    # The settings with what only the trained weights can tell.
    describe: Callable[[dict[str, Any], Mapping[str, Any]], dict[str, Any]] = lambda settings, weights: settings


Weights = dict[str, NDArray[Any]]


class ScorerNet(nn.Module):
    """A scorer of sequences (b, N, n, d), which gives (b, N)."""

    def certainty(self) -> list[Tensor]:
        """The parameters that say how sure it is: scaled by 0, it has no opinion."""
        raise NotImplementedError


@dataclass(frozen=True)
class TrainableScorer:
    """One kind of scorer, with the tensors of the kind of the same name in :mod:`fabula.models.scorers`."""

    make: Callable[[TrainingConfig], ScorerNet]
    settings: Callable[[TrainingConfig], dict[str, Any]]  # what the model file will say of it
    # Change weights in place, so that every score stays when dimensions with a sign of -1 are turned upside down.
    flip: Callable[[Weights, NDArray[np.float32]], None]
    constants: Callable[[TrainingConfig], Mapping[str, NDArray[Any]]] = lambda config: {}  # not trained
    # The settings with what only the trained weights can tell.
    describe: Callable[[dict[str, Any], Mapping[str, Any]], dict[str, Any]] = lambda settings, weights: settings
