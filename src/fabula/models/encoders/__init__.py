"""Encoders by kind: one file each, and one line here."""

from typing import Any

from fabula.models.config import EncoderKind, find_kind
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
    return find_kind(ENCODERS, kind, "an encoder")


def item_encoders() -> list[str]:
    """The kinds that encode each item by itself."""
    return [name for name, kind in ENCODERS.items() if kind.encode is not None]
