"""Which column of a table says what: by the name given, else by the headings such columns usually carry."""

from __future__ import annotations

import difflib
from collections.abc import Collection as Names
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

from fabula.errors import FileError, InputError
from fabula.sources.tables.columns import Column, SourceTable, numbers_of
from fabula.sources.tables.headings import ROLES, plain


@dataclass(frozen=True)
class Columns:
    """Which columns of a table say what, by their headings.

    Parameters
    ----------
    collection, position, title, artist, path, id
        None: recognise the column by its heading; "": no column has this role.
    duration
        The column with the durations of the items, in seconds or as on a clock (3:20).
    others
        Name -> heading: what a column is called as a feature or a detail, in place of its heading.
    """

    collection: str | None = None
    position: str | None = None
    title: str | None = None
    artist: str | None = None
    path: str | None = None
    id: str | None = None
    duration: str | None = None
    others: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    @property
    def roles(self) -> dict[str, str | None]:
        """Role -> heading, None or ""."""
        names = (f.name for f in fields(self) if f.name not in ("duration", "others"))
        return {name: getattr(self, name) for name in names}

    @property
    def renamed(self) -> dict[str, str]:
        """Heading -> what the column is called as a feature or a detail."""
        named = dict(self.others) | ({"duration": self.duration} if self.duration else {})
        return {heading: name for name, heading in named.items()}


def columns_named(*mappings: Mapping[str, str | None]) -> Columns:
    """The columns that several mappings of role or name -> heading give together.

    Raises
    ------
    InputError
        When one role has two headings.

    Examples
    --------
    >>> columns_named({"title": None}, {"title": "Titel", "loudness": "LUFS"}).renamed
    {'LUFS': 'loudness'}
    """
    found: dict[str, str] = {}
    for role, heading in ((role, heading) for mapping in mappings for role, heading in mapping.items()):
        name = role.removeprefix("item_") if role in ("item_path", "item_id") else role
        if heading is not None and found.setdefault(name, heading) != heading:
            raise InputError(f"the {name} cannot be two columns: {found[name]!r} and {heading!r}")
    roles = {f.name for f in fields(Columns)} - {"others"}
    others = MappingProxyType({name: heading for name, heading in found.items() if name not in roles})
    return Columns(**{name: heading for name, heading in found.items() if name in roles}, others=others)


def roles_of(table: SourceTable, given: Mapping[str, str | None], taken: Names[str] = ()) -> dict[str, Column]:
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
    roles = {role: find_column(table, name) for role, name in given.items() if name}
    spoken_for = {column.name for column in roles.values()} | set(taken)
    for role, usual in ROLES.items():
        if given.get(role) is not None:
            continue
        free = {plain(name): column for name, column in reversed(table.columns.items()) if name not in spoken_for}
        for column in (free[name] for name in usual.split() if name in free):
            # "track" and "order" may be text, and then they are no positions.
            if role != "position" or numbers_of(table, column) is not None:
                roles[role] = column
                spoken_for.add(column.name)
                break
    return roles


def find_column(table: SourceTable, name: str) -> Column:
    """A column by its name.

    Raises
    ------
    FileError
        When there is none; the message says which there are.
    """
    if name in table.columns:
        return table.columns[name]
    known = {plain(heading): heading for heading in table.columns}
    near = difflib.get_close_matches(plain(name), known, n=1)
    hint = f" (did you mean {known[near[0]]!r}?)" if near else ""
    raise FileError(f"{table.path}: has no column {name!r}{hint}; it has: {_listed(table.columns)}")


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - 20} more" if len(known) > 20 else ""
    return ", ".join(known[:20]) + more
