"""The tables of FMA, in a folder or in the archive they come in: the rows of tracks.csv, and features by track.

A table is read from the archive as a stream, up to the size that it declares. pandas wrote several header rows and a
line that names the index: columns are found by the names in the header rows, never by their position.
"""

import csv
import hashlib
import http.client
import io
import json
import lzma
import math
import re
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fabula.core.files import FilePath, release, take, tell_refusal, whole_file
from fabula.errors import FileError, InputError, shown
from fabula.media.music.librosa_features import SIZES, STATISTICS

ARCHIVE = "fma_metadata.zip"
TABLES = ("tracks.csv", "features.csv", "echonest.csv")
SPLITS = ("training", "validation", "test")
ECHONEST = (
    "acousticness", "danceability", "energy", "instrumentalness", "liveness", "speechiness", "tempo", "valence",
)  # fmt: skip
_NUMBERED = tuple((feature, f"{i:02d}") for feature, size in SIZES.items() for i in range(1, size + 1))
LIBROSA = tuple(f"{feature}_{number}" for feature, number in _NUMBERED)  # 74 names

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
_LARGEST = 4 << 30  # bytes of one table; the real ones have less than 1 GB
_LINE = 1 << 24  # characters of a line, and of a cell; some biographies are long
_WHOLE = 1e15  # below, a float tells every whole number
_CACHE = "fma_features.npz"  # beside the table that it was read from
_AGAIN = "get it again with: fabula fetch fma"
# What zipfile raises for a broken archive; RuntimeError where a password is wanted.
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, OSError)


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


# Of tracks their ids (m,), and features (m, f) or (m, f, 7)
FeatureTable = tuple[NDArray[np.int64], NDArray[np.floating[Any]]]


def find_tables(path: FilePath) -> Path:
    """Where the tables are, which may lie unpacked one level down: the folder that holds them, or the archive."""
    source = Path(path)
    if source.is_dir():
        for folder in (source, source / "fma_metadata"):
            if (folder / "tracks.csv").is_file():
                return folder
        if not (source / ARCHIVE).is_file():
            raise FileError(f"{shown(source)}: holds neither tracks.csv nor {ARCHIVE}; get it with: fabula fetch fma")
        source = source / ARCHIVE
    if not source.exists():
        raise FileError(f"{shown(source)}: does not exist; get it with: fabula fetch fma")
    check_archive(source)
    return source


def check_archive(path: Path) -> dict[str, zipfile.ZipInfo]:
    """The three tables in an archive, by name; no member may point outside of it, or be beyond all measure."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except _BROKEN as error:
        raise FileError(f"{shown(path)}: is not a whole zip archive ({error})") from error
    for member in members:
        name = member.orig_filename.replace("\\", "/")
        if name.startswith("/") or ".." in name.split("/") or name[1:2] == ":":
            raise FileError(f"{shown(path)}: holds a member that points outside of it, {member.orig_filename!r}")
    found = {}
    for name in TABLES:
        matches = [m for m in members if not m.is_dir() and PurePosixPath(m.filename).name == name]
        if len(matches) != 1:
            count = f"{len(matches)} times" if matches else "not at all"
            raise FileError(f"{shown(path)}: must hold {name} once; it is there {count}: this is not FMA's {ARCHIVE}")
        size = matches[0].file_size
        if size > _LARGEST:
            raise FileError(f"{shown(path)}: {name} would unpack to {size:,} bytes; at most {_LARGEST:,}")
        found[name] = matches[0]
    return found


def read_tracks(source: Path) -> list[Track]:
    """The rows of tracks.csv that are needed, in its order, from what :func:`find_tables` gave."""
    tracks = []
    for at, track, row in _read_rows(source, "tracks.csv", 2, list(_TRACKS.values())):
        cells: dict[str, Any] = dict(zip(_TRACKS, map(str.strip, row), strict=True))
        if cells["split"] not in SPLITS:
            raise FileError(f"{at}: the split must be one of {', '.join(SPLITS)}; got {cells['split'][:40]!r}")
        for name in ("album", "album_tracks", "number"):
            cells[name] = _whole(cells[name], f"{at}, column {_TRACKS[name]}") if cells[name] else None
        cells["duration"] = _number(cells["duration"], f"{at}, column {_TRACKS['duration']}")
        tracks.append(Track(id=track, **cells))
    return tracks


def read_echonest(source: Path) -> FeatureTable:
    """Echonest's 8 audio features (m, 8), for the tracks that have them."""
    return _read_features(source, "echonest.csv", [("echonest", "audio_features", name) for name in ECHONEST])


