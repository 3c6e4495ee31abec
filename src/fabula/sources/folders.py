"""Reading folders and lists of audio files: which files, what their tags say of them, and in which order they stand.

Nothing is decoded here; what is sound inside is measured later.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fabula.core.collection import Item
from fabula.errors import FileError, shown

_ENDINGS = """
    .wav .wave .flac .ogg .oga .opus .mp3 .mp2 .aif .aiff .aifc .au .caf .w64
    .m4a .m4b .aac .mp4 .wma .ape .wv .mpc .tta .ac3 .mka .webm
"""
_COMPANIONS = """
    .jpg .jpeg .png .gif .webp .bmp .m3u .m3u8 .pls .xspf .jspf .cue .log .txt .nfo .md .pdf .sfv .md5
    .json .xml .html .url .ini .db .lrc .accurip .csv
"""
AUDIO_ENDINGS = frozenset(_ENDINGS.split())
COMPANION_ENDINGS = frozenset(_COMPANIONS.split())  # of what lies beside the music and is not worth a word


@dataclass(frozen=True)
class FolderReading:
    """What was found in folders and among files.

    Attributes
    ----------
    items
        One per audio file, in the given order: files as they were named; within a folder by disc, track number and
        name. ``details`` has album, track, disc and duration_ms where the tags say so.
    skipped
        (path, reason) of each file that was named or found and is not among the items.
    title
        The album all items share, else the name of the folder.
    """

    items: tuple[Item, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    title: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The path of each item, as `fabula.media.extraction` takes them."""
        return tuple(item.path for item in self.items)


def read_folder(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, recursive: bool = True
) -> FolderReading:
    """Read the audio files of folders, or files named one by one.

    Pictures, playlists, texts and hidden files inside a folder are passed over in silence; anything else that is not
    audio is reported. A file that is reached twice, also by a link, is listed once.

    Parameters
    ----------
    paths
        One folder or file, or several of them.
    recursive
        Whether to go into folders within folders.

    Returns
    -------
    Items in their given order, what was skipped and why, and a title.

    Raises
    ------
    FileError
        When a path does not exist or nothing usable is found.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    names = [os.fspath(path) for path in given]
    skipped: list[tuple[str, str]] = []
    items: list[Item] = []
    seen: set[str] = set()
    for name in names:
        for folder, files in _folders(name, recursive=recursive, skipped=skipped):
            found = [_item(file) for file in _usable(files, seen, skipped, named=folder is None)]
            items.extend(found if folder is None else sorted(found, key=_place))
    if not items:
        raise FileError(_nothing(names, skipped))
    return FolderReading(tuple(items), tuple(skipped), _title(names, items))


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sorting key that takes digits as numbers and letters in either case.

    Examples
    --------
    >>> sorted(["10 Ten", "9 nine", "1 One"], key=natural_key)
    ['1 One', '9 nine', '10 Ten']
    """
    # Only ASCII digits: int() would take other scripts' digits, and refuse superscripts.
    parts = re.split(r"([0-9]+)", text.casefold())
    return tuple((0, int(part), "") if i % 2 else (1, 0, part) for i, part in enumerate(parts) if part)


def _folders(name: str, *, recursive: bool, skipped: list[tuple[str, str]]) -> Iterator[tuple[str | None, list[str]]]:
    """The files of one path, folder by folder in natural order; (None, [path]) for a file."""
    if not Path(name).is_dir():
        if not os.path.lexists(name):
            raise FileError(f"{shown(name)}: does not exist")
        yield None, [name]
        return
    entered: set[str] = set()
    waiting = [name]
    while waiting:
        folder = waiting.pop()
        real = os.path.realpath(folder)
        if real in entered:  # a link back into a folder on the way
            continue
        entered.add(real)
        try:
            entries = sorted(
                (e for e in os.scandir(folder) if not e.name.startswith(".")), key=lambda e: natural_key(e.name)
            )
        except OSError as error:
            skipped.append((folder, f"the folder cannot be read ({error.strerror or error})"))
            continue
        inner = {entry.path: None for entry in entries if entry.is_dir()}
        yield folder, [entry.path for entry in entries if entry.path not in inner]
        if recursive:
            waiting.extend(reversed([*inner]))


def _usable(files: Iterable[str], seen: set[str], skipped: list[tuple[str, str]], *, named: bool) -> Iterator[str]:
    """The files that can be items; the others go to `skipped`, but for companions nobody named."""
    for file in files:
        ending = Path(file).suffix.lower()
        if not named and ending in COMPANION_ENDINGS:
            continue
        reason = _reason(file, ending)
        real = os.path.realpath(file)
        if not reason and real in seen:
            reason = "is the same file as one before it"
        if reason:
            skipped.append((file, reason))
        else:
            seen.add(real)
            yield file


def _reason(file: str, ending: str) -> str:
    """Why a file cannot be an item; empty when it can."""
    try:
        status = Path(file).stat()
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and Path(file).is_symlink():
            return "is a link to a file that does not exist"
        return f"cannot be read ({getattr(error, 'strerror', None) or error})"
    if ending not in AUDIO_ENDINGS:
        return "does not have the ending of an audio file"
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if status.st_size == 0:
        return "is empty"
    return "" if os.access(file, os.R_OK) else "cannot be read (Permission denied)"


def _item(file: str) -> Item:
    """The item of a file, from its tags where it has any."""
    tags = _tags(file)
    artist, title = tags.pop("artist", ""), tags.pop("title", "") or shown(Path(file).stem)
    return Item(id=file, title=title, path=file, artist=artist, details=MappingProxyType(tags))


def _tags(file: str) -> dict[str, Any]:
    """Title, artist, album, track, disc and duration_ms, as far as the file says them."""
    import tinytag

    try:
        tag = tinytag.TinyTag.get(os.fsencode(file) if os.name != "nt" else file)
    except Exception:  # whatever a broken file does to the reader of tags, it only means that there are none
        return {}
    duration = 1000 * tag.duration if tag.duration else None
    known = {"album": tag.album, "track": tag.track, "disc": tag.disc, "duration_ms": duration}
    texts = {"title": tag.title, "artist": tag.artist or tag.albumartist}
    return {name: _clean(value) for name, value in {**texts, **known}.items() if value}


def _clean(value: Any) -> Any:
    """Text from tags without the zeros and line ends some writers leave in it."""
    return shown(" ".join(value.replace("\0", " ").split())) if isinstance(value, str) else value


def _place(item: Item) -> tuple[float, float, tuple[tuple[int, int, str], ...], str]:
    """Where an item stands in its folder: by disc and track, those without a number last, then by name."""
    disc, track = item.details.get("disc") or 1, item.details.get("track") or float("inf")
    name = Path(item.path).name
    return disc, track, natural_key(name), name


def _title(names: list[str], items: list[Item]) -> str:
    albums = {item.details.get("album", "") for item in items}
    if len(albums) == 1 and "" not in albums:
        return str(albums.pop())
    if len(names) == 1 and Path(names[0]).is_dir():
        return shown(Path(os.path.realpath(names[0])).name)
    return ""


def _nothing(names: list[str], skipped: list[tuple[str, str]]) -> str:
    """One line for when there is no item at all."""
    where = ", ".join(shown(name) for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    if not names:
        return "no folder and no file was given"
    if not skipped:
        return f"{where}: has no audio files in it"
    path, reason = skipped[0]
    more = f" ({len(skipped) - 1} more like it)" if len(skipped) > 1 else ""
    return f"{where}: has no usable audio files; {shown(path)} {reason}{more}"
