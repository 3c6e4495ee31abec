"""Stages about templates: Figure 2, its significance, Figures 4 and 5 (who follows which), Figure 6 (one example)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.fit import fit
from fabula.core.template_set import TemplateSet
from fabula.evaluation.baselines import best_scores, random_proposals, shuffled_proposals, template_proposals
from fabula.evaluation.comparison import ComparisonSettings, compare_scores
from fabula.evaluation.intervals import bootstrap
from fabula.media.music.tracks import SHOWN_CREATOR, SHOWN_TITLE
from fabula.models.model import Model
from fabula.studies.recovery import scalar_essences
from fabula.studies.reproduce.learned import essence, template_sets
from fabula.studies.reproduce.stages import Workspace, plain
from fabula.templates.genealogy import trace_genealogy

RANDOM = "k random orderings"
NAMES = {"evolved": "evolved templates", "refined": "refined templates", "contrast": "contrastive templates"}
METRICS = ("edit", "spearman")
SHORT, LONG = 7, 15  # items of a collection of typical length, as in the paper's Figure 4

Sets = Mapping[str, Mapping[int, TemplateSet]]
Scores = dict[tuple[str, int, str], Floats]  # (name, k, metric) -> best score of each collection


def shuffled_name(way: str) -> str:
    """What the second baseline of a way of learning is called."""
    return f"{NAMES[way]}, essence shuffled"


def figure2(workspace: Workspace) -> dict[str, Any]:
    """Best score of k proposals by k: templates of every way of learning, and both baselines of each.

    Scores are those of each evaluation collection, mean over the seeds.
    """
    runs = [seed_scores(workspace, seed) for seed in range(workspace.plan.seeds)]
    scores = {key: np.mean([run[key] for run in runs], axis=0) for key in runs[0]}

    def work() -> Any:
        rows = [_interval_row(key, values, workspace.plan.resamples) for key, values in scores.items()]
        gains = _gains(scores, workspace.plan.resamples)
        four = {key: values for key, values in scores.items() if key[1] == _main_count(workspace)}
        return {
            "rows": rows,
            "gains": gains,
            "k": _main_count(workspace),
            "scores": [[*key, v] for key, v in four.items()],
        }

    digest = hashlib.sha256(b"".join(repr(key).encode() + values.tobytes() for key, values in scores.items()))
    settings = {"scores": digest.hexdigest(), "resamples": workspace.plan.resamples}
    result: dict[str, Any] = workspace.stage("figure2", settings, work)
    return result


def seed_scores(workspace: Workspace, seed: int) -> Scores:
    """The scores of one seed: of its essence, along the templates learned on it."""
    model, _ = essence(workspace, seed)
    sets = template_sets(workspace, model, seed)
    shapes = {way: {k: ts.values.tolist() for k, ts in by.items()} for way, by in sets.items()}

    def work() -> Any:
        essences = scalar_essences(model, workspace.study.evaluation)
        found = _scored(workspace, essences, sets, np.random.default_rng((seed, 7)))
        return [[*key, values.round(6)] for key, values in found.items()]

    kept = workspace.stage(f"figure2-{seed}", {"templates": shapes, "metrics": METRICS}, work)
    return {(name, k, metric): np.array(values) for name, k, metric, values in kept}


def _scored(workspace: Workspace, essences: list[Floats], sets: Sets, rng: np.random.Generator) -> Scores:
    lengths = [len(e) for e in essences]
    scores: Scores = {}
    for k in next(iter(sets.values())):
        workspace.report("figure2", f"k = {k}")
        proposals = {RANDOM: random_proposals(lengths, k, rng)}
        for way, by_count in sets.items():
            proposals[NAMES[way]] = template_proposals(essences, by_count[k], rng)
            proposals[shuffled_name(way)] = shuffled_proposals(essences, by_count[k], rng)
        for name, proposed in proposals.items():
            for metric in METRICS:
                scores[name, k, metric] = best_scores(proposed, metric)
    return scores


def _gains(scores: Scores, resamples: int) -> list[dict[str, Any]]:
    """What each way of learning gains over its own templates with the essence shuffled, paired by collection."""
    names = {NAMES[way]: shuffled_name(way) for way in NAMES}
    return [
        _interval_row(key, values - scores[names[key[0]], key[1], key[2]], resamples)
        for key, values in scores.items()
        if key[0] in names
    ]


def _interval_row(key: tuple[str, int, str], values: Floats, resamples: int) -> dict[str, Any]:
    interval = bootstrap(values, np.random.default_rng(0), resamples=resamples)
    return {"name": key[0], "k": key[1], "metric": key[2], **asdict(interval)}


def _main_count(workspace: Workspace) -> int:
    """The paper's k = 4, or the largest there is below."""
    return max(k for k in workspace.plan.counts if k <= 4)


