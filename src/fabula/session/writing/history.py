"""History: every version of a file that was replaced is kept beside it, numbered as ``NAME.~1~``, ``NAME.~2~``, ..."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from fabula.core.files.atomic import write_whole
from fabula.errors import FileError, InputError, shown

MOST_KEPT = 30  # of one file; the first is never dropped: it is the order that was made by hand


@dataclass(frozen=True)
class Version:
    """A version of a file that was replaced: its number, where it lies, since when, and its size in bytes."""

    number: int
    path: Path
    time: datetime
    size: int

    def __str__(self) -> str:
        return f"{self.number:>3}  {self.time:%Y-%m-%d %H:%M:%S}  {self.size:,} bytes"


def versions(path: str | Path) -> list[Version]:
    """The versions of a file that were replaced, oldest first.

    Examples
    --------
    >>> versions("no such file.m3u8")
    []
    """
    target = Path(path)
    pattern = re.compile(re.escape(target.name) + r"\.~(\d+)~")
    found = []
    for file in target.parent.iterdir() if target.parent.is_dir() else ():
        match = pattern.fullmatch(file.name)
        old = file.name == f"{target.name}.before"  # as versions before 0.2 kept the first one
        if (match or old) and file.is_file():
            status = file.stat()
            number = int(match[1]) if match else 0
            found.append(Version(number, file, datetime.fromtimestamp(status.st_mtime), status.st_size))
    return sorted(found, key=lambda version: version.number)


def keep(path: str | Path) -> Path | None:
    """Keep a file that is about to be replaced; None where there is none, or where its content is kept already."""
    target = Path(path)
    if not target.is_file():
        return None
    old, known = target.read_bytes(), versions(target)
    if known and known[-1].path.read_bytes() == old:
        return None
    kept = target.with_name(f"{target.name}.~{known[-1].number + 1 if known else 1}~")
    write_whole(kept, old)
    for version in known[1 : max(1, len(known) + 2 - MOST_KEPT)]:
        version.path.unlink(missing_ok=True)
    return kept


def replace_file(path: str | Path, write: Callable[[], Path]) -> Path:
    """Replace a file and keep what it was; nothing is kept where nothing changes."""
    kept = keep(path)
    written = write()
    if kept is not None and kept.read_bytes() == Path(path).read_bytes():
        kept.unlink()
    return written


def restore(path: str | Path, number: int | None = None) -> tuple[Path, Version]:
    """Bring a version back; what it replaces becomes a version itself, so that nothing is lost.

    Parameters
    ----------
    path
        The file, whether it is still there or not.
    number
        Which version; by default the newest.

    Raises
    ------
    FileError
        When nothing was kept.
    InputError
        When there is no such version.
    """
    if not str(path).strip():
        raise InputError("name the file to restore", field="restore")
    target = Path(path)
    known = versions(target)
    if not known:
        raise FileError(f"{shown(target)}: nothing to restore (no version of it was ever replaced)")
    chosen = known[-1] if number is None else next((v for v in known if v.number == number), None)
    if chosen is None:
        there = ", ".join(str(v.number) for v in known)
        raise InputError(f"{shown(target)} has no version {number}; there are: {there}", field="version")
    content = chosen.path.read_bytes()
    replace_file(target, lambda: write_whole(target, content))
    return target, chosen
