"""What a medium can tell of its items besides their titles: facts in columns, how items begin and end, and doubts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.errors import InputError


@dataclass(frozen=True)
class Fact:
    """One thing that is known of the items.

    Attributes
    ----------
    name
        What it is called, as a heading.
    texts
        What is shown of each item; "" where nothing is known.
    cells
        Name of a column -> one value per item: what a table gets of it, besides the features.
    coloured
        Whether the texts are colours as pages write them, ``#rrggbb``, with a space between two.
    """

    name: str
    texts: tuple[str, ...]
    cells: Mapping[str, Sequence[str | float]] = field(default_factory=dict)
    coloured: bool = False


@dataclass(frozen=True, eq=False)
class Ends:
    """How items begin and end, in one measure.

    Attributes
    ----------
    name, unit
        What is measured, and in what.
    start, whole, end
        Of the beginning, of all and of the end of each item: shape (n,).
    """

    name: str
    unit: str
    start: Floats
    whole: Floats
    end: Floats


@dataclass(frozen=True)
class Levelling:
    """How items are brought to one level.

    Attributes
    ----------
    gains
        From a collection to what each item needs, in `unit`, shape (n,), and words for what it is brought to.
    write
        Writes the gain of one item into a file: path, the item's index, the collection.
    unit
        Of the gains.
    """

    gains: Callable[[Collection], tuple[Floats, str]]
    write: Callable[[Path, int, Collection], None]
    unit: str = "dB"


@dataclass(frozen=True)
class Preset:
    """Wishes that go together under one name.

    Attributes
    ----------
    by
        Columns that can be the essence, the best first.
    template
        The arc drawn over it.
    smoothness, smooth_by
        As in a request.
    """

    by: tuple[str, ...]
    template: str
    smoothness: float
    smooth_by: Mapping[str, float]

    def column(self, collection: Collection) -> str:
        """The first of its columns that is known of every item.

        Raises
        ------
        InputError
            When none is.
        """
        for name in self.by:
            if name in collection.feature_names and np.isfinite(collection.column(name)).all():
                return name
        raise InputError(f"needs one of these of every item: {', '.join(self.by)}")


@dataclass(frozen=True)
class Telling:
    """What a medium tells.

    Attributes
    ----------
    facts
        From a collection to what can be shown of its items.
    ends
        From a collection to how its items begin and end; None where that is not known.
    doubts
        From a collection that was measured to sentences about what the user should know.
    joins
        From a collection in its new order, and the positions at which a side begins, to what joins each item to those
        before it, in words; "" where nothing does.
    """

    facts: Callable[[Collection], tuple[Fact, ...]] = lambda collection: ()
    ends: Callable[[Collection], Ends | None] = lambda collection: None
    doubts: Callable[[Collection], tuple[str, ...]] = lambda collection: ()
    joins: Callable[[Collection, Sequence[int]], list[str]] = lambda collection, breaks: [""] * len(collection)


def chosen_facts(facts: Sequence[Fact], names: Sequence[str] | None) -> tuple[Fact, ...]:
    """The facts of these names, ``all`` for all of them.

    Examples
    --------
    >>> chosen_facts([Fact("weight", ("1 kg",))], ["all"])[0].name
    'weight'
    """
    known = {fact.name: fact for fact in facts}
    if names is not None and list(names) == ["all"]:
        return tuple(facts)
    for name in names or ():
        if name not in known:
            there = ", ".join(known) or "nothing"
            raise InputError(f"nothing called {name!r} is known of these items; there are: {there}", field="show")
    return tuple(known[name] for name in names or ())
