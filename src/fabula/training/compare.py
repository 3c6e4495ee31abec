"""What features, inputs and scorers tell about the order, compared: the paper's Figure 1 and Table 1."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fabula.core.arrays import Floats
from fabula.core.collection import Collection
from fabula.evaluation.controls import Parts, keep_only
from fabula.evaluation.information import Information, mutual_information, suppress_seen_warning
from fabula.models.encoders.set import as_set
from fabula.models.model import Model
from fabula.training.data import choose_features
from fabula.training.item_models import EssenceTraining
from fabula.training.loop import Progress
from fabula.training.recipes import TrainingConfig
from fabula.training.sets import BOTH, DRAWS, SetTraining

ESSENCE = "essence"
ALL = "all inputs"

Tell = Callable[[str, int], None]


@dataclass(frozen=True)
class Compared:
    """What one feature, or the essence, tells about the order."""

    name: str  # the feature, or ``"essence"``
    dimensions: int  # numbers per item
    bits: float  # mean over the seeds, as are the ends of the 95 % interval
    low: float
    high: float
    seeds: tuple[float, ...]  # the bits of each
    correlation: float | None = None  # mean of :attr:`Measured.correlations`; None without an essence


@dataclass(frozen=True)
class Measured:
    """What one run tells."""

    bits: float  # with the 95 % interval over collections
    low: float
    high: float
    correlations: dict[str, float]  # Pearson's, of features and the essence's first dimension, z-scored by collection


def measure(
    parts: Parts, config: TrainingConfig, *, device: str = "auto", progress: Callable[[Progress], None] | None = None
) -> Measured:
    """Train once, with the last scorer of the recipe alone, and measure; :func:`alone` gives that of a feature."""
    scorer = config.scorers[-1]
    recipe = replace(config, scorers=(scorer,), scorer_weights=())
    done = EssenceTraining(parts, recipe, device).train(progress=progress)
    info = done.information[scorer]
    plain = parts.training[0].features.ndim == 2 and done.config.encoder != "identity"
    names = choose_features(config, parts.training) if plain else ()
    essence = [e[:, 0] for e in done.model.encode_all(parts.test)] if names else []
    return Measured(info.bits, info.low, info.high, correlations(essence, parts.test, names))


def alone(config: TrainingConfig, name: str) -> TrainingConfig:
    """The recipe for one feature alone: the encoder is frozen to it (the paper's section 3.1)."""
    return replace(config, features=(name,), encoder="identity", dimensions=1)


class Trial(NamedTuple):
    """One training of a comparison: the name of a feature or ``"essence"``, its dimensions, and the seed."""

    name: str
    dimensions: int
    seed: int
    alone: bool = False  # whether it is a feature by itself; one may be called as the essence is

    @classmethod
    def of(cls, values: Sequence[Any]) -> "Trial":
        """One as a plan of jobs has it; until 0.4 the name alone told a feature."""
        name, dimensions, seed, *more = values
        return cls(name, dimensions, seed, bool(more[0]) if more else name != ESSENCE)


def compare_essence(
    essence: EssenceTraining, *, seeds: int = 5, dimensions: Sequence[int] = (), progress: Tell | None = None
) -> list[Compared]:
    """Bits of the essence, first, and of each of its features alone, most bits first: the paper's Figure 1.

    Or bits by the number of ``dimensions`` of the essence: its Table 1. The last scorer of the recipe measures all;
    ``progress`` is called before each run with the name and the seed.
    """
    found = []
    for trial in list_trials(essence, seeds, dimensions):
        if progress is not None:
            progress(f"d = {trial.dimensions}" if dimensions else trial.name, trial.seed)
        found.append((trial, run_trial(essence, trial)))
    return gather_trials(found, sweep=bool(dimensions))


def list_trials(essence: EssenceTraining, seeds: int, dimensions: Sequence[int] = ()) -> list[Trial]:
    """Every training of :func:`compare_essence`, in its order."""
    if dimensions:
        return [Trial(ESSENCE, d, seed) for d in dimensions for seed in range(seeds)]
    names = choose_features(essence.config, essence.parts.training)
    whole = [Trial(ESSENCE, essence.config.dimensions, seed) for seed in range(seeds)]
    return whole + [Trial(name, 1, seed, alone=True) for name in names for seed in range(seeds)]


def run_trial(essence: EssenceTraining, trial: Trial) -> Measured:
    """Train once and measure."""
    config = replace(essence.config, dimensions=trial.dimensions)
    recipe = alone(config, trial.name) if trial.alone else config
    return measure(essence.parts, replace(recipe, seed=recipe.seed + trial.seed), device=essence.device)


def gather_trials(found: Iterable[tuple[Trial, Measured | Information]], *, sweep: bool = False) -> list[Compared]:
    """The rows of a comparison: by dimensions (``sweep``), or most bits first behind the first."""
    runs: dict[tuple[str, int, bool], list[Any]] = {}
    for trial, result in found:
        runs.setdefault((trial.name, trial.dimensions, trial.alone), []).append(result)
    whole, rows = next(iter(runs.values())), []
    for (name, d, by_itself), each in runs.items():
        bits, low, high = np.mean([(run.bits, run.low, run.high) for run in each], axis=0).tolist()
        correlation = float(np.mean([run.correlations[name] for run in whole])) if by_itself else None
        rows.append(Compared(name, d, bits, low, high, tuple(run.bits for run in each), correlation))
    return rows if sweep else [rows[0], *sorted(rows[1:], key=lambda row: -row.bits)]


def compare_inputs(
    sets: SetTraining, *, seeds: int = 5, dimensions: Sequence[int] = (), progress: Tell | None = None
) -> list[Compared]:
    """Bits of a set model by what it may see, all inputs first, and of its scorers alone, most bits first.

    One model is trained for each seed, and asked with all but some inputs hidden: it was trained to do without. Or bits
    by the number of ``dimensions`` of what it has of each item.
    """
    found: list[tuple[Trial, Information]] = []
    for d in dimensions or (sets.spec.dimensions,):
        for seed in range(seeds):
            if progress is not None:
                progress(f"d = {d}" if dimensions else ALL, seed)
            config, spec = replace(sets.config, seed=sets.config.seed + seed), replace(sets.spec, dimensions=d)
            done = replace(sets, config=config, spec=spec, scorers=(BOTH,) if dimensions else ()).train()
            told = {ESSENCE: done.information[BOTH]} if dimensions else _ask(done.model, sets.parts.test)
            found += [(Trial(name, d, seed), info) for name, info in told.items()]
    return gather_trials(found, sweep=bool(dimensions))


def _ask(model: Model, collections: Sequence[Collection]) -> dict[str, Information]:
    """Bits of each case by name, all inputs first."""
    spec = as_set(model.encoder).spec
    cases: list[tuple[str, tuple[str, ...], bool]] = []
    if spec.titles and spec.features:
        cases += [("without titles", spec.features, False), ("titles alone", (), True)]
    if len(spec.features) > 1 or spec.titles:
        cases += [(name, (name,), False) for name in spec.features]
    with suppress_seen_warning():
        found = {ALL: mutual_information(model, collections, draws=DRAWS)}
        for scorer in model.scorers:
            found[f"{ALL}, {scorer} alone"] = mutual_information(model, collections, draws=DRAWS, scorer=scorer)
        for name, features, titles in cases:
            shown = keep_only(collections, features, titles=titles)
            found[name] = mutual_information(model, shown, draws=DRAWS)
    return found


def correlations(
    essences: Sequence[Floats], collections: Sequence[Collection], names: Sequence[str]
) -> dict[str, float]:
    """Pearson's correlation of each feature with an essence (n,) per collection, both z-scored within each."""
    if not names:
        return {}
    essence = np.concatenate(essences)
    found = {}
    for name in names:
        columns = []  # z-scored within each collection; NaN where a value is missing, or all are alike
        for column in (collection.column(name) for collection in collections):
            there = column[np.isfinite(column)]
            spread = there.std() if len(there) else 0.0
            columns.append((column - there.mean()) / spread if spread > 0 else np.full(len(column), np.nan))
        values = np.concatenate(columns)
        known = np.isfinite(essence) & np.isfinite(values)
        found[name] = float(np.corrcoef(essence[known], values[known])[0, 1]) if known.sum() > 1 else float("nan")
    return found
