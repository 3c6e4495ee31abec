"""Extraction: the features of many files, over all cores, from the cache where they are known.

The work is done in threads: decoding and measuring happen in C outside the interpreter's lock, so that threads are as
fast as processes here, start at once, and end at once on Ctrl-C.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.files import is_file, is_guarded, open_file, own_folder, split_stretch
from fabula.errors import FileError, InputError, shown
from fabula.media.children import LIMITS, Limits, call_all, measure_at, measure_here, place_of, stopping
from fabula.media.medium import Spec, Stop, Stopped

if TYPE_CHECKING:
    from sqlite3 import Connection

# The cache of features: by the content of a file and the spec, so that renamed and moved files are still known.

# A small database of numbers by content: SQLite, written ahead, so that many processes read and write it at once.

_SCHEMA = """
    CREATE TABLE IF NOT EXISTS features (
        spec TEXT NOT NULL, version INTEGER NOT NULL, key BLOB NOT NULL, used INTEGER NOT NULL, numbers BLOB NOT NULL,
        PRIMARY KEY (spec, version, key)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS by_use ON features (used);
"""
_PATIENCE = 20.0  # seconds to wait for another process that writes
_SHRUNK = 0.8  # of the limit, down to which entries are forgotten
_BROKEN = ("malformed", "not a database", "no such column", "no such table", "has no column")
_own = threading.local()


class Database:
    """A file of features, which is made with its folder, and anew where it is broken."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: Connection | None = None

    def run(self, statement: str, *values: object) -> list[tuple[Any, ...]] | None:
        """The rows that a statement gives; None where the database cannot be read or written, which is no error."""
        for _ in range(2):  # a broken one is made anew, once: what it held can be measured again
            try:
                self._connection = self._connection or self._open()
                return self._connection.execute(statement, values).fetchall()
            except Exception as error:  # SQLite's own, of the system, or of a Python that was built without it
                if not any(sign in str(error) for sign in _BROKEN):
                    return None
            self.close()
            for file in _files_of(self.path):
                with suppress(OSError):
                    file.unlink()
        return None

    def close(self) -> None:
        """Let go of the file, until it is asked again."""
        known, self._connection = self._connection, None
        if known is not None:
            known.close()

    def __del__(self) -> None:
        with suppress(Exception):  # the thread that opened it may be gone
            self.close()

    def _open(self) -> Connection:
        import sqlite3

        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")  # where the file system cannot, SQLite stays as it was
            connection.execute("PRAGMA synchronous = NORMAL")
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'by_use'").fetchall():
                connection.executescript(_SCHEMA)
        except BaseException:
            connection.close()
            raise
        return connection


def database() -> Database:
    """The database, opened once for each thread of a process; made where there is none."""
    path = cache_file()
    known: dict[tuple[int, Path], Database] = _own.__dict__.setdefault("known", {})
    which = (os.getpid(), path)  # a connection must not be used in a process that was forked from its own
    if which in known and not is_file(path):  # somebody has removed it
        known.pop(which).close()
    if which not in known:
        known[which] = Database(path)
    return known[which]


def _files_of(path: Path) -> list[Path]:
    """A database, and what SQLite keeps beside it."""
    return [path.with_name(path.name + end) for end in ("", "-wal", "-shm")]


LIMIT = "FABULA_CACHE_LIMIT"

_BLOCK = 2**20  # bytes hashed between two looks at whether to stop
_MOST = 4 * 2**30  # bytes of the database, where nothing else is said
_DAY = 86400  # seconds: how exactly it is known when an entry was last used
_LOOK = 256  # entries written between two looks at the size
_writes = count(1)


def cache_folder() -> Path:
    """Where the cache lies: ``$FABULA_CACHE_DIR`` where it is set, else the platform's folder for caches."""
    return own_folder("cache")


def cache_file() -> Path:
    """The database."""
    return cache_folder() / "features.sqlite"


_stretched: dict[object, str | None] = {}  # the last file of which a stretch was asked for, and its digest


def content_key(path: str | os.PathLike[str], *, stop: Stop = lambda: False) -> str | None:
    """A digest of everything in a file, None where it cannot be read, is no regular file, or `stop` says True.

    Of a stretch of a file: of the file, and from when to when it is.
    """
    name, begins, _ = split_stretch(os.fspath(path))
    if begins is not None and not is_file(path):
        status = Path(name).stat() if is_file(name) else None
        mark = None if status is None else (name, status.st_mtime_ns, status.st_size)
        if mark not in _stretched:  # a long file has many
            _stretched.clear()
            _stretched[mark] = content_key(name, stop=stop)
        known = _stretched[mark]
        return known and hashlib.sha256(f"{known}{os.fspath(path)[len(name) :]}".encode()).hexdigest()
    digest = hashlib.sha256()  # the quickest of the safe ones on processors that know it
    try:
        if not is_file(path):
            return None
        with open_file(path) as file:
            while block := file.read(_BLOCK):
                if stop():
                    return None
                digest.update(block)
    except (OSError, ValueError):
        return None
    return digest.hexdigest()


def recall(key: str, spec: Spec) -> NDArray[np.float64] | None:
    """Features kept for that content, None where there are none that can be trusted.

    That they were used is noted where the last use is older than a day.
    """
    which = (spec.name, spec.version, bytes.fromhex(key))
    found = database().run("SELECT numbers, used FROM features WHERE spec = ? AND version = ? AND key = ?", *which)
    numbers, used = found[0] if found else (None, 0)
    if not isinstance(numbers, bytes) or len(numbers) != 8 * int(np.prod(spec.shape)):
        return None
    now = int(time.time())
    if now - used > _DAY:
        database().run("UPDATE features SET used = ? WHERE spec = ? AND version = ? AND key = ?", now, *which)
    values = np.frombuffer(numbers, dtype="<f8").reshape(spec.shape).astype(np.float64)
    return None if np.isinf(values).any() else values  # NaN: not known of that file


def keep(key: str, spec: Spec, features: NDArray[np.float64]) -> bool:
    """Keep the features of that content; False where the cache cannot be written, which is no error.

    Now and then what was used least lately is forgotten.
    """
    row = (spec.name, spec.version, bytes.fromhex(key), int(time.time()), features.astype("<f8").tobytes())
    done = database().run("INSERT OR REPLACE INTO features VALUES (?, ?, ?, ?, ?)", *row) is not None
    if done and next(_writes) % _LOOK == 0:
        shrink(most_bytes())
    return done


def count_bytes() -> int:
    """Bytes of what is kept."""
    rows = [database().run(f"PRAGMA {name}") or [(0,)] for name in ("page_count", "freelist_count", "page_size")]
    pages, free, page = (int(found[0][0]) for found in rows)
    return (pages - free) * page


def shrink(most: int) -> None:
    """Forget what was used least lately, down to four fifths of a size, where more is kept."""
    share = _SHRUNK * most / max(1, count_bytes())
    if share < _SHRUNK:
        database().run(
            """DELETE FROM features WHERE (spec, version, key) IN (SELECT spec, version, key FROM features
            ORDER BY used LIMIT max(1, (SELECT CAST(COUNT(*) * (1 - ?) AS INTEGER) FROM features)))""",
            share,
        )


@dataclass(frozen=True)
class CacheInfo:
    """What the cache holds."""

    path: Path  # the database
    entries: tuple[tuple[str, int, int], ...]  # (spec, version, how many) of what it holds
    # Bytes on the disk, and at most.
    size: int
    most: int


def cache_info() -> CacheInfo:
    """What the cache holds; nothing where there is none."""
    path = cache_file()
    counts = "SELECT spec, version, COUNT(*) FROM features GROUP BY spec, version ORDER BY 1, 2"
    entries = database().run(counts) if is_file(path) else None
    size = sum(file.stat().st_size for file in _files_of(path) if is_file(file))
    return CacheInfo(path, tuple(entries or ()), size, most_bytes())


def clear_cache(spec: str | None = None) -> int:
    """Forget what is kept, of one spec or of all, and give its room back; returns how many entries there were."""
    if spec is None:
        shutil.rmtree(cache_folder() / "features", ignore_errors=True)  # where versions before 0.3 kept theirs
    if not is_file(cache_file()):
        return 0
    held = database().run("SELECT COUNT(*) FROM features WHERE ?1 IS NULL OR spec = ?1", spec)
    database().run("DELETE FROM features WHERE ?1 IS NULL OR spec = ?1", spec)
    database().run("VACUUM")
    return int(held[0][0]) if held else 0


def most_bytes() -> int:
    """The largest the database may be: ``$FABULA_CACHE_LIMIT`` in bytes, or with K, M or G behind; else 4 GiB."""
    text = os.environ.get(LIMIT, "").strip()
    if not text:
        return _MOST
    factor = {"K": 2**10, "M": 2**20, "G": 2**30}.get(text[-1].upper(), 1)
    number = text[:-1] if text[-1].upper() in "KMG" else text
    if not number.strip().isdecimal() or int(number) < 1:
        raise InputError(f"{LIMIT} must be a number of bytes, such as 500M or 4G; got {text!r}")
    return int(number) * factor


Progress = Callable[[int, int, str], None]
_LONG = 60.0  # seconds to measure a file of no parsed kind: sound, some of which takes little room and long
_PER_SECOND = 500_000  # bytes for which a second more is given
_TOGETHER = 16  # files that a child is asked for at once
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
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = min(cores if how.jobs is None else how.jobs, max(1, len(names)))
    if workers < 1:
        raise InputError(f"jobs must be at least 1; got {how.jobs}")
    spec.prepare()
    outcomes: dict[int, _Outcome] = {}
    for index, outcome in _outcomes(names, spec, workers, how):
        outcomes[index] = outcome
        if how.progress is not None:
            how.progress(len(outcomes), len(names), names[index])
    found = sorted(outcomes.items(), key=lambda one: one[0])  # in the order given
    rows = {index: outcome for index, outcome in found if not isinstance(outcome, FileError)}
    problems = tuple((names[index], str(outcome)) for index, outcome in found if isinstance(outcome, FileError))
    features = np.stack(list(rows.values())) if rows else np.empty((0, *spec.shape))
    return Extraction(features, spec.feature_names, tuple(rows), problems)


def _outcomes(names: list[str], spec: Spec, workers: int, how: Measuring) -> Iterator[tuple[int, _Outcome]]:
    """Each file's outcome as soon as it is there."""
    gone = {i: error for i, name in enumerate(names) if (error := _find_absence(name)) is not None}
    yield from gone.items()
    there = [i for i in range(len(names)) if i not in gone]
    # Of files that are parsed in a child, some are measured one after the other.
    size = max(1, min(_TOGETHER, len(names) // (4 * workers)))
    parsed = [i for i in there if spec.parsed(names[i])]
    alone = [[i] for i in there if not spec.parsed(names[i])]
    runs = [*(parsed[k : k + size] for k in range(0, len(parsed), size)), *alone]
    if workers == 1:
        for run in runs:
            yield from _measure_run(run, names, spec, how.stop, cache=how.cache)
        return
    given_up = threading.Event()

    def stop() -> bool:
        return given_up.is_set() or how.stop()

    def measure(run: list[int]) -> list[tuple[int, _Outcome]]:
        return list(_measure_run(run, names, spec, stop, cache=how.cache))

    with ThreadPoolExecutor(workers, thread_name_prefix="fabula-extract") as pool:
        try:
            for future in as_completed([pool.submit(copy_context().run, measure, run) for run in runs]):
                yield from future.result()
        finally:  # also when the caller is interrupted: the threads give up within one chunk
            given_up.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _find_absence(name: str) -> FileError | None:
    """What is wrong with a file that is not there, which nobody has to be asked for; None for any other."""
    file = split_stretch(name)[0]
    if is_guarded() or os.path.lexists(name):
        return None
    try:
        Path(file).lstat()
    except (OSError, ValueError) as error:
        return FileError(f"{shown(file)}: cannot be read ({getattr(error, 'strerror', None) or error})")
    return None


def extract_one(path: str, spec: Spec, stop: Stop = lambda: False) -> NDArray[np.float64]:
    """The features of one file, an array of the spec's shape, from the cache where they are known, or a FileError."""
    ((_, found),) = _measure_run([0], [path], spec, stop, cache=True)
    if isinstance(found, FileError):
        raise found
    return found


def _measure_run(
    run: list[int], names: list[str], spec: Spec, stop: Stop, *, cache: bool
) -> Iterator[tuple[int, _Outcome]]:
    """The outcomes of some files, from the cache where they are known."""
    keys: dict[int, str | None] = {}
    for index in run:
        if stop():
            raise Stopped
        key = content_key(names[index], stop=stop) if cache else None
        known = recall(key, spec) if key else None
        if known is not None:
            yield index, known
        else:
            keys[index] = key
    measured = _measure_all([names[index] for index in keys], spec, stop)
    for (index, key), outcome in zip(keys.items(), measured, strict=True):
        if not isinstance(outcome, FileError) and np.shape(outcome) != tuple(spec.shape):
            got = f"shape {spec.shape} is due; got {np.shape(outcome)}"
            outcome = FileError(f"{shown(names[index])}: cannot be measured ({got})")
        if key and not isinstance(outcome, FileError):
            keep(key, spec, outcome)
        yield index, outcome


def _measure_all(names: list[str], spec: Spec, stop: Stop) -> list[_Outcome]:
    """The features of files, or what is wrong with them: in a child where they are parsed, or guarded."""
    parsed = all(map(spec.parsed, names))
    place = place_of(spec.measure) if is_guarded() or parsed else None
    if place is None:
        return [measure_here(name, spec.measure, stop) for name in names]
    size = 0
    for name in names:
        with suppress(OSError, ValueError):
            size = max(size, Path(split_stretch(name)[0]).stat().st_size)
    limits = Limits((LIMITS.seconds if parsed else _LONG) + size / _PER_SECOND)
    with stopping(stop):
        return list(call_all(measure_at, names, place, limits=limits))
