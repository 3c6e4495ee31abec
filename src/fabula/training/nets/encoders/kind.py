"""What every kind of encoder that is trained says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from fabula.training.config import TrainingConfig

Settings = Mapping[str, Any]  # the encoder's part of a model's configuration


def as_they_are(settings: dict[str, Any], weights: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that say all there is to say."""
    return settings


@dataclass(frozen=True)
class TrainableEncoder:
    """One kind of encoder, with the tensors of the kind of the same name in :mod:`fabula.models.encoders`.

    Attributes
    ----------
    make
        ``make(settings, item_shape, dimensions, dropout)``: a net from items (m, f[, s]) to essence (m, d).
    settings
        What the model file will say of it.
    outputs
        ``outputs(settings)``: the tensors whose first axis is the essence's dimensions; all change sign where a
        dimension is turned upside down. None: nothing can be turned.
    described
        ``described(settings, weights)``: the settings with what only the trained weights can tell.
    """

    make: Callable[[Settings, tuple[int, ...], int, float], nn.Module]
    settings: Callable[[TrainingConfig], dict[str, Any]]
    outputs: Callable[[Settings], tuple[str, ...]] | None
    described: Callable[[dict[str, Any], Mapping[str, Any]], dict[str, Any]] = as_they_are
