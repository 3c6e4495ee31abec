"""Keeping an ordering: playlists, tables, JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from fabula.core.collection import Collection
from fabula.core.writing import check_target, write_whole
from fabula.errors import FileError, InputError, shown
from fabula.session.ordering import Ordered, as_json
from fabula.sources.playlists.locations import moved
from fabula.sources.playlists.playlist import PLAYLIST_ENDINGS, playlist_of, write_playlist
from fabula.sources.tables.reading import write_table

OUTPUT_ENDINGS = (*PLAYLIST_ENDINGS, ".csv", ".json")


def check_output(path: str | Path) -> Path:
    """Refuse an output that cannot be written or whose format is unknown, before any work is done."""
    target = check_target(path)
    if target.suffix.lower() not in OUTPUT_ENDINGS:
        raise InputError(f"{target}: the ending must be one of {', '.join(OUTPUT_ENDINGS)}")
    return target


def write_ordered(ordered: Ordered, path: str | Path) -> Path:
    """Write the new order; the format goes by the ending: .m3u .m3u8 .pls .xspf .jspf .csv .json.

    A playlist written from a playlist keeps everything but the order. A file that is replaced is kept beside the new
    one as ``NAME.before``, for :func:`restore`; of several, the oldest: ordering twice must not lose the order that
    was made by hand.
    """
    target = check_output(path)
    kept = _before(target)
    new = target.is_file() and not kept.exists()
    if new:
        write_whole(kept, target.read_bytes())
    written = _write(ordered, target)
    if new and kept.read_bytes() == target.read_bytes():
        kept.unlink()
    return written


def _write(ordered: Ordered, target: Path) -> Path:
    ending = target.suffix.lower()
    if ending == ".json":
        return write_whole(target, json.dumps(as_json(ordered), ensure_ascii=False, indent=1) + "\n")
    if ending == ".csv":
        chosen = ordered.fit
        extra = {
            "essence": ordered.essence[chosen.ordering].tolist(),
            "target": chosen.targets.tolist(),
            "deviation": chosen.deviations.tolist(),
        }
        return write_table(target, relocated(ordered.collection, ordered.source.folder, target.parent), extra)
    playlist = ordered.source.playlist
    if playlist is None:
        made = replace(playlist_of(ordered.collection), folder=ordered.source.folder)
        return write_playlist(target, made)
    return write_playlist(target, playlist, ordered.fit.ordering)


def restore(path: str | Path) -> Path:
    """Bring back the file that :func:`write_ordered` replaced.

    Raises
    ------
    FileError
        When nothing was kept.
    """
    target = Path(path)
    kept = _before(target)
    if not kept.is_file():
        raise FileError(f"{shown(target)}: nothing to restore (there is no {shown(kept.name)})")
    kept.replace(target)
    return target


def _before(path: Path) -> Path:
    return path.with_name(path.name + ".before")


def relocated(collection: Collection, old: Path, new: Path) -> Collection:
    """The collection with relative paths that start from another folder and lead to the same files."""
    items = [replace(item, path=moved(item.path, old, new)) if item.path else item for item in collection.items]
    c = collection
    return Collection(c.id, items, c.features, c.feature_names, ordered=c.ordered, title=c.title)
