"""Stages that learn: the essence of each seed, its templates, and the direct sequencer."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.naming import named
from fabula.core.ordering import Ints
from fabula.core.template import PAPER_KNOTS
from fabula.core.template_set import TemplateSet
from fabula.evaluation.parts import Parts
from fabula.models.file import load_essence_model, save_model
from fabula.models.model import Model
from fabula.studies.recovery import direct_orderings, scalar_essences, searchable, searched, spread
from fabula.studies.reproduce.bits import some
from fabula.studies.reproduce.stages import Workspace
from fabula.templates.learning import learn_templates

# How templates are learned, and the options of each method.
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "evolved": ("evolution", {"start": 1.0, "cooling": 1.0}),  # the paper's Algorithm 1 to the letter
    "refined": ("refined", {}),
    "contrast": ("contrastive", {}),
}


SEARCH_PARTS = 8  # stages of the search under a scorer


def essence(workspace: Workspace, seed: int) -> tuple[Model, dict[str, Any]]:
    """A model with an essence of one dimension, its bits and the history of its training."""
    study, plan = workspace.study, workspace.plan
    config = plan.essence_config(study.features, seed)
    return _trained(workspace, f"essence-{seed}", config, some(study.training, 0))


def searching(workspace: Workspace) -> Model:
    """The model whose scorer is searched: the essence's own, or one of its own where the plan says so."""
    study, plan = workspace.study, workspace.plan
    if plan.search_changes is None:
        return essence(workspace, 0)[0]
    config = plan.bits_config(study.features, **{"dimensions": 1, **plan.search_changes})
    return _trained(workspace, "search", config, some(study.training, plan.most))[0]


def search_part(workspace: Workspace, part: int) -> list[tuple[int, Ints]]:
    """The search under its scorer, for one part of the collections it is asked about: their numbers and orderings."""
    model, evaluation = searching(workspace), workspace.study.evaluation
    chosen = spread(len(evaluation), workspace.plan.searched)[part::SEARCH_PARTS]
    if not chosen or searchable(model) is None:
        return []

    def work() -> Any:
        essences = scalar_essences(model, [evaluation[i] for i in chosen])
        return searched(model, essences, len(chosen), np.random.default_rng((1, part)))

    kept = workspace.stage(f"searched-{part}", {"model": fingerprint(model), "chosen": chosen}, work)
    return [(i, np.array(ordering, dtype=np.intp)) for i, ordering in zip(chosen, kept, strict=True)]


def _trained(workspace: Workspace, name: str, config: Any, training: list[Collection]) -> tuple[Model, dict[str, Any]]:
    path = workspace.model_path(name)

    def work() -> Any:
        from fabula.training.essence import train

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
    chosen = some(workspace.study.training, plan.learned_from)
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
        way: {int(k): TemplateSet(named(PAPER_KNOTS, np.array(v))) for k, v in by_count.items()}
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
        return {
            "bits": information_bits(made, study.evaluation),
            "history": list(made.history),
            "orderings": orderings,
        }

    result: dict[str, Any] = workspace.stage("sequencer", settings, work, files=[path])
    return result


def as_orderings(kept: list[list[int] | None]) -> list[Ints | None]:
    """Orderings as they are kept in JSON, back as arrays."""
    return [None if each is None else np.array(each, dtype=np.intp) for each in kept]


def fingerprint(model: Model) -> str:
    """What tells a model from another: a digest of its weights."""
    import hashlib

    digest = hashlib.sha256()
    for name, tensor in model.tensors.items():
        digest.update(name.encode() + np.ascontiguousarray(tensor).tobytes())
    return digest.hexdigest()
