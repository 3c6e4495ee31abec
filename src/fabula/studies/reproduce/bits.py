"""Stages that measure information about the order: Table 1, the controls, and more data.

Each training is a stage of its own. The epoch is chosen on the development side, the bits are measured on the
evaluation side, which decides nothing within a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.collection import Collection
from fabula.evaluation.parts import Parts
from fabula.studies.reproduce.stages import Workspace

if TYPE_CHECKING:
    from fabula.training.compare import Measured
    from fabula.training.config import TrainingConfig

PAPER_TABLE = {1: 1.924, 2: 1.936, 4: 1.957, 8: 1.950, 16: 1.975}  # what Table 1 of the paper says
DATA = ("real", "noise features", "shuffled orders")


def table1(workspace: Workspace) -> list[dict[str, Any]]:
    """Bits by the number of dimensions of the essence."""
    from fabula.training.compare import ESSENCE, summarise

    rows = []
    for d in workspace.plan.dimensions:
        runs = [table1_run(workspace, d, seed) for seed in range(workspace.plan.seeds)]
        rows.append({**asdict(summarise(ESSENCE, d, runs)), "paper": PAPER_TABLE.get(d)})
    return rows


def table1_run(workspace: Workspace, d: int, seed: int) -> Measured:
    """One training of Table 1."""
    config = workspace.plan.bits_config(workspace.study.features, dimensions=d, seed=seed)
    return measured_stage(workspace, f"table1-d{d}-{seed}", config, workspace.study.parts)


def measured_stage(workspace: Workspace, stage: str, config: TrainingConfig, parts: Parts) -> Measured:
    """One training that is a stage, and what it tells."""
    from fabula.training.compare import Measured

    most = workspace.plan.most

    def work() -> Any:
        from fabula.training.compare import measure

        return measure(fewer(parts, most), config, device=workspace.plan.device, progress=workspace.epochs_of(stage))

    return Measured(**workspace.stage(stage, {"config": config.to_dict(), "most": most}, work))


def controls(workspace: Workspace) -> list[dict[str, Any]]:
    """The recipe on the real collections and on the two controls that must come out zero."""
    return [row for name in DATA for row in control(workspace, name)]


def control(workspace: Workspace, name: str) -> list[dict[str, Any]]:
    """One training of the audit: on the real collections or on a control; a row for each scorer."""
    study, plan = workspace.study, workspace.plan
    config = plan.bits_config(study.features)
    stage = f"controls-{name.split()[0]}"

    def work() -> Any:
        from fabula.training.audit import audit_one
        from fabula.training.essence import EssenceTraining

        parts = fewer(study.parts, plan.most)
        return audit_one(name, EssenceTraining(parts, config, plan.device), progress=workspace.epochs_of(stage))[1]

    rows: list[dict[str, Any]] = workspace.stage(stage, {"config": config.to_dict(), "most": plan.most}, work)
    return rows


def more_data(workspace: Workspace) -> list[dict[str, Any]]:
    """Bits of a mixture of arcs by the number of training collections."""
    return [more_data_run(workspace, size) for size in sizes(workspace)]


def sizes(workspace: Workspace) -> list[int]:
    """How many training collections the learning curve has at each point."""
    total = len(workspace.study.training)
    return sorted({max(2, round(share * total)) for share in workspace.plan.shares})


def more_data_run(workspace: Workspace, size: int) -> dict[str, Any]:
    """One point of the learning curve."""
    study, plan = workspace.study, workspace.plan
    config = replace(plan.bits_config(study.features), scorers=("arcs",), scorer_weights=())
    # As many steps for few collections as for many, up to a bound, so that data and not steps are short.
    epochs = min(4 * config.epochs, round(config.epochs * len(study.training) / size))
    recipe = replace(config, epochs=epochs)
    stage = f"more-data-{size}"

    def work() -> Any:
        from fabula.training.compare import measure

        return measure(fewer(study.parts, size), recipe, device=plan.device, progress=workspace.epochs_of(stage))

    found = workspace.stage(stage, {"config": recipe.to_dict()}, work)
    return {"collections": size, **{key: found[key] for key in ("bits", "low", "high")}}


def fewer(parts: Parts, most: int) -> Parts:
    """The same parts with at most so many training collections; 0: all."""
    return replace(parts, training=some(parts.training, most))


def some(collections: Sequence[Collection], most: int) -> list[Collection]:
    """At most so many collections (0: all), drawn without an eye on their order in the file, always the same."""
    if not most or most >= len(collections):
        return list(collections)
    chosen = np.sort(np.random.default_rng(0).permutation(len(collections))[:most])
    return [collections[i] for i in chosen.tolist()]
