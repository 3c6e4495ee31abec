"""Ordered collections by what they are for: to train on, to decide by, to measure on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.core.collection import Collection


@dataclass(frozen=True, eq=False)
class Parts:
    """Three sets of ordered collections, none of which shares a collection with another.

    Attributes
    ----------
    training
        What a model learns from.
    validation
        What decides, for instance which epoch is kept.
    measured
        What a result is measured on, and decides nothing. None: the validation collections, on which results come
        out a little too high, since they decide.
    """

    training: Sequence[Collection]
    validation: Sequence[Collection]
    measured: Sequence[Collection] | None = None

    @property
    def shown(self) -> Sequence[Collection]:
        """The collections a result is measured on."""
        return self.validation if self.measured is None else self.measured

    def changed(self, change: Callable[[Sequence[Collection]], Sequence[Collection]]) -> Parts:
        """The same parts with each changed, in their order."""
        training, validation = change(self.training), change(self.validation)
        return Parts(training, validation, None if self.measured is None else change(self.measured))
