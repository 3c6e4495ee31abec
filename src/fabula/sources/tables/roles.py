"""Which column of a table says what: by the name given, else by the headings such columns usually carry."""

import difflib
import json
import re
import unicodedata
from collections.abc import Collection as Names, Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.errors import FileError, InputError
from fabula.sources.playlists.entries import is_address
from fabula.sources.tables.source_table import Column, SourceTable, first_wrong, numbers_of, text_of

# The headings that columns usually carry, in several languages: which say what an item is, which are features.

# The likeliest heading first. What write_table writes comes first of all, so that its files read back as they were.
# English, then German, French, Spanish, Portuguese, Italian.
_HEADINGS = json.loads(files("fabula.sources.tables").joinpath("headings.json").read_text(encoding="utf-8"))
ROLES: Mapping[str, str] = _HEADINGS["roles"]
NAMED = ("collection", "position", "title", "artist", "path", "id")  # roles that a person may name the columns of
# Of albums: of a table of albums the collection, of a playlist only a detail; those that only lists of tracks have.
_ALBUMS, _TRACK_WORDS = _HEADINGS["albums"], _HEADINGS["tracks"]
_DURATION_WORDS: str = _HEADINGS["durations"]
_FEATURE_NAMES: str = _HEADINGS["features"]
_LIST_POSITIONS = _HEADINGS["list positions"]
ALBUMS = frozenset(_ALBUMS.split())
# Headings of positions that may be those in a playlist; a track number is the position on an album.
LIST_POSITIONS = frozenset(_LIST_POSITIONS.split())
# Headings that only the list of a streaming service has: when, and by whom, a track was added to a playlist.
ADDED = frozenset({"addedat", "addedby"})
DISCS = frozenset({"disc", "discnumber", "discno", "disk", "disknumber", "cd"})
_DURATIONS = frozenset(_DURATION_WORDS.split())
_FEATURES = {name.replace("_", ""): name for name in _FEATURE_NAMES.split()} | {"bpm": "tempo"}
_TRACKS = frozenset(_TRACK_WORDS.split()) | ALBUMS
_UNITS = {"milliseconds": 0.001, "ms": 0.001, "minutes": 60.0, "mins": 60.0, "min": 60.0, "seconds": 1.0, "sec": 1.0}
_UNITS |= {"s": 1.0}
_WORDED = ("minutes", "seconds", "milliseconds")
_SURE_DURATIONS = _DURATIONS - {"length", "time", "runtime"}  # which are of time whatever else a table has


def plain(heading: str) -> str:
    """A heading without case, accents and separators.

    >>> plain("Künstler"), plain("Artist Name(s)"), plain("Track-ID"), plain("#")
    ('kunstler', 'artistnames', 'trackid', '#')
    """
    letters = unicodedata.normalize("NFKD", heading.casefold())
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.sub(r"[\W_]+", "", bare) or heading.strip()


def is_duration(heading: str) -> bool:
    """Whether a heading names a duration, so that its cells may be written as on a clock."""
    return plain(heading) in _DURATIONS or duration_unit(heading) is not None


def is_feature(heading: str) -> bool:
    """Whether a heading is that of a usual feature, of which cells are numbers."""
    return plain(heading) in _FEATURES


def feature_name(heading: str) -> str:
    """What a column of numbers is called as a feature; the heading itself where it is none of the usual ones.

    >>> [feature_name(h) for h in ("Duration (ms)", "Track Duration (ms)", "Loudness", "Time Signature", "My Column")]
    ['duration_ms', 'duration_ms', 'loudness', 'time_signature', 'My Column']
    >>> feature_name("Dauer"), feature_name("Length"), feature_name("duration (s)"), feature_name("Duration")
    ('duration', 'Length', 'duration', 'duration')
    """
    bare = plain(heading)
    if bare in _FEATURES:
        return _FEATURES[bare]
    unit = duration_unit(heading)
    if unit == 0.001:
        return "duration_ms"
    return "duration" if unit is not None or bare in _SURE_DURATIONS else heading


