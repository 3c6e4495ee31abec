"""Comparing features with the essence: the paper's Figure 1 and Table 1, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.evaluation.information import Information
from fabula.models.model import Model
from fabula.training.config import TrainingConfig
from fabula.training.gathering import chosen_features
from fabula.training.trainer import train

ESSENCE = "essence"


@dataclass(frozen=True)
class Compared:
    """What one feature, or the essence, tells about the order.

    Attributes
    ----------
    name
        The feature, or ``"essence"``.
    dimensions
        How many numbers per item.
    bits, low, high
        Mean over the seeds of the bits on validation, and of the ends of their 95 % intervals over collections.
    seeds
        The bits of each seed.
    correlation
        Pearson's, of the feature with the first dimension of the essence, both z-scored within each collection, over
        all items of the validation collections; mean over the seeds. None where there is no essence to compare with.
    """

    name: str
    dimensions: int
    bits: float
    low: float
    high: float
    seeds: tuple[float, ...]
    correlation: float | None = None


def compare(
    collections: Sequence[Collection],
    validation: Sequence[Collection],
    config: TrainingConfig,
    *,
    seeds: int = 5,
    device: str = "auto",
    progress: Callable[[str, int], None] | None = None,
) -> list[Compared]:
    """Bits of the essence and of each of its features alone, each with a scorer of its own (the paper's section 3.1).

    Parameters
    ----------
    collections, validation, device
        As :func:`fabula.training.trainer.train` takes them.
    config
        The recipe for the essence; for a feature alone the encoder is frozen to it. The first scorer is compared.
    seeds
        How many runs each.
    progress
        Called before each run with the name and the seed.

    Returns
    -------
    The essence first, then the features, most bits first.
    """
    scorer = config.scorers[-1]
    recipe = replace(config, scorers=(scorer,), scorer_weights=())
    names = chosen_features(recipe, collections)
    models: list[Model] = []

    def runs(name: str, settings: TrainingConfig) -> list[Information]:
        measured = []
        for seed in range(seeds):
            if progress is not None:
                progress(name, seed)
            done = train(collections, validation, replace(settings, seed=config.seed + seed), device=device)
            measured.append(done.information[scorer])
            if name == ESSENCE:
                models.append(done.model)
        return measured

    essence = _row(ESSENCE, config.dimensions, runs(ESSENCE, recipe))
    correlations = _correlations(models, validation, names)
    rows = []
    for name in names:
        alone = replace(recipe, features=(name,), encoder="identity", dimensions=1)
        rows.append(_row(name, 1, runs(name, alone), correlations[name]))
    return [essence, *sorted(rows, key=lambda row: -row.bits)]


def sweep(
    collections: Sequence[Collection],
    validation: Sequence[Collection],
    config: TrainingConfig,
    *,
    dimensions: Sequence[int] = (1, 2, 4, 8, 16),
    seeds: int = 5,
    device: str = "auto",
    progress: Callable[[str, int], None] | None = None,
) -> list[Compared]:
    """Bits by the number of dimensions of the essence: the paper's Table 1.

    Takes what :func:`compare` takes.
    """
    scorer = config.scorers[-1]
    rows = []
    for d in dimensions:
        measured = []
        for seed in range(seeds):
            if progress is not None:
                progress(f"d = {d}", seed)
            settings = replace(config, dimensions=d, scorers=(scorer,), scorer_weights=(), seed=config.seed + seed)
            measured.append(train(collections, validation, settings, device=device).information[scorer])
        rows.append(_row(ESSENCE, d, measured))
    return rows


def _row(name: str, dimensions: int, runs: Sequence[Information], correlation: float | None = None) -> Compared:
    bits, low, high = np.mean([(info.bits, info.low, info.high) for info in runs], axis=0).tolist()
    return Compared(name, dimensions, bits, low, high, tuple(info.bits for info in runs), correlation)


def _correlations(models: Sequence[Model], validation: Sequence[Collection], names: Sequence[str]) -> dict[str, float]:
    essences = [np.concatenate(model.encode_all(validation))[:, 0] for model in models]
    return {
        name: float(np.mean([_pearson(essence, _within(validation, name)) for essence in essences])) for name in names
    }


def _within(collections: Sequence[Collection], name: str) -> Floats:
    """A feature z-scored within each collection, laid end to end; NaN where it is missing or constant."""
    columns = []
    for collection in collections:
        values = collection.column(name)
        known = values[np.isfinite(values)]
        spread = known.std() if len(known) else 0.0
        columns.append((values - known.mean()) / spread if spread > 0 else np.full(len(values), np.nan))
    return np.concatenate(columns)


def _pearson(a: Floats, b: Floats) -> float:
    both = np.isfinite(a) & np.isfinite(b)
    return float(np.corrcoef(a[both], b[both])[0, 1]) if both.sum() > 1 else float("nan")
