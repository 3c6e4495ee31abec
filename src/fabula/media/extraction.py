"""Extraction: the features of many files, over all cores, from the cache where they are known.

The work is done in threads: decoding and measuring happen in C outside the interpreter's lock, so that threads are as
fast as processes here, start at once, and end at once on Ctrl-C.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fabula.errors import FileError, InputError, shown
from fabula.media.cache import content_key, keep, recall
from fabula.media.medium import Spec, Stop, Stopped

Progress = Callable[[int, int, str], None]
_Outcome = NDArray[np.float64] | FileError


@dataclass(frozen=True, eq=False)
class Extraction:
    """The features of many files."""

    # Shape (n, f) or (n, f, ...): one row per readable file, in the order given.
    features: NDArray[np.float64] = field(repr=False)
    feature_names: tuple[str, ...]  # f names
    kept: tuple[int, ...]  # n indices into the paths given: the files that could be read
    # (path, message) of each file that could not; the message is one line and begins with the path.
    problems: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Measuring:
    """How files are measured."""

    jobs: int | None = None  # how many files at a time; by default as many as there are cores
    cache: bool = True  # whether to use and fill the cache
    progress: Progress | None = None  # called with (done, total, path) after each file, in the caller's thread
    stop: Stop = lambda: False  # asked between the blocks of every file; True gives up with `Stopped`


def extract(paths: Sequence[str | os.PathLike[str]], spec: Spec, measuring: Measuring | None = None) -> Extraction:
    """The features of the files that can be read, and what is wrong with the others.

    What is measured is kept at once: interrupt it, and nothing measured is measured again. Raises `Stopped` when it
    was asked to give up, and a MissingExtraError when the spec needs a library that is not installed.

    >>> from fabula.media.registry import find_medium
    >>> extract(["no such file.ogg"], find_medium("music").spec()).problems
    (('no such file.ogg', 'no such file.ogg: cannot be read (No such file or directory)'),)
    """
    how = measuring or Measuring()
    names = [os.fspath(path) for path in paths]
    workers = min(_cores() if how.jobs is None else how.jobs, max(1, len(names)))
    if workers < 1:
        raise InputError(f"jobs must be at least 1; got {how.jobs}")
    spec.prepare()
    outcomes: dict[int, _Outcome] = {}
    for index, outcome in _outcomes(names, spec, workers, how):
        outcomes[index] = outcome
        if how.progress is not None:
            how.progress(len(outcomes), len(names), names[index])
    return _gather(names, spec, outcomes)


def _outcomes(names: list[str], spec: Spec, workers: int, how: Measuring) -> Iterator[tuple[int, _Outcome]]:
    """Each file's outcome as soon as it is there."""
    if workers == 1:
        for index, name in enumerate(names):
            yield index, _outcome(name, spec, how.stop, cache=how.cache)
        return
    given_up = threading.Event()

    def stop() -> bool:
        return given_up.is_set() or how.stop()

    with ThreadPoolExecutor(workers, thread_name_prefix="fabula-extract") as pool:
        try:
            futures = {pool.submit(_outcome, name, spec, stop, cache=how.cache): i for i, name in enumerate(names)}
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:  # also when the caller is interrupted: the threads give up within one chunk
            given_up.set()
            pool.shutdown(wait=True, cancel_futures=True)


def extract_one(path: str, spec: Spec, stop: Stop = lambda: False) -> NDArray[np.float64]:
    """The features of one file, an array of the spec's shape, from the cache where they are known, or a FileError."""
    found = _outcome(path, spec, stop, cache=True)
    if isinstance(found, FileError):
        raise found
    return found


def _outcome(name: str, spec: Spec, stop: Stop, *, cache: bool) -> _Outcome:
    if stop():
        raise Stopped
    key = content_key(name, stop=stop) if cache else None
    known = recall(key, spec) if key else None
    if known is not None:
        return known
    try:
        measured = spec.measure(name, stop)
    except FileError as error:
        return error
    except (OSError, ValueError, MemoryError) as error:  # the file changed or went away while it was read
        return FileError(f"{shown(name)}: cannot be measured ({shown(str(error))})")
    if key:
        keep(key, spec, measured)
    return measured


def _gather(names: list[str], spec: Spec, outcomes: dict[int, _Outcome]) -> Extraction:
    rows, kept, problems = [], [], []
    for index, name in enumerate(names):
        outcome = outcomes[index]
        if isinstance(outcome, FileError):
            problems.append((name, str(outcome)))
        else:
            rows.append(outcome)
            kept.append(index)
    features = np.stack(rows) if rows else np.empty((0, *spec.shape))
    return Extraction(features, spec.feature_names, tuple(kept), tuple(problems))


def _cores() -> int:
    """The cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1
