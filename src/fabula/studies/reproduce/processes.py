"""Stages that do not wait for each other, in several processes; each keeps what it did, so nothing is handed back."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from threading import Thread
from typing import Any

from fabula.errors import FabulaError
from fabula.studies.reproduce.stages import Workspace

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
