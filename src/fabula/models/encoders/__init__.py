"""Encoders by kind: one file each, and one line here."""

from typing import Any

from fabula.errors import ModelError
from fabula.models.config import EncoderKind
from fabula.models.encoders.bilstm import BILSTM
from fabula.models.encoders.identity import IDENTITY
from fabula.models.encoders.measures import MEASURES
from fabula.models.encoders.mlp import MLP
from fabula.models.encoders.set import SET

ENCODERS: dict[str, EncoderKind] = {
    "mlp": MLP,
    "bilstm": BILSTM,
    "identity": IDENTITY,
    "set": SET,
    "measures": MEASURES,
}


def encoder_kind(kind: Any) -> EncoderKind:
    """A kind of encoder by name; an unknown one is an error that names those there are."""
    if not isinstance(kind, str) or kind not in ENCODERS:
        raise ModelError(
            f"an encoder's kind must be one of {', '.join(map(repr, ENCODERS))}; got {kind!r}"
            " (one of your own: register it first)"
        )
    return ENCODERS[kind]


def item_encoders() -> list[str]:
    """The kinds that encode each item by itself."""
    return [name for name, kind in ENCODERS.items() if kind.encode is not None]
