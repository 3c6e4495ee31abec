"""The cache of features: by the content of a file and the spec, so that renamed and moved files are still known.

One SQLite database that many processes may read and write at once. Nothing that happens to it stops a measurement: an
entry or a database that is broken is made anew, a folder that cannot be written is left alone. What earlier versions
kept, one JSON file an entry, is taken over entry by entry as it is asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fabula.errors import InputError
from fabula.media.database import Database, DatabaseError, database
from fabula.media.spec import Spec, Stop

Value = TypeVar("Value")

ENVIRONMENT = "FABULA_CACHE_DIR"
LIMIT = "FABULA_CACHE_LIMIT"

_BLOCK = 2**20  # bytes hashed between two looks at whether to stop
_MOST = 4 * 2**30  # bytes of the database, where nothing else is said
_DAY = 86400  # seconds: how exactly it is known when an entry was last used
_LOOK = 256  # entries written between two looks at the size


def cache_folder() -> Path:
    """Where the cache lies: ``$FABULA_CACHE_DIR`` where it is set, else the platform's folder for caches."""
    chosen = os.environ.get(ENVIRONMENT)
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("fabula", appauthor=False))


def cache_file() -> Path:
    """The database."""
    return cache_folder() / "features.sqlite"


def content_key(path: str | os.PathLike[str], *, stop: Stop = lambda: False) -> str | None:
    """A digest of everything in a file, None where it cannot be read, is no regular file, or `stop` says True."""
    digest = hashlib.sha256()  # the quickest of the safe ones on processors that know it
    try:
        if not Path(path).is_file():
            return None
        with Path(path).open("rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                if stop():
                    return None
                digest.update(block)
    except (OSError, ValueError):
        return None
    return digest.hexdigest()


def recall(key: str, spec: Spec) -> NDArray[np.float64] | None:
    """Features kept for that content, None where there are none that can be trusted."""
    which = (spec.name, spec.version, bytes.fromhex(key))
    found = _asked(lambda cache: cache.recall(*which, older_than=_DAY), None)
    if found is not None:
        return _trusted(np.frombuffer(found, dtype="<f8"), spec) if len(found) == 8 * _size(spec) else None
    old = _recall_old(key, spec)
    if old is not None:
        keep(key, spec, old)
    return old


def keep(key: str, spec: Spec, features: NDArray[np.float64]) -> bool:
    """Keep the features of that content; False where the cache cannot be written, which is no error."""

    def kept(cache: Database) -> bool:
        cache.keep(spec.name, spec.version, bytes.fromhex(key), features.astype("<f8").tobytes())
        if cache.written % _LOOK == 0:
            cache.shrink(most_bytes())
        return True

    return _asked(kept, False)  # noqa: FBT003 - what is returned where it cannot be asked


@dataclass(frozen=True)
class CacheInfo:
    """What the cache holds.

    Attributes
    ----------
    path
        The database.
    entries
        (spec, version, how many) of what it holds.
    size, most
        Bytes on the disk, and at most.
    old
        Entries of earlier versions, one file each, that nobody has asked for since.
    """

    path: Path
    entries: tuple[tuple[str, int, int], ...]
    size: int
    most: int
    old: int


def cache_info() -> CacheInfo:
    """What the cache holds; nothing where there is none."""
    path = cache_file()
    none: tuple[tuple[str, int, int], ...] = ()
    entries = _asked(Database.counts, none) if path.exists() else none
    beside = [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))]
    size = sum(file.stat().st_size for file in beside if file.exists())
    return CacheInfo(path, entries, size, most_bytes(), sum(1 for _ in _old_files()))


def clear_cache(spec: str | None = None) -> int:
    """Forget what is kept, of one spec or of all; returns how many entries there were.

    Examples
    --------
    >>> clear_cache("no such spec")
    0
    """
    old = [file for file in _old_files() if spec is None or file.parent.parent.name.rpartition("-")[0] == spec]
    for file in old:
        file.unlink(missing_ok=True)
    if spec is None:
        shutil.rmtree(_old_folder(), ignore_errors=True)
    return len(old) + (_asked(lambda cache: cache.clear(spec), 0) if cache_file().exists() else 0)


def most_bytes() -> int:
    """The largest the database may be: ``$FABULA_CACHE_LIMIT`` in bytes, or with K, M or G behind; else 4 GiB.

    Raises
    ------
    InputError
        When the variable holds no size.
    """
    text = os.environ.get(LIMIT, "").strip()
    if not text:
        return _MOST
    factor = {"K": 2**10, "M": 2**20, "G": 2**30}.get(text[-1].upper(), 1)
    number = text[:-1] if text[-1].upper() in "KMG" else text
    if not number.strip().isdecimal() or int(number) < 1:
        raise InputError(f"{LIMIT} must be a number of bytes, such as 500M or 4G; got {text!r}")
    return int(number) * factor


def _asked(action: Callable[[Database], Value], otherwise: Value) -> Value:
    """What the database answers; something else where it cannot be had, which is no error."""
    try:
        return action(database(cache_file()))
    except (DatabaseError, OSError):
        return otherwise


def _size(spec: Spec) -> int:
    return int(np.prod(spec.shape))


def _trusted(values: NDArray[np.float64], spec: Spec) -> NDArray[np.float64] | None:
    """The features in their shape; None where one is infinite. NaN: not known of that file."""
    shaped = values.reshape(spec.shape).astype(np.float64)
    return None if np.isinf(shaped).any() else shaped


def _old_folder() -> Path:
    return cache_folder() / "features"


def _old_files() -> Iterator[Path]:
    """Entries of earlier versions."""
    with suppress(OSError):
        yield from _old_folder().glob("*/??/*.json")


def _recall_old(key: str, spec: Spec) -> NDArray[np.float64] | None:
    """Features that an earlier version kept for that content."""
    place = _old_folder() / f"{spec.name}-{spec.version}" / key[:2] / f"{key[2:]}.json"
    try:
        entry = json.loads(place.read_bytes())
        values = np.array(entry["features"], dtype=np.float64)
        if (entry["spec"], entry["version"], entry["key"]) != (spec.name, spec.version, key):
            return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return _trusted(values, spec) if values.shape == spec.shape else None