def read_librosa(source: Path) -> FeatureTable:
    """Librosa's statistics (m, 74, 7) as float32, statistics in the paper's order.

    The first reading is kept beside the table, and used as long as the table is the same.
    """
    folder = source if source.is_dir() else source.parent
    if source.is_dir():  # numbers that change when the table does: size and time, in the archive size and checksum
        with tell_refusal(source / "features.csv", "be read"):
            status = (source / "features.csv").stat()
        stamp = [status.st_size, status.st_mtime_ns]
    else:
        member = check_archive(source)["features.csv"]
        stamp = [member.file_size, member.CRC]
    label = json.dumps({"version": 2, "features": LIBROSA, "statistics": STATISTICS, "table": stamp})
    with suppress(*_BROKEN, LookupError, ValueError), (folder / _CACHE).open("rb") as file:
        if (kept := np.load(file, allow_pickle=False))["label"] == label:
            return kept["ids"], kept["values"]
    wanted = [(feature, statistic, number) for feature, number in _NUMBERED for statistic in STATISTICS]
    ids, values = _read_features(source, "features.csv", wanted, np.float32)
    values = values.reshape(-1, len(LIBROSA), len(STATISTICS))
    with suppress(FileError), whole_file(folder / _CACHE) as new:  # where it cannot be written it is read anew
        np.savez(new, label=label, ids=ids, values=values)
    return ids, values


@contextmanager
def _open_table(source: Path, name: str) -> Iterator[BinaryIO]:
    """One table as bytes; an archive is only known to be whole at its end, so errors come while it is read."""
    try:
        if source.is_dir():
            with (source / name).open("rb") as file:
                yield file
        else:
            member = check_archive(source)[name]
            with zipfile.ZipFile(source) as archive, archive.open(member) as stream:
                try:
                    yield stream  # type: ignore[misc]  # IO[bytes] is what a BinaryIO is
                except FileError:
                    while stream.read(_BLOCK):  # whether it is the archive that is broken
                        pass
                    raise
    except FileNotFoundError:
        raise FileError(f"{shown(source / name)}: does not exist") from None
    except _BROKEN as error:
        raise FileError(f"{shown(source / name)}: cannot be read ({error})") from error


def _read_rows(
    source: Path, name: str, header: int, wanted: Sequence[tuple[str, ...]]
) -> Iterator[tuple[str, int, list[str]]]:
    """Of each track in a table where it stands, its id, and the wanted cells, by their names in the header rows."""
    where, ids = shown(source / name), []
    limit = csv.field_size_limit(_LINE)
    try:
        with _open_table(source, name) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")  # here, since the file is closed before it is
            rows = csv.reader(_lines(text, where))
            head = [next(rows, []) for _ in range(header)]
            columns = _find_columns(head, wanted, where)
            for row in filter(_is_data, rows):
                at = f"{where}, line {rows.line_num}"
                if len(row) != len(head[0]):
                    raise FileError(f"{at}: must have {len(head[0])} cells; got {len(row)}")
                ids.append(_whole(row[0], at))
                yield at, ids[-1], [row[column] for column in columns]
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileError(f"{where}: is not a table in UTF-8 ({error})") from error
    finally:
        csv.field_size_limit(limit)
    ranked = np.sort(np.array(ids, dtype=np.int64))
    if not ids:
        raise FileError(f"{where}: holds no tracks, only its header; {_AGAIN}")
    twice = ranked[1:][ranked[1:] == ranked[:-1]]
    if twice.size:
        raise FileError(f"{where}: track {twice[0]} is there twice")


