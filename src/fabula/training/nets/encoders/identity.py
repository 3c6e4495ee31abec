"""The features as they are."""

from __future__ import annotations

from typing import Any

from torch import nn

from fabula.training.config import TrainingConfig
from fabula.training.nets.encoders.kind import Settings, TrainableEncoder


def _make(settings: Settings, item_shape: tuple[int, ...], dimensions: int, dropout: float) -> nn.Module:
    return nn.Identity()


def _settings(config: TrainingConfig) -> dict[str, Any]:
    return {"kind": "identity"}


IDENTITY = TrainableEncoder(_make, _settings, None)
