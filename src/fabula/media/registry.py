"""The media there are: those of the house, one line each, and those that other packages bring.

Another package adds a medium by an entry point of the group ``fabula.media`` that names a :class:`Medium`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from fabula.core.collection import Collection
from fabula.errors import InputError
from fabula.media.medium import Medium, load, load_points

GROUP = "fabula.media"
_HOME = {  # name: where it lies
    "music": "fabula.media.music:MEDIUM",
    "text": "fabula.media.text:MEDIUM",
    "images": "fabula.media.images:MEDIUM",
}

ITEMS = Medium("items")  # things of which nothing is known but numbers


@cache
def media() -> dict[str, Medium]:
    """Every medium by name, those of the house first."""
    found: dict[str, Medium] = {name: load(where) for name, where in _HOME.items()}
    for medium in load_points(GROUP, Medium):
        found.setdefault(medium.name, medium)
    return found


def find_medium(name: str) -> Medium:
    """A medium by name; the plain one for ``"items"``. An InputError for an unknown name."""
    known = {**media(), ITEMS.name: ITEMS}
    if name not in known:
        raise InputError(f"there is no medium {name!r}; there are: {', '.join(known)}")
    return known[name]


def medium_of_file(ending: str) -> Medium | None:
    """The medium whose items are files of this ending.

    >>> medium_of_file(".flac").name
    'music'
    """
    return next((medium for medium in media().values() if ending.lower() in medium.endings), None)


def medium_of_columns(names: Iterable[str]) -> Medium:
    """The medium that knows most of a table's columns; the plain one where none knows any.

    >>> medium_of_columns(["energy", "tempo"]).name, medium_of_columns(["weight"]).name
    ('music', 'items')
    """
    wanted = {name.casefold() for name in names}
    counts = {medium.name: len(wanted & set(medium.columns)) for medium in media().values()}
    best = max(counts, key=lambda name: counts[name], default="")
    return media()[best] if counts.get(best) else ITEMS


def medium_for(occasion: str, medium: Medium) -> Medium:
    """The medium whose orders may be for an occasion: the one given, or, of plain items, the one that knows of it.

    >>> medium_for("concert", ITEMS).name
    'music'
    """
    able = list(media().values()) if medium is ITEMS else [medium]
    found = next((one for one in able if occasion in one.occasions), None)
    if found is None:
        known = ", ".join(name for one in able for name in one.occasions)
        told = f"must be one of {known}" if known else f"{medium.words.items} are ordered for nothing in particular"
        raise InputError(f"{told}; got {occasion!r}", field="occasion")
    return found


def measure_if_held(collection: Collection) -> tuple[Collection, Medium]:
    """A collection of no files and its medium: by its columns, else by what its items hold, which is measured then.

    >>> from fabula.core.collection import Item
    >>> rows = [Item(name, details={"text": f"It rained on {name}, and then it stopped."}) for name in ("Ann", "Tom")]
    >>> found, medium = measure_if_held(Collection("c", rows))
    >>> medium.name, found.column("words").tolist()
    ('text', [8.0, 8.0])
    """
    medium = medium_of_columns(collection.feature_names)
    if len({name.casefold() for name in collection.feature_names} & set(medium.columns)) > 1:  # one may be by chance
        return collection, medium
    for other in media().values():
        found = other.held(collection)
        if found is not None:
            return found, other
    return collection, medium


def item_endings() -> frozenset[str]:
    """Endings of files that are items of some medium."""
    return frozenset().union(*(medium.endings for medium in media().values()))
