"""What a method is asked: training collections in their true order, and test collections whose order it must find."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Item
from fabula.core.fit import fit
from fabula.core.template import Template
from fabula.errors import InputError
from fabula.evaluation.information import makers
from fabula.research.splits import Side, read_split, usable_features
from fabula.sources.fma.albums import read_fma

TRAINING, TEST = 400, 200  # collections
SHORTEST, LONGEST = 5, 12  # items
HILL = Template([0, 0.25, 0.7, 1], [0.4, -1.2, 1.6, 0.6], "dip and peak")
_NEAR = 0.45  # the parameter of Mallows' model: each step away from the centre is that much less likely
_WALK = 0.35  # how much of its place a walker forgets at each step


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


def family_task(name: str) -> BenchTask:
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
    training, test = (_narrow(part, names) for part in (split.training, split.held_out))
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


@dataclass(frozen=True)
class Family:
    """A model that draws collections.

    Attributes
    ----------
    about
        What it is, in one line.
    draw
        ``draw(n, rng)``: features (n, f) of n items in their true order.
    best
        ``best(features, rng)``: the ordering of shuffled features (n, f) by somebody who knows the model.
    """

    about: str
    draw: Callable[[int, np.random.Generator], Floats]
    best: Callable[[Floats, np.random.Generator], Ints]


def draw_task(name: str) -> tuple[list[Collection], list[Collection]]:
    """The training and the test collections of a family, always the same.

    Examples
    --------
    >>> training, test = draw_task("mallows")
    >>> len(training), len(test), training[0].feature_names
    (400, 200, ('a', 'b', 'c'))
    """
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    made = []
    for number in range(TRAINING + TEST):
        n = int(rng.integers(SHORTEST, LONGEST + 1))
        rows = FAMILIES[name].draw(n, rng).round(6)
        items = [Item(f"{number}-{j}") for j in range(n)]
        made.append(Collection(f"{name}-{number}", items, rows, ["a", "b", "c"]))
    return made[:TRAINING], made[TRAINING:]


def _plackett_luce(n: int, rng: np.random.Generator) -> Floats:
    rows = rng.normal(size=(n, 3))
    utility = 1.2 * rows[:, 0] - 0.6 * rows[:, 1]
    return rows[np.argsort(-(utility + rng.gumbel(size=n)), kind="stable")]


def _mallows(n: int, rng: np.random.Generator) -> Floats:
    rows = rng.normal(size=(n, 3))
    order: list[int] = []
    for item in np.argsort(rows[:, 0]):  # repeated insertion: k places from the end cost k steps
        chances = _NEAR ** np.arange(len(order) + 1)
        back = int(rng.choice(len(chances), p=chances / chances.sum()))
        order.insert(len(order) - back, int(item))
    return rows[order]


def _arc(n: int, rng: np.random.Generator) -> Floats:
    rows = rng.normal(size=(n, 3))
    rows[:, 0] = HILL.samples(n) + 0.5 * rng.normal(size=n)
    return rows


def _opener(n: int, rng: np.random.Generator) -> Floats:
    rows = rng.normal(size=(n, 3))
    weights = np.exp(1.5 * rows[:, 0])
    first = int(rng.choice(n, p=weights / weights.sum()))
    rest = rng.permutation(np.delete(np.arange(n), first))
    return rows[[first, *rest]]


def _walk(n: int, rng: np.random.Generator) -> Floats:
    rows = np.empty((n, 3))
    rows[0] = 0.3 * rng.normal(size=3)
    for j in range(1, n):
        rows[j] = rows[j - 1] + _WALK * rng.normal(size=3) + 0.25
    return rows


def _along_walk(features: Floats, rng: np.random.Generator) -> Ints:
    """From the item nearest to the start always to the nearest one that is left, looking a step ahead."""
    left = list(range(len(features)))
    here = np.zeros(3)
    ordering: list[int] = []
    for _ in range(len(features)):
        ahead = here + (0.25 if ordering else 0.0)
        item = min(left, key=lambda i: float(((features[i] - ahead) ** 2).sum()))
        left.remove(item)
        ordering.append(item)
        here = features[item]
    return np.array(ordering)


def _largest_first(features: Floats, rng: np.random.Generator) -> Ints:
    first = int(features[:, 0].argmax())
    return np.array([first, *rng.permutation(np.delete(np.arange(len(features)), first))])


def _narrow(collections: Sequence[Collection], names: Sequence[str]) -> list[Collection]:
    return [replace(c, features=c.columns(list(names)), feature_names=tuple(names)) for c in collections]


def _means(collections: Sequence[Collection]) -> list[Collection]:
    """The first statistic of every feature, which is its mean: (n, f, s) -> (n, f)."""
    return [replace(c, features=c.features[:, :, 0].astype(np.float64)) for c in collections]


FAMILIES: dict[str, Family] = {
    "plackett-luce": Family(
        "Plackett-Luce: the next item is drawn by a utility of two of three features",
        _plackett_luce,
        lambda x, rng: np.argsort(-(1.2 * x[:, 0] - 0.6 * x[:, 1]), kind="stable"),
    ),
    "mallows": Family(
        "Mallows: few inversions from the order by one of three features",
        _mallows,
        lambda x, rng: np.argsort(x[:, 0], kind="stable"),
    ),
    "arc": Family(
        "one feature follows a dip and a peak, with noise",
        _arc,
        lambda x, rng: fit(x[:, 0], HILL).ordering,
    ),
    "opener": Family("only the opener is chosen, by one feature; the rest is random", _opener, _largest_first),
    "walk": Family("a drifting walk: neighbours are close", _walk, _along_walk),
}
