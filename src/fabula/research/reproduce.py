"""Reproducing the paper: every table and figure as numbers, stage by stage, from one set of ordered collections."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection
from fabula.core.fit import fit
from fabula.core.template import PAPER_KNOTS, TemplateSet, name_templates
from fabula.errors import FileError, InputError, import_extra
from fabula.evaluation.controls import Parts
from fabula.evaluation.information import makers
from fabula.evaluation.intervals import mean_interval
from fabula.evaluation.metrics import RANGES, best_scores, random_proposals, shuffle_proposals, template_proposals
from fabula.media.music.tracks import SHOWN_CREATOR, SHOWN_TITLE
from fabula.models.model import Model, load_essence_model, save_model
from fabula.models.sureness import digest
from fabula.research import recovery as recovering
from fabula.research.evaluate import compare_methods, tabulate
from fabula.research.splits import Split
from fabula.research.workspace import StudyPlan, Task, Workspace, plain, read_study_data, side_by_side
from fabula.templates.genealogy import trace_genealogy
from fabula.templates.learn import learn_templates

if TYPE_CHECKING:
    from fabula.training.compare import Measured
    from fabula.training.recipes import TrainingConfig

# Stages that train: the bits of Table 1, Figure 1, the controls and more data; the essence, and what learns from it.

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
    from fabula.training.compare import ESSENCE, Trial, gather_trials

    trials = [Trial(ESSENCE, d, seed) for d in workspace.plan.dimensions for seed in range(workspace.plan.seeds)]
    rows = gather_trials([(each, table1_run(workspace, each.dimensions, each.seed)) for each in trials], sweep=True)
    return [{**asdict(row), "paper": PAPER_TABLE.get(row.dimensions)} for row in rows]


def table1_run(workspace: Workspace, d: int, seed: int) -> "Measured":
    """One training of Table 1."""
    config = workspace.plan.bits_config(workspace.study.features, dimensions=d, seed=seed)
    return measure_stage(workspace, f"table1-d{d}-{seed}", config, workspace.study.parts)


def measure_stage(
    workspace: Workspace, stage: str, config: "TrainingConfig", parts: Parts, *, size: int | None = None
) -> "Measured":
    """One training that is a stage, on at most as many collections as the plan says, or ``size``; what it tells."""
    from fabula.training.compare import Measured, measure

    most, said = (workspace.plan.most, {"most": workspace.plan.most}) if size is None else (size, {})

    def work() -> Any:
        return measure(fewer(parts, most), config, device=workspace.plan.device, progress=workspace.epochs_of(stage))

    return Measured(**workspace.stage(stage, {"config": config.to_dict(), **said}, work))


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
    total = len(workspace.study.parts.training)
    return sorted({max(2, round(share * total)) for share in workspace.plan.shares})


def more_data_run(workspace: Workspace, size: int) -> dict[str, Any]:
    """One point of the learning curve."""
    study, plan = workspace.study, workspace.plan
    config = replace(plan.bits_config(study.features), scorers=("arcs",), scorer_weights=())
    # As many steps for few collections as for many, up to a bound, so that data and not steps are short.
    epochs = min(4 * config.epochs, round(config.epochs * len(study.parts.training) / size))
    found = measure_stage(workspace, f"more-data-{size}", replace(config, epochs=epochs), study.parts, size=size)
    return {"collections": size, "bits": found.bits, "low": found.low, "high": found.high}


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
    return _train_stage(workspace, f"essence-{seed}", config, draw_some(study.parts.training, 0))


def search_model(workspace: Workspace) -> Model:
    """The model whose scorer is searched: the essence's own, or one of its own where the plan says so."""
    study, plan = workspace.study, workspace.plan
    if plan.search_changes is None:
        return essence(workspace, 0)[0]
    config = plan.bits_config(study.features, **{"dimensions": 1, **plan.search_changes})
    return _train_stage(workspace, "search", config, draw_some(study.parts.training, plan.most))[0]


