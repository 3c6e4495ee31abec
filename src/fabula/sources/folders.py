"""Reading folders and lists of files: which files, what is said of them, and in which order they stand."""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.collection import Collection, Item
from fabula.core.display import name_some
from fabula.core.files import FilePath, open_file
from fabula.errors import FileError, shown
from fabula.media.children import stopping
from fabula.media.medium import Cutting, Medium
from fabula.media.registry import choose_medium, item_endings, media
from fabula.sources.playlists.playlist import PLAYLIST_ENDINGS
from fabula.sources.registry import Opening, Reader, Source, as_paths, list_endings, read_items

_ALL = Opening()  # folders within folders, wherever links lead
_VERSION = re.compile(r"\.~\d+~$")  # of a file that was replaced, kept beside it
_LOOP = "is a link that leads back to itself"
_TWICE = "is the same file as one before it"


def read_folder(paths: FilePath | Sequence[FilePath], medium: Medium, opening: Opening = _ALL) -> Source:
    """The files of folders, by number where each has one, else by name; or files in the order they are named in.

    Companions (beside music: pictures, playlists, texts) and hidden files inside a folder are passed over, with a note
    where they may be what somebody wanted; anything else of another kind is reported. A file that is reached twice,
    also by a link, is listed once, and a folder of numbered copies of what lies above it is left out.
    """
    names = as_paths(paths)
    skipped: list[tuple[str, str]] = []
    items: list[Item] = []
    seen: set[str] = set()
    beside: list[str] = []
    numbered = True
    groups = [(name, *group) for name in names for group in _folders(name, opening, skipped)]
    copies = _find_copies([(folder, files) for _, folder, files in groups if folder is not None], names, medium)
    count = dict.fromkeys(names, 0)
    for name, folder, files in groups:
        if folder in copies:
            continue
        usable = _usable(files, medium, seen, skipped, beside if folder is not None else None)
        found = read_items(usable, medium, skipped)
        known = [number for number in map(medium.number, found) if number is not None]
        by_number = len(set(known)) == len(found)  # each has one of its own
        if by_number:
            found = [item for _, item in sorted(zip(known, found, strict=True), key=lambda pair: pair[0])]
        numbered = numbered and folder is not None and by_number
        items.extend(found)
        count[name] += len(found)
    if not items:
        raise FileError(_nothing(names, skipped, medium))
    title = medium.title(items)
    if not title and len(names) == 1 and _is_folder(names[0]):
        title = shown(Path(os.path.realpath(names[0])).name)
    title = title or Path(names[0]).name
    again = [shown("/".join(Path(path).parts[-2:])) for path, reason in skipped if reason == _TWICE]
    notes = [f"skipped, the same as files before: {name_some(again)}"] if again else []
    bare = [shown(name) for name, n in count.items() if not n and _is_folder(name)]
    notes += [f"{name}: has no {medium.words.files} in it, and was left out" for name in bare]
    notes += [f"left out: {shown(folder)} holds numbered copies of {medium.words.files} above it" for folder in copies]
    notes += tell_beside(beside, [item.path for item in items], medium)
    left = tuple((shown(Path(path).name), reason) for path, reason in skipped if reason != _TWICE)
    plain = [replace(item, path=os.path.normpath(item.path)) for item in items]
    collection = Collection(title, plain, title=title, ordered=numbered)
    return Source(Path(names[0]), collection, medium, files=True, notes=tuple(notes), left_out=left)


# What usually lies beside items: covers, booklets, notes.
_USUAL = """
    cover folder front back album albumart artwork booklet inlay disc cd thumb thumbnail scan poster readme license
    licence copying notice credits notes info lyrics liner index contents toc changelog captions
"""
COMMON_NAMES = frozenset(_USUAL.split())


