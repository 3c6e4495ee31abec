"""The workspace of a reproduction: stages that are done once, kept as JSON, and taken up where they stopped."""

from __future__ import annotations

import hashlib
import json
import math
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, is_dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from fabula.core.files.writing import write_whole
from fabula.errors import FabulaError
from fabula.research.study_data import StudyData, StudyPlan
from fabula.version import __version__

FORMAT = "fabula-stage"
VERSION = 1

Report = Callable[[str, str], None]


@dataclass(frozen=True, eq=False)
class Workspace:
    """Where a reproduction is made.

    Attributes
    ----------
    folder
        Results of the stages go to ``stages/`` in it, models to ``models/``.
    study, plan
        What is studied, and how much.
    data
        Fingerprint of the collections.
    report
        Called with a stage and a note.
    """

    folder: Path
    study: StudyData
    plan: StudyPlan
    data: str
    report: Report

    def stage(
        self,
        name: str,
        settings: Mapping[str, Any],
        work: Callable[[], Any],
        *,
        files: Sequence[Path] = (),
    ) -> Any:
        """The result of a stage: the one kept, where settings, data and version are the same, else the work is done.

        Parameters
        ----------
        name
            Of the stage and its file.
        settings
            Everything that decides the result, but the data.
        work
            Does it; the result must be plain values, dataclasses or arrays.
        files
            What the work writes beside; where one is missing, it is done again.
        """
        path = self.folder / "stages" / f"{name}.json"
        key = _key(name, settings, self.data)
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
        return json.loads(json.dumps(result))

    def epochs_of(self, stage: str) -> Callable[[Any], None]:
        """Tells the epochs of a training that is a stage, as :func:`fabula.training.trainer.train` reports them."""
        return lambda where: self.report(stage, f"epoch {where.epoch} of {where.epochs}")

    def model_path(self, name: str) -> Path:
        """Where a model of this reproduction is kept."""
        return self.folder / "models" / f"{name}.safetensors"


def plain(value: Any) -> Any:
    """Values as JSON can hold them; NaN and infinities become None.

    Examples
    --------
    >>> plain({"a": (np.float64(1.0), float("nan"))})
    {'a': [1.0, None]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _key(name: str, settings: Mapping[str, Any], data: str) -> str:
    text = json.dumps([name, plain(settings), data, VERSION, __version__], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path, key: str) -> dict[str, Any] | None:
    """What was kept under this key; a broken file counts as none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) and document.get("key") == key and "result" in document else None


# Stages that do not wait for each other, in several processes; each keeps what it did, so nothing is handed back.

Task = Callable[[Workspace], Any]  # a function of a module, or a partial of one: it travels to another process

_workspace: Workspace | None = None  # in a process of the pool: what its tasks work on


def side_by_side(workspace: Workspace, tasks: Sequence[Task]) -> None:
    """Do the stages that tasks stand for, as many at a time as the plan has jobs; with one job, nothing is done.

    Parameters
    ----------
    workspace
        Its plan says how many jobs; its ``report`` is called here, whatever process a note comes from.
    tasks
        Each is called with the workspace in some process; what it keeps in the workspace's folder is its result.
    """
    jobs = min(workspace.plan.jobs, len(tasks))
    if jobs <= 1:
        return
    context = multiprocessing.get_context("spawn")  # a forked process cannot use a GPU
    notes = context.SimpleQueue()
    listener = Thread(target=_listen, args=(notes, workspace.report), daemon=True)
    listener.start()
    start = (replace(workspace, report=_silent), notes, max(1, (os.cpu_count() or 1) // jobs))
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=start)
    try:
        for done in as_completed([pool.submit(_do, task) for task in tasks]):
            done.result()
    except BrokenProcessPool:
        raise FabulaError(f"one of {jobs} processes ended early, perhaps for want of memory: try fewer jobs") from None
    finally:
        failed = sys.exc_info()[0] is not None
        if failed:  # do not wait for what is under way: stages are kept whole or not at all
            for process in multiprocessing.active_children():
                process.terminate()
        pool.shutdown(cancel_futures=True)
        if not failed:  # one that was stopped may hold the lock of the queue
            notes.put(None)
            listener.join()


def _silent(stage: str, note: str) -> None:
    """Report nothing."""


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
