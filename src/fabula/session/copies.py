"""Numbered copies of an ordered collection's files: an order that survives any player, stick or car radio."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from fabula.errors import FileError, InputError, shown
from fabula.session.ordering import Ordered

_UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')


def copy_numbered(
    ordered: Ordered, folder: str | Path, *, link: bool = False, progress: Callable[[int, int, str], None] | None = None
) -> list[Path]:
    """Write the files of a collection into a folder, numbered in their new order; the originals are not touched.

    Parameters
    ----------
    ordered
        What was ordered; every item must be a file.
    folder
        Made when it is absent; none of the new names may exist in it.
    link
        Write symbolic links instead of copies.
    progress
        Called with (done, total, name) after each file.

    Returns
    -------
    The files written, in order: all of them, or none when anything fails.
    """
    target = Path(folder)
    sources = [ordered.source.folder / item.path if item.path else None for item in ordered.collection.items]
    for item, source in zip(ordered.collection.items, sources, strict=True):
        if source is None or not source.is_file():
            raise FileError(f"{item.label!r} is not a file that could be copied")
    names = numbered_names([item.label for item in ordered.collection.items], [Path(str(s)).suffix for s in sources])
    taken = [name for name in names if os.path.lexists(target / name)]
    if taken:
        raise InputError(f"{shown(target)}: already holds {shown(taken[0])!r}; name an empty folder")
    return _write(target, [Path(str(s)) for s in sources], names, link=link, progress=progress)


def numbered_names(titles: list[str], endings: list[str]) -> list[str]:
    """File names that sort in the order given and that any system takes.

    Examples
    --------
    >>> numbered_names(["A/B?", "x"], [".ogg", ".mp3"])
    ['01 A_B_.ogg', '02 x.mp3']
    """
    digits = max(2, len(str(len(titles))))
    names = []
    for number, (title, ending) in enumerate(zip(titles, endings, strict=True), start=1):
        bare = title.removesuffix(ending) if ending else title
        bare = re.sub(r"^\d+\s*[-._ ]\s*(?=\S)", "", _UNSAFE.sub("_", bare)).strip(" .") or "item"
        while len(bare.encode("utf-8", "surrogateescape")) > 180:
            bare = bare[:-1]
        names.append(f"{number:0{digits}d} {bare}{ending}")
    return names


def _write(
    target: Path,
    sources: list[Path],
    names: list[str],
    *,
    link: bool,
    progress: Callable[[int, int, str], None] | None,
) -> list[Path]:
    made = not target.exists()
    done: list[Path] = []
    try:
        target.mkdir(exist_ok=True)
        for source, name in zip(sources, names, strict=True):
            part = target / f".{name[:40]}.part"
            done.append(part)
            if link:
                part.symlink_to(source.resolve())
            else:
                shutil.copy2(source, part)
            part.rename(target / name)
            done[-1] = target / name
            if progress is not None:
                progress(len(done), len(names), name)
    except BaseException as error:
        for path in done:
            path.unlink(missing_ok=True)
        if made:
            with contextlib.suppress(OSError):
                target.rmdir()
        if isinstance(error, OSError):
            raise FileError(f"{shown(target)}: cannot be written ({error.strerror or error})") from error
        raise
    return done
