"""Training from collections to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from fabula.core.collection import Collection
from fabula.evaluation.information import Information
from fabula.models.model import Model
from fabula.training.config import TrainingConfig, resolved
from fabula.training.data.batches import Pool
from fabula.training.data.dataset import check_collections, chosen_features, fingerprint, fit_transform, make_pool
from fabula.training.export import build_model, essence_signs
from fabula.training.loop.distributed import World, join
from fabula.training.loop.epochs import optimise
from fabula.training.loop.measurement import calibrate, encode_pool, information
from fabula.training.loop.optimiser import precision
from fabula.training.loop.run import Progress, Run
from fabula.training.nets.networks import EssenceNet
from fabula.version import __version__


@dataclass(frozen=True, eq=False)
class Trained:
    """What training gives.

    Attributes
    ----------
    model
        Ready to be used and saved; needs no PyTorch.
    information
        Bits on the measured collections (by default those of validation) with their interval, by scorer.
    best_epoch
        The epoch whose weights were kept; 0: nothing better than knowing nothing was found.
    history
        What each epoch brought.
    config
        The settings, with everything decided.
    """

    model: Model
    information: dict[str, Information]
    best_epoch: int
    history: list[Progress] = field(repr=False)
    config: TrainingConfig = field(repr=False)


def train(
    collections: Sequence[Collection],
    validation: Sequence[Collection],
    config: TrainingConfig | None = None,
    *,
    measured: Sequence[Collection] | None = None,
    device: str = "auto",
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    card: Mapping[str, Any] | None = None,
) -> Trained:
    """Train an encoder and its scorers to tell the true order of collections from others.

    Under ``torchrun`` every process calls this with the same arguments; all get the same result.

    Parameters
    ----------
    collections, validation
        Ordered collections of 2 items or more; those of validation decide which epoch is kept.
    config
        By default the preset ``default``.
    measured
        What the bits are measured on; by default those of validation, whose figures lean a little high, since they
        decide.
    device
        ``"auto"`` (a GPU if there is one), ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
    checkpoint
        A file to keep the run in after each epoch.
    resume
        A checkpoint to take up; its settings and collections must be these. It is also written to, unless
        ``checkpoint`` names another.
    progress
        Called after each epoch.
    card
        More to say in the model's card, for example its controls.

    Examples
    --------
    >>> import numpy as np
    >>> from fabula.core.collection import Item
    >>> rng = np.random.default_rng(0)
    >>> rows = np.sort(rng.normal(size=(40, 5, 1)), axis=1)  # every collection rises
    >>> albums = [Collection(str(i), [Item(str(j)) for j in range(5)], row, ["energy"]) for i, row in enumerate(rows)]
    >>> done = train(albums[:30], albums[30:], TrainingConfig(scorers=("arcs",), epochs=20, learning_rate=0.03))
    >>> done.information["arcs"].bits > 1
    True
    """
    given = config or TrainingConfig()
    check_collections(collections, role="training")
    check_collections(validation, role="validation")
    if measured is not None:
        check_collections(measured, role="measuring")
    names = chosen_features(given, collections)
    transform = fit_transform(collections, names, given.logged, given.bound)
    settings = resolved(given, transform.item_shape)
    data = fingerprint(collections, names)
    kept = Path(checkpoint) if checkpoint is not None else Path(resume) if resume is not None else None
    with join(device) as world:
        pool = make_pool(collections, transform, world.device)
        held_out = make_pool(validation, transform, world.device)
        run = optimise(
            lambda: EssenceNet(settings, transform.item_shape),
            pool,
            held_out,
            settings,
            world,
            data=data,
            checkpoint=kept,
            resume=Path(resume) if resume is not None else None,
            progress=progress,
        )
        best = best_net(run)
        with precision("none", world.device):
            if settings.calibrate and run.best_epoch:
                calibrate(best, held_out, settings, world)
            shown = held_out if measured is None else make_pool(measured, transform, world.device)
            found = information(best, shown, settings)
            signs = essence_signs(encode_pool(best, pool), sorted(collections, key=len))
    record = _record(settings, run, data, pool, held_out, world)
    told = {"bits": {name: _shown(info) for name, info in found.items()}, **(card or {})}
    model = build_model(best.state_dict(), settings, transform, signs=signs, training=record, card=told)
    return Trained(model, found, run.best_epoch, run.history, settings)


def best_net(run: Run) -> EssenceNet:
    """The net in the state that did best."""
    with torch.no_grad():
        run.net.load_state_dict(run.best)
    return run.net.eval()


def _record(config: TrainingConfig, run: Run, data: str, pool: Pool, held_out: Pool, world: World) -> dict[str, Any]:
    return {
        "data": data,
        "collections": len(pool),
        "items": len(pool.values),
        "validation_collections": len(held_out),
        "preset": config.preset,
        "seed": config.seed,
        "epochs": run.epoch,
        "best_epoch": run.best_epoch,
        "processes": world.size,
        "settings": config.to_dict(),
        "fabula": __version__,
        "torch": str(torch.__version__),
    }


def _shown(info: Information) -> dict[str, float | int]:
    return {
        "bits": round(info.bits, 4),
        "low": round(info.low, 4),
        "high": round(info.high, 4),
        "ceiling": round(info.ceiling, 4),
        "negatives": info.negatives,
        "collections": info.collections,
    }
