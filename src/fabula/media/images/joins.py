"""How far it is from one picture to the next in colour, tone, format, detail, subject; which are nearly the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from fabula.core.arrays import Floats
from fabula.core.collection import Collection
from fabula.media.medium import Facing, column
from fabula.media.steps import Step, Steps, essence_steps

_ROWS = 512  # compared with all at a time
_MANY = 1000  # pictures from which single precision will do
SAME = "duplicates"  # the column that numbers groups of pictures that are nearly the same
_BITS = 10  # of 64 in which the hashes of two shots of one thing differ at most
_LOOKS = {"brightness": 12.0, "warmth": 12.0, "green_red": 12.0}  # and how far they are apart in light and colour

# What a step compares: feature -> its deviation over the pictures of many collections, so that each counts alike.
_PARTS: dict[str, Mapping[str, float]] = {
    "colour": {"warmth": 11.8, "green_red": 8.0, "colourfulness": 24.7},
    "tone": {"brightness": 20.0, "contrast": 6.6, "key_low": 0.25, "key_high": 0.24},
    "detail": {"edge_density": 0.138, "sharpness": 0.93, "entropy": 0.89},
    "subject": {"subject_x": 0.05, "subject_y": 0.068, "subject_size": 0.034, "top_bottom": 38.5},
}


def picture_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps between n pictures: colour, tone, format, detail and subject, as far as they are known; else the essence.

    Each is a distance in deviations of the features it compares; the format is the ratio of the aspects, in octaves.
    """
    parts = []
    for name, scales in _PARTS.items():
        there = [feature for feature in scales if feature in collection.feature_names]
        if there and collection.features.ndim == 2:
            columns = collection.columns(there) / np.array([scales[feature] for feature in there])
            parts.append(Step(name, "deviations", partial(_distance, columns)))
    if "aspect" in collection.feature_names and collection.features.ndim == 2:
        octaves = np.log2(np.maximum(collection.column("aspect"), 1e-3))[:, np.newaxis]
        parts.append(Step("format", "octaves", partial(_distance, octaves)))
    return Steps(tuple(parts)) if parts else essence_steps(collection, essence)


