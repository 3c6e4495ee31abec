"""An archive of the true form and size of FMA's metadata, and the whole way from its address to a report.

    python -m benchmarks.make_fma FOLDER                              # 106,574 tracks: minutes, 0.5 GB
    python -m benchmarks.make_fma FOLDER --tracks 5000 --rehearse     # and serve it, fetch it, train, report

What stands in it is drawn, not FMA's: the features of a track follow where it stands on its album, so that there is
something to learn. Its form is FMA's: members and header rows, texts with line breaks and quotes, albums with gaps,
doubles, tracks missing or numbered from 0, tracks on no album, artists in two splits, features that are missing.
"""

from __future__ import annotations

import argparse
import csv
import functools
import hashlib
import http.server
import io
import json
import resource
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabula.report.study import write_report
from fabula.research.reproduce import reproduce
from fabula.research.workspace import StudyPlan
from fabula.sources.fma.archive import ARCHIVE, ECHONEST, LIBROSA, STATISTICS, fetch_fma

TRACKS = 106_574
WITH_ECHONEST = 13_129 / TRACKS
_TRACK_COLUMNS = {
    "album": "comments date_created date_released engineer favorites id information listens producer tags title "
    "tracks type",
    "artist": "active_year_begin active_year_end associated_labels bio comments date_created favorites id latitude "
    "location longitude members name related_projects tags website wikipedia_page",
    "set": "split subset",
    "track": "bit_rate comments composer date_created date_recorded duration favorites genre_top genres genres_all "
    "information interest language_code license listens lyricist number publisher tags title",
}
# One epoch of small nets: every stage of a reproduction runs, and none learns much.
_TINY = {"epochs": 1, "draws": 1, "negatives": 7, "encoder_hidden": 4, "encoder_layers": 1}
BRIEF = StudyPlan(
    seeds=1, device="cpu", preset="arcs", changes=_TINY, bits_preset="arcs", bits_changes=_TINY, most=500,
    sequencer={"epochs": 1, "width": 8, "heads": 2, "layers": 1}, dimensions=(1, 2), counts=(1, 4), searched=0,
    learned_from=500, shares=(0.05,),
)  # fmt: skip
_OTHERS = ("README.txt", "checksums", "not_found.pickle", "raw_genres.csv", "raw_albums.csv", "raw_artists.csv",
           "raw_tracks.csv", "genres.csv", "raw_echonest.csv")  # fmt: skip
_SPLITS = ("training", "validation", "test")
_BIO = '<p>Made of "tape", string\nand rain; «ñandú» & co.</p>'


@dataclass(frozen=True)
class Track:
    """One track: its id, what tracks.csv says of it, and where on its album it stands, 0 to 1."""

    id: int
    cells: dict[tuple[str, str], Any]
    stands: float


def draw_tracks(count: int, rng: np.random.Generator) -> Iterator[Track]:
    """So many tracks, album after album, with the faults that FMA's have."""
    made, album = 0, 0
    while made < count:
        album += 1
        n = min(int(rng.choice([1, 2, *range(3, 21), 30], p=_sizes())), count - made)
        fault = rng.random()
        numbers = list(range(1, n + 1))
        if fault < 0.05 and n > 2:
            numbers[1] = 1  # two tracks with one number
        elif fault < 0.2 and n > 2:
            numbers[-1] += 1  # a gap
        elif fault < 0.25:
            numbers = list(range(n))  # numbered from 0
        artist = album // 2 if rng.random() < 0.9 else 1
        split = _SPLITS[int(rng.choice(3, p=[0.8, 0.1, 0.1]))]
        for k, number in enumerate(numbers):
            made += 1
            yield Track(2 + made + album, _cells(album, artist, n, number, split, fault, rng), k / max(n - 1, 1))


def _sizes() -> np.ndarray:
    sizes = np.array([4, 2, *(3.0 * 0.93**k for k in range(18)), 1.0])
    return sizes / sizes.sum()


def _cells(
    album: int, artist: int, n: int, number: int, split: str, fault: float, rng: np.random.Generator
) -> dict[tuple[str, str], Any]:
    loose = fault > 0.97
    return {
        ("album", "id"): -1 if loose else album,
        ("album", "tracks"): n + (1 if 0.25 < fault < 0.4 else 0),  # some are not all there
        ("album", "title"): f'Album, "{album}"',
        ("album", "date_created"): "2008-11-26 01:44:45",
        ("artist", "id"): artist,
        ("artist", "name"): f"Artist {artist}",
        ("artist", "bio"): _BIO * int(rng.integers(1, 8)),
        ("set", "split"): split,
        ("set", "subset"): "large",
        ("track", "duration"): int(rng.integers(60, 500)),
        ("track", "genre_top"): "Hip-Hop" if rng.random() < 0.5 else "",
        ("track", "genres"): "[21, 36]",
        ("track", "license"): "Attribution-NonCommercial-ShareAlike 3.0 International",
        ("track", "number"): number,
        ("track", "title"): f"Song {album}.{number}\u2028live" if rng.random() < 0.01 else f"Song {album}.{number}",
    }


def write_archive(path: Path, count: int = TRACKS, *, seed: int = 0) -> str:
    """Write the archive; its SHA-1."""
    rng = np.random.default_rng(seed)
    tracks = list(draw_tracks(count, rng))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in _OTHERS:
            archive.writestr(f"fma_metadata/{name}", f"{name}, not of FMA\n")
        _write_tracks(archive, tracks)
        _write_features(archive, tracks, rng)
        _write_echonest(archive, [track for track in tracks if rng.random() < WITH_ECHONEST], rng)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha1").hexdigest()


