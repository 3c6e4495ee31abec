"""What a method is asked: training collections in their true order, and test collections whose order it must find."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collection import Collection
from fabula.errors import InputError
from fabula.evaluation.information import makers
from fabula.research.splits import Side, read_split, usable_features
from fabula.sources.fma.collections import read_fma
from fabula.studies.bench.known import FAMILIES, draw_task

HELD_OUT = 0.2  # of a table that does not say how it is split
FMA = "fma"


@dataclass(frozen=True, eq=False)
class BenchTask:
    """One task.

    Attributes
    ----------
    name, about
        What it is called, and what it is.
    training, test
        Collections in their true order, with the same features of one number per item.
    rule
        How the two were told apart.
    titles
        Whether a method is shown titles.
    notes
        What one should know, for example which columns were left out.
    """

    name: str
    about: str
    training: Sequence[Collection]
    test: Sequence[Collection]
    rule: str
    titles: bool = False
    notes: tuple[str, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """The features a method is shown."""
        return self.test[0].feature_names

    @property
    def groups(self) -> list[str]:
        """Who made each test collection; intervals are drawn over them."""
        return makers(self.test)

    @property
    def digest(self) -> str:
        """Sixteen digits that tell this task from others: features, titles where shown, and order of the test."""
        digest = hashlib.sha256("\0".join(self.features).encode())
        for collection in self.test:
            shown = [item.title for item in collection.items] if self.titles else []
            digest.update(repr((collection.id, len(collection), shown)).encode("utf-8", "backslashreplace"))
            digest.update(np.ascontiguousarray(collection.features, dtype="<f8").tobytes())
        return digest.hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """What a card says of it."""
        return {
            "name": self.name,
            "about": self.about,
            "digest": self.digest,
            "training": len(self.training),
            "test": len(self.test),
            "groups": len(set(self.groups)),
            "features": list(self.features),
            "titles": self.titles,
            "rule": self.rule,
        }


def known_task(name: str) -> BenchTask:
    """A task whose truth is known, by name."""
    if name not in FAMILIES:
        raise InputError(
            f"there is no task {name!r}; there are: {', '.join(FAMILIES)}, {FMA} (with --fma FOLDER), or any table"
        )
    training, test = draw_task(name)
    return BenchTask(name, FAMILIES[name].about, training, test, "drawn by code, always the same")


def table_task(
    path: str | Path, *, where: Mapping[str, str] | None = None, titles: bool = False, side: Side | None = None
) -> BenchTask:
    """A task from a table of ordered collections, one row an item.

    A column ``split`` is followed: what it calls validation is to be ordered, or the ``side`` that is named. Without
    one a fifth is held out by a stable digest of the creator's name, or of
    the collection's where there are none. Columns that follow the order themselves are left out.
    """
    split = read_split(path, where=where, held_out=HELD_OUT, side=side)
    names, notes = usable_features(split.training) if split.training[0].feature_names else ((), ())
    if not names and not titles:
        raise InputError(f"{path}: has no column of numbers to go by; show titles, or add one")
    training, test = (_narrowed(part, names) for part in (split.training, split.held_out))
    about = f"the table {Path(path).name}"
    return BenchTask(Path(path).stem, about, training, test, split.rule, titles, (*split.notes, *notes))


def fma_task(folder: str | Path, *, titles: bool = False) -> BenchTask:
    """FMA's own split, test against training: the mean of each of librosa's features, and the duration."""
    reading = read_fma(folder)
    training, test = (_means(reading.of(split)) for split in ("training", "test"))
    if not training or not test:
        raise InputError(
            f"{folder}: has {len(training)} collections to train on and {len(test)} to test; both need some"
        )
    about = "the Free Music Archive dataset, means of librosa's features"
    return BenchTask(FMA, about, training, test, "FMA's own split", titles, reading.notes)


def _narrowed(collections: Sequence[Collection], names: Sequence[str]) -> list[Collection]:
    return [replace(c, features=c.columns(list(names)), feature_names=tuple(names)) for c in collections]


def _means(collections: Sequence[Collection]) -> list[Collection]:
    """The first statistic of every feature, which is its mean: (n, f, s) -> (n, f)."""
    return [replace(c, features=c.features[:, :, 0].astype(np.float64)) for c in collections]
