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
from fabula.media.registry import find_medium, media, medium_of_file
from fabula.sources.folders import files_of, read_folder
from fabula.sources.registry import Opening, Reader
from fabula.sources.source import Source


def open_files(paths: Sequence[str], opening: Opening) -> Source:
    """Open folders and files: those of the medium that has most of them."""
    medium = _medium(paths, recursive=opening.recursive)
    reading = read_folder(paths, medium, recursive=opening.recursive)
    notes = tuple(f"skipped: {shown(path)}: {reason}" for path, reason in reading.skipped)
    title = reading.title or Path(paths[0]).name
    items = [replace(item, path=os.path.normpath(item.path)) for item in reading.items]
    collection = Collection(title, items, title=title, ordered=reading.numbered)
    return Source(Path(paths[0]), collection, medium, files=True, notes=notes)


def _medium(paths: Sequence[str], *, recursive: bool) -> Medium:
    """The medium that has most files; where none has any, the first of the house, which says what it looks for."""
    counts: Counter[str] = Counter()
    for file in files_of(paths, recursive=recursive):
        medium = medium_of_file(Path(file).suffix)
        if medium is not None:
            counts[medium.name] += 1
    return find_medium(counts.most_common(1)[0][0]) if counts else next(iter(media().values()))


READER = Reader("folder", open_files)
