"""``beet fabula QUERY``: what a query finds, in an order that tells a story.

What is measured is kept in the library as flexible attributes, so that nothing is measured twice: ``fabula_features``
as it came, and in words and numbers of their own ``fabula_energy``, ``fabula_tempo`` and ``fabula_loudness``. The order
is written as ``fabula_order``, by which a query sorts (``beet ls QUERY fabula_order+``), and as a playlist with ``-o``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from beets import ui
from beets.dbcore import types
from beets.exceptions import UserError
from beets.plugins import BeetsPlugin

from fabula.core.collection import Collection, Item as Track
from fabula.errors import FabulaError
from fabula.media.extraction import Measuring, extract
from fabula.media.registry import find_medium
from fabula.session.request import Request
from fabula.session.session import source_session
from fabula.sources.registry import Source

if TYPE_CHECKING:
    from beets.library import Item, Library

    from fabula.session.ordered import Ordered

_KEPT = "fabula_features"
# Attribute -> the feature it shows, and how many of its units one of the feature is: energy from 0 to 100
_SHOWN = {"fabula_energy": ("heard_energy", 100.0), "fabula_tempo": ("heard_tempo", 1.0),
          "fabula_loudness": ("loudness", 1.0)}  # fmt: skip


class FabulaPlugin(BeetsPlugin):
    """Orders what a query finds."""

    item_types: ClassVar[dict[str, types.Type[Any, Any]]] = {
        "fabula_order": types.INTEGER,
        **dict.fromkeys(_SHOWN, types.FLOAT),
    }

    def commands(self) -> list[ui.Subcommand]:
        """The one command there is."""
        command = ui.Subcommand("fabula", help="put what a query finds in an order that tells a story")
        add = command.parser.add_option
        add("-o", "--output", metavar="FILE", help="write the order: .m3u8 .m3u .pls .xspf .jspf .csv .json")
        add("--template", metavar="NAME", help="the arc to follow: icarus, steady-rise, ...")
        add("--first", metavar="TITLE", help="the track to open with")
        add("--last", metavar="TITLE", help="the track to close with")
        add("--apart", metavar="FIELD", help="no two neighbours share it, such as artist")
        add("--sides", metavar="N", type="int", default=1, help="sides with an arc each")
        add("--smooth", dest="smoothness", metavar="WEIGHT", type="float", default=0.0, help="prefer small steps")
        add("-p", "--pretend", action="store_true", help="show the order and write nothing")
        command.func = self._run
        return [command]

    def _run(self, lib: Library, opts: Any, args: list[str]) -> None:
        items = list(lib.items(args))
        try:
            if not items:
                raise UserError("fabula: the query finds nothing")
            source = self._open(items, pretend=opts.pretend)
            session = source_session(source, Measuring())
            wishes = {
                name: getattr(opts, name) for name in ("template", "first", "last", "apart", "sides", "smoothness")
            }
            ordered = session.order(Request(**wishes))
            self._write(lib, ordered, [items[row] for row in source.rows], opts)
        except FabulaError as error:
            raise UserError(f"fabula: {error}") from error

    def _open(self, items: list[Item], *, pretend: bool) -> Source:
        """The items as a source, with what is known of them: measured where it is not, and kept."""
        medium = find_medium("music")
        spec = medium.spec()
        rows: dict[int, list[float]] = {}
        for row, item in enumerate(items):
            kept = _recall(item, spec.name, spec.version)
            if kept is not None and len(kept) == len(spec.feature_names):
                rows[row] = kept
        missing = [row for row in range(len(items)) if row not in rows]
        tell = lambda done, total, path: self._log.info("measured {} of {}: {}", done, total, Path(path).name)  # noqa: E731
        found = extract([_path(items[row]) for row in missing], spec, Measuring(progress=tell)) if missing else None
        for index, numbers in zip(found.kept, found.features, strict=True) if found else ():
            rows[missing[index]] = numbers.tolist()
            if not pretend:
                known = dict(zip(spec.feature_names, numbers, strict=True))
                _keep(items[missing[index]], spec.name, spec.version, known)
        there = sorted(rows)
        left = tuple((Path(path).name, why) for path, why in found.problems) if found else ()
        if not there:
            raise FabulaError(f"none of {len(items)} tracks can be measured; the first: {left[0][1]}")
        tracks = []
        for item in (items[row] for row in there):
            details = {"album": str(item.album or ""), "genre": str(item.get("genre") or "")}
            tracks.append(Track(_path(item), str(item.title or ""), _path(item), str(item.artist or ""), details))
        features = np.array([rows[row] for row in there])
        albums = {item.album for item in items}
        title = str(albums.pop()) if len(albums) == 1 else ""
        collection = Collection("beets", tracks, features, spec.feature_names, title=title)
        source = Source(Path.cwd(), collection, medium, rows=tuple(there), left_out=left)
        return source.with_lengths()

    def _write(self, lib: Library, ordered: Ordered, items: list[Item], opts: Any) -> None:
        """Print the order, and keep it in the library and in a file, unless it is only shown."""
        ui.print_(str(ordered))
        if opts.pretend:
            return
        with lib.transaction():  # all of it, or nothing: beets itself keeps what was done before an error
            try:
                for position, row in enumerate(ordered.ordering, start=1):
                    items[row].fabula_order = position
                    items[row].store()
            except BaseException:
                lib._connection().rollback()
                raise
        if opts.output is not None:
            ui.print_(f"written: {ordered.save(opts.output)}")


def _path(item: Item) -> str:
    return os.fsdecode(item.path)


def _recall(item: Item, name: str, version: int) -> list[float] | None:
    """What was measured of an item, where its file is the one that was measured, by the same means."""
    try:
        kept = json.loads(item.get(_KEPT) or "{}")
        same = kept["spec"] == [name, version] and kept["mtime"] == Path(_path(item)).stat().st_mtime_ns
        return [float("nan") if number is None else float(number) for number in kept["numbers"]] if same else None
    except (ValueError, KeyError, TypeError, OSError):
        return None


def _keep(item: Item, name: str, version: int, numbers: dict[str, float]) -> None:
    """Keep what was measured in the library: as it is, and some of it to be looked at and searched by."""
    finite = [float(number) if np.isfinite(number) else None for number in numbers.values()]
    mtime = Path(_path(item)).stat().st_mtime_ns
    item[_KEPT] = json.dumps({"spec": [name, version], "mtime": mtime, "numbers": finite})
    for shown, (feature, units) in _SHOWN.items():
        if np.isfinite(numbers[feature]):
            item[shown] = round(units * float(numbers[feature]), 3)
    item.store()
