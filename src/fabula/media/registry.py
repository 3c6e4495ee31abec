"""The media there are: those of the house, one line each, and those that other packages bring.

Another package adds a medium by an entry point of the group ``fabula.media`` that names a :class:`Medium`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from fabula.core.collection import Collection, Item
from fabula.core.files import split_stretch
from fabula.errors import FabulaError, FileError, InputError, shown
from fabula.media.children import Stopped, explain, load, place_of
from fabula.media.facts import Levelling, Telling, Unit
from fabula.media.medium import Choosing, Facing, Medium, Preview, Spec, Step, Steps, load_points

GROUP = "fabula.media"
_HOME = {  # name: where it lies
    "music": "fabula.media.music:MEDIUM",
    "text": "fabula.media.text:MEDIUM",
    "images": "fabula.media.images:MEDIUM",
}

_BESIDE = 0.25  # of a file, is what one counts that may lie beside the items of another medium

ITEMS = Medium("items")  # things of which nothing is known but numbers


@cache
def media() -> dict[str, Medium]:
    """Every medium by name, those of the house first."""
    found: dict[str, Medium] = {name: load(where) for name, where in _HOME.items()}
    for medium in load_points(GROUP, Medium):
        if medium.name in (*found, ITEMS.name):
            raise InputError(f"two media are called {medium.name!r}: remove one of the packages that bring them")
        found[medium.name] = _guard(medium, medium.name)
    return found


def added() -> list[Medium]:
    """The media that other packages bring."""
    return [medium for name, medium in media().items() if name not in _HOME]


@dataclass(frozen=True)
class _Guarded:
    """A function of another package: whatever it raises is one line that names the file and the package."""

    function: Callable[..., Any]
    medium: str
    field: str

    @property
    def place(self) -> str | None:
        """Where a child finds it."""
        return place_of(self.function)

    def __call__(self, *given: Any) -> Any:
        """What it gives."""
        try:
            return _guard(self.function(*given), self.medium, self.field)
        except (FabulaError, Stopped):
            raise
        except Exception as error:
            named = (one.path if isinstance(one, Item) else one for one in given)
            file = next((f"{shown(one)}: " for one in named if isinstance(one, str | PathLike)), "")
            why = explain(error, self.function)
            raise FileError(f"{file}medium {self.medium!r}, {self.field} fails ({why})") from error


_GUARDED = (Choosing, Facing, Levelling, Medium, Preview, Spec, Step, Steps, Telling, Unit)


def _guard(value: Any, medium: str, field: str = "") -> Any:
    """What another package brings, with every function in it guarded."""
    if isinstance(value, _GUARDED):
        names = [one.name for one in fields(value)]
        return replace(value, **{name: _guard(getattr(value, name), medium, name) for name in names})
    if isinstance(value, Mapping):
        return {key: _guard(one, medium, field) for key, one in value.items()}
    if type(value) is tuple:
        return tuple(_guard(one, medium, field) for one in value)
    return _Guarded(value, medium, field) if callable(value) and not isinstance(value, type) else value


def find_medium(name: str) -> Medium:
    """A medium by name; the plain one for ``"items"``. An InputError for an unknown name."""
    known = {**media(), ITEMS.name: ITEMS}
    if name not in known:
        raise InputError(f"there is no medium {name!r}; there are: {', '.join(known)}")
    return known[name]


def medium_of_file(ending: str) -> Medium | None:
    """The medium whose items are files of this ending; of several one that another package brings.

    >>> medium_of_file(".flac").name
    'music'
    """
    return next((medium for medium in reversed(media().values()) if ending.lower() in medium.endings), None)


def choose_medium(files: Iterable[str], named: str | None) -> tuple[Medium | None, tuple[str, ...]]:
    """The medium that is named, or else has most of some files; and a note where others claim half of those, too.

    What may lie beside the items of another medium that is there counts little: the lyrics of an album make no book.
    Of several that have as many, the first is one that another package brings; where none knows any there is none.

    >>> choose_medium(["a.mp3", "b.mp3", "a.txt", "b.txt", "c.txt"], None)[0].name
    'music'
    """
    if named is not None:
        return find_medium(named), ()
    endings = Counter(Path(split_stretch(file)[0]).suffix.lower() for file in files)
    there = [medium for medium in reversed(media().values()) if medium.endings & set(endings)]

    def count(medium: Medium) -> float:
        beside = frozenset().union(*(other.companions for other in there if other is not medium))
        known = medium.endings & set(endings)
        return sum(endings[ending] * (_BESIDE if ending in beside else 1) for ending in known)

    best = max(there, key=count, default=None)
    if best is None:
        return None, ()
    most = sum(endings[ending] for ending in best.endings)
    shared = {one.name: sum(endings[ending] for ending in best.endings & one.endings) for one in there}
    others = [one.name for one in there if one is not best and 2 * shared[one.name] >= most]
    told = [f"{name} knows such files, too: say medium {name} for that" for name in others]
    return best, (f"opened as {best.name}, though {'; '.join(told)}",) if told else ()


def medium_of_columns(names: Iterable[str]) -> Medium:
    """The medium that knows most of a table's columns; the plain one where none knows any.

    >>> medium_of_columns(["energy", "tempo"]).name, medium_of_columns(["weight"]).name
    ('music', 'items')
    """
    wanted = {name.casefold() for name in names}
    best = max(media().values(), key=lambda medium: len(wanted & set(medium.columns)))
    return best if wanted & set(best.columns) else ITEMS


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


def rivals() -> list[str]:
    """Names of media that know endings which others know, too; none where no other package brings one."""
    return [
        one.name for one in media().values() if any(one.endings & b.endings for b in media().values() if b is not one)
    ]


def item_endings() -> frozenset[str]:
    """Endings of files that are items of some medium."""
    return frozenset().union(*(medium.endings for medium in media().values()))
