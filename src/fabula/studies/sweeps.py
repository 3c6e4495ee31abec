"""Trainings of ``compare`` and ``audit`` one by one, so that they can be shared out; and what they come to together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from fabula.errors import InputError
from fabula.studies.recipe import Recipe
from fabula.studies.train import MEASURED, prepared

if TYPE_CHECKING:
    from fabula.studies.splits import Split
    from fabula.training.audit import AuditReport
    from fabula.training.comparison import Compared
    from fabula.training.config import TrainingConfig


@dataclass(frozen=True)
class Run:
    """One training of a comparison: the name of a feature or ``"essence"``, its dimensions, and the seed."""

    name: str
    dimensions: int
    seed: int


@dataclass(frozen=True, eq=False)
class Sweep:
    """A recipe that is ready: its settings and collections."""

    config: TrainingConfig
    split: Split
    device: str

    def measured(self, run: Run) -> dict[str, Any]:
        """Train once and measure; as JSON holds it."""
        from fabula.training.comparison import ESSENCE, alone, measure

        config = replace(self.config, dimensions=run.dimensions)
        recipe = config if run.name == ESSENCE else alone(config, run.name)
        seeded = replace(recipe, seed=recipe.seed + run.seed)
        return asdict(measure(self.split.parts, seeded, device=self.device))

    def audited(self, name: str) -> list[dict[str, Any]]:
        """Train on the real collections or a control; a row for each scorer."""
        from fabula.training.audit import audit_one
        from fabula.training.data.dataset import check_parts

        parts = self.split.parts
        check_parts(parts)
        return [asdict(row) for row in audit_one(name, parts.nest(), self.config, device=self.device)[1]]


def open_sweep(recipe: Recipe, *, audit: bool = False) -> Sweep:
    """Read the collections of a recipe; an audit of a small table holds more of it out."""
    if recipe.kind != "essence":
        raise InputError(f"trainings are shared out for models of kind essence; got {recipe.kind}", field="kind")
    config, split = prepared(recipe, least=MEASURED if audit else 0)
    return Sweep(config, split, recipe.device)


def comparison_runs(sweep: Sweep, seeds: int, dimensions: Sequence[int] = ()) -> list[Run]:
    """Every training that :func:`fabula.compare` does, in its order."""
    from fabula.training.comparison import ESSENCE
    from fabula.training.data.dataset import chosen_features

    if dimensions:
        return [Run(ESSENCE, d, seed) for d in dimensions for seed in range(seeds)]
    names = chosen_features(sweep.config, sweep.split.training)
    essence = [Run(ESSENCE, sweep.config.dimensions, seed) for seed in range(seeds)]
    return essence + [Run(name, 1, seed) for name in names for seed in range(seeds)]


def compared(found: Sequence[tuple[Run, Mapping[str, Any]]], *, sweep: bool = False) -> list[Compared]:
    """The rows of :func:`fabula.compare`, from its trainings; ``sweep`` where they are by dimensions."""
    from fabula.training.comparison import ESSENCE, Measured, ranked, summarise

    runs: dict[tuple[str, int], list[Measured]] = {}
    for run, result in found:
        runs.setdefault((run.name, run.dimensions), []).append(Measured(**result))
    if sweep:
        return [summarise(name, d, each) for (name, d), each in runs.items()]
    (_, d), essence = next(iter(runs.items()))
    return ranked(essence, {name: each for (name, _), each in runs.items() if name != ESSENCE}, d)


def audit_report(rows: Sequence[Mapping[str, Any]]) -> AuditReport:
    """The report of :func:`fabula.audit`, from the rows of its trainings."""
    from fabula.training.audit import AuditReport, AuditRow

    return AuditReport([AuditRow(**row) for row in rows])


def audited_data(*, controls_only: bool) -> list[str]:
    """What an audit trains on."""
    from fabula.training.audit import CONTROLS

    return [*([] if controls_only else ["real"]), *CONTROLS]
