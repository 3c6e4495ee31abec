"""The workspace of a reproduction: stages that are done once, kept as JSON, and taken up where they stopped."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.files.writing import write_whole
from fabula.studies.reproduce.collections import StudyData
from fabula.studies.reproduce.plan import Plan
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
    plan: Plan
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
        """Tells the epochs of a training that is a stage, as :func:`fabula.training.essence.train` reports them."""
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
