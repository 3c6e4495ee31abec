"""Crates of Serato (``_Serato_/Subcrates/NAME.crate``), in and out.

A crate is a run of chunks: four letters, a length, and what they hold, texts as UTF-16. Its tracks are named from the
root of the drive that they lie on; what Serato knows of them stands in ``_Serato_/database V2``, which is read beside
it. The text of such a :class:`Playlist` is the bytes of the file, one character each.
"""

import os
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fabula.core.files import Script, read_bytes
from fabula.errors import FabulaError, FileError
from fabula.sources.playlists.entries import MOST_BYTES, Comments, Entry, Playlist, PlaylistFormat, check_count
from fabula.sources.playlists.text_lines import above_zero, read_clock

_ONE_EACH = Script("latin-1")  # a character for each byte
_MOST_KNOWN = 256 << 20  # bytes of what Serato knows of all tracks
_FIRST = 5  # files that are looked for, to find the drive
_DRIVE = re.compile(r"(?:/Volumes/[^/]+|/run/media/[^/]+/[^/]+|/media/[^/]+/[^/]+|[A-Za-z]:)?[\\/]+")
_TEXTS = {"talb": "album", "tgen": "genre", "tkey": "key", "tcom": "comments", "ttyr": "year"}


def _chunks(path: str | os.PathLike[str], data: bytes) -> Iterator[tuple[str, bytes, int]]:
    """The name of each chunk, what it holds, and where it ends."""
    at = 0
    while at < len(data):
        name, size = struct.unpack_from(">4sI", data, at) if at + 8 <= len(data) else (b"", len(data))
        at += 8 + size
        if at > len(data):
            raise FileError(f"{path}: is cut off, or no file of Serato")
        yield name.decode("latin-1"), data[at - size : at], at


def _read(path: str | os.PathLike[str], most: int) -> bytes:
    data = read_bytes(path, most=most)
    if not data.startswith(b"vrsn"):
        raise FileError(f"{path}: is no file of Serato (it must begin with vrsn)")
    return data


def read_crate(path: str | os.PathLike[str]) -> Playlist:
    """Read a crate, and what Serato knows of its tracks."""
    data = _read(path, MOST_BYTES)
    names: list[str] = []
    raw: list[str] = []
    head = last = 0
    for name, held, end in _chunks(path, data):
        if name == "otrk":
            inner = {kind: text for kind, text, _ in _chunks(path, held)}
            names.append(inner.get("ptrk", b"").decode("utf-16-be", "replace"))
            head = head or end - len(held) - 8
            raw.append(data[last or head : end].decode("latin-1"))
            last = end
    if not names:
        raise FileError(f"{path}: holds no tracks")
    check_count(path, len(names))
    known, base = _read_known(path), _find_drive(path, names)
    entries = tuple(_entry(name, text, known.get(name, {}), base) for name, text in zip(names, raw, strict=True))
    text = data.decode("latin-1")
    title = Path(path).stem.rpartition("%%")[2]  # crates in crates are told by two percent signs
    return Playlist(entries, title, "serato", Path(path).parent, text[:head], text[last:], text, entries, _ONE_EACH)


def _entry(name: str, raw: str, known: Mapping[str, str], base: Path) -> Entry:
    details: dict[str, Any] = {role: known[kind] for kind, role in _TEXTS.items() if known.get(kind)}
    details |= {"tempo": tempo} if (tempo := above_zero(known.get("tbpm", ""))) else {}
    title, length = known.get("tsng") or Path(name).stem, read_clock(known.get("tlen", ""))
    return Entry(str(base / name), title, known.get("tart", ""), length, MappingProxyType(details), (raw, "", ""))


def _read_known(path: str | os.PathLike[str]) -> dict[str, dict[str, str]]:
    """What Serato knows of every track, by its name; nothing where its database is not there or not whole."""
    file = Path(path).absolute().parent.parent / "database V2"
    try:
        data = _read(file, _MOST_KNOWN) if file.is_file() else b""
        tracks = [held for name, held, _ in _chunks(file, data) if name == "otrk"]
        told = [
            {kind: text.decode("utf-16-be", "replace") for kind, text, _ in _chunks(file, track) if kind[0] in "pt"}
            for track in tracks
        ]
    except (FabulaError, OSError):
        return {}
    return {one.get("pfil", ""): one for one in told}


def _find_drive(path: str | os.PathLike[str], names: list[str]) -> Path:
    """The folder that names start from: of those above the crate the highest that has one of the first files."""
    above = [*reversed(Path(path).absolute().parents)]
    return next((base for base in above if any((base / name).is_file() for name in names[:_FIRST])), above[0])


def _chunk(name: str, held: bytes) -> bytes:
    return struct.pack(">4sI", name.encode("latin-1"), len(held)) + held


def crate_location(location: str) -> str:
    """A location as crates have it: from the root of its drive.

    >>> crate_location("/Volumes/USB/Music/a.mp3"), crate_location(r"C:\\Music\\a.mp3"), crate_location("/m/a.mp3")
    ('Music/a.mp3', 'Music/a.mp3', 'm/a.mp3')
    """
    return _DRIVE.sub("", location, count=1).replace("\\", "/")


def write_crate(playlist: Playlist, _: Comments | None = None) -> str:
    """The crate, a character for each of its bytes; one that was read keeps all it holds."""
    if playlist.format == "serato":
        return playlist.head + "".join((entry.raw or ("",))[0] for entry in playlist.entries) + playlist.tail
    version = _chunk("vrsn", "1.0/Serato ScratchLive Crate".encode("utf-16-be"))
    names = [crate_location(entry.location).encode("utf-16-be", "surrogatepass") for entry in playlist.entries]
    return (version + b"".join(_chunk("otrk", _chunk("ptrk", name)) for name in names)).decode("latin-1")


FORMAT = PlaylistFormat("serato", (".crate",), read_crate, write_crate, crate_location, absolute=True,
                        script=_ONE_EACH)  # fmt: skip
