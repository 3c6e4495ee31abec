"""Folders of this machine: what the page may look into, which is what was named at start and nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabula.errors import shown
from fabula.media.registry import item_endings
from fabula.sources.folders import natural_key
from fabula.sources.registry import list_endings
from fabula.web.errors import StatusError

_MOST_SHOWN = 1000


def below(path: str | os.PathLike[str], roots: Sequence[Path]) -> Path | None:
    """The real path of something that lies in one of the roots, links followed; None when it does not.

    Examples
    --------
    >>> below("/etc/passwd", [Path("/tmp")]) is None
    True
    """
    try:
        real = Path(path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None
    return real if any(real.is_relative_to(root) for root in roots) else None


def allowed(path: str, roots: Sequence[Path]) -> Path:
    """The same, refused with one answer for what is not there and what is elsewhere."""
    found = below(path, roots)
    if found is None:
        raise StatusError(404, f"{shown(path)[:200]}: there is no such thing below the folders named at start")
    return found


def listing(path: str | None, roots: Sequence[Path]) -> dict[str, Any]:
    """The folders and lists in a folder, and how many items; without a path the folders named at start."""
    if path is None:
        return {"path": None, "parent": None, "folders": [_entry(root) for root in roots], "lists": [], "items": 0}
    folder = allowed(path, roots)
    if not folder.is_dir():
        raise StatusError(400, f"{shown(folder)}: is not a folder")
    try:
        entries = sorted((e for e in os.scandir(folder) if not e.name.startswith(".")), key=_by_name)[:_MOST_SHOWN]
    except OSError as error:
        raise StatusError(400, f"{shown(folder)}: cannot be read ({error.strerror})") from error
    entries = [entry for entry in entries if not entry.is_symlink() or below(entry.path, roots)]
    inner = [Path(e.path) for e in entries if e.is_dir()]
    endings = [(e, Path(e.name).suffix.lower()) for e in entries if e.is_file()]
    return {
        "path": os.fspath(folder),
        "parent": os.fspath(folder.parent) if folder not in roots else None,
        "folders": [_entry(one) for one in inner],
        "lists": [_entry(Path(e.path)) for e, ending in endings if ending in list_endings()],
        "items": sum(ending in item_endings() for _, ending in endings),
    }


def _entry(path: Path) -> dict[str, str]:
    return {"name": shown(path.name or os.fspath(path)), "path": os.fspath(path)}


def _by_name(entry: os.DirEntry[str]) -> tuple[tuple[int, int, str], ...]:
    return natural_key(entry.name)
