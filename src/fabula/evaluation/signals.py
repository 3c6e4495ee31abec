"""What may give an order away: every column, and what hides in it or in a title, laid end to end over collections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

_NUMBER = re.compile(r"\d+", re.ASCII)
_DIGITS = (1, 2, 3, 4)  # decimal places behind which something may be hidden
_ROUNDED = 6  # decimal places beyond which a value counts as not rounded


@dataclass(frozen=True, eq=False)
class Laid:
    """Items of many collections end to end, in true order.

    Attributes
    ----------
    owner, position, length
        Shape (items,): the collection of each item, its position there, and how many items that has.
    """

    owner: Ints
    position: Ints
    length: Ints

    @classmethod
    def of(cls, collections: Sequence[Collection]) -> Laid:
        """The items of collections."""
        lengths = np.array([len(c) for c in collections])
        owner = np.repeat(np.arange(len(lengths)), lengths)
        starts = np.cumsum(lengths) - lengths
        return cls(owner, np.arange(len(owner)) - starts[owner], lengths[owner])


@dataclass(frozen=True, eq=False)
class Signal:
    """One number per item that may tell its position.

    Attributes
    ----------
    source
        The column it comes from; "" for titles.
    what
        What it is of its source, such as "which of its values are missing"; "" for the values themselves.
    values
        Shape (items,), NaN where there is none.
    """

    source: str
    what: str
    values: Floats


def column_signals(name: str, values: Floats) -> Iterator[Signal]:
    """A column (items,), which of its values are missing, and what hides in its digits.

    Examples
    --------
    >>> [signal.what for signal in column_signals("energy", np.array([0.5, np.nan, 0.2]))]
    ['', 'which of its values are missing', 'to how many digits it is rounded']
    """
    yield Signal(name, "", values)
    known = np.isfinite(values)
    if not known.all():
        yield Signal(name, "which of its values are missing", (~known).astype(np.float64))
    if not known.any() or (values[known] == np.round(values[known])).all():
        return
    yield Signal(name, "to how many digits it is rounded", _decimals(values))
    for places in _DIGITS:
        scaled = values * 10.0**places
        hidden = scaled - np.round(scaled)
        if np.nanmax(np.abs(hidden)) > 1e-6 * np.nanmax(np.abs(scaled)):
            yield Signal(name, f"its digits behind the {_ordinal(places)} decimal place", hidden)


def title_signals(collections: Sequence[Collection]) -> Iterator[Signal]:
    """The numbers in titles, their alphabetical order, and which items have none; nothing where there are no titles.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> found = list(title_signals([Collection("1", [Item("a", "02 Dawn"), Item("b", "10 Noon")])]))
    >>> found[0].what, found[0].values, found[1].values
    ('the numbers in them', array([ 2., 10.]), array([0., 1.]))
    """
    titles = [[title.casefold().strip() for title in c.texts("title")] for c in collections]
    if not any(title for own in titles for title in own):
        return
    yield Signal("", "the numbers in them", np.concatenate([_numbers(own) for own in titles]))
    yield Signal("", "their alphabetical order", np.concatenate([_ranks(own) for own in titles]))
    bare = np.concatenate([[float(not title) for title in own] for own in titles])
    if bare.any():
        yield Signal("", "which items have none", bare)


def within(values: Floats, owner: Ints) -> Floats:
    """Values less the mean of their collection, 0 where missing."""
    known = np.isfinite(values)
    sums = np.bincount(owner, np.where(known, values, 0.0))
    counts = np.maximum(np.bincount(owner, known.astype(np.float64)), 1)
    return np.where(known, values - (sums / counts)[owner], 0.0)


def _decimals(values: Floats) -> Floats:
    """How many decimal places each value has, at most 6."""
    found = np.full(len(values), float(_ROUNDED))
    for places in reversed(range(_ROUNDED)):
        exact = np.abs(values - np.round(values, places)) <= 1e-9 * np.maximum(1.0, np.abs(values))
        found[exact] = places
    return np.where(np.isfinite(values), found, np.nan)


def _numbers(titles: Sequence[str]) -> Floats:
    """The first number in each title; none at all where fewer than half have one."""
    found = [_NUMBER.search(title) for title in titles]
    numbers = np.array([float(each[0][:15]) if each else np.nan for each in found])
    return numbers if np.isfinite(numbers).sum() * 2 >= len(titles) else np.full(len(titles), np.nan)


def _ranks(titles: Sequence[str]) -> Floats:
    """Where each title stands among them in natural order, equal ones alike; NaN for an empty one."""
    keys: list[tuple[tuple[int, int, str], ...]] = [natural_key(title) for title in titles]
    places = {key: float(rank) for rank, key in enumerate(sorted({key for key in keys if key}))}
    return np.array([places.get(key, np.nan) for key in keys])


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sorting key that takes digits as numbers."""
    parts = re.split(r"([0-9]+)", text)
    return tuple((0, int(part[:15]), "") if i % 2 else (1, 0, part) for i, part in enumerate(parts) if part)


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third", 4: "fourth"}[number]


Mask = NDArray[np.bool_]
