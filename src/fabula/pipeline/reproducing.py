"""Reproducing the paper: every table and figure as numbers, stage by stage, from one set of ordered collections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.errors import FileError, import_extra
from fabula.pipeline.reproduce import bits, curves, learned
from fabula.pipeline.reproduce.bench import Bench
from fabula.pipeline.reproduce.plan import Plan, full_plan, quick_plan
from fabula.pipeline.reproduce.recovery import recovery
from fabula.pipeline.reproduce.study import Study, read_study


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
    *,
    quick: bool = False,
    seeds: int | None = None,
    device: str = "auto",
    features: Sequence[str] | None = None,
    held_out: float = 0.1,
    plan: Plan | None = None,
    progress: Callable[[str, str], None] | None = None,
) -> Reproduced:
    """Compute every table and figure; what a call before has done with the same settings is not done again.

    Parameters
    ----------
    data
        A table of ordered collections, or a folder or archive of FMA.
    folder
        Where stages and models are kept; made where it is not there.
    quick
        Fewer seeds, epochs and collections: minutes on two cores.
    seeds
        Runs of everything that is trained; 5, or 2 when quick.
    device
        ``"auto"``, ``"cpu"`` or ``"cuda"``.
    features, held_out
        As :func:`fabula.pipeline.reproduce.study.read_study` takes them.
    plan
        Sizes of one's own, in place of ``quick``, ``seeds`` and ``device``.
    progress
        Called with a stage and a note.
    """
    import_extra("torch", extra="train", purpose="reproducing the paper")
    place = _make_folders(Path(folder))
    told = progress or (lambda stage, note: None)
    told("data", "reading")
    study = read_study(data, features=features, held_out=held_out)
    make = quick_plan if quick else full_plan
    chosen = plan or make(seeds=seeds or (2 if quick else 5), device=device)
    return run(Bench(place, study, chosen, study.fingerprint, told))


def run(bench: Bench) -> Reproduced:
    """All stages, in order."""
    plan = bench.plan
    trained = [learned.essence(bench, seed) for seed in range(plan.seeds)]
    models = [model for model, _ in trained]
    sets = [learned.template_sets(bench, model, seed) for seed, model in enumerate(models)]
    figure2 = curves.figure2(bench, models, sets)
    direct = learned.sequencer(bench)
    searched = learned.searching(bench, models[0])
    four = sets[0]["refined"][max(k for k in sets[0]["refined"] if k <= 4)]
    return Reproduced(
        folder=bench.folder,
        data=_told_of(bench.study),
        plan={"quick": plan.quick, "seeds": plan.seeds, "preset": plan.preset, "searched": plan.searched},
        table1=bits.table1(bench),
        figure1=bits.figure1(bench),
        controls=bits.controls(bench),
        more_data=bits.more_data(bench),
        essences=[result for _, result in trained],
        sequencer={key: value for key, value in direct.items() if key != "orderings"},
        figure2={key: value for key, value in figure2.items() if key != "scores"},
        significance=curves.significance(bench, figure2),
        kinship=curves.kinship(bench, models[0], sets[0]),
        album=curves.one_album(bench, models[0], sets[0]),
        recovery=recovery(bench, models[0], searched, four, direct),
    )


def _told_of(study: Study) -> dict[str, Any]:
    parts = {name: getattr(study, name) for name in ("training", "development", "evaluation", "measured")}
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
