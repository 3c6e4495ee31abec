"""What a reproduction of the paper works on: its collections, how much is done, and stages that are kept when done."""

import hashlib
import json
import multiprocessing
import os
import signal
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.files import null_infinite, write_whole
from fabula.errors import FabulaError, InputError
from fabula.evaluation.controls import Parts
from fabula.media.music.tracks import FEATURES, KEPT_ROWS
from fabula.models.config import PRESETS
from fabula.research.splits import narrow, read_split, usable_features
from fabula.sources.fma.albums import read_fma
from fabula.sources.tables.storage import TABLE_ENDINGS, is_table_folder, read_columns
from fabula.version import __version__

if TYPE_CHECKING:
    from fabula.training.recipes import TrainingConfig

_DEVELOPMENT = 10  # one part in so many of a training side decides which epoch is kept


@dataclass(frozen=True, eq=False)
class StudyData:
    """Ordered collections of one source in their parts."""

    name: str
    parts: Parts = field(repr=False)
    plain: Parts | None = field(repr=False)  # with features that are single numbers, for what each tells alone
    features: tuple[str, ...]
    rule: str  # how the parts were told apart
    notes: tuple[str, ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        """Depends on ids, sizes and feature values of all parts."""
        digest = hashlib.sha256("\0".join(self.features).encode())
        for part in (self.parts.training, self.parts.validation, self.parts.test):
            digest.update(b"\1")
            for c in part:
                digest.update(f"\0{c.id}\0{len(c)}\0".encode("utf-8", "surrogateescape"))
                digest.update(np.ascontiguousarray(c.features, dtype="<f4").tobytes())
        return digest.hexdigest()


def read_study_data(path: str | Path, *, features: Sequence[str] | None = None, held_out: float = 0.1) -> StudyData:
    """Read a table of ordered collections, or FMA: a folder or an archive.

    Trained on are the features named; by default the usual ones of the medium where all are there, else every number
    that neither gives the order away nor is the same for a whole collection. A share is held out where a table has no
    column split.
    """
    source = Path(path)
    if source.suffix.lower() not in TABLE_ENDINGS and not is_table_folder(source):
        if source.is_dir() or source.suffix.lower() == ".zip":
            return _from_fma(source)
        raise InputError(f"{source}: must be a table ({', '.join(TABLE_ENDINGS)}), or a folder or .zip archive of FMA")
    there = read_columns(source).columns
    where = {name: value for name, value in KEPT_ROWS.items() if name in there}
    split = read_split(source, where=where, held_out=held_out)
    if features:
        split.training[0].columns(tuple(features))  # says which is missing
    notes: tuple[str, ...] = ()
    names = tuple(features or (FEATURES if set(FEATURES) <= set(split.training[0].feature_names) else ()))
    if not names:
        names, notes = usable_features(split.training)
    training, evaluation = (narrow(part, names) for part in (split.training, split.held_out))
    parts = Parts(*_set_aside(training), evaluation)
    if where:
        notes = (f"kept: {', '.join(f'{name} = {value!r}' for name, value in where.items())}", *notes)
    return StudyData(source.name, parts, parts, names, split.rule, notes)


def _from_fma(path: Path) -> StudyData:
    reading = read_fma(path)
    parts = {name: reading.of(name) for name in ("training", "validation", "test")}
    empty = [name for name, part in parts.items() if not part]
    if empty:
        raise InputError(f"{path}: no usable collection in the split {', '.join(empty)}")
    few = read_fma(path, features="echonest")
    sides = [few.of(name) for name in parts]
    plain = Parts(*sides) if all(sides) else None
    names = reading.collections[0].feature_names
    return StudyData("FMA", Parts(*parts.values()), plain, names, "the splits of FMA", reading.notes)


def _set_aside(training: Sequence[Collection]) -> tuple[list[Collection], list[Collection]]:
    """The training side without a tenth of its creators (or collections), and that tenth."""
    keys = [(c.items[0].creator or c.id).encode("utf-8", "surrogateescape") for c in training]
    aside = [zlib.crc32(key) % _DEVELOPMENT == 0 for key in keys]
    if all(aside) or not any(aside):
        aside = [number % _DEVELOPMENT == 0 for number in range(len(training))]
    kept = [c for c, out in zip(training, aside, strict=True) if not out]
    return kept or list(training), [c for c, out in zip(training, aside, strict=True) if out]


Settings = Mapping[str, Any]


@dataclass(frozen=True)
class StudyPlan:
    """Sizes of a reproduction; the defaults are the full one."""

    seeds: int = 5  # runs of everything that is trained; the paper's five
    device: str = "auto"
    jobs: int = 1  # trainings side by side
    preset: str = "default"  # the recipe of the essence
    changes: Settings = field(default_factory=dict)
    bits_preset: str = "default"  # that of Table 1, Figure 1 and the controls; the last scorer is the one measured
    bits_changes: Settings = field(default_factory=dict)
    # for a model of its own whose scorer is searched; None: the essence's own model
    search_changes: Settings | None = None
    sequencer: Settings = field(default_factory=lambda: {"epochs": 24})
    dimensions: tuple[int, ...] = (1, 2, 4, 8, 16)  # of the essence (Table 1)
    counts: tuple[int, ...] = (1, 2, 3, 4, 5, 6)  # of templates (Figure 2)
    most: int = 0  # training collections for Table 1, Figure 1, controls and the search's model; 0: all
    learned_from: int = 0  # training collections templates are learned from; 0: all
    searched: int = 5000  # collections the search under a scorer is asked about, at most
    shares: tuple[float, ...] = (1 / 64, 1 / 16, 1 / 4, 1.0)  # parts of the training collections of the learning curve
    quick: bool = False

    def essence_config(self, features: tuple[str, ...], seed: int) -> "TrainingConfig":
        """The recipe of the essence."""
        return _config(self.preset, {"features": features, "dimensions": 1, "seed": seed, **self.changes})

    def bits_config(self, features: tuple[str, ...], **changes: Any) -> "TrainingConfig":
        """The recipe of Table 1, Figure 1 and the controls."""
        return _config(self.bits_preset, {"features": features, **self.bits_changes, **changes})


# Fewer seeds, epochs and collections, and the mixture of arcs as the scorer: minutes on two cores.
_QUICK: Settings = {
    "seeds": 2,
    "preset": "arcs",
    "changes": {"epochs": 20},
    "bits_preset": "arcs",
    "bits_changes": {"epochs": 10, "draws": 1},
    "search_changes": {"preset": "default", "epochs": 5, "negatives": 7, "draws": 1},
    "sequencer": {"epochs": 8},
    "most": 6000,
    "learned_from": 4000,
    "searched": 60,
    "quick": True,
}


def make_plan(
    *, quick: bool = False, seeds: int | None = None, device: str = "auto", jobs: int = 1, preset: str | None = None
) -> StudyPlan:
    """The full plan, best on a GPU, or the quick one: minutes on two cores.

    Jobs are stages done side by side, in processes of their own; results differ by rounding at most. The preset is the
    recipe of everything that is trained; by default that of the plan.
    """
    if preset is not None and preset not in PRESETS:
        raise InputError(f"there is no preset {preset!r}; there are: {', '.join(PRESETS)}", field="preset")
    changes: dict[str, Any] = {} if seeds is None else {"seeds": seeds}
    changes |= {} if preset is None else {"preset": preset, "bits_preset": preset}
    return StudyPlan(**{**(_QUICK if quick else {}), "device": device, "jobs": jobs, **changes})


def _config(name: str, changes: dict[str, Any]) -> "TrainingConfig":
    from fabula.training.recipes import preset

    return preset(changes.pop("preset", name), **changes)


FORMAT = "fabula-stage"
VERSION = 2

Report = Callable[[str, str], None]


def _silent(stage: str, note: str) -> None:
    """Report nothing; it travels to another process, as no lambda does."""


@dataclass(frozen=True, eq=False)
class Workspace:
    """Where a reproduction is made: stages go to ``stages/`` in its folder, models to ``models/``."""

    folder: Path
    study: StudyData
    plan: StudyPlan
    report: Report = _silent  # called with a stage and a note

    def stage(
        self, name: str, settings: Mapping[str, Any], work: Callable[[], Any], *, files: Sequence[Path] = ()
    ) -> Any:
        """The result of a stage: the one kept, where settings, data and version are the same, else the work is done.

        The settings are all that decides the result, but the data; the work gives plain values, dataclasses or arrays.
        Where one of the files that it writes beside is missing, it is done again.
        """
        path = self.folder / "stages" / f"{name}.json"
        text = json.dumps([name, plain(settings), self.study.fingerprint, VERSION, __version__], sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()
        kept = _read(path, key) if all(file.exists() for file in files) else None
        if kept is not None:
            self.report(name, "kept from before")
            return kept["result"]
        self.report(name, "begins")
        began = time.monotonic()
        result = plain(work())
        document = {"format": FORMAT, "version": VERSION, "stage": name, "key": key, "settings": plain(settings)}
        document |= {"seconds": round(time.monotonic() - began, 2), "result": result}
        write_whole(path, json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")
        self.report(name, f"done in {document['seconds']} s")
        return result

    def epochs_of(self, stage: str) -> Callable[[Any], None]:
        """Tells the epochs of a training that is a stage."""
        return lambda where: self.report(stage, f"epoch {where.epoch} of {where.epochs}")

    def model_path(self, name: str) -> Path:
        """Where a model of this reproduction is kept."""
        return self.folder / "models" / f"{name}.safetensors"


def plain(value: Any) -> Any:
    """Values as JSON can hold them; NaN and infinities become None.

    >>> plain({"a": (np.float64(1.0), float("nan"))})
    {'a': [1.0, None]}
    """
    return null_infinite(value, _as_json)


def _as_json(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else dict(value)


def _read(path: Path, key: str) -> dict[str, Any] | None:
    """What was kept under this key; a broken file counts as none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) and document.get("key") == key and "result" in document else None


Task = Callable[[Workspace], Any]  # a function of a module, or a partial of one: it travels to another process

_workspace: Workspace | None = None  # in a process of the pool: what its tasks work on


def side_by_side(workspace: Workspace, waves: Sequence[Sequence[Task]]) -> None:
    """Do the stages that tasks stand for, as many at a time as the plan has jobs; with one job, nothing is done.

    A wave begins when the one before it has ended, in the same processes. Each task is called with the workspace in
    some process; what it keeps in the folder is its result. Notes are reported here, whatever process they come from.
    """
    jobs = min(workspace.plan.jobs, max(map(len, waves), default=0))
    if jobs <= 1:
        return
    context = multiprocessing.get_context("spawn")  # a forked process cannot use a GPU
    notes = context.SimpleQueue()
    listener = Thread(target=_listen, args=(notes, workspace.report), daemon=True)
    listener.start()
    start = (replace(workspace, report=_silent), notes, max(1, (os.cpu_count() or 1) // jobs))
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=start)
    try:
        for wave in waves:
            for done in as_completed([pool.submit(_do, task) for task in wave]):
                done.result()
    except BaseException as error:  # do not wait for what is under way: stages are kept whole or not at all
        for process in multiprocessing.active_children():
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            want = "one of {} processes ended early, perhaps for want of memory: try fewer jobs"
            raise FabulaError(want.format(jobs)) from None
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    notes.put(None)
    listener.join()


def _listen(notes: Any, report: Callable[[str, str], None]) -> None:
    while (note := notes.get()) is not None:
        report(*note)


def _start(workspace: Workspace, notes: Any, threads: int) -> None:
    global _workspace
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides
    import torch

    torch.set_num_threads(threads)
    _workspace = replace(workspace, report=lambda stage, note: notes.put((stage, note)))


def _do(task: Task) -> None:
    if _workspace is not None:
        task(_workspace)
