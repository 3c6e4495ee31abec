"""Reproducing the paper: every table and figure as numbers, stage by stage, from one set of ordered collections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from fabula.errors import FileError, InputError, import_extra
from fabula.studies.reproduce import bits, learned, templates
from fabula.studies.reproduce.collections import Study, read_study
from fabula.studies.reproduce.plan import Plan, full_plan
from fabula.studies.reproduce.processes import Task, side_by_side
from fabula.studies.reproduce.recovery import recovery
from fabula.studies.reproduce.stages import Bench


@dataclass(frozen=True)
class Reproduced:
    """The numbers of every table and figure, as plain values.

    Attributes
    ----------
    folder
        Where the stages are kept.
    data
        What was studied: name, counts, rule, notes, features.
    plan
        How much was done.
    table1, figure1, controls, more_data
        Bits: by dimension, by feature (None where there is no plain feature), of the controls, by data.
    essences, sequencer
        Bits and history of each essence and of the direct sequencer.
    figure2, significance
        Best scores by the number of templates with both baselines, and the tests at k = 4.
    kinship, album
        Figures 4 and 5; Figure 6.
    recovery
        All methods by all metrics.
    """

    folder: Path
    data: dict[str, Any]
    plan: dict[str, Any]
    table1: list[dict[str, Any]]
    figure1: list[dict[str, Any]] | None
    controls: list[dict[str, Any]]
    more_data: list[dict[str, Any]]
    essences: list[dict[str, Any]]
    sequencer: dict[str, Any]
    figure2: dict[str, Any]
    significance: dict[str, Any]
    kinship: dict[str, Any]
    album: dict[str, Any]
    recovery: dict[str, Any]


def reproduce(
    data: str | Path,
    folder: str | Path,
    plan: Plan | None = None,
    *,
    features: Sequence[str] | None = None,
    held_out: float = 0.1,
    progress: Callable[[str, str, int, int], None] | None = None,
) -> Reproduced:
    """Compute every table and figure; what a call before has done with the same settings is not done again.

    Parameters
    ----------
    data
        A table of ordered collections, or a folder or archive of FMA.
    folder
        Where stages and models are kept; made where it is not there.
    plan
        How much is done, where, and in how many processes; by default the full one.
    features, held_out
        As :func:`fabula.studies.reproduce.collections.read_study` takes them.
    progress
        Called with a stage, a note, and how many stages are done, of how many.
    """
    import_extra("torch", extra="train", purpose="reproducing the paper")
    from fabula.training.loop.distributed import processes

    if processes() > 1:
        raise InputError("a reproduction shares its trainings out by its own jobs: start it without torchrun")
    kept_in = _make_folders(Path(folder))
    study = read_study(data, features=features, held_out=held_out)
    bench = Bench(kept_in, study, plan or full_plan(), study.fingerprint, lambda stage, note: None)
    return run(bench if progress is None else replace(bench, report=_counting(progress, bench)))


def run(bench: Bench) -> Reproduced:
    """All stages, in order; those that do not wait for each other side by side, where the plan has several jobs."""
    plan = bench.plan
    for wave in (trainings(bench), measurements(bench)):
        side_by_side(bench, wave)
    trained = [learned.essence(bench, seed) for seed in range(plan.seeds)]
    first = trained[0][0]
    figure2 = templates.figure2(bench)
    sets = learned.template_sets(bench, first, 0)
    direct = learned.sequencer(bench)
    four = sets["refined"][max(k for k in sets["refined"] if k <= 4)]
    return Reproduced(
        folder=bench.folder,
        data=_about(bench.study),
        plan={"quick": plan.quick, "seeds": plan.seeds, "preset": plan.preset, "searched": plan.searched},
        table1=bits.table1(bench),
        figure1=bits.figure1(bench),
        controls=bits.controls(bench),
        more_data=bits.more_data(bench),
        essences=[result for _, result in trained],
        sequencer={key: value for key, value in direct.items() if key != "orderings"},
        figure2={key: value for key, value in figure2.items() if key != "scores"},
        significance=templates.significance(bench, figure2),
        kinship=templates.kinship(bench, first, sets),
        album=templates.one_album(bench, first, sets),
        recovery=recovery(bench, first, four, direct),
    )


def trainings(bench: Bench) -> list[Task]:
    """Everything that is trained, longest first."""
    plan, study = bench.plan, bench.study
    seeds = range(plan.seeds)
    own = study.plain is not None and study.plain.training is not study.training  # else Table 1 has trained it
    names = [*([None] if own else []), *bits.figure1_names(bench)]
    return [
        learned.sequencer,
        *(partial(learned.essence, seed=seed) for seed in seeds),
        *([] if plan.search_changes is None else [learned.searching]),
        *(partial(bits.control, name=name) for name in bits.DATA),
        *(partial(bits.more_data_run, size=size) for size in bits.sizes(bench)),
        *(partial(bits.table1_run, d=d, seed=seed) for d in reversed(plan.dimensions) for seed in seeds),
        *(partial(bits.figure1_run, name=name, seed=seed) for name in names for seed in seeds),
    ]


def measurements(bench: Bench) -> list[Task]:
    """What is measured on an essence, once it is trained."""
    parts = min(learned.SEARCH_PARTS, bench.plan.searched, len(bench.study.evaluation))
    return [
        *(partial(learned.search_part, part=part) for part in range(parts)),
        *(partial(templates.seed_scores, seed=seed) for seed in range(bench.plan.seeds)),
    ]


def _counting(progress: Callable[[str, str, int, int], None], bench: Bench) -> Callable[[str, str], None]:
    """Notes with the number of stages that are done; templates are one more for each seed, and three come last."""
    total = len(trainings(bench)) + len(measurements(bench)) + bench.plan.seeds + 3
    done: set[str] = set()

    def report(stage: str, note: str) -> None:
        if note.startswith(("done", "kept")):
            done.add(stage)
        progress(stage, note, len(done), max(total, len(done)))

    return report


def _about(study: Study) -> dict[str, Any]:
    parts = {name: getattr(study, name) for name in ("training", "development", "evaluation")}
    return {
        "name": study.name,
        "rule": study.rule,
        "notes": list(study.notes),
        "features": list(study.features),
        "collections": {name: len(part) for name, part in parts.items()},
        "items": {name: sum(map(len, part)) for name, part in parts.items()},
    }


def _make_folders(folder: Path) -> Path:
    try:
        for part in (folder, folder / "stages", folder / "models"):
            part.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: the folder cannot be made ({error.strerror or error})") from error
    return folder
