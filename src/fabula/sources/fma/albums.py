"""FMA, the Free Music Archive dataset: its albums as ordered collections, chosen as in the paper."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Collection, Item
from fabula.core.files import FilePath
from fabula.errors import InputError
from fabula.media.music.librosa_features import STATISTICS
from fabula.sources.fma import archive
from fabula.sources.fma.archive import SPLITS, Track

SHORTEST, LONGEST = 3, 20  # tracks of an album, the paper's Section 3

REASONS: Mapping[str, str] = {
    "size": f"fewer than {SHORTEST} or more than {LONGEST} tracks",
    "doubles": "two tracks with one number",
    "gaps": "numbers that do not run from 1 (or 0) without gaps, or a track without a number",
    "unknown length": "the number of tracks on the album is not given",
    "incomplete": "fewer tracks than the album is said to have",
    "mixed splits": "tracks in more than one split",
    "features": "a track without all of its features",
}
"""Why an album is dropped, in the order in which the reasons are tried; the first that holds is counted."""


@dataclass(frozen=True, eq=False)
class FmaReading:
    """The albums of FMA that can be used, and what became of the others."""

    collections: tuple[Collection, ...]  # albums by rising id, items in the order of their numbers
    splits: tuple[str, ...]  # FMA's split of each of them: training, validation or test
    dropped: Mapping[str, int]  # reason (of :data:`REASONS`) -> albums dropped for it
    shared_artists: Mapping[tuple[str, str], tuple[str, ...]]  # two splits -> artists with kept albums in both

    def of(self, split: str) -> list[Collection]:
        """The collections of one split."""
        return [c for c, own in zip(self.collections, self.splits, strict=True) if own == split]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of a study should know: why albums were dropped, and whose albums are in two splits."""
        dropped = [f"dropped, {REASONS[why]}: {count}" for why, count in self.dropped.items() if count]
        shared = self.shared_artists.items()
        return (*dropped, *(f"artists in both {a} and {b}: {len(names)}" for (a, b), names in shared if names))


def read_fma(path: FilePath, *, features: Literal["librosa", "echonest"] = "librosa") -> FmaReading:
    """Read the albums of the archive that ``fabula fetch fma`` fetches, the folder it lies in, or one of its tables.

    An album with tracks in more than one split is dropped: giving it to one would carry the others' artists over.
    Features of librosa (n, 75, 7), as float32, are 74 and the duration in seconds, each with the paper's 7 statistics
    (mean, std, skew, kurtosis, median, min, max); the duration stands 7 times. Echonest's (n, 8) few albums have.
    """
    if features not in ("librosa", "echonest"):
        raise InputError(f"the features of FMA must be one of librosa, echonest; got {features!r}")
    source = archive.find_tables(path)
    albums: dict[int, list[Track]] = {}
    for track in archive.read_tracks(source):
        if track.album is not None and track.album >= 0:
            albums.setdefault(track.album, []).append(track)
    timed = features == "librosa"  # whose features have the duration beside them
    ids, values = archive.read_librosa(source) if timed else archive.read_echonest(source)
    whole = np.isfinite(values).reshape(len(ids), -1).all(axis=1)
    rows = {int(ids[row]): int(row) for row in np.flatnonzero(whole)}
    dropped = dict.fromkeys(REASONS, 0)
    kept: dict[int, list[Track]] = {}
    for album, tracks in sorted(albums.items()):
        known = all(track.id in rows and (np.isfinite(track.duration) or not timed) for track in tracks)
        reason = _fault(tracks, known=known)
        if reason is not None:
            dropped[reason] += 1
        else:
            kept[album] = sorted(tracks, key=lambda track: track.number or 0)
    collections = [
        _collection(album, tracks, values[[rows[track.id] for track in tracks]], timed=timed)
        for album, tracks in kept.items()
    ]
    artists: dict[str, set[str]] = {name: set() for name in SPLITS}
    for tracks in kept.values():
        artists[tracks[0].split].update(track.artist for track in tracks if track.artist)
    shared = {(a, b): tuple(sorted(artists[a] & artists[b])) for a, b in combinations(SPLITS, 2)}
    return FmaReading(
        collections=tuple(collections),
        splits=tuple(tracks[0].split for tracks in kept.values()),
        dropped=dropped,
        shared_artists=shared,
    )


def _fault(tracks: list[Track], *, known: bool) -> str | None:
    """The first reason against keeping an album, whose features may not be known."""
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
        "features": not known,
    }
    return next((reason for reason, holds in faults.items() if holds), None)


def _collection(album: int, tracks: list[Track], values: NDArray[np.floating[Any]], *, timed: bool) -> Collection:
    items = [
        Item(str(track.id), track.title, artist=track.artist, details={"genre": track.genre} if track.genre else {})
        for track in tracks
    ]
    names = (*archive.LIBROSA, "duration") if timed else archive.ECHONEST
    if timed:
        durations = np.array([track.duration for track in tracks], dtype=np.float32)
        repeated = np.repeat(durations[:, np.newaxis, np.newaxis], len(STATISTICS), axis=2)  # (n, 1, 7)
        values = np.concatenate([values, repeated], axis=1)  # (n, 75, 7)
    return Collection(str(album), items, values, names, title=tracks[0].album_title)
