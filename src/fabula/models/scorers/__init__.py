"""Scorers by kind: one file each, and one line here."""

from typing import Any

from fabula.models.config import ScorerKind, find_kind
from fabula.models.scorers.arcs import ARCS
from fabula.models.scorers.bilstm import BILSTM
from fabula.models.scorers.flow import FLOW
from fabula.models.scorers.reach import REACH

MEASURED = ("transform.mean", "transform.deviation")  # tensors of what was measured exactly
SCORERS: dict[str, ScorerKind] = {"arcs": ARCS, "bilstm": BILSTM, "flow": FLOW, "reach": REACH}


def scorer_kind(kind: Any) -> ScorerKind:
    """A kind of scorer by name; an unknown one is an error that names those there are."""
    return find_kind(SCORERS, kind, "a scorer")


def most_detailed(kinds: tuple[str, ...]) -> str | None:
    """The kind that sees most of a sequence, the first of several; None where there is none."""
    return max(kinds, key=lambda kind: scorer_kind(kind).detail, default=None)


def sequence_scorers() -> list[str]:
    """The kinds that score sequences of essence, each by itself."""
    return [name for name, kind in SCORERS.items() if not kind.tables]


def dtype_of(name: str) -> str:
    """The dtype a tensor is stored in by default: float64 for what was measured exactly, float32 for weights."""
    double = name in MEASURED or any(name in kind.doubles for kind in SCORERS.values())
    return "float64" if double else "float32"
