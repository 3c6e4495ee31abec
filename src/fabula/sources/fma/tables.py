"""The tables of FMA as pandas wrote them: several header rows, then a line that names the index.

Columns are found by the names in the header rows, never by their position.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.ordering import Ints
from fabula.errors import FileError
from fabula.sources.fma.archive import open_table, table_name

if TYPE_CHECKING:
    from _csv import Reader

ECHONEST = (
    "acousticness",
    "danceability",
    "energy",
    "instrumentalness",
    "liveness",
    "speechiness",
    "tempo",
    "valence",
)

_TRACKS = {
    "album": ("album", "id"),
    "album_tracks": ("album", "tracks"),
    "album_title": ("album", "title"),
    "artist": ("artist", "name"),
    "number": ("track", "number"),
    "duration": ("track", "duration"),
    "title": ("track", "title"),
    "genre": ("track", "genre_top"),
    "split": ("set", "split"),
}
_CELL = 1 << 24  # characters; some biographies are long
LARGEST = 1e15  # below, a float tells every whole number
_AGAIN = "get it again with: fabula fetch fma"
SPLITS = ("training", "validation", "test")


@dataclass(frozen=True, slots=True)
class Track:
    """One row of tracks.csv; None and NaN where a cell is empty."""

    id: int
    album: int | None
    album_tracks: int | None
    album_title: str
    artist: str
    number: int | None
    duration: float
    title: str
    genre: str
    split: str


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features by track: ids (m,) and values (m, f) or (m, f, 7)."""

    ids: NDArray[np.int64]
    values: NDArray[np.floating[Any]]

    @classmethod
    def checked(cls, ids: NDArray[np.int64], values: NDArray[np.floating[Any]], where: str) -> FeatureTable:
        """A table with tracks, each of them once."""
        _check_ids(ids, where)
        return cls(ids, values)

    def rows(self) -> dict[int, int]:
        """Track -> row, for the tracks whose features are all there."""
        whole = np.isfinite(self.values).reshape(len(self.ids), -1).all(axis=1)
        return {int(self.ids[row]): int(row) for row in np.flatnonzero(whole)}


def read_tracks(source: Path) -> list[Track]:
    """The rows of tracks.csv that are needed, in its order."""
    where = table_name(source, "tracks.csv")
    with _rows(source, "tracks.csv") as rows:
        columns = columns_of([next(rows, []) for _ in range(2)], list(_TRACKS.values()), where).tolist()
        tracks = [_track(row, columns, f"{where}, line {rows.line_num}") for row in rows if _is_data(row)]
    _check_ids(np.array([track.id for track in tracks], dtype=np.int64), where)
    return tracks


def read_echonest(source: Path) -> FeatureTable:
    """Echonest's 8 audio features (m, 8), for the tracks that have them."""
    where = table_name(source, "echonest.csv")
    ids, values = [], []
    with _rows(source, "echonest.csv") as rows:
        wanted = [("echonest", "audio_features", name) for name in ECHONEST]
        columns = columns_of([next(rows, []) for _ in range(3)], wanted, where)
        for row in rows:
            if _is_data(row):
                at = f"{where}, line {rows.line_num}"
                ids.append(whole_of(_cell(row, 0, at), at))
                values.append([number_of(_cell(row, column, at), at) for column in columns])
    array = np.array(values, dtype=np.float64).reshape(len(ids), len(ECHONEST))
    return FeatureTable.checked(np.array(ids, dtype=np.int64), array, where)


@contextmanager
def _rows(source: Path, name: str) -> Iterator[Reader]:
    """The rows of a table; what is wrong with one becomes a FileError."""
    where = table_name(source, name)
    limit = csv.field_size_limit(_CELL)
    try:
        with open_table(source, name) as file:
            yield csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""))
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileError(f"{where}: is not a table in UTF-8 ({error})") from error
    finally:
        csv.field_size_limit(limit)


def columns_of(header: Sequence[Sequence[str]], wanted: Sequence[tuple[str, ...]], where: str) -> Ints:
    """Where each wanted column is, by its names in the header rows.

    Raises
    ------
    FileError
        Naming what is missing, or there twice; or when header rows are missing.
    """
    _check_header(header, where)
    names = [tuple(cells) for cells in zip(*header, strict=False)]
    columns = {name: number for number, name in enumerate(names)}
    missing = [name for name in wanted if name not in columns]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise FileError(f"{where}: column {missing[0]}{more} is missing from its {len(header)} header rows")
    twice = next((name for name in wanted if names.count(name) > 1), None) if len(columns) < len(names) else None
    if twice is not None:
        raise FileError(f"{where}: column {twice} is there twice")
    return np.array([columns[name] for name in wanted], dtype=np.intp)


def _check_header(header: Sequence[Sequence[str]], where: str) -> None:
    rows = list(takewhile(_is_header, header))
    if not any(cell.strip() for row in header for cell in row):
        raise FileError(f"{where}: is empty; {_AGAIN}")
    if len(rows) < len(header):
        raise FileError(f"{where}: has only {len(rows)} of its {len(header)} header rows; {_AGAIN}")


def _is_header(row: Sequence[str]) -> bool:
    return any(cell.strip() for cell in row) and row[0] != "track_id" and not row[0].isdecimal()


def number_of(cell: str, where: str) -> float:
    """A cell as a number; NaN where it is empty."""
    try:
        return float(cell) if cell else math.nan
    except ValueError:
        raise FileError(f"{where}: {cell[:40]!r} is not a number") from None


def whole_of(cell: str, where: str) -> int:
    """A cell as a whole number."""
    value = number_of(cell, where)
    if not value.is_integer():
        raise FileError(f"{where}: {cell[:40]!r} is not a whole number")
    if abs(value) >= LARGEST:
        raise FileError(f"{where}: {cell[:40]!r} is larger than any number of this table")
    return int(value)


def _is_data(row: Sequence[str]) -> bool:
    return bool(row) and row[0] != "track_id"


def _cell(row: Sequence[str], column: int, where: str) -> str:
    if column >= len(row):
        raise FileError(f"{where}: has only {len(row)} cells")
    return row[column]


def _track(row: Sequence[str], columns: list[int], where: str) -> Track:
    cells = dict(zip(_TRACKS, (_cell(row, column, where).strip() for column in columns), strict=True))
    if cells["split"] not in SPLITS:
        raise FileError(f"{where}: the split must be one of {', '.join(SPLITS)}; got {cells['split'][:40]!r}")

    def whole(name: str) -> int | None:
        return whole_of(cells[name], f"{where}, column {_TRACKS[name]}") if cells[name] else None

    return Track(
        id=whole_of(row[0], where),
        album=whole("album"),
        album_tracks=whole("album_tracks"),
        album_title=cells["album_title"],
        artist=cells["artist"],
        number=whole("number"),
        duration=number_of(cells["duration"], f"{where}, column {_TRACKS['duration']}"),
        title=cells["title"],
        genre=cells["genre"],
        split=cells["split"],
    )


def _check_ids(ids: NDArray[np.int64], where: str) -> None:
    if not ids.size:
        raise FileError(f"{where}: holds no tracks, only its header; {_AGAIN}")
    ranked = np.sort(ids)
    twice = ranked[1:][ranked[1:] == ranked[:-1]]
    if twice.size:
        raise FileError(f"{where}: track {twice[0]} is there twice")
