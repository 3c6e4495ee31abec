"""The audit: the same recipe on the real collections and on two controls that must come out zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from scipy.special import ndtri

from fabula.errors import InputError
from fabula.evaluation.controls import noise_features, shuffle_orders
from fabula.evaluation.intervals import Interval, mean_interval
from fabula.evaluation.parts import Parts
from fabula.models.transform import log_parts
from fabula.training.config import TrainingConfig, resolved
from fabula.training.data.batches import Pool, draw_orderings
from fabula.training.data.dataset import check_parts, chosen_features, fit_transform, make_pool
from fabula.training.loop.distributed import join
from fabula.training.loop.epochs import Draw, Task, optimise, validation_losses
from fabula.training.loop.loss import to_bits
from fabula.training.loop.run import Progress
from fabula.training.nets.networks import EssenceNet
from fabula.training.trainer import Trained, best_net, train

TOLERANCE = 0.02  # bits a control may differ from zero
FEWEST = 20  # collections measured, below which nothing is judged
HIDDEN = 0.1  # bits of a leak that must not be able to hide in the width of an interval
CONTROLS = ("noise features", "shuffled orders")
TITLES = "shuffled titles"  # the control that a model which reads titles has beside them

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
    """What an audit found.

    Attributes
    ----------
    rows
        The real collections (``data`` is ``"real"``) and the controls.
    trained
        What came of the real collections; none where only controls were run.
    notes
        What the user should know of the data: what gives the order away is seen by no control.
    """

    rows: list[AuditRow]
    trained: Trained | None = None
    notes: tuple[str, ...] = ()

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
        return max((_needed(row) for row in self.controls if self.verdict(row) == "too few"), default=0)

    def card(self) -> dict[str, dict[str, float]]:
        """The controls as a model's card tells them: bits by data and scorer."""
        bits: dict[str, dict[str, float]] = {}
        for row in self.controls:
            bits.setdefault(row.data, {})[row.scorer] = round(row.bits, 4) + 0.0  # no -0.0
        return bits


def _needed(row: AuditRow) -> int:
    """Collections by which the interval would be narrow enough: its width falls with the root of their number."""
    half = row.high - row.bits
    return max(FEWEST, math.ceil(row.collections * (half / HIDDEN) ** 2))


def audit(
    parts: Parts,
    config: TrainingConfig | None = None,
    *,
    device: str = "auto",
    progress: Callable[[str, Progress], None] | None = None,
    controls_only: bool = False,
    published_bug: bool = False,
) -> AuditReport:
    """Train on the real collections, on noise in place of their features, and on shuffled orders; report the bits.

    Parameters
    ----------
    parts, config, device
        As :func:`fabula.training.trainer.train` takes them; every training follows the same recipe. Without parts to
        measure on, a tenth of the training collections decides, so that what is measured on decides nothing.
    progress
        Called after each epoch with the name of the data and where it stands.
    controls_only
        Leave the real collections out.
    published_bug
        Put in the errors of the published code, on purpose, to see the controls catch them; the scorer must be the
        bilstm.
    """
    given = config or TrainingConfig()
    check_parts(parts)
    parts = parts.nest()
    rows: list[AuditRow] = []
    trained = None
    for name in ("real", *CONTROLS)[controls_only:]:
        report = None if progress is None else _named(progress, name)
        if published_bug:
            rows.append(_leaking_row(name, _data(name, parts, given), given, device, report))
            continue
        done, found = audit_one(name, parts, given, device=device, progress=report)
        rows += found
        trained = done if name == "real" else trained
    return AuditReport(rows, trained)


def audit_one(
    name: str,
    parts: Parts,
    config: TrainingConfig,
    *,
    device: str = "auto",
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Trained, list[AuditRow]]:
    """One row of the audit for each scorer; ``name`` is ``"real"`` or one of :data:`CONTROLS`."""
    done = train(_data(name, parts, config), config, device=device, progress=progress)
    found = done.information.items()
    return done, [AuditRow(name, scorer, i.bits, i.low, i.high, i.collections) for scorer, i in found]


def _named(progress: Callable[[str, Progress], None], name: str) -> Callable[[Progress], None]:
    return lambda where: progress(name, where)


def _data(name: str, parts: Parts, config: TrainingConfig) -> Parts:
    """The parts of the data as they are, or as a control has them."""
    rng = np.random.default_rng((config.seed, len(name)))
    if name == "noise features":
        logged = [log_parts(text, parts.training[0].feature_names)[0] for text in config.logged]
        return parts.map(lambda part: noise_features(part, rng, logged=logged))
    if name == "shuffled orders":
        return parts.map(lambda part: shuffle_orders(part, rng))
    return parts


def _leaking_row(
    name: str, parts: Parts, config: TrainingConfig, device: str, progress: Callable[[Progress], None] | None
) -> AuditRow:
    """What the published code would report."""
    from fabula.training.published_bug import doubled_truth, leaking_net, longest_of

    if config.scorers != ("bilstm",):
        raise InputError(f"the published errors are those of the bilstm: scorers must be bilstm; got {config.scorers}")

    def make(settings: TrainingConfig, shape: tuple[int, ...], pool: Pool) -> EssenceNet:
        return leaking_net(settings, shape, longest_of(pool, settings.batch))

    own = ByItsLoss(make, doubled_truth(config.batch))
    found = own.measure(parts, config, device=device, progress=progress)
    return AuditRow(name, "bilstm, published", found.mean, found.low, found.high, found.n)


@dataclass(frozen=True)
class ByItsLoss:
    """A net measured as published code does: by its own loss, on the collections that decide.

    The estimate that everything else here prints cannot be fooled by how a batch is laid out: it scores every sequence
    by itself, without padding. This one can, and shows what the controls then say.

    Attributes
    ----------
    make_net
        From settings, the shape of an item's features and the training collections to a net.
    draw
        Draws the orderings to be told apart, the true one first.
    """

    make_net: Callable[[TrainingConfig, tuple[int, ...], Pool], EssenceNet]
    draw: Draw = draw_orderings

    def measure(
        self,
        parts: Parts,
        config: TrainingConfig,
        *,
        device: str = "cpu",
        progress: Callable[[Progress], None] | None = None,
    ) -> Interval:
        """Bits of the first scorer with their interval."""
        names = chosen_features(config, parts.training)
        transform = fit_transform(parts.training, names, config.logged, config.bound)
        settings = resolved(config, transform.item_shape)
        with join(device) as world:
            pool, validation = (make_pool(part, transform, world.device) for part in (parts.training, parts.validation))
            net = partial(self.make_net, settings, transform.item_shape, pool)
            run = optimise(Task(net, pool, validation, draw=self.draw), settings, world, progress=progress)
            losses = validation_losses(best_net(run), validation, settings, self.draw)[:, 0].cpu().numpy()
        bits = np.array([to_bits(loss, settings.sequences) for loss in losses])  # (collections,)
        return mean_interval(bits, np.random.default_rng(settings.seed))
