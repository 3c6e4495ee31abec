"""The net of an encoder of one's own, wrapped so that its essence can be turned upside down."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from fabula.errors import InputError
from fabula.models.own import Encoder, tensor_sizes
from fabula.training.nets.encoders.kind import TrainableEncoder


class OwnEncoderNet(nn.Module):
    """An encoder's net, and a sign for each dimension of its essence, which is no parameter."""

    signs: Tensor

    def __init__(self, part: Encoder, item_shape: tuple[int, ...], dimensions: int) -> None:
        super().__init__()
        self.net = as_module(part.net(item_shape, dimensions), f"encoder {part.kind!r}")
        self.register_buffer("signs", torch.ones(dimensions))
        self.kind = part.kind

    def forward(self, items: Tensor) -> Tensor:
        """Essence (m, d) of items (m, f[, s])."""
        essence: Tensor = self.net(items)
        if essence.ndim != 2 or essence.shape[1] != len(self.signs):
            wanted = f"(items, {len(self.signs)})"
            raise InputError(f"the net of encoder {self.kind!r} must give {wanted}; got {tuple(essence.shape)}")
        return essence * self.signs


def own_encoder(part: Encoder) -> TrainableEncoder:
    """An encoder of one's own as the training takes it."""
    return TrainableEncoder(
        make=lambda settings, item_shape, dimensions, dropout: OwnEncoderNet(part, item_shape, dimensions),
        settings=lambda config: {"kind": part.kind},
        outputs=lambda settings: ("encoder.signs",),
        described=lambda settings, weights: {**settings, "tensors": tensor_sizes("encoder", weights)},
    )


def as_module(net: Any, what: str) -> nn.Module:
    """Refuse what is no net."""
    if not isinstance(net, nn.Module):
        raise InputError(f"the net of {what} must be a torch.nn.Module; got {type(net).__name__}")
    return net
