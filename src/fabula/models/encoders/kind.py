"""What every kind of encoder says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fabula.models.layers import Array, Shape, Tensors

Settings = Mapping[str, Any]  # the encoder's part of a model's configuration


@dataclass(frozen=True)
class EncoderKind:
    """One kind of encoder; its tensors are called ``encoder.*``.

    Attributes
    ----------
    axes
        Of one item's features: 1 for numbers (f,), 2 for arrays (f, s).
    shapes
        ``shapes(settings, item_shape, d)``: name and shape of each tensor; checks the settings.
    encode
        ``encode(tensors, features, settings)``: (n, f) or (n, f, s) -> (n, d), each item by itself.
    """

    axes: int
    shapes: Callable[[Settings, Shape, int], dict[str, Shape]]
    encode: Callable[[Tensors, Array, Settings], Array]
