"""Tasks whose truth is known because code draws it: the same collections on every machine.

Each family draws items with features and an order from a stated model. ``best`` orders a collection as somebody would
who knows the model; what it scores is about what can be scored.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.essence import Floats
from fabula.core.fit import fit
from fabula.core.ordering import Ints
from fabula.core.template import Template

TRAINING, TEST = 400, 200  # collections
SHORTEST, LONGEST = 5, 12  # items
HILL = Template([0, 0.25, 0.7, 1], [0.4, -1.2, 1.6, 0.6], "dip and peak")
_NEAR = 0.45  # the parameter of Mallows' model: each step away from the centre is that much less likely
_WALK = 0.35  # how much of its place a walker forgets at each step


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
