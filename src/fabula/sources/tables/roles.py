"""Which column of a table says what: by the name given, else by the names such columns usually carry."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection as Names
from collections.abc import Iterable, Mapping

from fabula.errors import FileError
from fabula.sources.tables.columns import Column, Table, numbers_of

# The likeliest name first. What write_table writes comes first of all, so that its files read back as they were.
_NAMES = {
    "collection": "collectionid collection albumid playlistid releaseid setid album albumname albumtitle playlist "
    "playlistname release collectionname collectiontitle",
    "position": "position pos tracknumber trackno tracknum tracknr trackposition track order place index idx "
    "number no nr #",
    "title": "title trackname tracktitle name song songname songtitle track label caption",
    "artist": "artist artistname artistnames trackartist artists performer creator author albumartist",
    "path": "path filepath file filename location trackuri uri url",
    "id": "id itemid trackid songid spotifyid isrc",
    "collection title": "collectiontitle collectionname albumtitle albumname album playlistname playlisttitle playlist "
    "release",
}


def roles_of(table: Table, given: Mapping[str, str | None], taken: Names[str] = ()) -> dict[str, Column]:
    """The column of each role that has one.

    Parameters
    ----------
    table
        The table.
    given
        Role -> name of the column; None: look for it; "": no column has this role.
    taken
        Names of columns that have no role unless one is given.

    Returns
    -------
    Role -> column, of collection, position, title, artist, path, id and "collection title".

    Raises
    ------
    FileError
        When a given column is not there.
    """
    roles = {role: named(table, name) for role, name in given.items() if name}
    spoken_for = {column.name for column in roles.values()} | set(taken)
    for role, usual in _NAMES.items():
        if given.get(role) is not None:
            continue
        free = {_plain(name): column for name, column in reversed(table.columns.items()) if name not in spoken_for}
        for column in (free[name] for name in usual.split() if name in free):
            # "track" and "order" may be text, and then they are no positions.
            if role != "position" or numbers_of(table, column) is not None:
                roles[role] = column
                spoken_for.add(column.name)
                break
    return roles


def named(table: Table, name: str) -> Column:
    """A column by its name.

    Raises
    ------
    FileError
        When there is none; the message says which there are.
    """
    if name in table.columns:
        return table.columns[name]
    plain = {_plain(known): known for known in table.columns}
    near = difflib.get_close_matches(_plain(name), plain, n=1)
    hint = f" (did you mean {plain[near[0]]!r}?)" if near else ""
    raise FileError(f"{table.path}: has no column {name!r}{hint}; it has: {_listed(table.columns)}")


def _plain(name: str) -> str:
    """A name without case and separators."""
    return re.sub(r"[\W_]+", "", name.casefold()) or name.strip()


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - 20} more" if len(known) > 20 else ""
    return ", ".join(known[:20]) + more
