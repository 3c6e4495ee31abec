"""Which items are ordered: those that a comparison keeps, one of several that are alike, or the few that tell most."""

import re
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np

from fabula.core.arrays import Floats, normalise
from fabula.core.collection import Collection
from fabula.errors import InputError
from fabula.media.extraction import Measuring
from fabula.media.medium import Choosing, Medium, as_moment, detail_number
from fabula.session.export import check_room
from fabula.session.measure import foresee_lengths, measure
from fabula.session.request import find_item, labels
from fabula.sources.registry import Source

_SIGNS: dict[str, Callable[[float, float, float], bool]] = {  # a number, and from where to where the other reaches
    ">=": lambda x, low, high: x >= low,
    "<=": lambda x, low, high: x <= high,
    "!=": lambda x, low, high: not low <= x <= high,
    "=": lambda x, low, high: low <= x <= high,
    ">": lambda x, low, high: x > high,
    "<": lambda x, low, high: x < low,
}
_ONE = re.compile(r"\s*([^<>=!~]+?)\s*(>=|<=|!=|==|=|>|<|~)\s*(.*?)\s*")
_OUTSIDE = r"""(?=(?:[^"]*"[^"]*")*[^"]*$)"""  # of what stands in quotes
_DAY = 86400.0
_MOST = 2000  # items among which few are chosen; of more, those of most worth
_ROUNDS = 3  # of exchanging what was chosen


@dataclass(frozen=True)
class Selection:
    """Which items of a source are wanted."""

    only: str | None = None  # a comparison: ``rating >= 3``, ``captured >= 2024-05-01 and keywords ~ sea``
    one_of: str | None = None  # a column: of items that share it, the one of most worth
    pick: int | None = None  # so many, which tell most of all
    outputs: tuple[str, ...] = ()  # what all that are left must fit into, which is refused before they are measured

    @property
    def narrows(self) -> bool:
        """Whether it leaves items out."""
        return bool(self.only or self.one_of) or self.pick is not None


def select(source: Source, selection: Selection, measuring: Measuring, must: Sequence[int | str] = ()) -> Source:
    """The source with the items that are wanted alone, measured where that decides; a note says how many they are.

    The items that ``must`` be there are picked at any rate.
    """
    found, told = source, []
    if selection.only:
        rows, found = _compare(source, selection.only, measuring)
        if not rows:
            raise InputError(f"no {source.medium.words.item} has {selection.only}", field="only")
        told.append(f"{len(rows)} of {len(source.collection)} {source.medium.words.items} have {selection.only}")
        found = drop(found, rows)
    for output in selection.outputs:
        count = len(found.collection)
        check_room(output, found.medium, count if selection.pick is None else min(count, selection.pick))
    if selection.one_of or selection.pick is not None:
        found = measure(found, measuring) if found.files else found
    if selection.one_of:
        groups = labels(found.collection, selection.one_of, found.medium, "one_of")
        rows = best_of_each(groups, _choosing(found).worth)
        told.append(f"one of each {selection.one_of}: {len(rows)} of {len(found.collection)}")
        found = drop(found, rows)
    if selection.pick is not None:
        rows, why = _pick(found, selection.pick, must)
        fewer = f", fewer than the {selection.pick} wanted" if len(rows) < selection.pick else ""
        told.append(f"picked {len(rows)} of {len(found.collection)} {found.medium.words.items}{fewer}{why}")
        found = drop(found, rows)
    return found.with_notes(*told)


def drop(source: Source, rows: Sequence[int]) -> Source:
    """Some of the items of a source; the others go from what is written, too."""
    left_out = sorted(set(range(len(source.collection))) - set(rows)) if source.rows else []
    gone = [source.rows[i] for i in left_out]
    return replace(source.only(rows), dropped=(*source.dropped, *gone))


