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
import os
import re
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Ints
from fabula.core.files import release, take, tell_refusal, write_whole
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
_CELL = 1 << 24  # characters; some biographies are long
_LINE = 1 << 20  # no line of features.csv is longer
_ROWS = 500  # of it in hand
_WHOLE = 1e15  # below, a float tells every whole number
_CACHE = "fma_features"  # .npy and .json, beside the table they were read from
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


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features by track: ids (m,) and values (m, f) or (m, f, 7)."""

    ids: NDArray[np.int64]
    values: NDArray[np.floating[Any]]

    def rows(self) -> dict[int, int]:
        """Track -> row, for the tracks whose features are all there."""
        whole = np.isfinite(self.values).reshape(len(self.ids), -1).all(axis=1)
        return {int(self.ids[row]): int(row) for row in np.flatnonzero(whole)}


def find_tables(path: str | os.PathLike[str]) -> Path:
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
    ids, values = [], []
    wanted = [("echonest", "audio_features", name) for name in ECHONEST]
    for at, track, cells in _read_rows(source, "echonest.csv", 3, wanted):
        ids.append(track)
        values.append([_number(cell, at) for cell in cells])
    return FeatureTable(np.array(ids, dtype=np.int64), np.array(values, dtype=np.float64))


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
    label: dict[str, Any] = {"format": "fabula-fma-features", "version": 1}
    label |= {"features": list(LIBROSA), "statistics": list(STATISTICS), "table": stamp}
    table = _load(folder, label)
    if table is None:
        table = _parse_librosa(source)
        with suppress(FileError, OSError):  # a folder that cannot be written to is read anew each time
            _keep(folder, table, label)
    return table


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
                yield stream  # type: ignore[misc]  # IO[bytes] is what a BinaryIO is
    except FileNotFoundError:
        raise FileError(f"{shown(source / name)}: does not exist") from None
    except _BROKEN as error:
        raise FileError(f"{shown(source / name)}: cannot be read ({error})") from error


def _read_rows(
    source: Path, name: str, header: int, wanted: Sequence[tuple[str, ...]]
) -> Iterator[tuple[str, int, list[str]]]:
    """Of each track in a table where it stands, its id, and the wanted cells, by their names in the header rows."""
    where, ids = shown(source / name), []
    limit = csv.field_size_limit(_CELL)
    try:
        with _open_table(source, name) as file:
            rows = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""))
            columns = _find_columns([next(rows, []) for _ in range(header)], wanted, where).tolist()
            last = max(columns)
            for row in filter(_is_data, rows):
                at = f"{where}, line {rows.line_num}"
                if len(row) <= last:
                    raise FileError(f"{at}: has only {len(row)} cells")
                ids.append(_whole(row[0], at))
                yield at, ids[-1], [row[column] for column in columns]
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileError(f"{where}: is not a table in UTF-8 ({error})") from error
    finally:
        csv.field_size_limit(limit)
    _check_ids(ids, where)


def _find_columns(header: Sequence[Sequence[str]], wanted: Sequence[tuple[str, ...]], where: str) -> Ints:
    """Where each wanted column is, by its names in the header rows."""
    rows = list(takewhile(lambda row: _is_data(row) and any(map(str.strip, row)) and not row[0].isdecimal(), header))
    if not any(cell.strip() for row in header for cell in row):
        raise FileError(f"{where}: is empty; {_AGAIN}")
    if len(rows) < len(header):
        raise FileError(f"{where}: has only {len(rows)} of its {len(header)} header rows; {_AGAIN}")
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


def _check_ids(ids: Sequence[int] | NDArray[np.int64], where: str) -> None:
    """Refuse a table without tracks, or with one twice."""
    ranked = np.sort(np.asarray(ids, dtype=np.int64))
    if not ranked.size:
        raise FileError(f"{where}: holds no tracks, only its header; {_AGAIN}")
    twice = ranked[1:][ranked[1:] == ranked[:-1]]
    if twice.size:
        raise FileError(f"{where}: track {twice[0]} is there twice")


def _parse_librosa(source: Path) -> FeatureTable:
    """Read features.csv some rows at a time; a plain reshape would mix coefficients, which are sorted otherwise."""
    where = shown(source / "features.csv")
    wanted = [(feature, statistic, number) for feature, number in _NUMBERED for statistic in STATISTICS]
    ids, parts = [np.empty(0, dtype=np.int64)], [np.empty((0, len(wanted)), dtype=np.float32)]
    with _open_table(source, "features.csv") as file:
        header = [file.readline(_LINE).decode("utf-8", "replace").rstrip("\r\n").split(",") for _ in range(3)]
        columns = _find_columns(header, wanted, where)
        lines = _lines(file, where)
        while block := list(islice(lines, _ROWS)):
            numbers = _parse_rows(block, len(header[0]), where)
            ids.append(numbers[:, 0].astype(np.int64))
            with np.errstate(over="ignore"):  # what float32 cannot hold counts as missing
                parts.append(numbers.take(columns, axis=1).astype(np.float32))
    tracks, values = np.concatenate(ids), np.concatenate(parts)
    _check_ids(tracks, where)
    return FeatureTable(tracks, values.reshape(len(tracks), len(LIBROSA), len(STATISTICS)))


def _lines(file: BinaryIO, where: str) -> Iterator[tuple[int, str]]:
    """The lines behind the header with their numbers, without blank ones and the one that names the index."""
    for number, line in enumerate(iter(lambda: file.readline(_LINE + 1), b""), start=4):
        if len(line) > _LINE:
            raise FileError(f"{where}: has a line of more than {_LINE:,} characters; this is not the table")
        text = line.decode("ascii", "replace").rstrip("\r\n")
        if text.strip() and not (number == 4 and text.startswith("track_id")):
            yield number, text


def _parse_rows(lines: Sequence[tuple[int, str]], width: int, where: str) -> NDArray[np.float64]:
    """Numbers (rows, width) of numbered lines; NaN where a cell is empty."""
    try:
        numbers = np.loadtxt([_fill(line) for _, line in lines], delimiter=",", comments=None, ndmin=2)
        whole = np.array_equal(numbers[:, 0], np.floor(numbers[:, 0])) and np.abs(numbers[:, 0]).max() < _WHOLE
        if numbers.shape[1] == width and whole:
            return numbers
    except ValueError:
        pass
    for number, line in lines:  # which cell it is, and why
        cells, at = line.split(","), f"{where}, line {number}"
        if len(cells) != width:
            raise FileError(f"{at}: must have {width} cells; got {len(cells)}")
        for column, cell in enumerate(cells):
            _number(cell, at) if column else _whole(cell, at)
    raise FileError(f"{where}, line {lines[0][0]} and after: cannot be read as numbers")


def _fill(line: str) -> str:
    """A line whose empty cells say nan."""
    return ",".join(cell or "nan" for cell in line.split(",")) if ",," in f"{line}," else line


def _load(folder: Path, label: dict[str, Any]) -> FeatureTable | None:
    """What was kept of the same table, unless it is broken."""
    try:
        said = json.loads((folder / f"{_CACHE}.json").read_text(encoding="utf-8"))
        ids = np.array(said.pop("ids"), dtype=np.int64)
        check = said.pop("crc32")
        if said != label:
            return None
        values = np.load(folder / f"{_CACHE}.npy", mmap_mode="r", allow_pickle=False)
        whole = values.shape == (len(ids), len(LIBROSA), len(STATISTICS)) and values.dtype == np.float32
        return FeatureTable(ids, values) if whole and zlib.crc32(values) == check else None
    except (OSError, ValueError, KeyError, AttributeError, TypeError, EOFError, BufferError):
        return None


def _keep(folder: Path, table: FeatureTable, label: dict[str, Any]) -> None:
    """Write the numbers, then what they are: without the second the first is not looked at."""
    (folder / f"{_CACHE}.json").unlink(missing_ok=True)
    buffer = io.BytesIO()
    np.save(buffer, table.values, allow_pickle=False)
    write_whole(folder / f"{_CACHE}.npy", buffer.getvalue())
    said = {**label, "crc32": zlib.crc32(table.values.tobytes()), "ids": table.ids.tolist()}
    write_whole(folder / f"{_CACHE}.json", json.dumps(said))


# Fetching the metadata of FMA (Defferrard et al., 2017; CC BY 4.0), checked and resumable.

URL = "https://os.unil.cloud.switch.ch/fma/fma_metadata.zip"
SHA1 = "f0df49ffe5f2a6008d7dc83c6915b31835dfe733"

_Tell = Callable[[int, int | None], None]

_BLOCK = 1 << 18
_TRIES = 5  # connections in a row that bring nothing
_PAUSE = 1.0  # seconds before the second, doubled each time
_PATIENCE = 60.0  # seconds a silent server is waited for
_CONNECTION = (http.client.HTTPException, OSError)


class _Cut(Exception):  # noqa: N818 - not an error yet: the next try may bring the rest
    """The connection broke, or ended before all had come."""


def fetch_fma(
    folder: str | os.PathLike[str], *, url: str = URL, sha1: str = SHA1, progress: _Tell | None = None
) -> Path:
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
    if _is_there(target, sha1):
        return target
    part = target.with_name(f"{ARCHIVE}.part")
    with _alone(part):
        if not _is_there(target, sha1):  # another download may have ended just now
            _download(url, part, progress)
            found, size = _sha1_of(part), _size(part)
            try:
                if found != sha1.lower():
                    wrong = f"is not the archive wanted (SHA-1 {found}, not {sha1}; {size:,} bytes)"
                    raise FileError(f"{url}: what came {wrong}; removed")
                check_archive(part)
            except FileError:
                _remove(part)
                raise
            with tell_refusal(target, "be written"):
                part.replace(target)
    return target


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


def _is_there(target: Path, sha1: str) -> bool:
    """Whether the archive wanted is there already; another one is an error."""
    if not target.exists():
        return False
    found = _sha1_of(target)
    if found != sha1.lower():
        wrong = f"is not the archive wanted (SHA-1 {found}, not {sha1})"
        raise FileError(f"{shown(target)}: {wrong}; move it away and fetch again")
    check_archive(target)
    return True


def _download(url: str, part: Path, progress: _Tell | None) -> None:
    """Bring the part to its full size, over as many connections as it takes."""
    idle = 0
    had = most = _size(part)
    while True:
        try:
            return _receive(url, part, progress)
        except _Cut as cut:
            size = _size(part)
            idle, most = (0, size) if size > most else (idle + 1, most)
            if most == had and isinstance(cut.__cause__, urllib.error.URLError):
                hint = f"check the network, or put the file at {shown(part.with_suffix(''))} by other means"
                raise FileError(f"{url}: cannot be reached ({cut}); {hint}") from cut
            if idle >= _TRIES:
                raise FileError(f"{url}: the download broke off ({cut}); run it again to go on from there") from cut
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
        raise _Cut(said) from None
    except _CONNECTION as error:
        raise _Cut(_reason(error)) from error
    with response:
        total = _length(response.headers.get("Content-Length"))
        if response.status == 206:
            span = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
            if span is None or int(span[1]) != start:
                _remove(part)
                raise _Cut("the server sent another part than the one asked for")
            total = _length(span[2])
        else:
            start = 0  # the server knows no ranges: all of it comes anew
        with tell_refusal(part, "be written"):
            done = _append(response, part, start, total, progress)
    if total is not None and done < total:
        raise _Cut(f"{done:,} of {total:,} bytes came")


def _append(
    response: http.client.HTTPResponse, part: Path, start: int, total: int | None, progress: _Tell | None
) -> int:
    """Write what comes behind what is there; returns how many bytes that makes."""
    done = start
    with part.open("ab" if start else "wb") as file:
        while True:
            try:
                block = response.read(_BLOCK)
            except _CONNECTION as error:
                raise _Cut(_reason(error)) from error
            if not block:
                return done
            done += len(block)
            if done > _LARGEST:
                raise FileError(f"{shown(part)}: more than {_LARGEST:,} bytes came; this is not the archive")
            file.write(block)
            if progress is not None:
                progress(done, total)


def _sha1_of(path: Path) -> str:
    with tell_refusal(path, "be read"), path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _length(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _reason(error: BaseException) -> str:
    cause = getattr(error, "reason", None) or error
    return str(getattr(cause, "strerror", None) or cause or type(cause).__name__)
