"""What a medium can tell of its items besides their titles: facts in columns, how items begin and end, and doubts."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import numpy as np

from fabula.core.arrays import Floats
from fabula.core.collection import Collection
from fabula.errors import InputError


@dataclass(frozen=True)
class Fact:
    """One thing that is known of the items."""

    name: str  # What it is called, as a heading
    texts: tuple[str, ...]  # What is shown of each item; "" where nothing is known
    # Name of a column -> one value per item: what a table gets of it, besides the features
    cells: Mapping[str, Sequence[str | float]] = field(default_factory=dict)
    unit: str = ""  # What the texts count in; "" where they say it themselves
    coloured: bool = False  # Whether the texts are colours as pages write them, ``#rrggbb``, with a space between two


@dataclass(frozen=True, eq=False)
class Ends:
    """How items begin and end, in one measure."""

    name: str
    unit: str
    # Of the beginning, of all and of the end of each item: shape (n,).
    start: Floats
    whole: Floats
    end: Floats


@dataclass(frozen=True, eq=False)
class Axis:
    """What the arc of a collection is drawn along: one number of each item, with a name and a unit."""

    name: str
    unit: str
    values: Floats  # shape (n,), each finite
    source: str = ""  # what it was made of, where it is no column of that name


@dataclass(frozen=True)
class Levelling:
    """How items are brought to one level."""

    # From a collection to what each item needs, in `unit`, shape (n,), and words for what it is brought to.
    gains: Callable[[Collection], tuple[Floats, str]]
    # Writes the gain of one item into a file: path, the item's index, the collection.
    write: Callable[[Path, int, Collection], None]
    unit: str = "dB"  # of the gains


@dataclass(frozen=True)
class Preset:
    """Wishes that go together under one name."""

    by: tuple[str, ...]  # columns that can be the essence, the best first
    template: str  # the arc drawn over it
    # As in a request.
    smoothness: float
    smooth_by: Mapping[str, float]
    needed: bool = True  # whether one of its columns must be known even where steps are

    def column(self, collection: Collection, *, needed: bool = True) -> str | None:
        """The first of its columns that is known of every item; where none is, an InputError if it is needed."""
        for name in self.by:
            if name in collection.feature_names and np.isfinite(collection.column(name)).all():
                return name
        if needed:
            raise InputError(f"needs one of these of every item: {', '.join(self.by)}")
        return None


@dataclass(frozen=True)
class Telling:
    """What a medium tells."""

    # From a collection to what can be shown of its items.
    facts: Callable[[Collection], tuple[Fact, ...]] = lambda collection: ()
    # From a collection to how its items begin and end; None where that is not known.
    ends: Callable[[Collection], Ends | None] = lambda collection: None
    # From a collection that was measured to sentences about what the user should know.
    doubts: Callable[[Collection], tuple[str, ...]] = lambda collection: ()
    # From a collection in its new order, and the positions at which a side begins, to what joins each item to those
    # before it, in words; "" where nothing does.
    joins: Callable[[Collection, Sequence[int]], list[str]] = lambda collection, breaks: [""] * len(collection)


def choose_facts(facts: Sequence[Fact], names: Sequence[str] | None) -> tuple[Fact, ...]:
    """The facts of these names, ``all`` for all of them."""
    known = {fact.name: fact for fact in facts}
    if names is not None and list(names) == ["all"]:
        return tuple(facts)
    for name in names or ():
        if name not in known:
            there = ", ".join(known) or "nothing"
            raise InputError(f"nothing called {name!r} is known of these items; there are: {there}", field="show")
    return tuple(known[name] for name in names or ())


# Units of an item's length: what limits and sides count, how it is written and how it is read.


@dataclass(frozen=True)
class Unit:
    """A unit of length."""

    name: str  # what is counted, in the plural: seconds, words, pages, items
    show: Callable[..., list[str]]  # from several lengths to their texts, as finely as it takes to tell them apart
    read: Callable[[str], float]  # from what a person types to a length; an InputError where it is none
    example: str  # something `read` takes, for messages

    def text(self, length: float | None) -> str:
        """One length as text; empty where it is not known.

        >>> SECONDS.text(200.4), COUNT.text(3), SECONDS.text(None)
        ('3:20', '3', '')
        """
        return "" if length is None or not np.isfinite(length) else self.show(length)[0]


def as_clock(seconds: float, *, digits: int = 0) -> str:
    """Minutes and seconds, with hours where there are some, and with digits behind the seconds if asked for.

    >>> as_clock(1320.4), as_clock(3723), as_clock(1320.4, digits=1)
    ('22:00', '1:02:03', '22:00.4')
    """
    if not np.isfinite(seconds):
        return str(float(seconds))
    whole, part = divmod(int(abs(seconds) * 10**digits + 0.5), 10**digits)  # half a second counts as one
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
    sign = "-" if seconds < 0 and (whole or part) else ""
    return f"{sign}{clock}.{part:0{digits}d}" if digits else f"{sign}{clock}"


def as_clocks(*seconds: float) -> list[str]:
    """Several durations as clocks, to the second where that tells them apart, else as finely as it takes.

    Without it a side of 22:00 could be too short for an item of 22:00.

    >>> as_clocks(1320, 1412.3), as_clocks(1320, 1320.4)
    (['22:00', '23:32'], ['22:00.0', '22:00.4'])
    """
    clocks: list[str] = []
    for digits in range(7):
        clocks = [as_clock(one, digits=digits) for one in seconds]
        if len({as_clock(0, digits=digits), *clocks}) == len({0.0, *seconds}):
            break
    return clocks


_PARTS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def as_seconds(text: str) -> float:
    """Seconds of ``22:00``, ``1:02:03``, ``90s``, ``45m`` or ``1.5h``.

    >>> as_seconds("22:00"), as_seconds("1.5h")
    (1320.0, 5400.0)
    """
    clock = re.fullmatch(r"(?:(\d+):)?(\d+):([0-5]?\d(?:\.\d+)?)", text.strip())
    if clock:
        hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return 3600 * hours + 60 * minutes + seconds
    plain = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", text.strip().lower())
    if not plain or float(plain[1]) == 0:
        raise InputError(f"takes a time such as 22:00, 1:02:03, 45m or 90s; got {text!r}")
    return float(plain[1]) * _PARTS[plain[2]]


def as_numbers(*lengths: float) -> list[str]:
    """Several numbers as text, whole where they are."""
    return [f"{length:g}" for length in lengths]


def as_number(text: str) -> float:
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise InputError(f"takes a number above 0, such as 12; got {text!r}")
    return number


SECONDS = Unit("seconds", as_clocks, as_seconds, "22:00")
COUNT = Unit("items", as_numbers, as_number, "12")


def side_name(side: int) -> str:
    """What a side is called: A, B, C, ...

    >>> side_name(0), side_name(27)
    ('A', 'AB')
    """
    letters = ""
    while side >= 0:
        letters = chr(ord("A") + side % 26) + letters
        side = side // 26 - 1
    return letters


def begin_times(lengths: Sequence[float], gap: float = 0.0) -> list[float]:
    """When each of several begins that follow each other with a gap between two, below 0 an overlap.

    >>> begin_times([60.0, 30.0, 20.0], 2.0), begin_times([60.0, 30.0], -5.0)
    ([0.0, 62.0, 94.0], [0.0, 55.0])
    """
    return [0.0, *accumulate(max(0.0, length + gap) for length in lengths[:-1])][: len(lengths)]


def total(lengths: Sequence[float | None], gap: float = 0.0) -> float | None:
    """How long several are together, with a gap between two; None where the length of one is not known."""
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return None
    ends = map(float.__add__, begin_times(known, gap), map(float, known))
    return max(ends, default=0.0) if gap else float(sum(known))


def round_parts(lengths: Sequence[float]) -> list[float]:
    """Lengths as whole numbers that add up to what all are together as a whole number; each is off by less than one.

    >>> round_parts([53.6, 49.6])
    [54.0, 49.0]
    """
    return [float(part) for part in np.diff(np.floor(np.cumsum([0.0, *lengths]) + 0.5))]