def _lines(file: io.TextIOWrapper, where: str) -> Iterator[str]:
    while line := file.readline(_LINE + 1):
        if len(line) > _LINE:
            raise FileError(f"{where}: has a line of more than {_LINE:,} characters; this is not the table")
        yield line


def _find_columns(header: Sequence[Sequence[str]], wanted: Sequence[tuple[str, ...]], where: str) -> list[int]:
    """Where each wanted column is, by its names in the header rows."""
    names = list(zip(*header, strict=False))
    columns, often = {name: number for number, name in enumerate(names)}, Counter(names)
    for name in wanted:
        if often[name] != 1:
            wrong = "twice in" if often[name] else "missing from"
            raise FileError(f"{where}: column {name} is {wrong} its {len(header)} header rows; {_AGAIN}")
    return [columns[name] for name in wanted]


def _is_data(row: Sequence[str]) -> bool:
    return bool(row) and row[0] != "track_id"


def _number(cell: str, where: str) -> float:
    """A cell as a number; NaN where it is empty."""
    try:
        return float(cell) if cell else math.nan
    except ValueError:
        raise FileError(f"{where}: {cell[:40]!r} is not a number") from None


def _whole(cell: str, where: str) -> int:
    value = _number(cell, where)
    if not value.is_integer():
        raise FileError(f"{where}: {cell[:40]!r} is not a whole number")
    if abs(value) >= _WHOLE:
        raise FileError(f"{where}: {cell[:40]!r} is larger than any number of this table")
    return int(value)


def _read_features(
    source: Path, name: str, wanted: Sequence[tuple[str, ...]], kind: type[np.floating[Any]] = np.float64
) -> FeatureTable:
    """Numbers of every track (m, wanted), by the names of their columns; NaN where a cell is empty."""
    ids, values = [], []
    with np.errstate(over="ignore"):  # what float32 cannot hold counts as missing
        for at, track, cells in _read_rows(source, name, 3, wanted):
            ids.append(track)
            try:
                values.append(np.fromiter(map(float, cells), kind, len(cells)))
            except ValueError:  # an empty one, or one that is no number
                values.append(np.array([_number(cell, at) for cell in cells], kind))
    return np.array(ids, dtype=np.int64), np.stack(values)


# Fetching the metadata of FMA (Defferrard et al., 2017; CC BY 4.0), checked and resumable.

URL = "https://os.unil.cloud.switch.ch/fma/fma_metadata.zip"
SHA1 = "f0df49ffe5f2a6008d7dc83c6915b31835dfe733"

_Tell = Callable[[int, int | None], None]

_BLOCK = 1 << 18
_TRIES = 5  # connections in a row that bring nothing
_PAUSE = 1.0  # seconds before the second, doubled each time
_PATIENCE = 60.0  # seconds a silent server is waited for
_CONNECTION = (http.client.HTTPException, OSError)  # one that broke, or ended before all had come


