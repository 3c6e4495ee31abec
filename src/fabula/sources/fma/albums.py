"""FMA, the Free Music Archive dataset: its albums as ordered collections.

Which albums are kept follows the paper: 3 to 20 tracks, numbered 1..n without gaps or doubles, complete.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Collection, Item
from fabula.errors import InputError
from fabula.media.music.librosa_features import STATISTICS
from fabula.sources.fma import archive
from fabula.sources.fma.archive import SPLITS, FeatureTable, Track

SHORTEST, LONGEST = 3, 20  # tracks of an album, the paper's Section 3

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "size": f"fewer than {SHORTEST} or more than {LONGEST} tracks",
        "doubles": "two tracks with one number",
        "gaps": "numbers that do not run from 1 (or 0) without gaps, or a track without a number",
        "unknown length": "the number of tracks on the album is not given",
        "incomplete": "fewer tracks than the album is said to have",
        "mixed splits": "tracks in more than one split",
        "features": "a track without all of its features",
    }
)
"""Why an album is dropped, in the order in which the reasons are tried; the first that holds is counted."""


@dataclass(frozen=True, eq=False)
class FmaReading:
    """The albums of FMA that can be used, and what became of the others."""

    collections: tuple[Collection, ...]  # albums by rising id, items in the order of their numbers
    splits: tuple[str, ...]  # FMA's split of each of them: training, validation or test
    albums: int  # albums there are in all
    dropped: Mapping[str, int]  # reason (of :data:`REASONS`) -> albums dropped for it, of all splits
    shifted: int  # albums numbered from 0 that were kept, of all splits
    loose: int  # tracks on no album
    shared_artists: Mapping[tuple[str, str], tuple[str, ...]]  # two splits -> artists with kept albums in both

    def of(self, split: str) -> list[Collection]:
        """The collections of one split."""
        return [c for c, own in zip(self.collections, self.splits, strict=True) if own == _check_split(split)]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of a study should know: why albums were dropped, and whose albums are in two splits."""
        dropped = [f"dropped, {REASONS[why]}: {count}" for why, count in self.dropped.items() if count]
        shared = self.shared_artists.items()
        return (*dropped, *(f"artists in both {a} and {b}: {len(names)}" for (a, b), names in shared if names))


def read_fma(
    path: str | os.PathLike[str],
    *,
    features: Literal["librosa", "echonest"] = "librosa",
    split: str | None = None,
) -> FmaReading:
    """Read the albums of FMA.

    An album with tracks in more than one split is dropped: giving it to one would carry the others' artists over.
    The first reading of librosa's statistics takes a while; they are kept beside the tables for the next one.

    Parameters
    ----------
    path
        The archive that ``fabula fetch fma`` fetches, the folder it lies in, or a folder with its tables.
    features
        ``"librosa"``: shape (n, 75, 7) as float32: 74 features and the duration in seconds, each with the paper's
        7 statistics (mean, std, skew, kurtosis, median, min, max); the duration stands 7 times. ``"echonest"``:
        shape (n, 8), Echonest's audio features, which few albums have.
    split
        Keep the collections of this split; the counts are of all.
    """
    if features not in _KINDS:
        raise InputError(f"the features of FMA must be one of {', '.join(_KINDS)}; got {features!r}")
    if split is not None:
        _check_split(split)
    source = archive.find_tables(path)
    albums: dict[int, list[Track]] = {}
    loose = 0
    for track in archive.read_tracks(source):
        if track.album is None or track.album < 0:
            loose += 1
        else:
            albums.setdefault(track.album, []).append(track)
    return _select(dict(sorted(albums.items())), loose, _KINDS[features], source, split)


@dataclass(frozen=True)
class _Kind:
    """One kind of features: their names, their table, and the array (n, f, ...) of an album from its rows of that."""

    names: tuple[str, ...]
    read: Callable[[Path], FeatureTable]
    of: Callable[[NDArray[np.floating[Any]], list[Track]], NDArray[np.floating[Any]]]
    needs_duration: bool


def _with_duration(values: NDArray[np.floating[Any]], tracks: list[Track]) -> NDArray[np.floating[Any]]:
    durations = np.array([track.duration for track in tracks], dtype=np.float32)
    repeated = np.repeat(durations[:, np.newaxis, np.newaxis], len(STATISTICS), axis=2)  # (n, 1, 7)
    return np.concatenate([values, repeated], axis=1)  # (n, 75, 7)


_KINDS = {
    "librosa": _Kind((*archive.LIBROSA, "duration"), archive.read_librosa, _with_duration, needs_duration=True),
    "echonest": _Kind(archive.ECHONEST, archive.read_echonest, lambda values, tracks: values, needs_duration=False),
}


def _select(albums: dict[int, list[Track]], loose: int, kind: _Kind, source: Path, split: str | None) -> FmaReading:
    table = kind.read(source)
    rows = table.rows()
    dropped = dict.fromkeys(REASONS, 0)
    kept: dict[int, list[Track]] = {}
    for album, tracks in albums.items():
        known = all(track.id in rows and (np.isfinite(track.duration) or not kind.needs_duration) for track in tracks)
        reason = _fault(tracks) or ("" if known else "features")
        if reason:
            dropped[reason] += 1
        else:
            kept[album] = sorted(tracks, key=lambda track: track.number or 0)
    collections = [
        _collection(album, tracks, kind, table.values[[rows[track.id] for track in tracks]])
        for album, tracks in kept.items()
        if split in (None, tracks[0].split)
    ]
    artists: dict[str, set[str]] = {name: set() for name in SPLITS}
    for tracks in kept.values():
        artists[tracks[0].split].update(track.artist for track in tracks if track.artist)
    shared = {(a, b): tuple(sorted(artists[a] & artists[b])) for a, b in combinations(SPLITS, 2)}
    return FmaReading(
        collections=tuple(collections),
        splits=tuple(kept[int(c.id)][0].split for c in collections),
        albums=len(albums),
        dropped=MappingProxyType(dropped),
        shifted=sum(tracks[0].number == 0 for tracks in kept.values()),
        loose=loose,
        shared_artists=MappingProxyType(shared),
    )


def _fault(tracks: list[Track]) -> str | None:
    """The first reason of the album's own against keeping it."""
    n = len(tracks)
    numbers = sorted(track.number for track in tracks if track.number is not None)
    said = tracks[0].album_tracks
    faults = {
        "size": not SHORTEST <= n <= LONGEST,
        "doubles": len(set(numbers)) < len(numbers),
        "gaps": numbers not in (list(range(1, n + 1)), list(range(n))),
        "unknown length": said is None or said < 1,
        "incomplete": said is not None and said > n,
        "mixed splits": len({track.split for track in tracks}) > 1,
    }
    return next((reason for reason, holds in faults.items() if holds), None)


def _collection(album: int, tracks: list[Track], kind: _Kind, values: NDArray[np.floating[Any]]) -> Collection:
    items = []
    for track in tracks:
        details = MappingProxyType({"genre": track.genre} if track.genre else {})
        items.append(Item(str(track.id), track.title, artist=track.artist, details=details))
    return Collection(str(album), items, kind.of(values, tracks), kind.names, title=tracks[0].album_title)


def _check_split(split: str) -> str:
    if split not in SPLITS:
        raise InputError(f"the split must be one of {', '.join(SPLITS)}; got {split!r}")
    return split
