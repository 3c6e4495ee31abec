"""Files of this machine that the page may read: folders, the files of items, lists, and a file as an answer."""

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from fastapi.responses import Response, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from fabula.core.files import FilePath, Opener, open_file, split_stretch
from fabula.errors import FileError, shown
from fabula.media.children import call
from fabula.media.registry import item_endings
from fabula.sources.folders import natural_key
from fabula.sources.registry import list_endings
from fabula.sources.tables.storage import ENDING as PARQUET, count_parquet
from fabula.web.http_errors import StatusError

# Folders: what was named at start and nothing else

_MOST_SHOWN = 1000


def resolve_below(path: FilePath, roots: Sequence[Path]) -> Path | None:
    """The real path of something that lies in one of the roots, links followed; None when it does not."""
    try:
        real = Path(path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None
    return real if any(real.is_relative_to(root) for root in roots) else None


def resolve_item(path: FilePath, roots: Sequence[Path]) -> Path | None:
    """The same, where the path may be of a stretch of a file (``side a.wav#t=12.5,200``)."""
    file, begins, _ = split_stretch(os.fspath(path))
    return resolve_below(path, roots) or (None if begins is None else resolve_below(file, roots))


def check_below(path: str, roots: Sequence[Path]) -> Path:
    """The same, refused with one answer for what is not there and what is elsewhere."""
    found = resolve_below(path, roots)
    if found is None:
        raise StatusError(404, f"{shown(path)[:200]}: there is no such thing below the folders named at start")
    return found


def list_folder(path: str | None, roots: Sequence[Path], libraries: Sequence[str] = ()) -> dict[str, Any]:
    """The folders and lists in a folder, and how many items; without a path what was named at start."""
    if path is None:
        named = [{"name": shown(one), "path": one} for one in libraries]
        return {"path": None, "parent": None, "folders": list(map(_name_path, roots)), "lists": named, "items": 0}
    folder = check_below(path, roots)
    if not folder.is_dir():
        raise StatusError(400, f"{shown(folder)}: is not a folder")
    try:
        found = [entry for entry in os.scandir(folder) if not entry.name.startswith(".")]
        entries = sorted(found, key=lambda entry: natural_key(entry.name))[:_MOST_SHOWN]
    except OSError as error:
        raise StatusError(400, f"{shown(folder)}: cannot be read ({error.strerror})") from error
    entries = [entry for entry in entries if not entry.is_symlink() or resolve_below(entry.path, roots)]
    inner = [Path(e.path) for e in entries if e.is_dir()]
    endings = [(e, Path(e.name).suffix.lower()) for e in entries if e.is_file()]
    return {
        "path": os.fspath(folder),
        "parent": os.fspath(folder.parent) if folder not in roots else None,
        "folders": [_name_path(one) for one in inner],
        "lists": [_name_path(Path(e.path)) for e, ending in endings if ending in list_endings()],
        "items": sum(ending in item_endings() for _, ending in endings),
    }


def _name_path(path: Path) -> dict[str, str]:
    return {"name": shown(path.name or os.fspath(path)), "path": os.fspath(path)}


# Files: known by what they were when their collection was opened, and by nothing else

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PLAIN = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | _NO_LINK | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True)
class ItemFile:
    """A file of an item; one that is put in its place has another device or inode."""

    path: Path  # without links
    root: Path  # the folder below which it may be read
    device: int
    inode: int

    def open(self) -> BinaryIO:
        """The file, open for reading; no link is followed on the way to it, and no other stands in its place."""
        try:
            return self.hand_out()
        except OSError as error:
            raise StatusError(404, f"the file is not here any more ({error.strerror})") from error

    def hand_out(self) -> BinaryIO:
        """The same, for a guard: an OSError where it is not here."""
        file = os.fdopen(_open_inside(self.root, self.path), "rb")
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) != (self.device, self.inode):
            file.close()
            raise PermissionError(errno.EACCES, "another file stands in its place; open the collection again")
        return file

    @property
    def there(self) -> bool:
        """Whether it is still there."""
        try:
            self.open().close()
        except StatusError:
            return False
        return True


