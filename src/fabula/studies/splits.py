"""Which collections to train on and which to hold out, and what the user should know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from fabula.core.collection import Collection
from fabula.core.fingerprints import find_shared
from fabula.errors import InputError
from fabula.evaluation.leaks import Finding, find_leaks
from fabula.evaluation.parts import Parts, divide, share_of
from fabula.sources.tables.read_table import read_table
from fabula.studies.recipe import Recipe

Side = Literal["train", "validation", "test"]
SIDES: tuple[Side, ...] = get_args(Side)
__all__ = [
    "SIDES",
    "Side",
    "Split",
    "asked_for",
    "divide",
    "overlap",
    "read_split",
    "sides_of",
    "split_collections",
    "split_of",
    "usable_features",
]

_CALLED: dict[str, Side] = {"training": "train", "valid": "validation", "val": "validation", "dev": "validation"}
_COLUMN = "split"
_LARGEST_SHARE = 1 / 3  # of the collections that are held out where few are there


@dataclass(frozen=True)
class Split:
    """Collections to train on, those held out, how they were told apart, and what the user should know."""

    training: list[Collection]
    held_out: list[Collection]
    rule: str
    notes: tuple[str, ...] = ()

    @property
    def parts(self) -> Parts:
        """For training: a tenth of the training side is set aside to decide, and what is held out decides nothing."""
        return Parts(self.training, self.held_out).nest()


def read_split(
    path: str | Path,
    *,
    where: Mapping[str, str] | None = None,
    held_out: float = 0.1,
    title: str | None = None,
    side: Side | None = None,
    least: int = 0,
) -> Split:
    """Read a table of ordered collections and split it.

    A column ``split`` is followed: trained on is what it calls train, held out what it calls validation, and test is
    touched only where ``side`` names it. Without validation, and without the column, ``held_out`` of the collections
    are held out: by creator where each has one, so that none is on both sides, and by the text of the id or creator
    alone, so that the split stays the same when the table grows.

    Parameters
    ----------
    path
        A table with one row an item.
    where
        Column -> value: keep only the rows that have it. A side chosen here is taken as if it were the whole table.
    held_out
        The share to hold out, above 0 and below 1.
    title
        The column with the titles; by default the one that is recognised.
    side
        The side to hold out in place of validation.
    least
        Hold more than the share out, up to a third, until there are so many.

    Raises
    ------
    InputError
        When a side is empty, or the column says anything else than train, validation and test.
    """
    found = read_table(path, where=where, title=title)
    chosen = _COLUMN in (where or {})
    return split_collections(found, held_out=held_out, where=str(path), side=side, least=least, chosen=chosen)


def split_collections(
    found: Sequence[Collection],
    *,
    held_out: float = 0.1,
    where: str = "the data",
    side: Side | None = None,
    least: int = 0,
    chosen: bool = False,
) -> Split:
    """Split ordered collections as :func:`read_split` splits those of a table.

    ``where`` names them in errors; ``chosen`` says that one side of the split was chosen already.
    """
    collections = [c for c in found if len(c) > 1]
    if not collections:
        raise InputError(f"{where}: holds no collection of two items or more")
    if not 0 < held_out < 1:
        raise InputError(f"the share to hold out must lie between 0 and 1; got {held_out}")
    if side is not None and side not in SIDES:
        raise InputError(f"a side of the split is one of {', '.join(SIDES)}; got {side!r}")
    sides = {} if chosen else sides_of(collections, where)
    if not sides:
        if side is not None:
            raise InputError(f"{where}: has no column {_COLUMN!r} that says which collections are {side}")
        split = _by_share(collections, held_out, least)
    else:
        split = _by_column(sides, held_out, side, least)
    return checked(split, where)


def split_of(recipe: Recipe, *, least: int = 0) -> Split:
    """The collections a recipe names, split: those of its table, or those that were given."""
    share = recipe.held_out
    if isinstance(recipe.table, Path):
        title = recipe.titles or None
        return read_split(recipe.table, where=recipe.where, held_out=share, title=title, least=least)
    if recipe.table.validation is None:
        return split_collections(recipe.table.training, held_out=share, least=least)
    training, validation = ([c for c in p if len(c) > 1] for p in (recipe.table.training, recipe.table.validation))
    return checked(Split(training, validation, "as given"), "the data")


def checked(split: Split, where: str) -> Split:
    """A split of which neither side is empty, with what both share among its notes."""
    if not split.training or not split.held_out:
        raise InputError(
            f"{where}: {len(split.training)} collections to train on and {len(split.held_out)} to hold out "
            f"({split.rule}); both sides need at least one"
        )
    return replace(split, notes=(*split.notes, *overlap(split.training, split.held_out)))


def sides_of(collections: Sequence[Collection], where: str) -> dict[Side, list[Collection]]:
    """The collections by what their column ``split`` says; nothing where there is no such column.

    Parameters
    ----------
    collections
        As a table gave them.
    where
        What to call the table in errors.

    Raises
    ------
    InputError
        When it says something else than train, validation and test, or says two things of one collection.
    """
    marks = [_marks(c) for c in collections]
    if not any(mark for own in marks for mark in own):
        return {}
    sides: dict[Side, list[Collection]] = {}
    for c, own in zip(collections, marks, strict=True):
        named = {_CALLED.get(mark, mark) for mark in own or {""}}
        if len(named) > 1:
            raise InputError(
                f"{where}: collection {c.id!r} is on several sides of the split: {', '.join(sorted(named))}"
            )
        [mark] = named
        if mark not in SIDES:
            said = f"says {mark!r}" if mark else "is empty"
            raise InputError(
                f"{where}: column {_COLUMN!r} {said} for collection {c.id!r}; it must say {', '.join(SIDES)}"
            )
        sides.setdefault(mark, []).append(c)
    return sides


def _marks(collection: Collection) -> set[str]:
    """What the column split says of the items of a collection."""
    name = next((n for n in collection.detail_names if n.casefold() == _COLUMN), None)
    cells = [] if name is None else collection.texts(name)
    if cells and cells[0] != "":
        return {str(cell or "").strip().casefold() for cell in cells}
    number = next((n for n in collection.feature_names if n.casefold() == _COLUMN), None)
    return set() if number is None else {f"{value:g}" for value in collection.column(number).ravel()}


def _by_column(sides: dict[Side, list[Collection]], held_out: float, side: Side | None, least: int) -> Split:
    training, test = sides.get("train", []), sides.get("test", [])
    untouched = f"; {len(test):,} of test not touched" if test and side != "test" else ""
    wanted = side or "validation"
    chosen = f", {side}" if side else ""
    if wanted in sides or side is not None:
        others = training if wanted != "train" else []
        return Split(others or sides.get(wanted, []), sides.get(wanted, []), f"column 'split'{chosen}{untouched}")
    inner = _by_share(training, held_out, least) if training else Split([], [], "")
    return Split(inner.training, inner.held_out, f"column 'split', of train {inner.rule}{untouched}")


def _by_share(collections: Sequence[Collection], held_out: float, least: int) -> Split:
    share = max(held_out, min(_LARGEST_SHARE, least / len(collections)))
    creators = _creators(collections)
    names = creators if all(creators) else [c.id for c in collections]
    out = [share_of(name) < share for name in names]
    rule = f"{share:.0%} held out, by {'creator' if names is creators else 'collection'}"
    kept = [c for c, away in zip(collections, out, strict=True) if not away]
    return Split(kept, [c for c, away in zip(collections, out, strict=True) if away], rule)


def _creators(collections: Sequence[Collection]) -> list[str]:
    """Who made the first item of each collection."""
    return [c.creators[0] for c in collections]


def overlap(training: Sequence[Collection], held_out: Sequence[Collection]) -> tuple[str, ...]:
    """What both sides of a split share, for people: the same collections, and the same creators.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> ones = [Collection(str(i), [Item("a", artist="Ana"), Item("b")], [[i], [i + 0.5]], ["x"]) for i in range(3)]
    >>> overlap(ones[:2], ones[2:])
    ('NOT INDEPENDENT: 1 of 1 held-out collections are by 1 who also made some that are trained on',)
    """
    notes = []
    if training is held_out or not training:
        return ()
    twice = sum(find_shared(training, held_out))
    if twice:
        notes.append(f"LEAK: {twice:,} of {len(held_out):,} held-out collections are also among those trained on")
    known = {creator.casefold() for creator in _creators(training)} - {""}
    makers = [creator.casefold() for creator in _creators(held_out)]
    both = [maker for maker in makers if maker in known]
    if both:
        who = f"by {len(set(both)):,} who also made some that are trained on"
        notes.append(f"NOT INDEPENDENT: {len(both):,} of {len(held_out):,} held-out collections are {who}")
    return tuple(notes)


def usable_features(collections: Sequence[Collection]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The features that may be trained on, and notes about those left out.

    A column that gives the order away (a running number) would tell the answer; one that is the same for all items
    of a collection can tell nothing.

    Raises
    ------
    InputError
        When none is left.
    """
    there = collections[0].feature_names
    reasons = {name: "it is the same for all items of a collection" for name in there if _same(collections, name)}
    found = find_leaks(collections, [name for name in there if name not in reasons], titles=False)
    for each in found:
        reasons |= {name: _why(each, name) for name in each.columns if each.throughout and name not in reasons}
    notes = tuple(f"column {name!r} left out: {reasons[name]}" for name in there if name in reasons)
    notes += tuple(str(each) for each in found if not each.throughout)
    names = tuple(name for name in there if name not in reasons)
    if not names:
        raise InputError(f"no column is left to train on; {'; '.join(notes) or 'there is none'}")
    return names, notes


def asked_for(collections: Sequence[Collection], features: Sequence[str], *, titles: bool = False) -> tuple[str, ...]:
    """Notes about what a user asked for by name and what gives the order away."""
    return tuple(f"LEAK: {each}; what is measured with it is no finding" if each.throughout else str(each)
                 for each in find_leaks(collections, features, titles=titles))  # fmt: skip


def _why(found: Finding, name: str) -> str:
    others = [repr(other) for other in found.columns if other != name]
    return f"with {', '.join(others)}, {found.why}" if others else found.why


def _same(collections: Sequence[Collection], name: str) -> bool:
    """Whether a feature never differs within a collection."""
    if collections[0].features.ndim > 2:
        return False
    columns = (c.column(name) for c in collections)
    return not any(np.ptp(known) > 0 for column in columns if (known := column[np.isfinite(column)]).size)
