"""Fetching the metadata of FMA (Defferrard et al., 2017; CC BY 4.0), checked and resumable."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from fabula.core.files import release, take
from fabula.errors import FileError, InputError, shown
from fabula.sources.fma.archive import ARCHIVE, check_archive

URL = "https://os.unil.cloud.switch.ch/fma/fma_metadata.zip"
SHA1 = "f0df49ffe5f2a6008d7dc83c6915b31835dfe733"

_Tell = Callable[[int, int | None], None]

_BLOCK = 1 << 18
_TRIES = 5  # connections in a row that bring nothing
_PAUSE = 1.0  # seconds before the second, doubled each time
_PATIENCE = 60.0  # seconds a silent server is waited for
_LARGEST = 4 << 30  # bytes; the archive has 342 MiB
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
    with _explain(Path(folder), "be made a folder"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    target = Path(folder) / ARCHIVE
    if _is_there(target, sha1):
        return target
    part = target.with_name(f"{ARCHIVE}.part")
    with _alone(part):
        if not _is_there(target, sha1):  # another download may have ended just now
            _download(url, part, progress)
            _check(part, url, sha1)
            with _explain(target, "be written"):
                part.replace(target)
    return target


@contextlib.contextmanager
def _alone(part: Path) -> Iterator[None]:
    """Hold the lock beside what is written, so that nobody else writes it too."""
    path = part.with_name(f"{part.name}.lock")
    with _explain(part, "be written"):
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
            _check_complete(error, url, part, start)
        return
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
        with _explain(part, "be written"):
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


def _check_complete(error: urllib.error.HTTPError, url: str, part: Path, start: int) -> None:
    """What to make of an answer that is not the file; returns when the part is all there is."""
    if error.code == 416 and start:
        if error.headers.get("Content-Range", "").removeprefix("bytes */") == str(start):
            return
        _remove(part)
        raise _Cut("the server has less than was there already")
    if error.code in (408, 425, 429) or error.code >= 500:
        raise _Cut(f"the server said {error.code} {error.reason}")
    raise FileError(f"{url}: the server said {error.code} {error.reason}; the address may have changed")


def _check(part: Path, url: str, sha1: str) -> None:
    """Keep the part only when it is the archive wanted."""
    found, size = _sha1_of(part), _size(part)
    try:
        if found != sha1.lower():
            wrong = f"is not the archive wanted (SHA-1 {found}, not {sha1}; {size:,} bytes)"
            raise FileError(f"{url}: what came {wrong}; removed")
        check_archive(part)
    except FileError:
        _remove(part)
        raise


def _sha1_of(path: Path) -> str:
    with _explain(path, "be read"), path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()


@contextlib.contextmanager
def _explain(path: Path, what: str) -> Iterator[None]:
    """Say in one line what the system refuses."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{shown(path)}: cannot {what} ({error.strerror or error})") from error


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
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
