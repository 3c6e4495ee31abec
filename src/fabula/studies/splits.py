"""Which collections to train on and which to hold out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fabula.core.collection import Collection
from fabula.errors import InputError
from fabula.evaluation.parts import Parts
from fabula.sources.tables.reading import read_table
from fabula.studies.recipe import Recipe

_MAKERS = 10  # from so many on, collections are set apart by who made them
_LOOKED_AT = 1000  # collections, to judge a column by
_TRAINING = ("train", "training")
_VALIDATION = ("validation", "valid", "val", "dev")


@dataclass(frozen=True)
class Split:
    """Collections to train on, those held out, how they were told apart, and what the user should know."""

    training: list[Collection]
    held_out: list[Collection]
    rule: str
    notes: tuple[str, ...] = ()

    @property
    def parts(self) -> Parts:
        """For training: what is held out decides and is measured."""
        return Parts(self.training, self.held_out)


def read_split(
    path: str | Path, *, where: Mapping[str, str] | None = None, held_out: float = 0.1, title: str | None = None
) -> Split:
    """Read a table of ordered collections and split it.

    A column ``split`` that says train and validation is followed. Without one, ``held_out`` of the collections are
    held out: by creator where each has one, so that none is on both sides, and by the text of the id or creator
    alone, so that the split stays the same when the table grows.

    Parameters
    ----------
    path
        A table with one row an item.
    where
        Column -> value: keep only the rows that have it.
    held_out
        The share to hold out, above 0 and below 1.
    title
        The column with the titles; by default the one that is recognised.

    Raises
    ------
    InputError
        When a side is empty.
    """
    return split_collections(read_table(path, where=where, title=title), held_out=held_out, where=str(path))


def split_collections(found: Sequence[Collection], *, held_out: float = 0.1, where: str = "the data") -> Split:
    """Split ordered collections as :func:`read_split` splits those of a table; ``where`` names them in errors."""
    collections = [c for c in found if len(c) > 1]
    if not collections:
        raise InputError(f"{where}: holds no collection of two items or more")
    marks = [str(c.items[0].details.get("split", "")).lower() for c in collections]
    if set(marks) & set(_TRAINING) and set(marks) & set(_VALIDATION):
        rule = "column 'split'"
        training = [c for c, mark in zip(collections, marks, strict=True) if mark in _TRAINING]
        validation = [c for c, mark in zip(collections, marks, strict=True) if mark in _VALIDATION]
    else:
        if not 0 < held_out < 1:
            raise InputError(f"the share to hold out must lie between 0 and 1; got {held_out}")
        by_creator = all(c.items[0].creator for c in collections)
        rule = f"{held_out:.0%} held out, by {'creator' if by_creator else 'collection'}"
        sides = [_share(c.items[0].creator if by_creator else c.id) < held_out for c in collections]
        training = [c for c, out in zip(collections, sides, strict=True) if not out]
        validation = [c for c, out in zip(collections, sides, strict=True) if out]
    _check(where, training, validation, rule)
    return Split(training, validation, rule)


def split_of(recipe: Recipe) -> Split:
    """The collections a recipe names, split: those of its table, or those that were given."""
    if isinstance(recipe.table, Path):
        return read_split(recipe.table, where=recipe.where, held_out=recipe.held_out, title=recipe.titles or None)
    if recipe.table.validation is None:
        return split_collections(recipe.table.training, held_out=recipe.held_out)
    training, validation = ([c for c in p if len(c) > 1] for p in (recipe.table.training, recipe.table.validation))
    _check("the data", training, validation, "as given")
    return Split(training, validation, "as given")


def divided(collections: Sequence[Collection], share: float) -> tuple[list[Collection], list[Collection]]:
    """Some collections, and about a share of them apart: at least one, and five where there are ten or more.

    They go by who made them where at least ten did, else each by itself; which ones depends on the names alone.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> some, apart = divided([Collection(str(i), [Item("a")]) for i in range(20)], 0.1)
    >>> len(some), len(apart)
    (15, 5)
    """
    if not 0 < share < 1:
        raise InputError(f"the share to hold out must lie between 0 and 1; got {share}")
    makers = [c.items[0].creator for c in collections]
    by_maker = all(makers) and len(set(makers)) >= _MAKERS
    names = [maker if by_maker else c.id for maker, c in zip(makers, collections, strict=True)]
    wanted = max(round(share * len(names)), min(5, len(names) // 2), 1)
    apart: set[str] = set()
    for name in sorted(set(names), key=_share):
        if sum(other in apart for other in names) >= wanted:
            break
        apart.add(name)
    sides = [(c, name in apart) for c, name in zip(collections, names, strict=True)]
    return [c for c, out in sides if not out], [c for c, out in sides if out]


def usable_features(collections: Sequence[Collection]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The features that may be trained on, and notes about those left out.

    A column that follows the order itself (a running number) would tell the answer; one that is the same for all items
    of a collection can tell nothing.

    Raises
    ------
    InputError
        When none is left.
    """
    suspicions = {name: _suspicion(collections, name) for name in collections[0].feature_names}
    notes = tuple(f"column {name!r} left out: {why}" for name, why in suspicions.items() if why)
    names = tuple(name for name, why in suspicions.items() if not why)
    if not names:
        raise InputError(f"no column is left to train on; {'; '.join(notes) or 'there is none'}")
    return names, notes


def _suspicion(collections: Sequence[Collection], name: str) -> str:
    """Why a column must not be trained on, or nothing."""
    if collections[0].features.ndim > 2:
        return ""
    long = [c for c in collections if len(c) > 4] or list(collections)
    steps = [np.diff(c.column(name)) for c in long[:_LOOKED_AT]]
    varying = [step for step in steps if np.any(step != 0)]
    if not varying:
        return "it is the same for all items of a collection"
    sorted_ones = sum(bool((step >= 0).all() or (step <= 0).all()) for step in varying)
    return "it follows the order itself" if sorted_ones > len(varying) / 2 else ""


def _share(text: str) -> float:
    """A number in [0, 1) that depends on the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[:6], "big") / 2**48


def _check(path: str | Path, training: Sequence[Collection], validation: Sequence[Collection], rule: str) -> None:
    if not training or not validation:
        raise InputError(
            f"{path}: {len(training)} collections to train on and {len(validation)} to hold out ({rule}); "
            "both sides need at least one"
        )