def search_part(workspace: Workspace, part: int) -> list[tuple[int, Ints]]:
    """The search under its scorer, for one part of the collections it is asked about: their numbers and orderings."""
    model, evaluation = search_model(workspace), workspace.study.parts.test
    chosen = recovering.evenly_spaced(len(evaluation), workspace.plan.searched)[part::SEARCH_PARTS]
    if not chosen or recovering.searchable(model) is None:
        return []

    def work() -> Any:
        essences = recovering.scalar_essences(model, [evaluation[i] for i in chosen])
        return recovering.search_scorer(model, essences, np.random.default_rng((1, part)))

    kept = workspace.stage(f"searched-{part}", {"model": digest(model), "chosen": chosen}, work)
    return [(i, np.array(ordering, dtype=np.intp)) for i, ordering in zip(chosen, kept, strict=True)]


def _train_stage(
    workspace: Workspace, name: str, config: Any, training: list[Collection]
) -> tuple[Model, dict[str, Any]]:
    path = workspace.model_path(name)

    def work() -> Any:
        from fabula.training.item_models import EssenceTraining

        parts = Parts(training, workspace.study.parts.validation)
        ready = EssenceTraining(parts, config, workspace.plan.device)
        done = ready.train(progress=workspace.epochs_of(name))
        save_model(path, done.model)
        history = [{"epoch": each.epoch, "loss": each.loss, "bits": each.bits} for each in done.history]
        bits = {scorer: info.to_dict() for scorer, info in done.information.items()}
        return {"bits": bits, "best_epoch": done.best_epoch, "history": history}

    result = workspace.stage(name, {"config": config.to_dict(), "collections": len(training)}, work, files=[path])
    return load_essence_model(path), result


def template_sets(workspace: Workspace, model: Model, seed: int) -> dict[str, dict[int, TemplateSet]]:
    """Way of learning -> number of templates -> templates, learned from the training collections."""
    plan = workspace.plan
    chosen = draw_some(workspace.study.parts.training, plan.learned_from)
    counts = [k for k in plan.counts if k <= len(chosen)]

    def work() -> Any:
        essences = recovering.scalar_essences(model, chosen)
        found: dict[str, dict[int, Floats]] = {}
        for way, (method, options) in WAYS.items():
            for k in counts:
                workspace.report(f"templates-{seed}", f"{way}, {k}")
                learned = learn_templates(essences, k=k, method=method, seed=seed, **options)
                found.setdefault(way, {})[k] = learned.values
        return found

    settings = {"model": digest(model), "counts": counts, "collections": len(chosen), "ways": WAYS}
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
            study.parts.training,
            study.parts.validation,
            SequencerConfig(**{**settings, "features": study.features}),
            device=plan.device,
            progress=workspace.epochs_of("sequencer"),
        )
        save_sequencer(path, made)
        workspace.report("sequencer", "beam search")
        orderings = recovering.direct_orderings(made, study.parts.test, np.random.default_rng(0))
        return {"bits": information_bits(made, study.parts.test), "history": list(made.history), "orderings": orderings}

    return dict(workspace.stage("sequencer", settings, work, files=[path]))


def figure1(workspace: Workspace) -> list[dict[str, Any]] | None:
    """Bits of the essence and of each feature alone, and correlations; None where no feature is a single number."""
    from fabula.training.compare import ESSENCE, Trial, gather_trials

    if workspace.study.plain is None:
        return None
    seeds = range(workspace.plan.seeds)
    trials = [Trial(name, 1, seed, alone=True) for name in feature_names(workspace) for seed in seeds]
    found = [(Trial(ESSENCE, 1, seed), essence_run(workspace, seed)) for seed in seeds]
    found += [(each, feature_run(workspace, each.name, each.seed)) for each in trials]
    return [asdict(row) for row in gather_trials(found)]


def feature_names(workspace: Workspace) -> tuple[str, ...]:
    """The features of Figure 1."""
    return workspace.study.plain.training[0].feature_names if workspace.study.plain else ()


