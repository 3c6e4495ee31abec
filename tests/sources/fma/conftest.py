"""A small archive of exactly FMA's form: the header rows and the index line that pandas writes, and all 518 columns."""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

STATISTICS = ("mean", "std", "skew", "kurtosis", "median", "min", "max")
SIZES = {
    "chroma_cens": 12, "chroma_cqt": 12, "chroma_stft": 12, "tonnetz": 6, "mfcc": 20, "rmse": 1, "zcr": 1,
    "spectral_centroid": 1, "spectral_bandwidth": 1, "spectral_contrast": 7, "spectral_rolloff": 1,
}  # fmt: skip
COLUMNS = sorted((f, s, f"{i + 1:02d}") for f, size in SIZES.items() for s in STATISTICS for i in range(size))
TRACK_COLUMNS = [
    ("album", "comments"), ("album", "id"), ("album", "title"), ("album", "tracks"), ("artist", "bio"),
    ("artist", "name"), ("set", "split"), ("set", "subset"), ("track", "duration"), ("track", "genre_top"),
    ("track", "number"), ("track", "title"),
]  # fmt: skip
ECHONEST = ("acousticness", "danceability", "energy", "instrumentalness", "liveness", "speechiness", "tempo", "valence")


@dataclass
class Archive:
    """What the archive shall hold; tests change it before they write it."""

    tracks: list[dict[tuple[str, str], Any]] = field(default_factory=list)
    columns: list[tuple[str, str, str]] = field(default_factory=lambda: list(COLUMNS))
    track_columns: list[tuple[str, str]] = field(default_factory=lambda: list(TRACK_COLUMNS))
    without_features: set[int] = field(default_factory=set)
    empty_features: set[int] = field(default_factory=set)
    with_echonest: set[int] = field(default_factory=set)

    def album(self, album: int, numbers: list[Any], **more: Any) -> list[int]:
        """Add an album whose tracks have these numbers, and return their ids; they come in the order given."""
        splits = more.get("splits", [more.get("split", "training")] * len(numbers))
        ids = []
        for number, split in zip(numbers, splits, strict=True):
            ids.append(len(self.tracks) * 7 + 2)
            self.tracks.append(
                {
                    ("album", "id"): album,
                    ("album", "title"): f'Album "{album}", with a comma',
                    ("album", "tracks"): more.get("said", len(numbers)),
                    ("artist", "bio"): "two\nlines, and a comma",
                    ("artist", "name"): more.get("artist", f"Artist {album}"),
                    ("set", "split"): split,
                    ("set", "subset"): "large",
                    ("track", "duration"): 100 + ids[-1],
                    ("track", "genre_top"): "Folk",
                    ("track", "number"): number,
                    ("track", "title"): f"Título {number}",
                    "id": ids[-1],
                }
            )
        return ids

    def tracks_csv(self) -> str:
        rows = [["", *(a for a, _ in self.track_columns)], ["", *(b for _, b in self.track_columns)]]
        rows.append(["track_id", *[""] * len(self.track_columns)])
        rows += [[t["id"], *(t.get(column, "") for column in self.track_columns)] for t in self.tracks]
        return _csv(rows)

    def features_csv(self) -> str:
        names = ("feature", "statistics", "number")
        rows = [[names[i], *(column[i] for column in self.columns)] for i in range(3)]
        rows.append(["track_id", *[""] * len(self.columns)])
        for track in self.tracks:
            if track["id"] not in self.without_features:
                cells = [f"{value(track['id'], *column):.10e}" for column in self.columns]
                if track["id"] in self.empty_features:
                    cells[3:5] = ["", ""]
                    cells[-1] = ""
                rows.append([track["id"], *cells])
        return _csv(rows)

    def echonest_csv(self) -> str:
        kinds = [("audio_features", name) for name in ECHONEST] + [("metadata", "album_name"), ("ranks", "x")]
        rows = [["", *["echonest"] * len(kinds)], ["", *(a for a, _ in kinds)], ["", *(b for _, b in kinds)]]
        rows.append(["track_id", *[""] * len(kinds)])
        rows += [
            [t["id"], *(t["id"] + i / 10 for i in range(8)), "An album, it is", 3.0]
            for t in self.tracks
            if t["id"] in self.with_echonest
        ]
        return _csv(rows)

    def tables(self) -> dict[str, str]:
        return {
            "tracks.csv": self.tracks_csv(),
            "features.csv": self.features_csv(),
            "echonest.csv": self.echonest_csv(),
        }

    def zipped(self, *, compression: int = zipfile.ZIP_DEFLATED, without: str = "", extra: str = "") -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", compression) as archive:
            archive.writestr("fma_metadata/README.txt", "The metadata of FMA.")
            archive.writestr("fma_metadata/raw_tracks.csv", "nothing")
            for name, text in self.tables().items():
                if name != without:
                    archive.writestr(f"fma_metadata/{name}", text)
            if extra:
                archive.writestr(extra, "evil")
        return buffer.getvalue()

    def write(self, folder: Path) -> Path:
        for name, text in self.tables().items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    @staticmethod
    def expected(track: int, duration: float) -> np.ndarray:
        """The paper's (75, 7) by a plain loop."""
        numbered = [(feature, f"{i + 1:02d}") for feature in sorted(SIZES) for i in range(SIZES[feature])]
        rows = [[value(track, feature, s, number) for s in STATISTICS] for feature, number in numbered]
        return np.array([*rows, [duration] * 7], dtype=np.float32)


def value(track: int, feature: str, statistic: str, number: str) -> float:
    """A number that tells track, feature, statistic and coefficient."""
    return track * 1000 + sorted(SIZES).index(feature) * 50 + int(number) + STATISTICS.index(statistic) / 8


def _csv(rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


@pytest.fixture
def empty() -> Archive:
    return Archive()


@pytest.fixture
def usual() -> Archive:
    """Three good albums, one in each split."""
    archive = Archive()
    archive.album(30, [2, 1, 3], split="training")
    archive.album(10, [1, 2, 3, 4], split="validation")
    archive.album(20, [3, 2, 1], split="test")
    archive.with_echonest = {t["id"] for t in archive.tracks if t["album", "id"] == 30}
    return archive
