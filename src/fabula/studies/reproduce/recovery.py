"""What the paper lacks: one ordering of each held-out collection from every method, by every metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabula.core.template_set import TemplateSet
from fabula.models.model import Model
from fabula.research.splits import Split
from fabula.studies.evaluate import tabulate
from fabula.studies.recovery import DIRECT, SEARCHES, Methods, recover, searchable
from fabula.studies.reproduce.learned import SEARCH_PARTS, as_orderings, search_part, searching
from fabula.studies.reproduce.stages import Workspace


def recovery(workspace: Workspace, model: Model, templates: TemplateSet, direct: Mapping[str, Any]) -> dict[str, Any]:
    """The table of all methods with intervals and paired tests.

    Parameters
    ----------
    workspace
        Where to work.
    model
        The essence with its mixture of arcs.
    templates
        The squared-error templates of the paper's pipeline.
    direct
        What the stage of the direct sequencer gave.
    """
    study, plan = workspace.study, workspace.plan
    split = Split(study.training, study.evaluation, study.rule)
    searched = dict(pair for part in range(SEARCH_PARTS) for pair in search_part(workspace, part))
    single = study.features if study.evaluation[0].features.ndim == 2 else ()

    def report(what: str) -> None:
        workspace.report("recovery", what)

    def work() -> Any:
        found = recover(split, single, Methods(model=model, templates=templates), progress=report)
        kind = searchable(searching(workspace))
        if searched and kind is not None:
            found[SEARCHES[kind]] = [searched.get(i) for i in range(len(study.evaluation))]
        found[DIRECT] = as_orderings(direct["orderings"])
        report("tests")
        lengths = [len(c) for c in study.evaluation]
        return tabulate(found, lengths, rule=study.rule, resamples=plan.resamples).to_dict()

    settings = {
        "searched": {str(i): ordering.tolist() for i, ordering in searched.items()},
        "resamples": plan.resamples,
        "templates": templates.values.tolist(),
        "training": model.training,
        "direct": direct["history"],
    }
    result: dict[str, Any] = workspace.stage("recovery", settings, work)
    return result