def _compare(source: Source, text: str, measuring: Measuring) -> tuple[list[int], Source]:
    """The rows that a comparison keeps, and the source: measured only where it compares what is measured."""
    said = foresee_lengths(source)
    try:
        return compare(said.collection, text, source.medium), source
    except InputError:
        if not source.files or not source.medium.specs:
            raise
    known = measure(source, measuring)
    return compare(known.collection, text, known.medium), known


def compare(collection: Collection, text: str, medium: Medium) -> list[int]:
    """The rows of a collection that a comparison keeps, or several that ``and`` and ``or`` join; ``~``: has in it.

    >>> from fabula.core.collection import Item
    >>> from fabula.media.registry import ITEMS
    >>> items = [Item(str(k), details={"stars": k, "label": "Red" if k else ""}) for k in range(4)]
    >>> compare(Collection("c", items), "stars >= 2 or label = green", ITEMS)
    [2, 3]
    """
    kept: set[int] = set()
    for part in re.split(rf"(?i)\s+or\s+{_OUTSIDE}", text):
        rows = set(range(len(collection)))
        for one in re.split(rf"(?i)\s+and\s+{_OUTSIDE}", part):
            rows &= _keep_one(collection, one, medium)
        kept |= rows
    return sorted(kept)


def _keep_one(collection: Collection, text: str, medium: Medium) -> set[int]:
    """The rows that one comparison keeps."""
    found = _ONE.fullmatch(text)
    if found is None or not found[3]:
        raise InputError(f"takes COLUMN >= VALUE, with one of >= <= > < = != ~; got {text.strip()!r}", field="only")
    name, sign, value = found[1], found[2].replace("==", "="), found[3].strip('"')
    cells = read_cells(collection, name, medium, "only")
    wanted = detail_number(value)
    if wanted is None and name.casefold() == "length":
        with suppress(InputError):  # as on a clock
            wanted = medium.unit.read(value)
    if wanted is not None and sign != "~" and any(isinstance(cell, float) for cell in cells):
        whole_day = as_moment(value) is not None and len(value) <= 10
        reach = (wanted, wanted + (_DAY - 1e-3 if whole_day else 0.0))
        return {i for i, cell in enumerate(cells) if isinstance(cell, float) and _SIGNS[sign](cell, *reach)}
    if sign not in ("=", "!=", "~"):
        raise InputError(f"{name!r} is no number that {value!r} could be compared with", field="only")
    texts = [f"{cell:g}" if isinstance(cell, float) else (cell or "").casefold() for cell in cells]
    fold = value.casefold()
    if sign == "~":
        return {i for i, cell in enumerate(texts) if fold in cell}
    return {i for i, cell in enumerate(texts) if (cell == fold) is (sign != "!=")}


def read_cells(collection: Collection, name: str, medium: Medium, field: str) -> list[float | str | None]:
    """What each item has in a column: a number, a text, or None; an InputError lists what there is."""
    timed = any(item.length is not None for item in collection.items)
    if timed and name.casefold() == "length" and "length" not in collection.feature_names:  # whose column may be in ms
        return [item.length for item in collection.items]
    meant = medium.meant(name, collection.feature_names)
    if meant is not None and collection.features.ndim == 2:
        return [None if isnan(value) else float(value) for value in collection.column(meant)]
    texts = {"title": [item.label for item in collection.items], "path": collection.texts("path")}
    texts |= dict.fromkeys((medium.words.creator, "creator"), collection.creators)
    detail = collection.detail_named(name)
    cells: list[Any] = texts.get(name.casefold(), []) if detail is None else collection.texts(detail)
    if not cells:
        more = ["length"] if timed else []
        there = ", ".join(dict.fromkeys([*collection.feature_names, *collection.detail_names, *texts, *more]))
        raise InputError(f"there is no column {name!r}; there are: {there}", field=field)
    numbers = [detail_number(cell) for cell in cells]
    known = [number if number is not None else str(cell) for number, cell in zip(numbers, cells, strict=True)]
    return [None if cell in ("", None) else one for cell, one in zip(cells, known, strict=True)]


# The few that tell most: one of what is alike, of those of most worth, so that none of all is far from one of them.