def _distance(columns: Floats) -> Floats:
    """Euclidean, shape (n, n); a value that is not known lies where the average does."""
    known = np.isfinite(columns)
    centre = np.where(known, columns, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    rows = np.where(known, columns, centre)
    table = np.empty((len(rows), len(rows)), dtype=np.float32 if len(rows) >= _MANY else np.float64)
    for start in range(0, len(rows), _ROWS):
        table[start : start + _ROWS] = cdist(rows[start : start + _ROWS], rows)
    return cast(Floats, table)


def with_duplicates(collection: Collection) -> Collection:
    """The collection with a column that numbers groups of pictures that are nearly the same, NaN where one is alone.

    Two are nearly the same when their hashes differ in at most 10 of 64 bits and their light and colour are close;
    groups are what hangs together so.
    """
    names = collection.feature_names
    if collection.features.ndim != 2 or SAME in names or not {"hash_a", "hash_b"} <= set(names):
        return collection
    looks = [collection.column(name) / far for name, far in _LOOKS.items() if name in names]
    groups = near_groups(collection.column("hash_a"), collection.column("hash_b"), looks)
    if not np.isfinite(groups).any():
        return collection
    return replace(collection, features=np.column_stack([collection.features, groups]), feature_names=(*names, SAME))


def near_groups(first: Floats, second: Floats, looks: Sequence[Floats] = ()) -> Floats:
    """Groups of hashes that nearly agree, numbered from 1: shape (n,), NaN where one stands alone.

    ``first`` and ``second``, shape (n,), are the halves of 64-bit hashes, NaN where there is none; each of ``looks``,
    shape (n,), may differ by 1 at most between two that are nearly the same.
    """
    known = np.isfinite(first) & np.isfinite(second)
    whole = np.where(known, first, 0).astype(np.uint64) << np.uint64(32) | np.where(known, second, 0).astype(np.uint64)
    one, other = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for start in range(0, len(whole), _ROWS):
        rows = slice(start, start + _ROWS)
        near = (np.bitwise_count(whole[rows, np.newaxis] ^ whole) <= _BITS) & known[rows, np.newaxis] & known
        for look in looks:
            near &= np.abs(look[rows, np.newaxis] - look) <= 1
        i, j = np.nonzero(near)
        one.append(i + start)
        other.append(j)
    pairs = np.concatenate(one), np.concatenate(other)
    graph = coo_matrix((np.ones(len(pairs[0])), pairs), shape=(len(whole), len(whole)))
    _, label = connected_components(graph, directed=False)
    counts = np.bincount(label)
    numbers = np.cumsum(counts > 1)
    return np.where(counts[label] > 1, numbers[label].astype(np.float64), np.nan)


# What joins a picture to those before it, in words, each of them a fact that was measured.

_LIGHT, _WARM = 6.0, 5.0  # of L* and b*: nearer than that two pictures have the same light
_LEAP = 22.0  # of L*: from here on one is much lighter or darker than the other
_TURN = 18.0  # of b*: the same of warm and cold
_DIM, _BRIGHT = 35.0, 68.0  # of L*: below and above, light has a name
_COLD, _HOT = -4.0, 12.0  # of b*: the same of warmth
_BUSY = 0.24  # of edge density: what is a leap in detail
_SQUARE = 1.08  # by which a side must be longer for a picture not to be square
_RUN = 3  # pictures alike in a row that are worth a word
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_MOST = 2  # things said of one picture
_BACK = 12  # pictures that are looked back at

Known = Mapping[str, Floats]


def joins(collection: Collection, breaks: Sequence[int] = ()) -> list[str]:
    """What is to be said of each picture beside the one before it, and those before that; "" where nothing stands out.

    Nothing goes on across ``breaks``, the positions at which a new side begins.

    >>> from fabula.core.collection import Item
    >>> rows = np.array([[60.0, 14, 0.7], [62, 15, 0.7], [30, 14, 0.7], [50, 2, 2.1]])
    >>> series = Collection("c", [Item(str(i)) for i in range(4)], rows, ("brightness", "warmth", "aspect"))
    >>> joins(series)
    ['', 'same warm light as the one before', 'much darker than the one before', 'the widest, after three uprights']
    """
    known = {name: column(collection, name) for name in ("brightness", "warmth", "aspect", "bw", "edge_density", SAME)}
    extremes = _extremes(known["aspect"])
    starts = {0, *breaks}
    begun, said = 0, []
    for position in range(len(collection)):
        begun = position if position in starts else max(begun, position - _BACK)
        found = _reasons(known, begun, position, extremes) if position > begun else []
        said.append(", ".join([words for words in found if words][:_MOST]))
    return said


def _reasons(known: Known, begun: int, at: int, extremes: tuple[int | None, int | None]) -> list[str]:
    """Everything that can be said of one picture, what matters most first."""
    same = "nearly the same picture as the one before" if known[SAME][at] == known[SAME][at - 1] else ""
    form, grey = _format(known["aspect"], begun, at, extremes), _grey(known["bw"], begun, at)
    return [same, form, grey, _light(known["brightness"], known["warmth"], at), _detail(known["edge_density"], at)]


def _extremes(aspect: Floats) -> tuple[int | None, int | None]:
    """Which is the widest and which the tallest, where one alone is."""
    known = np.isfinite(aspect)
    if known.sum() < 2:
        return None, None
    rank = np.sort(aspect[known])
    widest = int(np.nanargmax(aspect)) if rank[-1] > max(rank[-2], 1.0) else None
    return widest, int(np.nanargmin(aspect)) if rank[0] < min(rank[1], 1.0) else None


def _format(aspect: Floats, begun: int, at: int, extremes: tuple[int | None, int | None]) -> str:
    """Where the format changes after several of one kind, and whether it is the widest or the tallest of all."""
    if not np.isfinite(aspect[at]):
        return ""
    kinds = [_kind(value) for value in aspect[begun : at + 1]]
    run = _run(kinds[:-1])
    if kinds[-1] == kinds[-2]:
        return ""
    after = f"after {_count(run)} {_KINDS[kinds[-2]]}" if run >= _RUN and kinds[-2] else ""
    if at == extremes[0]:
        return f"the widest, {after}" if after else "the widest of all"
    if at == extremes[1]:
        return f"the tallest, {after}" if after else "the tallest of all"
    return f"{_ONE[kinds[-1]]} {after}" if after and kinds[-1] else ""


def _grey(grey: Floats, begun: int, at: int) -> str:
    if not grey[begun : at + 1].any() or np.isnan(grey[begun : at + 1]).any():
        return ""
    if grey[at] == grey[at - 1]:
        return "black and white like the one before" if grey[at] else ""
    run = _run(list(grey[begun:at]))
    after = f" after {_count(run)} {'in colour' if grey[at] else 'in black and white'}" if run >= _RUN else ""
    return f"{'black and white' if grey[at] else 'in colour again'}{after}"


def _light(light: Floats, warmth: Floats, at: int) -> str:
    """The same light, or a leap in it."""
    step, turn = float(light[at] - light[at - 1]), float(warmth[at] - warmth[at - 1])
    if abs(step) >= _LEAP:
        return f"much {'lighter' if step > 0 else 'darker'} than the one before"
    if abs(turn) >= _TURN and np.isfinite(step):
        return "warm after cold" if turn > 0 else "cold after warm"
    if not (abs(step) <= _LIGHT and abs(turn) <= _WARM):
        return ""
    return f"same {_light_words(float(light[at]), float(warmth[at]))}light as the one before"


def _detail(detail: Floats, at: int) -> str:
    step = float(detail[at] - detail[at - 1])
    return "busy after a calm one" if step >= _BUSY else "calm after a busy one" if step <= -_BUSY else ""


_KINDS = {1: "wide ones", -1: "uprights", 0: ""}
_ONE = {1: "wide", -1: "upright", 0: ""}


def _light_words(light: float, warmth: float) -> str:
    """What light of this brightness and warmth is called, with a space behind it."""
    warm = "warm" if warmth >= _HOT else "cold" if warmth <= _COLD else ""
    bright = "bright" if light >= _BRIGHT else "dim" if light <= _DIM else ""
    words = " ".join(word for word in (bright, warm) if word)
    return f"{words} " if words else ""


def _kind(aspect: float) -> int:
    """1 for wide, -1 for upright, 0 for square."""
    return 0 if not np.isfinite(aspect) or 1 / _SQUARE < aspect < _SQUARE else 1 if aspect > 1 else -1


def _run(kinds: Sequence[object]) -> int:
    """How many at the end are alike."""
    count = 0
    while count < len(kinds) and kinds[-1 - count] == kinds[-1]:
        count += 1
    return count


def _count(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


# Facing pages: which pictures go well beside each other, and which need both pages.

WIDE = 2.0  # width by height from which a picture takes both pages
_UPRIGHT = 2.0  # average steps that an upright beside a wide format costs besides


def facing_pages(collection: Collection) -> Facing:
    """How unlike two pictures are beside each other; an upright one goes with an upright one."""
    aspect = column(collection, "aspect")

    def costs() -> tuple[Floats, Floats]:
        table = picture_steps(collection, np.zeros(len(collection))).table
        lies = np.sign(np.log(np.where(np.isfinite(aspect), aspect, 1.0)).round(2))
        odd = _UPRIGHT * (lies[:, np.newaxis] * lies < 0)
        return (table + table.T) / 2, odd.astype(np.float64)

    return Facing(aspect >= WIDE, costs)
