"""Encoders that can be trained, by kind: one file each, and one line here."""

from __future__ import annotations

from fabula.errors import InputError
from fabula.models.own import OWN_ENCODERS, OWN_SCORERS
from fabula.training.nets.arcs import ARCS
from fabula.training.nets.bilstm import BILSTM_ENCODER, BILSTM_SCORER
from fabula.training.nets.kinds import TrainableEncoder, TrainableScorer
from fabula.training.nets.mlp import IDENTITY, MLP
from fabula.training.nets.own import own_encoder, own_scorer

ENCODERS: dict[str, TrainableEncoder] = {"mlp": MLP, "bilstm": BILSTM_ENCODER, "identity": IDENTITY}


def trainable_encoder(kind: str) -> TrainableEncoder:
    """A kind of encoder by name; one that cannot be trained is an error that names those that can."""
    if kind in OWN_ENCODERS:
        return own_encoder(OWN_ENCODERS[kind])
    if kind not in ENCODERS:
        raise InputError(f"no encoder of kind {kind!r} can be trained; there are: {', '.join(ENCODERS)}")
    return ENCODERS[kind]


# Scorers that can be trained, by kind: one file each, and one line here.

SCORERS: dict[str, TrainableScorer] = {"arcs": ARCS, "bilstm": BILSTM_SCORER}


def trainable_scorer(kind: str) -> TrainableScorer:
    """A kind of scorer by name; one that cannot be trained is an error that names those that can."""
    if kind in OWN_SCORERS:
        return own_scorer(OWN_SCORERS[kind])
    if kind not in SCORERS:
        raise InputError(f"no scorer of kind {kind!r} can be trained; there are: {', '.join(SCORERS)}")
    return SCORERS[kind]
