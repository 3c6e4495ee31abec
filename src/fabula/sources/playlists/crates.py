"""Crates of Serato (``_Serato_/Subcrates/NAME.crate``), in and out.

A crate is a run of chunks: four letters, a length, and what they hold, texts as UTF-16. Its tracks are named from the
root of the drive that they lie on; what Serato knows of them stands in ``_Serato_/database V2``, which is read beside
it. The text of such a :class:`Playlist` is the bytes of the file, one character each.
"""

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabula.core.files import Script, is_file, read_bytes
from fabula.errors import FabulaError, FileError
from fabula.sources.playlists import entries
from fabula.sources.playlists.entries import Comments, Entry, Playlist, PlaylistFormat
from fabula.sources.playlists.text_lines import above_zero, read_clock

_ONE_EACH = Script("latin-1")  # a character for each byte
_MOST_KNOWN = 256 << 20  # bytes of what Serato knows of all tracks
_MOST_CHUNKS = 1_000_000  # in one: tracks of a file, fields of a track
_FIRST = 5  # files that are looked for, to find the drive
_DRIVE = re.compile(r"(?:/Volumes/[^/]+|/run/media/[^/]+/[^/]+|/media/[^/]+/[^/]+|[A-Za-z]:)?[\\/]+")
_TEXTS = {"talb": "album", "tgen": "genre", "tkey": "key", "tcom": "comments", "ttyr": "year"}


def _chunks(path: str | os.PathLike[str], data: bytes) -> Iterator[tuple[str, bytes, int]]:
    """The name of each chunk, what it holds, and where it ends."""
    at = 0
    for _ in range(_MOST_CHUNKS):
        if at == len(data):
            return
        name, size = struct.unpack_from(">4sI", data, at) if at + 8 <= len(data) else (b"", len(data))
        at += 8 + size
        if at > len(data):
            raise FileError(f"{path}: is cut off, or no file of Serato")
        yield name.decode("latin-1"), data[at - size : at], at
    raise FileError(f"{path}: has more than {_MOST_CHUNKS:,} chunks")


def _read(path: str | os.PathLike[str], most: int) -> bytes:
    data = read_bytes(path, most=most)
    if not data.startswith(b"vrsn"):
        raise FileError(f"{path}: is no file of Serato (it must begin with vrsn)")
    return data


def read_crate(path: str | os.PathLike[str]) -> Playlist:
    """Read a crate, and what Serato knows of its tracks."""
    data = _read(path, entries.MOST_BYTES)
    names: list[str] = []
    raw: list[str] = []
    head = last = 0
    for name, held, end in _chunks(path, data):
        if name == "otrk":
            entries.check_count(path, len(names))
            inner = {kind: text for kind, text, _ in _chunks(path, held)}
            names.append(inner.get("ptrk", b"").decode("utf-16-be", "replace"))
            head = head or end - len(held) - 8
            raw.append(data[last or head : end].decode("latin-1"))
            last = end
    if not names:
        raise FileError(f"{path}: holds no tracks")
    entries.check_count(path, len(names))
    above = [*reversed(Path(path).absolute().parents)]  # the drive is the highest that has one of the first files
    base = next((one for one in above if any(is_file(one / name) for name in names[:_FIRST])), above[0])
    known, found = _read_known(path, set(names)), []
    for name, text in zip(names, raw, strict=True):
        said = known.get(name, {})
        details: dict[str, Any] = {role: said[kind] for kind, role in _TEXTS.items() if said.get(kind)}
        details |= {"tempo": tempo} if (tempo := above_zero(said.get("tbpm", ""))) else {}
        title, length = said.get("tsng") or Path(name).stem, read_clock(said.get("tlen", ""))
        found.append(Entry(str(base / name), title, said.get("tart", ""), length, details, (text, "", "")))
    text = data.decode("latin-1")
    title = Path(path).stem.rpartition("%%")[2]  # crates in crates are told by two percent signs
    about = {"head": text[:head], "tail": text[last:], "text": text, "script": _ONE_EACH}
    return entries.make_playlist(path, "serato", found, title=title, **about)


def _read_known(path: str | os.PathLike[str], names: set[str]) -> dict[str, dict[str, str]]:
    """What Serato knows of tracks, by their names; nothing where its database is not there or not whole."""
    file = Path(path).absolute().parent.parent / "database V2"
    try:
        data = _read(file, _MOST_KNOWN) if file.is_file() else b""
        known = {}
        for name, held, _ in _chunks(file, data):
            told = {kind: text for kind, text, _ in _chunks(file, held)} if name == "otrk" else {}
            track = told.get("pfil", b"").decode("utf-16-be", "replace")
            if track in names:
                known[track] = {kind: text.decode("utf-16-be", "replace") for kind, text in told.items()}
        return known
    except (FabulaError, OSError):
        return {}


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
