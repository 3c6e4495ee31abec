"""Figure 1 of the paper: bits of the essence and of each feature alone, and how they go together.

Where single features are those of other tables than the essence is made of (FMA), the essence is the one that was
learned from its 75 x 7 inputs, frozen: it gets a scorer of its own, as every feature does, on the same collections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fabula.core.collection import Collection
from fabula.evaluation.parts import Parts
from fabula.models.model import Model
from fabula.studies.reproduce.bits import fewer, measured_stage, table1_run
from fabula.studies.reproduce.learned import essence, fingerprint
from fabula.studies.reproduce.stages import Workspace

if TYPE_CHECKING:
    from fabula.training.compare import Measured

FROZEN = "the frozen essence"


def figure1(workspace: Workspace) -> list[dict[str, Any]] | None:
    """Bits of the essence and of each feature alone, and correlations; None where no feature is a single number."""
    from fabula.training.compare import rank

    if workspace.study.plain is None:
        return None
    seeds = range(workspace.plan.seeds)
    runs = {name: [feature_run(workspace, name, seed) for seed in seeds] for name in feature_names(workspace)}
    return [asdict(row) for row in rank([essence_run(workspace, seed) for seed in seeds], runs, 1)]


def feature_names(workspace: Workspace) -> tuple[str, ...]:
    """The features of Figure 1."""
    return workspace.study.plain.training[0].feature_names if workspace.study.plain else ()


def feature_run(workspace: Workspace, name: str, seed: int) -> Measured:
    """One training of Figure 1: a scorer of one feature alone."""
    from fabula.training.compare import alone

    names = feature_names(workspace)
    config = workspace.plan.bits_config(names, dimensions=1, seed=seed)
    parts = workspace.study.plain or workspace.study.parts
    return measured_stage(workspace, f"figure1-{names.index(name) + 1:02d}-{seed}", alone(config, name), parts)


def is_frozen(workspace: Workspace) -> bool:
    """Whether the essence is made of other features than those of Figure 1."""
    plain = workspace.study.plain
    return plain is not None and plain.training is not workspace.study.training


def essence_run(workspace: Workspace, seed: int) -> Measured:
    """The essence of Figure 1: that of Table 1, or the frozen one where the features are others."""
    plain = workspace.study.plain
    if plain is None or not is_frozen(workspace):
        return table1_run(workspace, 1, seed)
    from fabula.training.compare import Measured, alone, correlations, measure

    model, _ = essence(workspace, seed)
    study, plan, names = workspace.study, workspace.plan, feature_names(workspace)
    config = alone(plan.bits_config((FROZEN,), dimensions=1, seed=seed), FROZEN)
    stage = f"figure1-essence-{seed}"

    def work() -> Any:
        parts = frozen(model, study.parts, plain)
        found = measure(fewer(parts, plan.most), config, device=plan.device, progress=workspace.epochs_of(stage))
        kept = {c.id for c in parts.shown}
        beside = [c for c in plain.shown if c.id in kept]
        told = correlations([c.column(FROZEN) for c in parts.shown], beside, names)
        return Measured(found.bits, found.low, found.high, told)

    settings = {"config": config.to_dict(), "most": plan.most, "model": fingerprint(model)}
    return Measured(**workspace.stage(stage, settings, work))


def frozen(model: Model, whole: Parts, plain: Parts) -> Parts:
    """Collections whose one feature is a model's essence of them.

    Parameters
    ----------
    model
        Of one dimension.
    whole
        Collections with the features it takes.
    plain
        Those of the same ids that take part; one that has other items there is left out.
    """
    known = {c.id: c for part in (whole.training, whole.validation, whole.shown) for c in part}

    def encoded(part: Sequence[Collection]) -> list[Collection]:
        same = [c for c in part if c.id in known and [i.id for i in known[c.id].items] == [i.id for i in c.items]]
        values = model.encode_all([known[c.id] for c in same])
        return [Collection(c.id, c.items, e, (FROZEN,), title=c.title) for c, e in zip(same, values, strict=True)]

    return plain.changed(encoded)
