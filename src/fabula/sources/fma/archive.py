"""The tables of FMA, in a folder or in the archive they come in, opened with care.

Nothing is unpacked: a table is read from the archive as a stream, up to the size the archive declares for it.
"""

from __future__ import annotations

import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from fabula.errors import FileError, shown

ARCHIVE = "fma_metadata.zip"
TABLES = ("tracks.csv", "features.csv", "echonest.csv")

_LARGEST = 4 << 30  # bytes of one table; the real ones have less than 1 GB
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError)


def find_tables(path: str | os.PathLike[str]) -> Path:
    """Where the tables are: the folder that holds them, or the archive.

    Parameters
    ----------
    path
        The archive, the folder it lies in, or a folder with the tables (as unpacked, or one level up).

    Raises
    ------
    FileError
        When they are not there, or the archive is not one to open.
    """
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
    """The three tables in an archive, by name.

    Raises
    ------
    FileError
        When it is no archive, lacks a table or has it twice, has a member that points outside, or declares a table
        beyond all measure.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except _BROKEN as error:
        raise FileError(f"{shown(path)}: is not a whole zip archive ({error})") from error
    for member in members:
        if _points_outside(member):
            raise FileError(f"{shown(path)}: holds a member that points outside of it, {member.orig_filename!r}")
    found = {}
    for name in TABLES:
        matches = [m for m in members if not m.is_dir() and PurePosixPath(m.filename).name == name]
        if len(matches) != 1:
            count = f"{len(matches)} times" if matches else "not at all"
            raise FileError(f"{shown(path)}: must hold {name} once; it is there {count}: this is not FMA's {ARCHIVE}")
        if matches[0].file_size > _LARGEST:
            raise FileError(
                f"{shown(path)}: {name} would unpack to {matches[0].file_size:,} bytes; at most {_LARGEST:,}"
            )
        found[name] = matches[0]
    return found


@contextmanager
def open_table(source: Path, name: str) -> Iterator[BinaryIO]:
    """One table as bytes, from what :func:`find_tables` gave.

    Raises
    ------
    FileError
        Also for what goes wrong while it is read: an archive is only known to be whole at its end.
    """
    try:
        if source.is_dir():
            with (source / name).open("rb") as file:
                yield file
        else:
            member = check_archive(source)[name]
            with zipfile.ZipFile(source) as archive, _opened(archive, member) as stream:
                yield stream
    except FileNotFoundError:
        raise FileError(f"{table_name(source, name)}: does not exist") from None
    except _BROKEN as error:
        raise FileError(f"{table_name(source, name)}: cannot be read ({error})") from error


def table_name(source: Path, name: str) -> str:
    """What to call a table in a message."""
    return shown(source / name)


def table_stamp(source: Path, name: str) -> list[int]:
    """Numbers that change when the table does: size and checksum in the archive, size and time of the file."""
    if not source.is_dir():
        member = check_archive(source)[name]
        return [member.file_size, member.CRC]
    try:
        status = (source / name).stat()
    except OSError as error:
        raise FileError(f"{table_name(source, name)}: cannot be read ({error.strerror})") from error
    return [status.st_size, status.st_mtime_ns]


def _opened(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> BinaryIO:
    try:
        return archive.open(member)  # type: ignore[return-value]  # IO[bytes] is what a BinaryIO is
    except RuntimeError as error:  # a password is wanted
        raise zipfile.BadZipFile(str(error)) from error


def _points_outside(member: zipfile.ZipInfo) -> bool:
    name = member.orig_filename.replace("\\", "/")
    return name.startswith("/") or ".." in name.split("/") or name[1:2] == ":"
