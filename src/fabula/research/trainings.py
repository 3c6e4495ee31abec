"""Stages that train: the bits of Table 1, Figure 1, the controls and more data; the essence, and what learns from it.

Each training is a stage of its own. The epoch is chosen on the development side, the bits are measured on the
evaluation side, which decides nothing within a run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection
from fabula.core.template import PAPER_KNOTS, TemplateSet, name_templates
from fabula.evaluation.controls import Parts
from fabula.models.model import Model, load_essence_model, save_model
from fabula.research.recovery import direct_orderings, evenly_spaced, scalar_essences, search_scorer, searchable
from fabula.research.workspace import Workspace
from fabula.templates.learn import learn_templates

if TYPE_CHECKING:
    from fabula.training.compare import Measured
    from fabula.training.recipes import TrainingConfig

PAPER_TABLE = {1: 1.924, 2: 1.936, 4: 1.957, 8: 1.950, 16: 1.975}  # what Table 1 of the paper says
DATA = ("real", "noise features", "shuffled orders")
FROZEN = "the frozen essence"
SEARCH_PARTS = 8  # stages of the search under a scorer
# How templates are learned, and the options of each method.
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "evolved": ("evolution", {"start": 1.0, "cooling": 1.0}),  # the paper's Algorithm 1 to the letter
    "refined": ("refined", {}),
    "contrast": ("contrastive", {}),
}


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
    return measure_stage(workspace, f"table1-d{d}-{seed}", config, workspace.study.parts)


def measure_stage(workspace: Workspace, stage: str, config: TrainingConfig, parts: Parts) -> Measured:
    """One training that is a stage, and what it tells."""
    from fabula.training.compare import Measured

    most = workspace.plan.most

    def work() -> Any:
        from fabula.training.compare import measure

        return measure(fewer(parts, most), config, device=workspace.plan.device, progress=workspace.epochs_of(stage))

    return Measured(**workspace.stage(stage, {"config": config.to_dict(), "most": most}, work))


def control(workspace: Workspace, name: str) -> list[dict[str, Any]]:
    """One training of the audit: on the real collections or on a control; a row for each scorer."""
    study, plan = workspace.study, workspace.plan
    config = plan.bits_config(study.features)
    stage = f"controls-{name.split()[0]}"

    def work() -> Any:
        from fabula.training.audit import audit_one
        from fabula.training.item_models import EssenceTraining

        parts = fewer(study.parts, plan.most)
        return audit_one(name, EssenceTraining(parts, config, plan.device), progress=workspace.epochs_of(stage))[1]

    return list(workspace.stage(stage, {"config": config.to_dict(), "most": plan.most}, work))


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
    return replace(parts, training=draw_some(parts.training, most))


def draw_some(collections: Sequence[Collection], most: int) -> list[Collection]:
    """At most so many collections (0: all), drawn without an eye on their order in the file, always the same."""
    if not most or most >= len(collections):
        return list(collections)
    chosen = np.sort(np.random.default_rng(0).permutation(len(collections))[:most])
    return [collections[i] for i in chosen.tolist()]


def essence(workspace: Workspace, seed: int) -> tuple[Model, dict[str, Any]]:
    """A model with an essence of one dimension, its bits and the history of its training."""
    study, plan = workspace.study, workspace.plan
    config = plan.essence_config(study.features, seed)
    return _train_stage(workspace, f"essence-{seed}", config, draw_some(study.training, 0))


def search_model(workspace: Workspace) -> Model:
    """The model whose scorer is searched: the essence's own, or one of its own where the plan says so."""
    study, plan = workspace.study, workspace.plan
    if plan.search_changes is None:
        return essence(workspace, 0)[0]
    config = plan.bits_config(study.features, **{"dimensions": 1, **plan.search_changes})
    return _train_stage(workspace, "search", config, draw_some(study.training, plan.most))[0]


def search_part(workspace: Workspace, part: int) -> list[tuple[int, Ints]]:
    """The search under its scorer, for one part of the collections it is asked about: their numbers and orderings."""
    model, evaluation = search_model(workspace), workspace.study.evaluation
    chosen = evenly_spaced(len(evaluation), workspace.plan.searched)[part::SEARCH_PARTS]
    if not chosen or searchable(model) is None:
        return []

    def work() -> Any:
        essences = scalar_essences(model, [evaluation[i] for i in chosen])
        return search_scorer(model, essences, len(chosen), np.random.default_rng((1, part)))

    kept = workspace.stage(f"searched-{part}", {"model": fingerprint(model), "chosen": chosen}, work)
    return [(i, np.array(ordering, dtype=np.intp)) for i, ordering in zip(chosen, kept, strict=True)]