def feature_run(workspace: Workspace, name: str, seed: int) -> "Measured":
    """One training of Figure 1: a scorer of one feature alone."""
    from fabula.training.compare import alone

    names = feature_names(workspace)
    config = workspace.plan.bits_config(names, dimensions=1, seed=seed)
    parts = workspace.study.plain or workspace.study.parts
    return measure_stage(workspace, f"figure1-{names.index(name) + 1:02d}-{seed}", alone(config, name), parts)


def is_frozen(workspace: Workspace) -> bool:
    """Whether the essence is made of other features than those of Figure 1."""
    plain = workspace.study.plain
    return plain is not None and plain.training is not workspace.study.parts.training


def essence_run(workspace: Workspace, seed: int) -> "Measured":
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

    settings = {"config": config.to_dict(), "most": plan.most, "model": digest(model)}
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


RANDOM = "k random orderings"
NAMES = {"evolved": "evolved templates", "refined": "refined templates", "contrast": "contrastive templates"}
METRICS = ("edit", "spearman")
SHORT, LONG = 7, 15  # items of a collection of typical length, as in the paper's Figure 3

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
    controls: list[dict[str, Any]]  # bits of the controls, and what each says
    more_data: list[dict[str, Any]]  # bits by training collections
    essences: list[dict[str, Any]]  # bits and history of each
    sequencer: dict[str, Any]
    figure2: dict[str, Any]  # best scores by the number of templates, with both baselines
    significance: dict[str, Any]  # tests at k = 4
    kinship: dict[str, Any]  # Figures 3 and 4
    example: dict[str, Any]  # Figure 5
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
    workspace = Workspace(kept_in, study, plan or StudyPlan())
    if progress is None:
        return run(workspace)
    # Templates are one stage more for each seed, and two come last.
    total = len(trainings(workspace)) + len(measurements(workspace)) + workspace.plan.seeds + 2
    done: set[str] = set()

    def report(stage: str, note: str) -> None:
        if note.startswith(("done", "kept")):
            done.add(stage)
        progress(stage, note, len(done), max(total, len(done)))

    return run(replace(workspace, report=report))


def run(workspace: Workspace) -> Reproduced:
    """All stages, in order; those that do not wait for each other side by side, where the plan has several jobs."""
    from fabula.training.audit import AuditReport, AuditRow

    plan, study = workspace.plan, workspace.study
    side_by_side(workspace, (trainings(workspace), measurements(workspace)))
    trained = [essence(workspace, seed) for seed in range(plan.seeds)]
    first = trained[0][0]
    scores = figure2(workspace)
    sets = template_sets(workspace, first, 0)
    direct = sequencer(workspace)
    four = sets["refined"][max(k for k in sets["refined"] if k <= 4)]
    audited = AuditReport([AuditRow(**row) for name in DATA for row in control(workspace, name)])
    three = (study.parts.training, study.parts.validation, study.parts.test)
    parts = dict(zip(("training", "development", "evaluation"), three, strict=True))
    about: dict[str, Any] = {name: getattr(study, name) for name in ("name", "rule")}
    about |= {"notes": list(study.notes), "features": list(study.features)}
    about["collections"] = {name: len(part) for name, part in parts.items()}
    about["items"] = {name: sum(map(len, part)) for name, part in parts.items()}
    return Reproduced(
        folder=workspace.folder,
        data=about,
        plan={"quick": plan.quick, "seeds": plan.seeds, "preset": plan.preset, "searched": plan.searched},
        table1=table1(workspace),
        figure1=figure1(workspace),
        controls=list(audited.to_dict()["rows"]),
        more_data=[more_data_run(workspace, size) for size in sizes(workspace)],
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
        sequencer,
        *(partial(essence, seed=seed) for seed in seeds),
        *([] if plan.search_changes is None else [search_model]),
        *(partial(control, name=name) for name in DATA),
        *(partial(more_data_run, size=size) for size in sizes(workspace)),
        *(partial(table1_run, d=d, seed=seed) for d in reversed(plan.dimensions) for seed in seeds),
        *(partial(feature_run, name=n, seed=seed) for n in feature_names(workspace) for seed in seeds),
    ]


