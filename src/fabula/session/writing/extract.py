"""What was measured, as a table to train on or to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabula.core.collection import Collection
from fabula.core.files.atomic import check_target
from fabula.errors import InputError
from fabula.media.extraction import Measuring
from fabula.session.opening.measure import measured
from fabula.session.writing.outputs import relocated
from fabula.sources.registry import Opening, open_source
from fabula.sources.source import SeveralCollectionsError, Source
from fabula.sources.tables.write_table import write_table


@dataclass(frozen=True)
class Extracted:
    """What was measured, and the table it went into."""

    collection: Collection
    path: Path
    notes: tuple[str, ...]


def extract_table(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    spec: str | None = None,
    opening: Opening | None = None,
    measuring: Measuring | None = None,
) -> Extracted:
    """Measure folders, files or the files of a playlist, and write a table with one row a file.

    Parameters
    ----------
    paths
        Folders and files, or one playlist.
    output
        A .csv, .json or .parquet file.
    spec
        What to measure, one of the specs of the medium; by default its first.
    opening, measuring
        How files are found, and how they are measured.
    """
    target = check_target(output)
    if target.suffix.lower() not in (".csv", ".json", ".parquet"):
        raise InputError(f"{target}: the ending must be one of .csv, .json, .parquet")
    done = measured(_files(paths, opening), measuring or Measuring(), spec=spec)
    title = done.collection.title or done.path.stem
    placed = relocated(done.collection, done.folder, target.parent)
    written = write_table(target, placed, {"collection": [title] * len(placed)})
    return Extracted(done.collection, written, done.notes)


def _files(paths: Sequence[str | Path], opening: Opening | None) -> Source:
    """The source, whose items must be files."""
    try:
        source = open_source(paths, opening)
    except SeveralCollectionsError:
        source = None
    if source is None or not source.files:
        raise InputError(f"{paths[0]}: is a table; features are extracted from folders, files and playlists")
    return source