def _train_stage(
    workspace: Workspace, name: str, config: Any, training: list[Collection]
) -> tuple[Model, dict[str, Any]]:
    path = workspace.model_path(name)

    def work() -> Any:
        from fabula.training.item_models import train

        parts = Parts(training, workspace.study.development)
        done = train(parts, config, device=workspace.plan.device, progress=workspace.epochs_of(name))
        save_model(path, done.model)
        history = [{"epoch": each.epoch, "loss": each.loss, "bits": each.bits} for each in done.history]
        bits = {scorer: {k: v for k, v in asdict(info).items() if k != "per_length"}
                for scorer, info in done.information.items()}  # fmt: skip
        return {"bits": bits, "best_epoch": done.best_epoch, "history": history}

    result = workspace.stage(name, {"config": config.to_dict(), "collections": len(training)}, work, files=[path])
    return load_essence_model(path), result


def template_sets(workspace: Workspace, model: Model, seed: int) -> dict[str, dict[int, TemplateSet]]:
    """Way of learning -> number of templates -> templates, learned from the training collections."""
    plan = workspace.plan
    chosen = draw_some(workspace.study.training, plan.learned_from)
    counts = [k for k in plan.counts if k <= len(chosen)]

    def work() -> Any:
        essences = scalar_essences(model, chosen)
        found: dict[str, dict[int, Floats]] = {}
        for way, (method, options) in WAYS.items():
            for k in counts:
                workspace.report(f"templates-{seed}", f"{way}, {k}")
                learned = learn_templates(essences, k=k, method=method, seed=seed, **options)
                found.setdefault(way, {})[k] = learned.values
        return found

    settings = {"model": fingerprint(model), "counts": counts, "collections": len(chosen), "ways": WAYS}
    values = workspace.stage(f"templates-{seed}", settings, work)
    return {
        way: {int(k): TemplateSet(name_templates(PAPER_KNOTS, np.array(v))) for k, v in by_count.items()}
        for way, by_count in values.items()
    }


def sequencer(workspace: Workspace) -> dict[str, Any]:
    """The direct sequencer: its bits on the evaluation collections, its history and its orderings of them."""
    study, plan = workspace.study, workspace.plan
    path = workspace.model_path("sequencer")
    settings = {"features": list(study.features), **plan.sequencer}

    def work() -> Any:
        from fabula.training.sequencer import SequencerConfig, information_bits, save_sequencer, train_sequencer

        made = train_sequencer(
            study.training,
            study.development,
            SequencerConfig(**{**settings, "features": study.features}),
            device=plan.device,
            progress=lambda epoch, epochs, bits: workspace.report("sequencer", f"epoch {epoch} of {epochs}"),
        )
        save_sequencer(path, made)
        workspace.report("sequencer", "beam search")
        orderings = direct_orderings(made, study.evaluation, np.random.default_rng(0))
        return {"bits": information_bits(made, study.evaluation), "history": list(made.history), "orderings": orderings}

    return dict(workspace.stage("sequencer", settings, work, files=[path]))


def as_orderings(kept: list[list[int] | None]) -> list[Ints | None]:
    """Orderings as they are kept in JSON, back as arrays."""
    return [None if each is None else np.array(each, dtype=np.intp) for each in kept]


def fingerprint(model: Model) -> str:
    """What tells a model from another: a digest of its weights."""
    digest = hashlib.sha256()
    for name, tensor in model.tensors.items():
        digest.update(name.encode() + np.ascontiguousarray(tensor).tobytes())
    return digest.hexdigest()


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
    return measure_stage(workspace, f"figure1-{names.index(name) + 1:02d}-{seed}", alone(config, name), parts)


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
        kept = {c.id for c in parts.test}
        beside = [c for c in plain.test if c.id in kept]
        told = correlations([c.column(FROZEN) for c in parts.test], beside, names)
        return Measured(found.bits, found.low, found.high, told)

    settings = {"config": config.to_dict(), "most": plan.most, "model": fingerprint(model)}
    return Measured(**workspace.stage(stage, settings, work))


def frozen(model: Model, whole: Parts, plain: Parts) -> Parts:
    """Collections whose one feature is a model's essence of them.

    ``whole`` has the features it takes, ``plain`` says who takes part; one that has other items there is left out.
    """
    known = {c.id: c for part in (whole.training, whole.validation, whole.test) for c in part}

    def encode(part: Sequence[Collection]) -> list[Collection]:
        same = [c for c in part if c.id in known and [i.id for i in known[c.id].items] == [i.id for i in c.items]]
        values = model.encode_all([known[c.id] for c in same])
        return [Collection(c.id, c.items, e, (FROZEN,), title=c.title) for c, e in zip(same, values, strict=True)]

    return plain.map(encode)
