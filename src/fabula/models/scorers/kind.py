"""What every kind of scorer says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from fabula.core.essence import Floats
from fabula.core.fit import Fit
from fabula.models.layers import Shape, Tensors

Settings = Mapping[str, Any]  # the scorer's part of a model's configuration


class Scorer(Protocol):
    """A scorer with its weights."""

    def score(self, sequences: Floats) -> float | Floats:
        """How likely each of m sequences of one length is, (m, n, d) -> (m,); higher is likelier."""
        ...

    def order(self, essence: Floats, *, alternatives: int = 4, fixed: Mapping[int, int] | None = None) -> list[Fit]:
        """Likely orderings of items (n, d), likeliest first, distinct; ``fixed``: position -> item."""
        ...


@dataclass(frozen=True)
class ScorerKind:
    """One kind of scorer; the names of its tensors begin with its kind and a dot.

    Attributes
    ----------
    shapes
        ``shapes(settings, d)``: name and shape of each tensor; checks the settings.
    load
        ``load(tensors, settings)``: the scorer with these weights.
    exact
        Whether its orderings are the best there are, not the best that a search finds; such a scorer is the one
        that orders where a model has several.
    detail
        How much of a sequence it sees, beside other kinds: the most detailed one measures information, and weighs
        most where several are trained on one encoder.
    doubles
        Tensors that are stored as float64; all others are float32.
    """

    shapes: Callable[[Settings, int], dict[str, Shape]]
    load: Callable[[Tensors, Settings], Scorer]
    exact: bool = False
    detail: int = 0
    doubles: tuple[str, ...] = ()