def measurements(workspace: Workspace) -> list[Task]:
    """What is measured on an essence, once it is trained."""
    parts = min(SEARCH_PARTS, workspace.plan.searched, len(workspace.study.parts.test))
    return [
        *(partial(search_part, part=part) for part in range(parts)),
        *(partial(seed_scores, seed=seed) for seed in range(workspace.plan.seeds)),
        *(partial(essence_run, seed=s) for s in range(workspace.plan.seeds) if is_frozen(workspace)),
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
    shuffled = {NAMES[way]: baseline_name(way) for way in NAMES}

    by = makers(workspace.study.parts.test)
    rows = [_interval_row(key, values, by, within=RANGES[key[2]]) for key, values in scores.items()]
    gains = [  # over the same templates with the essence shuffled, paired by collection
        _interval_row((name, k, metric), values - scores[shuffled[name], k, metric], by)
        for (name, k, metric), values in scores.items()
        if name in shuffled
    ]
    main = _main_count(workspace)
    four = [[*key, values] for key, values in scores.items() if key[1] == main]
    return dict(plain({"rows": rows, "gains": gains, "k": main, "scores": four}))


def seed_scores(workspace: Workspace, seed: int) -> Scores:
    """The scores of one seed: of its essence, along the templates learned on it."""
    model, _ = essence(workspace, seed)
    sets = template_sets(workspace, model, seed)
    shapes = {way: {k: ts.values.tolist() for k, ts in by.items()} for way, by in sets.items()}

    def work() -> Any:
        essences = recovering.scalar_essences(model, workspace.study.parts.test)
        lengths, rng, found = [len(e) for e in essences], np.random.default_rng((seed, 7)), []
        for k in next(iter(sets.values())):
            workspace.report("figure2", f"k = {k}")
            proposals = {RANDOM: random_proposals(lengths, k, rng)}
            for way, by_count in sets.items():
                proposals[NAMES[way]] = template_proposals(essences, by_count[k], rng)
                proposals[baseline_name(way)] = shuffle_proposals(essences, by_count[k], rng)
            for name, proposed in proposals.items():
                found += [[name, k, metric, best_scores(proposed, metric).round(6)] for metric in METRICS]
        return found

    kept = workspace.stage(f"figure2-{seed}", {"templates": shapes, "metrics": METRICS}, work)
    return {(name, k, metric): np.array(values) for name, k, metric, values in kept}


def _interval_row(
    key: tuple[str, int, str], values: Floats, by: Sequence[str], within: tuple[float, float] = (-2.0, 2.0)
) -> dict[str, Any]:
    interval = mean_interval(values, by, within=within)
    return {"name": key[0], "k": key[1], "metric": key[2], **asdict(interval)}


def _main_count(workspace: Workspace) -> int:
    """The paper's k = 4, or the largest there is below."""
    return max(k for k in workspace.plan.counts if k <= 4)


def significance(workspace: Workspace, figure: Mapping[str, Any]) -> dict[str, Any]:
    """Paired t-tests of the templates against both baselines at k = 4, Holm-Bonferroni over all of them."""
    scores: dict[str, dict[str, Floats]] = {}
    for name, _, metric, values in figure["scores"]:
        scores.setdefault(name, {})[metric] = np.array(values)
    ways = [way for way in NAMES if NAMES[way] in scores]
    family = [(m, NAMES[way], other) for m in METRICS for way in ways for other in (RANDOM, baseline_name(way))]
    found = compare_methods(scores, family, makers(workspace.study.parts.test))
    return {"k": figure["k"], "rows": plain([{**asdict(comparison), "metric": metric} for metric, comparison in found])}


def kinship(workspace: Workspace, model: Model, sets: Sets) -> dict[str, Any]:
    """Figures 3 and 4: how templates descend from each other, and the collections that follow them best and worst."""
    typical = [c for c in workspace.study.parts.test if SHORT <= len(c) <= LONG] or workspace.study.parts.test
    chosen = [sets["refined"][k] for k in sorted(sets["refined"])]

    def work() -> Any:
        essences = recovering.scalar_essences(model, typical)
        traced = trace_genealogy(chosen, essences).to_dict()
        named = {i for g in traced["generations"] for t in g["templates"] for i in (*t["best"], *t["worst"])}
        arcs = {str(i): {"title": _title(typical[i]), "essence": essences[i]} for i in sorted(named)}
        return {**traced, "k": _main_count(workspace), "arcs": arcs, "collections": len(typical)}

    settings = {"templates": [ts.values.tolist() for ts in chosen], "way": "refined"}
    return dict(workspace.stage("kinship", settings, work))


def example(workspace: Workspace, model: Model, sets: Sets) -> dict[str, Any]:
    """Figure 5: one collection in its own order and fitted to the four templates.

    It is that of the paper where the data have it, else the first evaluated one of typical length.
    """
    parts = workspace.study.parts
    every = (*parts.test, *parts.validation, *parts.training)
    called = [c for c in every if c.title.casefold() == SHOWN_TITLE]
    called.sort(key=lambda c: SHOWN_CREATOR not in c.items[0].creator.casefold())
    shown = (called or [c for c in parts.test if SHORT <= len(c) <= LONG] or parts.test)[0]
    [arc] = recovering.scalar_essences(model, [shown])
    fits = []
    for template in sets["refined"][_main_count(workspace)]:
        found = fit(arc, template)
        drawn = {"name": template.name, "knots": template.knots, "values": template.values}
        fits.append({**drawn, "ordering": found.ordering, "mean": found.mean, "worst": found.worst})
    labels = [item.label for item in shown.items]
    seen = any(c is shown for c in parts.training)
    return dict(plain({"title": _title(shown), "labels": labels, "essence": arc, "fits": fits, "trained_on": seen}))


def _title(collection: Collection) -> str:
    creator = collection.items[0].creator
    title = collection.title or collection.id
    return f"{title} ({creator})" if creator else title


def recovery(workspace: Workspace, model: Model, templates: TemplateSet, direct: Mapping[str, Any]) -> dict[str, Any]:
    """The table of all methods with intervals and paired tests.

    Takes the essence with its mixture of arcs, squared-error templates, and what the stage of the sequencer gave.
    """
    study = workspace.study
    split = Split(study.parts.training, study.parts.test, study.rule)
    searched = dict(pair for part in range(SEARCH_PARTS) for pair in search_part(workspace, part))
    single = study.features if study.parts.test[0].features.ndim == 2 else ()

    def report(what: str) -> None:
        workspace.report("recovery", what)

    def work() -> Any:
        found = recovering.recover(split, single, recovering.Methods(model=model, templates=templates), progress=report)
        kind = recovering.searchable(search_model(workspace))
        if searched and kind is not None:
            found[recovering.SEARCHES[kind]] = [searched.get(i) for i in range(len(study.parts.test))]
        found[recovering.DIRECT] = [None if o is None else np.array(o, dtype=np.intp) for o in direct["orderings"]]
        report("tests")
        lengths = [len(c) for c in study.parts.test]
        return tabulate(found, lengths, rule=study.rule, groups=makers(study.parts.test)).to_dict()

    settings = {
        "searched": {str(i): ordering.tolist() for i, ordering in searched.items()},
        "templates": templates.values.tolist(),
        "training": model.training,
        "direct": direct["history"],
    }
    return dict(workspace.stage("recovery", settings, work))


def make_folders(folder: Path, parts: Sequence[str] = ("stages", "models")) -> Path:
    """Make the folders that a workspace has, or others, where they are not there."""
    try:
        for part in parts:
            (folder / part).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: the folder cannot be made ({error.strerror or error})") from error
    return folder
