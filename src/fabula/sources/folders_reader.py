"""Folders and files as a source: the files of one medium."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.collection import Collection
from fabula.errors import shown
from fabula.media.registry import find_medium
from fabula.sources.folders import read_folder
from fabula.sources.registry import Opening, Reader
from fabula.sources.source import Source


def open_files(paths: Sequence[str], opening: Opening) -> Source:
    """Open folders and files."""
    reading = read_folder(paths, recursive=opening.recursive)
    notes = tuple(f"skipped: {shown(path)}: {reason}" for path, reason in reading.skipped)
    title = reading.title or Path(paths[0]).name
    items = [replace(item, path=os.path.normpath(item.path)) for item in reading.items]
    collection = Collection(title, items, title=title, ordered=False)
    return Source(Path(paths[0]), collection, find_medium("music"), files=True, notes=notes)


READER = Reader("folder", open_files)
