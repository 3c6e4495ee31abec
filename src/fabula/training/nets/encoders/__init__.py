"""Encoders that can be trained, by kind: one file each, and one line here."""

from __future__ import annotations

from fabula.errors import InputError
from fabula.models.own import OWN_ENCODERS
from fabula.training.nets.encoders.bilstm import BILSTM
from fabula.training.nets.encoders.identity import IDENTITY
from fabula.training.nets.encoders.kind import TrainableEncoder
from fabula.training.nets.encoders.mlp import MLP
from fabula.training.nets.encoders.own import own_encoder

ENCODERS: dict[str, TrainableEncoder] = {"mlp": MLP, "bilstm": BILSTM, "identity": IDENTITY}


def trainable_encoder(kind: str) -> TrainableEncoder:
    """A kind of encoder by name; one that cannot be trained is an error that names those that can."""
    if kind in OWN_ENCODERS:
        return own_encoder(OWN_ENCODERS[kind])
    if kind not in ENCODERS:
        raise InputError(f"no encoder of kind {kind!r} can be trained; there are: {', '.join(ENCODERS)}")
    return ENCODERS[kind]
