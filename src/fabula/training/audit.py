"""The audit: the same recipe on the real collections and on two controls that must come out zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.collection import Collection
from fabula.errors import InputError
from fabula.evaluation.controls import noise_features, shuffled_orders
from fabula.evaluation.information import bootstrap_interval
from fabula.models.transform import log_parts
from fabula.training.config import TrainingConfig, resolved
from fabula.training.data.dataset import check_collections, chosen_features, fit_transform, make_pool
from fabula.training.loop.distributed import join
from fabula.training.loop.epochs import optimise, validation_losses
from fabula.training.loop.loss import to_bits
from fabula.training.loop.run import Progress
from fabula.training.trainer import Trained, best_net, train

TOLERANCE = 0.02  # bits a control may differ from zero
CONTROLS = ("noise features", "shuffled orders")


@dataclass(frozen=True)
class AuditRow:
    """Bits of one scorer on one set of collections, with the 95 % interval."""

    data: str
    scorer: str
    bits: float
    low: float
    high: float


@dataclass(frozen=True)
class AuditReport:
    """What an audit found.

    Attributes
    ----------
    rows
        The real collections (``data`` is ``"real"``) and the controls.
    trained
        What came of the real collections; none where only controls were run.
    """

    rows: list[AuditRow]
    trained: Trained | None = None

    @property
    def controls(self) -> list[AuditRow]:
        """The rows that must be zero."""
        return [row for row in self.rows if row.data in CONTROLS]

    @property
    def ok(self) -> bool:
        """Whether every control came out within 0.02 bits of zero."""
        return all(abs(row.bits) < TOLERANCE for row in self.controls)

    def card(self) -> dict[str, dict[str, float]]:
        """The controls as a model's card tells them: bits by data and scorer."""
        told: dict[str, dict[str, float]] = {}
        for row in self.controls:
            told.setdefault(row.data, {})[row.scorer] = round(row.bits, 4) + 0.0  # no -0.0
        return told


def audit(
    collections: Sequence[Collection],
    validation: Sequence[Collection],
    config: TrainingConfig | None = None,
    *,
    measured: Sequence[Collection] | None = None,
    device: str = "auto",
    progress: Callable[[str, Progress], None] | None = None,
    controls_only: bool = False,
    published_bug: bool = False,
) -> AuditReport:
    """Train on the real collections, on noise in place of their features, and on shuffled orders; report the bits.

    Parameters
    ----------
    collections, validation, config, measured, device
        As :func:`fabula.training.trainer.train` takes them; every training follows the same recipe.
    progress
        Called after each epoch with the name of the data and where it stands.
    controls_only
        Leave the real collections out.
    published_bug
        Put in the errors of the published code, on purpose, to see the controls catch them; the scorer must be the
        bilstm.
    """
    given = config or TrainingConfig()
    check_collections(collections, role="training")
    check_collections(validation, role="validation")
    rows: list[AuditRow] = []
    trained = None
    for name in ("real", *CONTROLS)[controls_only:]:
        told = None if progress is None else _named(progress, name)
        if published_bug:
            rows.append(_leaking_row(name, _data(name, [collections, validation], given), given, device, told))
            continue
        done, found = audit_one(name, collections, validation, given, measured=measured, device=device, progress=told)
        rows += found
        trained = done if name == "real" else trained
    return AuditReport(rows, trained)


def audit_one(
    name: str,
    collections: Sequence[Collection],
    validation: Sequence[Collection],
    config: TrainingConfig,
    *,
    measured: Sequence[Collection] | None = None,
    device: str = "auto",
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Trained, list[AuditRow]]:
    """One row of the audit for each scorer; ``name`` is ``"real"`` or one of :data:`CONTROLS`."""
    parts = [collections, validation, *([] if measured is None else [measured])]
    training, deciding, *rest = _data(name, parts, config)
    done = train(training, deciding, config, measured=rest[0] if rest else None, device=device, progress=progress)
    return done, [AuditRow(name, scorer, i.bits, i.low, i.high) for scorer, i in done.information.items()]


def _named(progress: Callable[[str, Progress], None], name: str) -> Callable[[Progress], None]:
    return lambda where: progress(name, where)


def _data(name: str, parts: Sequence[Sequence[Collection]], config: TrainingConfig) -> list[Sequence[Collection]]:
    """The parts of the data as they are, or as a control has them."""
    rng = np.random.default_rng((config.seed, len(name)))
    if name == "noise features":
        logged = [log_parts(text, parts[0][0].feature_names)[0] for text in config.logged]
        return [noise_features(part, rng, logged=logged) for part in parts]
    if name == "shuffled orders":
        return [shuffled_orders(part, rng) for part in parts]
    return list(parts)


def _leaking_row(
    name: str,
    parts: Sequence[Sequence[Collection]],
    config: TrainingConfig,
    device: str,
    progress: Callable[[Progress], None] | None,
) -> AuditRow:
    """What the published code would report: its own loss, on its own orderings."""
    from fabula.training.published_bug import doubled_truth, leaking_net

    if config.scorers != ("bilstm",):
        raise InputError(f"the published errors are those of the bilstm: scorers must be bilstm; got {config.scorers}")
    transform = fit_transform(parts[0], chosen_features(config, parts[0]), config.logged, config.bound)
    settings = resolved(config, transform.item_shape)
    draw = doubled_truth(settings.batch)
    with join(device) as world:
        pool, held_out = (make_pool(part, transform, world.device) for part in parts)
        run = optimise(
            lambda: leaking_net(settings, transform.item_shape),
            pool,
            held_out,
            settings,
            world,
            progress=progress,
            draw=draw,
        )
        losses = validation_losses(best_net(run), held_out, settings, draw)[:, 0].cpu().numpy()  # (collections,)
    bits = np.array([to_bits(loss, settings.sequences) for loss in losses])
    low, high = bootstrap_interval(bits, np.random.default_rng(settings.seed))
    return AuditRow(name, "bilstm, published", float(bits.mean()), low, high)