def _write_tracks(archive: zipfile.ZipFile, tracks: list[Track]) -> None:
    columns = [(part, name) for part, names in _TRACK_COLUMNS.items() for name in names.split()]
    with (
        archive.open("fma_metadata/tracks.csv", "w") as raw,
        io.TextIOWrapper(raw, encoding="utf-8", newline="") as file,
    ):
        rows = csv.writer(file, lineterminator="\n")
        rows.writerows(
            [["", *(c[0] for c in columns)], ["", *(c[1] for c in columns)], ["track_id", *("" for _ in columns)]]
        )
        rows.writerows([track.id, *(track.cells.get(c, "") for c in columns)] for track in tracks)


def _write_features(archive: zipfile.ZipFile, tracks: list[Track], rng: np.random.Generator) -> None:
    """518 columns sorted as pandas sorts them: feature, statistic, number; one row in 500 lacks a value."""
    columns = sorted((*_split(name), s) for name in LIBROSA for s in STATISTICS)
    columns = sorted((feature, statistic, number) for feature, number, statistic in columns)
    slope = np.where([feature in ("rmse", "mfcc", "zcr") for feature, _, _ in columns], 1.0, 0.0)
    line = ",".join(["%.10e"] * len(columns))
    with archive.open("fma_metadata/features.csv", "w", force_zip64=True) as file:
        for i, name in enumerate(("feature", "statistics", "number")):
            file.write((",".join([name, *(column[i] for column in columns)]) + "\n").encode())
        file.write(("track_id" + "," * len(columns) + "\n").encode())
        for start in range(0, len(tracks), 1000):
            block = tracks[start : start + 1000]
            stands = np.array([track.stands for track in block])
            values = rng.normal(size=(len(block), len(columns))) - np.outer(stands, slope)
            rows = [f"{track.id},{line % tuple(row)}" for track, row in zip(block, values.tolist(), strict=True)]
            rows = [row.rsplit(",", 1)[0] + "," if rng.random() < 0.002 else row for row in rows]
            file.write(("\n".join(rows) + "\n").encode())


def _split(name: str) -> tuple[str, str]:
    feature, _, number = name.rpartition("_")
    return feature, number


def _write_echonest(archive: zipfile.ZipFile, tracks: list[Track], rng: np.random.Generator) -> None:
    columns = [("echonest", "audio_features", name) for name in ECHONEST]
    columns += [("echonest", "temporal_features", f"{k:03d}") for k in range(224)]
    lines = [",".join(["", *(c[i] for c in columns)]) for i in range(3)] + ["track_id" + "," * len(columns)]
    for track in tracks:
        values = rng.random(len(columns)) - 0.3 * track.stands
        lines.append(",".join([str(track.id), *(f"{value:.10f}" for value in values)]))
    archive.writestr("fma_metadata/echonest.csv", "\n".join(lines) + "\n")


def serve(folder: Path) -> http.server.ThreadingHTTPServer:
    """A server of a folder on loopback, in a thread of its own."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def rehearse(folder: Path, sha1: str, *, quick: bool) -> None:
    """Fetch the archive from a server, train and report, as the commands do."""
    server = serve(folder)
    url = f"http://127.0.0.1:{server.server_port}/{ARCHIVE}"
    command = [sys.executable, "-m", "fabula", "fetch", "fma", "--to", str(folder), "--url", url]
    (folder / "fetched").mkdir(exist_ok=True)
    command[command.index(str(folder))] = str(folder / "fetched")
    refused = subprocess.run(command, capture_output=True, text=True)
    if refused.returncode != 2 or "is not the archive wanted" not in refused.stderr:
        raise SystemExit(f"another archive than FMA's must be refused; got: {refused.stderr}")
    print("fabula fetch fma --url: another archive than FMA's is refused", flush=True)
    _step("fetched", lambda: fetch_fma(folder / "fetched", url=url, sha1=sha1))
    server.shutdown()
    target = folder / "fetched" / ARCHIVE
    if quick:
        command = [sys.executable, "-m", "fabula", "reproduce", str(target), "-o", str(folder / "study"), "--quick"]
        _step("reproduced", lambda: subprocess.run(command, check=True))
    else:
        _step("reproduced", lambda: write_report(reproduce(target, folder / "study", BRIEF), folder / "study"))
    pages = ("report.html", "numbers.json", "tables/table1.csv", "figures/figure3.svg")
    missing = [name for name in pages if not (folder / "study" / name).is_file()]
    if missing:
        raise SystemExit(f"not written: {', '.join(missing)}")
    numbers = json.loads((folder / "study" / "numbers.json").read_text())
    print(f"{numbers['data']['collections']}; {'; '.join(numbers['data']['notes'])}")
    for row in numbers["table1"]:
        told = f"{row['bits']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
        print(f"d = {row['dimensions']}: {told}; {row['paper']} published")


def _step(name: str, work: Any) -> None:
    begun = time.monotonic()
    work()
    spent = sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(
        f"{name}: {time.monotonic() - begun:.0f} s, CPU so far {spent:.0f} s, at most {peak / 1e9:.2f} GB", flush=True
    )


def main() -> None:
    """Write the archive, and walk the whole way where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tracks", type=int, default=TRACKS)
    parser.add_argument("--rehearse", action="store_true", help="serve, fetch, train and report")
    parser.add_argument("--quick", action="store_true", help="by fabula reproduce --quick, hours on two cores")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    found: list[str] = []
    _step("written", lambda: found.append(write_archive(asked.folder / ARCHIVE, asked.tracks)))
    size = (asked.folder / ARCHIVE).stat().st_size
    print(f"{asked.folder / ARCHIVE}: {asked.tracks:,} tracks, {size / 2**20:,.0f} MiB, SHA-1 {found[0]}", flush=True)
    if asked.rehearse:
        rehearse(asked.folder, found[0], quick=asked.quick)


if __name__ == "__main__":
    main()