def duration_unit(heading: str) -> float | None:
    """The seconds of the unit that a heading of durations names; None where it names none.

    >>> [duration_unit(h) for h in ("Duration (ms)", "length_min", "Time", "size (s)")]
    [0.001, 60.0, None, None]
    """
    bare = plain(heading)
    known = ((bare.removesuffix(unit), seconds) for unit, seconds in _UNITS.items() if bare.endswith(unit))
    return next((seconds for name, seconds in known if name in _DURATIONS or (not name and bare in _WORDED)), None)


def is_of_tracks(table: SourceTable, roles: Mapping[str, Column]) -> bool:
    """Whether a table can only be a list of tracks, by its headings: who made them and how long they are, or others."""
    names = {plain(name) for name in table.columns}
    timed = bool(names & _DURATIONS) or any(duration_unit(name) for name in table.columns)
    return "title" in roles and (("artist" in roles and timed) or bool(names & _TRACKS))


def columns_named(*mappings: Mapping[str, str | None]) -> dict[str, str]:
    """Role or name -> heading, as several mappings give them together; "" says that no column has the role.

    >>> columns_named({"title": None}, {"item_path": "Datei", "loudness": "LUFS"})
    {'path': 'Datei', 'loudness': 'LUFS'}
    """
    found: dict[str, str] = {}
    for role, heading in ((role, heading) for mapping in mappings for role, heading in mapping.items()):
        name = role.removeprefix("item_") if role in ("item_path", "item_id") else role
        if heading is not None and found.setdefault(name, heading) != heading:
            raise InputError(f"the {name} cannot be two columns: {found[name]!r} and {heading!r}")
    return found


def names_by_heading(asked: Mapping[str, str]) -> dict[str, str]:
    """Heading -> what the column is called as a feature or a detail, of what was asked for that is no role."""
    return {heading: name for name, heading in asked.items() if name not in NAMED and (heading or name != "duration")}


def roles_of(table: SourceTable, asked: Mapping[str, str], taken: Names[str] = ()) -> dict[str, Column]:
    """The column of each role that has one, of :data:`ROLES`: as asked for (""; none), else by its heading.

    Columns taken get no role.
    """
    roles = {role: find_column(table, asked[role]) for role in NAMED if asked.get(role)}
    spoken_for = {column.name for column in roles.values()} | set(taken)
    for role, usual in ROLES.items():
        if role in NAMED and role in asked:
            continue
        free = {plain(name): column for name, column in reversed(table.columns.items()) if name not in spoken_for}
        for column in (free[name] for name in usual.split() if name in free):
            # "track" and "order" may be text, and then they are no positions.
            if role != "position" or numbers_of(table, column) is not None:
                roles[role] = column
                spoken_for.add(column.name)
                break
    return roles


def sessions_in(table: SourceTable) -> Ints:
    """The rows that are no tracks: Serato's histories have one for the whole session, without artist and deck."""
    named = {plain(name): column for name, column in table.columns.items()}
    if not {"name", "starttime"} <= named.keys() or not {"playtime", "endtime", "deck"} & named.keys():
        return np.empty(0, dtype=np.intp)
    empty = [named[name].missing for name in ("artist", "deck") if name in named]
    return np.flatnonzero(np.logical_and.reduce(empty)) if empty and table.count > 1 else np.empty(0, dtype=np.intp)


def find_column(table: SourceTable, name: str) -> Column:
    """A column by its name."""
    if name in table.columns:
        return table.columns[name]
    known = {plain(heading): heading for heading in table.columns}
    near = difflib.get_close_matches(plain(name), known, n=1)
    hint = f" (did you mean {known[near[0]]!r}?)" if near else ""
    more = f" and {len(table.columns) - 20} more" if len(table.columns) > 20 else ""
    listed = ", ".join(list(table.columns)[:20]) + more
    raise FileError(f"{table.path}: has no column {name!r}{hint}; it has: {listed}")


# Which rows of a table are one collection, and in which order they stand.

