"""``{"kind": "identity"}``: the features are the essence, for as many dimensions as features. No tensors."""

from fabula.errors import ModelError
from fabula.models.config import Array, EncoderKind, Settings, Shape, Tensors


def _shapes(settings: Settings, item_shape: Shape, d: int) -> dict[str, Shape]:
    if item_shape != (d,):
        raise ModelError(f"identity encoder: as many dimensions as features; got {d} and {item_shape[0]}")
    return {}


def _encode(tensors: Tensors, x: Array, settings: Settings) -> Array:
    return x


IDENTITY = EncoderKind(1, _shapes, _encode)
