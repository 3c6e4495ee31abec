"""What is written: an order as a playlist, a table, JSON or a format of its medium's own; numbered copies; versions.

Every version of a file that is replaced is kept beside it, numbered as ``NAME.~1~``, ``NAME.~2~``, ...
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.collection import Collection
from fabula.core.display import name_some
from fabula.core.files import check_target, cut_name, json_text, split_stretch, sweep_folder, whole_file, write_whole
from fabula.errors import FileError, InputError, check_kind, shown
from fabula.media.facts import SECONDS, Levelling
from fabula.media.medium import Layout, Medium
from fabula.media.registry import media
from fabula.sources.playlists.entries import move_location
from fabula.sources.playlists.playlist import PLAYLIST_ENDINGS, format_of, playlist_of, write_playlist
from fabula.sources.registry import Source, with_held
from fabula.sources.tables.source_table import headings_of_order
from fabula.sources.tables.write_table import write_rows, write_table

if TYPE_CHECKING:
    from fabula.session.ordered import Ordered, Row

Progress = Callable[[int, int, str], None]


def check_output(path: str | Path) -> None:
    """Refuse an output that cannot be written or whose format is unknown, before any work is done."""
    own = dict.fromkeys(ending for medium in media().values() for ending in (*medium.outputs, *medium.sheets))
    check_ending(check_target(path), (*_WRITERS, *own))


def check_ending(target: Path, endings: Sequence[str]) -> str:
    """The longest of some endings that a name has, ``.book.pdf`` before ``.pdf``; refused where it has none."""
    found = [ending for ending in endings if target.suffix and target.name.lower().endswith(ending)]
    if not found:
        raise InputError(f"{target}: the ending must be one of {', '.join(dict.fromkeys(endings))}")
    return max(found, key=len)


def write_ordered(ordered: Ordered, path: str | Path, *, gain: bool = False) -> Path:
    """Write the new order; the format goes by the ending: a playlist, .csv, .json.

    A playlist written from a playlist keeps everything but the order, also the entries that could not be measured. A
    file that is replaced is kept as a version, for :func:`restore`. With `gain` playlists say the gain of each.
    """
    target, medium = check_target(path), ordered.session.medium
    ending = check_ending(target, (*_WRITERS, *medium.outputs, *medium.sheets))
    gains = gain_texts(ordered) if gain and ending in PLAYLIST_ENDINGS else []

    def write() -> Path:
        if _comes_back(ordered.session.source, target) and ending.count(".") == 1:
            back = _write_playlist if ordered.session.source.playlist is not None else _write_csv
            return _WRITERS.get(ending, back)(ordered, target, gains)
        if ending in medium.outputs:
            layout = Layout(ordered.sides, ordered.request.grid)
            return medium.outputs[ending](ordered.readable, target, layout)
        if ending in medium.sheets:
            placed = relocate(ordered.collection, ordered.session.source.folder, target.parent)
            titled = replace(placed, title=ordered.session.title)
            return medium.sheets[ending](titled, target, ordered.sides, ordered.gap_seconds)
        return _WRITERS[ending](ordered, target, gains)

    return replace_file(target, write)


_TIMED = re.compile(r"^(?:gap between|overlap of) \w+: ", re.MULTILINE)  # timings, which another order has anew
_PLAIN = frozenset({"tracklist", "pls"})  # lists that say no more than any other can


def tell_losses(ordered: Ordered, path: str | Path) -> str:
    """What such a file does not carry of what was opened, in words: pictures of manuscripts, say; or ""."""
    target, source, medium = Path(path), ordered.session.source, ordered.session.medium
    name, ending = target.name.lower(), target.suffix.lower()
    if any(map(name.endswith, medium.outputs)):
        return medium.losses(ordered.readable, target)
    if ending not in PLAYLIST_ENDINGS or _comes_back(source, target):
        return ""
    if ending != ".cue" and any(split_stretch(item.path)[1] is not None for item in ordered.collection.items):
        return f"{target.name} says in a way of its own (#t=) which stretches of a file are meant; .cue says it to all"
    whose = shown(source.path.name)
    if source.table is not None:
        columns = [name for name in source.collection.feature_names if not name.startswith("duration")]
        return f"{target.name} is made anew, without the columns of {whose}: {name_some(columns)}" if columns else ""
    if source.playlist is None or source.home is not None or source.playlist.format in _PLAIN:
        return ""
    return f"{target.name} is made anew: of what {whose} says it keeps titles, who made what, and lengths"


def check_room(path: str | Path, medium: Medium, count: int) -> None:
    """Refuse an output that holds fewer items than there are, before they are measured."""
    endings = [ending for ending in medium.outputs if Path(path).name.lower().endswith(ending)]
    most = medium.room.get(max(endings, key=len, default=""), count)
    if count > most:
        many = f"{count:,} {medium.words.items} are more than the {most:,} that one {max(endings, key=len)} holds"
        raise InputError(f"{shown(path)}: {many}; choose fewer (--pick), or another ending")


def _comes_back(source: Source, target: Path) -> bool:
    """Whether a file is of the kind that the source came from, and so is written back with all that it held."""
    if source.playlist is not None and source.playlist.format == "tracklist":
        return target.suffix.lower() == ".txt" and not _TIMED.search(source.playlist.text)
    if source.playlist is not None:
        return (
            target.suffix.lower() in PLAYLIST_ENDINGS
            and format_of(target, source.playlist).name == source.playlist.format
        )
    return source.table is not None and target.suffix.lower() == Path(source.table.path).suffix.lower()


def write_back(ordered: Ordered, name: str | None = None) -> str:
    """Write the new order into the library the collection came from (``subsonic://``, ``mpd://``).

    In place of the playlist opened, which is kept under another name; or as a playlist of that `name`. Says in words
    what was written; songs that could not be measured keep where they stand.
    """
    source = ordered.session.source
    if source.home is None:
        raise InputError(f"{ordered.session.title}: comes from no library that it could be written back to", field="as")
    if name is not None and not name.strip():
        raise InputError("name the playlist", field="as")
    return source.home.write(with_held([source.rows[i] for i in ordered.ordering], source.unmovable), name)


def _write_csv(ordered: Ordered, target: Path, _: Sequence[str]) -> Path:
    fit, source = ordered.fit, ordered.session.source
    extra: dict[str, list[Any]] = {"essence": ordered.session.essence[fit.ordering].tolist()}
    if ordered.task.likelihood is None:  # along a template
        extra |= {"target": fit.targets.tolist(), "deviation": fit.deviations.tolist()}
        extra |= {"off": ordered.offs} if ordered.session.essence.ndim == 1 else {}
    if ordered.sides:
        extra["side"] = [row.side for row in ordered.rows]
    if ordered.gap_seconds:
        extra["begins"] = ordered.begins
    old = headings_of_order(source.table.columns) if source.table else {"side"} & {*source.collection.detail_names}
    # what was said of the order before is void where this one has none
    extra |= {name: [None] * len(fit.ordering) for name in old if name not in {"position", *extra}}
    for fact in ordered.facts() if source.table is None else ():
        extra |= {name: list(cells) for name, cells in fact.cells.items()}
    if source.table is None:
        placed = relocate(ordered.collection, source.folder, target.parent)
        return write_table(target, placed, extra, source.medium.words.creator)
    cells: dict[str, list[Any]] = {"position": list(range(1, len(fit.ordering) + 1))}
    for name, column in extra.items():  # several numbers, of an essence that has dimensions, as text
        cells[name] = [" ".join(f"{one:.6g}" for one in v) if isinstance(v, list) else v for v in column]
    for column in cells.values():
        for row in sorted(source.held):
            column.insert(row, None)
    if not source.table.quoted and target.suffix.lower() == Path(source.table.path).suffix.lower():
        cells = {}  # what a player exports has the columns it has
    return write_rows(target, source.table, with_held([source.rows[i] for i in fit.ordering], source.held), cells)


def gain_texts(ordered: Ordered) -> list[str]:
    """What brings each item of the new order to one level, as text; refused where that is not known of one."""
    levelling = _levelling(ordered)
    gains, to = levelling.gains(ordered.collection)
    for item, gain in zip(ordered.collection.items, gains, strict=True):
        if not isfinite(gain):
            raise InputError(f"it is not known what would bring {item.label!r} to one level", field="gain")
    return [f"Gain {gain:+.1f} {levelling.unit} {to}" for gain in gains]


def _levelling(ordered: Ordered) -> Levelling:
    """How the medium brings items to one level; refused where it knows no such thing."""
    medium = ordered.session.medium
    if medium.levelling is None:
        raise InputError(f"nothing brings {medium.words.items} to one level", field="gain")
    return medium.levelling


def _write_playlist(ordered: Ordered, target: Path, gains: Sequence[str]) -> Path:
    source = ordered.session.source
    if source.playlist is None:
        made = replace(playlist_of(ordered.collection), folder=source.folder)
        if source.medium.unit is not SECONDS:  # playlists know no other length
            made = replace(made, entries=tuple(replace(entry, duration=None) for entry in made.entries))
        return write_playlist(target, made, comments=_comments(ordered, list(range(len(made))), gains))
    order = with_held([source.rows[i] for i in ordered.ordering], source.unmovable)
    timed = source.playlist.format == "cue"  # which says when each begins
    lengths = dict(zip(source.rows, (item.length for item in source.collection.items), strict=True))
    entries = tuple(
        replace(entry, duration=lengths.get(row)) if timed and entry.duration is None else entry
        for row, entry in ((row, source.playlist.entries[row]) for row in order)
    )
    comments = _comments(ordered, [order.index(source.rows[i]) for i in ordered.ordering], gains)
    moved = replace(source.playlist, entries=entries, gap=ordered.gap_seconds)
    return write_playlist(target, moved, comments=comments)


def _comments(ordered: Ordered, positions: list[int], gains: Sequence[str]) -> dict[int, str]:
    """Where each side begins, and gains, by the position of the entry in what is written that they stand before."""
    starts = (0, *ordered.breaks) if ordered.sides else ()
    sides = {positions[start]: ordered.side_line(side) for side, start in enumerate(starts)}
    levels = {positions[k]: gain for k, gain in enumerate(gains)}
    return {p: "; ".join(d[p] for d in (sides, levels) if p in d) for p in sorted({*sides, *levels})}


_WRITERS: dict[str, Callable[..., Path]] = {
    **dict.fromkeys(PLAYLIST_ENDINGS, _write_playlist),
    **dict.fromkeys((".csv", ".tsv", ".xlsx", ".jsonl", ".parquet"), _write_csv),
    ".json": lambda ordered, target, _: write_whole(target, json_text(ordered.to_json(), indent=1) + "\n"),
}


def relocate(collection: Collection, old: Path, new: Path) -> Collection:
    """The collection with relative paths that start from another folder and lead to the same files."""
    items = [replace(item, path=move_location(item.path, old, new)) if item.path else item for item in collection.items]
    return replace(collection, items=tuple(items))


# Numbered copies: an order that survives any player, stick or car radio.

_NUMBERED = re.compile(r"(?:[A-Z]{1,3}\d{1,3}|\d{2,3}) \S")  # as number_names has them
_UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')


def copy_numbered(
    ordered: Ordered,
    folder: str | Path,
    *,
    link: bool = False,
    tags: bool = False,
    gain: bool = False,
    progress: Progress | None = None,
) -> list[Path]:
    """Write the files into a folder, numbered in the new order, with sides as A1, A2, B1: what ``fabula copy`` does.

    The folder is made when it is absent; none of the new names may exist in it. `link` writes symbolic links instead;
    `tags` and `gain` write the numbers, and what brings each to one level, into the copies. What programs keep beside a
    file, as a picture's sidecar, comes along. Returns the files written, in order: all, or none when anything fails.
    """
    check_kind(folder, (str, os.PathLike), "a folder", "copy_to")
    if not str(folder).strip():
        raise InputError("name a folder for the copies", field="copy_to")
    if link and (tags or gain):
        what, field = ("numbers", "tags") if tags else ("gains", "gain")
        raise InputError(f"{what} are written into copies, not through links", field=field)
    target, rows = Path(folder), ordered.rows
    sources = _find_files(ordered, rows, "could be copied")
    writers = [_number_writer(ordered)] if tags else []
    if gain:
        gain_texts(ordered)  # refuses what is not known before anything is written
        levelling, collection = _levelling(ordered), ordered.collection
        writers.append(lambda file, row: levelling.write(file, row.position, collection))
    names = number_names(rows, [source.suffix for source in sources])
    beside = map(ordered.session.medium.numbered, sources)
    pairs = [(source, one, Path(name)) for source, one, name in zip(sources, beside, names, strict=True)]
    others = [(one, f"{name.stem}{one.name[len(file.stem) :]}") for file, one, name in pairs if file != one]
    more = [(one, name) for one, name in others if one.is_file()]
    taken = [name for name in (*names, *(name for _, name in more)) if os.path.lexists(target / name)]
    here = sorted(path.name for path in target.glob("*") if path.suffix in {source.suffix for source in sources})
    taken += filter(_NUMBERED.match, here)  # of another order: a player would play both at once
    if taken:
        raise InputError(f"{shown(target)}: already holds {shown(taken[0])!r}; name an empty folder")
    copies = {Path(os.path.normpath(source)): target / name for source, name in zip(sources, names, strict=True)}
    with _all_or_none(target) as done:
        sweep_folder(target)
        for one, name in more:
            _place(target / name, one, done, link=link)
        for row, source, name in zip(rows, sources, names, strict=True):
            _place(target / name, source, done, link=link)
            for write in writers:
                write(target / name, row)
            if progress is not None:
                progress(len(done) - len(more), len(names), name)
        ordered.session.medium.relink({} if link else copies)
    return [target / name for name in names]


def number_in_place(ordered: Ordered, progress: Progress | None = None) -> list[Path]:
    """Write the new numbers into the files themselves, or beside them, as the medium does it."""
    write_number, rows = _number_writer(ordered), ordered.rows
    files = _find_files(ordered, rows, "a number could be written into")
    numbered = ordered.session.medium.numbered
    targets = [numbered(file) for file in files]  # refuses what must not be replaced before anything is written
    for done, (row, file, target) in enumerate(zip(rows, files, targets, strict=True), start=1):
        keep(target)
        write_number(file, row)
        if progress is not None:
            progress(done, len(rows), file.name)
    return targets


def _find_files(ordered: Ordered, rows: Sequence[Row], use: str) -> list[Path]:
    """The file of each row; refused where one has none."""
    files = [ordered.session.source.folder / row.item.path for row in rows]
    for row, file in zip(rows, files, strict=True):
        if not file.is_file():
            raise FileError(f"{row.item.label!r} is not a file that {use}")
    return files


def _number_writer(ordered: Ordered) -> Callable[[Path, Row], None]:
    """What writes the number of a row into a file; refused where the medium has none."""
    medium = ordered.session.medium
    write = medium.write_numbers
    if write is None:
        raise InputError(f"numbers cannot be written into files of {medium.name}", field="tags")
    sides = ordered.sides or (len(ordered.ordering),)

    def write_number(file: Path, row: Row) -> None:
        side = ordered.side_of(row.position)[0]
        write(file, (row.number, sides[side]), (side + 1, len(sides)) if ordered.sides else None)

    return write_number


def number_names(rows: list[Row], endings: list[str]) -> list[str]:
    """File names that sort in the new order and that any system takes."""
    digits = max(1 if any(row.side for row in rows) else 2, len(str(max(row.number for row in rows))))
    names = []
    for row, ending in zip(rows, endings, strict=True):
        title = row.item.label
        bare = title.removesuffix(ending) if ending else title
        bare = re.sub(r"^\d+\s*[-._ ]\s*(?=\S)", "", _UNSAFE.sub("_", bare)).strip(" .") or "item"
        names.append(f"{row.side}{row.number:0{digits}d} {cut_name(bare)}{ending}")
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


def _place(target: Path, source: Path, done: list[Path], *, link: bool) -> None:
    """Copy a file, or link to it, under its new name; what a copy that was killed has left is swept by the next one."""
    if link:
        target.symlink_to(source.resolve())
    else:
        with source.open("rb") as given, whole_file(target) as file:
            shutil.copyfileobj(given, file, 1 << 20)
    done.append(target)
    if not link:
        shutil.copystat(source, target)


# Versions of a file that were replaced.

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
    """The versions of a file that were replaced, oldest first."""
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
    """Bring a version back, by default the newest; what it replaces becomes a version itself: nothing is lost."""
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
