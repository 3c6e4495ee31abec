"""From a result on the screen to files."""

from __future__ import annotations

import io
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from fabula.errors import FileError, InputError
from fabula.report.page import write_page
from fabula.report.pictures import write_picture
from fabula.session.answer import rows_of
from fabula.session.export import number_names, write_ordered
from fabula.session.ordered import Ordered
from fabula.web.file_access import ItemFile
from fabula.web.server_store import OpenCollection

_CHUNK = 1 << 18
_WRITERS: dict[str, Callable[[Ordered, Path], Path]] = {"html": write_page, "svg": write_picture}


def export(ordered: Ordered, form: str, scratch: Path, *, gap: float = 0.0) -> tuple[str, bytes]:
    """A result as a file of some format, with a gap between items where that says when each begins: name and bytes."""
    with tempfile.TemporaryDirectory(prefix="export-", dir=scratch) as folder:
        target = Path(folder) / f"{file_name(ordered.session.title) or 'order'}.{form}"
        try:
            write = _WRITERS.get(form, partial(write_ordered, gap=gap))
            write(_from_folder(ordered, Path(folder)), target)
        except FileError as error:
            raise FileError(str(error).replace(f"{folder}{os.sep}", "")) from error
        return target.name, target.read_bytes()


def _from_folder(ordered: Ordered, folder: Path) -> Ordered:
    """The same result, written as if its paths started from a folder: so they stay as they are."""
    source = ordered.session.source
    playlist = None if source.playlist is None else replace(source.playlist, folder=folder)
    moved = replace(source, folder=folder, playlist=playlist)
    stored = ordered.session.readable.items  # what the items only name is not to be opened
    return replace(ordered, session=replace(ordered.session, source=moved, stored=stored))


def zip_copies(opened: OpenCollection, ordered: Ordered, scratch: Path) -> Iterator[bytes]:
    """A zip of numbered copies with a playlist of them, made as it goes out."""
    rows = rows_of(ordered)
    files = [opened.files[row.index] for row in rows]
    there = [file for file in files if file is not None and file.there]
    if len(there) < len(files):
        missing = next(row.item for row, file in zip(rows, files, strict=True) if file is None or not file.there)
        count = f"{len(files) - len(there)} of {len(files)}"
        raise InputError(f"{missing.label!r} has no file here, so it cannot be copied ({count})")
    names = number_names(rows, [file.path.suffix.lower() for file in there])
    written = [name.encode("utf-8", "replace").decode() for name in names]
    return _zip(_playlist(ordered, written, scratch), list(zip(written, there, strict=True)))


def _playlist(ordered: Ordered, names: Sequence[str], scratch: Path) -> bytes:
    """The playlist of the copies."""
    source = ordered.session.source
    items = list(source.collection.items)
    for index, name in zip(ordered.ordering.tolist(), names, strict=True):
        items[index] = replace(items[index], path=name)
    copied = replace(source, collection=replace(source.collection, items=tuple(items)), playlist=None, rows=())
    return export(replace(ordered, session=replace(ordered.session, source=copied)), "m3u8", scratch)[1]


def _zip(playlist: bytes, files: Sequence[tuple[str, ItemFile]]) -> Iterator[bytes]:
    out = _Stream()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr("order.m3u8", playlist)
        for name, file in files:
            with file.open() as source, archive.open(name, "w", force_zip64=True) as entry:
                while chunk := source.read(_CHUNK):
                    entry.write(chunk)
                    yield out.take()
    yield out.take()


class _Stream(io.RawIOBase):
    """A file that can only be written on; what was written is taken away from time to time."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        taken, self._parts = b"".join(self._parts), []
        return taken


def file_name(text: str) -> str:
    """A text as it can stand in the name of a file on any system."""
    plain = re.sub(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]+', " ", text)
    return " ".join(plain.split()).strip(" .")[:80]
