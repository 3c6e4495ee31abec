"""Outputs: a result written as a playlist, a table, JSON, or a format of its medium's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.collection import Collection
from fabula.core.files.atomic import check_target, write_whole
from fabula.errors import InputError
from fabula.session.telling.answer import as_json, facts_of, rows_of, side_line
from fabula.session.writing import history
from fabula.sources.playlists.entries import relocate
from fabula.sources.playlists.playlist import PLAYLIST_ENDINGS, playlist_of, write_playlist
from fabula.sources.source import with_held
from fabula.sources.tables.write_table import write_rows, write_table

if TYPE_CHECKING:
    from fabula.session.ordered import Ordered

Writer = Callable[["Ordered", Path], Path]


def output_endings(ordered: Ordered | None = None) -> tuple[str, ...]:
    """The endings that a result can be written with."""
    if ordered is None:
        return tuple(_WRITERS)
    medium = ordered.session.medium
    return (*_WRITERS, *medium.outputs, *medium.sheets)


def check_output(path: str | Path) -> Path:
    """Refuse an output that cannot be written or whose format is unknown, before any work is done."""
    from fabula.media.registry import media

    target = check_target(path)
    own = dict.fromkeys(ending for medium in media().values() for ending in (*medium.outputs, *medium.sheets))
    if target.suffix.lower() not in _WRITERS and _longest(own, target) is None:
        raise InputError(f"{target}: the ending must be one of {', '.join((*_WRITERS, *own))}")
    return target


def _longest(endings: Iterable[str], target: Path) -> str | None:
    """The longest of some endings that a name has: ``.book.pdf`` before ``.pdf``."""
    name = target.name.lower()
    return max((ending for ending in endings if name.endswith(ending)), key=len, default=None)


def write_ordered(ordered: Ordered, path: str | Path, *, gap: float = 0.0, gain: bool = False) -> Path:
    """Write the new order; the format goes by the ending.

    A playlist written from a playlist keeps everything but the order, also the entries that could not be measured. A
    file that is replaced is kept as a version, for :func:`fabula.session.writing.history.restore`.

    Parameters
    ----------
    ordered
        What to write.
    path
        Where.
    gap
        Between two items, in the unit of their lengths, for formats that say when each begins.
    gain
        Whether playlists say what brings each item to one level.
    """
    target = check_target(path)
    ending = _longest(output_endings(ordered), target)
    if ending is None:
        raise InputError(f"{target}: the ending must be one of {', '.join(output_endings(ordered))}")
    if not 0 <= gap < float("inf"):
        raise InputError(f"must not be below 0; got {gap:g}", field="gap")
    gains = gain_texts(ordered) if gain and ending in PLAYLIST_ENDINGS else []
    return history.replace_file(target, lambda: _write(ordered, target, ending, gap, gains))


def _write(ordered: Ordered, target: Path, ending: str, gap: float, gains: Sequence[str]) -> Path:
    medium = ordered.session.medium
    if ending in medium.outputs:
        return medium.outputs[ending](ordered.readable, target, ordered.sides)
    if ending in medium.sheets:
        placed = relocated(ordered.collection, ordered.session.source.folder, target.parent)
        return medium.sheets[ending](replace(placed, title=ordered.session.title), target, ordered.sides, gap)
    return _write_playlist(ordered, target, gains) if ending in PLAYLIST_ENDINGS else _WRITERS[ending](ordered, target)


def _write_json(ordered: Ordered, target: Path) -> Path:
    return write_whole(target, json.dumps(as_json(ordered), ensure_ascii=False, indent=1) + "\n")


def _write_csv(ordered: Ordered, target: Path) -> Path:
    fit, source = ordered.fit, ordered.session.source
    extra: dict[str, list[Any]] = {"essence": ordered.session.essence[fit.ordering].tolist()}
    if ordered.task.likelihood is None:  # along a template
        extra |= {"target": fit.targets.tolist(), "deviation": fit.deviations.tolist()}
    if ordered.sides:
        extra["side"] = [row.side for row in rows_of(ordered)]
    for fact in facts_of(ordered) if source.table is None else ():
        extra |= {name: list(cells) for name, cells in fact.cells.items()}
    if source.table is None:
        return write_table(target, relocated(ordered.collection, source.folder, target.parent), extra)
    cells: dict[str, list[Any]] = {"position": list(range(1, len(fit.ordering) + 1))}
    cells |= {name: [_cell(value) for value in column] for name, column in extra.items()}
    return write_rows(target, source.table, [source.rows[i] for i in fit.ordering], cells)


def _cell(value: Any) -> Any:
    """A number; several, of an essence that has dimensions, as text."""
    return " ".join(f"{one:.6g}" for one in value) if isinstance(value, list) else value


def gain_texts(ordered: Ordered) -> list[str]:
    """What brings each item of the new order to one level, as text.

    Raises
    ------
    InputError
        When the medium knows no such thing, or the level of an item is not known.
    """
    levelling = ordered.session.medium.levelling
    if levelling is None:
        raise InputError(f"nothing brings {ordered.session.medium.words.items} to one level", field="gain")
    gains, to = levelling.gains(ordered.collection)
    for item, gain in zip(ordered.collection.items, gains, strict=True):
        if not isfinite(gain):
            raise InputError(f"it is not known what would bring {item.label!r} to one level", field="gain")
    return [f"Gain {gain:+.1f} {levelling.unit} {to}" for gain in gains]


def _write_playlist(ordered: Ordered, target: Path, gains: Sequence[str] = ()) -> Path:
    source = ordered.session.source
    if source.playlist is None:
        made = replace(playlist_of(ordered.collection), folder=source.folder)
        return write_playlist(target, made, comments=_comments(ordered, list(range(len(made))), gains))
    order = with_held([source.rows[i] for i in ordered.ordering], source.unmovable)
    entries = tuple(source.playlist.entries[i] for i in order)
    comments = _comments(ordered, [order.index(source.rows[i]) for i in ordered.ordering], gains)
    return write_playlist(target, replace(source.playlist, entries=entries), comments=comments)


def _comments(ordered: Ordered, positions: list[int], gains: Sequence[str] = ()) -> dict[int, str]:
    """Where each side begins, and gains, by the position of the entry in what is written that they stand before."""
    starts = (0, *ordered.breaks) if ordered.sides else ()
    sides = {positions[start]: side_line(ordered, side) for side, start in enumerate(starts)}
    told = {positions[k]: gain for k, gain in enumerate(gains)}
    return {p: "; ".join(d[p] for d in (sides, told) if p in d) for p in sorted({*sides, *told})}


_WRITERS: dict[str, Writer] = {
    **dict.fromkeys(PLAYLIST_ENDINGS, _write_playlist),
    ".csv": _write_csv,
    ".json": _write_json,
}


def relocated(collection: Collection, old: Path, new: Path) -> Collection:
    """The collection with relative paths that start from another folder and lead to the same files."""
    items = tuple(replace(item, path=relocate(item.path, old, new)) if item.path else item for item in collection.items)
    return replace(collection, items=items)