_DISC = 1000  # more tracks than a disc has
_FEW = 100  # cells that are looked at before all are


def rows_where(table: SourceTable, where: Mapping[str, Any]) -> Ints:
    """Indices of the rows that have the wanted values, given as column -> value."""
    keep = np.ones(table.count, dtype=bool)
    for name, wanted in where.items():
        column = find_column(table, name)
        text = text_of(wanted)
        truth = isinstance(wanted, (bool, np.bool_)) or text.lower() in ("true", "false")
        numbers = numbers_of(table, column) if isinstance(wanted, (int, float)) and not truth else None
        if numbers is not None:
            keep &= numbers == wanted
            continue
        codes, texts = column.distinct
        same = [(cell.lower() == text.lower() if truth else cell == text) for cell in texts.tolist()]
        keep &= np.array(same, dtype=bool)[codes]
    if not keep.any():
        wish = ", ".join(f"{name} = {text_of(value)!r}" for name, value in where.items())
        raise FileError(f"{table.path}: no row has {wish}")
    return np.flatnonzero(keep)


def settle_roles(table: SourceTable, roles: dict[str, Column], asked: Mapping[str, str], kept: Ints) -> dict[str, str]:
    """Take away the roles that the table as a whole speaks against; returns heading -> name where that is another."""
    renamed = {}
    if not table.quoted:  # one playlist, in the order of its lines
        if "collection" not in asked:
            roles.pop("collection", None)
            roles.pop("collection title", None)
        if "position" not in asked and "position" in roles and plain(roles["position"].name) not in LIST_POSITIONS:
            del roles["position"]
    if "collection" in roles and "collection" not in asked and _is_one_playlist(table, roles, kept):
        album = roles.pop("collection")
        roles.pop("collection title", None)
        if plain(album.name) in ALBUMS and "album" not in table.columns:
            renamed[album.name] = "album"
        if "position" in roles and "position" not in asked:
            numbers = numbers_of(table, roles["position"])
            distinct = numbers is not None and len(np.unique(numbers[kept])) == len(kept)
            if not distinct or plain(roles["position"].name) not in LIST_POSITIONS:
                del roles["position"]
    if "path" in roles and "path" not in asked and "id" not in asked:
        cells, other = roles["path"].texts(), roles.get("id")
        parts = (cells[rows].tolist() for rows in (slice(_FEW), slice(None)))
        if (other is None or plain(other.name) == "isrc") and all(
            not c or is_address(c) for part in parts for c in part
        ):
            roles["id"] = roles.pop("path")
    return renamed


def _is_one_playlist(table: SourceTable, roles: Mapping[str, Column], kept: Ints) -> bool:
    """Whether the rows are one list of tracks from several albums, as streaming services export it."""
    # A column that names the album is the collection where the rows read as albums: half of them and more in albums
    # whose track numbers start at 1 and have no large gaps or, without numbers, in three rows and more that stand
    # together. Otherwise, and where the table says when a track was added, the album is only a detail of the track.
    column = roles["collection"]
    codes, texts = column.distinct
    some = np.unique(codes[kept])[:3] if len(kept) < len(codes) else np.arange(min(3, len(texts)))
    if len({*texts[some].tolist()} - {""}) < 2:
        return False
    names = {plain(name) for name in table.columns}
    if plain(column.name) not in ALBUMS:
        return bool(names & ADDED) and plain(column.name) in ("albumid", "releaseid")
    if names & ADDED:
        return True
    positions = numbers_of(table, roles["position"]) if "position" in roles else None
    if positions is not None:
        positions = positions[kept] + _DISC * (_discs(table)[kept] - 1)
    whole = _rows_in_albums(codes[kept], positions)
    return 2 * whole < len(kept)


