"""The cache of features: by the content of the file and the spec, so that renamed and moved files are still known.

One small JSON file each, complete or absent. Nothing that happens to the cache stops a measurement: an entry that is
broken is measured again, a folder that cannot be written is left alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fabula.core.writing import write_whole
from fabula.errors import FabulaError
from fabula.media.spec import Spec, Stop

ENVIRONMENT = "FABULA_CACHE_DIR"

_BLOCK = 2**20  # bytes hashed between two looks at whether to stop


def cache_folder() -> Path:
    """Where entries lie: ``$FABULA_CACHE_DIR`` where it is set, else the platform's folder for caches."""
    chosen = os.environ.get(ENVIRONMENT)
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("fabula", appauthor=False))


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


def entry_path(key: str, spec: Spec) -> Path:
    """The file that holds, or would hold, the features of that content."""
    return cache_folder() / "features" / f"{spec.name}-{spec.version}" / key[:2] / f"{key[2:]}.json"


def recall(key: str, spec: Spec) -> NDArray[np.float64] | None:
    """Features kept for that content, None where there are none that can be trusted."""
    try:
        entry = json.loads(entry_path(key, spec).read_bytes())
        values = np.array(entry["features"], dtype=np.float64)
        if (entry["spec"], entry["version"], entry["key"]) != (spec.name, spec.version, key):
            return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return values if values.shape == spec.shape and not np.isinf(values).any() else None  # NaN: not known of it


def keep(key: str, spec: Spec, features: NDArray[np.float64]) -> bool:
    """Keep the features of that content; False where the folder cannot be written, which is no error."""
    entry = {"spec": spec.name, "version": spec.version, "key": key, "features": features.tolist()}
    place = entry_path(key, spec)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, json.dumps(entry))
    except (OSError, FabulaError):
        return False
    return True
