"""Reproducing the paper: every table and figure as numbers, stage by stage, from one set of ordered collections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from fabula.errors import FileError, InputError, import_extra
from fabula.studies.reproduce import bits, figure1, learned, templates
from fabula.studies.reproduce.collections import StudyData, read_study_data
from fabula.studies.reproduce.plan import Plan, full_plan
from fabula.studies.reproduce.processes import Task, side_by_side
from fabula.studies.reproduce.recovery import recovery
from fabula.studies.reproduce.stages import Workspace


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
    kinship, example
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
    example: dict[str, Any]
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
        As :func:`fabula.studies.reproduce.collections.read_study_data` takes them.
    progress
        Called with a stage, a note, and how many stages are done, of how many.
    """
    import_extra("torch", extra="train", purpose="reproducing the paper")
    from fabula.training.distributed import processes

    if processes() > 1:
        raise InputError("a reproduction shares its trainings out by its own jobs: start it without torchrun")
    kept_in = make_folders(Path(folder))
    study = read_study_data(data, features=features, held_out=held_out)
    workspace = Workspace(kept_in, study, plan or full_plan(), study.fingerprint, lambda stage, note: None)
    return run(workspace if progress is None else replace(workspace, report=_counting(progress, workspace)))


def run(workspace: Workspace) -> Reproduced:
    """All stages, in order; those that do not wait for each other side by side, where the plan has several jobs."""
    plan = workspace.plan
    for wave in (trainings(workspace), measurements(workspace)):
        side_by_side(workspace, wave)
    trained = [learned.essence(workspace, seed) for seed in range(plan.seeds)]
    first = trained[0][0]
    figure2 = templates.figure2(workspace)
    sets = learned.template_sets(workspace, first, 0)
    direct = learned.sequencer(workspace)
    four = sets["refined"][max(k for k in sets["refined"] if k <= 4)]
    return Reproduced(
        folder=workspace.folder,
        data=_about(workspace.study),
        plan={"quick": plan.quick, "seeds": plan.seeds, "preset": plan.preset, "searched": plan.searched},
        table1=bits.table1(workspace),
        figure1=figure1.figure1(workspace),
        controls=bits.controls(workspace),
        more_data=bits.more_data(workspace),
        essences=[result for _, result in trained],
        sequencer={key: value for key, value in direct.items() if key != "orderings"},
        figure2={key: value for key, value in figure2.items() if key != "scores"},
        significance=templates.significance(workspace, figure2),
        kinship=templates.kinship(workspace, first, sets),
        example=templates.example(workspace, first, sets),
        recovery=recovery(workspace, first, four, direct),
    )


def trainings(workspace: Workspace) -> list[Task]:
    """Everything that is trained, longest first."""
    plan = workspace.plan
    seeds = range(plan.seeds)
    return [
        learned.sequencer,
        *(partial(learned.essence, seed=seed) for seed in seeds),
        *([] if plan.search_changes is None else [learned.searching]),
        *(partial(bits.control, name=name) for name in bits.DATA),
        *(partial(bits.more_data_run, size=size) for size in bits.sizes(workspace)),
        *(partial(bits.table1_run, d=d, seed=seed) for d in reversed(plan.dimensions) for seed in seeds),
        *(partial(figure1.feature_run, name=n, seed=seed) for n in figure1.feature_names(workspace) for seed in seeds),
    ]


def measurements(workspace: Workspace) -> list[Task]:
    """What is measured on an essence, once it is trained."""
    parts = min(learned.SEARCH_PARTS, workspace.plan.searched, len(workspace.study.evaluation))
    return [
        *(partial(learned.search_part, part=part) for part in range(parts)),
        *(partial(templates.seed_scores, seed=seed) for seed in range(workspace.plan.seeds)),
        *(partial(figure1.essence_run, seed=s) for s in range(workspace.plan.seeds) if figure1.is_frozen(workspace)),
    ]


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