def _rows_in_albums(codes: Ints, positions: Floats | None) -> int:
    """How many rows are of collections that read as albums."""
    where = np.arange(len(codes), dtype=np.float64) if positions is None else positions
    order = np.lexsort((where, codes))
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sizes = np.diff(starts, append=len(codes))
    sorted_by = where[order]  # rising within each album, what is not known last
    if positions is None:
        together = sorted_by[starts + sizes - 1] - sorted_by[starts] == sizes - 1
        return int(sizes[(sizes >= 3) & together].sum())
    twice = np.add.reduceat(np.diff(sorted_by, prepend=np.nan) == 0, starts)
    twice -= np.diff(sorted_by, prepend=np.nan)[starts] == 0  # beside the last of the album before
    unknown = np.isnan(sorted_by[starts + sizes - 1])
    ranked = (positions % _DISC)[np.lexsort((positions % _DISC, codes))]
    typical = (ranked[starts + (sizes - 1) // 2] + ranked[starts + sizes // 2]) / 2  # the median of each album
    album = (sizes >= 2) & (twice == 0) & ~unknown & (sorted_by[starts] <= 1) & (typical <= sizes + 1)
    return int(sizes[album].sum())


def lay_out(table: SourceTable, roles: Mapping[str, Column], kept: Ints) -> tuple[Ints, Ints]:
    """The rows (kept,), collection after collection, each in its order, and offsets (collections + 1,) of these.

    Collections stand in the order in which the file first names them.
    """
    codes = np.zeros(len(kept), dtype=np.intp)
    if "collection" in roles:
        column = roles["collection"]
        _check_present(table, column, kept[column.missing[kept]], "must name the collection")
        codes = column.distinct[0]
        if len(kept) < len(codes):  # counted in the order in which the kept rows first have them
            _, first, inverse = np.unique(codes[kept], return_index=True, return_inverse=True)
            codes = np.argsort(np.argsort(first))[inverse]
    positions = np.arange(len(kept), dtype=np.float64)
    if "position" in roles:
        column = roles["position"]
        numbers = numbers_of(table, column)
        if numbers is None and not column.empty:
            raise table.error(first_wrong(column), column, "must be a number, the position of the item")
        positions = np.full(len(kept), np.nan) if numbers is None else numbers[kept]
        _check_present(table, column, kept[np.isnan(positions)], "must be the position of the item")
    order, repeated = _sort(codes, positions)
    if repeated is not None and "position" in roles:  # the numbers start again on each disc
        positions = positions + (positions.max() + 1) * _discs(table)[kept]
        order, repeated = _sort(codes, positions)
    if repeated is not None:
        one, other = sorted(int(kept[row]) for row in repeated)
        numbers, heading = numbers_of(table, roles["position"]), roles["position"].name
        position = "" if numbers is None else text_of(numbers[one])
        same = f"have the same position {position} (column {heading!r}) in one collection"
        raise FileError(f"{table.path}: {table.row(one)} and {table.row(other)} {same}")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return kept[order], np.append(starts, len(kept))


def _sort(codes: Ints, positions: Floats) -> tuple[Ints, tuple[int, int] | None]:
    """Rows by collection and position, and the first two with one collection and one position."""
    order = np.arange(len(codes))
    steps, rises = np.diff(codes), np.diff(positions)
    if not ((steps > 0) | ((steps == 0) & (rises > 0))).all():  # most files are sorted already
        order = np.lexsort((positions, codes))
        steps, rises = np.diff(codes[order]), np.diff(positions[order])
    same = np.flatnonzero((steps == 0) & (rises == 0))
    return order, (int(order[same[0]]), int(order[same[0] + 1])) if same.size else None


def _discs(table: SourceTable) -> Floats:
    """The disc of each row (rows,); 1 where the table does not say."""
    column = next((column for name, column in table.columns.items() if plain(name) in DISCS), None)
    numbers = numbers_of(table, column) if column is not None else None
    return np.ones(table.count) if numbers is None else np.nan_to_num(numbers, nan=1.0)


def _check_present(table: SourceTable, column: Column, absent: Ints, rule: str) -> None:
    if absent.size:
        more = f" (and {absent.size - 1} more rows)" if absent.size > 1 else ""
        raise FileError(f"{table.path}: {table.row(int(absent[0]))}, column {column.name!r}: {rule}; it is empty{more}")