def _choosing(source: Source) -> Choosing:
    """What the medium goes by where few are chosen; else the steps between items, of no worth in particular."""
    collection, medium = source.collection, source.medium
    if medium.choosing is not None:
        return medium.choosing(collection)
    n = len(collection)
    known = collection.features if collection.features.ndim == 2 else np.empty((n, 0))
    rows = normalise(known[:, np.isfinite(known).all(axis=0)]) if n > 1 else np.zeros((n, 1))
    return Choosing([None] * n, np.zeros(n), lambda chosen: medium.steps(collection.only(chosen), rows[chosen]).table)


def best_of_each(groups: Sequence[Hashable | None], worth: Floats) -> list[int]:
    """The row of most worth of each group, and every row without one; rising.

    >>> best_of_each(["a", None, "a"], np.array([1.0, 0, 2]))
    [1, 2]
    """
    best: dict[Hashable, int] = {}
    for row, group in enumerate(groups):
        key = ("alone", row) if group is None else ("group", group)
        if key not in best or worth[row] > worth[best[key]]:
            best[key] = row
    return sorted(best.values())


def _pick(source: Source, count: int, named: Sequence[int | str]) -> tuple[list[int], str]:
    """The rows that are picked, rising, and by what, in words."""
    how = _choosing(source)
    must = list(dict.fromkeys(find_item(source.collection.items, one, "pick") for one in named))
    if len(must) > count:
        raise InputError(f"{len(must)} {source.medium.words.items} are named; got {count}", field="pick")
    held = {how.groups[row] for row in must} - {None}
    rows = [row for row in best_of_each(how.groups, how.worth) if how.groups[row] not in held and row not in must]
    bar = np.floor(how.worth)
    alike = len(rows) + len(must) < len(source.collection)
    levels = [one for one in sorted(set(bar[rows]), reverse=True) if (bar[rows] >= one).sum() >= 2 * count]
    least = levels[0] if levels else -np.inf
    rows = [row for row in rows if bar[row] >= least]
    if len(must) + len(rows) <= count:
        chosen = list(range(len(must) + len(rows)))
    else:
        rows = sorted(sorted(rows, key=lambda row: -how.worth[row])[: max(_MOST, count)])
        near = np.asarray(how.distance([*must, *rows]))
        chosen = cover((near + near.T) / 2, count, len(must))
    why = [f"one of what is {how.alike}"] * bool(alike and how.alike)
    why += [f"of those of {how.called.format(least)}"] if how.called and least > bar.min() else []
    return sorted([*must, *rows][row] for row in chosen), f": {', '.join(why)}" if why else ""


def cover(distance: Floats, count: int, fixed: int = 0) -> list[int]:
    """So many of n rows, the first ``fixed`` among them, that no row is far from one of them on average.

    Distances (n, n), symmetric. By adding whichever brings most, then by exchanging: the k-medoids of Kaufman and
    Rousseeuw.

    >>> cover(np.abs(np.subtract.outer(*[np.array([0.0, 1, 2, 10, 11, 12])] * 2)), 2)
    [1, 4]
    """
    chosen = list(range(min(fixed, count)))
    while len(chosen) < count:
        nearest = distance[chosen].min(axis=0) if chosen else np.full(len(distance), distance.max() + 1)
        gains = np.maximum(nearest - distance, 0.0).sum(axis=1)
        gains[chosen] = -1.0
        chosen.append(int(np.argmax(gains)))
    for _ in range(_ROUNDS):
        before = list(chosen)
        for k in range(fixed, len(chosen)):
            others = [row for row in chosen if row != chosen[k]]
            rest = distance[others].min(axis=0) if others else np.full(len(distance), np.inf)
            costs = np.minimum(rest, distance).sum(axis=1)
            costs[others] = np.inf
            chosen[k] = int(np.argmin(costs)) if costs.min() < costs[chosen[k]] - 1e-12 else chosen[k]
        if chosen == before:
            break
    return chosen