def tell_beside(beside: Sequence[str], items: Sequence[str], medium: Medium) -> list[str]:
    """What is to be told of files beside the files of items: of lists, and of what could be of another medium."""
    endings, lists = item_endings(), list_endings()
    stems = {Path(item).stem.casefold() for item in items} | COMMON_NAMES
    files = [Path(file) for file in beside if Path(file).suffix.lower() in endings]
    others = [shown(file.name) for file in files if re.split(r"[-_. (\d]", file.stem.casefold())[0] not in COMMON_NAMES
              and file.stem.casefold() not in stems]  # fmt: skip
    listed = [shown(Path(file).name) for file in beside if Path(file).suffix.lower() in lists]
    notes = [f"no {medium.words.items}, and left alone: {name_some(others)}"] if others else []
    return [*notes, f"lists, and left alone (name one to open it): {name_some(listed)}"] if listed else notes


# Copies that were written into a folder within the one they came from, in their order.

_COPY = re.compile(r"([A-Z]{0,2})(\d+) .")
_TAIL = 4096  # bytes at the end of a file, by which a copy is known whose tags were written


def _find_copies(groups: Sequence[tuple[str, Sequence[str]]], named: Sequence[str], medium: Medium) -> list[str]:
    """Folders, of those nobody named, that hold nothing but numbered copies of files in folders above them."""
    inside = {Path(folder): [f for f in files if Path(f).suffix.lower() in medium.endings] for folder, files in groups}
    found = []
    for folder, _ in groups:
        files = inside[Path(folder)]
        if folder in named or not _are_numbered(files):
            continue
        above = [file for parent in Path(folder).parents for file in inside.get(parent, ())]
        if len(above) >= len(files) and {_end_of(f) for f in files} <= {_end_of(f) for f in above}:
            found.append(folder)
    return found


def _are_numbered(files: Sequence[str]) -> bool:
    """Whether files are called as numbered copies are: by every number from 1, on every side."""
    sides: dict[str, list[int]] = {}
    for match in (_COPY.match(Path(file).name) for file in files):
        if match is None:
            return False
        sides.setdefault(match[1], []).append(int(match[2]))
    return len(files) > 1 and all(sorted(numbers) == list(range(1, len(numbers) + 1)) for numbers in sides.values())


def _end_of(file: str) -> tuple[str, bytes]:
    """The ending of a file's name, and the last bytes of it; another each time where it cannot be read."""
    try:
        with open_file(file) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return file, b""
            opened.seek(max(0, opened.seek(0, os.SEEK_END) - _TAIL))
            return Path(file).suffix.lower(), opened.read(_TAIL)
    except (OSError, ValueError):
        return file, b""