def find_file(path: FilePath, roots: Sequence[Path]) -> ItemFile | None:
    """The file at a path, links followed, where that lies in one of the roots; None where it does not."""
    real = resolve_item(path, roots)
    root = next((root for root in roots if real is not None and real.is_relative_to(root)), None)
    if real is None or root is None:
        return None
    try:
        status = real.lstat()
    except OSError:
        return None
    folder = root.parent if root == real else root  # a root may be a file: the database of a library
    return ItemFile(real, folder, status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


# Guards: what `core/files.py: open_file` opens while they stand, in this process and for its children


def refuse_file(path: str) -> BinaryIO:
    """The guard that opens nothing: it stands before every request."""
    raise PermissionError(errno.EACCES, "may not be read by this page", path)


def guard_below(roots: Sequence[Path]) -> Opener:
    """A guard that opens what lies in one of the roots, or is one, links followed as long as they stay there."""

    def open_below(path: str) -> BinaryIO:
        file = find_file(path, roots)
        return refuse_file(path) if file is None else file.hand_out()

    return open_below


def guard_known(known: Mapping[str, ItemFile]) -> Opener:
    """A guard that opens files by where they lie, as they were known, and what lies beside them below their root."""
    folders = {Path(path).parent: file.root for path, file in known.items()}

    def open_known(path: str) -> BinaryIO:
        file, root = known.get(path), folders.get(Path(path).parent)
        if file is None and root is not None:
            file = find_file(path, [root])
        return refuse_file(path) if file is None else file.hand_out()

    return open_known


def _open_inside(root: Path, path: Path) -> int:
    """A descriptor of a file below a folder, reached folder by folder so that no link on the way is followed."""
    if os.open not in os.supports_dir_fd:
        return os.open(path, _PLAIN | getattr(os, "O_BINARY", 0))
    *folders, name = path.relative_to(root).parts
    here = os.open(root, _FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(name, _PLAIN, dir_fd=here)
    finally:
        os.close(here)


# Lists: counted before they are read, which takes a hundred times their size

MOST_BYTES = 32 << 20
MOST_ROWS, MOST_CELLS = 200_000, 4_000_000

_ROW = re.compile(rb"[\n\r{]")
_CELL = re.compile(rb"[,;\t:]")
_BLOCK = 1 << 20


def check_list(path: Path) -> None:
    """Refuse a table or a playlist that is too large for a page."""
    if not path.is_file():
        return
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise _too_large(path, f"it has {size:,} bytes", f"{MOST_BYTES:,} bytes")
    rows, cells = _count_parquet(path) if path.suffix.lower() == PARQUET else _count_text(path)
    for count, most, what in ((rows, MOST_ROWS, "rows"), (cells, MOST_CELLS, "cells")):
        if count > most:
            raise _too_large(path, f"it has more than {most:,} {what}", f"{most:,} {what}")


def _too_large(path: Path, has: str, may: str) -> FileError:
    return FileError(f"{shown(path)}: is too large for the page: {has}, and may have {may} (`fabula order` takes it)")


def _count_text(path: Path) -> tuple[int, int]:
    """About how many rows and cells a text has: ends of lines or objects, and separators."""
    rows = cells = 0
    with open_file(path) as file:
        while (block := file.read(_BLOCK)) and rows <= MOST_ROWS and cells <= MOST_CELLS:
            rows += len(_ROW.findall(block.replace(b"\r\n", b"\n")))
            cells += len(_CELL.findall(block))
    return rows, cells


def _count_parquet(path: Path) -> tuple[int, int]:
    """Rows and cells as a Parquet file says them; what it says of a broken one is for its reader to tell."""
    try:
        rows, columns, unpacked = call(count_parquet, str(path))
    except FileError:
        return 0, 0
    if unpacked > 8 * MOST_BYTES:
        raise _too_large(path, f"it unpacks to {unpacked:,} bytes", f"{8 * MOST_BYTES:,} bytes")
    return rows, rows * columns


# A file as an answer, whole or one range of it, read from a handle that is open already

_CHUNK = 1 << 17
_SAFE = re.compile(r"(audio|video)/[\w.+-]+|image/(jpeg|png|gif|webp|avif|bmp|tiff)|text/plain")


def file_response(file: BinaryIO, kind: str | None, asked: str | None, *, if_range: str | None = None) -> Response:
    """An open file as an answer, closed when all went out; what a browser could run, such as SVG, as plain bytes.

    `asked` is the ``Range`` header: one range; several are answered with the whole. `if_range` is the tag of the
    version a range is wanted of.
    """
    status = os.fstat(file.fileno())
    tag = f'"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"'
    headers = {"Accept-Ranges": "bytes", "ETag": tag, "Content-Disposition": "inline"}
    try:
        span = _read_range(asked, status.st_size) if if_range in (None, tag) else None
    except StatusError:
        file.close()
        raise
    start, stop = span or (0, status.st_size)
    headers["Content-Length"] = str(stop - start)
    if span is not None:
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{status.st_size}"
    safe = kind if kind is not None and _SAFE.fullmatch(kind) else "application/octet-stream"
    return _FileResponse(file, (start, stop), 200 if span is None else 206, headers, safe)


class _FileResponse(StreamingResponse):
    """Bytes of a file, which is closed whatever becomes of the answer."""

    def __init__(self, file: BinaryIO, span: tuple[int, int], status: int, headers: dict[str, str], kind: str) -> None:
        self._file = file
        super().__init__(_read_chunks(file, *span), status, headers, media_type=kind)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await run_in_threadpool(self._file.close)  # behind whoever still reads


def _read_range(asked: str | None, size: int) -> tuple[int, int] | None:
    """First byte and the one after the last, of a header such as ``bytes=100-199``; None for the whole."""
    if asked is None or "," in asked:
        return None
    match = re.fullmatch(r"bytes=(\d{0,19})-(\d{0,19})", asked.strip())
    if match is None or match[0] == "bytes=-":
        raise StatusError(400, "a range must be such as bytes=0-999")
    if not match[1]:
        start, stop = max(0, size - int(match[2])), size
    else:
        start, stop = int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)
    if start >= stop:
        raise StatusError(416, f"the file has {size} bytes")
    return start, stop


def _read_chunks(file: BinaryIO, start: int, stop: int) -> Iterator[bytes]:
    file.seek(start)
    while start < stop and (data := file.read(min(_CHUNK, stop - start))):
        start += len(data)
        yield data
