"""Folders and files as a source: the files of one medium."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.collection import Collection
from fabula.errors import shown
from fabula.media.medium import Medium
from fabula.media.registry import media
from fabula.sources.folders import files_of, read_folder
from fabula.sources.registry import Opening, Reader
from fabula.sources.source import Source

_BESIDE = 0.25  # of a file, is what one counts that may lie beside the items of another medium


def open_files(paths: Sequence[str], opening: Opening) -> Source:
    """Open folders and files: those of the medium that has most of them. One file alone may hold several items."""
    medium = medium_of(paths, opening)
    parts = medium.parts(paths[0]) if _is_one_item(paths, medium) else None
    if parts is not None:
        note = f"{shown(paths[0])} was cut into {len(parts)} {medium.words.items}"
        return Source(Path(paths[0]), parts, medium, Path(paths[0]).parent, notes=(note,))
    reading = read_folder(paths, medium, recursive=opening.recursive, within=opening.within)
    notes = tuple(f"skipped: {shown(path)}: {reason}" for path, reason in reading.skipped)
    title = reading.title or Path(paths[0]).name
    items = [replace(item, path=os.path.normpath(item.path)) for item in reading.items]
    collection = Collection(title, items, title=title, ordered=reading.numbered)
    return Source(Path(paths[0]), collection, medium, files=True, notes=notes)


def _is_one_item(paths: Sequence[str], medium: Medium) -> bool:
    """Whether one file of a medium is all there is."""
    return len(paths) == 1 and Path(paths[0]).is_file() and Path(paths[0]).suffix.lower() in medium.endings


def medium_of(paths: Sequence[str], opening: Opening) -> Medium:
    """The medium that has most files; where none has any, the first of the house, which says what it looks for.

    What may lie beside the items of another medium that is there counts little: the lyrics of an album make no book.
    """
    files = files_of(paths, recursive=opening.recursive, within=opening.within)
    endings = Counter(Path(file).suffix.lower() for file in files)
    there = [medium for medium in media().values() if medium.endings & set(endings)]
    if not there:
        return next(iter(media().values()))

    def count(medium: Medium) -> float:
        beside = frozenset().union(*(other.companions for other in there if other is not medium))
        return sum(
            n * (_BESIDE if ending in beside else 1) for ending, n in endings.items() if ending in medium.endings
        )

    return max(there, key=count)


READER = Reader("folder", open_files)