def files_of(paths: Sequence[str], opening: Opening = _ALL) -> Iterator[str]:
    """Every file that folders hold or that is named, whatever it is; links that lead in circles are entered once."""
    for name in paths:
        for _, files in _folders(name, opening, []):
            yield from files


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sorting key that takes digits as numbers and letters in either case."""
    # Only ASCII digits: int() would take other scripts' digits, and refuse superscripts.
    parts = re.split(r"([0-9]+)", text.casefold())
    return tuple((0, int(part), "") if i % 2 else (1, 0, part) for i, part in enumerate(parts) if part)


def _folders(name: str, opening: Opening, skipped: list[tuple[str, str]]) -> Iterator[tuple[str | None, list[str]]]:
    """The files of one path, folder by folder in natural order; (None, [path]) for a file."""
    if not _is_folder(name):
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
            entries = sorted((entry for entry in os.listdir(folder) if not entry.startswith(".")), key=natural_key)  # noqa: PTH208
        except OSError as error:
            skipped.append((folder, f"the folder cannot be read ({error.strerror or error})"))
            continue
        inside = [os.path.join(folder, entry) for entry in entries]  # noqa: PTH118 - keeps odd names as they are
        for path in [path for path in inside if opening.within is not None and os.path.islink(path)]:  # noqa: PTH114
            if not any(Path(os.path.realpath(path)).is_relative_to(root) for root in opening.within or ()):
                skipped.append((path, "is a link that leads elsewhere"))
                inside.remove(path)
        folders = {path: _is_folder(path) for path in inside}
        yield folder, [path for path in inside if not folders[path]]
        if opening.recursive:
            waiting.extend(path for path in reversed(inside) if folders[path])


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116 - Path takes no odd names
    except (OSError, ValueError):  # not there, a loop of links, a name that no file can have
        return False


def _usable(
    files: Iterable[str], medium: Medium, seen: set[str], skipped: list[tuple[str, str]], beside: list[str] | None
) -> Iterator[str]:
    """The files that can be items; the others go to `skipped`, companions nobody named (None: all are) to `beside`."""
    for file in files:
        ending = Path(file).suffix.lower()
        companion = ending in medium.companions or ending in PLAYLIST_ENDINGS
        if beside is not None and (companion or _VERSION.search(file)):
            beside.append(file)
            continue
        reason = _reason(file, "" if ending in medium.endings else f"does not have the ending of {medium.words.file}")
        real = os.path.realpath(file)
        if not reason and real in seen:
            reason = _TWICE
        if reason:
            skipped.append((file, reason))
        else:
            seen.add(real)
            yield file


def _reason(file: str, of_ending: str) -> str:
    """Why a file cannot be an item; empty when it can."""
    try:
        status = Path(file).stat()
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.ELOOP:
            return _LOOP
        if isinstance(error, FileNotFoundError) and Path(file).is_symlink():
            return "is a link to a file that does not exist"
        return f"cannot be read ({getattr(error, 'strerror', None) or error})"
    if of_ending:
        return of_ending
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if status.st_size == 0:
        return "is empty"
    return "" if os.access(file, os.R_OK) else "cannot be read (Permission denied)"


def _nothing(names: list[str], skipped: list[tuple[str, str]], medium: Medium) -> str:
    """One line for when there is no item at all."""
    where = ", ".join(shown(name) for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    if not skipped:
        return f"{where}: has no {medium.words.files} in it"
    path, reason = skipped[0]
    if names == [path]:
        return f"{where}: {reason}"
    more = f" ({len(skipped) - 1} more like it)" if len(skipped) > 1 else ""
    return f"{where}: has no usable {medium.words.files}; {shown(path)} {reason}{more}"


# Folders and files as a source: the files of one medium.


def open_files(paths: Sequence[str], opening: Opening) -> Source:
    """Open folders and files: those of the medium that has most of them. One file alone may hold several items."""
    ending = Path(paths[0]).suffix.lower() if len(paths) == 1 and Path(paths[0]).is_dir() else ""
    bundle = next((medium for medium in media().values() if ending in medium.bundles), None)
    medium, told = (bundle, ()) if bundle else medium_of(paths, opening)
    if len(paths) == 1 and not bundle and _is_folder(paths[0]):
        paths = [medium.whole(paths[0]) or paths[0]]
    one = len(paths) == 1 and Path(paths[0]).is_file() and Path(paths[0]).suffix.lower() in medium.endings
    alone = one or bundle is not None
    cutting = Cutting(opening.progress or Cutting().tell, opening.stop)
    with stopping(cutting.stop):
        parts = medium.parts(paths[0], cutting) if alone else None
    if parts is not None:
        note = f"{shown(paths[0])} was cut into {len(parts)} {medium.words.items}"
        notes = (*told, note, *cutting.notes)
        return Source(Path(paths[0]), parts, medium, Path(paths[0]).parent, cut=True, notes=notes)
    found = read_folder(paths, medium, opening)
    return replace(found, notes=(*told, *found.notes))


def medium_of(paths: Sequence[str], opening: Opening) -> tuple[Medium, tuple[str, ...]]:
    """The medium that is named, or has most files; where none has any, the first of the house; and what to tell."""
    found, notes = choose_medium(files_of(paths, opening) if opening.medium is None else (), opening.medium)
    return found or _medium_of_none(), notes


def _medium_of_none() -> Medium:
    """The first medium of the house, called as all are: the error that there is nothing to order names each."""
    first, *others = media().values()

    def join(word: str, *words: str) -> str:
        return f"{', '.join((word, *words[:-1]))} or {words[-1]}"

    file = join(first.words.file, *(medium.words.file for medium in others))
    files = join(first.words.files, *(medium.words.files for medium in others))
    return replace(first, words=replace(first.words, file=file, files=files))


READER = Reader("folder", open_files)
