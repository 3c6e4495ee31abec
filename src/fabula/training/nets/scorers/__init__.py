"""Scorers that can be trained, by kind: one file each, and one line here."""

from __future__ import annotations

from fabula.errors import InputError
from fabula.models.own import OWN_SCORERS
from fabula.training.nets.scorers.arcs import ARCS
from fabula.training.nets.scorers.bilstm import BILSTM
from fabula.training.nets.scorers.kind import TrainableScorer
from fabula.training.nets.scorers.own import own_scorer

SCORERS: dict[str, TrainableScorer] = {"arcs": ARCS, "bilstm": BILSTM}


def trainable_scorer(kind: str) -> TrainableScorer:
    """A kind of scorer by name; one that cannot be trained is an error that names those that can."""
    if kind in OWN_SCORERS:
        return own_scorer(OWN_SCORERS[kind])
    if kind not in SCORERS:
        raise InputError(f"no scorer of kind {kind!r} can be trained; there are: {', '.join(SCORERS)}")
    return SCORERS[kind]
