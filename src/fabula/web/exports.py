"""From an ordering on the screen to files."""

from __future__ import annotations

import io
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.ordering import Ints, as_ordering
from fabula.core.template import Template
from fabula.errors import FileError, InputError
from fabula.report.page import write_page
from fabula.report.pictures import write_picture
from fabula.session.copies import numbered_names
from fabula.session.ordering import Ordered
from fabula.session.outputs import write_ordered
from fabula.session.playing import laid_out
from fabula.web.requests import ToExport
from fabula.web.store import Loaded

_CHUNK = 1 << 18


def export(loaded: Loaded, asked: ToExport) -> tuple[str, bytes]:
    """An ordering on the screen as a file: its name and its bytes.

    A zip is made by :func:`zipped` instead.
    """
    title = file_name(loaded.found.source.collection.title) or "order"
    with tempfile.TemporaryDirectory(prefix="fabula-export-") as folder:
        target = Path(folder) / f"{title}.{asked.format}"
        try:
            _write(kept(loaded, asked, Path(folder)), target)
        except FileError as error:
            raise FileError(str(error).replace(f"{folder}{os.sep}", "")) from error
        return target.name, target.read_bytes()


def kept(loaded: Loaded, asked: ToExport, folder: Path) -> Ordered:
    """The ordering asked for, its items led to where the user has them."""
    template = Template(asked.template.knots, asked.template.values, asked.template.name)
    source = loaded.found.source
    c = source.collection
    order = _whole(asked, len(c))
    items = [replace(item, path=name) for item, name in zip(c.items, _locations(loaded), strict=True)]
    playlist = replace(source.playlist, folder=folder) if source.playlist is not None and loaded.upload else None
    moved = replace(
        source,
        collection=Collection(c.id, items, c.features, c.feature_names, ordered=c.ordered, title=c.title),
        folder=folder,
        playlist=playlist,
    )
    found = replace(loaded.found, source=moved).without(asked.left_out, "left out")
    pinned = [place for place in asked.pinned if 0 <= place < len(order)]
    return laid_out(found, np.argsort(np.argsort(order)), template, pinned=pinned)


def _whole(asked: ToExport, n: int) -> Ints:
    """The ordering asked for, which with what it leaves out must be all n items."""
    return as_ordering([*asked.ordering, *asked.left_out], n)[: len(asked.ordering)]


def _locations(loaded: Loaded) -> list[str]:
    """A path for items that have one; ids stay ids."""
    items = loaded.found.source.collection.items
    return [
        name if item.path or file is not None else ""
        for item, file, name in zip(items, loaded.sounds, loaded.names, strict=True)
    ]


def _write(chosen: Ordered, target: Path) -> None:
    writers = {".html": write_page, ".svg": write_picture}
    writers.get(target.suffix, write_ordered)(chosen, target)


def zipped(loaded: Loaded, asked: ToExport) -> Iterator[bytes]:
    """A zip of numbered copies with a playlist of them, made as it goes out."""
    order = _whole(asked, len(loaded.sounds))
    items = loaded.found.source.collection.items
    files = [(items[i], loaded.sounds[i]) for i in order]
    missing = [item.label for item, file in files if file is None or not file.is_file()]
    if missing:
        raise InputError(
            f"{missing[0]!r} has no sound here, so that it cannot be copied ({len(missing)} of {len(files)})"
        )
    there = [file for _, file in files if file is not None]
    names = numbered_names([item.label for item, _ in files], [file.suffix.lower() for file in there])
    plain = [name.encode("utf-8", "replace").decode() for name in names]
    return _zip(list(zip(plain, there, strict=True)))


def _zip(files: Sequence[tuple[str, Path]]) -> Iterator[bytes]:
    out = _Stream()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        listed = "#EXTM3U\n" + "".join(f"{name}\n" for name, _ in files)
        archive.writestr("order.m3u8", listed.encode("utf-8", "replace"))
        for name, file in files:
            with file.open("rb") as source, archive.open(name, "w", force_zip64=True) as entry:
                while chunk := source.read(_CHUNK):
                    entry.write(chunk)
                    yield out.taken()
    yield out.taken()


class _Stream(io.RawIOBase):
    """A file that can only be written on; what was written is taken away from time to time."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        taken, self._parts = b"".join(self._parts), []
        return taken


def file_name(text: str) -> str:
    """A text as it can stand in the name of a file on any system."""
    plain = re.sub(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]+', " ", text)
    return " ".join(plain.split()).strip(" .")[:80]
