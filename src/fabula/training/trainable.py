"""What every kind of training is to those who call it: data and settings that can be trained, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from fabula.evaluation.information import Information
from fabula.training.checkpoint import Progress

NOISE, ORDERS, TITLES = "noise features", "shuffled orders", "shuffled titles"  # the controls
REAL = "real"

Report = Callable[[Progress], None]


@dataclass(frozen=True, eq=False)
class Trained:
    """What training gives."""

    model: Any  # ready to be used and saved; needs no PyTorch
    information: dict[str, Information]  # on the measured collections (by default those of validation), by scorer
    history: list[Progress] = field(repr=False)  # what each epoch brought
    config: Any = field(repr=False)  # the settings, with everything decided
    best_epoch: int = 0  # whose weights were kept; 0: nothing better than what was there before was found
    before: float | None = None  # bits, on what decides, of the model it went on from; None: it began anew


class Trainable(Protocol):
    """Data and settings of one kind, ready to be trained; the same for every kind."""

    @property
    def controls(self) -> tuple[str, ...]:
        """The controls that suit what a model reads."""
        ...

    def control(self, name: str) -> Self:
        """The same on a control: data of which the order tells nothing."""
        ...

    def train(self, *, progress: Report | None = None) -> Trained:
        """Train, and measure on what decides nothing."""
        ...


def compact(history: list[Progress]) -> dict[str, Any]:
    """Loss and bits of every epoch in columns, with four digits, as a model file keeps them."""
    names = history[0].bits if history else ()
    bits = {name: [round(epoch.bits[name], 4) for epoch in history] for name in names}
    return {"loss": [round(epoch.loss, 4) for epoch in history], "bits": bits}


def round_off(info: Any, *names: str) -> Mapping[str, Any]:
    """Some numbers of a result with four digits, as a model's card has them."""
    values = {name: getattr(info, name) for name in names}
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in values.items()}
