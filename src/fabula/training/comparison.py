"""Comparing features with the essence: the paper's Figure 1 and Table 1, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.evaluation.parts import Parts
from fabula.training.config import TrainingConfig
from fabula.training.data.dataset import chosen_features
from fabula.training.loop.run import Progress
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
        Mean over the seeds of the bits on the measured collections, and of the ends of their 95 % intervals.
    seeds
        The bits of each seed.
    correlation
        Pearson's, of the feature with the first dimension of the essence, both z-scored within each collection, over
        all items of the measured collections; mean over the seeds. None where there is no essence to compare with.
    """

    name: str
    dimensions: int
    bits: float
    low: float
    high: float
    seeds: tuple[float, ...]
    correlation: float | None = None


@dataclass(frozen=True)
class Measured:
    """What one run tells.

    Attributes
    ----------
    bits, low, high
        Bits with their 95 % interval over collections.
    correlations
        Pearson's, of each feature with the first dimension of the essence, both z-scored within each collection.
    """

    bits: float
    low: float
    high: float
    correlations: dict[str, float]


def measure(
    parts: Parts,
    config: TrainingConfig,
    *,
    device: str = "auto",
    progress: Callable[[Progress], None] | None = None,
) -> Measured:
    """Train once, with the last scorer of the recipe alone, and measure.

    Parameters
    ----------
    parts, device, progress
        As :func:`fabula.training.trainer.train` takes them.
    config
        The recipe; :func:`alone` gives that of a feature.
    """
    scorer = config.scorers[-1]
    recipe = replace(config, scorers=(scorer,), scorer_weights=())
    done = train(parts, recipe, device=device, progress=progress)
    info = done.information[scorer]
    plain = parts.training[0].features.ndim == 2 and done.config.encoder != "identity"
    names = chosen_features(config, parts.training) if plain else ()
    essence = [e[:, 0] for e in done.model.encode_all(parts.test)] if names else []
    return Measured(info.bits, info.low, info.high, correlations(essence, parts.test, names))


def alone(config: TrainingConfig, name: str) -> TrainingConfig:
    """The recipe for one feature alone: the encoder is frozen to it (the paper's section 3.1)."""
    return replace(config, features=(name,), encoder="identity", dimensions=1)


def summarise(name: str, dimensions: int, runs: Sequence[Measured], correlation: float | None = None) -> Compared:
    """The runs of all seeds in one row."""
    bits, low, high = np.mean([(run.bits, run.low, run.high) for run in runs], axis=0).tolist()
    return Compared(name, dimensions, bits, low, high, tuple(run.bits for run in runs), correlation)


def compare_features(
    parts: Parts,
    config: TrainingConfig,
    *,
    seeds: int = 5,
    device: str = "auto",
    progress: Callable[[str, int], None] | None = None,
) -> list[Compared]:
    """Bits of the essence and of each of its features alone: the paper's Figure 1.

    Parameters
    ----------
    parts, device
        As :func:`fabula.training.trainer.train` takes them.
    config
        The recipe of the essence; its last scorer is the one that measures all.
    seeds
        Runs of each.
    progress
        Called before each run with the name and the seed.

    Returns
    -------
    The essence first, then the features, most bits first.
    """
    names = chosen_features(config, parts.training)
    essence = _seeds(ESSENCE, parts, config, seeds, device, progress)
    runs = {name: _seeds(name, parts, alone(config, name), seeds, device, progress) for name in names}
    return ranked(essence, runs, config.dimensions)


def ranked(essence_runs: Sequence[Measured], runs: Mapping[str, Sequence[Measured]], dimensions: int) -> list[Compared]:
    """Rows of :func:`compare_features` from the runs of the essence and of each feature.

    Parameters
    ----------
    essence_runs
        Those of the essence, one per seed.
    runs
        The name of a feature, whatever it is, -> its runs.
    dimensions
        Of the essence.
    """
    essence = summarise(ESSENCE, dimensions, essence_runs)
    rows = [
        summarise(name, 1, each, float(np.mean([run.correlations[name] for run in essence_runs])))
        for name, each in runs.items()
    ]
    return [essence, *sorted(rows, key=lambda row: -row.bits)]


def compare_dimensions(
    parts: Parts,
    config: TrainingConfig,
    *,
    dimensions: Sequence[int] = (1, 2, 4, 8, 16),
    seeds: int = 5,
    device: str = "auto",
    progress: Callable[[str, int], None] | None = None,
) -> list[Compared]:
    """Bits by the number of dimensions of the essence: the paper's Table 1.

    Takes what :func:`compare_features` takes.
    """
    rows = []
    for d in dimensions:
        runs = _seeds(f"d = {d}", parts, replace(config, dimensions=d), seeds, device, progress)
        rows.append(summarise(ESSENCE, d, runs))
    return rows


def _seeds(
    name: str,
    parts: Parts,
    config: TrainingConfig,
    seeds: int,
    device: str,
    progress: Callable[[str, int], None] | None,
) -> list[Measured]:
    runs = []
    for seed in range(seeds):
        if progress is not None:
            progress(name, seed)
        runs.append(measure(parts, replace(config, seed=config.seed + seed), device=device))
    return runs


def correlations(
    essences: Sequence[Floats], collections: Sequence[Collection], names: Sequence[str]
) -> dict[str, float]:
    """Pearson's correlation of each feature with an essence (n,) per collection, both z-scored within each."""
    if not names:
        return {}
    essence = np.concatenate(essences)
    return {name: _pearson(essence, _within(collections, name)) for name in names}


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
