"""Features of sound, as a table to train on or to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabula.core.collection import Collection
from fabula.core.writing import check_target
from fabula.errors import InputError
from fabula.session.outputs import relocated
from fabula.session.sources import Measuring, measured, read_source
from fabula.sources.tables.reading import TABLE_ENDINGS, write_table


@dataclass(frozen=True)
class Extracted:
    """What was measured, and the table it went into."""

    collection: Collection
    path: Path
    notes: tuple[str, ...]


def extract_table(
    paths: Sequence[str | Path], output: str | Path, *, spec: str = "audio", measuring: Measuring | None = None
) -> Extracted:
    """Measure folders, audio files or the files of a playlist, and write a table with one row a file.

    Parameters
    ----------
    paths
        Folders and audio files, or one playlist.
    output
        A .csv, .json or .parquet file.
    spec
        ``"audio"`` (duration and loudness) or ``"fma"`` (74 x 7 and the duration, as the FMA dataset has them).
    measuring
        How sound is found and measured.
    """
    target = check_target(output)
    if target.suffix.lower() not in (".csv", ".json", ".parquet"):
        raise InputError(f"{target}: the ending must be one of .csv, .json, .parquet")
    tables = [path for path in map(Path, paths) if path.suffix.lower() in TABLE_ENDINGS and not path.is_dir()]
    if tables:
        raise InputError(f"{tables[0]}: is a table; features are extracted from folders, audio files and playlists")
    how = measuring or Measuring()
    source = read_source(paths, measuring=how)
    done = measured(source, how, spec=spec)
    title = done.collection.title or done.path.stem
    placed = relocated(done.collection, done.folder, target.parent)
    written = write_table(target, placed, {"collection": [title] * len(placed)})
    return Extracted(done.collection, written, done.notes)
