"""Reproducing the paper: every table and figure as numbers, stage by stage, from one set of ordered collections."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.arrays import Floats
from fabula.core.collection import Collection
from fabula.core.fit import fit
from fabula.core.template import TemplateSet
from fabula.errors import FileError, InputError, import_extra
from fabula.evaluation.intervals import ComparisonSettings, bootstrap, compare_scores
from fabula.evaluation.metrics import best_scores, random_proposals, shuffle_proposals, template_proposals
from fabula.media.music.tracks import SHOWN_CREATOR, SHOWN_TITLE
from fabula.models.model import Model
from fabula.research import trainings as made
from fabula.research.evaluate import tabulate
from fabula.research.recovery import DIRECT, SEARCHES, Methods, recover, scalar_essences, searchable
from fabula.research.splits import Split
from fabula.research.workspace import StudyData, StudyPlan, Task, Workspace, plain, read_study_data, side_by_side
from fabula.templates.genealogy import trace_genealogy

RANDOM = "k random orderings"
NAMES = {"evolved": "evolved templates", "refined": "refined templates", "contrast": "contrastive templates"}
METRICS = ("edit", "spearman")
SHORT, LONG = 7, 15  # items of a collection of typical length, as in the paper's Figure 4

Sets = Mapping[str, Mapping[int, TemplateSet]]
Scores = dict[tuple[str, int, str], Floats]  # (name, k, metric) -> best score of each collection


@dataclass(frozen=True)
class Reproduced:
    """The numbers of every table and figure, as plain values."""

    folder: Path  # where the stages are kept
    data: dict[str, Any]
    plan: dict[str, Any]
    table1: list[dict[str, Any]]  # bits by dimension
    figure1: list[dict[str, Any]] | None  # bits by feature; None where there is no plain feature
    controls: list[dict[str, Any]]  # bits of the controls
    more_data: list[dict[str, Any]]  # bits by training collections
    essences: list[dict[str, Any]]  # bits and history of each
    sequencer: dict[str, Any]
    figure2: dict[str, Any]  # best scores by the number of templates, with both baselines
    significance: dict[str, Any]  # tests at k = 4
    kinship: dict[str, Any]  # Figures 4 and 5
    example: dict[str, Any]  # Figure 6
    recovery: dict[str, Any]  # all methods by all metrics


def reproduce(
    data: str | Path,
    folder: str | Path,
    plan: StudyPlan | None = None,
    *,
    features: Sequence[str] | None = None,
    held_out: float = 0.1,
    progress: Callable[[str, str, int, int], None] | None = None,
) -> Reproduced:
    """Compute every table and figure; what a call before has done with the same settings is not done again.

    ``data`` is a table of ordered collections, or a folder or archive of FMA; stages and models are kept in ``folder``.
    ``features`` and ``held_out`` are those of ``read_study_data``; ``progress`` is called with a stage, a note, and how
    many stages are done, of how many.
    """
    import_extra("torch", extra="train", purpose="reproducing the paper")
    from fabula.training.distributed import processes

    if processes() > 1:
        raise InputError("a reproduction shares its trainings out by its own jobs: start it without torchrun")
    kept_in = make_folders(Path(folder))
    study = read_study_data(data, features=features, held_out=held_out)
    workspace = Workspace(kept_in, study, plan or StudyPlan(), study.fingerprint, lambda stage, note: None)
    return run(workspace if progress is None else replace(workspace, report=_counting(progress, workspace)))


def run(workspace: Workspace) -> Reproduced:
    """All stages, in order; those that do not wait for each other side by side, where the plan has several jobs."""
    plan = workspace.plan
    for wave in (trainings(workspace), measurements(workspace)):
        side_by_side(workspace, wave)
    trained = [made.essence(workspace, seed) for seed in range(plan.seeds)]
    first = trained[0][0]
    scores = figure2(workspace)
    sets = made.template_sets(workspace, first, 0)
    direct = made.sequencer(workspace)
    four = sets["refined"][max(k for k in sets["refined"] if k <= 4)]
    return Reproduced(
        folder=workspace.folder,
        data=_about(workspace.study),
        plan={"quick": plan.quick, "seeds": plan.seeds, "preset": plan.preset, "searched": plan.searched},
        table1=made.table1(workspace),
        figure1=made.figure1(workspace),
        controls=[row for name in made.DATA for row in made.control(workspace, name)],
        more_data=[made.more_data_run(workspace, size) for size in made.sizes(workspace)],
        essences=[result for _, result in trained],
        sequencer={key: value for key, value in direct.items() if key != "orderings"},
        figure2={key: value for key, value in scores.items() if key != "scores"},
        significance=significance(workspace, scores),
        kinship=kinship(workspace, first, sets),
        example=example(workspace, first, sets),
        recovery=recovery(workspace, first, four, direct),
    )


def trainings(workspace: Workspace) -> list[Task]:
    """Everything that is trained, longest first."""
    plan = workspace.plan
    seeds = range(plan.seeds)
    return [
        made.sequencer,
        *(partial(made.essence, seed=seed) for seed in seeds),
        *([] if plan.search_changes is None else [made.search_model]),
        *(partial(made.control, name=name) for name in made.DATA),
        *(partial(made.more_data_run, size=size) for size in made.sizes(workspace)),
        *(partial(made.table1_run, d=d, seed=seed) for d in reversed(plan.dimensions) for seed in seeds),
        *(partial(made.feature_run, name=n, seed=seed) for n in made.feature_names(workspace) for seed in seeds),
    ]


def measurements(workspace: Workspace) -> list[Task]:
    """What is measured on an essence, once it is trained."""
    parts = min(made.SEARCH_PARTS, workspace.plan.searched, len(workspace.study.evaluation))
    return [
        *(partial(made.search_part, part=part) for part in range(parts)),
        *(partial(seed_scores, seed=seed) for seed in range(workspace.plan.seeds)),
        *(partial(made.essence_run, seed=s) for s in range(workspace.plan.seeds) if made.is_frozen(workspace)),
    ]


def baseline_name(way: str) -> str:
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
        k = _main_count(workspace)
        four = [[*key, values] for key, values in scores.items() if key[1] == k]
        return {"rows": rows, "gains": gains, "k": k, "scores": four}

    digest = hashlib.sha256(b"".join(repr(key).encode() + values.tobytes() for key, values in scores.items()))
    settings = {"scores": digest.hexdigest(), "resamples": workspace.plan.resamples}
    return dict(workspace.stage("figure2", settings, work))


def seed_scores(workspace: Workspace, seed: int) -> Scores:
    """The scores of one seed: of its essence, along the templates learned on it."""
    model, _ = made.essence(workspace, seed)
    sets = made.template_sets(workspace, model, seed)
    shapes = {way: {k: ts.values.tolist() for k, ts in by.items()} for way, by in sets.items()}

    def work() -> Any:
        essences = scalar_essences(model, workspace.study.evaluation)
        found = _score(workspace, essences, sets, np.random.default_rng((seed, 7)))
        return [[*key, values.round(6)] for key, values in found.items()]

    kept = workspace.stage(f"figure2-{seed}", {"templates": shapes, "metrics": METRICS}, work)
    return {(name, k, metric): np.array(values) for name, k, metric, values in kept}


def _score(workspace: Workspace, essences: list[Floats], sets: Sets, rng: np.random.Generator) -> Scores:
    lengths = [len(e) for e in essences]
    scores: Scores = {}
    for k in next(iter(sets.values())):
        workspace.report("figure2", f"k = {k}")
        proposals = {RANDOM: random_proposals(lengths, k, rng)}
        for way, by_count in sets.items():
            proposals[NAMES[way]] = template_proposals(essences, by_count[k], rng)
            proposals[baseline_name(way)] = shuffle_proposals(essences, by_count[k], rng)
        for name, proposed in proposals.items():
            for metric in METRICS:
                scores[name, k, metric] = best_scores(proposed, metric)
    return scores


def _gains(scores: Scores, resamples: int) -> list[dict[str, Any]]:
    """What each way of learning gains over its own templates with the essence shuffled, paired by collection."""
    names = {NAMES[way]: baseline_name(way) for way in NAMES}
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
        for other in (RANDOM, baseline_name(way))
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
    return dict(workspace.stage("kinship", settings, work))


def example(workspace: Workspace, model: Model, sets: Sets, way: str = "refined") -> dict[str, Any]:
    """Figure 6: one collection in its own order and fitted to the four templates."""
    shown = _choose_example(workspace)
    [arc] = scalar_essences(model, [shown])
    fits = []
    for template in sets[way][_main_count(workspace)]:
        found = fit(arc, template)
        drawn = {"name": template.name, "knots": template.knots, "values": template.values}
        fits.append({**drawn, "ordering": found.ordering, "mean": found.mean, "worst": found.worst})
    labels = [item.label for item in shown.items]
    seen = any(c is shown for c in workspace.study.training)
    return dict(plain({"title": _title(shown), "labels": labels, "essence": arc, "fits": fits, "trained_on": seen}))


def _choose_example(workspace: Workspace) -> Collection:
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


def recovery(workspace: Workspace, model: Model, templates: TemplateSet, direct: Mapping[str, Any]) -> dict[str, Any]:
    """The table of all methods with intervals and paired tests.

    Takes the essence with its mixture of arcs, squared-error templates, and what the stage of the sequencer gave.
    """
    study, plan = workspace.study, workspace.plan
    split = Split(study.training, study.evaluation, study.rule)
    searched = dict(pair for part in range(made.SEARCH_PARTS) for pair in made.search_part(workspace, part))
    single = study.features if study.evaluation[0].features.ndim == 2 else ()

    def report(what: str) -> None:
        workspace.report("recovery", what)

    def work() -> Any:
        found = recover(split, single, Methods(model=model, templates=templates), progress=report)
        kind = searchable(made.search_model(workspace))
        if searched and kind is not None:
            found[SEARCHES[kind]] = [searched.get(i) for i in range(len(study.evaluation))]
        found[DIRECT] = made.as_orderings(direct["orderings"])
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
    return dict(workspace.stage("recovery", settings, work))


def _counting(progress: Callable[[str, str, int, int], None], workspace: Workspace) -> Callable[[str, str], None]:
    """Notes with the number of stages that are done; templates are one more for each seed, and three come last."""
    total = len(trainings(workspace)) + len(measurements(workspace)) + workspace.plan.seeds + 3
    done: set[str] = set()

    def report(stage: str, note: str) -> None:
        if note.startswith(("done", "kept")):
            done.add(stage)
        progress(stage, note, len(done), max(total, len(done)))

    return report


def _about(study: StudyData) -> dict[str, Any]:
    parts = {name: getattr(study, name) for name in ("training", "development", "evaluation")}
    return {
        "name": study.name,
        "rule": study.rule,
        "notes": list(study.notes),
        "features": list(study.features),
        "collections": {name: len(part) for name, part in parts.items()},
        "items": {name: sum(map(len, part)) for name, part in parts.items()},
    }


def make_folders(folder: Path) -> Path:
    """Make the folders that a workspace has, where they are not there."""
    try:
        for part in (folder, folder / "stages", folder / "models"):
            part.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: the folder cannot be made ({error.strerror or error})") from error
    return folder
