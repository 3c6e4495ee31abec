"""Training from collections to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from fabula.core.fingerprints import Fingerprints
from fabula.evaluation.information import Information, makers
from fabula.evaluation.parts import Parts
from fabula.models.model import Model
from fabula.training.config import TrainingConfig, resolved
from fabula.training.data.dataset import check_parts, chosen_features, fingerprint, fit_transform, make_pool
from fabula.training.export import build_model, essence_signs
from fabula.training.loop.checkpoint import Checkpoint
from fabula.training.loop.distributed import World, join, same_everywhere
from fabula.training.loop.epochs import Task, optimise
from fabula.training.loop.measurement import calibrate, encode_pool, information
from fabula.training.loop.optimiser import precision
from fabula.training.loop.run import Progress, Run
from fabula.training.nets.networks import EssenceNet
from fabula.training.nets.twins import check_twins
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
    parts: Parts,
    config: TrainingConfig | None = None,
    *,
    device: str = "auto",
    checkpoint: Checkpoint | None = None,
    progress: Callable[[Progress], None] | None = None,
    card: Mapping[str, Any] | None = None,
) -> Trained:
    """Train an encoder and its scorers to tell the true order of collections from others.

    Under ``torchrun`` every process calls this with the same arguments; all get the same result, and the first alone
    writes the checkpoint and calls ``progress``.

    Parameters
    ----------
    parts
        Ordered collections of 2 items or more.
    config
        By default the preset ``default``.
    device
        ``"auto"`` (a GPU if there is one), ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
    checkpoint
        Where to keep the run after each epoch, and to take it up; settings and collections must be the same then.
    progress
        Called after each epoch.
    card
        More to say in the model's card, for example its controls.

    Examples
    --------
    >>> import numpy as np
    >>> from fabula.core.collection import Collection, Item
    >>> rng = np.random.default_rng(0)
    >>> rows = np.sort(rng.normal(size=(40, 5, 1)), axis=1)  # every collection rises
    >>> albums = [Collection(str(i), [Item(str(j)) for j in range(5)], row, ["energy"]) for i, row in enumerate(rows)]
    >>> config = TrainingConfig(scorers=("arcs",), epochs=20, learning_rate=0.03)
    >>> done = train(Parts(albums[:30], albums[30:]), config)
    >>> done.information["arcs"].bits > 1
    True
    """
    given = config or TrainingConfig()
    check_parts(parts)
    names = chosen_features(given, parts.training)
    transform = fit_transform(parts.training, names, given.logged, given.bound)
    settings = resolved(given, transform.item_shape)
    check_twins(settings, transform.item_shape)
    with join(device) as world:
        pool, validation = (make_pool(part, transform, world.device) for part in (parts.training, parts.validation))
        data = same_everywhere(world, fingerprint(parts.training, names))
        task = Task(lambda: EssenceNet(settings, transform.item_shape), pool, validation, data)
        run = optimise(task, settings, world, checkpoint=checkpoint, progress=progress)
        best = best_net(run)
        with precision("none", world.device):
            if settings.calibrate and run.best_epoch:
                calibrate(best, validation, settings, world)
            shown = validation if parts.measured is None else make_pool(parts.measured, transform, world.device)
            found = information(best, shown, settings, groups=makers(sorted(parts.test, key=len)))
            signs = essence_signs(encode_pool(best, pool), sorted(parts.training, key=len))
    about = {"bits": {name: _rounded(info) for name, info in found.items()}, **(card or {})}
    record = {**_record(settings, run, task, world), "seen": Fingerprints.of(parts.training, names).to_dict()}
    model = build_model(best.state_dict(), settings, transform, signs=signs, training=record, card=about)
    return Trained(model, found, run.best_epoch, run.history, settings)


def best_net(run: Run) -> EssenceNet:
    """The net in the state that did best."""
    with torch.no_grad():
        run.net.load_state_dict(run.best)
    return run.net.eval()


def _record(config: TrainingConfig, run: Run, task: Task, world: World) -> dict[str, Any]:
    return {
        "data": task.data,
        "collections": len(task.pool),
        "items": len(task.pool.values),
        "validation_collections": len(task.validation),
        "preset": config.preset,
        "seed": config.seed,
        "epochs": run.epoch,
        "best_epoch": run.best_epoch,
        "history": _history(run.history),
        "processes": world.size,
        "settings": config.to_dict(),
        "fabula": __version__,
        "torch": str(torch.__version__),
    }


def _history(epochs: list[Progress]) -> dict[str, Any]:
    """Loss and bits of every epoch in columns, with four digits."""
    names = epochs[0].bits if epochs else ()
    bits = {name: [round(epoch.bits[name], 4) for epoch in epochs] for name in names}
    return {"loss": [round(epoch.loss, 4) for epoch in epochs], "bits": bits}


def _rounded(info: Information) -> dict[str, float | int]:
    return {
        "bits": round(info.bits, 4),
        "low": round(info.low, 4),
        "high": round(info.high, 4),
        "ceiling": round(info.ceiling, 4),
        "negatives": info.negatives,
        "collections": info.collections,
    }
