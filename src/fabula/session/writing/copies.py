"""Numbered copies of an ordered collection's files: an order that survives any player, stick or car radio."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.errors import FileError, InputError, shown
from fabula.session.telling.answer import Row, rows_of
from fabula.session.writing import history
from fabula.session.writing.outputs import gain_texts

if TYPE_CHECKING:
    from fabula.session.ordered import Ordered

_UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Copying:
    """How files are copied.

    Attributes
    ----------
    link
        Write symbolic links instead of copies.
    numbers
        Write the new numbers into the copies, where the medium can: of the position and of the side.
    gain
        Write what brings each to one level into the copies, where the medium can.
    progress
        Called with (done, total, name) after each file.
    """

    link: bool = False
    numbers: bool = False
    gain: bool = False
    progress: Progress | None = None


def copy_numbered(ordered: Ordered, folder: str | Path, copying: Copying | None = None) -> list[Path]:
    """Write the files of a collection into a folder, numbered in their new order; the originals are not touched.

    With sides the numbers are A1, A2, B1, ...

    Parameters
    ----------
    ordered
        What was ordered; every item must be a file.
    folder
        Made when it is absent; none of the new names may exist in it.
    copying
        How.

    Returns
    -------
    The files written, in order: all of them, or none when anything fails.
    """
    how = copying or Copying()
    if not str(folder).strip():
        raise InputError("name a folder for the copies", field="copy_to")
    if how.link and (how.numbers or how.gain):
        field = "tags" if how.numbers else "gain"
        raise InputError(
            f"{'numbers' if how.numbers else 'gains'} are written into copies, not through links", field=field
        )
    target, rows = Path(folder), rows_of(ordered)
    sources = [ordered.session.source.folder / row.item.path if row.item.path else None for row in rows]
    for row, source in zip(rows, sources, strict=True):
        if source is None or not source.is_file():
            raise FileError(f"{row.item.label!r} is not a file that could be copied")
    writers = [*([_numbering(ordered)] if how.numbers else []), *([_levelling(ordered)] if how.gain else [])]
    names = numbered_names(rows, [Path(str(s)).suffix for s in sources])
    taken = [name for name in names if os.path.lexists(target / name)]
    if taken:
        raise InputError(f"{shown(target)}: already holds {shown(taken[0])!r}; name an empty folder")
    with _all_or_none(target) as done:
        for row, source, name in zip(rows, sources, names, strict=True):
            _write(target / name, Path(str(source)), done, link=how.link)
            for write in writers:
                write(target / name, row)
            if how.progress is not None:
                how.progress(len(done), len(names), name)
    return done


def number_in_place(ordered: Ordered, progress: Progress | None = None) -> list[Path]:
    """Write the new numbers into the files themselves, or beside them, as the medium does it.

    What is replaced is kept as a version first; a file that is not written is not copied either.
    """
    write_numbers, rows, medium = _numbering(ordered), rows_of(ordered), ordered.session.medium
    for row in rows:
        if not row.item.path or not (ordered.session.source.folder / row.item.path).is_file():
            raise FileError(f"{row.item.label!r} is not a file that a number could be written into")
    files = [ordered.session.source.folder / row.item.path for row in rows]
    targets = [medium.numbered(file) for file in files]  # refuses what must not be replaced before anything is written
    written = []
    for done, (row, file, target) in enumerate(zip(rows, files, targets, strict=True), start=1):
        if target.exists():
            history.keep(target)
        write_numbers(file, row)
        written.append(target)
        if progress is not None:
            progress(done, len(rows), file.name)
    return written


def _numbering(ordered: Ordered) -> Callable[[Path, Row], None]:
    medium = ordered.session.medium
    write = medium.write_numbers
    if write is None:
        raise InputError(f"numbers cannot be written into files of {medium.name}", field="tags")
    sides = ordered.sides or (len(ordered.ordering),)

    def numbered(file: Path, row: Row) -> None:
        side = ordered.side_of(row.position)[0]
        write(file, (row.number, sides[side]), (side + 1, len(sides)) if ordered.sides else None)

    return numbered


def _levelling(ordered: Ordered) -> Callable[[Path, Row], None]:
    gain_texts(ordered)  # refuses what cannot be brought to one level
    levelling, collection = ordered.session.medium.levelling, ordered.collection
    assert levelling is not None  # noqa: S101 - gain_texts has looked

    def levelled(file: Path, row: Row) -> None:
        levelling.write(file, row.position, collection)

    return levelled


def numbered_names(rows: list[Row], endings: list[str]) -> list[str]:
    """File names that sort in the order given and that any system takes.

    Parameters
    ----------
    rows
        In the new order.
    endings
        Of the files.
    """
    digits = max(1 if any(row.side for row in rows) else 2, len(str(max(row.number for row in rows))))
    names = []
    for row, ending in zip(rows, endings, strict=True):
        title = row.item.label
        bare = title.removesuffix(ending) if ending else title
        bare = re.sub(r"^\d+\s*[-._ ]\s*(?=\S)", "", _UNSAFE.sub("_", bare)).strip(" .") or "item"
        while len(bare.encode("utf-8", "surrogateescape")) > 180:
            bare = bare[:-1]
        names.append(f"{row.side}{row.number:0{digits}d} {bare}{ending}")
    return names


@contextlib.contextmanager
def _all_or_none(target: Path) -> Iterator[list[Path]]:
    """A folder in which everything that was written vanishes again when anything fails."""
    made = not target.exists()
    done: list[Path] = []
    try:
        target.mkdir(exist_ok=True)
        yield done
    except BaseException as error:
        for path in done:
            path.unlink(missing_ok=True)
        if made:
            with contextlib.suppress(OSError):
                target.rmdir()
        if isinstance(error, OSError):
            raise FileError(f"{shown(target)}: cannot be written ({error.strerror or error})") from error
        raise


def _write(target: Path, source: Path, done: list[Path], *, link: bool) -> None:
    part = target.with_name(f".{target.name[:40]}.part")
    done.append(part)
    if link:
        part.symlink_to(source.resolve())
    else:
        shutil.copy2(source, part)
    part.rename(target)
    done[-1] = target
