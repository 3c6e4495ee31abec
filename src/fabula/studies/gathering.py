"""Ordered collections from a folder of folders and playlists: each is a collection in its own order, measured."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from fabula.core.collection import Collection
from fabula.errors import FileError, InputError, shown
from fabula.media.extraction import Extraction, Measuring, extract
from fabula.media.registry import item_endings
from fabula.sources.folders import files_of
from fabula.sources.playlists.formats import PLAYLIST_ENDINGS
from fabula.sources.registry import Opening, open_source
from fabula.sources.source import Source

_NUMBER = re.compile(r"\s*(\d+)", re.ASCII)
FEWEST = 3  # items: two have but one other order


@dataclass(frozen=True, eq=False)
class Gathered:
    """Ordered collections, measured, and what the user should know of them."""

    collections: list[Collection]
    notes: tuple[str, ...] = ()


def gather(folder: str | Path, measuring: Measuring | None = None) -> Gathered:
    """Each folder of files and each playlist below a folder, as a collection in its order.

    A playlist stands for the folder whose files it lists. A folder whose files are numbered neither in their tags
    nor in their names has no order of its own, and is left out; so is what has fewer than 3 items that can be measured.

    Parameters
    ----------
    folder
        Where to look.
    measuring
        How files are measured; what is in the cache is not measured again.

    Raises
    ------
    FileError, InputError
        When there is no such folder, or nothing in it that is ordered.
    """
    root = Path(folder)
    if not root.is_dir():
        raise FileError(f"{shown(str(folder))}: is not a folder")
    notes: list[str] = []
    sources = _distinct(_opened(root, notes), notes)
    if not sources:
        more = f"; {notes[0]}" if notes else ""
        raise InputError(f"{shown(str(folder))}: holds no numbered folder and no playlist of {FEWEST} files{more}")
    medium = sources[0].medium
    paths = list(dict.fromkeys(item.path for source in sources for item in source.collection.items if item.path))
    found = extract(paths, medium.spec(), measuring)
    notes += [f"left out: {why}" for _, why in found.problems]
    rows = {paths[index]: row for row, index in enumerate(found.kept)}
    made = [_measured(source, found, rows, root) for source in sources if source.medium.name == medium.name]
    whole = [collection for collection in made if collection is not None]
    if not whole:
        raise InputError(f"{shown(str(folder))}: nothing in it has {FEWEST} items that can be measured")
    return Gathered(whole, tuple(notes))


def _opened(root: Path, notes: list[str]) -> list[Source]:
    """Every playlist, then every folder that holds files."""
    playlists: list[str] = []
    folders: dict[str, None] = {}
    endings = item_endings()
    for file in files_of([str(root)]):
        ending = Path(file).suffix.lower()
        if ending in PLAYLIST_ENDINGS:
            playlists.append(file)
        elif ending in endings:
            folders[str(Path(file).parent)] = None
    found = []
    for name in (*playlists, *folders):
        try:
            found.append(open_source([name], Opening(recursive=False)))
        except (FileError, InputError) as error:
            notes.append(f"left out: {error}")
    return found


def _distinct(sources: list[Source], notes: list[str]) -> list[Source]:
    """Those with an order of their own, each set of files once."""
    kept: list[Source] = []
    seen: set[frozenset[str]] = set()
    for source in sources:
        files = frozenset(os.path.realpath(item.path) for item in source.collection.items if item.path)
        if len(files) < FEWEST or files in seen:
            continue
        if not source.collection.ordered and not _numbered(source.collection):
            notes.append(f"left out: {shown(str(source.path))}: its files are not numbered, so it has no order")
            continue
        seen.add(files)
        kept.append(source)
    return kept


def _numbered(collection: Collection) -> bool:
    """Whether the names of the files begin with numbers that rise."""
    numbers = [_NUMBER.match(Path(item.path).name) for item in collection.items]
    return all(numbers) and all(int(a[1]) < int(b[1]) for a, b in pairwise(numbers) if a and b)


def _measured(source: Source, found: Extraction, rows: dict[str, int], root: Path) -> Collection | None:
    """A source as a collection of what could be measured of it; None where that is too little."""
    items = [item for item in source.collection.items if item.path in rows]
    if len(items) < FEWEST:
        return None
    features = np.stack([found.features[rows[item.path]] for item in items])
    name = os.path.relpath(source.path, root)
    return Collection(name, items, features, found.feature_names, title=source.title)
