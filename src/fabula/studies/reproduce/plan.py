"""How much of everything a reproduction does: the full run, and the quick one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fabula.errors import InputError
from fabula.models.config import PRESETS

if TYPE_CHECKING:
    from fabula.training.config import TrainingConfig

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """Sizes of a reproduction; the defaults are the full one.

    Attributes
    ----------
    seeds
        Runs of everything that is trained; the paper's five.
    device, jobs
        Where to train, and how many trainings go on side by side.
    preset, changes
        The recipe of the essence.
    bits_preset, bits_changes
        The recipe of Table 1, Figure 1 and the controls; the last scorer is the one measured.
    search_changes
        Changes to the recipe for a model of its own whose scorer is searched; None: the essence's own model.
    sequencer
        Changes to the direct sequencer.
    dimensions, counts
        Of the essence (Table 1); of templates (Figure 2).
    most
        Training collections for Table 1, Figure 1, controls and the search's model; 0: all.
    learned_from
        Training collections templates are learned from; 0: all.
    searched
        Collections the search under a scorer is asked about, at most.
    shares
        Parts of the training collections of the learning curve.
    """

    seeds: int = 5
    device: str = "auto"
    jobs: int = 1
    preset: str = "default"
    changes: Settings = field(default_factory=dict)
    bits_preset: str = "default"
    bits_changes: Settings = field(default_factory=dict)
    search_changes: Settings | None = None
    sequencer: Settings = field(default_factory=lambda: {"epochs": 24})
    dimensions: tuple[int, ...] = (1, 2, 4, 8, 16)
    counts: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    most: int = 0
    learned_from: int = 0
    searched: int = 5000
    shares: tuple[float, ...] = (1 / 64, 1 / 16, 1 / 4, 1.0)
    resamples: int = 2000
    quick: bool = False

    def essence_config(self, features: tuple[str, ...], seed: int) -> TrainingConfig:
        """The recipe of the essence."""
        return _config(self.preset, {"features": features, "dimensions": 1, "seed": seed, **self.changes})

    def bits_config(self, features: tuple[str, ...], **changes: Any) -> TrainingConfig:
        """The recipe of Table 1, Figure 1 and the controls."""
        return _config(self.bits_preset, {"features": features, **self.bits_changes, **changes})


def make_plan(
    *,
    quick: bool = False,
    seeds: int | None = None,
    device: str = "auto",
    jobs: int = 1,
    preset: str | None = None,
) -> Plan:
    """The full plan or the quick one.

    Parameters
    ----------
    quick
        Fewer seeds, epochs and collections: minutes on two cores.
    seeds
        Runs of everything that is trained; 5, or 2 when quick.
    device
        ``"auto"``, ``"cpu"`` or ``"cuda"``.
    jobs
        Stages done side by side, in processes of their own; results differ by rounding at most.
    preset
        The recipe of everything that is trained: ``"default"``, ``"arcs"`` or ``"paper"``; by default that of the plan.
    """
    make = quick_plan if quick else full_plan
    plan = make(seeds=seeds or (2 if quick else 5), device=device, jobs=jobs)
    if preset is None:
        return plan
    if preset not in PRESETS:
        raise InputError(f"there is no preset {preset!r}; there are: {', '.join(PRESETS)}", field="preset")
    return replace(plan, preset=preset, bits_preset=preset)


def full_plan(*, seeds: int = 5, device: str = "auto", jobs: int = 1) -> Plan:
    """The whole thing, best on a GPU."""
    return Plan(seeds=seeds, device=device, jobs=jobs)


def quick_plan(*, seeds: int = 2, device: str = "auto", jobs: int = 1) -> Plan:
    """Fewer seeds, epochs and collections, and the mixture of arcs as the scorer: minutes on two cores."""
    return Plan(
        seeds=seeds,
        device=device,
        jobs=jobs,
        preset="arcs",
        changes={"epochs": 20},
        bits_preset="arcs",
        bits_changes={"epochs": 10, "draws": 1},
        search_changes={"preset": "default", "epochs": 5, "negatives": 7, "draws": 1},
        sequencer={"epochs": 8},
        most=6000,
        learned_from=4000,
        searched=60,
        shares=(1 / 64, 1 / 16, 1 / 4, 1.0),
        quick=True,
    )


def _config(preset: str, changes: dict[str, Any]) -> TrainingConfig:
    from fabula.training.config import preset as named

    return named(changes.pop("preset", preset), **changes)
