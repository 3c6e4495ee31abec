"""Scorers by kind: one file each, and one line here."""

from __future__ import annotations

from typing import Any

from fabula.errors import ModelError
from fabula.models.scorers.arcs import ARCS
from fabula.models.scorers.bilstm import BILSTM
from fabula.models.scorers.kind import ScorerKind

SCORERS: dict[str, ScorerKind] = {"arcs": ARCS, "bilstm": BILSTM}


def scorer_kind(kind: Any) -> ScorerKind:
    """A kind of scorer by name; an unknown one is an error that names those there are."""
    if not isinstance(kind, str) or kind not in SCORERS:
        raise ModelError(
            f"a scorer's kind must be one of {', '.join(map(repr, SCORERS))}; got {kind!r}"
            " (one of your own: register it first)"
        )
    return SCORERS[kind]


def most_detailed(kinds: tuple[str, ...]) -> str | None:
    """The kind that sees most of a sequence, the first of several; None where there is none."""
    return max(kinds, key=lambda kind: scorer_kind(kind).detail, default=None)
