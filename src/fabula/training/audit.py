"""The audit: the same recipe on the real collections and on controls that must come out zero, for every kind."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, Self

from scipy.special import ndtri

from fabula.evaluation.information import Information
from fabula.evaluation.intervals import Interval
from fabula.training.loop import Progress

# What every kind of training is to those who call it: data and settings that can be trained, and what comes of it.

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
    gained: Interval | None = None  # bits, on the measured, over the model it went on from or is held near to
    more: Mapping[str, Any] = field(default_factory=dict, repr=False)  # further results, by name


class Trainable(Protocol):
    """Data and settings of one kind, ready to be trained; the same for every kind."""

    @property
    def controls(self) -> tuple[str, ...]:
        """The controls that suit what a model reads."""

    def control(self, name: str) -> Self:
        """The same on a control: data of which the order tells nothing."""

    def train(self, *, progress: Report | None = None) -> Trained:
        """Train, and measure on what decides nothing."""


def compact(history: list[Progress]) -> dict[str, Any]:
    """Loss and bits of every epoch in columns, with four digits, as a model file keeps them."""
    names = history[0].bits if history else ()
    bits = {name: [round(epoch.bits[name], 4) for epoch in history] for name in names}
    return {"loss": [round(epoch.loss, 4) for epoch in history], "bits": bits}


def round_off(info: Any, *names: str) -> Mapping[str, Any]:
    """Some numbers of a result with four digits, as a model's card has them."""
    values = {name: getattr(info, name) for name in names}
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in values.items()}


TOLERANCE = 0.02  # bits a control may differ from zero
FEWEST = 20  # collections measured, below which nothing is judged
HIDDEN = 0.1  # bits of a leak that must not be able to hide in the width of an interval
CONTROLS = (NOISE, ORDERS)

Verdict = Literal["zero", "below zero", "leak", "too few"]


@dataclass(frozen=True)
class AuditRow:
    """Bits of one scorer on one set of collections, with the 95 % interval, and how many collections were measured."""

    data: str
    scorer: str
    bits: float
    low: float
    high: float
    collections: int = FEWEST


@dataclass(frozen=True)
class AuditReport:
    """What an audit found."""

    rows: list[AuditRow]  # the real collections (``data`` is ``"real"``) and the controls
    trained: Trained | None = None  # on the real collections; None where only controls were run
    notes: tuple[str, ...] = ()  # on the data: what gives the order away is seen by no control

    @property
    def controls(self) -> list[AuditRow]:
        """The rows that must be zero."""
        return [row for row in self.rows if row.data in (*CONTROLS, TITLES)]

    def verdict(self, row: AuditRow) -> Verdict:
        """What a control says, by its interval.

        It is a leak where the bits are above 0.02 and the interval, widened for the number of controls, lies above
        zero: in 20 healthy audits one may cry by chance. Below zero a net has learned by heart, which is no leak. Where
        fewer than 20 collections were measured, or a leak of 0.1 bits could hide in the interval, there are too few.
        """
        width = float(ndtri(1 - 0.05 / max(1, len(self.controls))) / ndtri(0.975))
        if row.bits > TOLERANCE and row.bits - width * (row.bits - row.low) > 0:
            return "leak" if row.collections >= FEWEST else "too few"
        if row.collections < FEWEST or row.high > max(HIDDEN, TOLERANCE):
            return "too few"
        return "below zero" if row.high < -TOLERANCE else "zero"

    @property
    def ok(self) -> bool:
        """Whether no control shows a leak."""
        return all(self.verdict(row) != "leak" for row in self.controls)

    @property
    def judged(self) -> bool:
        """Whether every control could be judged."""
        return all(self.verdict(row) != "too few" for row in self.controls)

    @property
    def needed(self) -> int:
        """How many collections it takes to measure on, for every control to be judged."""
        few = [row for row in self.controls if self.verdict(row) == "too few"]
        # The width of an interval falls with the root of their number.
        counts = [math.ceil(row.collections * ((row.high - row.bits) / HIDDEN) ** 2) for row in few]
        return max([FEWEST, *counts]) if few else 0

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON; a control with what it says."""
        said = [self.verdict(row) if row in self.controls else None for row in self.rows]
        rows = [{**asdict(row), "verdict": verdict} for row, verdict in zip(self.rows, said, strict=True)]
        about = {"ok": self.ok, "judged": self.judged, "needed": self.needed, "notes": list(self.notes)}
        return {**about, "rows": rows}

    def card(self) -> dict[str, dict[str, float]]:
        """The controls as a model's card tells them: bits by data and scorer."""
        bits: dict[str, dict[str, float]] = {}
        for row in self.controls:
            bits.setdefault(row.data, {})[row.scorer] = round(row.bits, 4) + 0.0  # no -0.0
        return bits


def audit(
    trainable: Trainable, *, progress: Callable[[str, Progress], None] | None = None, controls_only: bool = False
) -> AuditReport:
    """Train on the real collections, unless ``controls_only``, and on the controls of a kind; report the bits of each.

    Every training follows the same recipe; ``progress`` is called after each epoch with the name of the data.
    """
    rows: list[AuditRow] = []
    trained = None
    for name in (REAL, *trainable.controls)[controls_only:]:
        done, found = audit_one(name, trainable, progress=None if progress is None else partial(progress, name))
        rows += found
        trained = done if name == REAL else trained
    return AuditReport(rows, trained)


def audit_one(name: str, trainable: Trainable, *, progress: Report | None = None) -> tuple[Trained, list[AuditRow]]:
    """One row of the audit for each scorer; ``name`` is ``"real"`` or a control."""
    done = (trainable if name == REAL else trainable.control(name)).train(progress=progress)
    found = done.information.items()
    return done, [AuditRow(name, scorer, i.bits, i.low, i.high, i.collections) for scorer, i in found]