def significance(workspace: Workspace, figure: Mapping[str, Any]) -> dict[str, Any]:
    """Paired t-tests of the templates against both baselines at k = 4, Holm-Bonferroni over all of them."""
    scores = {f"{metric}\0{name}": np.array(values) for name, _, metric, values in figure["scores"]}
    ways = [way for way in NAMES if f"{METRICS[0]}\0{NAMES[way]}" in scores]
    pairs = [
        (f"{metric}\0{NAMES[way]}", f"{metric}\0{other}")
        for metric in METRICS
        for way in ways
        for other in (RANDOM, shuffled_name(way))
    ]
    rows = []
    for each in compare_scores(scores, pairs=pairs, settings=ComparisonSettings(resamples=workspace.plan.resamples)):
        metric, _, a = each.a.partition("\0")
        rows.append({**asdict(each), "metric": metric, "a": a, "b": each.b.partition("\0")[2]})
    return {"k": figure["k"], "rows": plain(rows)}


def kinship(workspace: Workspace, model: Model, sets: Sets, way: str = "refined") -> dict[str, Any]:
    """Figures 4 and 5: how templates descend from each other, and the collections that follow them best and worst."""
    typical = [c for c in workspace.study.evaluation if SHORT <= len(c) <= LONG] or workspace.study.evaluation
    chosen = [sets[way][k] for k in sorted(sets[way])]

    def work() -> Any:
        essences = scalar_essences(model, typical)
        traced = trace_genealogy(chosen, essences).to_dict()
        named = {i for g in traced["generations"] for t in g["templates"] for i in (*t["best"], *t["worst"])}
        arcs = {str(i): {"title": _title(typical[i]), "essence": essences[i]} for i in sorted(named)}
        return {**traced, "k": _main_count(workspace), "arcs": arcs, "collections": len(typical)}

    settings = {"templates": [ts.values.tolist() for ts in chosen], "way": way}
    result: dict[str, Any] = workspace.stage("kinship", settings, work)
    return result


def example(workspace: Workspace, model: Model, sets: Sets, way: str = "refined") -> dict[str, Any]:
    """Figure 6: one collection in its own order and fitted to the four templates."""
    shown = _shown(workspace)
    [arc] = scalar_essences(model, [shown])
    fits = []
    for template in sets[way][_main_count(workspace)]:
        found = fit(arc, template)
        fits.append(
            {
                "name": template.name,
                "knots": template.knots,
                "values": template.values,
                "ordering": found.ordering,
                "mean": found.mean,
                "worst": found.worst,
            }
        )
    labels = [item.label for item in shown.items]
    seen = any(c is shown for c in workspace.study.training)
    return dict(plain({"title": _title(shown), "labels": labels, "essence": arc, "fits": fits, "trained_on": seen}))


def _shown(workspace: Workspace) -> Collection:
    """The collection the paper shows where the data have it, else the first evaluated one of typical length."""
    study = workspace.study
    everywhere = [*study.evaluation, *study.development, *study.training]
    called = [c for c in everywhere if c.title.casefold() == SHOWN_TITLE]
    called.sort(key=lambda c: SHOWN_CREATOR not in c.items[0].creator.casefold())
    typical = [c for c in study.evaluation if SHORT <= len(c) <= LONG]
    return (called or typical or study.evaluation)[0]


def _title(collection: Collection) -> str:
    creator = collection.items[0].creator
    title = collection.title or collection.id
    return f"{title} ({creator})" if creator else title