def fetch_fma(folder: FilePath, *, url: str = URL, sha1: str = SHA1, progress: _Tell | None = None) -> Path:
    """Download FMA's metadata archive into a folder, or find it there.

    A download that was interrupted goes on where it stopped: what has come is kept as ``fma_metadata.zip.part`` and
    gets its name only when its checksum is right. While one download writes there, a second stops and says so.
    ``progress`` is told the bytes there are, and will be (None where the server does not say).
    """
    if not url.lower().startswith(("https://", "http://")):
        raise InputError(f"the address of FMA must start with https:// or http://; got {url!r}")
    with tell_refusal(Path(folder), "be made a folder"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    target = Path(folder) / ARCHIVE
    part = target.with_name(f"{ARCHIVE}.part")
    if not target.exists():
        with _alone(part):
            if not target.exists():  # another download may have ended just now
                _download(url, part, progress)
                try:
                    _verify(part, sha1, url, "removed")
                except FileError:
                    _remove(part)
                    raise
                with tell_refusal(target, "be written"):
                    part.replace(target)
                return target
    _verify(target, sha1, shown(target), "move it away and fetch again")
    return target


def _verify(path: Path, sha1: str, where: str, then: str) -> None:
    """Refuse a file that is not the archive wanted."""
    with tell_refusal(path, "be read"), path.open("rb") as file:
        found = hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()
    if found != sha1.lower():
        wrong = f"is not the archive wanted (SHA-1 {found}, not {sha1}; {_size(path):,} bytes)"
        raise FileError(f"{where}: {wrong}; {then}")
    check_archive(path)


@contextmanager
def _alone(part: Path) -> Iterator[None]:
    """Hold the lock beside what is written, so that nobody else writes it too."""
    path = part.with_name(f"{part.name}.lock")
    with tell_refusal(part, "be written"):
        file = take(path, mode=0o666)
    if file is None:
        hint = "wait until that one ends, or fetch into another folder"
        raise FileError(f"{shown(part)}: another download is writing it; {hint}")
    try:
        yield
    finally:
        release(file, remove=path)


def _download(url: str, part: Path, progress: _Tell | None) -> None:
    """Bring the part to its full size, over as many connections as it takes."""
    idle = 0
    had = most = _size(part)
    while True:
        try:
            return _receive(url, part, progress)
        except _CONNECTION as error:
            size = _size(part)
            cause = getattr(error, "reason", None) or error
            why = str(getattr(cause, "strerror", None) or cause or type(cause).__name__)
            idle, most = (0, size) if size > most else (idle + 1, most)
            if most == had and isinstance(error, urllib.error.URLError):
                hint = f"check the network, or put the file at {shown(part.with_suffix(''))} by other means"
                raise FileError(f"{url}: cannot be reached ({why}); {hint}") from error
            if idle >= _TRIES:
                raise FileError(f"{url}: the download broke off ({why}); run it again to go on from there") from error
            time.sleep(_PAUSE * 2**idle if idle else 0.0)


def _receive(url: str, part: Path, progress: _Tell | None) -> None:
    """One connection: ask for what is missing and append it."""
    start = _size(part)
    request = urllib.request.Request(url, headers={"User-Agent": "fabula", "Accept-Encoding": "identity"})
    if start:
        request.add_header("Range", f"bytes={start}-")
    try:
        response = urllib.request.urlopen(request, timeout=_PATIENCE)
    except urllib.error.HTTPError as error:
        with error:
            said = f"the server said {error.code} {error.reason}"
            if error.code == 416 and start:
                if error.headers.get("Content-Range", "").removeprefix("bytes */") == str(start):
                    return  # the part is all there is
                _remove(part)
                said = "the server has less than was there already"
            elif error.code not in (408, 425, 429) and error.code < 500:
                raise FileError(f"{url}: {said}; the address may have changed") from error
        raise ConnectionError(said) from None
    with response:
        total = response.headers.get("Content-Length", "")
        if response.status == 206:
            span = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
            if span is None or int(span[1]) != start:
                _remove(part)
                raise ConnectionError("the server sent another part than the one asked for")
            total = span[2]
        else:
            start = 0  # the server knows no ranges: all of it comes anew
        _append(response, part, start, int(total) if total.isdecimal() else None, progress)


def _append(
    response: http.client.HTTPResponse, part: Path, done: int, total: int | None, progress: _Tell | None
) -> None:
    """Write what comes behind what is there."""
    with tell_refusal(part, "be written"):
        file = part.open("ab" if done else "wb")
    with file:
        while block := response.read(_BLOCK):
            done += len(block)
            if done > _LARGEST:
                raise FileError(f"{shown(part)}: more than {_LARGEST:,} bytes came; this is not the archive")
            with tell_refusal(part, "be written"):
                file.write(block)
                file.flush()
            if progress is not None:
                progress(done, total)
    if total is not None and done < total:
        raise ConnectionError(f"{done:,} of {total:,} bytes came")


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
